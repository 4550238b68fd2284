"""What stores in SQL answer alike, whatever runs their queries."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Protocol

from outperform.store.damage import report_damage
from outperform.store.measurement import FAILED_TRIAL, Measurement, RunLabel, Status
from outperform.store.meta import find_meta_problem
from outperform.store.rows import (
    SET_META,
    Rows,
    decode_labels,
    decode_rows,
    decode_value,
    encode_value,
)
from outperform.store.store import Store

_CHUNK = 2000
_MAX_VARIABLES = 500  # per statement; every SQLite allows 999
N_TIMED = 1000  # fits: enough for a mean, and earlier ones may be of other code
_SOME = """SELECT * FROM measurements
WHERE id > ? AND status = coalesce(?, status) ORDER BY id LIMIT ?"""
# A fit of each pipeline for all it ran on, with how many there are: damage makes one of its own.
_VERSIONS_OF_RUNS = """SELECT min(id), count(*) FROM measurements
WHERE status = 'done' AND key IN (SELECT key FROM run_labels)
GROUP BY pipeline, versions ORDER BY 1"""


class SqlStore(Store, Protocol):
    """A store in three tables, once somebody says how a query is run and a change is made."""

    def _read(self, query: str, values: Sequence[Any] = (), *, whole: bool = False) -> Rows:
        """All rows of a query; whole: refuse to answer where some are missing unnoticed."""

    def _change(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Run a statement with the values of every row, in one durable commit."""

    def get(self, keys: Iterable[str]) -> dict[str, Measurement]:
        """Measurements by key; keys of which nothing is recorded are left out."""
        return {each.key: each for each in self._find("key", [*keys])}

    def measurements(self, status: Status | None = None) -> Iterator[Measurement]:
        """Every measurement, or those of one status, in order of recording."""
        for rows in self._read_chunks(status):
            yield from self._decode(rows)

    def counts(self) -> dict[tuple[str, str, Status], int]:
        """Number of measurements by pipeline, task and status."""
        query = "SELECT pipeline, task, status, count(*) FROM measurements GROUP BY 1, 2, 3"
        counts: dict[tuple[str, str, Status], int] = {}
        for pipeline, task, status, n_fits in self._read(query):
            are_names = isinstance(pipeline, str) and isinstance(task, str)
            if not are_names or status not in ("done", "failed"):
                what = f"there are fits of {pipeline!r} on {task!r} with status {status!r}"
                raise report_damage(self.address, what)
            counts[pipeline, task, status] = n_fits
        return counts

    def versions(self) -> list[tuple[str, dict[str, str], int]]:
        """What the runs that are done ran on: pipeline, versions, and how many of its fits."""
        counts: dict[int, int] = dict(self._read(_VERSIONS_OF_RUNS, whole=True))
        fits = self._find("id", [*counts])
        numbers = counts.values()
        return [(fit.pipeline, fit.versions, n) for fit, n in zip(fits, numbers, strict=True)]

    def get_meta(self, name: str) -> Any:
        """What was kept under a name; None where there is nothing."""
        values = self._read_meta()
        if name not in values:
            return None
        problem = find_meta_problem(name, values[name])
        if problem is not None:
            raise report_damage(self.address, problem)
        return values[name]

    def meta_names(self) -> list[str]:
        """Under which names something is kept."""
        return sorted(self._read_meta())

    def set_meta(self, name: str, value: Any) -> None:
        """Keep something JSON can hold under a name, durably, in place of what was there."""
        self._change(SET_META, [encode_value(name, value)])

    def keep_labels(self, of: Collection[tuple[str, str]]) -> None:
        """Forget which fits are runs or failed trials, but for these pairs of pipeline and task."""
        labelled = self._read("SELECT DISTINCT pipeline, task FROM run_labels")
        others = [pair for pair in labelled if pair not in of]
        if others:
            self._change("DELETE FROM run_labels WHERE pipeline = ? AND task = ?", others)

    def run_labels(self) -> list[RunLabel]:
        """Which fits are the runs of which design, whether they are recorded yet or not."""
        return self._read_labels(failed_trials=False)

    def failed_trials(self) -> list[RunLabel]:
        """Which trials of searches have failed."""
        return self._read_labels(failed_trials=True)

    def _read_labels(self, *, failed_trials: bool) -> list[RunLabel]:
        rows = self._read("SELECT * FROM run_labels ORDER BY 1, 2, 3, 4, 5", whole=True)
        own = [row for row in rows if (row[0] == FAILED_TRIAL) == failed_trials]
        return decode_labels(own, self.address)

    def _read_meta(self) -> dict[str, Any]:
        # All of them: a name that is another by now is seen in the checksum of its row only.
        values = {}
        for row in self._read("SELECT * FROM meta"):
            values[row[0]], problem = decode_value(row)
            if problem is not None:
                raise report_damage(self.address, problem)
        return values

    def _read_chunks(self, status: Status | None = None) -> Iterator[Rows]:
        """Rows of measurements; no query stays open, so that writing may go on in between."""
        last = 0
        while rows := self._read(_SOME, (last, status, _CHUNK), whole=True):
            last = rows[-1][0]
            yield rows

    def _find(self, column: str, values: Sequence[Any]) -> Iterator[Measurement]:
        """Measurements with one of these values, in order of recording within some hundreds."""
        for start in range(0, len(values), _MAX_VARIABLES):
            some = values[start : start + _MAX_VARIABLES]
            own = f"{column} IN ({', '.join('?' * len(some))})"
            query = f"SELECT * FROM measurements WHERE {own} ORDER BY id"
            yield from self._decode(self._read(query, some, whole=True))

    def _decode(self, rows: Rows) -> Iterator[Measurement]:
        return decode_rows([row[1:] for row in rows], self.address)
