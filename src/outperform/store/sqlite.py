"""Measurements in one SQLite file, every one durable before its recording returns."""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any, Self

from outperform.store.failures import explain_failures
from outperform.store.locking import FileLock
from outperform.store.measurement import Added, Measurement, Role, RunLabel, Status, compare_scores
from outperform.store.opening import check_place, connect_to_read, connect_to_write
from outperform.store.rows import COLUMNS, decode_json, decode_rows, encode_json, encode_row

_INSERT = (
    f"INSERT INTO measurements ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
)
_UPDATE = f"UPDATE measurements SET {', '.join(f'{name} = ?' for name in COLUMNS)} WHERE key = ?"
_LABEL = "INSERT OR REPLACE INTO run_labels VALUES (?, ?, ?, ?, ?, ?)"
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM measurements"
_CHUNK = 2000
_N_TIMED = 1000  # fits: enough for a mean, and earlier ones may be of other code
_MAX_VARIABLES = 500  # per statement; every SQLite allows 999


class SqliteStore:
    """A file of measurements: many may read it while one run writes.

    Reading needs an existing file and takes no lock. The first write, or `lock`, makes the file
    where there is none and takes the lock of the single writer until `close`.

    Parameters
    ----------
    path
        The file.

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
        self._lock = FileLock(Path(f"{self.path}.lock"), subject=f"'{self.path}'")
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def lock(self) -> None:
        """Become the only writer, or raise StoreInUse; the store is made where there is none."""
        if self._lock.held:
            return
        check_place(self.path)
        with explain_failures(self.path, "written"):
            self._lock.acquire()
            try:
                self._disconnect()
                self._connection = connect_to_write(self.path)
            except BaseException:
                self._lock.release()
                raise

    def find_writer(self) -> str | None:
        """The process that writes this store at the moment; None where there is none."""
        return self._lock.find_holder()

    def close(self) -> None:
        """Let go of the file and of the lock; everything recorded is already safe."""
        self._disconnect()
        self._lock.release()

    def add(self, measurement: Measurement) -> Added:
        """Record a measurement; it is on disk when this returns.

        The first result of a fit wins: a second one is compared with it and not recorded. A failure
        is replaced by whatever comes later.
        """
        return self.add_all([measurement])[0]

    def add_all(
        self, measurements: Sequence[Measurement], labels: Iterable[RunLabel] = ()
    ) -> list[Added]:
        """Record measurements, and labels of runs, in one durable commit: all or none.

        A commit waits for the disk (milliseconds), however many it holds, so results that came
        in together are best recorded together.
        """
        rows = [encode_row(measurement) for measurement in measurements]
        with self._transaction() as connection:
            connection.executemany(_LABEL, [astuple(label) for label in labels])
            return [
                _add(connection, measurement, row)
                for measurement, row in zip(measurements, rows, strict=True)
            ]

    def get(self, keys: Iterable[str]) -> dict[str, Measurement]:
        """Measurements by key; keys of which nothing is recorded are left out."""
        wanted, found = list(keys), {}
        for start in range(0, len(wanted), _MAX_VARIABLES):
            some = wanted[start : start + _MAX_VARIABLES]
            query = f"{_SELECT} WHERE key IN ({', '.join('?' * len(some))})"
            found.update({each.key: each for each in decode_rows(self._read(query, some))})
        return found

    def failed_keys(self) -> set[str]:
        """Keys of the fits of which only failures are recorded."""
        rows = self._read("SELECT key FROM measurements WHERE status = 'failed'")
        return {key for (key,) in rows}

    def scores(self) -> dict[str, dict[str, float]]:
        """Scores of every fit that is done, by key, in order of recording: what a resume needs."""
        query = "SELECT key, scores FROM measurements WHERE status = 'done' ORDER BY id"
        rows = self._read(query)
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
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, text))

    def get_meta(self, name: str) -> Any:
        """What was kept under a name; None where there is nothing."""
        rows = self._read("SELECT value FROM meta WHERE name = ?", (name,))
        return decode_json([rows[0][0]])[0] if rows else None

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
        return [RunLabel(*row) for row in self._read("SELECT * FROM run_labels")]

    def run_keys(self) -> dict[Role, str]:
        """Keys of the fits that are runs, by their role: quicker than labels, of which many."""
        return {row[:5]: row[5] for row in self._read("SELECT * FROM run_labels")}

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

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


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
