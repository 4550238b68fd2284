"""What SQLite and the operating system refuse, in words a person can act on."""

import errno
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from outperform.errors import DiskFull, NotAStore, OutperformError, StoreError, StoreInUse
from outperform.store.damage import report_damage
from outperform.store.sqlite_file import LARGEST

_NO_TEXT = "Could not decode to UTF-8"  # Python's words, not SQLite's
_SCRATCH_BYTES = 64 * 1024  # SQLite needs about this much beside the store to write at all


@contextmanager
def explain_failures(path: Path, attempt: Literal["read", "written"]) -> Iterator[None]:
    """Turn errors about a store's file into ours."""
    try:
        yield
    except OutperformError:
        raise
    except UnicodeDecodeError as error:  # of SQLite's own words, which quote the file
        raise report_damage(str(path), "a text in it is no text any more") from error
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
    if name.startswith("SQLITE_CORRUPT") or _NO_TEXT in str(error):
        return report_damage(str(path), str(error) if name else "a text in it is no text any more")
    if name.startswith("SQLITE_TOOBIG"):
        return StoreError(
            f"'{path}' cannot be {attempt}: a value is larger than {LARGEST // 2**20} MiB",
            "Keep large things in files of their own, and only their names in a store",
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
