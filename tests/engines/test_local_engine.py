"""Workers that hang, crash and are killed, and a coordinator that is: all for real."""

import ctypes
import os
import random
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from outperform.engines import LocalEngine, Needs
from outperform.engines.local import JobQueue
from outperform.engines.worker import Job, Worker, limit_loading
from outperform.errors import EngineError, InvalidInput


def identify(item):
    return os.getpid()


def hang(item):
    """Start a command, say who we are, and never come back."""
    command = subprocess.Popen(["sleep", "300"])
    Path(item).write_text(f"{os.getpid()} {command.pid}")
    while True:
        pass


def perish(how):
    if how == "exit":
        os._exit(3)
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "crash":
        ctypes.string_at(0)
    return how


def write_to_sockets(item):
    """Write to every socket that this process has, as code with a wrong descriptor may."""
    for descriptor in range(3, 100):
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                os.write(descriptor, item)
        except OSError:
            continue
    return item


def run_script(path, code, **options):
    """A program of a user, as a user would start it."""
    path.write_text(textwrap.dedent(code))
    return subprocess.Popen([sys.executable, str(path)], text=True, **options)


class TestTimeout:
    def test_the_time_of_every_fit_is_its_own(self, collect):
        with LocalEngine(1) as engine:
            for i in range(6):
                engine.submit(time.sleep, 0.5, tag=i, timeout=2)
            assert {outcome.kind for outcome in collect(engine, 6).values()} == {"done"}

    def test_loading_the_work_does_not_count(self, collect):
        class SlowToLoad:
            def __reduce__(self):
                return _load_slowly, ()

        with LocalEngine(1) as engine:
            engine.submit(SlowToLoad(), 1, tag=1, timeout=0.5)
            assert collect(engine, 1)[1].kind == "done"

    def test_it_is_enforced_while_nobody_waits(self, tmp_path, collect, gone):
        with LocalEngine(1) as engine:
            engine.submit(identify, None, tag="who")
            worker = collect(engine, 1)["who"].value
            engine.submit(hang, tmp_path / "pids", tag="hangs", timeout=0.5)
            assert gone(worker)

    def test_work_that_never_ends_loading_is_an_error_of_the_engine(self, monkeypatch):
        monkeypatch.setattr("outperform.engines.worker._LEAST_TO_LOAD", 0.2)
        with LocalEngine(1) as engine:
            engine.submit(LoadsForEver(), 1, tag=1, timeout=0.01)
            with pytest.raises(EngineError) as caught:
                engine.wait()
        assert str(caught.value) == (
            "no worker could load the code of the fits, in 3 tries: killed after 0.2 s, the time "
            "limit of loading (ten times that of a fit, a minute at least). Mend what it imports "
            "or loads, and run it again."
        )

    def test_time_to_load_goes_by_the_time_limit_of_a_fit(self):
        assert [limit_loading(limit) for limit in (None, 3, 600)] == [None, 60, 6000]


def _load_slowly():
    time.sleep(1)
    return str


class LoadsForEver:
    def __reduce__(self):
        return time.sleep, (300,)

    def __call__(self, item):
        raise AssertionError


class LoadsOnce:
    """Work that is too large for two workers, perhaps."""

    def __init__(self, file):
        self.file = file

    def __setstate__(self, state):
        self.file = state["file"]
        self.file.touch(exist_ok=False)

    def __call__(self, seconds):
        time.sleep(seconds)
        return os.getpid()


