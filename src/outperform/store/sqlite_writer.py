"""The one writer of a store's file: its lock, its connection, and what it watches over."""

import os
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from time import gmtime, monotonic, strftime
from typing import TYPE_CHECKING, Any, NamedTuple

from outperform.errors import StoreError, StoreInUse
from outperform.store.sqlite_file import (
    connect_to_read,
    connect_to_write,
    find_real_path,
    rescue_database,
    verify_file,
)

if TYPE_CHECKING:
    from filelock import BaseFileLock

# Seconds between two transfers of SQLite's log into the file: a plain copy is that much behind.
_TRANSFER_EVERY = 1.0


class WriterLock:
    """A lock that one process holds, and that is never stale: on a file beside the store's own.

    It goes by the store's real path: links to it have the same lock.
    """

    def __init__(self, store: Path) -> None:
        self.file = Path(f"{store}.lock")
        self._lock: BaseFileLock | None = None
        self._identity: tuple[int, int] | None = None

    def acquire(self, patience: float) -> bool:
        """Take it, or say within so many seconds that another process has it."""
        from filelock import FileLock, Timeout

        if self._is_plain() is False:
            raise StoreError(
                f"'{self.file}' is where the lock of a run belongs, and is no plain file",
                "Remove it, or move the store elsewhere",
            )
        options: dict[str, Any] = {"poll_interval": 0.01, "thread_local": False, "mode": 0o600}
        lock = FileLock(self.file, timeout=patience, **options)
        try:
            lock.acquire()
        except Timeout:
            return False
        self._lock, self._identity = lock, look_at(self.file, follow_symlinks=False).identity
        return True

    def is_held_elsewhere(self) -> bool:
        """Whether another holds it, who may be somebody whose files are not ours to open."""
        if not self._is_plain():
            return False
        try:
            if not self.acquire(0):
                return True
        except PermissionError:
            return True
        assert self._lock is not None
        self._lock.release()
        return False

    def is_in_place(self) -> bool:
        """Whether the file is still the one that was locked, which somebody may have removed."""
        return look_at(self.file, follow_symlinks=False).identity == self._identity

    def release(self) -> None:
        """Let others have it."""
        if self._lock is None:
            return
        # While it is held: whoever waits for it sees that the file is gone, and makes another. What
        # is not empty was there before us, and is left alone.
        with suppress(OSError):
            if self.is_in_place() and self.file.stat().st_size == 0:
                self.file.unlink()
        self._lock.release()
        self._lock = None

    def _is_plain(self) -> bool | None:
        """Whether its file is a regular one; None where there is none."""
        try:
            return S_ISREG(os.lstat(self.file).st_mode)
        except FileNotFoundError:
            return None


class FileState(NamedTuple):
    """Which file is at a path, and what is known of its content."""

    identity: tuple[int, int] | None = None  # device and number; None where there is none
    size: int = -1
    changed: int = 0


def look_at(path: Path, *, follow_symlinks: bool = True) -> FileState:
    """The file at a path, as it is now."""
    try:
        about = path.stat(follow_symlinks=follow_symlinks)
    except OSError:
        return FileState()
    return FileState((about.st_dev, about.st_ino), about.st_size, about.st_mtime_ns)


