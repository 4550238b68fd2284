"""`outperform status` on a study that is running, and `--watch`."""

import json
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from outperform.cli.status import watch_run
from outperform.engines import InlineEngine, LocalEngine
from outperform.runner import Progress, run_fits
from outperform.store import Store, open_store
from outperform.store.meta import ACTIVITY, find_meta_problem
from outperform.study.designs import Ideal
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Uniform
from outperform.study.study import Study
from outperform.study.tasks import Task
from tests.command_line import call


def learn(params, split, seeds):
    return {"valid": params["c"], "test": params["c"]}


def learn_slowly(params, split, seeds):
    time.sleep(0.1)
    return {"valid": params["c"], "test": params["c"]}


def make_study(function: Any = learn) -> Study:
    pipeline = FunctionPipeline("svm", function, {"c": Uniform(0, 1)}, ("init",))
    task = Task("toy", metric="accuracy")
    return Study((pipeline,), (task,), (Ideal(6),), name="demo", trials=3)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "study.db") as opened:
        yield opened


# What a run says of itself


def run_and_look(function: Any, store: Store, engine: Any) -> list[dict[str, Any]]:
    """What the store says after every commit of a run, as others read it."""
    said: list[dict[str, Any]] = []

    def look(progress: Progress) -> None:
        with open_store(store.address) as reader:
            said.append(reader.get_meta(ACTIVITY))

    run_fits(make_study(function), store, engine, report=look)
    return [each for each in said if each is not None]


def test_a_run_tells_what_its_workers_do(store, monkeypatch):
    monkeypatch.setattr("outperform.runner.exchange._LOOK_EVERY", 0.0)
    began = time.time()
    with LocalEngine(2) as engine:
        said = run_and_look(learn_slowly, store, engine)
    last = max((each for each in said if each["workers"]), key=lambda each: each["n_done"])
    assert (last["engine"], last["n_workers"], last["n_more"]) == ("local:2", 2, 0)
    assert last["n_done"] + last["n_left"] == 24
    assert began <= last["began"] <= last["spoke"] <= time.time()
    assert last["fits_per_minute"] > 0
    assert last["seconds_left"] > 0
    for worker in last["workers"]:
        assert (worker["pipeline"], worker["task"]) == ("svm", "toy")
        assert worker["doing"] in ("run", "trial")
        assert began - 1 <= worker["since"] <= time.time() + 1
        assert worker["seconds_per_fit"] is None or worker["seconds_per_fit"] >= 0.1
    assert sum(worker["n_done"] for worker in last["workers"]) > 0
    assert store.get_meta(ACTIVITY) is None  # it has ended


def test_a_short_run_says_nothing(store, monkeypatch):
    monkeypatch.setattr("outperform.runner.exchange._LOOK_EVERY", 3600.0)  # so this one is short
    assert run_and_look(learn, store, InlineEngine()) == []


def test_it_is_said_again_only_where_something_has_changed(store, monkeypatch):
    monkeypatch.setattr("outperform.runner.exchange._LOOK_EVERY", 0.01)
    texts = []
    monkeypatch.setattr(store, "set_meta", lambda name, value: texts.append((name, value)))
    from outperform.runner.exchange import ActivityLog

    log = ActivityLog(store_of(store), InlineEngine(), {})
    progress = Progress(10)
    for _ in range(3):
        time.sleep(0.02)
        log.write(progress)
    progress.n_done = 1
    time.sleep(0.02)
    log.write(progress)
    assert [value["n_done"] for _, value in texts] == [0, 1]
    monkeypatch.setattr("outperform.runner.exchange._SPEAK_EVERY", 0.0)
    time.sleep(0.02)
    log.write(progress)  # alive all the same
    assert len(texts) == 3
    log.end()
    assert texts[-1] == (ACTIVITY, None)