class TestDeath:
    @pytest.mark.parametrize(
        ("how", "error"),
        [
            ("exit", "the worker exited with status 3"),
            ("kill", "the worker was killed by SIGKILL, perhaps for want of memory"),
            ("crash", "the worker was killed by SIGSEGV\nFatal Python error: Segmentation fault"),
        ],
    )
    def test_a_worker_that_dies_costs_its_own_fit_only(self, collect, how, error):
        with LocalEngine(2) as engine:
            for i in range(12):
                engine.submit(perish, how if i % 4 == 1 else "not", tag=i)
            outcomes = collect(engine, 12)
        died = {tag: outcome for tag, outcome in outcomes.items() if outcome.kind == "died"}
        assert set(died) == {1, 5, 9}
        assert all(outcome.error.startswith(error) for outcome in died.values())
        assert not any("Extension modules" in outcome.error for outcome in died.values())
        assert all(outcome.value is None for outcome in died.values())
        assert {outcomes[tag].value for tag in set(outcomes) - set(died)} == {"not"}

    def test_a_crash_is_reported_with_its_traceback(self, collect):
        with LocalEngine(1) as engine:
            engine.submit(perish, "crash", tag=0)
            assert "in perish" in collect(engine, 1)[0].error

    def test_workers_killed_at_any_moment_cost_no_other_fit(self):
        rng, n_fits, n_kills = random.Random(9), 1500, 0
        pids: list[int] = []
        with LocalEngine(2) as engine:
            for i in range(n_fits):
                engine.submit(identify, None, tag=i)
            n_seen, kinds = 0, set()
            tags = set()
            while n_seen < n_fits:
                for outcome in engine.wait():
                    n_seen += 1
                    tags.add(outcome.tag)
                    kinds.add(outcome.kind)
                    pids += [outcome.value] if outcome.kind == "done" else []
                if pids and n_kills < 12 and rng.random() < 0.05:
                    n_kills += _kill(pids[-1])
        assert tags == set(range(n_fits))
        assert n_kills >= 5
        assert kinds == {"done"}

    def test_a_command_that_outlives_its_worker_hides_no_death(self, collect, tmp_path, gone):
        def orphan(item):
            child = os.fork()  # holds the connection open
            if child == 0:
                time.sleep(300)
            Path(item).write_text(str(child))
            os._exit(1)

        with LocalEngine(1) as engine:
            engine.submit(orphan, tmp_path / "pid", tag=0)
            assert collect(engine, 1)[0].kind == "died"
            assert gone(int((tmp_path / "pid").read_text()))

    @pytest.mark.parametrize("stray", [b"!", b"stray bytes\n" * 100, b"output of training: 0.93\n"])
    def test_stray_bytes_on_the_channel_cost_their_own_fit_only(self, collect, stray):
        with LocalEngine(2) as engine:
            for i in range(6):
                engine.submit(write_to_sockets, stray if i == 2 else b"", tag=i)
            outcomes = collect(engine, 6)
        assert {i: each.kind for i, each in outcomes.items() if each.kind != "done"} == {2: "died"}
        assert outcomes[2].error == (
            "the worker sent what is no message of ours: something else has written to its "
            "connection, in each of 3 tries"
        )

    def test_a_fit_that_closes_the_channel_costs_itself_only(self, collect):
        def close_all(item):
            os.closerange(3, 100)
            time.sleep(300)

        with LocalEngine(1) as engine:
            engine.submit(close_all, None, tag="closes")
            engine.submit(str, 1, tag="next")
            outcomes = collect(engine, 2)
        assert outcomes["closes"].kind == "died"
        assert outcomes["closes"].error == "the worker closed its connection"
        assert outcomes["next"].value == "1"

    def test_a_fit_that_closes_the_channel_and_returns_prints_nothing(self, collect, capfd):
        with LocalEngine(1) as engine:
            engine.submit(lambda _: os.closerange(3, 100), None, tag="closes")
            assert collect(engine, 1)["closes"].kind == "died"
        assert capfd.readouterr().err == ""

    def test_a_result_as_large_as_many_pipes_comes_through(self, collect):
        with LocalEngine(2) as engine:
            for i in range(4):
                engine.submit(lambda item: item + bytes(3_000_000), bytes(3_000_000), tag=i)
            assert {len(each.value) for each in collect(engine, 4).values()} == {6_000_000}


def _kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


