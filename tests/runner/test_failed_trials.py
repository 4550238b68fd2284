"""Trials that fail: a search that saw little is doubted, and failures of before do not count."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner

from outperform import compare_runs
from outperform.cli import main
from outperform.engines import InlineEngine
from outperform.runner import run_fits
from outperform.store import Store
from outperform.store.planned_runs import find_needed_failures
from outperform.store.stored_runs import load_runs
from outperform.study.designs import FixHopt, Ideal, Variance
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Choices, Uniform
from outperform.study.study import Study
from outperform.study.tasks import Task
from tests.interruptions import Interrupting

TASK = Task("toy", metric="accuracy")
UNIT = Uniform(0, 1)


def learn(params, split, seeds):
    return {"valid": params["c"], "test": params["c"] + seeds["init"] / 2**33}


def learn_untuned(params, split, seeds):
    return {"test": seeds["init"] / 2**32}


def fail_above(bound: float) -> Callable[..., Any]:
    def fit(params, split, seeds):
        assert params["c"] <= bound
        return {"valid": params["c"], "test": params["c"] + seeds["init"] / 2**32}

    return fit


def make_study(function: Callable[..., Any], space: Any = UNIT, **changes: Any) -> Study:
    pipelines = [
        FunctionPipeline("fine", learn_untuned, {}, ("init",)),
        FunctionPipeline("knn", function, {"c": space}, ("init",)),
    ]
    return Study(pipelines, (TASK,), **{"designs": (Ideal(7),), "trials": 10, **changes})


def run(study: Study, store: Store, **options: Any) -> None:
    run_fits(study, store, InlineEngine(), **options)


def count_failed(store: Store) -> int:
    return sum(1 for _ in store.measurements("failed"))


def list_doubts(store: Store) -> list[str]:
    return [note for note in load_runs(store).notes if "trials" in note]


def count_by_seeds(store: Store) -> list[int]:
    """Failed trials of each search of knn."""
    by_seeds: dict[str, int] = {}
    for fit in store.measurements():
        if fit.pipeline == "knn" and not fit.refit:
            n = by_seeds.setdefault(repr(fit.seeds), 0)
            by_seeds[repr(fit.seeds)] = n + (fit.status == "failed")
    return list(by_seeds.values())


def test_a_comparison_says_that_many_trials_failed(store):
    run(make_study(fail_above(0.4)), store)
    n_failed = count_by_seeds(store)
    assert len(n_failed) == 7
    n_blind = sum(n > 5 for n in n_failed)
    assert 0 < n_blind < 7
    doubt = (
        f"{sum(n_failed)} of 70 trials of knn's searches on toy failed, more than half in "
        f"{n_blind} of 7 searches: its searches saw less than they should"
    )
    assert list_doubts(store) == [doubt]
    assert doubt in compare_runs(load_runs(store), "fine", "knn").caveats


def test_one_search_is_named_with_its_trials(store):
    run(make_study(fail_above(0.4), designs=(FixHopt(3),), trials=20), store)
    (n_failed,) = count_by_seeds(store)
    assert list_doubts(store) == [
        f"{n_failed} of 20 trials of knn's searches on toy failed: its searches saw less than they "
        "should"
    ]


@pytest.mark.parametrize(("bound", "doubted"), [(0.87, False), (0.75, True)])
def test_a_fifth_of_the_trials_is_a_large_share(bound, doubted, store):
    run(make_study(fail_above(bound), trials=20), store)
    n_failed = count_by_seeds(store)
    assert max(n_failed) <= 10  # so that no search alone is reason enough
    assert sum(n_failed) > 0
    assert (sum(n_failed) >= 0.2 * 20 * 7) == doubted
    assert bool(list_doubts(store)) == doubted


def test_a_single_search_most_of_whose_trials_failed_is_reason_enough(store):
    study = make_study(learn)
    seed = dict(study.draws[1].search({}).seeds)["init"]

    def fit(params, split, seeds):
        assert seeds["init"] != seed or params["c"] > 0.9
        return learn(params, split, seeds)

    run(make_study(fit, designs=(Ideal(9),)), store)
    n_failed = count_by_seeds(store)
    assert sum(n_failed) < 0.2 * 90
    assert list_doubts(store) == [
        f"{sum(n_failed)} of 90 trials of knn's searches on toy failed, more than half in 1 of 9 "
        "searches: its searches saw less than they should"
    ]


def test_equal_trials_count_each(store):
    run(make_study(fail_above(0.5), Choices([0.2, 0.8])), store)
    assert max(count_by_seeds(store)) == 1
    ((n_failed, n_trials),) = re.findall(r"(\d+) of (\d+) trials", list_doubts(store)[0])
    assert int(n_trials) == 70
    assert int(n_failed) == len(store.failed_trials()) > 14


def test_searches_of_other_designs_are_not_those_compared(store):
    study = make_study(fail_above(0.4), designs=(Ideal(2), Variance(2, n_searches=9)))
    run(study, store)
    assert " of 20 trials of knn's searches" in list_doubts(store)[0]


def test_searches_of_other_designs_that_failed_altogether_are_not_counted(store):
    study = make_study(learn)
    seed = dict(study.draws[1].search({}).seeds)["init"]

    def fit(params, split, seeds):
        assert seeds["init"] != seed
        return learn(params, split, seeds)

    run(make_study(fit, designs=(Ideal(2), Variance(2, n_searches=3))), store)
    assert list_doubts(store) == [
        "10 of 20 trials of knn's searches on toy failed, more than half in 1 of 2 searches: its "
        "searches saw less than they should"
    ]


def test_interrupted_and_resumed_the_failed_trials_are_the_same(store, other):
    study = make_study(fail_above(0.4), designs=(Ideal(3),))
    run(study, other)
    for n in range(1, 20, 6):
        with pytest.raises(KeyboardInterrupt):
            run_fits(study, store, Interrupting(n))
        # What failed is known to be needed as soon as it is recorded.
        assert len(find_needed_failures(store)) == count_failed(store)
    run(study, store)
    assert sorted(store.failed_trials()) == sorted(other.failed_trials())
    assert list_doubts(store) == list_doubts(other) != []


CHANGES = {
    "code": lambda: make_study(learn),
    "space": lambda: make_study(fail_above(0.4), Uniform(0, 0.3)),
    "designs": lambda: make_study(fail_above(0.4), designs=(Variance(4),)),
    "seed": lambda: make_study(fail_above(1.0), seed=1),
}


@pytest.mark.parametrize("change", CHANGES)
def test_failures_of_before_do_not_count(change, store):
    run(make_study(fail_above(0.4)), store)
    n_before = count_failed(store)
    assert n_before == len(find_needed_failures(store)) > 14
    changed = CHANGES[change]()
    run(changed, store)
    assert count_failed(store) >= n_before
    wanted = {m.key for m in store.measurements("failed") if change == "designs" and m.refit}
    assert find_needed_failures(store) == wanted


def test_fewer_replicates_leave_the_failures_of_their_searches(store, other):
    run(make_study(fail_above(0.4)), store)
    few = make_study(fail_above(0.4), designs=(Ideal(2),))
    for each in (store, other):
        run(few, each)
    assert find_needed_failures(store) == {m.key for m in other.measurements("failed")} != set()
    assert list_doubts(store) == list_doubts(other) != []


def test_failures_that_both_studies_need_still_count(store):
    run(make_study(fail_above(0.4)), store)
    before = find_needed_failures(store)
    run(make_study(fail_above(0.4), trials=5), store)
    now = find_needed_failures(store)
    assert set() < now < before


def test_what_was_mended_by_trying_again_does_not_count(store, tmp_path):
    def fit(params, split, seeds):
        assert params["c"] <= 0.4 or (tmp_path / "mended").exists()
        return learn(params, split, seeds)

    study = make_study(fit)
    run(study, store)
    assert list_doubts(store)
    (tmp_path / "mended").touch()
    run(study, store, retry_failed=True)
    assert (store.failed_trials(), find_needed_failures(store), list_doubts(store)) == (
        [],
        set(),
        [],
    )


def test_status_mentions_failures_of_before_apart(store):
    run(make_study(fail_above(0.4)), store)
    n_before = count_failed(store)
    run(make_study(learn), store)
    said = CliRunner().invoke(main, ["status", store.address]).stdout
    assert ", 0 failed; " in said.splitlines()[0]
    assert "AssertionError" not in said
    assert said.endswith(
        f"\n{n_before} other failed fits are kept: the study, as it was last run, did not ask "
        "for them\n"
    )
    printed = json.loads(CliRunner().invoke(main, ["status", store.address, "--json"]).stdout)
    assert [count["failed"] for count in printed["counts"]] == [0, 0]
    assert (printed["failures"], printed["n_failed_before"]) == ([], n_before)


def test_many_doubted_searches_do_not_fill_the_screen(store):
    study = make_study(fail_above(0.4), designs=(Ideal(1),))
    knn = study.pipelines[1]
    names = [f"knn{i}" for i in range(8)]
    run(
        replace(study, pipelines=[study.pipelines[0], *(replace(knn, name=n) for n in names)]),
        store,
    )
    doubts = list_doubts(store)
    assert len(doubts) == 6
    assert doubts[-1] == "so many trials failed in 3 other pairs of pipeline and task too"
