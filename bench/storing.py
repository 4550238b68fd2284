"""Stores: what durable recording costs, and what it takes to go on with 100,000 measurements."""

import atexit
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, Self

from outperform.engines import NO_NEEDS, Activity, Needs, Outcome, open_engine
from outperform.runner import run_fits
from outperform.store import Measurement, Store, open_store
from outperform.store.copying import copy_store
from outperform.store.rows import CHECKSUMS, COLUMNS, encode_row
from outperform.study.study_file import read_study
from running import FOLDER, ONE, make_study
from startup import COMMAND
from timing import Contest, Measured, NotMeasured, run_command, time_both, time_job

sys.path.append(str(Path(__file__).parents[1]))
from tests.postgres_server import NoServer, Server

N_MEASUREMENTS = 100_000
IDEAL = ("ideal", 500)  # of 100 trials, for two pipelines: 101,000 fits, 1,000 of them runs
FIX_HOPT = ("fix-hopt", 50_000)  # for two pipelines: as many runs
STUDY = """
[tuning]
trials = 100
[[task]]
name = "toy"
metric = "accuracy"
[[pipeline]]
name = "a"
function = "training:fit"
space = {{c = {{uniform = [0, 1]}}}}
[[pipeline]]
name = "b"
function = "training:fit"
space = {{c = {{uniform = [0, 1]}}}}
[[design]]
kind = "{kind}"
replicates = {n}
"""
TRAINING = """
from pathlib import Path

def fit(params, split, seeds):
    if Path("watched").exists():
        Path("begun").touch()
    return {"valid": params["c"], "test": params["c"]}
"""
READ_AND_DECODE = """
import json, sqlite3, sys

for row in sqlite3.connect(sys.argv[1]).execute(
    "SELECT params, seeds, scores, versions, key, pipeline, task, status FROM measurements"
):
    for text in row[:4]:
        json.loads(text)
"""


class Batches:
    """An engine that does a thousand fits at once, and is interrupted after so many."""

    name = "direct"
    n_workers = 125
    shortage: None = None
    waits_for: None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __init__(self, n_fits: int) -> None:
        self.n_left = n_fits
        self.pending: list[Outcome] = []

    def activity(self) -> list[Activity]:
        """Nothing, ever."""
        return []

    def submit(
        self,
        work: Callable[[Any], Any],
        item: Any,
        *,
        tag: Any,
        timeout: float | None = None,
        needs: Needs = NO_NEEDS,
    ) -> None:
        """Do it at once."""
        self.pending.append(Outcome(tag, work(item), None, 0.001, "done"))

    def wait(self, patience: float | None = None) -> list[Outcome]:
        """Hand out what was done."""
        if self.n_left <= 0:
            raise KeyboardInterrupt
        done, self.pending = self.pending[: self.n_left], self.pending[self.n_left :]
        self.n_left -= len(done)
        return done

    def stop(self) -> None:
        """Forget the rest."""
        self.n_left, self.pending = 1, []

    close = stop


@cache
def large_store(kind: str, n: int) -> tuple[Path, str]:
    """Folder and name of a study that was interrupted after 100,000 fits."""
    (FOLDER / "training.py").write_text(TRAINING)
    (FOLDER / f"{kind}.toml").write_text(STUDY.format(kind=kind, n=n))
    with open_store(FOLDER / f"{kind}.db") as store, suppress(KeyboardInterrupt):
        run_fits(read_study(str(FOLDER / f"{kind}.toml")), store, Batches(N_MEASUREMENTS))
    return FOLDER, kind


