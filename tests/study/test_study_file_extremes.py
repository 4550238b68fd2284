"""Study files with values beyond all reason are refused at once, with their line."""

from pathlib import Path

import pytest

from outperform.errors import InvalidInput
from outperform.runner.stored_study import describe_study
from outperform.study.study_file import parse_study_file, read_study

STUDY = """[[task]]
name = "t"
metric = "accuracy"
split = {split}
[[pipeline]]
name = "a"
command = "train {{lr}} {{seed.init}} {{seed.order}}"
space = {{lr = {space}}}
[[design]]
kind = "{kind}"
{count}
[tuning]
trials = {trials}
"""
USUAL = {
    "split": '"hold-out"',
    "space": "{uniform = [0.0, 1.0]}",
    "kind": "fix-hopt",
    "count": "replicates = 3\nvary = ['init']",
    "trials": "3",
}
FIXED = '{{kind = "fixed", train = {}, test = [0]}}'
HUGE = "1000000000000"


def test_a_module_whose_name_is_too_long_for_a_file_is_refused(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(
        '[[task]]\nname = "t"\nmetric = "accuracy"\n[[pipeline]]\nname = "a"\n'
        f'function = "{"é" * 300}:fit"\nsources = ["init"]\n[[design]]\nkind = "ideal"\n'
    )
    with pytest.raises(InvalidInput):
        read_study(path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"kind": "crossed", "count": "levels = 2147483648"},
            "levels is 2147483648 (line 11). Pass a whole number up to 1,000,000.",
        ),
        (
            {"kind": "crossed", "count": "levels = 2000"},
            "the crossed design has 4,000,000 runs of 1 pipeline on 1 task (line 9). Ask for "
            "fewer: 1,000,000 at most.",
        ),
        (
            {"count": f"replicates = {HUGE}"},
            f"replicates is {HUGE} (line 11). Pass a whole number up to 1,000,000.",
        ),
        ({"trials": HUGE}, f"trials is {HUGE} (line 14). Pass a whole number up to 1,000,000."),
        (
            {"split": FIXED.format('"0:1000000000000"')},
            "train has 1,000,000,000,000 examples (line 4). List 20,000,000 at most.",
        ),
        (
            {"split": FIXED.format("[[0, 1], [2]]")},
            "train is [[0, 1], [2]] (line 4). List the positions of its examples.",
        ),
        (
            {"space": "{log-uniform = [1e-320, 1.0]}"},
            "hyperparameter 'lr': low is 1e-320 (line 8). Start at 1e-150 or above.",
        ),
        (
            {"space": "{uniform = [-1e308, 1e308]}"},
            "hyperparameter 'lr': low is -1e+308 (line 8). Pass a number from -1e+150 to 1e+150.",
        ),
        (
            {"space": f"{{integers = [1, {HUGE}{HUGE}]}}"},
            f"hyperparameter 'lr': high is {HUGE}{HUGE} (line 8). Pass a whole number from "
            "-9,007,199,254,740,992 to 9,007,199,254,740,992, or search it as uniform or "
            "log-uniform.",
        ),
        (
            {"space": "{choices = [1.0, inf]}"},
            "hyperparameter 'lr': the choice inf is too large for a number (line 8). Name it by a "
            "text, and let the pipeline translate it.",
        ),
    ],
)
def test_what_is_beyond_all_reason_is_refused_with_its_line(settings, message):
    with pytest.raises(InvalidInput) as caught:
        parse_study_file(STUDY.format(**USUAL | settings), folder=Path())
    assert str(caught.value) == message


def test_the_usual_study_is_one():
    assert parse_study_file(STUDY.format(**USUAL), folder=Path()).study.count_fits() == 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pipeline = 5\n", "pipeline is no list of tables (line 1). Begin each with [[pipeline]]."),
        (
            f"x = {'[' * 5000}{']' * 5000}",
            "the study file has lists or tables in one another, too deep to be read. Write it as "
            "`outperform init` does, which needs two levels.",
        ),
        (
            f"seed = 1{'0' * 5000}",
            "the study file has a number of thousands of digits. Write one that is meant.",
        ),
        (
            'name = "\\ud800"',
            "the study file is not TOML: Escaped character is not a Unicode scalar value (at line "
            "1, column 15). Mend that line.",
        ),
    ],
)
def test_files_that_cannot_be_read_are_refused(text, message):
    with pytest.raises(InvalidInput) as caught:
        parse_study_file(text, folder=Path())
    assert str(caught.value) == message


class CountedPipelines(tuple):
    n_walks = 0

    def __iter__(self):
        CountedPipelines.n_walks += 1
        return super().__iter__()


def test_planning_grows_with_the_number_of_pairs_not_with_its_square():
    """All pipelines are walked a few times per task, not once more for every pair."""
    tasks = "".join(f'[[task]]\nname = "t{i}"\nmetric = "accuracy"\n' for i in range(20))
    pipelines = "".join(
        f'[[pipeline]]\nname = "p{i}"\ncommand = "train {{task}}"\n' for i in range(40)
    )
    design = '[[design]]\nkind = "ideal"\nreplicates = 1\n'
    study = parse_study_file(f"{tasks}{pipelines}{design}", folder=Path()).study
    object.__setattr__(study, "pipelines", CountedPipelines(study.pipelines))
    assert describe_study(study)["n_fits"] == 800
    assert CountedPipelines.n_walks < 10 * 20
