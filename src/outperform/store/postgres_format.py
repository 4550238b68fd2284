"""The tables of a store in PostgreSQL: how they are made and told from another program's."""

from collections.abc import Callable
from typing import Any

import psycopg

from outperform.errors import NewerStore, NotAStore, StoreError
from outperform.store.damage import report_damage
from outperform.store.postgres_connection import execute
from outperform.store.rows import CHECKSUMS, COLUMNS

FORMAT = 1
_TYPES = {"TEXT": "text", "INTEGER": "bigint", "REAL": "double precision"}
_MARK = "outperform_format"  # the table that tells a store
_TIME = "timestamp with time zone"
_ALL = {name: _TYPES[kind.split()[0]] for name, kind in (COLUMNS | CHECKSUMS).items()}
_TABLES = {
    _MARK: "version bigint",
    # The number is the order of recording.
    "measurements": ", ".join(["id bigint", *(f"{name} {kind}" for name, kind in _ALL.items())]),
    "run_labels": "design text, source text, replicate bigint, pipeline text, task text, key text, "
    "checksum bigint",
    "meta": "name text, value text, checksum bigint",
    "lease": "is_only boolean, token text, host text, pid bigint, machine text, "
    f"since {_TIME}, expires {_TIME}",
}
_MORE = (
    f"INSERT INTO {_MARK} VALUES ({FORMAT})",
    "ALTER TABLE measurements ADD PRIMARY KEY (id), ADD UNIQUE (key), "
    "ALTER id ADD GENERATED ALWAYS AS IDENTITY, ALTER error DROP NOT NULL",
    "CREATE INDEX progress ON measurements (pipeline, task, id)",
    "ALTER TABLE run_labels ADD PRIMARY KEY (design, source, replicate, pipeline, task)",
    "ALTER TABLE meta ADD PRIMARY KEY (name)",
    "ALTER TABLE lease ADD PRIMARY KEY (is_only), ADD CHECK (is_only), "
    "ALTER is_only SET DEFAULT true",
)
# Tables, views and what else holds rows, and what makes them say what nobody has written: triggers,
# rules, policies by row, and tables that inherit, whose rows would be read with ours.
_RELATIONS = """SELECT c.relname, c.relkind::text, (
    SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, NULL), ', ' ORDER BY a.attnum)
    FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
), CASE
    WHEN EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid) THEN 'trigger'
    WHEN EXISTS (SELECT FROM pg_rewrite r WHERE r.ev_class = c.oid) THEN 'rule'
    WHEN EXISTS (SELECT FROM pg_inherits i WHERE c.oid IN (i.inhparent, i.inhrelid)) THEN 'relative'
    WHEN c.relrowsecurity THEN 'policy'
END
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relkind NOT IN ('i', 'I', 'S', 't', 'c') ORDER BY c.relname"""
_EXISTS = """SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = %s),
current_setting('server_encoding')"""
_Connection = psycopg.Connection[Any]


def is_empty(connection: _Connection, schema: str) -> bool:
    """Whether there is nothing in a schema, or no such schema."""
    return not execute(connection, _RELATIONS, (schema,)).fetchall()


def check_format(connection: _Connection, shown: str, schema: str) -> None:
    """Refuse what is no store, holds more than a store, or is not of this outperform's format."""
    version = find_version(connection, shown, schema)
    if version < FORMAT:
        raise StoreError(
            f"'{shown}' has format {version}, and this outperform reads {FORMAT}",
            "Let `outperform run` bring it up to date",
        )
    _check_tables(connection, shown, schema)


def bring_up_to_date(connection: _Connection, shown: str, schema: str) -> None:
    """Make the tables of today of older ones, in the transaction that is open."""
    for older in range(find_version(connection, shown, schema), FORMAT):
        MIGRATIONS[older](connection)
    execute(connection, f"UPDATE {_MARK} SET version = {FORMAT} WHERE version < {FORMAT}")
    _check_tables(connection, shown, schema)


def make_tables(connection: _Connection, shown: str, schema: str) -> None:
    """Make a store where there is none, in the transaction that is open."""
    ((is_there, encoding),) = execute(connection, _EXISTS, (schema,)).fetchall()
    if encoding != "UTF8":
        raise StoreError(
            f"the database of '{shown}' keeps text as {encoding}, which cannot hold every name",
            "Make one with `createdb --encoding UTF8 --template template0 NAME`",
        )
    if not is_there:  # or the right to make one would be asked for
        execute(connection, f'CREATE SCHEMA "{schema}"')
    for name, columns in _TABLES.items():
        # Texts sort as bytes, as they do in SQLite.
        own = [each.replace(" text", ' text COLLATE "C"') for each in columns.split(", ")]
        execute(connection, f"CREATE TABLE {name} ({' NOT NULL, '.join(own)} NOT NULL)")
    for statement in _MORE:
        execute(connection, statement)


# What makes the next format of one: at format 1 there is nothing older.
MIGRATIONS: dict[int, Callable[[_Connection], None]] = {}


def find_version(connection: _Connection, shown: str, schema: str) -> int:
    """Format of a store; what is none, or newer than this outperform, is refused."""
    names = [name for name, *_ in execute(connection, _RELATIONS, (schema,)).fetchall()]
    if not names:
        raise StoreError(f"there is no store '{shown}'", "Make it with `outperform run`")
    if _MARK not in names:
        raise NotAStore(
            f"'{shown}' has tables of another program in the schema '{schema}'",
            "Name another schema, as in postgresql://HOST/DATABASE?schema=NAME",
        )
    versions = execute(connection, f"SELECT version FROM {_MARK} LIMIT 2").fetchall()
    if len(versions) != 1:
        raise report_damage(shown, f"it says {len(versions)} times which format it has")
    version = int(versions[0][0])
    if version > FORMAT:
        raise NewerStore(
            f"'{shown}' has format {version}, and this outperform knows {FORMAT} at most",
            "Upgrade with `pip install --upgrade outperform`",
        )
    return version


def _check_tables(connection: _Connection, shown: str, schema: str) -> None:
    """Refuse what is not in the format: a trigger may falsify scores, a view may never end."""
    missing = dict(_TABLES)
    for name, kind, columns, addition in execute(connection, _RELATIONS, (schema,)).fetchall():
        is_other = kind != "r" or name not in missing
        if is_other or addition:
            what = f"a table or view '{name}'" if is_other else f"a {addition} at '{name}'"
            raise NotAStore(
                f"'{shown}' has {what} that outperform did not make",
                "Trust no score in it, and use a copy that nobody else has changed",
            )
        if columns != missing.pop(name):
            raise report_damage(shown, f"the table {name} has other columns: {columns}")
    if missing:
        raise report_damage(shown, f"it lacks the table {next(iter(missing))}")
