"""The one writer of a store in PostgreSQL: its lease, and transactions that nobody else's mix with.

A lease is a row that is renewed on the clock of the database, by a thread with a connection of its
own. Every transaction of the writer makes sure that the lease is its own, until it has ended:
who was stopped, and replaced meanwhile, writes nothing.
"""

import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from outperform.errors import OutperformError, StoreInUse
from outperform.store.postgres_database import (
    Connection,
    Session,
    check_format,
    execute,
    is_empty,
    make_tables,
)
from outperform.store.store import report_writer

T = TypeVar("T")

_ONE_BY_ONE = "SELECT pg_advisory_xact_lock(hashtextextended('outperform ' || %s, 0))"
_WHO = """'process ' || pid || ' on ' || host || ' since ' ||
to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC'"""
_LEASE = f"SELECT {_WHO}, token, expires > clock_timestamp(), pid, machine FROM lease"
_TAKE = """INSERT INTO lease (token, host, pid, machine, since, expires) VALUES
(%s, %s, %s, %s, clock_timestamp(), clock_timestamp() + make_interval(secs => %s))"""
_RENEW = """UPDATE lease SET expires = clock_timestamp() + make_interval(secs => %s)
WHERE token = %s"""
# A lock that keeps others from taking it, and does not make renewals wait.
_FENCE = "SELECT pg_current_xact_id()::text FROM lease WHERE token = %s FOR KEY SHARE"
_FATE = "SELECT pg_xact_status(%s::xid8)"
_GIVE_BACK = "DELETE FROM lease WHERE token = %s"
_RENEWALS = 6  # within the time of a lease
_FAREWELL = 5.0  # seconds that a server which is away is waited for at the end
_PAUSE = 0.05  # seconds between two questions what became of a transaction


class PostgresWriter:
    """Writes, and renews its lease until it is closed, by a thread with a session of its own.

    One that does not renew its lease for so many seconds may be replaced.
    """

    def __init__(self, session: Session, renewing: Session, lease_seconds: float) -> None:
        self._session, self._seconds = session, lease_seconds
        self._token = secrets.token_hex(16)
        session.run(self._take, "written")
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._hold, args=(renewing,), daemon=True)
        self._thread.start()

    def write(self, work: Callable[[Connection], T]) -> T:
        """Do some work in one transaction, once, whatever becomes of the connection."""
        committing: tuple[str, T] | None = None

        def attempt(connection: Connection) -> T:
            nonlocal committing
            if committing is not None and _was_committed(connection, committing[0]):
                return committing[1]
            committing = None
            with connection.transaction():
                fence = execute(connection, _FENCE, (self._token,)).fetchone()
                if fence is None:
                    writer = find_holder(connection) or "another run, which has ended since"
                    raise StoreInUse(
                        f"'{self._session.address.shown}' is being written by {writer}: this run "
                        f"did not renew its lease of {self._seconds:g} seconds, and was replaced",
                        "Let that one go on: all that this one has recorded is there",
                    )
                result = work(connection)
                committing = fence[0], result
            return result

        return self._session.run(attempt, "written")

    def close(self) -> None:
        """Let others write, at once where the server is there."""
        self._ended.set()
        self._thread.join(_FAREWELL)

    def _take(self, connection: Connection) -> None:
        """Make the store where there is none, and this writer its only one."""
        address = self._session.address
        with connection.transaction():
            execute(connection, _ONE_BY_ONE, (address.schema,))
            if is_empty(connection, address):
                make_tables(connection, address)
            check_format(connection, address)
            for query in (_LEASE, f"{_LEASE} FOR UPDATE"):  # waits for what its holder has begun
                holder = _find_holder(connection, query, self._token)
                if holder is not None:
                    raise report_writer(address.shown, holder)
            execute(connection, "DELETE FROM lease")
            process = (socket.gethostname(), os.getpid(), _identify_machine())
            execute(connection, _TAKE, (self._token, *process, self._seconds))

    def _hold(self, session: Session) -> None:
        """Renew the lease until the end, and give it back."""
        renewal, farewell = (self._seconds, self._token), (self._token,)
        while not self._ended.wait(self._seconds / _RENEWALS):
            with suppress(OutperformError):  # a server that is away is tried again
                session.run(lambda connection: execute(connection, _RENEW, renewal), "written")
        with suppress(OutperformError):  # it expires by itself
            session.run(lambda connection: execute(connection, _GIVE_BACK, farewell), "written")
        session.close()


def find_holder(connection: Connection) -> str | None:
    """Who has the lease of a store; None where nobody has, or there is no store."""
    (table,) = execute(connection, "SELECT to_regclass('lease')").fetchone() or (None,)
    return None if table is None else _find_holder(connection, _LEASE)


def _find_holder(connection: Connection, query: str, own: str | None = None) -> str | None:
    """Who has a lease that has not run out; None where it is one's own."""
    for who, token, is_current, pid, machine in execute(connection, query).fetchall():
        if token != own and is_current and not _has_ended(pid, machine):
            return str(who)
    return None


def _was_committed(connection: Connection, transaction: str) -> bool:
    """What became of a transaction whose end nobody has heard of."""
    while True:
        (fate,) = execute(connection, _FATE, (transaction,)).fetchone() or (None,)
        if fate != "in progress":
            return bool(fate == "committed")
        time.sleep(_PAUSE)


def _identify_machine() -> str:
    """Tell the system as it has been running since it started, and its space of process numbers.

    "" where that is not known: hosts of equal names may be several.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return ""


def _has_ended(pid: int, machine: str) -> bool:
    """Whether a process is known to have ended, which only its own machine knows."""
    if not machine or machine != _identify_machine():
        return False
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1]
    except FileNotFoundError:
        return True
    except OSError:  # it is somebody else's
        return False
    return state in "ZX"  # killed, and nobody has asked for its end yet
