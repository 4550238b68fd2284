"""The database of a PostgreSQL store: its connection, its tables and texts, and its errors."""

import logging
import time
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeVar

import psycopg

from outperform.errors import DiskFull, NotAStore, OutperformError, StoreError
from outperform.store.damage import report_damage
from outperform.store.postgres_address import PostgresAddress
from outperform.store.rows import CHECKSUMS, COLUMNS, Rows
from outperform.store.store import check_version

# It warns of connections that are lost, which are made anew or told in our own words.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

Connection = psycopg.Connection[Any]
Attempt = Literal["read", "written"]
T = TypeVar("T")

_PAUSE = 0.2  # seconds between two attempts to reach a server that was there a moment ago
# Where an address does not say otherwise: a network that is cut is noticed, within a minute.
_DEFAULTS = {
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 50_000,
}
# Whatever the server's own are; commits wait for the disk, or for more where it says so. A writer
# that is stopped in the midst of a transaction would keep all others out.
_SETTINGS = """SET search_path TO "{schema}"; SET client_encoding TO 'UTF8';
SET extra_float_digits TO 1; SET statement_timeout TO 0; SET lock_timeout TO 0;
SET default_transaction_isolation TO 'read committed';
SET idle_in_transaction_session_timeout TO '{patience}ms';
SELECT set_config('synchronous_commit', 'on', false)
WHERE current_setting('synchronous_commit') = 'off'"""
_ENDED = ("08", "57P", "25P03")  # SQLSTATEs of a server that ends, crashes, or ends a connection
_SOON = ("starting up", "shutting down", "in recovery mode", "not yet accepting")
_SUBSTITUTE = "\x1a"  # the control character called "substitute"
_FORMAT = 1
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
    f"INSERT INTO {_MARK} VALUES ({_FORMAT})",
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


def execute(connection: Connection, query: str, values: Any = None) -> psycopg.Cursor[Any]:
    """Run a query that outperform has put together."""
    return connection.execute(query.encode(), values)


