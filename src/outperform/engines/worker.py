"""A worker process as the coordinator sees it."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing import Pipe
from pickle import loads
from typing import Any, Literal

from outperform.engines.engine import Outcome, describe_exception, describe_timeout
from outperform.engines.serving import Reply
from outperform.errors import EngineError

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


@dataclass(frozen=True, slots=True)
class Job:
    """One item on its way, with its work, both as bytes."""

    tag: Any
    number: int  # of the work, by which workers remember it
    code: bytes
    item: bytes
    timeout: float | None


class Worker:
    """A fresh interpreter at the other end of a connection of its own.

    Nothing is shared with other workers, neither lock nor queue, so that one killed at any moment
    can neither block nor garble another. It is no child of `multiprocessing`, which would run the
    user's script once more in every worker. It leads a process group, so that the commands which
    a fit starts are killed with it.
    """

    def __init__(self, *, n_threads: int) -> None:
        self.job: Job | None = None
        self.deadline: float | None = None
        self._ready = False
        self._began = 0.0
        self._known: set[int] = set()
        self._crash_report = tempfile.TemporaryFile()  # noqa: SIM115, closed by `kill`
        self.connection, theirs = Pipe()
        descriptors = (theirs.fileno(), self._crash_report.fileno())
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _program(*descriptors, os.getpid(), n_threads)],
                pass_fds=descriptors,
                env=worker_environment(os.environ, n_threads),
                stdin=subprocess.DEVNULL,
                stdout=2,  # what fits print must not get among what we print
                start_new_session=True,
            )
        except OSError as error:
            self._crash_report.close()
            raise _cannot_start(str(error)) from error
        finally:
            theirs.close()

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def give(self, job: Job) -> None:
        """Send a job; work that this worker has had before is not sent again."""
        known = job.number in self._known
        self._known.add(job.number)
        self.job = job
        self._begin(job.timeout if known else None)  # loading is not part of a fit
        with suppress(OSError):  # it has died, which the connection is about to say
            self.connection.send((job.number, None if known else job.code, job.item))

    def receive(self) -> Outcome | None:
        """The outcome of the job, None where there is none yet; raises EOFError of a dead one."""
        try:
            reply: Reply = self.connection.recv()
        except OSError as error:
            raise EOFError from error
        if reply.kind == "ready":
            self._ready = True
            return None
        assert self.job is not None
        if reply.kind == "started":
            self._begin(self.job.timeout)
            return None
        tag, self.job, self.deadline = self.job.tag, None, None
        return _outcome(tag, reply)

    def is_late(self) -> bool:
        """Whether the time of its job is over, and no result has come meanwhile."""
        over = self.deadline is not None and self.deadline <= time.monotonic()
        return over and not self.connection.poll()

    def is_dead(self) -> bool:
        """Whether it has ended with nothing left to say, though others may hold its connection."""
        return self._process.poll() is not None and not self.connection.poll()

    def retire(self) -> None:
        """Let an idle worker end in its own way, for a moment."""
        self.connection.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        self.kill()

    def kill(self) -> str:
        """End the process and all that it has started; the traceback of a crash, if any."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self.connection.close()
        with self._crash_report as report:
            report.seek(0)
            text = report.read().decode(errors="replace").strip()
        # Python lists every extension module that it has loaded, which tells nobody anything.
        return text.partition("\n\nExtension modules:")[0]

    def lay_off(self) -> Outcome:
        """Kill a worker whose job takes too long."""
        self.kill()
        assert self.job is not None
        return self._lost("timeout", describe_timeout(self.job.timeout))

    def bury(self) -> Outcome | None:
        """Clear away a worker that has died, and say what became of its job, if it had one."""
        report = self.kill()
        status = self._process.returncode
        if status is not None and status > 0 and not self._ready:
            raise _cannot_start(f"it ended with status {status}")
        if self.job is None:
            return None
        return self._lost("died", f"{_describe_death(status)}\n{report}".strip())

    def _begin(self, timeout: float | None) -> None:
        self._began = time.monotonic()
        self.deadline = None if timeout is None else self._began + timeout

    def _lost(self, kind: Literal["timeout", "died"], error: str) -> Outcome:
        assert self.job is not None
        return Outcome(self.job.tag, None, error, time.monotonic() - self._began, kind)


def worker_environment(environment: Mapping[str, str], n_threads: int) -> dict[str, str]:
    """Variables for a worker: no more threads than its share, and one order of sets for all.

    Examples
    --------
    >>> worker_environment({"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "8"}, 2)["OMP_NUM_THREADS"]
    '1'
    >>> worker_environment({"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "8"}, 2)["MKL_NUM_THREADS"]
    '2'
    """
    limited = {name: str(n_threads) for name in _THREAD_VARIABLES}
    for name in _THREAD_VARIABLES:
        asked = environment.get(name, "")
        if asked.isdecimal() and 0 < int(asked) < n_threads:
            limited[name] = asked
    # Python orders sets of text anew in every process: variation under nobody's seed.
    return {"PYTHONHASHSEED": "0", **environment, **limited}


def _program(*arguments: int) -> str:
    places = [place for place in sys.path if isinstance(place, str)]
    return (
        f"import sys; sys.path[:] = {places!r}\n"
        f"from outperform.engines.serving import serve; serve{arguments!r}"
    )


def _cannot_start(reason: str) -> EngineError:
    return EngineError(
        f"cannot start a worker with '{sys.executable}': {reason}",
        "Check that this interpreter runs and has outperform",
    )


def _outcome(tag: Any, reply: Reply) -> Outcome:
    assert reply.kind in ("done", "error")
    outcome = Outcome(tag, None, reply.error, reply.seconds, reply.kind)
    if reply.kind == "error":
        return outcome
    try:
        return replace(outcome, value=loads(reply.value))
    except Exception as error:  # made of something that only the worker has
        return replace(outcome, error=describe_exception(error), kind="error")


def _describe_death(status: int | None) -> str:
    if status is None:
        return "the worker does not answer"
    if status >= 0:
        return f"the worker exited with status {status}"
    name = signal.Signals(-status).name
    hint = ", perhaps for want of memory" if name == "SIGKILL" else ""
    return f"the worker was killed by {name}{hint}"
