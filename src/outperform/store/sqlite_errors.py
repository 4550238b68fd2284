"""What SQLite and the operating system refuse, in words a person can act on."""

import errno
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from outperform.errors import DiskFull, NotAStore, OutperformError, StoreError, StoreInUse

_SCRATCH_BYTES = 64 * 1024  # SQLite needs about this much beside the store to write at all


@contextmanager
def explain_failures(path: Path, attempt: Literal["read", "written"]) -> Iterator[None]:
    """Turn errors about a store's file into ours."""
    try:
        yield
    except OutperformError:
        raise
    except (sqlite3.Error, OSError) as error:
        raise _explain(error, path, attempt) from error


def _explain(error: sqlite3.Error | OSError, path: Path, attempt: str) -> OutperformError:
    # Extended codes, SQLITE_IOERR_WRITE and the like, begin with the name of their family.
    name = getattr(error, "sqlite_errorname", "")
    if _is_full(error, name, path):
        return DiskFull(
            f"no space is left for '{path}'",
            "Free some and run again: all that was recorded is safe",
        )
    if name.startswith("SQLITE_NOTADB"):
        return NotAStore(
            f"'{path}' is not a store of measurements",
            "Name a store that `outperform run` has made",
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreInUse(f"another program is writing '{path}'", "Close it and try again")
    if name.startswith("SQLITE_CORRUPT"):
        return StoreError(
            f"'{path}' is damaged: {error}", "Restore a copy, or rescue it with `sqlite3 .recover`"
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")) or not name:
        return StoreError(
            f"'{path}' cannot be {attempt}: {_reason(error)}",
            "Check the permissions of the file and of its folder, or copy it elsewhere",
        )
    return StoreError(f"'{path}' cannot be {attempt}: {error}", "Check the disk and try again")


def _is_full(error: sqlite3.Error | OSError, name: str, path: Path) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    if name.startswith("SQLITE_FULL"):
        return True
    # Where it cannot make room for its own files, SQLite speaks of input and output only.
    too_little = shutil.disk_usage(path.parent).free < _SCRATCH_BYTES
    return name.startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN")) and too_little


def _reason(error: sqlite3.Error | OSError) -> str:
    return str(getattr(error, "strerror", None) or error)
