"""A lock that belongs to a living process, so that none is ever stale."""

import fcntl
import os
import socket
import time
from contextlib import suppress
from pathlib import Path

from outperform.errors import StoreInUse

_PATIENCE = 0.1  # seconds: who only looks whether the lock is held has it for a moment


class FileLock:
    """An operating system's lock on a file, which vanishes with the process that holds it.

    Parameters
    ----------
    path
        The file to lock; it holds a line about the holder, and is removed on release.
    subject
        What the lock protects, for the message.
    """

    def __init__(self, path: Path, *, subject: str) -> None:
        self.path = path
        self.subject = subject
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._descriptor is not None

    def acquire(self) -> None:
        """Take the lock, or say who has it."""
        patience = time.monotonic() + _PATIENCE
        while self._descriptor is None:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self._is_current(descriptor):
                    self._descriptor = descriptor
            except BlockingIOError:
                if time.monotonic() > patience:
                    raise self._in_use(descriptor) from None
                time.sleep(_PATIENCE / 10)
            finally:
                if self._descriptor is None:
                    os.close(descriptor)
        with suppress(OSError):  # a full disk: the lock holds without its line
            os.truncate(self._descriptor, 0)
            os.write(self._descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())

    def find_holder(self) -> str | None:
        """Who holds the lock at the moment; None where nobody does."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY)
        except OSError:  # nobody has left a file
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _read_holder(descriptor)
        finally:
            os.close(descriptor)
        return None

    def release(self) -> None:
        """Give the lock back; nothing happens where it is not held."""
        if self._descriptor is not None:
            self.path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None

    def _is_current(self, descriptor: int) -> bool:
        # The holder before us may have removed the file between our opening and locking it.
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            return False

    def _in_use(self, descriptor: int) -> StoreInUse:
        return StoreInUse(
            f"{self.subject} is being written by {_read_holder(descriptor)}",
            "Wait for that run to end, or stop it; its measurements can be read meanwhile",
        )


def _read_holder(descriptor: int) -> str:
    return os.pread(descriptor, 1000, 0).decode(errors="replace") or "another process"
