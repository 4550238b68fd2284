"""Opening the file of a store, whoever has made it, and copying it."""

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from tempfile import gettempdir

from outperform.errors import NotAStore, StoreError
from outperform.store.rows import encode_value
from outperform.store.sqlite_format import SET_META, bring_up_to_date, check_format, is_empty

LARGEST = 16 * 2**20  # bytes of a value, so that no store of another's making fills the memory
_NO_ROOM = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_IOERR")
_OWNER_ONLY = 0o600  # errors may hold command lines, and those a token


def connect_to_write(path: Path, *, writer: str) -> sqlite3.Connection:
    """Open a store for its single writer, durably.

    It is made where there is none, and brought to the format of today where it is older.
    """
    with suppress(FileExistsError):
        _make_private(find_real_path(path))
    connection = _connect(path, "rw")
    try:
        if not is_empty(connection):
            check_format(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")  # the writer transfers by itself
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # macOS needs to be told twice
        # In one transaction: a run killed here leaves the file as it was, or a whole store. There
        # is always something to write, because SQLite opens what cannot be written all the same.
        connection.execute("BEGIN IMMEDIATE")
        bring_up_to_date(connection, path)
        connection.execute(SET_META, encode_value("writer", writer))
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a store that is there, for reading only; an older format stays as it is."""
    check_place(path)
    if not path.exists():
        raise StoreError(f"there is no store '{path}'", "Make it with `outperform run`")
    try:
        # Not "ro", with which SQLite cannot clear away its own files afterwards.
        return _connect_to_read(path, "rw")
    except sqlite3.OperationalError as error:
        # Python's own errors, as of text in the schema that is none, have no name.
        unwritable = getattr(error, "sqlite_errorname", "").startswith(_NO_ROOM)
        if not unwritable or _has_pending_changes(path):
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
        for file in _name_rescued(folder, path):
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


def _name_rescued(folder: Path, path: Path) -> Iterator[Path]:
    for i in count(1):
        yield folder / f"{path.stem}.rescued{'' if i == 1 else f'-{i}'}{path.suffix}"


def _make_private(path: Path) -> None:
    """Make an empty file that its owner alone may read; SQLite makes its others alike.

    No link is followed, so nothing is overwritten.
    """
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _OWNER_ONLY))


def _connect_to_read(path: Path, mode: str) -> sqlite3.Connection:
    connection = _connect(path, mode)
    try:
        connection.execute("PRAGMA query_only = ON")
        check_format(connection, path)
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


def _has_pending_changes(path: Path) -> bool:
    log = Path(f"{find_real_path(path)}-wal")
    return log.exists() and log.stat().st_size > 0
