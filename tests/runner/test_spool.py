"""A spool: what workers have finished is not done again, whatever becomes of the coordinator."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click import Command, Context

from outperform.cli.run import open_place
from outperform.engines import InlineEngine, LocalEngine, Outcome
from outperform.errors import InvalidInput
from outperform.questions.compare.until_decided import run_until_decided
from outperform.runner import run_fits
from outperform.runner.exchange import ActivityLog
from outperform.runner.spool import HEARTBEAT, FitReport, Spool, read_report, write_report
from outperform.store import Store, open_store
from outperform.study.designs import FixHopt, Ideal, SimulatedHopt
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Uniform
from outperform.study.study import Study
from outperform.study.study_file import EngineTable
from outperform.study.tasks import Task

TASK = Task("toy", metric="accuracy")
KEY = "0123456789abcdef" * 2
REPORT = FitReport(KEY, {"valid": 0.25, "test": 0.5}, None, 1.5, 1.7e9, {"numpy": "2.1"})
calls: list[Any] = []


@pytest.fixture(autouse=True)
def forget_calls() -> None:
    calls.clear()


def add_up(params, split, seeds):
    calls.append((params, seeds))
    score = (params["c"] + seeds["init"] / 2**32) / 2
    return {"valid": score, "test": score - 0.01}


def add_less(params, split, seeds):
    calls.append((params, seeds))
    return {"valid": params["c"] / 2, "test": params["c"] / 2 - seeds["init"] / 2**33}


def fail(params, split, seeds):
    calls.append((params, seeds))
    raise ValueError("no luck")


def toy(function: Callable[..., Any] = add_up, **changes: Any) -> Study:
    space = {"c": Uniform(0, 1)}
    pipelines = [
        FunctionPipeline(name, each, space, ("init",))
        for name, each in (("a", function), ("b", add_less))
    ]
    return Study(pipelines, (TASK,), **{"designs": (Ideal(3),), "trials": 3, **changes})


def table(store: Store) -> list[tuple[Any, ...]]:
    return sorted((m.key, m.status, repr(m.scores), repr(m.params)) for m in store.measurements())


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "spool"


class Forgetful(InlineEngine):
    """Does n fits at the end and hands out none of them, as if the coordinator had been killed."""

    n_workers = 4

    def __init__(self, n: int, n_lost: int) -> None:
        super().__init__()
        self.n, self.n_lost = n, n_lost

    def wait(self, patience: float | None = None) -> list[Outcome]:
        if self._closed:
            return []
        self.n -= 1
        if self.n > 0:
            return super().wait(patience)
        while self._pending and self.n_lost:
            self._run_next()
            self.n_lost -= 1
        self._finished.clear()
        raise KeyboardInterrupt


# The coordinator dies

SCRIPT = """
import sys, time
from pathlib import Path
import outperform as op

folder = Path(sys.argv[1])

def fit(params, split, seeds, *, refit):
    with (folder / "calls").open("a") as file:
        file.write(f"{params['c']} {seeds['init']} {refit}\\n")
    return {"valid": params["c"], "test": params["c"] + seeds["init"] / 2**32}

def hang(progress):
    if sys.argv[2] == "hang" and progress.n_done:  # not where only a worker got ready
        (folder / "hanging").touch()
        time.sleep(300)

if __name__ == "__main__":
    pipeline = op.Pipeline("a", fit, space={"c": op.Uniform(0, 1)}, sources=["init"])
    study = op.Study([pipeline], [op.Task("toy", metric="accuracy")], [op.Ideal(10)], trials=2)
    op.run(study, folder / "study.db", "local:2", spool=folder / "spool", report=hang)
