"""A folder that workers share, in which their reports outlive the coordinator."""

import os
import re
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from outperform.errors import InvalidInput
from outperform.runner.reports import FitReport
from outperform.runner.spool_files import NoReport, name_file, read_report

HEARTBEAT = "coordinator"  # the file that is touched as long as a coordinator is there
PATIENCE = 3600.0  # seconds that workers go on without a heartbeat, unless somebody says otherwise
_BEAT = 5.0  # seconds
LEAST_PATIENCE = 3 * _BEAT  # with less, workers would take a run for ended between two beats
_REPORT = re.compile(r"([0-9a-f]{32})\.json")
_UNFINISHED = re.compile(r"\.([0-9a-f]{32})\.[0-9a-f]+\.tmp")


def find_heartbeat(folder: str | Path | None) -> Path | None:
    """The file by which workers see that somebody waits for what they keep in a spool."""
    return None if folder is None else Path(folder).absolute() / HEARTBEAT


class Spool:
    """Reports of fits that a coordinator has not recorded yet, perhaps because it died.

    Reports are known by the keys of their fits, so that studies may share a folder: what is of
    another is never looked at. What is no report is never believed: it is set aside, and its fit
    done again.

    Parameters
    ----------
    folder
        Made where it is not there; InvalidInput where it cannot be made or written.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()
        self._n_taken = 0
        self._damaged: Counter[str] = Counter()  # by what is wrong
        self._unwritten: str | None = None
        self._unseen: str | None = None  # why the folder could not be looked into
        self._prepare()

    @property
    def notes(self) -> list[str]:
        """What is to be said of it."""
        notes = [f"{self._n_taken} result(s) were taken from the spool"] if self._n_taken else []
        notes += [
            f"{n} file(s) of the spool were set aside as *.damaged and their fits done again: {why}"
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
        self._touch()
        thread = threading.Thread(target=self._beat, args=(over,), name="spool", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def take(self, key: str, *, failed: bool) -> FitReport | None:
        """Report of a fit, if there is one that can be believed.

        Parameters
        ----------
        failed
            Whether one of a fit that failed is wanted, too.
        """
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

    def take_duplicates(self, recorded: Collection[str]) -> Iterator[tuple[str, FitReport]]:
        """Reports of fits that were recorded before, by key; they are removed."""
        with os.scandir(self.folder) as entries:
            names = [entry.name for entry in entries]
        for name in names:
            if (match := _UNFINISHED.fullmatch(name)) and match[1] in recorded:
                with suppress(OSError):
                    (self.folder / name).unlink()
            if (match := _REPORT.fullmatch(name)) and match[1] in recorded:
                report = self._read(match[1])
                if report is not None:
                    yield match[1], report
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

    def _prepare(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._touch()
        except OSError as error:
            raise InvalidInput(
                f"the spool '{self.folder}' cannot be written: {error.strerror}",
                "Name a folder that you may write, on a file system that all workers share",
            ) from None

    def _touch(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(self.folder / HEARTBEAT, flags, 0o666)
        try:
            os.utime(descriptor)
        finally:
            os.close(descriptor)

    def _beat(self, over: threading.Event) -> None:
        while not over.wait(_BEAT):
            with suppress(OSError):  # a file system may be away for a while
                self.folder.mkdir(exist_ok=True)
                self._touch()
