"""The command `outperform check`, as a person meets it."""

import json
import re

import pytest

from outperform.cli import progress
from tests.command_line import call

STUDY = r"""
[engine]
address = "inline"
[[task]]
name = "iris"
data = "checked_training:load"
metric = "accuracy"
[[pipeline]]
name = "tree"
function = "checked_training:fit"
sources = ["order", "init"]
[[pipeline]]
name = "coin"
command = [
    "python3", "-c", 'import random; print("{{\"test\":", random.random(), "}}")',
    "{seed.init}", "{split}",
]
[[design]]
kind = "ideal"
replicates = 2
"""
FUNCTION = 'function = "checked_training:fit"\nsources = ["order", "init"]'
TRAINING = """
def load():
    return [[i] for i in range(150)], [i % 3 for i in range(150)]

def fit(params, split, seeds, data):
    return {"test": float(data.features[split.test].mean())}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One for all of these studies, as a process imports a module of a name once."""
    made = tmp_path_factory.mktemp("checked")
    (made / "study.toml").write_text(STUDY)
    (made / "broken.toml").write_text(STUDY + BROKEN)
    (made / "checked_training.py").write_text(TRAINING)
    return made


@pytest.fixture
def study(folder):
    return folder / "study.toml"


@pytest.fixture
def broken(folder):
    return folder / "broken.toml"


def test_a_pipeline_that_does_not_repeat_is_a_finding(tmp_path):
    study = tmp_path / "study.toml"
    real = 'estimator = "sklearn.tree.DecisionTreeClassifier"'
    study.write_text(STUDY.replace("checked_training:load", "iris").replace(FUNCTION, real))
    result = call("check", study, "--seeds", 3, "--workers", 1)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Not reproducible: coin. The same seeds give scores that differ by ")
    assert lines[0].endswith("(3 to 5 seeds of every source, 2 runs each).")
    table = {tuple(line.split()[:3]): line.split()[3] for line in lines[4:8]}
    assert table["tree", "iris", "split"] == "reproducible"
    assert table["tree", "iris", "order"] == "unused"
    assert table["coin", "iris", "init"] == "noisy"
    assert lines[-1].startswith("Next: find what draws without its seed, pass the seed on")


def test_it_says_how_many_fits_before_and_then_how_long_it_will_take(study, monkeypatch):
    monkeypatch.setattr(progress, "_EVERY", 0.0)
    result = call("check", study, "--seeds", 3, "--repeats", 2, "--workers", 2, "--json")
    assert json.loads(result.stdout)
    first, *others = result.stderr.splitlines()
    assert first == (
        "24 fits, 3 seeds of every source 2 times each, on 2 workers; more seeds where these "
        "change nothing"
    )
    assert others
    for line in others:
        how_far = r"checking: \d+ of (24|32) fits done, [\d.]+ fits/(s|min), [\d.]+ (s|min) to go"
        assert re.fullmatch(how_far, line)
    assert others[-1].startswith("checking: 32 of 32 fits done")


def test_json_has_every_score(study):
    values = json.loads(call("check", study, "--repeats", 3, "--json").stdout)
    assert values["reproducible"] is False
    assert values["passed"] is False
    assert [len(check["scores"]) for check in values["checks"]] == [2, 5, 5, 2, 2]
    assert [len(check["scores"][0]) for check in values["checks"]] == [3] * 5


def test_nothing_is_written(study):
    call("check", study, "--seeds", 2, "--repeats", 2, "--workers", 2)
    names = {path.name for path in study.parent.iterdir()} - {"__pycache__"}
    assert names == {"study.toml", "broken.toml", "checked_training.py"}


def test_one_seed_is_refused(study):
    result = call("check", study, "--seeds", 1)
    assert result.exit_code == 2
    assert "seeds" in result.stderr


