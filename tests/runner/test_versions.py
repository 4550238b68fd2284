"""What workers run on is recorded with every fit, and where they differ every answer says so."""

import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from outperform import (
    audit,
    compare_runs,
    decompose,
    plan,
    plan_budget,
    rank_runs,
    read_runs,
    simulate_error_rates,
)
from outperform.engines import InlineEngine, LocalEngine
from outperform.questions.best_of.answer import best_of_runs
from outperform.questions.best_of.search_trials import collect_trials
from outperform.questions.quality.answer import measure_quality
from outperform.runner import run_fits
from outperform.runner.work import find_versions
from outperform.store import Measurement, Store, open_store
from outperform.study.designs import FixHopt, Ideal, Variance
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Uniform
from outperform.study.study import Study
from outperform.study.tasks import Task

TASK = Task("toy", metric="accuracy")
Change = Callable[[Measurement], dict[str, str]]


def add_up(params, split, seeds):
    score = (params["c"] + seeds["init"] / 2**32) / 2
    return {"valid": score, "test": score - 0.01}


def add_less(params, split, seeds):
    score = params["c"] / 2 + seeds["init"] / 2**33
    return {"valid": score, "test": score - 0.125 * (seeds["init"] % 2)}


def two() -> Study:
    space = {"c": Uniform(0, 1)}
    pipelines = [
        FunctionPipeline(n, f, space, ("init",))
        for n, f in zip("ab", (add_up, add_less), strict=True)
    ]
    return Study(pipelines, (TASK,), (Ideal(6), FixHopt(6), Variance(4)), trials=3)


# What is recorded


def use_library(params, split, seeds):
    import lightgbm  # a stand-in, on the path of the test

    return {"valid": 1.0, "test": len(lightgbm.__version__)}


def test_a_worker_tells_its_own_versions_and_those_of_what_a_fit_has_loaded(tmp_path, monkeypatch):
    (tmp_path / "lightgbm.py").write_text("__version__ = '4.5.0'\n")
    monkeypatch.syspath_prepend(tmp_path)
    pipeline = FunctionPipeline("a", use_library)
    with open_store(tmp_path / "study.db") as store, LocalEngine(1) as engine:
        run_fits(Study((pipeline,), (TASK,), (Ideal(1),)), store, engine)
        (fit,) = store.measurements()
    assert "lightgbm" not in find_versions()  # of this process
    assert fit.versions == {**find_versions(), "lightgbm": "4.5.0"}
    assert fit.versions["python"] == platform.python_version()
    assert fit.versions["processor"]


def test_versions_are_looked_up_again_when_more_is_loaded(monkeypatch):
    first = find_versions()
    assert find_versions() is first
    monkeypatch.setitem(sys.modules, "catboost", type("Stub", (), {"__version__": "1.2"}))
    assert find_versions() == {**first, "catboost": "1.2"}


def test_the_library_is_not_imported_to_learn_its_version():
    code = (
        "import sys; from outperform.runner.work import find_versions; "
        "assert 'scikit-learn' in find_versions(); assert 'sklearn' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def die(params, split, seeds):
    import os

    os._exit(3)


def test_of_a_fit_that_was_killed_nothing_is_claimed(tmp_path):
    with open_store(tmp_path / "study.db") as store, LocalEngine(1) as engine:
        run_fits(Study((FunctionPipeline("a", die),), (TASK,), (Ideal(1),)), store, engine)
        (fit,) = store.measurements("failed")
    assert fit.versions == {}


# What is said


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("versions") / "study.db") as store:
        run_fits(two(), store, InlineEngine())
        yield store


@pytest.fixture
def make_store(original, tmp_path) -> Iterator[Callable[[Change], Store]]:
    """A store of the same study, whose fits ran elsewhere."""
    stores = []

    def make(change: Change) -> Store:
        store = open_store(tmp_path / "changed.db")
        fits = [replace(fit, versions=change(fit)) for fit in original.measurements()]
        store.set_meta("study", original.get_meta("study"))
        store.add(fits, [*original.run_labels(), *original.failed_trials()])
        stores.append(store)
        return store

    yield make
    for store in stores:
        store.close()


def mix(fit: Measurement) -> dict[str, str]:
    """One run in six on another machine, of either algorithm."""
    odd = fit.seeds["init"] % 6 == 0
    return {"numpy": "2.2" if odd else "2.1", "python": "3.12.1"}


def part(fit: Measurement) -> dict[str, str]:
    return {"numpy": "2.1" if fit.pipeline == "a" else "2.2", "python": "3.12.1"}


ANSWERS: dict[str, Callable[[Path], Any]] = {
    "compare": lambda path: compare_runs(read_runs(path), "a", "b"),
    "rank": lambda path: rank_runs(read_runs(path)),
    "audit": lambda path: audit(read_runs(path), "a", "b"),
    "best_of": lambda path: best_of_runs(read_runs(path), "a"),
    "decompose": decompose,
    "quality": measure_quality,
    "plan": lambda path: plan(pilot=compare_runs(read_runs(path), "a", "b")),
    "budget": lambda path: plan_budget(path, budget=2000),
    "simulate": lambda path: simulate_error_rates(path, n_draws=100, rng=np.random.default_rng(0)),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_every_answer_says_that_algorithms_ran_on_different_versions(answer, make_store):
    store = make_store(part)
    n = {name: sum(row[2] for row in store.versions() if row[0] == name) for name in "ab"}
    store.close()
    caveats = [each.removeprefix("the pilot: ") for each in answer(Path(store.address)).caveats]
    assert [each for each in caveats if "ran with" in each] == [
        f"fits of different algorithms ran with different numpy (a with 2.1: {n['a']} fits; b with "
        f"2.2: {n['b']} fits): what looks like a difference between algorithms may be one between "
        "versions or processors; do all fits on equal ones before you conclude anything"
    ]


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_no_answer_says_so_where_workers_are_equal(answer, original):
    assert not [each for each in answer(Path(original.address)).caveats if "ran with" in each]


def test_a_mixture_is_told_with_counts(make_store):
    store = make_store(mix)
    notes = read_runs(Path(store.address)).notes
    n_odd = sum(n for _, versions, n in store.versions() if versions["numpy"] == "2.2")
    n_all = sum(n for _, _, n in store.versions())
    assert 0 < n_odd < n_all / 2
    assert notes[-1] == (
        f"fits ran with different numpy (2.1: {n_all - n_odd} fits, 2.2: {n_odd}): scores may "
        "differ for that reason"
    )


def test_what_is_not_known_is_no_difference(make_store):
    store = make_store(lambda fit: {"processor": "A 1"} if fit.pipeline == "a" else {})
    assert not [note for note in read_runs(Path(store.address)).notes if "ran with" in note]


def test_of_trials_of_a_search_it_is_told_too(make_store):
    store = make_store(part)
    assert [note for note in collect_trials(two(), store).notes if "numpy" in note]


def test_many_kinds_of_processors_are_cut_short(make_store):
    store = make_store(lambda fit: {"processor": f"kind {fit.seeds['init'] % 7}"})
    (note,) = [each for each in read_runs(Path(store.address)).notes if "processor" in each]
    assert note.count("kind") < 14
    assert "others" in note