def test_long_fits_that_end_together_are_no_higher_rate(store, monkeypatch):
    from outperform.runner.exchange import ActivityLog

    now = time.time()
    clock = SimpleNamespace(time=lambda: now, monotonic=lambda: now)
    monkeypatch.setattr("outperform.runner.exchange.time", clock)
    paces = []
    monkeypatch.setattr(store, "set_meta", lambda name, value: paces.append(value))
    log = ActivityLog(store_of(store), InlineEngine(), {})
    progress = Progress(100)
    for _ in range(3):  # four workers, fits of an hour
        now += 3600
        for n in range(4):
            log.count(f"node{n}", 3600.0)
        for minutes in (0, 30):
            now += 60 * minutes
            progress.n_done += 1  # so that it speaks
            log.write(progress)
        now -= 60 * minutes
    rates = [60 * pace["fits_per_minute"] for pace in paces]
    assert rates == pytest.approx([4, 4 / 1.5, 4, 4 / 1.25, 4, 4 / (3.5 / 3)])
    assert paces[-1]["seconds_left"] == pytest.approx(3600 * progress.n_left / rates[-1])


def store_of(store: Store) -> Store:
    store.lock()
    return store


def test_a_run_that_is_resumed_takes_back_what_the_one_before_said(store):
    store.set_meta(ACTIVITY, describe())
    run_fits(make_study(), store, InlineEngine())
    assert store.get_meta(ACTIVITY) is None


def test_a_run_speaks_while_nothing_is_recorded(store, tmp_path, monkeypatch):
    """A fit may take an hour: this one waits until it was told what it does."""
    monkeypatch.setattr("outperform.runner.exchange._LOOK_EVERY", 0.05)
    file = tmp_path / "told"

    def fit(params, split, seeds):
        while not file.exists():
            time.sleep(0.01)
        return {"test": 0.5}

    def look(progress: Progress) -> None:
        activity = store.get_meta(ACTIVITY)
        if activity and [worker["doing"] for worker in activity["workers"]] == ["run"]:
            file.touch()

    pipeline = FunctionPipeline("svm", fit)
    study = Study((pipeline,), (Task("toy", metric="accuracy"),), (Ideal(1),), timeout=60)
    with LocalEngine(1) as engine:
        progress = run_fits(study, store, engine, report=look)
    assert (progress.n_done, progress.n_failed) == (1, 0)


# What is shown of it


def describe(n_workers: int = 2, **changes: Any) -> dict[str, Any]:
    now = time.time()
    workers = [
        {
            "name": f"node7:{number}",
            "n_done": 3,
            "seconds_per_fit": 41.25,
            "doing": "run",
            "pipeline": "svm",
            "task": "toy",
            "since": now - 600,
        }
        for number in range(n_workers)
    ]
    activity = {
        "engine": "dask://scheduler:8786",
        "began": now - 3600,
        "spoke": now - 4,
        "n_workers": 25,
        "n_busy": n_workers,
        "n_done": 12,
        "n_failed": 0,
        "n_left": 20,
        "n_more": 0,
        "fits_per_minute": 0.125,
        "seconds_left": 9600.0,
        "workers": workers,
    }
    assert find_meta_problem(ACTIVITY, activity | changes) is None
    return activity | changes


def test_a_run_going_on_is_shown_with_its_workers(store):
    run_fits(make_study(), store, InlineEngine())
    store.set_meta(ACTIVITY, describe())
    lines = call("status", store.address).stdout.splitlines()
    where = r"dask://scheduler:8786: 2 of 25 workers busy, as of \d+ s ago"
    assert re.fullmatch(where, lines[5])
    assert lines[6] == "7.5 fits/h, 20 left, 2.7 h to go"
    assert lines[7].split() == ["worker", "does", "for", "done", "per", "fit"]
    assert re.fullmatch(r"  node7:0  run: svm on toy  1\d\.\d min  +3 +41 s", lines[8])
    assert len(lines) == 10
    told = json.loads(call("status", store.address, "--json").stdout)["activity"]
    assert told["workers"][0]["name"] == "node7:0"


def test_of_many_workers_those_that_began_first_are_shown(store):
    store.set_meta(ACTIVITY, describe(30, n_more=800, n_busy=830))
    said = call("status", store.address).stdout
    assert said.count("node7:") == 20
    assert said.endswith("\n  ... and 810 more, that began later\n")


def test_what_is_not_known_yet_is_not_made_up(store):
    unknown = {"fits_per_minute": None, "seconds_left": None}
    ready = {"pipeline": None, "task": None, "doing": "getting ready", "seconds_per_fit": None}
    activity = describe(1, **unknown)
    activity["workers"][0] |= ready
    store.set_meta(ACTIVITY, activity)
    said = call("status", store.address).stdout
    assert "\nno fit has ended yet, 20 left\n" in said
    assert "node7:0  getting ready" in said


