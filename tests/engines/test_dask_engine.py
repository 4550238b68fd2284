"""Dask: workers and a scheduler that are killed, come back, lack things; all for real."""

import gc
import os
import re
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest

import outperform
from outperform.engines import Needs, open_engine
from outperform.errors import EngineError, InvalidInput, MissingExtra
from outperform.runner import run_fits
from outperform.store import open_store
from outperform.study.designs import Ideal
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Uniform
from outperform.study.study import Study
from outperform.study.tasks import Task
from tests.dask_processes import DaskProcesses, find_free_port
from tests.engines.conftest import STUDY, eventually

pytest.importorskip("distributed", reason='pip install "outperform[dask]"')


@pytest.fixture(scope="module")
def harmed(tmp_path_factory):
    """A cluster that tests may harm; each leaves it with workers `first` and `second`."""
    processes = DaskProcesses(tmp_path_factory.mktemp("harmed"))
    try:
        for name in ("first", "second"):
            processes.start_worker(name)
        yield processes
    finally:
        processes.end()


@pytest.fixture
def cluster(harmed):
    yield harmed
    if "scheduler" not in harmed.processes:
        harmed.end()  # its workers are about to end, too
        harmed.start_scheduler()
    for name in ("first", "second"):
        if name not in harmed.processes or harmed.processes[name][0].poll() is not None:
            harmed.start_worker(name)


def square(number):
    return number * number


def note_device(seconds):
    began = time.time()
    time.sleep(seconds)
    return os.environ["CUDA_VISIBLE_DEVICES"], began, time.time()


def say_and_wait(item):
    """Say who we are, and wait for a file."""
    folder, number = item
    (folder / f"{number}.{os.getpid()}").touch()
    while not (folder / "go").exists():
        time.sleep(0.01)
    return number


def await_files(folder, pattern, n_files):
    assert eventually(lambda: len([*folder.glob(pattern)]) >= n_files, seconds=60)
    return [*folder.glob(pattern)]


def test_a_study_gives_the_same_scores_as_in_this_process(dask_address, tmp_path):
    def fit(params, split, seeds):
        return dict.fromkeys(("valid", "test"), params["c"] + seeds["init"] % 1000)

    pipeline = FunctionPipeline("a", fit, space={"c": Uniform(0, 1)}, sources=("init",))
    study = Study((pipeline,), (Task("none", metric="accuracy"),), (Ideal(4),), trials=3)
    scores = []
    for address in (dask_address, "inline"):
        with open_store(tmp_path / f"{address[:4]}.db") as store, open_engine(address) as engine:
            progress = run_fits(study, store, engine)
            assert (progress.n_done, progress.n_failed) == (16, 0)
            scores.append(store.scores())
    assert scores[0] == scores[1]


class TestDeath:
    def test_a_worker_that_is_killed_costs_no_fit(self, cluster, tmp_path, collect):
        with open_engine(cluster.address) as engine:
            for number in range(4):
                engine.submit(say_and_wait, (tmp_path, number), tag=number)
            await_files(tmp_path, "*.*", 2)
            cluster.kill("first")
            (tmp_path / "go").touch()
            outcomes = collect(engine, 4)
        assert {tag: outcome.value for tag, outcome in outcomes.items()} == {n: n for n in range(4)}
        assert {outcome.kind for outcome in outcomes.values()} == {"done"}

    def test_a_scheduler_that_comes_back_is_found_and_nothing_is_lost(
        self, cluster, tmp_path, collect, gone
    ):
        with open_engine(cluster.address) as engine:
            engine.submit(square, 3, tag="before")
            assert engine.wait()[0].value == 9
            for number in range(6):
                engine.submit(say_and_wait, (tmp_path, number), tag=number)
            fits = await_files(tmp_path, "*.*", 2)
            cluster.kill("scheduler")
            assert all(gone(int(file.suffix[1:])) for file in fits)  # workers have ended, too
            (tmp_path / "go").touch()
            cluster.end()
            cluster.start_scheduler()
            cluster.start_worker("first")
            outcomes = collect(engine, 6)
        assert {outcome.value for outcome in outcomes.values()} == set(range(6))

    def test_one_that_is_gone_for_good_is_an_error_and_loses_nothing(
        self, cluster, tmp_path, monkeypatch
    ):
        monkeypatch.setattr("outperform.engines.dask._LONGEST_ABSENCE", 0.5)
        monkeypatch.setattr("outperform.engines.dask._LONGEST_CONNECTING", 0.5)
        (tmp_path / "go").touch()
        with open_engine(cluster.address) as engine:
            engine.submit(say_and_wait, (tmp_path, 1), tag="quick")
            await_files(tmp_path, "1.*", 1)
            engine.submit(time.sleep, 300, tag="slow")
            # It has come, and nobody has asked for it.
            assert eventually(lambda: engine._news.qsize() > 0)
            cluster.kill("scheduler")
            assert [outcome.tag for outcome in engine.wait()] == ["quick"]
            with pytest.raises(EngineError) as caught:
                engine.wait()
            assert caught.value.problem.startswith(
                f"the Dask scheduler at '{cluster.address}' is gone: "
            )
            assert caught.value.remedy == (
                "Start it again, and its workers; the same command resumes"
            )
            with pytest.raises(EngineError):
                engine.submit(square, 2, tag="late")
            engine.stop()


