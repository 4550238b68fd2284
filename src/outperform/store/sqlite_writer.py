"""The one connection that writes a store's file, and what it watches over."""

import os
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import gmtime, monotonic, strftime

from outperform.errors import StoreError, StoreInUse
from outperform.store.sqlite_file import connect_to_write, find_real_path, rescue_database
from outperform.store.sqlite_lock import WriterLock, identify

# Seconds between two transfers of SQLite's log into the file: a plain copy is that much behind.
_TRANSFER_EVERY = 1.0


class SqliteWriter:
    """Records durably, and notices when the file is not there any more.

    A file that is removed or renamed stays open, so a run would go on into nowhere. What was
    recorded is then copied from the open file into another, and the run is stopped.

    Parameters
    ----------
    lock
        Held by this process; it is let go with the writer, or when that cannot be made.
    """

    def __init__(self, path: Path, lock: WriterLock) -> None:
        self.path, self._lock = path, lock
        self._loss: StoreError | None = None
        try:
            _refuse_other_names(path)
            self.connection = connect_to_write(path, writer=_describe_process())
        except BaseException:
            lock.release()
            raise
        self._identity = identify(path)
        real = find_real_path(path)
        self._logs = {file: identify(file) for file in (Path(f"{real}-wal"), Path(f"{real}-shm"))}
        self._transfer()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Record all or nothing; it is safe when the block has ended."""
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            yield self.connection
            self.connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # SQLite has rolled back by itself, or not begun
                self.connection.execute("ROLLBACK")
            raise
        self._watch()
        if monotonic() - self._transferred > _TRANSFER_EVERY:
            self._transfer()

    def close(self) -> None:
        """Let go of the file and of the lock, after a last look whether the file is there."""
        try:
            if self._loss is None:
                self._watch()
        finally:
            self.connection.close()
            self._lock.release()

    def _watch(self) -> None:
        if self._loss is None and identify(self.path) != self._identity:
            self._loss = self._rescue()
        if self._loss is not None:  # again, if somebody goes on: what comes is rescued too
            raise StoreError(self._loss.problem, self._loss.remedy)
        if not self._lock.is_in_place() and not self._lock.acquire(0):
            raise StoreInUse(
                f"the lock of '{self.path}' was removed, and another run has begun to write it",
                "Let that run go on: all that this one has recorded is there",
            )

    def _rescue(self) -> StoreError:
        """Copy what is recorded beside the place of the file, and go on there."""
        is_gone = identify(self.path) is None
        what = "was removed or renamed" if is_gone else "was replaced by another file"
        rescued = rescue_database(self.connection, self.path)
        self.connection.close()
        for log, identity in self._logs.items():  # which a file put there would take for its own
            if identity is not None and identify(log) == identity:
                log.unlink()
        self.connection = connect_to_write(rescued, writer=_describe_process())
        (n,) = self.connection.execute("SELECT count(*) FROM measurements").fetchone()
        return StoreError(
            f"'{self.path}' {what} while a run wrote it",
            f"All {n} fits recorded so far are in '{rescued}': move it to '{self.path}', and the "
            "same command resumes",
        )

    def _transfer(self) -> None:
        """Move what is in SQLite's log into the file, as far as no reader needs it."""
        with suppress(sqlite3.OperationalError):  # all is safe in the log, too
            self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        self._transferred = monotonic()


def _refuse_other_names(path: Path) -> None:
    """Refuse hard links: SQLite's log lies beside one name, and who opens another misses it."""
    with suppress(FileNotFoundError):
        n_names = path.stat().st_nlink
        if n_names > 1:
            raise StoreError(
                f"'{path}' is one of {n_names} names of the same file (hard links), and another "
                "run may be writing it by another name",
                "Remove the other names, or copy it with `outperform backup` and run with the copy",
            )


def _describe_process() -> str:
    since = strftime("%Y-%m-%d %H:%M:%S UTC", gmtime())
    return f"process {os.getpid()} on {socket.gethostname()} since {since}"
