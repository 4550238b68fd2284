"""Executors that break, do not know what a fit needs, or are none."""

import os
import signal
import socket
import sys
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from outperform.engines import Needs, open_engine
from outperform.engines.futures import FuturesEngine
from outperform.errors import EngineError, InvalidInput

NOT_AN_EXECUTOR = {"max_workers": 2}
POOL = ThreadPoolExecutor(3)  # starts no thread until it is used


def make_nothing(n_workers):
    return n_workers


def square(number):
    return number * number


def dawdle(seconds):
    time.sleep(seconds)
    return "done"


def kill_the_executor_s_worker_once(file):
    try:
        Path(file).touch(exist_ok=False)
    except FileExistsError:
        return "done at last"
    os.kill(os.getppid(), signal.SIGKILL)
    return time.sleep(300)


def make_trouble(n_workers=1):
    raise ValueError(f"no licence for {n_workers}")


class Refusing(Executor):
    """Fails where it is asked to do something."""

    def submit(self, function, /, *arguments, **words):
        raise ValueError("the queue is full")


class Babbling(Executor):
    """Has a result at once, which nobody has asked for."""

    def submit(self, function, /, *arguments, **words):
        future: Future = Future()
        future.set_result("nonsense")
        return future


class TestExecutorsOfTheUsersThatFail:
    def test_one_that_cannot_be_made_is_refused(self):
        with pytest.raises(EngineError) as caught:
            open_engine(f"{__name__}:make_trouble", {"n_workers": 7})
        assert str(caught.value) == (
            f"'{__name__}:make_trouble' made no executor: ValueError: no licence for 7. Mend "
            "that, or name another engine."
        )

    def test_what_options_say_is_not_shown(self):
        with pytest.raises(EngineError) as caught:
            open_engine(f"{__name__}:make_trouble", {"n_workers": "hunter2"})
        assert caught.value.problem == (
            f"'{__name__}:make_trouble' made no executor: ValueError: no licence for ..."
        )

    def test_one_that_takes_nothing_is_an_error_of_the_engine(self):
        with FuturesEngine(Refusing()) as engine, pytest.raises(EngineError) as caught:
            engine.submit(square, 3, tag="three")
        assert str(caught.value) == (
            "the executor takes no more work: the queue is full. Make a new one to submit more."
        )

    def test_one_that_gives_something_else_is_an_error_of_the_engine(self):
        engine = FuturesEngine(Babbling())
        engine.submit(square, 3, tag="three")
        with engine, pytest.raises(EngineError) as caught:
            engine.wait()
        assert str(caught.value) == (
            "Babbling gave 'nonsense' for a fit. Name an executor whose futures give what the "
            "function that it is given returns."
        )


class TestWorkersThatThinkTheRunIsOver:
    def test_they_are_an_error_of_the_engine_and_no_fit_failed(self, tmp_path):
        with ThreadPoolExecutor(1) as executor:
            engine = FuturesEngine(executor, heartbeat=tmp_path / "unseen", patience=9)
            engine._lease = replace(engine._lease, host="elsewhere")
            engine.submit(dawdle, 60, tag="slow")
            with engine, pytest.raises(EngineError) as caught:
                engine.wait()
        assert str(caught.value) == (
            "a worker has taken this run for ended three times, and stopped its fit (on "
            f"{socket.gethostname()}:{os.getpid()}). Name a spool that all workers see, with "
            "--spool, or none; the same command resumes."
        )

    def test_a_temporary_file_that_somebody_removes_costs_no_fit(self, collect):
        with ThreadPoolExecutor(1) as executor, FuturesEngine(executor) as engine:
            engine.submit(dawdle, 1.5, tag="slow")
            engine._flag.unlink()
            outcome = collect(engine, 1)["slow"]
        assert outcome.value == "done"
        assert not engine._flag.exists()


class TestBreaking:
    def test_an_executor_that_breaks_is_made_anew(self, collect, tmp_path):
        address = "concurrent.futures:ProcessPoolExecutor"
        with open_engine(address, {"max_workers": 2}) as engine:
            for number in range(5):
                engine.submit(square, number, tag=number)
            engine.submit(kill_the_executor_s_worker_once, tmp_path / "been here", tag="kills")
            outcomes = collect(engine, 6)
        assert outcomes.pop("kills").value == "done at last"
        assert {outcome.value for outcome in outcomes.values()} == {n * n for n in range(5)}

    def test_one_of_the_user_s_is_an_error_and_loses_nothing(self, tmp_path):
        with ProcessPoolExecutor(1) as executor, FuturesEngine(executor) as engine:
            engine.submit(square, 3, tag="before")
            while not engine._news.qsize():
                time.sleep(0.01)
            engine.submit(kill_the_executor_s_worker_once, tmp_path / "been here", tag="kills")
            assert [outcome.value for outcome in engine.wait()] == [9]
            with pytest.raises(EngineError) as caught:
                engine.wait()
            engine.stop()
        assert str(caught.value) == (
            "ProcessPoolExecutor is broken: A process in the process pool was terminated abruptly "
            "while the future was running or pending. Make a new one, and run it again: what was "
            "finished is not done again."
        )

    def test_one_that_was_shut_down_is_an_error(self):
        executor = ThreadPoolExecutor(1)
        executor.shutdown()
        with FuturesEngine(executor) as engine, pytest.raises(EngineError) as caught:
            engine.submit(square, 3, tag=0)
        assert str(caught.value) == (
            "the executor takes no more work: cannot schedule new futures after shutdown. "
            "Make a new one to submit more."
        )


