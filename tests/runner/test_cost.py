"""Counting the fits that a run would still do, wherever the last one was stopped."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from outperform.engines import InlineEngine
from outperform.errors import InvalidInput
from outperform.runner import run_fits
from outperform.runner.cost import count_left, estimate_cost
from outperform.runner.stored_study import StoredStudy
from outperform.store import Store, open_store
from outperform.study.designs import FixHopt, Ideal, ResampledHopt, SimulatedHopt
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Choices, Uniform
from outperform.study.study import Study
from outperform.study.tasks import Task
from outperform.study.tuners import TUNERS, Tuner
from tests.interruptions import Interrupting

SPACE = {"c": Uniform(0, 1)}


def hill(params, split, seeds):
    score = 0.9 - (params["c"] - 0.4) ** 2 + seeds["init"] / 2**38
    return {"valid": score, "test": score - 0.01}


def chance(params, split, seeds):
    score = (params["c"] * 7919) % 1 + seeds["init"] / 2**40
    return {"valid": score, "test": score}


def fail(params, split, seeds):
    raise ValueError("never")


def plan(*designs: Any, functions=(hill,), space=SPACE, **changes: Any) -> Study:
    pipelines = [
        FunctionPipeline(name, function, space, ("init",))
        for name, function in zip("ab", functions, strict=False)
    ]
    return Study(pipelines, [Task("toy", metric="accuracy")], designs, trials=12, **changes)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "study.db") as opened:
        yield opened


def count(study: Study, store: Store, *, retry_failed: bool = False) -> int:
    return sum(count_left(StoredStudy(study, store, retry_failed=retry_failed)).values())


def stop_and_copy(study: Study, store: Store, folder: Path) -> Iterator[Store]:
    """Copies of the store, of a run that is stopped again and again until it has ended."""
    for n in range(1, 100):
        try:
            run_fits(study, store, Interrupting(8))
        except KeyboardInterrupt:
            store.backup(folder / f"{n}.db")
            with open_store(folder / f"{n}.db") as copy:
                yield copy
        else:
            return


TWO = {"functions": (hill, hill)}


@pytest.mark.parametrize(
    "study",
    [
        plan(FixHopt(4), SimulatedHopt(4, best_share=1.0), **TWO),
        plan(SimulatedHopt(4, n_repetitions=2, best_share=1.0), tuner="gp-ei"),
        plan(Ideal(4), **TWO),
        plan(Ideal(4), tuner="gp-ei"),
        plan(Ideal(4), FixHopt(3, n_repetitions=2)),
        plan(Ideal(4), space={"c": Choices([0.1, 0.2, 0.3])}),
        plan(Ideal(3), tuner="grid", space={"c": Uniform(0, 1), "d": Choices([1, 2])}),
    ],
    ids=["simulated", "by gp-ei", "ideal", "ideal by gp-ei", "two designs", "choices", "grid"],
)
def test_what_is_left_is_what_is_done_wherever_it_was_stopped(study, store, tmp_path):
    n_stops = 0
    for copy in stop_and_copy(study, store, tmp_path):
        left = count(study, copy)
        assert run_fits(study, copy, InlineEngine()).n_done == left
        assert count(study, copy) == 0
        n_stops += 1
    assert n_stops > 1


def test_redrawn_searches_that_choose_alike_are_done_once(store, tmp_path):
    study = plan(FixHopt(4), ResampledHopt(4))
    lefts = []
    for copy in stop_and_copy(study, store, tmp_path):
        is_searched = sum(copy.counts().values()) >= 12
        left, n_done = count(study, copy), run_fits(study, copy, InlineEngine()).n_done
        assert n_done == left if is_searched else n_done <= left
        lefts.append(left - n_done)
    assert lefts[0] > lefts[-1] == 0


def test_simulated_searches_that_are_refused_leave_nothing(store):
    study = plan(FixHopt(4), SimulatedHopt(4, best_share=1.0), functions=(chance,))
    assert run_fits(study, store, InlineEngine()).unsimulated == {"a on toy": 4}
    assert count(study, store) == 0
    # Tried again, their model is made anew, which may not be refused.
    assert count(study, store, retry_failed=True) == 4


def test_more_simulated_searches_are_left_of_a_longer_study(store):
    run_fits(plan(SimulatedHopt(2, best_share=1.0)), store, InlineEngine())
    longer = plan(SimulatedHopt(5, best_share=1.0))
    assert count(longer, store) == run_fits(longer, store, InlineEngine()).n_done == 3


def test_searches_of_which_every_trial_fails_leave_no_run(store):
    study = plan(Ideal(2), functions=(hill, fail))
    run_fits(study, store, InlineEngine())
    assert count(study, store) == 0
    assert count(study, store, retry_failed=True) == 2 * 13


def test_what_is_not_begun_is_counted_without_looking_for_it(store, monkeypatch):
    run_fits(plan(Ideal(2)), store, InlineEngine())
    longer = plan(Ideal(50))
    suggested = []
    stored = StoredStudy(longer, store)
    suggest = TUNERS["random"].suggest
    monkeypatch.setattr(Tuner, "suggest", lambda _, *a: suggested.append(a) or suggest(*a))
    assert sum(count_left(stored).values()) == 48 * 13
    assert len(suggested) == 48  # the first trial of each search


def test_a_cost_says_what_is_left_and_measures_only_if_asked(tmp_path):
    calls = []

    def fit(params, split, seeds):
        calls.append(seeds)
        return {"valid": 0.5, "test": 0.5}

    study, path = plan(Ideal(2), functions=(fit,), name="toys"), tmp_path / "study.db"
    cost = estimate_cost(study, path, "inline")
    assert str(cost) == "toys: 26 fits left, an unknown time on 1 worker."
    assert [each.seconds for each in cost.designs] == [None, None]
    assert not calls
    measured = estimate_cost(study, path, "inline", measure=True)
    assert calls
    assert all(each.seconds is not None for each in measured.designs)
    assert not path.exists()


def test_what_no_fit_can_take_is_refused(tmp_path):
    with pytest.raises(InvalidInput) as caught:
        estimate_cost(plan(Ideal(2)), tmp_path / "study.db", seconds_per_fit=-1)
    assert str(caught.value) == "seconds_per_fit is -1. Pass a positive number."
