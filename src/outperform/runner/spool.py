"""What workers report of a fit, and the folder in which their reports outlive the coordinator.

A report is a file, written whole or not at all, and not believed unless it is whole. Who may write
into the folder may be anybody, so that nothing in it is ever more than JSON.
"""

import json
import os
import re
import socket
import stat
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from uuid import uuid4

from outperform.errors import InvalidInput
from outperform.store.rows import NONSENSE, encode_json, find_checksum
from outperform.wording import count

HEARTBEAT = "coordinator"  # the file that is touched as long as a coordinator is there
PATIENCE = 3600.0  # seconds that workers go on without a heartbeat, unless somebody says otherwise
_BEAT = 5.0  # seconds
LEAST_PATIENCE = 3 * _BEAT  # with less, workers would take a run for ended between two beats
_REPORT = re.compile(r"([0-9a-f]{32})\.json")
_UNFINISHED = re.compile(r"\.([0-9a-f]{32})\.[0-9a-f]+\.tmp")
_LARGEST = 16 << 20  # bytes: no fit has more scores than a store can take
_FIELDS = {"key", "scores", "error", "seconds", "started", "versions", "checksum"}


class FitReport(NamedTuple):
    """What the worker itself says of a fit that has ended."""

    key: str  # of the fit
    scores: Mapping[str, float]
    error: str | None  # the traceback where the fit raised an exception; then it has no scores
    seconds: float
    started: float  # seconds since 1970 by the worker's clock
    versions: Mapping[str, str]  # of what it ran on
    lack: str | None = None  # why the fit could not even begin, as the worker lacks its data
    unspooled: str | None = None  # why the report could not be written to the spool


def find_heartbeat(folder: str | Path) -> Path:
    """The file by which workers see that somebody waits for what they keep in a spool."""
    return Path(folder).absolute() / HEARTBEAT


