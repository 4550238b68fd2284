"""Measurements in one SQLite file, every one durable before its recording returns."""

import os
import socket
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import gmtime, strftime
from typing import TYPE_CHECKING, Any, Self

from outperform.errors import OutperformError, StoreInUse
from outperform.store.measurement import Added, Measurement, RunLabel, Status, compare_scores
from outperform.store.rows import COLUMNS, decode_json, decode_rows, encode_json, encode_row
from outperform.store.sqlite_errors import explain_failures
from outperform.store.sqlite_file import (
    SET_META,
    check_place,
    connect_to_read,
    connect_to_write,
    use_words_of_today,
)

if TYPE_CHECKING:
    from filelock import BaseFileLock

_INSERT = (
    f"INSERT INTO measurements ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
)
_UPDATE = f"UPDATE measurements SET {', '.join(f'{name} = ?' for name in COLUMNS)} WHERE key = ?"
_LABEL = "INSERT OR REPLACE INTO run_labels VALUES (?, ?, ?, ?, ?, ?)"
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM measurements"
_CHUNK = 2000
_N_TIMED = 1000  # fits: enough for a mean, and earlier ones may be of other code
_MAX_VARIABLES = 500  # per statement; every SQLite allows 999
_PATIENCE = 0.1  # seconds: who only looks whether the lock is held has it for a moment