def count_loads(log):
    """Work that says where it is loaded."""
    with Path(log).open("a") as file:
        file.write(f"{os.getpid()}\n")
    return square


class Large:
    """Work of many bytes."""

    def __init__(self, log, size=100_000):
        self.log, self.bytes = log, os.urandom(size)

    def __reduce__(self):
        return _load_large, (self.log, self.bytes)

    def __call__(self, item):
        raise AssertionError("it is loaded as something else")


def _load_large(log, _):
    return count_loads(log)


ANOTHER_VERSION = """
__path__, __file__ = ["{folder}"], "{folder}/__init__.py"
from pathlib import Path
exec(Path(__file__).read_text())
from outperform.engines import dask, supervision
del supervision.Order
"""


def await_workers(engine, n_workers):
    assert eventually(lambda: engine.n_workers == n_workers, seconds=60)


class TestWorkers:
    def test_one_that_lacks_the_package_costs_no_fit_and_is_named(self, cluster, tmp_path, collect):
        package = tmp_path / "outperform" / "__init__.py"
        package.parent.mkdir()
        package.write_text("raise ModuleNotFoundError('No module named outperform')")
        with open_engine(cluster.address) as engine:
            await_workers(engine, 2)
            cluster.start_worker("bare", PYTHONPATH=str(tmp_path))
            await_workers(engine, 3)
            for number in range(30):
                engine.submit(square, number, tag=number)
            outcomes = collect(engine, 30)
            assert engine.shortage is not None
            assert re.fullmatch(
                r"others did all fits, as these workers could not load the code of the fits: "
                r"tcp://127\.0\.0\.1:\d+: ModuleNotFoundError: No module named outperform",
                engine.shortage,
            )
            assert {each.value for each in outcomes.values()} == {n * n for n in range(30)}
            for name in ("first", "second"):
                cluster.kill(name)
            await_workers(engine, 1)
            engine.submit(square, 3, tag="nowhere")
            with pytest.raises(EngineError) as caught:
                engine.wait()
        cluster.kill("bare")
        assert re.fullmatch(
            r"no worker could load the code of the fits, in 3 tries: ModuleNotFoundError: No "
            r"module named outperform \(on tcp://127\.0\.0\.1:\d+\)\. Install this outperform, and "
            r"what the study imports, where the workers run\.",
            str(caught.value),
        )

    def test_one_with_another_version_costs_no_fit_and_is_named(self, cluster, tmp_path, collect):
        package = tmp_path / "outperform" / "__init__.py"
        package.parent.mkdir()
        package.write_text(ANOTHER_VERSION.format(folder=Path(outperform.__file__).parent))
        with open_engine(cluster.address) as engine:
            await_workers(engine, 2)
            cluster.start_worker("old", PYTHONPATH=str(tmp_path))
            await_workers(engine, 3)
            for number in range(30):
                engine.submit(square, number, tag=number)
            outcomes = collect(engine, 30)
            assert re.search(r"tcp://127\.0\.0\.1:\d+: AttributeError: Can't get", engine.shortage)
            assert {each.value for each in outcomes.values()} == {n * n for n in range(30)}
            for name in ("first", "second"):
                cluster.kill(name)
            await_workers(engine, 1)
            engine.submit(square, 3, tag="nowhere")
            with pytest.raises(EngineError, match=r"no worker could load .* Install this outperf"):
                engine.wait()
        cluster.kill("old")

    def test_those_that_join_later_are_used(self, cluster, tmp_path, collect):
        with open_engine(cluster.address) as engine:
            await_workers(engine, 2)
            for number in range(3):
                engine.submit(say_and_wait, (tmp_path, number), tag=number)
            await_files(tmp_path, "*.*", 2)
            assert len(engine.activity()) == 2  # what waits for a worker is not worked on
            cluster.start_worker("third")
            await_files(tmp_path, "*.*", 3)
            await_workers(engine, 3)
            assert len(engine.activity()) == 3
            (tmp_path / "go").touch()
            workers = {outcome.worker for outcome in collect(engine, 3).values()}
        cluster.kill("third")
        assert len(workers) == 3

    def test_what_waits_at_a_worker_is_not_at_work(self, cluster, tmp_path, collect):
        with open_engine(cluster.address) as engine:
            await_workers(engine, 2)
            for number in range(8):
                engine.submit(say_and_wait, (tmp_path, number), tag=number)
            await_files(tmp_path, "*.*", 2)
            active = engine.activity()
            (tmp_path / "go").touch()
            workers = {tag: outcome.worker for tag, outcome in collect(engine, 8).items()}
        assert len(active) == len({each.worker for each in active}) == 2
        assert all(workers[each.tag] == each.worker for each in active)

    def test_where_there_are_none_the_run_says_once_that_it_waits(self, cluster, tmp_path):
        for name in ("first", "second"):
            cluster.kill(name)
        (tmp_path / "study.toml").write_text(STUDY)
        command = [sys.executable, "-m", "outperform", "run", "study.toml"]
        with (tmp_path / "said").open("wb") as said:
            run = subprocess.Popen(
                [*command, "--engine", cluster.address], cwd=tmp_path, stdout=said, stderr=said
            )
        note = f"Note: '{cluster.address}' has no workers: fits wait for some to join."
        try:
            assert eventually(lambda: note in (tmp_path / "said").read_text(), seconds=60)
            cluster.start_worker("first")
            assert run.wait(60) == 0
        finally:
            run.kill()
            run.wait()
        assert (tmp_path / "said").read_text().count("Note: ") == 1

    def test_large_work_is_brought_once_and_again_where_it_is_lost(
        self, cluster, tmp_path, collect
    ):
        work = Large(tmp_path / "log")
        with open_engine(cluster.address) as engine:
            await_workers(engine, 2)
            for number in range(10):
                engine.submit(work, number, tag=number)
            assert {each.value for each in collect(engine, 10).values()} == {
                number * number for number in range(10)
            }
            assert len(work.log.read_text().split()) <= 2
            for name in ("first", "second"):
                cluster.kill(name)
            for number in range(10):
                engine.submit(work, number, tag=number)
            cluster.start_worker("first")
            assert len(collect(engine, 10)) == 10


