"""The lock of a store's writer: on a file beside it, which the system lets go with the process."""

import os
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

from outperform.errors import StoreError

if TYPE_CHECKING:
    from filelock import BaseFileLock

_OWNER_ONLY = 0o600


class WriterLock:
    """A lock that one process holds, and that is never stale.

    Parameters
    ----------
    store
        The store's real path: links to it have the same lock.
    """

    def __init__(self, store: Path) -> None:
        self.file = Path(f"{store}.lock")
        self._lock: BaseFileLock | None = None
        self._identity: tuple[int, int] | None = None

    def acquire(self, patience: float) -> bool:
        """Take it, or say within so many seconds that another process has it."""
        from filelock import FileLock, Timeout

        self._refuse_others_files()
        lock = FileLock(
            self.file,
            timeout=patience,
            poll_interval=0.01,
            thread_local=False,
            mode=_OWNER_ONLY,
        )
        try:
            lock.acquire()
        except Timeout:
            return False
        self._lock, self._identity = lock, identify(self.file, follow_symlinks=False)
        return True

    def is_held_elsewhere(self) -> bool:
        """Whether another holds it, who may be somebody whose files are not ours to open."""
        mode = self._find_mode()
        if mode is None or not S_ISREG(mode):
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
        return identify(self.file, follow_symlinks=False) == self._identity

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

    def _find_mode(self) -> int | None:
        try:
            return os.lstat(self.file).st_mode
        except FileNotFoundError:
            return None

    def _refuse_others_files(self) -> None:
        mode = self._find_mode()
        if mode is not None and not S_ISREG(mode):
            raise StoreError(
                f"'{self.file}' is where the lock of a run belongs, and is no plain file",
                "Remove it, or move the store elsewhere",
            )


def identify(path: Path, *, follow_symlinks: bool = True) -> tuple[int, int] | None:
    """Device and number of the file at a path; None where there is none."""
    try:
        found = path.stat(follow_symlinks=follow_symlinks)
    except OSError:
        return None
    return found.st_dev, found.st_ino