class TestSending:
    def test_work_is_sent_once_to_each_worker(self, tmp_path, collect):
        class Work:
            def __init__(self, log):
                self.log = log

            def __setstate__(self, state):
                self.log = state["log"]
                with self.log.open("a") as file:
                    file.write(f"{os.getpid()}\n")

            def __call__(self, item):
                time.sleep(0.02)
                return os.getpid()

            def method(self, item):
                return self(item)

        work = Work(tmp_path / "log")
        with LocalEngine(2) as engine:
            for i in range(20):
                engine.submit(work, i, tag=i)
            workers = {outcome.value for outcome in collect(engine, 20).values()}
            assert sorted(map(int, work.log.read_text().split())) == sorted(workers)
            for i in range(20):
                engine.submit(work.method, i, tag=i)  # a new object every time
            collect(engine, 20)
        assert len(work.log.read_text().split()) <= 4

    def test_a_script_without_a_guard_runs_once(self, tmp_path):
        code = """
            from outperform.engines import LocalEngine
            print("top level")
            OFFSET = 1
            class Point:
                def __init__(self, x): self.x = x
            def work(point): return Point(point.x + OFFSET)
            with LocalEngine(2) as engine:
                for i in range(4):
                    engine.submit(work, Point(i), tag=i)
                values = []
                while len(values) < 4:
                    values += [outcome.value.x for outcome in engine.wait()]
            print(sorted(values))
        """
        script = run_script(tmp_path / "study.py", code, stdout=subprocess.PIPE)
        assert script.communicate(timeout=60)[0] == "top level\n[1, 2, 3, 4]\n"
        assert script.returncode == 0

    def test_what_cannot_be_sent_is_refused_at_once(self):
        lock = threading.Lock()
        with LocalEngine(1) as engine:
            with pytest.raises(InvalidInput) as caught:
                engine.submit(lambda item: lock, 0, tag=0)
            assert str(caught.value).endswith(
                " to a worker: cannot pickle '_thread.lock' object. "
                "Let it make what cannot be sent, such as open files and locks, when it runs."
            )
            with pytest.raises(InvalidInput):
                engine.submit(len, lock, tag=0)
            assert engine.wait() == []

    def test_what_cannot_be_sent_back_is_an_error(self, collect):
        with LocalEngine(1) as engine:
            engine.submit(lambda item: threading.Lock(), 0, tag=0)
            engine.submit(lambda item: item, 1, tag=1)
            outcomes = collect(engine, 2)
        assert outcomes[0].kind == "error"
        assert outcomes[0].error.endswith("TypeError: cannot pickle '_thread.lock' object")
        assert outcomes[1].value == 1