def test_a_run_that_was_killed_does_not_look_alive(store):
    run_fits(make_study(), store, InlineEngine())
    store.set_meta(ACTIVITY, describe(spoke=1.7e9))
    store.close()
    said = call("status", store.address).stdout
    assert (
        "The last run was interrupted or killed: it last spoke at 2023-11-14 22:13:20 UTC, "
    ) in said
    assert "going on" not in said
    assert "node7" not in said


def test_an_engine_that_cannot_tell_has_nobody_called_idle(store):
    store.set_meta(ACTIVITY, describe(0, engine="ray", n_busy=None))
    said = call("status", store.address).stdout
    assert "ray: 25 workers, as of " in said
    assert "busy" not in said


def test_seconds_of_a_fit_are_in_units_that_people_use(store):
    activity = describe(3)
    for worker, seconds in zip(activity["workers"], (3600.0 * 1.5, 0.12, 86_400.0), strict=True):
        worker["seconds_per_fit"] = seconds
    store.set_meta(ACTIVITY, activity)
    lines = call("status", store.address).stdout.splitlines()[-3:]
    assert [line.split("3", 1)[1].strip() for line in lines] == ["90.0 min", "0.12 s", "24.0 h"]


# Again and again


def test_it_is_watched_until_the_run_ends(monkeypatch):
    monkeypatch.setattr("outperform.cli.status._EVERY", 0.0)
    shown = iter(["somebody", "somebody", None])
    watch_run(lambda: {"running": next(shown)})
    assert next(shown, "all were asked for") == "all were asked for"


def test_whoever_has_seen_enough_leaves_quietly(capsys):
    n_looks = 0

    def leave() -> dict[str, Any]:
        nonlocal n_looks
        n_looks += 1
        raise KeyboardInterrupt

    watch_run(leave)
    assert n_looks == 1
    assert capsys.readouterr() == ("", "")


def test_where_no_run_is_going_on_it_is_shown_once(store):
    run_fits(make_study(), store, InlineEngine())
    store.close()
    once = call("status", store.address)
    watched = call("status", store.address, "--watch")
    assert (watched.stdout, watched.exit_code) == (once.stdout, 0)


def test_watching_is_for_people(store):
    result = call("status", store.address, "--watch", "--json")
    assert result.exit_code == 2
    assert "--watch is for people: give it or --json." in result.stderr


def test_on_a_terminal_it_is_shown_in_one_place(store):
    run_fits(make_study(), store, InlineEngine())
    store.close()
    said = show_on_terminal("status", store.address, "--watch")
    assert said.startswith("\x1b[2J\x1b[1;1H")


def show_on_terminal(*words: str) -> str:
    """What a command prints on a terminal of 80 columns and 24 lines."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "outperform", *words]
    size = {"COLUMNS": "80", "LINES": "24"}
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=os.environ | size)
    os.close(theirs)
    said = b""
    try:
        while chunk := os.read(ours, 1000):
            said += chunk
    except OSError:  # the other end is closed
        os.close(ours)
    assert process.wait(timeout=60) == 0
    return said.decode()


def test_two_hundred_workers_with_long_names_fit_on_a_terminal(store):
    run_fits(make_study(), store, InlineEngine())
    activity = describe(200)
    long = {"pipeline": "vision-transformer-base-patch16-224", "task": "imagenet-2012-validation"}
    for number, worker in enumerate(activity["workers"]):
        worker |= long | {"name": f"tcp://10.0.{number}.7:40123", "doing": "trial"}
    store.set_meta(ACTIVITY, activity)
    lines = show_on_terminal("status", store.address).splitlines()
    assert max(len(re.sub(r"\x1b\[\d*m", "", line)) for line in lines) <= 80
    assert len(lines) <= 24
    workers = [line for line in lines if "10.0." in line]
    assert len(workers) == 12
    first = r"  10\.0\.0\.7:40123   trial: visio…-224 on image…tion  1\d\.\d min "
    assert re.match(first, workers[0])
