"""Looking at everything in a store's file: its structure, and every row."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from outperform.errors import DamagedStore
from outperform.store.damage import Verification, report_damage
from outperform.store.row_checks import RowChecks
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
            found = look.at_everything()
            checksums = has_checksums(connection)
    except DamagedStore as error:
        problem = error.problem.removeprefix(f"'{path}' is damaged: ")
        return Verification(str(path), 0, False, problems=(problem,), advice=_RESTORE.format(path))
    return Verification(
        str(path),
        found.n_measurements,
        checksums,
        tuple(found.fits),
        tuple(found.problems),
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


class _Look:
    """What a look at a store has found so far."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.checks = RowChecks()
        self.is_broken = False  # rows cannot be reached, or not by all ways

    def at_everything(self) -> RowChecks:
        answers = self.connection.execute(f"PRAGMA integrity_check({_N_PROBLEMS})").fetchall()
        problems = [_join_lines(str(answer)) for (answer,) in answers if answer != "ok"]
        self.checks.problems += problems
        self.is_broken = bool(problems)
        self.checks.check_measurements(self._read("measurements"))
        self.checks.check_labels(self._read("run_labels"))
        self.checks.check_meta(self._read("meta"), use_words_of_today)
        return self.checks

    def advise(self, path: Path) -> str:
        """What to do; "" where nothing is damaged."""
        if self.is_broken:
            return _RESTORE.format(path)
        statements = self.checks.list_removals()
        return _DELETE.format(path, "; ".join(statements)) if statements else ""

    def _read(self, table: str) -> Iterator[tuple[Any, ...]]:
        """Rows, as far as they can be reached."""
        try:
            rows = self.connection.execute(f"SELECT * FROM {table}")
            while some := rows.fetchmany(_CHUNK):
                yield from some
        except sqlite3.Error as error:
            self.checks.problems.append(f"the rest of {table} cannot be read: {error}")
            self.is_broken = True


def _join_lines(answer: str) -> str:
    return ", ".join(answer.splitlines())