class TestWorkers:
    @pytest.mark.parametrize(("n_workers", "n_threads"), [(1, 2), (1, None), (64, None)])
    def test_threads_are_limited(self, collect, monkeypatch, n_workers, n_threads):
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            monkeypatch.delenv(name)  # who starts the engine has asked for no limit

        def count_threads(item):
            import numpy  # noqa: F401
            from threadpoolctl import threadpool_info

            return {pool["num_threads"] for pool in threadpool_info()}

        with LocalEngine(n_workers, n_threads=n_threads) as engine:
            engine.submit(count_threads, None, tag=0)
            expected = n_threads or max(1, len(os.sched_getaffinity(0)) // n_workers)
            assert collect(engine, 1)[0].value == {expected}

    def test_sets_have_one_order_in_all_workers(self, collect):
        orders = set()
        for _ in range(2):
            with LocalEngine(1) as engine:
                engine.submit(lambda item: str({"a", "b", "c", "d", "e", "f"}), None, tag=0)
                orders.add(collect(engine, 1)[0].value)
        assert len(orders) == 1

    def test_they_import_nothing_heavy(self, collect):
        def list_modules(item):
            return sorted(sys.modules)

        with LocalEngine(1) as engine:
            engine.submit(list_modules, None, tag=0)
            modules = set(collect(engine, 1)[0].value)
        assert not modules & {"numpy", "scipy", "sqlite3", "matplotlib", "sklearn", "click"}

    def test_workers_that_cannot_start_are_an_error_of_the_engine(self, monkeypatch):
        for program, reason in [
            ("false", "it exited with status 1"),
            ("no such program", "[Errno 2] No such file or directory: 'no such program'"),
        ]:
            monkeypatch.setattr(sys, "executable", program)
            engine = LocalEngine(2)
            engine.submit(identify, None, tag=0)
            with pytest.raises(EngineError) as caught:
                engine.wait()
            assert str(caught.value) == (
                f"cannot start a worker with '{program}': {reason}. "
                "Check that this interpreter runs and has outperform."
            )
            with pytest.raises(EngineError, match="cannot start a worker"):
                engine.submit(identify, None, tag=0)
            engine.close()

    def test_what_is_finished_when_the_engine_fails_is_handed_out_first(self, monkeypatch):
        """As where one worker ends its job just when another is lost for the last time."""
        failure = EngineError("no worker gets as far as that", "Mend the code")

        def fail(engine, worker):
            raise failure

        monkeypatch.setattr(Worker, "is_lost", lambda worker: worker.job is None)
        monkeypatch.setattr(LocalEngine, "_dismiss", fail)
        engine = LocalEngine(1)
        engine.submit(str, 1, tag=0)
        assert [outcome.value for outcome in engine.wait()] == ["1"]
        engine._thread.join()
        with pytest.raises(EngineError) as caught:
            engine.submit(str, 2, tag=1)
        assert caught.value is failure
        engine.close()

    def test_a_worker_that_fails_to_start_once_costs_nothing(self, monkeypatch, tmp_path, collect):
        program = tmp_path / "python"
        program.write_text(
            f'#!/bin/sh\nmkdir "{tmp_path}/been here" && exit 1\nexec "{sys.executable}" "$@"\n'
        )
        program.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(program))
        with LocalEngine(1) as engine:
            engine.submit(str, 1, tag=0)
            assert collect(engine, 1)[0].value == "1"

    def test_work_that_loads_in_one_worker_only_is_done_there(self, tmp_path):
        with LocalEngine(2) as engine:
            work = LoadsOnce(tmp_path / "been here")
            assert engine.shortage is None
            values = set()
            for i in range(4):
                engine.submit(work, 0.05, tag=i)
            while engine.shortage is None:  # the other has three tries, however slow to start
                values |= {outcome.value for outcome in engine.wait()}
                engine.submit(work, 0.05, tag=None)
            assert len(values) == 1
            assert engine.shortage == (
                "1 of 2 workers did all fits, as others could not load the code of the fits: "
                f"FileExistsError: [Errno 17] File exists: '{work.file}'"
            )

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n_workers": 0}, "n_workers is 0. Have one worker at least."),
            ({"n_workers": 1, "n_threads": 0}, "n_threads is 0. Give one thread at least."),
        ],
    )
    def test_impossible_settings_are_refused(self, options, message):
        with pytest.raises(InvalidInput) as caught:
            LocalEngine(**options)
        assert str(caught.value) == message


COORDINATOR = """
    import os, subprocess, sys, time
    from outperform.engines import LocalEngine

    def work(item):
        command = subprocess.Popen(["sleep", "300"])
        with open(f"{item}", "w") as file:
            file.write(f"{os.getpid()} {command.pid}")
        time.sleep(300)

    engine = LocalEngine(2)
    print("what we print", flush=True)
    for i in range(4):
        engine.submit(work, f"{sys.argv[0]}.{i}", tag=i)
    try:
        if WAIT:
            engine.wait()
        while not all(os.path.exists(f"{sys.argv[0]}.{i}") for i in range(2)):
            time.sleep(0.01)
    except KeyboardInterrupt:
        engine.stop()
        print("stopped")
"""


def _await_pids(script):
    pids: list[str] = []
    while len(pids) < 4:
        files = [script.with_name(f"{script.name}.{i}") for i in range(2)]
        pids = [pid for file in files if file.exists() for pid in file.read_text().split()]
        time.sleep(0.01)
    return [int(pid) for pid in pids]


def test_what_is_put_first_comes_before_all_that_wait():
    queue, n_gpus = JobQueue(), {"one": None, "two": None, "gpu": 1, "late": None, "later": 1}
    jobs = {tag: Job(tag, 0, b"", b"", None, Needs(gpus=n)) for tag, n in n_gpus.items()}
    for tag in ("one", "two", "gpu"):
        queue.add(jobs[tag])
    assert [job.tag for job in queue.list_first()] == ["one", "gpu"]
    for tag in ("late", "later"):
        queue.add(jobs[tag], first=True)
    assert [job.tag for job in queue.list_first()] == ["later", "late"]
    assert [queue.take(1).tag, queue.take(1).tag] == ["later", "gpu"]
    assert [queue.take(None).tag for _ in range(3)] == ["late", "one", "two"]
    assert not queue