class TestNeeds:
    def test_they_are_asked_for_in_the_words_of_dask(self, cluster, collect, monkeypatch):
        with open_engine(cluster.address) as engine:
            await_workers(engine, 2)
            needs = Needs(gpus=1, memory=10**9, others=(("licence", 2),))
            with pytest.raises(InvalidInput) as caught:
                engine.submit(square, 2, tag=0, needs=needs)
            assert str(caught.value) == (
                f"a fit needs GPU=1 licence=2, and no worker of '{cluster.address}' has that. "
                'Start workers with `dask worker ADDRESS --resources "GPU=1 licence=2"`, or ask '
                "for less in the pipeline's resources."
            )
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")  # what it declares, it must see
            cluster.start_worker("rich", "--resources", "GPU=1 licence=3 MEMORY=1e9")
            await_workers(engine, 3)
            for number in range(6):
                engine.submit(square, number, tag=number, needs=needs)
            workers = {each.worker for each in collect(engine, 6).values()}
            with pytest.raises(InvalidInput) as caught:
                engine.submit(square, 2, tag=0, needs=Needs(memory=2 * 10**9))
            assert caught.value.problem == (
                f"a fit needs MEMORY=2e+09, and no worker of '{cluster.address}' has that"
            )
        cluster.kill("rich")
        assert len(workers) == 1

    def test_a_worker_hands_out_the_devices_that_it_sees(self, cluster, collect):
        options = ("--nthreads", "3", "--resources", "GPU=3")
        cluster.start_worker("rich", *options, CUDA_VISIBLE_DEVICES="3,5")
        with open_engine(cluster.address) as engine:
            await_workers(engine, 5)
            for number in range(12):
                engine.submit(note_device, 0.02, tag=number, needs=Needs(gpus=1))
            seen = sorted(each.value for each in collect(engine, 12).values())
            engine.submit(note_device, 0, tag="none", needs=Needs(gpus=0))
            assert collect(engine, 1)["none"].value[0] == ""
            engine.submit(note_device, 0, tag="too many", needs=Needs(gpus=3))
            with pytest.raises(EngineError) as caught:
                engine.wait()
        cluster.kill("rich")
        assert {device for device, _, _ in seen} == {"3", "5"}
        for (device, _, end), (other, begin, _) in pairwise(seen):
            assert device != other or end <= begin  # nobody has shared one
        assert caught.value.problem == "a fit needs 3 GPUs, and there are 2 here"


