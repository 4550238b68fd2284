"""The file of a store, whoever has made it: to open it, copy it, look at everything in it.

It holds our three tables and nothing else: a trigger may falsify scores, a view may never end.

What SQLite and the operating system refuse is said in words that a person can act on.
"""

import errno
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from tempfile import gettempdir
from typing import Any, Literal

from outperform.errors import (
    DamagedStore,
    DiskFull,
    NotAStore,
    OutperformError,
    StoreError,
    StoreInUse,
)
from outperform.store.damage import Verification, report_damage
from outperform.store.rows import CHECKSUMS, COLUMNS, SET_META, check_rows, encode_value
from outperform.store.store import check_version

_FORMAT = 3
_APPLICATION_ID = 0x6F757470  # "outp": tells our files from other SQLite databases
_N_OBJECTS = 100  # in a file, that are looked at: ours has five
_STATEMENTS = (  # which make the tables and indexes
    f"""CREATE TABLE measurements (
            id INTEGER PRIMARY KEY,  -- the order of recording
            {", ".join(f"{name} {kind}" for name, kind in (COLUMNS | CHECKSUMS).items())},
            UNIQUE (key)
        )""",
    "CREATE INDEX progress ON measurements (pipeline, task, status)",
    """CREATE TABLE run_labels (
            design TEXT NOT NULL,
            source TEXT NOT NULL,
            replicate INTEGER NOT NULL,
            pipeline TEXT NOT NULL,
            task TEXT NOT NULL,
            key TEXT NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (design, source, replicate, pipeline, task)
        ) WITHOUT ROWID""",
    """CREATE TABLE meta (
            name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL
        ) WITHOUT ROWID""",
)
LARGEST = 16 * 2**20  # bytes of a value, so that no store of another's making fills the memory
_NO_ROOM = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_IOERR")
_OWNER_ONLY = 0o600  # errors may hold command lines, and those a token
_NO_TEXT = "Could not decode to UTF-8"  # Python's words, not SQLite's
_SCRATCH_BYTES = 64 * 1024  # SQLite needs about this much beside the store to write at all
_N_PROBLEMS = 100  # of the structure that are listed
_CHUNK = 1000
# SQLite would take a log that is left there for the copy's own.
_COPY = "restore a copy (first remove '{0}-wal' and '{0}-shm', if they are there); without one, "
_RESTORE = _COPY + "`sqlite3 {0} .recover` writes out what can still be read"
_DELETE = (
    _COPY + '`sqlite3 {0} "{1}"` removes what is damaged, and '
    "`outperform run STUDY.toml` does it again"
)