class Spool:
    """Reports of fits that a coordinator has not recorded yet, perhaps because it died.

    Reports are known by the keys of their fits, so that studies may share a folder: what is of
    another is never looked at. What is no report is never believed: it is set aside, and its fit
    done again. The folder is made where it is not there.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()
        self._n_taken = 0
        self._damaged: Counter[str] = Counter()  # by what is wrong
        self._unwritten: str | None = None
        self._unseen: str | None = None  # why the folder could not be looked into
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._touch()
        except OSError as error:
            raise InvalidInput(
                f"the spool '{self.folder}' cannot be written: {error.strerror}",
                "Name a folder that you may write, on a file system that all workers share",
            ) from None

    @property
    def notes(self) -> list[str]:
        """What is to be said of it."""
        results = count(self._n_taken, "result was", "results were")
        notes = [f"{results} taken from the spool"] if self._n_taken else []
        notes += [
            f"{count(n, 'file')} of the spool set aside as *.damaged, its fits done again: {why}"
            for why, n in self._damaged.items()
        ]
        if self._unseen:
            notes.append(
                f"the spool '{self.folder}' could not be read: {self._unseen}; what it has, the "
                "next run with it takes in"
            )
        if self._unwritten:
            notes.append(
                "results were recorded, but not all were kept in the spool, such as one: "
                f"{self._unwritten}"
            )
        return notes

    @contextmanager
    def keep_alive(self) -> Iterator[None]:
        """Touch a file every few seconds, by which workers see that they are still wanted."""
        over = threading.Event()

        def beat() -> None:
            while not over.wait(_BEAT):
                with suppress(OSError):  # a file system may be away for a while
                    self.folder.mkdir(exist_ok=True)
                    self._touch()

        self._touch()
        thread = threading.Thread(target=beat, name="spool", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def take(self, key: str, *, failed: bool) -> FitReport | None:
        """Report of a fit, if there is one that can be believed; of a failed one if it may be."""
        report = self._read(key)
        if report is None or (report.error is not None and not failed):
            return None
        self._n_taken += 1
        return report

    def remove(self, keys: Iterable[str]) -> None:
        """Forget reports, of fits that are recorded by now."""
        for key in keys:
            with suppress(OSError):
                name_file(self.folder, key).unlink()

    def take_duplicates(self, recorded: Collection[str]) -> Iterator[FitReport]:
        """Reports of fits that were recorded before; they are removed."""
        with os.scandir(self.folder) as entries:
            names = [entry.name for entry in entries]
        for name in names:
            if (match := _UNFINISHED.fullmatch(name)) and match[1] in recorded:
                with suppress(OSError):
                    (self.folder / name).unlink()
            if (match := _REPORT.fullmatch(name)) and match[1] in recorded:
                report = self._read(match[1])
                if report is not None:
                    yield report
                self.remove([match[1]])

    def note_failure(self, report: FitReport) -> None:
        """Remember why a worker could not write its report here; the result counts all the same."""
        self._unwritten = self._unwritten or report.unspooled

    def _read(self, key: str) -> FitReport | None:
        path = name_file(self.folder, key)
        try:
            return read_report(path, key)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._unseen = error.strerror
            return None
        except NoReport as error:
            self._damaged[str(error)] += 1
            with suppress(OSError):  # somebody else's, perhaps: then it is only left out
                path.replace(path.with_name(f"{path.name}.damaged"))
            return None

    def _touch(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(self.folder / HEARTBEAT, flags, 0o666)
        try:
            os.utime(descriptor)
        finally:
            os.close(descriptor)


class NoReport(Exception):
    """A file that is no report of the fit after which it is named."""


def name_file(folder: str | Path, key: str) -> Path:
    """Where the report of a fit is kept."""
    return Path(folder) / f"{key}.json"


def write_report(folder: str | Path, report: FitReport) -> str | None:
    """Keep a report durably; why that could not be, if so."""
    content = {
        "key": report.key,
        "scores": {name: float(score) for name, score in report.scores.items()},
        "error": report.error,
        "seconds": report.seconds,
        "started": report.started,
        "versions": dict(report.versions),
    }
    try:
        text = encode_json({**content, "checksum": find_checksum(encode_json(content))})
        _write_durably(name_file(folder, report.key), text.encode())
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

    FileNotFoundError says that there is none, another OSError that nobody can tell, as the folder
    is away, and NoReport that the file is something else, whoever has put it there.
    """
    kind = path.lstat().st_mode
    try:
        if not stat.S_ISREG(kind):
            raise NoReport("it is no regular file")
        content = json.loads(_read(path), parse_constant=_refuse_constant)
        if not isinstance(content, dict) or content.keys() != _FIELDS:
            raise NoReport("it makes no sense")
        checksum = content.pop("checksum")
        if checksum != find_checksum(encode_json(content)):
            raise NoReport("it does not match its checksum")
        if content["key"] != key:
            raise NoReport("it is of another fit")
        return _make_report(**content)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NoReport(f"it cannot be read: {error.strerror}") from None
    except NONSENSE:
        raise NoReport("it makes no sense") from None


def _read(path: Path) -> bytes:
    """Content of a regular file that is not absurdly large."""
    # Somebody may have put a pipe there since we looked, which would be waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_size > _LARGEST:
            raise NoReport("it is too large, or no regular file")
        return file.read(_LARGEST)


def _refuse_constant(name: str) -> NoReturn:
    raise NoReport(f"it holds {name}")


def _make_report(
    *, key: str, scores: Any, error: Any, seconds: Any, started: Any, versions: Any
) -> FitReport:
    numbers = [seconds, started, *dict.values(scores)]
    if not all(type(each) is float and isfinite(each) for each in numbers) or seconds < 0:
        raise NoReport("it holds what is no finite number")
    texts = [text for pair in dict.items(versions) for text in pair]
    if not all(type(each) is str for each in texts):
        raise NoReport("its versions make no sense")
    if (error is None) != bool(scores) or not isinstance(error, str | None):
        raise NoReport("it says neither what came out nor what went wrong")
    return FitReport(key, scores, error, seconds, started, versions)