class SqliteWriter:
    """Records durably, and notices when the file is not there any more, or not as it was.

    A file that is removed or renamed stays open, so a run would go on into nowhere; one that is
    overwritten in its place would be a mixture. What was recorded is then copied from the open
    connection into another file, and the run is stopped. The lock, which this process holds, is let
    go with the writer, or when that cannot be made.
    """

    def __init__(self, path: Path, lock: WriterLock) -> None:
        self.path, self._lock = path, lock
        self._loss: StoreError | None = None
        self._state, self._last = FileState(), 0  # of the file, and the fit, at the last transfer
        try:
            _refuse_other_names(path)
            self.connection = connect_to_write(path, writer=_describe_process())
        except BaseException:
            lock.release()
            raise
        self._identity = look_at(path).identity
        real = find_real_path(path)
        self._logs = {
            log: look_at(log).identity for log in map(Path, (f"{real}-wal", f"{real}-shm"))
        }
        self._transfer()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Record all or nothing; it is safe when the block has ended."""
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            yield self.connection
            self.connection.execute("COMMIT")
        except BaseException as error:
            with suppress(sqlite3.Error):  # SQLite has rolled back by itself, or not begun
                self.connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.DatabaseError):  # which an overwritten file may cause
                self._watch()
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
        if self._loss is None:
            self._loss = self._find_loss()
        if self._loss is not None:  # again, if somebody goes on: what comes is rescued too
            raise StoreError(self._loss.problem, self._loss.remedy)

    def _find_loss(self) -> StoreError | None:
        """What has become of the file, if it is lost, and where all that was in it is now."""
        state = look_at(self.path)
        if state.identity != self._identity:
            gone, other = "was removed or renamed", "was replaced by another file"
            return self._rescue(gone if state.identity is None else other)
        if not self._lock.is_in_place() and not self._lock.acquire(0):
            raise StoreInUse(
                f"the lock of '{self.path}' was removed, and another run has begun to write it",
                "Let that run go on: all that this one has recorded is there",
            )
        if state != self._state:  # by no other run: the lock is ours, and only we transfer
            # It may be a `touch`, or a transfer by another program. SQLite itself has to look:
            # whoever else opens and closes the file in this process lets go of SQLite's locks on it
            # (POSIX). It would throw away the log of an empty file, though.
            if state.size <= 0 or not _holds_all(self.path, self._last, self.connection):
                return self._rescue("was overwritten or cut", is_whole=False)
            self._state = state
        return None

    def _rescue(self, what: str, *, is_whole: bool = True) -> StoreError:
        """Copy what is recorded beside the place of the file, and go on there."""
        problem = f"'{self.path}' {what} while a run wrote it"
        try:
            rescued = rescue_database(self.connection, self.path)
        except StoreError as error:
            if is_whole:
                raise
            self._leave(is_ours=False)
            return StoreError(f"{problem}, and nothing could be rescued", error.remedy)
        self._leave(is_ours=is_whole)
        if not is_whole and not _holds_all(rescued, self._last):
            return StoreError(
                f"{problem}, and not all that was recorded can be read any more",
                "Restore a copy, and the same command does again what it lacks; without one, "
                f"`sqlite3 {rescued} .recover` writes out what was left",
            )
        self.connection = connect_to_write(rescued, writer=_describe_process())
        (n,) = self.connection.execute("SELECT count(*) FROM measurements").fetchone()
        return StoreError(
            problem,
            f"All {n} fits recorded so far are in '{rescued}': move it to '{self.path}', and the "
            "same command resumes",
        )

    def _leave(self, *, is_ours: bool) -> None:
        """Close the file, wherever it is now; one with another's content is left as it is."""
        for log, identity in self._logs.items():
            if not is_ours and log.name.endswith("-wal") and look_at(log).identity == identity:
                os.truncate(log, 0)  # or closing would move it into the file
        with suppress(sqlite3.Error):
            self.connection.close()
        for log, identity in self._logs.items():  # which a file put there would take for its own
            if identity is not None and look_at(log).identity == identity:
                log.unlink()

    def _transfer(self) -> None:
        """Move what is in SQLite's log into the file, as far as no reader needs it."""
        with suppress(sqlite3.OperationalError):  # all is safe in the log, too
            self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        self._transferred = monotonic()
        self._state, self._last = look_at(self.path), _find_last(self.connection)


def _find_last(connection: sqlite3.Connection) -> int:
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM measurements").fetchone()
    return int(last)


def _holds_all(path: Path, last: int, known: sqlite3.Connection | None = None) -> bool:
    """Whether a file is a sound store, with all fits up to one, and all that a connection knows.

    A connection has much of the file in memory, and may not see that it is another.
    """
    queries = ("SELECT * FROM meta ORDER BY name", "SELECT id, key FROM measurements")
    try:
        with closing(connect_to_read(path)) as fresh:
            is_sound = verify_file(path).is_sound and _find_last(fresh) >= last
            return is_sound and (
                known is None
                or all(fresh.execute(q).fetchall() == known.execute(q).fetchall() for q in queries)
            )
    except (StoreError, sqlite3.Error):
        return False


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
    """Number and host of this process, and now."""
    since = strftime("%Y-%m-%d %H:%M:%S UTC", gmtime())
    return f"process {os.getpid()} on {socket.gethostname()} since {since}"