@cache
def start_server() -> Server:
    """A server that waits for the disk, on the disk of the repository."""
    folder = Path(tempfile.mkdtemp(dir=Path(__file__).parent, prefix="tmp-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        server = Server(folder, durable=True)
    except NoServer as reason:
        raise NotMeasured(str(reason)) from None
    atexit.register(server.stop)
    return server


def time_resume(folder: Path, name: str, store: str) -> float:
    """Seconds of the whole command, from its start to that of the first new fit in a worker."""
    began = time.perf_counter()
    command = [COMMAND, "run", f"{name}.toml", "--store", store]
    (folder / "watched").touch()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    while not (folder / "begun").exists():
        if process.poll() is not None:
            raise NotMeasured("the command ended without a fit")
        time.sleep(0.001)
    seconds = time.perf_counter() - began
    process.kill()
    process.wait()
    time.sleep(1)  # for its workers to end
    for file in (folder / "watched", folder / "begun"):
        file.unlink()
    return seconds


def resume_copy(kind: str, n: int) -> float:
    """Seconds to resume from a copy in an SQLite file."""
    folder, name = large_store(kind, n)
    shutil.copy(folder / f"{name}.db", folder / "copy.db")
    seconds = time_resume(folder, name, "copy.db")
    for file in folder.glob("copy*"):
        file.unlink()
    return seconds


def resume_from_sqlite(kind: str, n: int) -> Measured:
    """A run that goes on, beside a script that reads and decodes what it goes on from."""
    folder, name = large_store(kind, n)
    script = [sys.executable, "-c", READ_AND_DECODE, str(folder / f"{name}.db")]
    ours, theirs = [], []
    for _ in range(5):
        ours.append(resume_copy(kind, n))
        theirs.append(time_job(lambda: run_command(script), n_samples=1))
    return Measured(median(ours), median(theirs))


def resume_from_postgres(kind: str, n: int) -> Measured:
    """A run that goes on from PostgreSQL, beside the same from SQLite."""
    server, (folder, name) = start_server(), large_store(kind, n)
    address = server.make_address()
    schema = address.rpartition("=")[2]
    copy_store(folder / f"{name}.db", address)
    server.query("VACUUM ANALYZE")
    ours, theirs = [], []
    for _ in range(5):
        ours.append(time_resume(folder, name, address))
        server.query(f"DELETE FROM {schema}.lease")  # of the run that was killed
        theirs.append(resume_copy(kind, n))
    return Measured(median(ours), median(theirs))


class BatchSizes:
    """A store that notes how many measurements come at once."""

    def __init__(self, store: Store) -> None:
        self.store, self.sizes = store, list[int]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def add(self, measurements: list[Measurement], labels: Any = ()) -> Any:
        """Note it, and record them."""
        self.sizes += [len(measurements)] if measurements else []
        return self.store.add(measurements, labels)


@cache
def make_batches() -> list[list[Measurement]]:
    """Measurements in batches such as a run of quick fits on two workers makes."""
    with open_store(FOLDER / "batches.db") as store, open_engine("local:2") as engine:
        noting: Any = BatchSizes(store)
        run_fits(make_study(0.0, 2_000), noting, engine)
        fits = [*store.measurements()]
    places = [sum(noting.sizes[:i]) for i in range(len(noting.sizes) + 1)]
    return [fits[a:b] for a, b in pairwise(places)]


def record_in_postgres() -> Measured:
    """Durable measurements through a store, beside psycopg alone in batches of the same size."""
    import psycopg

    server, batches = start_server(), make_batches()
    names = [*COLUMNS, *CHECKSUMS]
    kinds = {"TEXT": "text", "INTEGER": "bigint", "REAL": "float8"}
    columns = [f"{n} {kinds[k.split()[0]]}" for n, k in (COLUMNS | CHECKSUMS).items()]
    rows = [[encode_row(fit) for fit in batch] for batch in batches]
    server.query(f"CREATE TABLE bare ({', '.join(columns)}, PRIMARY KEY (key))")
    insert = f"INSERT INTO bare VALUES ({', '.join(['%s'] * len(names))})".encode()
    place = f"host={server.folder} user=tester dbname=tests"
    with open_store(server.make_address()) as store, psycopg.connect(place) as connection:
        store.lock()
        number = iter(range(1_000_000))

        def ours() -> None:
            prefix = f"{next(number)} "
            for batch in batches:
                store.add([replace(fit, key=prefix + fit.key) for fit in batch])

        def theirs() -> None:
            prefix = f"{next(number)} "
            for batch in rows:
                with closing(connection.cursor()) as cursor:
                    cursor.executemany(insert, [(prefix + row[0], *row[1:]) for row in batch])
                connection.commit()

        measured = time_both(ours, theirs, n_samples=5)
    n_fits = sum(map(len, batches))
    return Measured(
        measured.ours / n_fits,
        measured.theirs / n_fits,
        note=f"{n_fits / len(batches):.1f} to a commit",
    )


def status(kind: str, n: int) -> Measured:
    folder, name = large_store(kind, n)
    command = [COMMAND, "status", str(folder / f"{name}.db")]
    return Measured(time_job(lambda: run_command(command), n_samples=5), 1.0)


_RESUMES = [
    Contest(
        f"resume {N_MEASUREMENTS:,} measurements from {where}, {kind}",
        against,
        Fraction(at_most),
        partial(measure, kind, n),
    )
    for where, against, at_most, measure in (
        ("SQLite", "Python reads and decodes the same rows", 3, resume_from_sqlite),
        ("PostgreSQL", "SQLite", 2, resume_from_postgres),
    )
    for kind, n in (IDEAL, FIX_HOPT)
]
CONTESTS = [
    Contest("a measurement, durable in PostgreSQL", "psycopg", Fraction(2), record_in_postgres),
    *_RESUMES,
    Contest(f"status of {N_MEASUREMENTS:,} measurements", "1 s", ONE, partial(status, *IDEAL)),
]
