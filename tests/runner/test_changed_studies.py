"""A study that has changed since it was run: what is done anew, and what is kept."""

from dataclasses import replace

import pytest

from outperform.engines import InlineEngine
from outperform.runner import describe_changes, describe_study, run_fits
from outperform.store import Measurement
from outperform.study.command_pipeline import CommandPipeline
from outperform.study.designs import Ideal
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Uniform
from outperform.study.tasks import Task
from tests.interruptions import Interrupting
from tests.runner.toys import add_up, toy, two


def changed(params, split, seeds):
    return {"valid": params["c"], "test": 0.125}


def test_only_what_has_changed_is_run_anew(store, other):
    run_fits(two(add_up, add_up), store, InlineEngine())
    study = two(add_up, changed)
    before = store.get_meta("study")
    assert describe_changes(before, describe_study(study)) == [
        "pipeline b has changed since the last run: its fits are done anew, the old ones are kept"
    ]
    progress = run_fits(study, store, InlineEngine())
    assert (progress.n_done, progress.n_known) == (8, 8)
    run_fits(study, other, InlineEngine())
    assert {*store.run_labels()} == {*other.run_labels()}
    assert len(list(store.measurements())) == 24
    assert describe_changes(store.get_meta("study"), describe_study(study)) == []


def test_runs_of_a_changed_pipeline_are_not_mixed_with_earlier_ones(store):
    run_fits(two(add_up, add_up, 6), store, InlineEngine())
    with pytest.raises(KeyboardInterrupt):
        run_fits(two(add_up, changed, 6), store, Interrupting(8))
    scores = store.scores()
    of_b = [
        scores[x.key]["test"] for x in store.run_labels() if x.pipeline == "b" and x.key in scores
    ]
    assert 0 < len(of_b) < 6
    assert set(of_b) == {0.125}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 1}, "the seed was 0 and is now 1: fits that both need are done once"),
        ({"trials": 6},
         "the search was random search, 4 trials and is now random search, 6 trials: fits that "
         "both need are done once"),
        ({"pipelines": toy(name="z").pipelines},
         "pipeline a is not in the study any more: its fits are kept"),
        ({"pipelines": (FunctionPipeline("a", add_up, {"c": Uniform(0, 2)}, ("init",)),)},
         "the search space of pipeline a has changed: it is searched anew"),
    ],
)  # fmt: skip
def test_changes_are_described_and_give_the_table_of_a_new_run(change, said, store, other):
    run_fits(toy(), store, InlineEngine())
    study = replace(toy(), **change)
    assert said in describe_changes(store.get_meta("study"), describe_study(study))
    run_fits(study, store, InlineEngine())
    run_fits(study, other, InlineEngine())
    assert {*store.run_labels()} == {*other.run_labels()}


def test_a_new_task_is_described():
    before = describe_study(toy())
    now = describe_study(toy(tasks=(Task("more", metric="accuracy"),)))
    assert "task more is new" in describe_changes(before, now)


def test_more_replicates_add_fits_and_change_none(store):
    run_fits(toy(), store, InlineEngine())
    before: list[Measurement] = list(store.measurements())
    progress = run_fits(toy(designs=(Ideal(5),)), store, InlineEngine())
    assert (progress.n_known, progress.n_done) == (15, 10)
    assert list(store.measurements())[:15] == before


def test_a_changed_program_is_said_to_count_as_done(tmp_path):
    program = tmp_path / "train.py"
    program.write_text("print(1)")
    command = f"python train.py --seed {{seed.init}} -c {'x' * 300}"

    def describe(command=command, name="a"):
        pipeline = CommandPipeline(name, command, folder=str(tmp_path))
        return describe_study(replace(toy(), pipelines=(pipeline,)))

    before = describe()
    assert describe_changes(before, describe()) == []
    program.write_text("print(2)")
    assert describe_changes(before, describe()) == [
        "train.py has changed since the last run, and fits of pipeline a count as done all the "
        "same: rename the pipeline if it scores otherwise now"
    ]
    assert not any("train.py" in each for each in describe_changes(before, describe(name="b")))
    other = describe_changes(before, describe(f"{command} --more"))
    assert not any("train.py" in each for each in other)  # its fits are done anew
