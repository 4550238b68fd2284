"""Items on their way to workers: how long these may take, how they are lost, until when wanted."""

import os
import socket
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import Any, Literal

from outperform.engines.engine import NO_NEEDS, Needs, Outcome, summarize_error
from outperform.errors import EngineError

N_TRIES = 3  # of what others may have spoilt: starting, loading, and a fit whose worker is killed
_LEAST_TO_LOAD = 60.0  # seconds that loading the work may take, however short the fits are
_LOADING_FACTOR = 10  # time limits of a fit that loading may take


@dataclass(frozen=True, slots=True)
class Job:
    """One item on its way, with its work, both as bytes."""

    tag: Any
    number: int  # of the work, by which workers remember it
    code: bytes
    item: bytes
    timeout: float | None
    needs: Needs = NO_NEEDS
    n_unbegun: int = 0  # workers that were lost before they had loaded the work
    n_killed: int = 0  # workers that were killed, probably from outside, while they worked on it


@dataclass(frozen=True, slots=True)
class Loss:
    """How a job was lost with its worker.

    `"unbegun"`: the worker had not even loaded the work. `"killed"`: it was killed, probably from
    outside. `"died"` and `"timeout"` as in `Outcome`: the job's own doing.
    """

    job: Job
    kind: Literal["unbegun", "killed", "died", "timeout"]
    error: str
    seconds: float
    failure: EngineError | None = None  # to raise if all are lost like this, and no job is to blame
    output: str = ""  # what the job had printed

    def to_outcome(self) -> Outcome:
        """What is told of a job that is not tried again."""
        if self.kind in ("timeout", "died"):
            kind, error = self.kind, self.error
        else:
            kind, error = "died", f"{self.error}, in each of {N_TRIES} tries"
        return Outcome(self.job.tag, None, error, self.seconds, kind, output=self.output)


class JobQueue:
    """Jobs in the order they came, in a line for each number of devices that they need.

    So those that wait for devices hold up nobody behind them who needs none.
    """

    def __init__(self) -> None:
        self._lines: dict[float | None, deque[tuple[int, Job]]] = {}
        self._n_added = 0
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        return any(self._lines.values())

    def add(self, job: Job, *, first: bool = False) -> None:
        """Put a job at the end, or at the very front."""
        with self._lock:
            self._n_added += 1
            line = self._lines.setdefault(job.needs.gpus, deque())
            if first:
                line.appendleft((-self._n_added, job))
            else:
                line.append((self._n_added, job))

    def list_first(self) -> list[Job]:
        """First jobs of all lines, the one that has waited longest first."""
        with self._lock:
            heads = [line[0] for line in self._lines.values() if line]
        return [job for _, job in sorted(heads)]  # by number, of which no two have the same

    def take(self, gpus: float | None) -> Job:
        """Remove the first job that needs so many devices."""
        with self._lock:
            return self._lines[gpus].popleft()[1]

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._lines.clear()


def limit_loading(timeout: float | None) -> float | None:
    """Seconds that a worker may take to load the work of fits with a time limit, if they have one.

    Examples
    --------
    >>> limit_loading(3), limit_loading(600)
    (60.0, 6000)
    """
    return None if timeout is None else max(_LEAST_TO_LOAD, _LOADING_FACTOR * timeout)


def cannot_load(error: str) -> EngineError:
    """The error of work that arrives nowhere."""
    return EngineError(
        f"no worker could load the code of the fits, in {N_TRIES} tries: {summarize_error(error)}",
        "Mend what it imports or loads, and run it again",
    )


_last_beats: dict[str, tuple[float, float]] = {}  # by file: time in it, and when we first saw that


@dataclass(frozen=True, slots=True)
class Lease:
    """Who wants the work, and the signs that they still do; plain data, sent with every job."""

    session: str  # a name that no other coordinator has
    host: str  # where the coordinator runs: workers there see when it is gone
    pid: int
    flag: str = ""  # a file there, if any, that is removed when the work is given up
    heartbeat: str = ""  # a file, if any, that it touches now and then, where workers can see it
    patience: float = 0.0  # seconds without a beat after which nobody is thought to want the work

    def is_valid(self) -> bool:
        """Whether nothing says that the work is not wanted any more."""
        is_here = socket.gethostname() == self.host
        if is_here and self.flag and not os.path.exists(self.flag):  # noqa: PTH110, it is text
            return False
        if not self.heartbeat:
            return not is_here or self._is_alive()
        # A folder may be taken away from a coordinator that is there as before.
        return (is_here and self._is_alive()) or self.is_beating()

    def is_beating(self) -> bool:
        """Whether there is a heartbeat, and was one in as many seconds as patience lasts.

        The file's time is compared with itself only: clocks of two hosts differ.
        """
        try:
            beat = os.stat(self.heartbeat).st_mtime  # noqa: PTH116
        except (FileNotFoundError, ValueError):
            return False
        except OSError:
            beat = -1.0  # a file system that is away for a while is no sign of death
        now = time.monotonic()
        last, since = _last_beats.get(self.heartbeat, (None, now))
        if beat != last:
            last, since = beat, now
            _last_beats[self.heartbeat] = (beat, now)
        return now - since <= self.patience

    def _is_alive(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            pass  # somebody else's
        return True
