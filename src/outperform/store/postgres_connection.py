"""A connection to a PostgreSQL server that is made anew where it was lost, and its errors."""

import logging
import time
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import psycopg

from outperform.errors import DiskFull, OutperformError, StoreError
from outperform.store.damage import report_damage
from outperform.store.postgres_address import PostgresAddress

# It warns of connections that are lost, which are made anew or told in our own words.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

Rows = list[tuple[Any, ...]]
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


def execute(
    connection: psycopg.Connection[Any], query: str, values: Any = None
) -> psycopg.Cursor[Any]:
    """Run a query that outperform has put together."""
    return connection.execute(query.encode(), values)


class Session:
    """One connection at a time, for one thread.

    Parameters
    ----------
    patience
        Seconds for which a server that was reached before is waited for.
    idle_seconds
        After which the server ends a transaction that nobody goes on with; 0 for never.
    """

    def __init__(self, address: PostgresAddress, patience: float, idle_seconds: float) -> None:
        self.address, self._patience = address, patience
        idle = int(1000 * idle_seconds)
        self._settings = _SETTINGS.format(schema=address.schema, patience=idle)
        self._connection: psycopg.Connection[Any] | None = None
        self._was_reached = False

    def run(self, work: Callable[[psycopg.Connection[Any]], T], attempt: Attempt = "read") -> T:
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

    def _connect(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            settings = {
                name: value
                for name, value in _DEFAULTS.items()
                if name not in self.address.parameters
            }
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