def test_a_quick_look_by_default_and_a_thorough_one_on_demand(study):
    words = ("check", study, "--pipeline", "tree", "--source", "split", "--json")
    quick, thorough = call(*words), call(*words, "--thorough")
    assert quick.stderr.startswith("4 fits, 2 seeds of every source 2 times each, on ")
    assert thorough.stderr.startswith("25 fits, 5 seeds of every source 5 times each, on ")
    for result, n in ((quick, 2), (thorough, 5)):
        (check,) = json.loads(result.stdout)["checks"]
        assert (check["pipeline"], check["source"]) == ("tree", "split")
        assert [len(row) for row in check["scores"]] == [n] * n


def test_the_gate_lets_only_seeds_pass_that_do_what_they_should(study):
    good = call("check", study, "--gate", "--pipeline", "tree", "--source", "split")
    assert good.exit_code == 0
    assert good.stdout.splitlines()[0] == (
        "Every seed does what it should: the same one repeats the score, another changes it (2 "
        "seeds of every source, 2 runs each)."
    )
    assert good.stdout.splitlines()[-1] == f"Next: outperform run {study}"
    assert call("check", study, "--gate", "--pipeline", "coin").exit_code == 1


def test_an_unused_seed_is_the_headline_and_the_gate_fails_on_it(study):
    unused = call("check", study, "--gate", "--pipeline", "tree", "--source", "order")
    assert unused.exit_code == 1
    lines = unused.stdout.splitlines()
    assert lines[0] == (
        "1 of 1 seeds changes no score: order of tree on iris (5 seeds of every source, 2 runs "
        "each)."
    )
    remedy = (
        "Next: pass the seed on to what it should seed, or name the pipeline's `sources` without "
        "it: order of tree. Where a function or command does use it, let its final fit return the "
        "loss beside the score, and check again: a coarse score hides small effects."
    )
    assert lines[-1] == remedy


BROKEN = """
[[pipeline]]
name = "broken"
command = ["python3", "-c", "raise SystemExit('no luck')", "{seed.init}", "{split}"]
"""


@pytest.mark.parametrize(
    ("options", "status", "found"),
    [
        (("--pipeline", "tree", "--source", "split"), 4, "every seed does what it should: the"),
        (
            ("--pipeline", "tree", "--gate"),
            1,
            "2 of 3 seeds change no score: order of tree on iris, ",
        ),
    ],
)
def test_a_pipeline_that_fails_hides_nothing_of_the_others(broken, options, status, found):
    words = ("check", broken, "--pipeline", "broken", *options)
    result = call(*words)
    assert result.exit_code == status
    lines = result.stdout.splitlines()
    assert lines[0].startswith(
        f"Not checked, as fits failed: broken on iris. Of the others: {found}"
    )
    assert re.search(
        r"fits of broken on iris failed, so nothing is known of its seeds there: .*no luck",
        " ".join(result.stdout.split()),
    )
    assert lines[-1] == "Next: mend what fails in broken, and check again."
    printed = json.loads(call(*words, "--json").stdout)
    assert printed["passed"] is False
    assert {check["pipeline"] for check in printed["checks"]} == {"tree"}
    (failed,) = printed["failed"]
    assert (failed["pipeline"], failed["task"]) == ("broken", "iris")
    assert failed["n_failed"] == failed["n_fits"] > 3


def test_where_every_pipeline_fails_the_error_is_told(broken):
    result = call("check", broken, "--pipeline", "broken")
    assert result.exit_code == 2
    assert "Error: a fit of broken on iris failed: " in result.stderr
    assert "Mend that first, since what fails cannot be checked" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--pipeline", "treee"), "the study has no pipeline 'treee'.\nDid you mean 'tree'?"),
        (("--source", "dropout"), "the pipelines honour no source 'dropout'.\nIt has: "),
    ],
)
def test_names_that_are_not_there_are_refused(study, words, message):
    result = call("check", study, *words)
    assert result.exit_code == 2
    assert message in result.stderr
