"""Measurements in one SQLite file, every one durable before its recording returns."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from outperform.errors import OutperformError, StoreError
from outperform.store.damage import Verification, report_damage
from outperform.store.measurement import Added, Measurement, RunLabel
from outperform.store.rows import (
    CHECKSUMS,
    COLUMNS,
    Rows,
    compare_with_recorded,
    decode_scores,
    encode_label,
    encode_row,
)
from outperform.store.sql_store import N_TIMED, SqlStore
from outperform.store.sqlite_file import (
    check_place,
    check_structure,
    connect_to_read,
    copy_database,
    explain_failures,
    find_real_path,
    verify_file,
)
from outperform.store.sqlite_writer import SqliteWriter, WriterLock
from outperform.store.store import report_writer

_ALL_COLUMNS = [*COLUMNS, *CHECKSUMS]
_RECORD = (
    f"INSERT INTO measurements ({', '.join(_ALL_COLUMNS)}) "
    f"VALUES ({', '.join('?' * len(_ALL_COLUMNS))}) ON CONFLICT (key) "
    f"DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _ALL_COLUMNS)}"
)
_RECORDED = "SELECT status, key, scores, score_checksum FROM measurements WHERE key = ?"
_LABEL = "INSERT OR REPLACE INTO run_labels VALUES (?, ?, ?, ?, ?, ?, ?)"
# The index has the latest of one status at hand; to find those of both, it would sort all.
_LATEST = """SELECT * FROM (SELECT id, seconds FROM measurements
WHERE pipeline = ? AND task = ? AND status = '{}' ORDER BY id DESC LIMIT {})"""
_MEAN_SECONDS = (
    f"SELECT avg(seconds) FROM ({_LATEST.format('done', N_TIMED)} UNION ALL "
    f"{_LATEST.format('failed', N_TIMED)} ORDER BY id DESC LIMIT {N_TIMED})"
)
_PATIENCE = 0.1  # seconds: who only looks whether the lock is held has it for a moment


class SqliteStore(SqlStore):
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
        self.path, self.address = Path(path), str(Path(path))
        self._writer: SqliteWriter | None = None
        self._reader: sqlite3.Connection | None = None
        self._is_checked = False  # of what is read

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
            added = []
            for new, row in zip(measurements, rows, strict=True):
                recorded = connection.execute(_RECORDED, (new.key,)).fetchone()
                added.append(compare_with_recorded(recorded, new, self.address))
                if added[-1].kind == "new":
                    connection.execute(_RECORD, row)
        return added

    def scores(self) -> dict[str, dict[str, float]]:
        """Scores of every recorded fit by key, in order of recording; empty where it failed."""
        query = "SELECT key, scores, score_checksum FROM measurements ORDER BY id"
        return decode_scores(self._read(query, whole=True), self.address)

    def mean_seconds(self) -> dict[tuple[str, str], float]:
        """Mean seconds of the latest fits of each pipeline on each task, failed ones too."""
        pairs = {(pipeline, task) for pipeline, task, _ in self.counts()}
        return {pair: float(self._read(_MEAN_SECONDS, (*pair, *pair))[0][0]) for pair in pairs}

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

    def _change(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        with self._transaction() as connection:
            connection.executemany(statement, rows)

    def _read(self, query: str, values: Sequence[Any] = (), *, whole: bool = False) -> Rows:
        with explain_failures(self.path, "read"):
            if self._writer is not None:
                return self._writer.connection.execute(query, values).fetchall()
            if self._reader is None:
                self._reader = connect_to_read(self.path)
            # A run that resumes would do anew what is missing.
            if whole and not self._is_checked:
                check_structure(self._reader, self.path)
                self._is_checked = True
            return self._reader.execute(query, values).fetchall()

    def _stop_reading(self) -> None:
        if self._reader is not None:
            self._reader.close()
        self._reader, self._is_checked = None, False

    def _read_writer(self) -> str:
        try:
            with SqliteStore(self.path) as reader:
                return str(reader.get_meta("writer") or "another process")
        except OutperformError:  # it is about to be made
            return "another process"