class Session:
    """One connection at a time, for one thread.

    For `patience` seconds, a server that was reached before is waited for. After `idle_seconds` it
    ends a transaction that nobody goes on with; 0 for never.
    """

    def __init__(self, address: PostgresAddress, patience: float, idle_seconds: float) -> None:
        self.address, self._patience = address, patience
        idle = int(1000 * idle_seconds)
        self._settings = _SETTINGS.format(schema=address.schema, patience=idle)
        self._connection: Connection | None = None
        self._was_reached = False

    def run(self, work: Callable[[Connection], T], attempt: Attempt = "read") -> T:
        """Do some work, anew on another connection where one was lost on the way."""
        until: float | None = None
        while True:
            try:
                return work(self._connect())
            except psycopg.Error as error:
                if not self._is_lost(error):
                    raise self._explain(error, attempt) from self._find_cause(error)
                self.close()
                until = time.monotonic() + self._patience if until is None else until
                if time.monotonic() >= until:
                    raise self._give_up(error, attempt) from self._find_cause(error)
                time.sleep(_PAUSE)
            except OutperformError:
                raise
            except BaseException:  # Ctrl-C in the midst of a query
                self.close()
                raise

    def close(self) -> None:
        """Let go of the server; the next work reaches for it again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _connect(self) -> Connection:
        if self._connection is None:
            own = self.address.parameters
            settings = {name: value for name, value in _DEFAULTS.items() if name not in own}
            self._connection = psycopg.connect(
                self.address.conninfo,
                autocommit=True,
                fallback_application_name="outperform",
                **settings,  # type: ignore[arg-type]
            )
            execute(self._connection, self._settings)
            self._was_reached = True
        return self._connection

    def _is_lost(self, error: psycopg.Error) -> bool:
        if self._connection is None:
            soon = any(words in str(error) for words in _SOON)
            return isinstance(error, psycopg.OperationalError) and (self._was_reached or soon)
        return self._connection.closed or (error.sqlstate or "").startswith(_ENDED)

    def _explain(self, error: psycopg.Error, attempt: Attempt) -> OutperformError:
        shown, code, words = self.address.shown, error.sqlstate or "", self._quote(error)
        if self._connection is None:
            return StoreError(
                f"'{shown}' cannot be reached: {words}",
                "Start the server, or mend the address; passwords are found in ~/.pgpass and "
                "PGPASSWORD",
            )
        if code == "53100":
            return DiskFull(
                f"no space is left for '{shown}'",
                "Free some and run again: all that was recorded is safe",
            )
        if code.startswith("XX"):  # of the server's own files
            return report_damage(shown, words)
        if code in ("42501", "25006"):
            return StoreError(
                f"'{shown}' cannot be {attempt}: {words}",
                "Ask the owner of the database for the right, or name another user",
            )
        return StoreError(f"'{shown}' cannot be {attempt}: {words}", "Mend that, and try again")

    def _give_up(self, error: psycopg.Error, attempt: Attempt) -> StoreError:
        since = f" for {self._patience:g} seconds" if self._patience else ""
        return StoreError(
            f"'{self.address.shown}' cannot be {attempt}: the server was not reached{since} "
            f"({self._quote(error)})",
            "Start it again; the same command resumes, and all that was recorded is safe",
        )

    def _quote(self, error: psycopg.Error) -> str:
        """What a server or its library says, on one line, unless that gives a password away."""
        words = error.diag.message_primary or " ".join(str(error).split())
        if self.address.holds_secret(words):
            return "what it says holds the password, and is not shown"
        return words.strip().rstrip(".?")

    def _find_cause(self, error: psycopg.Error) -> psycopg.Error | None:
        """The error itself, for a traceback, unless that gives a password away."""
        return None if self.address.holds_secret(str(error)) else error


def write_texts(values: Iterable[Any]) -> tuple[Any, ...]:
    r"""Values of a row with a substitute for every zero.

    Examples
    --------
    >>> write_texts(["a\0b", 1])
    ('a\x1a0b', 1)
    """
    return tuple(
        each.replace(_SUBSTITUTE, f"{_SUBSTITUTE}1").replace("\0", f"{_SUBSTITUTE}0")
        if isinstance(each, str)
        else each
        for each in values
    )


def read_texts(rows: Rows) -> Rows:
    r"""Rows as they were before `write_texts`.

    Examples
    --------
    >>> read_texts([write_texts(["a\0b\x1a0", 1])])
    [('a\x00b\x1a0', 1)]
    """
    if any(map(_has_mark, zip(*rows, strict=True))):
        return [tuple(_read(each) if isinstance(each, str) else each for each in r) for r in rows]
    return rows


def _has_mark(column: tuple[Any, ...]) -> bool:
    """Whether any text of a column has a substitute, found much faster than one by one."""
    return isinstance(column[0], str | None) and _SUBSTITUTE in "".join(filter(None, column))


def _read(text: str) -> str:
    return text.replace(f"{_SUBSTITUTE}0", "\0").replace(f"{_SUBSTITUTE}1", _SUBSTITUTE)


def is_empty(connection: Connection, address: PostgresAddress) -> bool:
    """Whether there is nothing in a schema, or no such schema."""
    return not execute(connection, _RELATIONS, (address.schema,)).fetchall()


def make_tables(connection: Connection, address: PostgresAddress) -> None:
    """Make a store where there is none, in the transaction that is open."""
    ((is_there, encoding),) = execute(connection, _EXISTS, (address.schema,)).fetchall()
    if encoding != "UTF8":
        raise StoreError(
            f"the database of '{address.shown}' keeps text as {encoding}, which cannot hold every "
            "name",
            "Make one with `createdb --encoding UTF8 --template template0 NAME`",
        )
    if not is_there:  # or the right to make one would be asked for
        execute(connection, f'CREATE SCHEMA "{address.schema}"')
    for name, columns in _TABLES.items():
        # Texts sort as bytes, as they do in SQLite.
        own = [each.replace(" text", ' text COLLATE "C"') for each in columns.split(", ")]
        execute(connection, f"CREATE TABLE {name} ({' NOT NULL, '.join(own)} NOT NULL)")
    for statement in _MORE:
        execute(connection, statement)


def check_format(connection: Connection, address: PostgresAddress) -> None:
    """Refuse what is no store, has another format, or holds more than a store.

    A trigger may falsify scores, a view may never end.
    """
    relations = execute(connection, _RELATIONS, (address.schema,)).fetchall()
    if not relations:
        raise StoreError(f"there is no store '{address.shown}'", "Make it with `outperform run`")
    if _MARK not in {name for name, *_ in relations}:
        raise NotAStore(
            f"'{address.shown}' has tables of another program in the schema '{address.schema}'",
            "Name another schema, as in postgresql://HOST/DATABASE?schema=NAME",
        )
    versions = execute(connection, f"SELECT version FROM {_MARK} LIMIT 2").fetchall()
    if len(versions) != 1:
        raise report_damage(address.shown, f"it says {len(versions)} times which format it has")
    check_version(address.shown, int(versions[0][0]), _FORMAT)
    missing = dict(_TABLES)
    for name, kind, columns, addition in relations:
        is_other = kind != "r" or name not in missing
        if is_other or addition:
            what = f"a table or view '{name}'" if is_other else f"a {addition} at '{name}'"
            raise NotAStore(
                f"'{address.shown}' has {what} that outperform did not make",
                "Trust no score in it, and use a copy that nobody else has changed",
            )
        if columns != missing.pop(name):
            raise report_damage(address.shown, f"the table {name} has other columns: {columns}")
    if missing:
        raise report_damage(address.shown, f"it lacks the table {next(iter(missing))}")
