"""Measurements in a PostgreSQL database, every one durable before its recording returns."""

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

import psycopg

from outperform.errors import DamagedStore
from outperform.store.copying import copy_into_file
from outperform.store.damage import Verification
from outperform.store.measurement import FAILED_TRIAL, Added, Measurement, RunLabel, Status
from outperform.store.meta import check_meta
from outperform.store.postgres_address import read_address
from outperform.store.postgres_database import (
    Rows,
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
    VERSIONS_OF_RUNS,
    RowChecks,
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

T = TypeVar("T")
_Connection = psycopg.Connection[Any]

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
_LABELS = f"""SELECT * FROM run_labels WHERE (design = '{FAILED_TRIAL}') = %s
ORDER BY design, source, replicate, pipeline, task"""
_SET_META = """INSERT INTO meta VALUES (%s, %s, %s)
ON CONFLICT (name) DO UPDATE SET value = excluded.value, checksum = excluded.checksum"""
_SOME = """SELECT * FROM measurements
WHERE id > %s AND status = coalesce(%s, status) ORDER BY id LIMIT %s"""
# The moment is that of the first query.
_BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1"
_CHUNK = 2000
_N_TIMED = 1000  # fits: enough for a mean, and earlier ones may be of other code
_MEAN_SECONDS = f"""SELECT avg(seconds) FROM (SELECT seconds FROM measurements
WHERE pipeline = %s AND task = %s ORDER BY id DESC LIMIT {_N_TIMED}) AS latest"""


class PostgresStore:
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
        self._patience, self._lease_seconds = patience, lease_seconds
        self._session = self._make_session(patience)
        self._checked: _Connection | None = None
        self._writer: PostgresWriter | None = None

    @property
    def address(self) -> str:
        """Without passwords."""
        return self._place.shown

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def exists(self) -> bool:
        """Whether there is anything in the schema."""
        return not self._session.run(lambda connection: is_empty(connection, self._place.schema))

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

        def record(connection: _Connection) -> list[Added]:
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

    def get(self, keys: Iterable[str]) -> dict[str, Measurement]:
        """Measurements by key; keys of which nothing is recorded are left out."""
        wanted, measured = [*write_texts(keys)], {}
        for start in range(0, len(wanted), _CHUNK):
            query = "SELECT * FROM measurements WHERE key = ANY(%s)"
            rows = self._read(query, (wanted[start : start + _CHUNK],))
            measured.update({each.key: each for each in self._decode(rows)})
        return measured

    def scores(self) -> dict[str, dict[str, float]]:
        """Scores of every recorded fit by key, in order of recording; empty where it failed."""
        query = "SELECT key, scores, score_checksum FROM measurements ORDER BY id"
        return decode_scores(self._read(query), self.address)

    def measurements(self, status: Status | None = None) -> Iterator[Measurement]:
        """Every measurement, or those of one status, in order of recording."""
        for rows in self._read_some(status):
            yield from self._decode(rows)

    def counts(self) -> dict[tuple[str, str, Status], int]:
        """Number of measurements by pipeline, task and status."""
        query = "SELECT pipeline, task, status, count(*) FROM measurements GROUP BY 1, 2, 3"
        return decode_counts(self._read(query), self.address)

    def mean_seconds(self) -> dict[tuple[str, str], float]:
        """Mean seconds of the latest fits of each pipeline on each task, failed ones too."""
        pairs = {(pipeline, task) for pipeline, task, _ in self.counts()}
        return {pair: float(self._read(_MEAN_SECONDS, write_texts(pair))[0][0]) for pair in pairs}

    def versions(self) -> list[tuple[str, dict[str, str], int]]:
        """What the runs that are done ran on: pipeline, versions, and how many of its fits."""
        counts: dict[int, int] = dict(self._read(VERSIONS_OF_RUNS))
        rows = self._read("SELECT * FROM measurements WHERE id = ANY(%s) ORDER BY id", ([*counts],))
        return [
            (fit.pipeline, fit.versions, n)
            for fit, n in zip(self._decode(rows), counts.values(), strict=True)
        ]

    def set_meta(self, name: str, value: Any) -> None:
        """Keep something JSON can hold under a name, durably, in place of what was there."""
        row = write_texts(encode_value(name, value))
        self._write(lambda connection: execute(connection, _SET_META, row))

    def get_meta(self, name: str) -> Any:
        """What was kept under a name; None where there is nothing."""
        values = self._read_meta()
        return check_meta(name, values[name], self.address) if name in values else None

    def meta_names(self) -> list[str]:
        """Under which names something is kept."""
        return sorted(self._read_meta())

    def keep_labels(self, of: Collection[tuple[str, str]]) -> None:
        """Forget which fits are runs or failed trials, but for these pairs of pipeline and task."""
        labelled = self._read("SELECT DISTINCT pipeline, task FROM run_labels")
        others = [write_texts(pair) for pair in labelled if pair not in of]

        def forget(connection: _Connection) -> None:
            for pair in others:
                execute(
                    connection, "DELETE FROM run_labels WHERE (pipeline, task) = (%s, %s)", pair
                )

        if others:
            self._write(forget)

    def run_labels(self) -> list[RunLabel]:
        """Which fits are the runs of which design, whether they are recorded yet or not."""
        return decode_labels(self._read(_LABELS, (False,)), self.address)

    def failed_trials(self) -> list[RunLabel]:
        """Which trials of searches have failed."""
        return decode_labels(self._read(_LABELS, (True,)), self.address)

    def verify(self) -> Verification:
        """Look at everything, and say what is damaged and what to do."""
        checks = RowChecks()
        try:
            with self.snapshot() as reader:
                checks.check_measurements(row for rows in reader._read_some() for row in rows)
                checks.check_labels(reader._read("SELECT * FROM run_labels"))
                checks.check_meta(reader._read("SELECT * FROM meta"))
        except DamagedStore as error:
            problem = error.problem.removeprefix(f"'{self.address}' is damaged: ")
            return Verification(
                self.address, 0, False, problems=(problem,), advice="Restore a copy"
            )
        found = (checks.n_measurements, True, tuple(checks.fits), tuple(checks.problems))
        return Verification(self.address, *found, self._advise(checks.list_removals()))

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

    def _write(self, work: Callable[[_Connection], T]) -> T:
        self.lock()
        assert self._writer is not None
        return self._writer.write(work)

    def _read(self, query: str, values: Sequence[Any] | None = None) -> Rows:
        def read(connection: _Connection) -> Rows:
            if connection is not self._checked:
                check_format(connection, self.address, self._place.schema)
                self._checked = connection
            return execute(connection, query, values).fetchall()

        return read_texts(self._session.run(read))

    def _read_some(self, status: Status | None = None) -> Iterator[Rows]:
        """Rows of measurements, chunk by chunk, so that writing may go on in between."""
        last = 0
        while rows := self._read(_SOME, (last, status, _CHUNK)):
            last = rows[-1][0]
            yield rows

    def _read_meta(self) -> dict[str, Any]:
        # All of them: a name that is another by now is seen in the checksum of its row only.
        rows = self._read("SELECT * FROM meta")
        return {row[0]: decode_value(row, self.address) for row in rows}

    def _decode(self, rows: Rows) -> Iterator[Measurement]:
        return decode_rows([row[1:] for row in rows], self.address)

    def _add_again(self, connection: _Connection, new: Measurement, row: tuple[Any, ...]) -> Added:
        """Record a fit in place of a failure, or compare it with what is recorded."""
        recorded = read_texts(execute(connection, _RECORDED, row[:1]).fetchall())
        added = compare_with_recorded(recorded[0], new, self.address)
        if added.kind == "new":
            execute(connection, _UPDATE, (*row, row[0]))
        return added

    def _make_session(self, patience: float) -> Session:
        # A writer that is stopped in the midst of a transaction is out of it before its lease ends.
        return Session(self._place, patience, idle_seconds=self._lease_seconds / 2)

    def _advise(self, removals: Sequence[str]) -> str:
        if not removals:
            return ""
        statements = "; ".join([f"SET search_path TO {self._place.schema}", *removals])
        return (
            f"Restore a copy; without one, `psql {shlex.quote(self._place.for_psql)} -c "
            f'"{statements}"` removes what is damaged, and `outperform run STUDY.toml` does it '
            "again"
        )


def _insert(
    connection: _Connection, query: str, rows: Sequence[tuple[Any, ...]]
) -> psycopg.Cursor[Any] | None:
    """Insert rows in one statement, column by column."""
    if not rows:
        return None
    return execute(connection, query, [[*column] for column in zip(*rows, strict=True)])
