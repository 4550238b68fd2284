"""A report of a fit as a file: written whole or not at all, and not believed unless it is whole.

Who may write into the folder may be anybody, so that nothing in it is ever more than JSON.
"""

import json
import os
import socket
import stat
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn
from uuid import uuid4

from outperform.runner.reports import FitReport
from outperform.store.damage import find_checksum
from outperform.store.rows import encode_json

_LARGEST = 16 << 20  # bytes: no fit has more scores than a store can take
_FIELDS = {"key", "scores", "error", "seconds", "started", "versions", "checksum"}
# What Python raises where a text is no report; too deep a JSON is the last.
_NONSENSE = (ValueError, TypeError, LookupError, OverflowError, RecursionError)


class NoReport(Exception):
    """A file that is no report of the fit after which it is named."""


def name_file(folder: str | Path, key: str) -> Path:
    """Where the report of a fit is kept."""
    return Path(folder) / f"{key}.json"


def write_report(folder: str | Path, key: str, report: FitReport) -> str | None:
    """Keep a report durably; why that could not be, if so."""
    content = {
        "key": key,
        "scores": {name: float(score) for name, score in report.scores.items()},
        "error": report.error,
        "seconds": report.seconds,
        "started": report.started,
        "versions": dict(report.versions),
    }
    try:
        text = encode_json({**content, "checksum": find_checksum(encode_json(content))})
        _write_durably(name_file(folder, key), text.encode())
    except (OSError, ValueError) as error:
        return f"{type(error).__name__}: {error} (on {socket.gethostname()})"
    return None


def _write_durably(path: Path, content: bytes) -> None:
    """Write beside it and rename, so that whoever looks sees all or nothing."""
    # Several workers may have done the same fit.
    other = path.with_name(f".{path.stem}.{uuid4().hex}.tmp")
    descriptor = os.open(other, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        other.replace(path)
    except BaseException:
        with suppress(OSError):
            other.unlink()
        raise
    with suppress(OSError):  # some file systems know no such thing
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def read_report(path: Path, key: str) -> FitReport:
    """Report of a fit.

    Raises
    ------
    FileNotFoundError
        Where there is none.
    OSError
        Where nobody can tell, as the folder is away or something else.
    NoReport
        Where the file is something else, whoever has put it there.
    """
    kind = path.lstat().st_mode
    try:
        if not stat.S_ISREG(kind):
            raise NoReport("it is no regular file")
        content = _parse(_read(path))
        checksum = content.pop("checksum")
        if checksum != find_checksum(encode_json(content)):
            raise NoReport("it does not match its checksum")
        if content.pop("key") != key:
            raise NoReport("it is of another fit")
        return _make_report(**content)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NoReport(f"it cannot be read: {error.strerror}") from None
    except _NONSENSE:
        raise NoReport("it makes no sense") from None


def _read(path: Path) -> bytes:
    """Content of a regular file that is not absurdly large."""
    # Somebody may have put a pipe there since we looked, which would be waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
            raise NoReport("it is too large, or no regular file")
        return file.read(_LARGEST)


def _parse(text: bytes) -> dict[str, Any]:
    content = json.loads(text, parse_constant=_refuse_constant)
    if not isinstance(content, dict) or content.keys() != _FIELDS:
        raise NoReport("it makes no sense")
    return content


def _refuse_constant(name: str) -> NoReturn:
    raise NoReport(f"it holds {name}")


def _make_report(
    *, scores: Any, error: Any, seconds: Any, started: Any, versions: Any
) -> FitReport:
    numbers = [seconds, started, *dict.values(scores)]
    if not all(type(each) is float and isfinite(each) for each in numbers) or seconds < 0:
        raise NoReport("it holds what is no finite number")
    texts = [text for pair in dict.items(versions) for text in pair]
    if not all(type(each) is str for each in texts):
        raise NoReport("its versions make no sense")
    if (error is None) != bool(scores) or not isinstance(error, str | None):
        raise NoReport("it says neither what came out nor what went wrong")
    return FitReport(scores, error, seconds, started, versions)