def connect_to_write(path: Path, *, writer: str) -> sqlite3.Connection:
    """Open a store for its single writer, durably; it is made where there is none."""
    with suppress(FileExistsError):
        _make_private(find_real_path(path))
    connection = _connect(path, "rw")
    try:
        is_new = _is_empty(connection)
        if not is_new:
            _check_format(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")  # the writer transfers by itself
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # macOS needs to be told twice
        # In one transaction: a run killed here leaves the file as it was, or a whole store. There
        # is always something to write, because SQLite opens what cannot be written all the same.
        connection.execute("BEGIN IMMEDIATE")
        if is_new:
            for statement in _STATEMENTS:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {_FORMAT}")
        connection.execute(SET_META, encode_value("writer", writer))
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a store that is there, for reading only."""
    check_place(path)
    if not path.exists():
        raise StoreError(f"there is no store '{path}'", "Make it with `outperform run`")
    try:
        # Not "ro", with which SQLite cannot clear away its own files afterwards.
        return _connect_to_read(path, "rw")
    except sqlite3.OperationalError as error:
        # Python's own errors, as of text in the schema that is none, have no name.
        unwritable = getattr(error, "sqlite_errorname", "").startswith(_NO_ROOM)
        log = Path(f"{find_real_path(path)}-wal")
        if not unwritable or (log.exists() and log.stat().st_size > 0):
            raise
        # A folder that cannot be written has no place for SQLite's own files beside the store;
        # with all changes in the store itself, it can be read as it stands.
        return _connect_to_read(path, "ro&immutable=1")


def find_real_path(path: Path) -> Path:
    """Where the file itself is, whatever links lead to it."""
    return Path(os.path.realpath(path))


def check_place(path: Path) -> None:
    """Refuse a folder, what is no regular file, and a file in a folder that is not there."""
    if path.is_dir():
        raise NotAStore(f"'{path}' is a folder", "Name a file, such as study.db in that folder")
    if path.exists() and not path.is_file():  # SQLite would wait for a pipe, and for ever
        raise NotAStore(
            f"'{path}' is no regular file, but a pipe or a device",
            "Name a store that `outperform run` has made",
        )
    if not path.parent.is_dir():
        raise StoreError(f"there is no folder '{path.parent}'", "Make it, or name another")


def copy_database(source: sqlite3.Connection, path: Path) -> None:
    """Copy all that a connection sees, in one moment, into a file that is not there yet."""
    _make_private(path)
    try:
        with closing(_connect(path, "rw")) as copy:
            source.backup(copy)
    except BaseException:
        path.unlink()
        raise


def rescue_database(source: sqlite3.Connection, path: Path) -> Path:
    """Copy a database whose file is gone: beside its place, or wherever there is a folder."""
    folders = (path.parent, Path(), Path(gettempdir()))
    for folder in (each for each in folders if each.is_dir()):
        for i in count(1):
            file = folder / f"{path.stem}.rescued{'' if i == 1 else f'-{i}'}{path.suffix}"
            try:
                copy_database(source, file)
                return file
            except FileExistsError:
                continue
            except (OSError, sqlite3.Error):  # no room, or no right to write
                break
    raise StoreError(
        f"'{path}' is gone while a run wrote it, and nowhere was room to rescue it",
        "Run the study again",
    )


def _make_private(path: Path) -> None:
    """Make an empty file that its owner alone may read; SQLite makes its others alike.

    No link is followed, so nothing is overwritten.
    """
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _OWNER_ONLY))


def _connect_to_read(path: Path, mode: str) -> sqlite3.Connection:
    connection = _connect(path, mode)
    try:
        connection.execute("PRAGMA query_only = ON")
        _check_format(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open a file that may be of anybody's making: nothing in it is run."""
    # A URI quotes what a file name may hold and SQLite would take as options.
    uri = f"{find_real_path(path).as_uri()}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=10)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
    return connection


def _is_empty(connection: sqlite3.Connection) -> bool:
    """Whether a database is as new, perhaps because a run was killed as it made it."""
    (n_objects,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return bool(n_objects == 0)


def _check_format(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse what is no store, has another format, or holds more than a store."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if _is_empty(connection):
        raise StoreError(
            f"'{path}' holds nothing yet: the run that made it stopped as it began",
            "Run the study again",
        )
    if application != _APPLICATION_ID:
        raise NotAStore(
            f"'{path}' is an SQLite database of another program",
            "Name a store that `outperform run` has made",
        )
    check_version(str(path), version, _FORMAT)
    # What could do harm first, so that no number of other things hides it.
    query = "SELECT type, name, sql FROM sqlite_schema ORDER BY sql IS NULL LIMIT ?"
    missing = [*map(_strip, _STATEMENTS)]
    for kind, name, sql in connection.execute(query, (_N_OBJECTS,)).fetchall():
        if sql is None and kind == "index":  # SQLite's own, of a key
            continue
        if _strip(str(sql)) not in missing:
            raise NotAStore(
                f"'{path}' has format {version} and a {kind} '{name}' that outperform did not make",
                "Trust no score in it, and use a copy that nobody else has changed",
            )
        missing.remove(_strip(str(sql)))
    if missing:
        raise report_damage(str(path), f"it lacks what this makes: {missing[0]}")


def _strip(statement: str) -> str:
    """A statement without comments and spaces, which differ between those who wrote it."""
    return re.sub(r"\s*([(),])\s*|\s+", r"\1 ", re.sub(r"--[^\n]*", "", statement)).strip()


@contextmanager
def explain_failures(path: Path, attempt: Literal["read", "written"]) -> Iterator[None]:
    """Turn errors about a store's file into ours."""
    try:
        yield
    except OutperformError:
        raise
    except UnicodeDecodeError as error:  # of SQLite's own words, which quote the file
        raise report_damage(str(path), "a text in it is no text any more") from error
    except (sqlite3.Error, OSError) as error:
        raise _explain(error, path, attempt) from error


def _explain(error: sqlite3.Error | OSError, path: Path, attempt: str) -> OutperformError:
    # Extended codes, SQLITE_IOERR_WRITE and the like, begin with the name of their family.
    name = getattr(error, "sqlite_errorname", "")
    if _is_full(error, name, path):
        return DiskFull(
            f"no space is left for '{path}'",
            "Free some and run again: all that was recorded is safe",
        )
    if name.startswith("SQLITE_NOTADB"):
        return NotAStore(
            f"'{path}' is not a store of measurements",
            "Name a store that `outperform run` has made",
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreInUse(f"another program is writing '{path}'", "Close it and try again")
    if name.startswith("SQLITE_CORRUPT") or _NO_TEXT in str(error):
        return report_damage(str(path), str(error) if name else "a text in it is no text any more")
    if name.startswith("SQLITE_TOOBIG"):
        return StoreError(
            f"'{path}' cannot be {attempt}: a value is larger than {LARGEST // 2**20} MiB",
            "Keep large things in files of their own, and only their names in a store",
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")) or not name:
        return StoreError(
            f"'{path}' cannot be {attempt}: {getattr(error, 'strerror', None) or error}",
            "Check the permissions of the file and of its folder, or copy it elsewhere",
        )
    return StoreError(f"'{path}' cannot be {attempt}: {error}", "Check the disk and try again")


def _is_full(error: sqlite3.Error | OSError, name: str, path: Path) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    if name.startswith("SQLITE_FULL"):
        return True
    # Where it cannot make room for its own files, SQLite speaks of input and output only.
    too_little = shutil.disk_usage(path.parent).free < _SCRATCH_BYTES
    return name.startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN")) and too_little


def verify_file(path: Path) -> Verification:
    """Look at everything in a store, and say what is damaged and what to do."""
    try:
        with explain_failures(path, "read"), closing(connect_to_read(path)) as connection:
            return _verify(connection, path)
    except DamagedStore as error:
        problem = error.problem.removeprefix(f"'{path}' is damaged: ")
        return Verification(str(path), 0, problems=(problem,), advice=_RESTORE.format(path))


def _verify(connection: sqlite3.Connection, path: Path) -> Verification:
    # What is no text any more is damage to be named, not a reason to stop.
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    answers = connection.execute(f"PRAGMA integrity_check({_N_PROBLEMS})").fetchall()
    problems = [_join_lines(str(answer)) for (answer,) in answers if answer != "ok"]
    is_broken = bool(problems)  # rows cannot be reached, or not by all ways

    def read(table: str) -> Iterator[tuple[Any, ...]]:
        """Rows, as far as they can be reached."""
        nonlocal is_broken
        try:
            rows = connection.execute(f"SELECT * FROM {table}")
            while some := rows.fetchmany(_CHUNK):
                yield from some
        except sqlite3.Error as error:
            problems.append(f"the rest of {table} cannot be read: {error}")
            is_broken = True

    n_fits, fits, removals = check_rows(read, problems)
    advice = _DELETE.format(path, "; ".join(removals)) if removals else ""
    advice = _RESTORE.format(path) if is_broken else advice
    return Verification(str(path), n_fits, fits, tuple(problems), advice)


def check_structure(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that SQLite finds damaged: rows may be missing, and nobody would notice."""
    (answer,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if answer != "ok":
        raise report_damage(str(path), _join_lines(answer))


def _join_lines(answer: str) -> str:
    return ", ".join(answer.splitlines())
