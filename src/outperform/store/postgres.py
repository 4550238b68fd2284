"""Measurements in a PostgreSQL database, every one durable before its recording returns."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import psycopg

from outperform.errors import DamagedStore
from outperform.store.copying import copy_into_file
from outperform.store.damage import Verification
from outperform.store.measurement import Added, Measurement, RunLabel
from outperform.store.postgres_address import read_address
from outperform.store.postgres_database import (
    Connection,
    Session,
    check_format,
    execute,
    is_empty,
    read_texts,
    write_texts,
)
from outperform.store.postgres_writer import PostgresWriter, find_holder
from outperform.store.rows import (
    CHECKSUMS,
    COLUMNS,
    Rows,
    check_rows,
    compare_with_recorded,
    decode_scores,
    encode_label,
    encode_row,
)
from outperform.store.sql_store import N_TIMED, SqlStore

T = TypeVar("T")

_NAMES = ", ".join(COLUMNS | CHECKSUMS)
# In binary form (%b): as text, every quote of JSON would have to be escaped.
_ARRAYS = {"TEXT": "%b::text[]", "INTEGER": "%b::bigint[]", "REAL": "%b::float8[]"}
_MARKS = ", ".join(_ARRAYS[kind.split()[0]] for kind in (COLUMNS | CHECKSUMS).values())
_INSERT = f"""INSERT INTO measurements ({_NAMES})
SELECT {_NAMES} FROM unnest({_MARKS}) WITH ORDINALITY AS new ({_NAMES}, place) ORDER BY place
ON CONFLICT (key) DO NOTHING RETURNING key"""
_RECORDED = "SELECT status, key, scores, score_checksum FROM measurements WHERE key = %s"
_UPDATE = f"""UPDATE measurements SET ({_NAMES}) =
ROW ({", ".join(["%s"] * len(COLUMNS | CHECKSUMS))}) WHERE key = %s"""
_LABEL = """INSERT INTO run_labels SELECT * FROM
unnest(%s::text[], %s::text[], %s::bigint[], %s::text[], %s::text[], %s::text[], %s::bigint[])
ON CONFLICT (design, source, replicate, pipeline, task)
DO UPDATE SET key = excluded.key, checksum = excluded.checksum"""
# The moment is that of the first query.
_BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1"
_MEAN_SECONDS = f"""SELECT avg(seconds) FROM (SELECT seconds FROM measurements
WHERE pipeline = ? AND task = ? ORDER BY id DESC LIMIT {N_TIMED}) AS latest"""


class PostgresStore(SqlStore):
    """A store in a schema of a database; what it promises is said by `Store`.

    Parameters
    ----------
    address
        As libpq takes it, with the schema as one more parameter:
        `postgresql://USER@HOST/DATABASE?schema=NAME`.
    patience
        Seconds for which a server that has gone away is waited for.
    lease_seconds
        After which a writer that gives no sign of life may be replaced.
    """

    def __init__(
        self, address: str, *, patience: float = 60.0, lease_seconds: float = 30.0
    ) -> None:
        self._given, self._place = address, read_address(address)
        self.address = self._place.shown  # without passwords
        self._patience, self._lease_seconds = patience, lease_seconds
        self._session = self._make_session(patience)
        self._checked: Connection | None = None
        self._writer: PostgresWriter | None = None

    def exists(self) -> bool:
        """Whether there is anything in the schema."""
        return not self._session.run(lambda connection: is_empty(connection, self._place))

    def lock(self) -> None:
        """Become the only writer, or raise StoreInUse; the store is made where there is none."""
        if self._writer is None:
            renewing = self._make_session(self._lease_seconds / 6)
            self._writer = PostgresWriter(self._session, renewing, self._lease_seconds)

    def find_writer(self) -> str | None:
        """Who writes at the moment, since when and on which host; None where nobody does."""
        return self._session.run(find_holder)

    def close(self) -> None:
        """Let go of the lease and of the server; everything recorded is already safe."""
        writer, self._writer = self._writer, None
        self._checked = None
        self._session.close()
        if writer is not None:
            writer.close()

    def add(
        self, measurements: Sequence[Measurement], labels: Iterable[RunLabel] = ()
    ) -> list[Added]:
        """Record measurements, and which fits are runs, in one durable commit: all or none."""
        rows = [write_texts(encode_row(measurement)) for measurement in measurements]
        latest = {label[:5]: write_texts(encode_label(label)) for label in labels}

        def record(connection: Connection) -> list[Added]:
            first: dict[str, tuple[Any, ...]] = {}
            for row in rows:
                first.setdefault(row[0], row)
            inserted = _insert(connection, _INSERT, [*first.values()])
            _insert(connection, _LABEL, [*latest.values()])
            new = {key for (key,) in inserted.fetchall()} if inserted else set()
            added = []
            for measurement, row in zip(measurements, rows, strict=True):
                is_new = row[0] in new and row is first[row[0]]
                added.append(
                    Added("new") if is_new else self._add_again(connection, measurement, row)
                )
            return added

        return self._write(record)

    def scores(self) -> dict[str, dict[str, float]]:
        """Scores of every recorded fit by key, in order of recording; empty where it failed."""
        query = "SELECT key, scores, score_checksum FROM measurements ORDER BY id"
        return decode_scores(self._read(query), self.address)

    def mean_seconds(self) -> dict[tuple[str, str], float]:
        """Mean seconds of the latest fits of each pipeline on each task, failed ones too."""
        pairs = {(pipeline, task) for pipeline, task, _ in self.counts()}
        return {pair: float(self._read(_MEAN_SECONDS, pair)[0][0]) for pair in pairs}

    def verify(self) -> Verification:
        """Look at everything, and say what is damaged and what to do."""
        problems: list[str] = []
        try:
            with self.snapshot() as reader:
                n_fits, fits, removals = check_rows(reader._read_table, problems)
        except DamagedStore as error:
            problem = error.problem.removeprefix(f"'{self.address}' is damaged: ")
            return Verification(self.address, 0, problems=(problem,), advice="restore a copy")
        advice = ""
        if removals:
            statements = "; ".join([f"SET search_path TO {self._place.schema}", *removals])
            advice = (
                f"restore a copy; without one, `psql {shlex.quote(self._place.for_psql)} -c "
                f'"{statements}"` removes what is damaged, and `outperform run STUDY.toml` does it '
                "again"
            )
        return Verification(self.address, n_fits, fits, tuple(problems), advice)

    def backup(self, file: str | Path) -> Verification:
        """Copy everything as it is at one moment into an SQLite file, and say what it holds."""
        return copy_into_file(self, Path(file))

    @contextmanager
    def snapshot(self) -> Iterator["PostgresStore"]:
        """Read everything as it is now, whoever writes meanwhile."""
        # Without patience: on another connection, the moment would be another.
        with PostgresStore(self._given, patience=0.0, lease_seconds=0.0) as reader:
            reader._session.run(lambda connection: execute(connection, _BEGIN_READING))
            yield reader

    def _write(self, work: Callable[[Connection], T]) -> T:
        self.lock()
        assert self._writer is not None
        return self._writer.write(work)

    def _change(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        def change(connection: Connection) -> None:
            for row in rows:
                execute(connection, statement.replace("?", "%s"), write_texts(row))

        self._write(change)

    def _read(self, query: str, values: Sequence[Any] = (), *, whole: bool = False) -> Rows:
        """All rows of a query; none is ever missing, or the server itself says so."""

        def read(connection: Connection) -> Rows:
            if connection is not self._checked:
                check_format(connection, self._place)
                self._checked = connection
            # Without values, a query may be several.
            own = write_texts(values) if values else None
            return execute(connection, query.replace("?", "%s"), own).fetchall()

        return read_texts(self._session.run(read))

    def _read_table(self, table: str) -> Iterable[tuple[Any, ...]]:
        if table == "measurements":
            return chain.from_iterable(self._read_chunks())
        return self._read(f"SELECT * FROM {table}")

    def _add_again(self, connection: Connection, new: Measurement, row: tuple[Any, ...]) -> Added:
        """Record a fit in place of a failure, or compare it with what is recorded."""
        recorded = read_texts(execute(connection, _RECORDED, row[:1]).fetchall())
        added = compare_with_recorded(recorded[0], new, self.address)
        if added.kind == "new":
            execute(connection, _UPDATE, (*row, row[0]))
        return added

    def _make_session(self, patience: float) -> Session:
        # A writer that is stopped in the midst of a transaction is out of it before its lease ends.
        return Session(self._place, patience, idle_seconds=self._lease_seconds / 2)


def _insert(
    connection: Connection, query: str, rows: Sequence[tuple[Any, ...]]
) -> psycopg.Cursor[Any] | None:
    """Insert rows in one statement, column by column."""
    if not rows:
        return None
    return execute(connection, query, [[*column] for column in zip(*rows, strict=True)])
