"""Fits that fail, and workers that cannot even begin one."""

import os
import socket
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from outperform.engines import InlineEngine, LocalEngine
from outperform.errors import EngineError
from outperform.runner import run_fits
from outperform.store import open_store
from outperform.study.datasets import Dataset
from outperform.study.designs import FixHopt, Ideal
from outperform.study.pipelines import FunctionPipeline
from outperform.study.study import Study
from outperform.study.tasks import Task
from tests.interruptions import Interrupting
from tests.runner.toys import add_up, fail, toy

# Workers that cannot work

MODULE = """
import os, time
from pathlib import Path

def is_first():
    try:
        Path(__file__).with_name("been here").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True

if os.getpid() != COORDINATOR:
    TROUBLE

def fit(params, split, seeds):
    return {"valid": params["c"], "test": params["c"]}
"""


@pytest.fixture
def troubled(tmp_path, monkeypatch) -> Callable[[str], Any]:
    """A function of a module that causes trouble where workers import it."""

    def write(trouble: str) -> Any:
        text = MODULE.replace("COORDINATOR", str(os.getpid())).replace("TROUBLE", trouble)
        name = f"troubled_{abs(hash(trouble))}"
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        return import_module(name).fit

    return write


def test_an_import_that_fails_once_costs_no_fit(troubled, store):
    fit = troubled("if is_first(): raise ImportError('no luck')")
    with LocalEngine(2) as engine:
        progress = run_fits(toy(fit), store, engine)
    assert (progress.n_done, progress.n_failed) == (15, 0)


def test_code_that_no_worker_can_import_stops_the_run_and_nothing_is_recorded(troubled, store):
    fit = troubled("raise ImportError('no luck anywhere')")
    with LocalEngine(2) as engine, pytest.raises(EngineError) as caught:
        run_fits(toy(fit), store, engine)
    assert str(caught.value) == (
        "no worker could load the code of the fits, in 3 tries: ImportError: no luck anywhere. "
        "Mend what it imports or loads, and run it again."
    )
    assert store.counts() == {}


def test_an_import_that_hangs_stops_the_run(troubled, store, monkeypatch):
    monkeypatch.setattr("outperform.engines.worker._LEAST_TO_LOAD", 0.3)
    fit = troubled("time.sleep(300)")
    with LocalEngine(2) as engine, pytest.raises(EngineError, match="the time limit of loading"):
        run_fits(toy(fit, timeout=0.01), store, engine)
    assert store.counts() == {}


def load_here_only(pid: int) -> Any:
    if os.getpid() != pid:
        raise FileNotFoundError("no such file: images.npz")
    return [[0.0], [1.0]] * 20, [0, 1] * 20


def take_first(params, split, seeds, *, task):
    return {"test": float(split.test[0])}


def on_data(*loaders: Any, n: int = 2) -> Study:
    tasks = [
        Task(name, metric="accuracy", data=load)
        for name, load in zip(("images", "texts"), loaders, strict=False)
    ]
    return Study((FunctionPipeline("first", take_first),), tasks, (Ideal(n),))


def test_data_that_workers_lack_stop_the_run_and_nothing_is_recorded(store):
    study = on_data(partial(load_here_only, os.getpid()))
    with LocalEngine(2) as engine, pytest.raises(EngineError) as caught:
        run_fits(study, store, engine)
    assert str(caught.value) == (
        "no worker could load the code of the fits, in 3 tries: "
        "outperform.runner.work.MissingData: "
        f"the data of task 'images' cannot be loaded on {socket.gethostname()}: the data function "
        "'partial' fails (FileNotFoundError: no such file: images.npz). Mend what it imports or "
        "loads, and run it again."
    )
    assert store.counts() == {}


class FileData:
    """Data that know their content, wherever they are."""

    def __init__(self, path: Path) -> None:
        self.path, self.fingerprint = path, path.name
        path.touch()

    def __call__(self) -> Any:
        self.path.read_text()
        return Dataset([[0.0], [1.0]] * 20, [0, 1] * 20)