class SqliteStore:
    """A store in a file; what it promises is said by `Store`.

    Its writer holds a lock of the operating system on a file beside it, which vanishes with the
    process, so that none is ever stale. Who that is, the store itself says.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, SqliteStore(f"{folder}/study.db") as store:
    ...     store.set_meta("study", {"seed": 0})
    ...     store.get_meta("study")
    {'seed': 0}
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock: BaseFileLock | None = None
        self._connection: sqlite3.Connection | None = None

    @property
    def address(self) -> str:
        """The path."""
        return str(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def exists(self) -> bool:
        """Whether there is a file."""
        return self.path.exists()

    def lock(self) -> None:
        """Become the only writer, or raise StoreInUse; the store is made where there is none."""
        if self._lock is not None:
            return
        check_place(self.path)
        with explain_failures(self.path, "written"):
            lock = self._try_lock(_PATIENCE)
            if lock is None:
                raise StoreInUse(
                    f"'{self.path}' is being written by {self._read_writer()}",
                    "Wait for that run to end, or stop it; its measurements can be read meanwhile",
                )
            self._lock = lock
            try:
                self._disconnect()
                self._connection = connect_to_write(self.path, writer=_describe_process())
            except BaseException:
                self._unlock()
                raise

    def find_writer(self) -> str | None:
        """Who writes at the moment, since when and on which host; None where nobody does."""
        if not self._lock_file.exists():
            return None
        with suppress(PermissionError):  # another person's, who may be writing
            lock = self._try_lock(0)
            if lock is not None:
                lock.release()
                return None
        return self._read_writer()

    def close(self) -> None:
        """Let go of the file and of the lock; everything recorded is already safe."""
        self._disconnect()
        self._unlock()

    def add(
        self, measurements: Sequence[Measurement], labels: Iterable[RunLabel] = ()
    ) -> list[Added]:
        """Record measurements, and which fits are runs, in one durable commit: all or none."""
        rows = [encode_row(measurement) for measurement in measurements]
        with self._transaction() as connection:
            connection.executemany(_LABEL, labels)
            return [
                _add(connection, measurement, row)
                for measurement, row in zip(measurements, rows, strict=True)
            ]

    def get(self, keys: Iterable[str]) -> dict[str, Measurement]:
        """Measurements by key; keys of which nothing is recorded are left out."""
        wanted, measured = list(keys), {}
        for start in range(0, len(wanted), _MAX_VARIABLES):
            some = wanted[start : start + _MAX_VARIABLES]
            query = f"{_SELECT} WHERE key IN ({', '.join('?' * len(some))})"
            measured.update({each.key: each for each in decode_rows(self._read(query, some))})
        return measured

    def scores(self) -> dict[str, dict[str, float]]:
        """Scores of every recorded fit by key, in order of recording; empty where it failed."""
        rows = self._read("SELECT key, scores FROM measurements ORDER BY id")
        return dict(
            zip((row[0] for row in rows), decode_json([row[1] for row in rows]), strict=True)
        )

    def measurements(self, status: Status | None = None) -> Iterator[Measurement]:
        """Every measurement, or those of one status, in order of recording."""
        last = 0
        while True:
            # A query per chunk leaves no statement open, so writing may go on in between.
            rows = self._read(
                f"SELECT id, {', '.join(COLUMNS)} FROM measurements "
                "WHERE id > ? AND status = ifnull(?, status) ORDER BY id LIMIT ?",
                (last, status, _CHUNK),
            )
            if not rows:
                return
            last = rows[-1][0]
            yield from decode_rows([row[1:] for row in rows])

    def counts(self) -> dict[tuple[str, str, Status], int]:
        """Number of measurements by pipeline, task and status."""
        rows = self._read(
            "SELECT pipeline, task, status, count(*) FROM measurements GROUP BY 1, 2, 3"
        )
        return {(pipeline, task, status): count for pipeline, task, status, count in rows}

    def mean_seconds(self) -> dict[tuple[str, str], float]:
        """Mean seconds of the latest fits of each pipeline on each task, failed ones too."""
        latest = "SELECT id FROM measurements WHERE pipeline = ? AND task = ? ORDER BY id DESC"
        query = f"SELECT avg(seconds) FROM measurements WHERE id IN ({latest} LIMIT ?)"
        pairs = {(pipeline, task) for pipeline, task, _ in self.counts()}
        return {pair: float(self._read(query, (*pair, _N_TIMED))[0][0]) for pair in pairs}

    def set_meta(self, name: str, value: Any) -> None:
        """Keep something JSON can hold under a name, durably, in place of what was there."""
        text = encode_json(value)
        with self._transaction() as connection:
            connection.execute(SET_META, (name, text))

    def get_meta(self, name: str) -> Any:
        """What was kept under a name; None where there is nothing."""
        rows = self._read("SELECT value FROM meta WHERE name = ?", (name,))
        return use_words_of_today(name, decode_json([rows[0][0]])[0]) if rows else None

    def keep_labels(self, of: Collection[tuple[str, str]]) -> None:
        """Forget which fits are runs, but for these pairs of pipeline and task."""
        labelled = self._read("SELECT DISTINCT pipeline, task FROM run_labels")
        others = [pair for pair in labelled if pair not in of]
        if others:
            with self._transaction() as connection:
                query = "DELETE FROM run_labels WHERE pipeline = ? AND task = ?"
                connection.executemany(query, others)

    def run_labels(self) -> list[RunLabel]:
        """Which fits are the runs of which design, whether they are recorded yet or not."""
        return [*map(RunLabel._make, self._read("SELECT * FROM run_labels"))]

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self.lock()
        assert self._connection is not None
        with explain_failures(self.path, "written"):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # SQLite has rolled back by itself
                    self._connection.execute("ROLLBACK")
                raise

    def _read(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with explain_failures(self.path, "read"):
            if self._connection is None:
                self._connection = connect_to_read(self.path)
            return self._connection.execute(query, values).fetchall()

    @property
    def _lock_file(self) -> Path:
        return Path(f"{self.path.resolve()}.lock")

    def _try_lock(self, patience: float) -> "BaseFileLock | None":
        from filelock import FileLock, Timeout

        lock = FileLock(self._lock_file, timeout=patience, poll_interval=0.01, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            return None
        return lock

    def _unlock(self) -> None:
        if self._lock is not None:
            # While it is held: whoever waits for it sees that the file is gone, and makes another.
            with suppress(OSError):
                Path(self._lock.lock_file).unlink()
            self._lock.release()
            self._lock = None

    def _read_writer(self) -> str:
        try:
            with SqliteStore(self.path) as reader:
                return str(reader.get_meta("writer") or "another process")
        except OutperformError:  # it is about to be made
            return "another process"

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _describe_process() -> str:
    since = strftime("%Y-%m-%d %H:%M:%S UTC", gmtime())
    return f"process {os.getpid()} on {socket.gethostname()} since {since}"


def _add(connection: sqlite3.Connection, new: Measurement, row: tuple[Any, ...]) -> Added:
    query = "SELECT status, scores FROM measurements WHERE key = ?"
    recorded = connection.execute(query, (new.key,)).fetchone()
    if recorded is None:
        connection.execute(_INSERT, row)
        return Added("new")
    status, scores = recorded
    if status == "failed":
        connection.execute(_UPDATE, (*row, new.key))
        return Added("new")
    if new.status == "failed":
        return Added("kept")
    return compare_scores(decode_json([scores])[0], new.scores)
