"""The formats of a store's file: its tables, what older ones become, and what is no store."""

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

from outperform.errors import NewerStore, NotAStore, StoreError
from outperform.store.damage import report_damage
from outperform.store.meta import use_words_of_today
from outperform.store.rows import (
    CHECKSUMS,
    COLUMNS,
    SET_META,
    add_checksums,
    decode_labels,
    decode_rows,
    decode_value,
    encode_json,
    encode_label,
    encode_value,
)

FORMAT = 3
_FIRST_WITH_CHECKSUMS = 3
_APPLICATION_ID = 0x6F757470  # "outp": tells our files from other SQLite databases
_CHUNK = 2000
_N_OBJECTS = 100  # in a file, that are looked at: ours has five


def _list_statements(version: int) -> list[str]:
    """What makes the tables and indexes of a format."""
    sums = CHECKSUMS if version >= _FIRST_WITH_CHECKSUMS else {}
    checksum = "checksum INTEGER NOT NULL," if sums else ""
    design = "estimator" if version == 1 else "design"
    return [
        f"""CREATE TABLE measurements (
            id INTEGER PRIMARY KEY,  -- the order of recording
            {", ".join(f"{name} {kind}" for name, kind in (COLUMNS | sums).items())},
            UNIQUE (key)
        )""",
        "CREATE INDEX progress ON measurements (pipeline, task, status)",
        f"""CREATE TABLE run_labels (
            {design} TEXT NOT NULL,
            source TEXT NOT NULL,
            replicate INTEGER NOT NULL,
            pipeline TEXT NOT NULL,
            task TEXT NOT NULL,
            key TEXT NOT NULL,
            {checksum}
            PRIMARY KEY ({design}, source, replicate, pipeline, task)
        ) WITHOUT ROWID""",
        f"""CREATE TABLE meta (
            name TEXT PRIMARY KEY, value TEXT NOT NULL{", " + checksum[:-1] if sums else ""}
        ) WITHOUT ROWID""",
    ]


def has_checksums(connection: sqlite3.Connection) -> bool:
    """Whether the format of a store that was checked keeps checksums."""
    return _read_version(connection) >= _FIRST_WITH_CHECKSUMS


def is_empty(connection: sqlite3.Connection) -> bool:
    """Whether a database is as new, perhaps because a run was killed as it made it."""
    (n_objects,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return bool(n_objects == 0)


def check_format(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse what is no store, holds more than a store, or is newer than this outperform."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    version = _read_version(connection)
    if is_empty(connection):
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
    _check_schema(connection, path, version)


def bring_up_to_date(connection: sqlite3.Connection, path: Path) -> None:
    """Make the tables where there are none, and those of today where they are older."""
    if is_empty(connection):
        for statement in _list_statements(FORMAT):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    else:
        for older in range(_read_version(connection), FORMAT):
            _MIGRATIONS[older](connection, path)
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def _read_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check_schema(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Refuse what is not in the format: a trigger may falsify scores, a view may never end."""
    objects = connection.execute(
        # What could do harm first, so that no number of other things hides it.
        "SELECT type, name, sql FROM sqlite_schema ORDER BY sql IS NULL LIMIT ?",
        (_N_OBJECTS,),
    ).fetchall()
    missing = [_strip(statement) for statement in _list_statements(max(1, version))]
    for kind, name, sql in objects:
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


def _rename_estimators(connection: sqlite3.Connection, path: Path) -> None:
    """Make format 2 of format 1, of which only words differ."""
    connection.execute("ALTER TABLE run_labels RENAME COLUMN estimator TO design")
    for row in connection.execute("SELECT * FROM meta").fetchall():
        value = use_words_of_today(row[0], decode_value(row, str(path)))
        connection.execute("UPDATE meta SET value = ? WHERE name = ?", (encode_json(value), row[0]))


def _add_checksums(connection: sqlite3.Connection, path: Path) -> None:
    """Make format 3 of format 2, row by row, none of which may be damaged."""
    tables = ("measurements", "run_labels", "meta")
    connection.execute("DROP INDEX progress")
    for table in tables:
        connection.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    for statement in _list_statements(3):
        connection.execute(statement)
    marks = ", ".join("?" * (1 + len(COLUMNS) + len(CHECKSUMS)))
    some_rows = "SELECT * FROM old_measurements WHERE id > ? ORDER BY id LIMIT ?"
    last = -(2**63)
    while some := connection.execute(some_rows, (last, _CHUNK)).fetchall():
        last = some[-1][0]
        for _ in decode_rows([row[1:] for row in some], str(path)):
            pass
        complete = [(row[0], *add_checksums(row[1:])) for row in some]
        connection.executemany(f"INSERT INTO measurements VALUES ({marks})", complete)
    labels = decode_labels(connection.execute("SELECT * FROM old_run_labels").fetchall(), str(path))
    connection.executemany(
        "INSERT INTO run_labels VALUES (?, ?, ?, ?, ?, ?, ?)", map(encode_label, labels)
    )
    for row in connection.execute("SELECT * FROM old_meta").fetchall():
        connection.execute(SET_META, encode_value(row[0], decode_value(row, str(path))))
    for table in tables:
        connection.execute(f"DROP TABLE old_{table}")


_MIGRATIONS: dict[int, Callable[[sqlite3.Connection, Path], None]] = {
    1: _rename_estimators,
    2: _add_checksums,
}