"""


def list_finished(folder):
    """Keys of fits that are in the store or in the spool."""
    with open_store(folder / "study.db") as store:
        return {path.stem for path in (folder / "spool").glob("*.json")} | {*store.scores()}


def test_a_coordinator_that_is_killed_loses_nothing_that_was_finished(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, str(tmp_path / "script.py"), str(tmp_path)]
    killed = subprocess.Popen([*command, "hang"])  # after its first commit
    try:
        deadline = time.monotonic() + 60
        # On a busy machine the first commit holds many, and the spool but a few.
        while not (tmp_path / "hanging").exists() or len(list_finished(tmp_path)) <= 12:
            assert killed.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    n_before = len((tmp_path / "calls").read_text().splitlines())
    finished = list_finished(tmp_path)
    assert len(finished) > 12
    subprocess.run([*command, "go on"], check=True)
    lines = (tmp_path / "calls").read_text().splitlines()
    assert len({*lines}) == 30  # 20 trials and 10 runs
    # Each worker may have been killed in the midst of a fit, and that is done again.
    assert len(lines) - n_before == 30 - len(finished)
    assert [path.name for path in (tmp_path / "spool").iterdir()] == [HEARTBEAT]


STUDIES: dict[str, dict[str, Any]] = {
    "random": {},
    "gp-ei": {"tuner": "gp-ei", "trials": 5},
    "simulated": {"designs": (FixHopt(4), SimulatedHopt(4)), "trials": 10},
}


@pytest.mark.parametrize("changes", STUDIES.values(), ids=STUDIES)
def test_what_is_in_the_spool_is_taken_in_and_the_table_is_that_of_a_quiet_run(
    changes, spool, store, other
):
    run_fits(toy(**changes), other, InlineEngine())
    n_needed = len(calls)
    calls.clear()
    with pytest.raises(KeyboardInterrupt):
        run_fits(toy(**changes), store, Forgetful(9, 2), spool=spool)
    lost = {path.stem for path in spool.glob("*.json")}
    assert len(lost) == 2
    assert not lost & store.scores().keys()
    progress = run_fits(toy(**changes), store, InlineEngine(), spool=spool)
    assert len(calls) == n_needed
    assert table(store) == table(other)
    assert progress.spool == ["2 results were taken from the spool"]
    assert [path.name for path in spool.iterdir()] == [HEARTBEAT]


def test_deciding_takes_in_what_is_in_the_spool(spool, store, other):
    study = toy(designs=(Ideal(12),), trials=1)
    expected = run_until_decided(study, other, "a", "b", engine=InlineEngine())
    n_needed = len(calls)
    calls.clear()
    with pytest.raises(KeyboardInterrupt):
        run_until_decided(study, store, "a", "b", engine=Forgetful(12, 3), spool=spool)
    assert len(list(spool.glob("*.json"))) == 3
    decision = run_until_decided(study, store, "a", "b", engine=InlineEngine(), spool=spool)
    assert decision.parts == expected.parts
    assert len(calls) == n_needed
    assert table(store) == table(other)


def test_what_is_in_the_spool_says_nothing_of_the_pace(spool, store, other, monkeypatch):
    """It was not done now: the rest would seem to take no time."""
    counted = []
    monkeypatch.setattr(ActivityLog, "count", lambda *fit: counted.append(fit))
    reports = run_and_keep(toy(), other, spool)
    assert len(counted) == len(reports)
    counted.clear()
    run_fits(toy(), store, InlineEngine(), spool=spool)
    assert (len(store.scores()), counted) == (len(reports), [])


def test_results_of_old_workers_that_come_late_count(spool, store):
    """They are looked for when a fit is about to be submitted, however long after the start."""

    study = toy()
    with open_store(spool.parent / "other.db") as other:
        run_fits(study, other, InlineEngine())
        fits = {m.key: m for m in other.measurements()}
    done = set()

    def deliver(progress: Any) -> None:
        for key, fit in fits.items():
            if progress.n_done == 3 and key not in store.scores():
                report = FitReport(key, fit.scores, None, fit.seconds, fit.started, fit.versions)
                assert write_report(spool, report) is None
                done.add(key)

    calls.clear()
    run_fits(study, store, InlineEngine(), spool=spool, report=deliver)
    assert len(done) > 10
    assert len(calls) + len(done) >= len(fits) == len(store.scores())
    assert len(calls) < len(fits) - 5


# Duplicates, failures and late deaths


def run_and_keep(study: Study, store: Store, spool: Path) -> dict[str, FitReport]:
    """Run a study, and put all its reports back as if they had not been cleared away."""
    run_fits(study, store, InlineEngine(), spool=spool)
    reports = {
        m.key: FitReport(m.key, m.scores, m.error, m.seconds, m.started, m.versions)
        for m in store.measurements()
    }
    for report in reports.values():
        write_report(spool, report)
    calls.clear()
    return reports


def test_duplicates_of_what_is_recorded_are_cleared_away(spool, store):
    run_and_keep(toy(), store, spool)
    (spool / f".{next(iter(store.scores()))}.{'0' * 32}.tmp").touch()  # of a worker that died
    progress = run_fits(toy(), store, InlineEngine(), spool=spool)
    assert (calls, progress.n_done, progress.noise) == ([], 0, [])
    assert [path.name for path in spool.iterdir()] == [HEARTBEAT]


def test_duplicates_that_differ_are_noise(spool, store):
    report = next(iter(run_and_keep(toy(), store, spool).values()))
    before = table(store)
    noisy = {name: score + 0.125 for name, score in report.scores.items()}
    write_report(spool, report._replace(scores=noisy))
    progress = run_fits(toy(), store, InlineEngine(), spool=spool)
    assert progress.noise == [
        "a fit with the same seeds gave scores that differ by 0.125: the first ones are kept"
    ]
    assert table(store) == before


@pytest.mark.parametrize(
    ("retries", "retry_failed", "n_calls"), [(0, False, 0), (1, False, 1), (0, True, 1)]
)
def test_a_failure_in_the_spool_counts_as_an_attempt(retries, retry_failed, n_calls, spool, store):
    study = Study((FunctionPipeline("a", fail),), (TASK,), (Ideal(1),), retries=retries)
    with pytest.raises(KeyboardInterrupt):
        run_fits(study, store, Forgetful(2, 5), spool=spool)
    assert len(calls) == len(list(spool.glob("*.json"))) == 1
    calls.clear()
    progress = run_fits(study, store, InlineEngine(), spool=spool, retry_failed=retry_failed)
    assert (len(calls), progress.n_failed) == (n_calls, 1)
    (failure,) = store.measurements("failed")
    assert "ValueError: no luck" in failure.error
    assert not list(spool.glob("*.json"))


class Dying(InlineEngine):
    """Workers die after they have kept their report, and before it is returned."""

    def wait(self, patience: float | None = None) -> list[Outcome]:
        return [
            replace(each, kind="died", value=None, error="gone") for each in super().wait(patience)
        ]


def test_a_result_counts_though_its_worker_died_before_it_could_return_it(spool, store):
    progress = run_fits(toy(), store, Dying(), spool=spool)
    assert progress.n_failed == 0
    assert progress.n_done == progress.n_fits


# Files that no worker has written


def spoil(change: Callable[[dict[str, Any]], None]) -> Callable[[Path, str], None]:
    def put(path: Path, text: str) -> None:
        content = json.loads(text)
        change(content)
        path.write_text(json.dumps(content))

    return put


def forge(**changes: Any) -> Callable[[Path, str], None]:
    """A report with another content, and the checksum of that."""
    from outperform.store.rows import find_checksum

    def put(path: Path, text: str) -> None:
        content = json.loads(text) | changes
        del content["checksum"]
        own = json.dumps(content, separators=(",", ":"))
        path.write_text(json.dumps({**content, "checksum": find_checksum(own)}))

    return put


def link(path: Path, text: str) -> None:
    target = path.with_name("elsewhere")
    target.write_text(text)
    path.symlink_to(target)


def fill(path: Path, text: str) -> None:
    with path.open("w") as file:
        file.truncate(1 << 40)  # a hole of a terabyte


HOSTILE: dict[str, tuple[Callable[[Path, str], None], str]] = {
    "empty": (lambda path, _: path.write_text(""), "it makes no sense"),
    "cut": (lambda path, text: path.write_text(text[:-9]), "it makes no sense"),
    "binary": (lambda path, _: path.write_bytes(b"\x80\x04\xff" * 9), "it makes no sense"),
    "deep": (lambda path, _: path.write_text("[" * 100_000), "it makes no sense"),
    "long number": (lambda path, _: path.write_text("9" * 100_000), "it makes no sense"),
    "list": (lambda path, _: path.write_text("[1]"), "it makes no sense"),
    "another score": (
        spoil(lambda content: content["scores"].update(test=0.99)),
        "it does not match its checksum",
    ),
    "another fit": (forge(key="f" * 32), "it is of another fit"),
    "NaN": (forge(scores={"valid": float("nan"), "test": 1.0}), "it holds NaN"),
    "infinity": (
        lambda path, text: path.write_text(text.replace('"valid":0.5', '"valid":1e999')),
        "it makes no sense",
    ),
    "text": (forge(scores={"valid": "1", "test": 1.0}), "it holds what is no finite number"),
    "no scores": (forge(scores={}), "it says neither what came out nor what went wrong"),
    "scores and error": (forge(error="x"), "it says neither what came out nor what went wrong"),
    "scores of scores": (forge(scores=[1.0]), "it makes no sense"),
    "negative time": (forge(seconds=-1.0), "it holds what is no finite number"),
    "versions": (forge(versions={"numpy": [2]}), "its versions make no sense"),
    "link": (link, "it is no regular file"),
    "pipe": (lambda path, _: os.mkfifo(path), "it is no regular file"),
    "folder": (lambda path, _: path.mkdir(), "it is no regular file"),
    "huge": (fill, "it is too large, or no regular file"),
}


@pytest.mark.parametrize(("put", "why"), HOSTILE.values(), ids=HOSTILE)
def test_what_no_worker_has_written_is_set_aside_and_done_again(put, why, spool, store):
    study = Study((FunctionPipeline("a", seeded),), (TASK,), (Ideal(1),))
    with pytest.raises(KeyboardInterrupt):
        run_fits(study, store, Forgetful(2, 5), spool=spool)
    (path,) = spool.glob("*.json")
    text = path.read_text()
    path.unlink()
    put(path, text)
    calls.clear()
    progress = run_fits(study, store, InlineEngine(), spool=spool)
    assert len(calls) == progress.n_done == 1
    assert progress.spool == [
        f"1 file of the spool set aside as *.damaged, its fits done again: {why}"
    ]
    assert path.with_name(f"{path.name}.damaged") in spool.iterdir()
    assert not path.is_symlink()
    assert not path.exists()


def seeded(params, split, seeds):
    calls.append(seeds)
    return {"valid": 0.5, "test": seeds["init"] / 2**32}


def test_files_of_other_studies_are_left_alone(spool, store):
    spool.mkdir()
    others = [spool / f"{KEY}.json", spool / "notes.json", spool / f"{KEY}.json.damaged"]
    for path in others:
        path.write_text("not ours")
    run_fits(toy(), store, InlineEngine(), spool=spool)
    assert [path.read_text() for path in others] == ["not ours"] * 3


def test_a_report_comes_back_as_it_was_written(tmp_path):
    failure = FitReport(KEY, {}, "Traceback: é \udcff \x00", 0.0, 1.0, {})
    for report in (REPORT, failure):
        assert write_report(tmp_path, report) is None
        assert read_report(tmp_path / f"{KEY}.json", KEY) == report
    assert [path.name for path in tmp_path.iterdir()] == [f"{KEY}.json"]


# Folders that cannot be written


@pytest.mark.parametrize(("place", "why"), [("file", "File exists"), ("file/spool", "Not a dir")])
def test_a_spool_that_cannot_be_made_is_refused_before_the_first_fit(place, why, tmp_path, store):
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput) as caught:
        run_fits(toy(), store, InlineEngine(), spool=tmp_path / place)
    assert str(caught.value).startswith(f"the spool '{tmp_path / place}' cannot be written: {why}")
    assert str(caught.value).endswith(
        ". Name a folder that you may write, on a file system that all workers share."
    )
    assert calls == []


def take_spool_away(params, split, seeds):
    import shutil

    shutil.rmtree(os.environ["SPOOL_OF_TEST"], ignore_errors=True)
    return {"valid": 0.5, "test": 0.5}


def test_a_worker_that_cannot_write_is_one_note_and_its_results_count(spool, store, monkeypatch):
    monkeypatch.setenv("SPOOL_OF_TEST", str(spool))
    study = Study((FunctionPipeline("a", take_spool_away),), (TASK,), (Ideal(6),))
    with LocalEngine(1) as engine:
        progress = run_fits(study, store, engine, spool=spool)
    assert (progress.n_done, progress.n_failed) == (6, 0)
    (note,) = progress.spool
    assert note.startswith(
        "results were recorded, but not all were kept in the spool, such as one: "
        "FileNotFoundError: "
    )


def fill_disk(params, split, seeds):
    """Leave room for the beginning of a report, as a disk that is nearly full does."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))
    return {"valid": 0.5, "test": 0.5}