class TestEnd:
    def test_stop_takes_in_what_has_just_been_finished(self, tmp_path, monkeypatch):
        collect = LocalEngine._collect

        def look_away(self, *, patience):
            if self._phase != "open":
                collect(self, patience=patience)
            while self._phase == "open":
                time.sleep(0.01)

        monkeypatch.setattr(LocalEngine, "_collect", look_away)
        engine = LocalEngine(1)
        engine.submit(Path.touch, tmp_path / "finished", tag="just now")
        while not (tmp_path / "finished").exists():
            time.sleep(0.01)
        time.sleep(0.3)
        engine.stop()
        assert [outcome.tag for outcome in engine.wait()] == ["just now"]

    def test_a_fit_that_lets_no_thread_run_ends_with_its_coordinator(self, tmp_path, gone):
        script = tmp_path / "study.py"
        code = COORDINATOR.replace("WAIT", "True").replace(
            "time.sleep(300)", "__import__('ctypes').PyDLL(None).sleep(300)"
        )
        coordinator = run_script(script, code)
        pids = _await_pids(script)
        coordinator.kill()
        coordinator.wait()
        assert all(gone(pid) for pid in pids)

    def test_idle_workers_end_with_their_coordinator(self, tmp_path, gone):
        code = """
            import os, time
            from outperform.engines import LocalEngine
            engine = LocalEngine(1)
            engine.submit(lambda item: os.getpid(), None, tag=0)
            print(engine.wait()[0].value, flush=True)
            time.sleep(300)
        """
        coordinator = run_script(tmp_path / "study.py", code, stdout=subprocess.PIPE)
        assert coordinator.stdout is not None
        pid = int(coordinator.stdout.readline())
        coordinator.kill()
        coordinator.communicate()
        assert gone(pid)

    def test_control_c_reaches_the_coordinator_only(self, tmp_path, gone):
        script = tmp_path / "study.py"
        coordinator = run_script(
            script,
            COORDINATOR.replace("WAIT", "True"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        pids = _await_pids(script)
        os.kill(pids[0], signal.SIGINT)
        os.killpg(coordinator.pid, signal.SIGINT)
        output, errors = coordinator.communicate(timeout=30)
        assert (output, errors, coordinator.returncode) == ("what we print\nstopped\n", "", 0)
        assert all(gone(pid) for pid in pids)

    def test_a_forgotten_engine_does_not_keep_the_program_from_ending(self, tmp_path, gone):
        script = tmp_path / "study.py"
        coordinator = run_script(script, COORDINATOR.replace("WAIT", "False"))
        pids = _await_pids(script)
        assert coordinator.wait(30) == 0
        assert all(gone(pid) for pid in pids)

    def test_a_worker_that_is_told_to_interrupt_goes_on(self, collect):
        def interrupt(item):
            os.kill(os.getpid(), signal.SIGINT)
            return item

        with LocalEngine(1) as engine:
            engine.submit(interrupt, 5, tag=0)
            assert collect(engine, 1)[0].value == 5

    def test_what_fits_print_does_not_get_among_what_we_print(self, tmp_path):
        code = """
            from outperform.engines import LocalEngine
            with LocalEngine(1) as engine:
                engine.submit(print, "from a fit", tag=0)
                engine.wait()
            print("from us")
        """
        script = run_script(
            tmp_path / "study.py", code, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert script.communicate(timeout=60) == ("from us\n", "from a fit\n")

    def test_workers_end_in_their_own_way_when_closed(self, tmp_path, collect):
        def register(item):
            import atexit

            atexit.register(Path(item).touch)

        with LocalEngine(1) as engine:
            engine.submit(register, tmp_path / "said goodbye", tag=0)
            collect(engine, 1)
        assert (tmp_path / "said goodbye").exists()