class Recording(Executor):
    """An executor with words of its own, which does the work at once."""

    def __init__(self):
        self.asked = []

    def submit(self, function, /, *arguments, gpus_per_task=0, **words):
        self.asked.append(gpus_per_task)
        future: Future = Future()
        future.set_result(function(*arguments, **words))
        return future


class TestNeeds:
    def test_an_executor_is_told_of_them_in_its_own_words(self, collect):
        executor = Recording()
        words = {"submit_options": lambda needs: {"gpus_per_task": needs.gpus or 0}}
        with FuturesEngine(executor, n_workers=1, **words) as engine:
            engine.submit(square, 2, tag="two", needs=Needs(gpus=2))
            engine.submit(square, 3, tag="three")
            collect(engine, 2)
        assert executor.asked == [2, 0]

    @pytest.mark.parametrize(
        ("needs", "name"), [(Needs(gpus=1), "gpus"), (Needs(others=(("cpus", 4),)), "cpus")]
    )
    def test_one_that_cannot_be_told_refuses_them(self, needs, name):
        with FuturesEngine(POOL) as engine:
            with pytest.raises(InvalidInput) as caught:
                engine.submit(square, 2, tag=0, needs=needs)
            engine.submit(square, 2, tag="no processor", needs=Needs(gpus=0))
            assert engine.wait()[0].value == 4
        assert str(caught.value) == (
            f"ThreadPoolExecutor does not know what '{name}' is, which a fit needs. Pass "
            "submit_options to FuturesEngine, which says it in the executor's own words."
        )


class TestAddress:
    def test_it_may_be_an_executor_itself_which_stays_open(self, collect):
        for _ in range(2):
            with open_engine(f"{__name__}:POOL") as engine:
                assert engine.n_workers == 3
                engine.submit(square, 3, tag=0)
                assert collect(engine, 1)[0].value == 9

    def test_the_number_of_workers_is_what_the_user_says_or_that_of_cores(self):
        with FuturesEngine(POOL, n_workers=7) as said, FuturesEngine(Recording()) as unsaid:
            assert (said.n_workers, unsaid.n_workers) == (7, len(os.sched_getaffinity(0)))

    @pytest.mark.parametrize(
        ("name", "options", "message"),
        [
            (
                "NOT_AN_EXECUTOR",
                {},
                "'{}' is {{'max_workers': 2}}. Name a concurrent.futures.Executor, or a callable "
                "that makes one.",
            ),
            (
                "make_nothing",
                {"n_workers": 2},
                "'{}' makes 2. Name a concurrent.futures.Executor, or a callable that makes one.",
            ),
            (
                "POOL",
                {"max_workers": 2},
                "'{}' is an executor already, and takes no options. Name a callable that makes one "
                "of them, or leave the options out.",
            ),
            (
                "make_nothing",
                {"n_walkers": 2},
                "'{}' does not take these options: make_nothing() got an unexpected keyword "
                "argument 'n_walkers'. Mend them in [engine.options].",
            ),
        ],
    )
    def test_what_is_no_executor_is_refused(self, name, options, message):
        address = f"{__name__}:{name}"
        with pytest.raises(InvalidInput) as caught:
            open_engine(address, options)
        assert str(caught.value) == message.format(address)

    def test_a_module_that_is_not_there_is_named(self):
        with pytest.raises(InvalidInput) as caught:
            open_engine("no_such_cluster:executor")
        assert caught.value.problem == "there is no module 'no_such_cluster'"


class TestWaiting:
    def test_it_ends_when_patience_does(self, collect):
        with FuturesEngine(POOL) as engine:
            engine.submit(time.sleep, 1, tag="slow")
            assert engine.wait(patience=0.01) == []
            assert collect(engine, 1)["slow"].kind == "done"


class TestPlaces:
    def test_fits_find_modules_and_files_as_their_coordinator_does(
        self, tmp_path, monkeypatch, collect
    ):
        (tmp_path / "modules").mkdir()
        (tmp_path / "modules" / "own_training.py").write_text("def fit(_): return open('x').read()")
        (tmp_path / "x").write_text("found")
        with ProcessPoolExecutor(1) as executor, FuturesEngine(executor) as engine:
            engine.submit(square, 1, tag=0)  # the executor's process starts here
            collect(engine, 1)
            monkeypatch.syspath_prepend(tmp_path / "modules")
            monkeypatch.chdir(tmp_path)
            engine.submit(__import__("own_training").fit, None, tag=1)
            assert collect(engine, 1)[1].value == "found"
        sys.modules.pop("own_training")
