"""Measurements in one SQLite file, every one durable before its recording returns."""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self

from outperform.errors import OutperformError, StoreError
from outperform.store.damage import Verification, report_damage
from outperform.store.measurement import (
    FAILED_TRIAL,
    Added,
    Measurement,
    RunLabel,
    Status,
)
from outperform.store.meta import check_meta
from outperform.store.rows import (
    CHECKSUMS,
    COLUMNS,
    VERSIONS_OF_RUNS,
    compare_with_recorded,
    decode_counts,
    decode_labels,
    decode_rows,
    decode_scores,
    decode_value,
    encode_label,
    encode_row,
    encode_value,
)
from outperform.store.sqlite_file import (
    check_place,
    check_structure,
    connect_to_read,
    copy_database,
    explain_failures,
    find_real_path,
    verify_file,
)
from outperform.store.sqlite_format import SET_META, has_checksums, use_words_of_today
from outperform.store.sqlite_writer import SqliteWriter, WriterLock
from outperform.store.store import report_writer

_ALL_COLUMNS = [*COLUMNS, *CHECKSUMS]
_INSERT = (
    f"INSERT INTO measurements ({', '.join(_ALL_COLUMNS)}) "
    f"VALUES ({', '.join('?' * len(_ALL_COLUMNS))})"
)
_UPDATE = (
    f"UPDATE measurements SET {', '.join(f'{name} = ?' for name in _ALL_COLUMNS)} WHERE key = ?"
)
_LABEL = "INSERT OR REPLACE INTO run_labels VALUES (?, ?, ?, ?, ?, ?, ?)"
_CHUNK = 2000
_N_TIMED = 1000  # fits: enough for a mean, and earlier ones may be of other code
# The index has the latest of one status at hand; to find those of both, it would sort all.
_LATEST = """SELECT * FROM (SELECT id, seconds FROM measurements
WHERE pipeline = ? AND task = ? AND status = '{}' ORDER BY id DESC LIMIT {})"""
_MEAN_SECONDS = (
    f"SELECT avg(seconds) FROM ({_LATEST.format('done', _N_TIMED)} UNION ALL "
    f"{_LATEST.format('failed', _N_TIMED)} ORDER BY id DESC LIMIT {_N_TIMED})"
)
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
    ...     store.set_meta("notes", {"seed": 0})
    ...     store.get_meta("notes")
    {'seed': 0}
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._writer: SqliteWriter | None = None
        self._reader: sqlite3.Connection | None = None
        self._is_checked = False  # of what is read

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
        if self._writer is not None:
            return
        check_place(self.path)
        with explain_failures(self.path, "written"):
            lock = WriterLock(find_real_path(self.path))
            if not lock.acquire(_PATIENCE):
                raise report_writer(self.address, self._read_writer())
            self._stop_reading()
            self._writer = SqliteWriter(self.path, lock)

    def find_writer(self) -> str | None:
        """Who writes at the moment, since when and on which host; None where nobody does."""
        with explain_failures(self.path, "read"):
            held = WriterLock(find_real_path(self.path)).is_held_elsewhere()
        return self._read_writer() if held else None

    def close(self) -> None:
        """Let go of the file and of the lock; everything recorded is already safe."""
        self._stop_reading()
        writer, self._writer = self._writer, None
        if writer is not None:
            with explain_failures(self.path, "written"):
                writer.close()

    def add(
        self, measurements: Sequence[Measurement], labels: Iterable[RunLabel] = ()
    ) -> list[Added]:
        """Record measurements, and which fits are runs, in one durable commit: all or none."""
        rows = [encode_row(measurement) for measurement in measurements]
        with self._transaction() as connection:
            connection.executemany(_LABEL, map(encode_label, labels))
            return [
                self._add(connection, measurement, row)
                for measurement, row in zip(measurements, rows, strict=True)
            ]

    def get(self, keys: Iterable[str]) -> dict[str, Measurement]:
        """Measurements by key; keys of which nothing is recorded are left out."""
        self._check_structure()
        wanted, measured = list(keys), {}
        for start in range(0, len(wanted), _MAX_VARIABLES):
            some = wanted[start : start + _MAX_VARIABLES]
            query = f"SELECT * FROM measurements WHERE key IN ({', '.join('?' * len(some))})"
            measured.update({each.key: each for each in self._decode(self._read(query, some))})
        return measured

    def scores(self) -> dict[str, dict[str, float]]:
        """Scores of every recorded fit by key, in order of recording; empty where it failed."""
        self._check_structure()
        checksum = ", score_checksum" if has_checksums(self._connect()) else ""
        rows = self._read(f"SELECT key, scores{checksum} FROM measurements ORDER BY id")
        return decode_scores(rows, self.address)

    def measurements(self, status: Status | None = None) -> Iterator[Measurement]:
        """Every measurement, or those of one status, in order of recording."""
        self._check_structure()
        last = 0
        while True:
            # A query per chunk leaves no statement open, so writing may go on in between.
            rows = self._read(
                "SELECT * FROM measurements "
                "WHERE id > ? AND status = ifnull(?, status) ORDER BY id LIMIT ?",
                (last, status, _CHUNK),
            )
            if not rows:
                return
            last = rows[-1][0]
            yield from self._decode(rows)

    def counts(self) -> dict[tuple[str, str, Status], int]:
        """Number of measurements by pipeline, task and status."""
        rows = self._read(
            "SELECT pipeline, task, status, count(*) FROM measurements GROUP BY 1, 2, 3"
        )
        return decode_counts(rows, self.address)

    def mean_seconds(self) -> dict[tuple[str, str], float]:
        """Mean seconds of the latest fits of each pipeline on each task, failed ones too."""
        pairs = {(pipeline, task) for pipeline, task, _ in self.counts()}
        return {pair: float(self._read(_MEAN_SECONDS, (*pair, *pair))[0][0]) for pair in pairs}

    def versions(self) -> list[tuple[str, dict[str, str], int]]:
        """What the runs that are done ran on: pipeline, versions, and how many of its fits."""
        self._check_structure()
        counts: dict[int, int] = dict(self._read(VERSIONS_OF_RUNS))
        ids, measured = [*counts], []
        for start in range(0, len(ids), _MAX_VARIABLES):
            some = ids[start : start + _MAX_VARIABLES]
            marks = ", ".join("?" * len(some))
            query = f"SELECT * FROM measurements WHERE id IN ({marks}) ORDER BY id"
            measured += [*self._decode(self._read(query, some))]  # damage makes a kind of its own
        return [
            (fit.pipeline, fit.versions, n)
            for fit, n in zip(measured, counts.values(), strict=True)
        ]

    def set_meta(self, name: str, value: Any) -> None:
        """Keep something JSON can hold under a name, durably, in place of what was there."""
        row = encode_value(name, value)
        with self._transaction() as connection:
            connection.execute(SET_META, row)

    def get_meta(self, name: str) -> Any:
        """What was kept under a name; None where there is nothing."""
        values = self._read_meta()
        if name not in values:
            return None
        return check_meta(name, use_words_of_today(name, values[name]), self.address)

    def meta_names(self) -> list[str]:
        """Under which names something is kept."""
        return sorted(self._read_meta())

    def keep_labels(self, of: Collection[tuple[str, str]]) -> None:
        """Forget which fits are runs or failed trials, but for these pairs of pipeline and task."""
        labelled = self._read("SELECT DISTINCT pipeline, task FROM run_labels")
        others = [pair for pair in labelled if pair not in of]
        if others:
            with self._transaction() as connection:
                query = "DELETE FROM run_labels WHERE pipeline = ? AND task = ?"
                connection.executemany(query, others)

    def run_labels(self) -> list[RunLabel]:
        """Which fits are the runs of which design, whether they are recorded yet or not."""
        return self._read_labels(failed_trials=False)

    def failed_trials(self) -> list[RunLabel]:
        """Which trials of searches have failed."""
        return self._read_labels(failed_trials=True)

    def verify(self) -> Verification:
        """Look at everything, and say what is damaged and what to do."""
        return verify_file(self.path)

    def backup(self, file: str | Path) -> Verification:
        """Copy everything as it is at one moment, look at the copy, and say what it holds."""
        copy = Path(file)
        check_place(copy)
        with explain_failures(self.path, "read"):
            source = connect_to_read(self.path)
        with closing(source), explain_failures(copy, "written"):
            try:
                copy_database(source, copy)
            except FileExistsError:
                raise StoreError(
                    f"there is a file '{copy}' already", "Name another, or remove it"
                ) from None
        verification = verify_file(copy)
        if not verification.is_sound:
            copy.unlink()
            raise report_damage(self.address, "a copy of it is not sound")
        return verification

    @contextmanager
    def snapshot(self) -> Iterator["SqliteStore"]:
        """Read everything as it is now, whoever writes meanwhile."""
        with SqliteStore(self.path) as reader:
            reader._read("BEGIN")
            reader._read("SELECT count(*) FROM meta")  # only now it begins
            yield reader

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self.lock()
        assert self._writer is not None
        with explain_failures(self.path, "written"), self._writer.transaction() as connection:
            yield connection

    def _read(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with explain_failures(self.path, "read"):
            return self._connect().execute(query, values).fetchall()

    def _read_meta(self) -> dict[str, Any]:
        # All of them: a name that is another by now is seen in the checksum of its row only.
        rows = self._read("SELECT * FROM meta")
        return {row[0]: decode_value(row, self.address) for row in rows}

    def _read_labels(self, *, failed_trials: bool) -> list[RunLabel]:
        self._check_structure()
        rows = self._read("SELECT * FROM run_labels")  # where design had another name once
        own = [row for row in rows if (row[0] == FAILED_TRIAL) == failed_trials]
        return decode_labels(own, self.address)

    def _connect(self) -> sqlite3.Connection:
        if self._writer is not None:
            return self._writer.connection
        if self._reader is None:
            with explain_failures(self.path, "read"):
                self._reader = connect_to_read(self.path)
        return self._reader

    def _check_structure(self) -> None:
        """Refuse to answer from a file with rows missing; a run that resumes would do them anew."""
        if self._writer is None and not self._is_checked:
            with explain_failures(self.path, "read"):
                check_structure(self._connect(), self.path)
            self._is_checked = True

    def _stop_reading(self) -> None:
        if self._reader is not None:
            self._reader.close()
        self._reader, self._is_checked = None, False

    def _decode(self, rows: Sequence[tuple[Any, ...]]) -> Iterator[Measurement]:
        return decode_rows([row[1:] for row in rows], self.address)

    def _read_writer(self) -> str:
        try:
            with SqliteStore(self.path) as reader:
                return str(reader.get_meta("writer") or "another process")
        except OutperformError:  # it is about to be made
            return "another process"

    def _add(self, connection: sqlite3.Connection, new: Measurement, row: tuple[Any, ...]) -> Added:
        query = "SELECT status, key, scores, score_checksum FROM measurements WHERE key = ?"
        recorded = connection.execute(query, (new.key,)).fetchone()
        if recorded is None:
            connection.execute(_INSERT, row)
            return Added("new")
        added = compare_with_recorded(recorded, new, self.address)
        if added.kind == "new":
            connection.execute(_UPDATE, (*row, new.key))
        return added
