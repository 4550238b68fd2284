"""Opening the file of a store, and refusing what is none."""

import sqlite3
from pathlib import Path

from outperform.errors import NewerStore, NotAStore, StoreError
from outperform.store.rows import COLUMNS

SCHEMA_VERSION = 1
_APPLICATION_ID = 0x6F757470  # "outp": tells our files from other SQLite databases
_NO_ROOM = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_IOERR")
_SCHEMA = f"""
CREATE TABLE measurements (
    id INTEGER PRIMARY KEY,  -- the order of recording
    {", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())},
    UNIQUE (key)
);
CREATE INDEX progress ON measurements (pipeline, task, status);
CREATE TABLE run_labels (
    design TEXT NOT NULL,
    source TEXT NOT NULL,
    replicate INTEGER NOT NULL,
    pipeline TEXT NOT NULL,
    task TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (design, source, replicate, pipeline, task)
) WITHOUT ROWID;
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
PRAGMA application_id = {_APPLICATION_ID};
"""


def connect_to_write(path: Path) -> sqlite3.Connection:
    """Open a store for its single writer, durably; it is made where there is none."""
    connection = _connect(path, "rwc")
    try:
        if not _is_empty(connection):
            _check_format(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # macOS needs to be told twice
        # In one transaction: a run killed here leaves an empty file or a whole store. There is
        # always something to write, because SQLite opens what cannot be written all the same.
        schema = _SCHEMA if _is_empty(connection) else ""
        version = f"PRAGMA user_version = {SCHEMA_VERSION};"
        connection.executescript(f"BEGIN IMMEDIATE; {schema} {version} COMMIT;")
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
        unwritable = error.sqlite_errorname.startswith(_NO_ROOM)
        if not unwritable or _has_pending_changes(path):
            raise
        # A folder that cannot be written has no place for SQLite's own files beside the store;
        # with all changes in the store itself, it can be read as it stands.
        return _connect_to_read(path, "ro&immutable=1")


def check_place(path: Path) -> None:
    """Refuse a folder, and a file in a folder that is not there."""
    if path.is_dir():
        raise NotAStore(f"'{path}' is a folder", "Name a file, such as study.db in that folder")
    if not path.parent.is_dir():
        raise StoreError(f"there is no folder '{path.parent}'", "Make it, or name another")


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
    # A URI quotes what a file name may hold and SQLite would take as options.
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=10)


def _is_empty(connection: sqlite3.Connection) -> bool:
    """Whether a database is as new, perhaps because a run was killed as it made it."""
    (n_tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return bool(n_tables == 0)


def _has_pending_changes(path: Path) -> bool:
    log = Path(f"{path}-wal")
    return log.exists() and log.stat().st_size > 0


def _check_format(connection: sqlite3.Connection, path: Path) -> None:
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
    if version > SCHEMA_VERSION:
        raise NewerStore(
            f"'{path}' has format {version}, and this outperform knows {SCHEMA_VERSION} at most",
            "Upgrade with `pip install --upgrade outperform`",
        )
