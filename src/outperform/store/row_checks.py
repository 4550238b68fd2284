"""Looking at every row of a store, whatever keeps them, and what is found there."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from outperform.store.damage import DamagedFit
from outperform.store.meta import find_meta_problem
from outperform.store.rows import decode_json, find_label_problem, find_problem, find_value_problem

_Row = tuple[Any, ...]


@dataclass
class RowChecks:
    """What a look at the rows of a store has found so far."""

    n_measurements: int = 0
    fits: list[DamagedFit] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    _ids: list[int] = field(default_factory=list)  # of the damaged fits
    _tables: set[str] = field(default_factory=set)  # with other damaged rows

    def check_measurements(self, rows: Iterable[_Row]) -> None:
        """Look at the number and all columns of measurements."""
        for number, *row in rows:
            key, pipeline, task, *_ = row
            self.n_measurements += 1
            problem = find_problem(tuple(row))
            if problem is not None:
                self.fits.append(DamagedFit(str(key), str(pipeline), str(task), problem))
                self._ids.append(number)

    def check_labels(self, rows: Iterable[_Row]) -> None:
        """Look at which fits are runs."""
        self._check("run_labels", rows, find_label_problem)

    def check_meta(
        self, rows: Iterable[_Row], translate: Callable[[str, Any], Any] = lambda _, value: value
    ) -> None:
        """Look at what is kept beside the fits, in the words of today."""

        def find(row: _Row) -> str | None:
            problem = find_value_problem(row)
            if problem is not None:
                return problem
            return find_meta_problem(row[0], translate(row[0], decode_json([row[1]])[0]))

        self._check("meta", rows, find)

    def list_removals(self) -> list[str]:
        """SQL that takes what is damaged out of the store."""
        statements = [f"DELETE FROM {table}" for table in sorted(self._tables)]
        if self._ids:
            ids = ", ".join(map(str, self._ids))
            statements.insert(0, f"DELETE FROM measurements WHERE id IN ({ids})")
        return statements

    def _check(self, table: str, rows: Iterable[_Row], find: Callable[[_Row], str | None]) -> None:
        problems = [problem for row in rows if (problem := find(row)) is not None]
        self.problems += problems
        self._tables |= {table} if problems else set()