def test_a_full_disk_is_one_note_and_leaves_nothing_behind(spool, store):
    study = Study((FunctionPipeline("a", fill_disk),), (TASK,), (Ideal(6),))
    with LocalEngine(1) as engine:
        progress = run_fits(study, store, engine, spool=spool)
    assert (progress.n_done, progress.n_failed) == (6, 0)
    (note,) = progress.spool
    assert note.startswith(
        "results were recorded, but not all were kept in the spool, such as one: "
        "OSError: [Errno 27] File too large"
    )
    assert [path.name for path in spool.iterdir()] == [HEARTBEAT]


def put_file_in_its_place(params, split, seeds):
    folder = Path(os.environ["SPOOL_OF_TEST"])
    if folder.is_dir():
        folder.rename(folder.with_name("taken"))
        folder.touch()
    return {"valid": 0.5, "test": seeds["init"] / 2**32}


def test_a_file_in_its_place_is_no_damage_and_loses_nothing(spool, store, monkeypatch):
    monkeypatch.setenv("SPOOL_OF_TEST", str(spool))
    study = Study((FunctionPipeline("a", put_file_in_its_place),), (TASK,), (Ideal(60),))
    with LocalEngine(1) as engine:
        progress = run_fits(study, store, engine, spool=spool)
    assert (progress.n_done, progress.n_failed) == (60, 0)
    unseen, unwritten = progress.spool
    assert unseen == (
        f"the spool '{spool}' could not be read: Not a directory; what it has, the next run with "
        "it takes in"
    )
    assert "NotADirectoryError" in unwritten
    spool.unlink()
    again = run_fits(study, store, InlineEngine(), spool=spool)
    assert (again.n_done, again.n_known, again.spool) == (0, 60, [])