ORPHAN = """
import os, sys, threading, time
from itertools import pairwise
from pathlib import Path
from outperform.engines import open_engine

folder = Path(sys.argv[2])

def fit(_):
    (folder / "pid").write_text(str(os.getpid()))
    while not (folder / "go").exists():
        time.sleep(0.01)
    (folder / "finished").touch()

engine = open_engine(sys.argv[1], heartbeat=folder / "beat", patience=float(sys.argv[3]))
(folder / "beat").touch()
engine.submit(fit, None, tag=0)
engine.wait()
"""


class TestCoordinatorKilled:
    @pytest.mark.parametrize("patience", [1.0, 300.0])
    def test_a_fit_goes_on_for_as_long_as_patience_lasts(
        self, dask_address, tmp_path, gone, patience
    ):
        (tmp_path / "study.py").write_text(ORPHAN)
        words = [sys.executable, tmp_path / "study.py", dask_address, tmp_path, str(patience)]
        with subprocess.Popen(words) as coordinator:
            await_files(tmp_path, "pid", 1)
            coordinator.kill()
        pid = int((tmp_path / "pid").read_text())
        if patience < 10:
            assert gone(pid)
            assert not (tmp_path / "finished").exists()
        else:
            time.sleep(1.5)  # it would have been killed by now
            (tmp_path / "go").touch()
            await_files(tmp_path, "finished", 1)


class TestAddress:
    def test_a_scheduler_file_will_do_and_options_reach_the_client(self, cluster, collect):
        file = cluster.folder / "scheduler.json"
        with open_engine(f"dask://{file}", {"name": "our study"}) as engine:
            engine.submit(square, 3, tag=0)
            assert collect(engine, 1)[0].value == 9
            assert engine._cluster._client.id.startswith("Client-our study")

    @pytest.mark.parametrize("address", ["dask", "dask:", "dask:head", "dask://", "dask://head",
                                         "dask://head:port", "dask://head:1/x",
                                         "dask://me:secret@head:8786"])  # fmt: skip
    def test_one_that_says_nothing_is_refused(self, address):
        with pytest.raises(InvalidInput) as caught:
            open_engine(address)
        shown = address.replace("me:secret@", "")
        assert str(caught.value) == (
            f"'{shown}' does not say where the scheduler is. Write dask://HOST:PORT, or "
            "dask:///path/scheduler.json for a scheduler file."
        )

    def test_nobody_there_is_an_error(self):
        address = f"dask://127.0.0.1:{find_free_port()}"
        with pytest.raises(EngineError) as caught:
            open_engine(address, {"timeout": 0.3})
        assert caught.value.problem.startswith(f"there is no Dask scheduler at '{address}': ")
        assert caught.value.remedy == "Start one with `dask scheduler`, or mend the address"

    def test_what_a_failed_connection_left_is_gone_before_the_next(self, monkeypatch):
        """Collected while a client starts, it would have both wait for one lock for ever."""
        is_gone = threading.Event()

        class Left:
            def __init__(self):
                self.myself = self  # so that it goes when garbage is collected, and not before

            def __del__(self):
                is_gone.set()

        def connect(**_words):
            assert is_gone.is_set()
            raise TimeoutError("nobody answers")

        monkeypatch.setattr("distributed.Client", connect)
        gc.disable()  # whoever wants it gone has to ask for it
        try:
            Left()
            with pytest.raises(EngineError, match="nobody answers"):
                open_engine("dask://127.0.0.1:1")
        finally:
            gc.enable()

    def test_a_scheduler_file_that_never_comes_is_an_error(self, tmp_path):
        file = tmp_path / "scheduler.json"
        with pytest.raises(EngineError) as caught:
            open_engine(f"dask://{file}", {"timeout": 0.1})
        assert caught.value.problem == (
            f"there is no Dask scheduler at 'dask://{file}': no scheduler has written this file "
            f"([Errno 2] No such file or directory: '{file}')"
        )

    @pytest.mark.parametrize("word", ["pasword", "timeout"])
    def test_options_that_make_no_sense_are_refused_and_not_shown(self, word):
        with pytest.raises(InvalidInput) as caught:
            open_engine("dask://127.0.0.1:1", {word: "hunter2"})
        assert caught.value.problem.startswith(
            "Dask does not take 'dask://127.0.0.1:1' or its options: "
        )
        assert caught.value.remedy == "Mend the address, or [engine.options]"
        assert "hunter2" not in str(caught.value)

    def test_without_dask_the_extra_is_named(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "distributed", None)
        with pytest.raises(MissingExtra) as caught:
            open_engine("dask://me:secret@head:8786")
        assert str(caught.value) == (
            "'dask://head:8786' needs Dask, which is not installed. Install it with "
            '`pip install "outperform[dask]"`, here and where the workers run.'
        )
