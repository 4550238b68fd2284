"""Looking at everything in a store's file: its structure, and every row."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outperform.errors import DamagedStore
from outperform.store.damage import DamagedFit, Verification, report_damage
from outperform.store.meta import find_meta_problem
from outperform.store.rows import decode_json, find_label_problem, find_problem, find_value_problem
from outperform.store.sqlite_errors import explain_failures
from outperform.store.sqlite_file import connect_to_read
from outperform.store.sqlite_format import has_checksums, use_words_of_today

_N_PROBLEMS = 100  # of the structure that are listed
_CHUNK = 1000


def verify_file(path: Path) -> Verification:
    """Look at everything in a store, and say what is damaged and what to do."""
    try:
        with explain_failures(path, "read"), closing(connect_to_read(path)) as connection:
            # What is no text any more is damage to be named, not a reason to stop.
            connection.text_factory = lambda raw: raw.decode(errors="replace")
            look = _Look(connection)
            look.at_everything()
            checksums = has_checksums(connection)
    except DamagedStore as error:
        problem = error.problem.removeprefix(f"'{path}' is damaged: ")
        return Verification(str(path), 0, False, problems=(problem,), advice=_RESTORE.format(path))
    return Verification(
        str(path),
        look.n_measurements,
        checksums,
        tuple(look.fits),
        tuple(look.problems),
        look.advise(path),
    )


def check_structure(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that SQLite finds damaged: rows may be missing, and nobody would notice."""
    (answer,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if answer != "ok":
        raise report_damage(str(path), _join_lines(answer))


# SQLite would take a log that is left there for the copy's own.
_COPY = "Restore a copy (first remove '{0}-wal' and '{0}-shm', if they are there); without one, "
_RESTORE = _COPY + "`sqlite3 {0} .recover` writes out what can still be read"
_DELETE = (
    _COPY + '`sqlite3 {0} "{1}"` removes what is damaged, and '
    "`outperform run STUDY.toml` does it again"
)


@dataclass
class _Look:
    """What a look at a store has found so far."""

    connection: sqlite3.Connection
    n_measurements: int = 0
    fits: list[DamagedFit] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)  # of the damaged fits
    tables: set[str] = field(default_factory=set)  # with other damaged rows
    is_broken: bool = False  # rows cannot be reached, or not by all ways

    def at_everything(self) -> None:
        answers = self.connection.execute(f"PRAGMA integrity_check({_N_PROBLEMS})").fetchall()
        self.problems += [_join_lines(str(answer)) for (answer,) in answers if answer != "ok"]
        self.is_broken = bool(self.problems)
        for row in self._read("measurements"):
            self._take(row)
        self._check_rows("run_labels", find_label_problem)
        self._check_rows("meta", _find_meta_problem)

    def advise(self, path: Path) -> str:
        """What to do; "" where nothing is damaged."""
        if self.is_broken:
            return _RESTORE.format(path)
        statements = [f"DELETE FROM {table}" for table in sorted(self.tables)]
        if self.rows:
            ids = ", ".join(map(str, self.rows))
            statements.insert(0, f"DELETE FROM measurements WHERE id IN ({ids})")
        return _DELETE.format(path, "; ".join(statements)) if statements else ""

    def _take(self, row: tuple[Any, ...]) -> None:
        number, key, pipeline, task, *_ = row
        self.n_measurements += 1
        problem = find_problem(row[1:])
        if problem is not None:
            self.fits.append(DamagedFit(str(key), str(pipeline), str(task), problem))
            self.rows.append(number)

    def _check_rows(self, table: str, find: Callable[[tuple[Any, ...]], str | None]) -> None:
        for row in self._read(table):
            problem = find(row)
            if problem is not None:
                self.problems.append(problem)
                self.tables.add(table)

    def _read(self, table: str) -> Iterator[tuple[Any, ...]]:
        """Rows, as far as they can be reached."""
        try:
            rows = self.connection.execute(f"SELECT * FROM {table}")
            while some := rows.fetchmany(_CHUNK):
                yield from some
        except sqlite3.Error as error:
            self.problems.append(f"the rest of {table} cannot be read: {error}")
            self.is_broken = True


def _find_meta_problem(row: tuple[Any, ...]) -> str | None:
    problem = find_value_problem(row)
    if problem is not None:
        return problem
    name, text, *_ = row
    return find_meta_problem(name, use_words_of_today(name, decode_json([text])[0]))


def _join_lines(answer: str) -> str:
    return ", ".join(answer.splitlines())