def test_a_file_is_touched_as_long_as_the_coordinator_is_there(spool, monkeypatch):
    monkeypatch.setattr("outperform.runner.spool._BEAT", 0.01)
    with Spool(spool).keep_alive():
        os.utime(spool / HEARTBEAT, (0, 0))
        deadline = time.monotonic() + 20
        while not (spool / HEARTBEAT).stat().st_mtime:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    os.utime(spool / HEARTBEAT, (0, 0))
    time.sleep(0.05)
    assert (spool / HEARTBEAT).stat().st_mtime == 0


@pytest.mark.parametrize(("patience", "kept"), [(0.0, 15.0), (60.0, 60.0), (None, 3600.0)])
def test_workers_are_at_least_as_patient_as_beats_are_rare(spool, patience, kept):
    table = EngineTable("concurrent.futures:ThreadPoolExecutor", patience=patience)
    with Context(Command("run")), open_place(table, None, None, spool=spool) as engine:
        assert engine._lease.patience == kept


def test_a_folder_that_somebody_removes_is_made_again(spool, monkeypatch):
    monkeypatch.setattr("outperform.runner.spool._BEAT", 0.01)
    with Spool(spool).keep_alive():
        spool.rename(spool.with_name("taken"))
        deadline = time.monotonic() + 20
        while not (spool / HEARTBEAT).exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