@pytest.mark.parametrize("make_engine", [InlineEngine, partial(LocalEngine, 1)])
def test_data_that_are_gone_stop_only_a_run_that_needs_them(make_engine, tmp_path, store):
    loaders = [FileData(tmp_path / name) for name in ("images", "texts")]
    with pytest.raises(KeyboardInterrupt):  # one fit of texts is missing
        run_fits(on_data(*loaders), store, Interrupting(5))
    assert sum(store.counts().values()) == 3
    loaders[0].path.unlink()
    with make_engine() as engine:
        progress = run_fits(on_data(*loaders), store, engine)
    assert (progress.n_done, progress.n_failed) == (1, 0)
    with make_engine() as engine, pytest.raises(EngineError, match="the data of task 'images'"):
        run_fits(on_data(*loaders, n=4), store, engine)
    assert {status for *_, status in store.counts()} == {"done"}
    assert store.counts()["first", "images", "done"] == 2


# Failures


def test_failures_are_recorded_and_the_study_goes_on(store):
    def sometimes(params, split, seeds):
        if params["c"] > 0.5:
            raise ValueError(f"c is {params['c']}")
        return add_up(params, split, seeds)

    progress = run_fits(toy(sometimes, trials=8), store, InlineEngine())
    failures = list(store.measurements("failed"))
    assert 0 < len(failures) == progress.n_failed < 24
    assert progress.n_done == 27 - len(failures)
    assert all("Traceback" in m.error and "ValueError: c is 0." in m.error for m in failures)
    assert len(store.run_labels()) == 3
    again = run_fits(toy(sometimes, trials=8), store, InlineEngine())
    assert (again.n_done, again.n_failed, again.n_left) == (0, 0, 0)


def test_a_search_all_of_whose_trials_failed_blocks_its_runs_only(store):
    good = toy().pipelines[0]
    study = replace(
        toy(), pipelines=(replace(good, function=fail, name="bad"), good), designs=(FixHopt(5),)
    )
    for n_failed in (4, 0):  # the second time, they are known to have failed
        progress = run_fits(study, store, InlineEngine())
        assert progress.blocked == {"bad on toy": 5}
        assert (progress.n_failed, progress.n_left) == (n_failed, 0)
        assert {label.pipeline for label in store.run_labels()} == {"a"}
        assert store.get_meta("blocked") == {"bad on toy": 5}
        assert store.get_meta("study")["n_fits"] == 18


def test_failed_fits_are_tried_as_often_as_the_study_says(store, tmp_path):
    calls = []

    def third_time_lucky(params, split, seeds):
        calls.append(params["c"])
        if calls.count(params["c"]) < 3:
            raise ValueError("not yet")
        return {"valid": 0.5, "test": 0.5}

    study = toy(third_time_lucky, designs=(Ideal(1),))
    assert run_fits(replace(study, retries=2), store, InlineEngine()).n_failed == 0
    calls.clear()
    with open_store(tmp_path / "strict.db") as strict:
        progress = run_fits(replace(study, retries=1), strict, InlineEngine())
    assert (progress.n_failed, progress.blocked) == (4, {"a on toy": 1})


def test_what_is_retried_may_change_what_a_search_finds(store, other):
    mended: list[bool] = []

    def high_values_fail_at_first(params, split, seeds):
        if params["c"] > 0.5 and not mended:
            raise ValueError("too high")
        return {"valid": params["c"], "test": 0.5}

    study = toy(high_values_fail_at_first, trials=8)
    run_fits(study, store, InlineEngine())
    before = store.run_labels()
    mended.append(True)
    run_fits(study, other, InlineEngine())
    with pytest.raises(KeyboardInterrupt):
        run_fits(study, store, Interrupting(2), retry_failed=True)
    # An interrupted retry is taken up like any other run, with what it has mended.
    run_fits(study, store, InlineEngine(), retry_failed=True)
    assert store.run_labels() != before
    assert {*store.run_labels()} == {*other.run_labels()}
    assert not list(store.measurements("failed"))
