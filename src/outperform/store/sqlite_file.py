"""Opening the file of a store: its format, what older formats become, and what is no store."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from outperform.errors import NewerStore, NotAStore, StoreError
from outperform.store.rows import COLUMNS, decode_json, encode_json

FORMAT = 2
_APPLICATION_ID = 0x6F757470  # "outp": tells our files from other SQLite databases
_NO_ROOM = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_IOERR")
_TABLES = (
    f"""CREATE TABLE measurements (
        id INTEGER PRIMARY KEY,  -- the order of recording
        {", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())},
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
        PRIMARY KEY (design, source, replicate, pipeline, task)
    ) WITHOUT ROWID""",
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    f"PRAGMA application_id = {_APPLICATION_ID}",
)
SET_META = "INSERT OR REPLACE INTO meta VALUES (?, ?)"


def connect_to_write(path: Path, *, writer: str) -> sqlite3.Connection:
    """Open a store for its single writer, durably.

    It is made where there is none, and brought to the format of today where it is older.
    """
    connection = _connect(path, "rwc")
    try:
        version = None if _is_empty(connection) else _check_format(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # macOS needs to be told twice
        # In one transaction: a run killed here leaves the file as it was, or a whole store. There
        # is always something to write, because SQLite opens what cannot be written all the same.
        connection.execute("BEGIN IMMEDIATE")
        for statement in _TABLES if version is None else ():
            connection.execute(statement)
        for older in range(version or FORMAT, FORMAT):
            _MIGRATIONS[older](connection)
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute(SET_META, ("writer", encode_json(writer)))
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


def use_words_of_today(name: str, value: Any) -> Any:
    """What is kept under a name, as this format words it: format 1 called designs estimators."""
    if name != "study" or "estimators" not in value:
        return value
    words = {"estimators": "kinds", "design": "settings"}
    study = {words.get(word, word): part for word, part in value.items()}
    if "designs" in study:
        study["designs"] = [
            {"design" if word == "estimator" else word: part for word, part in design.items()}
            for design in study["designs"]
        ]
    return study


def _rename_estimators(connection: sqlite3.Connection) -> None:
    """Make format 2 of format 1, of which only words differ."""
    connection.execute("ALTER TABLE run_labels RENAME COLUMN estimator TO design")
    for name, text in connection.execute("SELECT name, value FROM meta").fetchall():
        value = use_words_of_today(name, decode_json([text])[0])
        connection.execute(SET_META, (name, encode_json(value)))


_MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {1: _rename_estimators}


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


def _check_format(connection: sqlite3.Connection, path: Path) -> int:
    """Format of a store; what is none, or is newer than this outperform, is refused."""
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
    if version > FORMAT:
        raise NewerStore(
            f"'{path}' has format {version}, and this outperform knows {FORMAT} at most",
            "Upgrade with `pip install --upgrade outperform`",
        )
    return int(version)
