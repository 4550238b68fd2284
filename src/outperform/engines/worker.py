"""A worker process as the coordinator sees it: its job, and how both may be lost."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from multiprocessing.connection import wait as wait_for_any
from pickle import loads
from typing import Any, Literal

from outperform.engines.channels import Channel, Garbled, Output
from outperform.engines.engine import (
    NO_NEEDS,
    Needs,
    Outcome,
    describe_exception,
    describe_timeout,
    summarize_error,
)
from outperform.engines.resources import MemoryLimit, Share, measure_process
from outperform.engines.serving import Reply
from outperform.errors import EngineError
from outperform.processes import Watcher, kill_group, name_signal

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
N_TRIES = 3  # of what others may have spoilt: starting, loading, and a fit whose worker is killed
_LEAST_TO_LOAD = 60.0  # seconds that loading the work may take, however short the fits are
_LOADING_FACTOR = 10  # time limits of a fit that loading may take
_LONGEST_START = 60.0  # seconds that an interpreter may take until it is ready
_LONGEST_REPORT = 20_000  # bytes of the traceback of a crash


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


class Worker:
    """A fresh interpreter at the other end of a connection of its own.

    Nothing is shared with other workers, neither lock nor queue, so that one killed at any moment
    can neither block nor garble another. It is no child of `multiprocessing`, which would run the
    user's script once more in every worker. It leads a process group, so that the commands which
    a fit starts are killed with it, and all of them with us.

    Whoever watches it waits until one of `ends` can be read, or for `deadline`, and calls `receive`
    or `is_lost` then.

    It runs in `folder`, if there is such a folder here, and looks for modules where we do, then in
    `places`.
    """

    def __init__(
        self,
        *,
        n_threads: int,
        share: Share,
        folder: str | None = None,
        places: Iterable[str] = (),
    ) -> None:
        self.job: Job | None = None
        self.share = share
        self._deadline = inf
        self._memory: MemoryLimit | None = None  # of its job
        self._ready = False
        self._known: set[int] = set()
        self._began = 0.0
        self._limit: float | None = None
        self._printed = ""  # at last
        self._refusal: str | None = None  # why it could not load the work
        self._garbled = self._hung_up = False
        self._crash_report = tempfile.TemporaryFile()  # noqa: SIM115, closed by `kill`
        self._watcher = Watcher()
        end, theirs = socket.socketpair()
        end.settimeout(_LONGEST_START)  # for sending: what reads nothing must not hold us up
        self.channel = Channel(end)
        printed, theirs_to_print = os.pipe()
        self._output = Output(printed)
        descriptors = (theirs.fileno(), self._crash_report.fileno())
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _program(places, *descriptors, n_threads)],
                cwd=folder if folder and os.path.isdir(folder) else None,  # noqa: PTH112
                pass_fds=descriptors,
                env=worker_environment(os.environ, n_threads) | share.environment,
                stdin=subprocess.DEVNULL,
                stdout=theirs_to_print,
                stderr=theirs_to_print,
                start_new_session=True,
            )
        except OSError as error:
            self._let_go()
            raise _cannot_start(str(error)) from error
        finally:
            theirs.close()
            os.close(theirs_to_print)
        self.pid = self._process.pid
        self.name = f"{socket.gethostname()}:{self.pid}"  # by which people tell it from others
        self._watcher.protect(self.pid)  # before it is given anything: until then it ends with us

    @property
    def since(self) -> float:
        """When it began what it does: to start, to load the work, or the job itself."""
        return time.time() - (time.monotonic() - self._began)

    @property
    def ends(self) -> list[Channel | Output]:
        """What to wait for: when one can be read, `receive`."""
        return [self.channel] if self._output.is_over else [self.channel, self._output]

    @property
    def deadline(self) -> float:
        """When to ask `is_lost` though it has not spoken, on the monotonic clock."""
        return min(self._deadline, self._memory.next_look if self._memory else inf)

    def suits(self, job: Job) -> bool:
        """Whether it sees what a job needs, and is not half full of what others have left."""
        if self.share.gpus != job.needs.gpus:
            return False
        return job.needs.memory is None or 2 * measure_process(self.pid) <= job.needs.memory

    def give(self, job: Job) -> None:
        """Send a job; work that this worker has loaded before is not sent again."""
        self._output.take()  # what was printed before counts for nobody
        self.job = job
        limit = job.needs.memory
        self._memory = None if limit is None else MemoryLimit(self.pid, limit)
        self._begin()
        code = job.code if self._is_loading() else None
        try:
            self.channel.send((job.number, code, job.item))
        except TimeoutError:
            self._process.kill()  # it has stopped reading
        except OSError:
            pass  # it has died, which the connection is about to say

    def may_do(self, job: Job) -> bool:
        """Whether it has loaded the work of a job, or is about to, and sees what that needs."""
        is_loading = self.job is not None and self.job.number == job.number
        has_loaded = job.number in self._known or (is_loading and self._refusal is None)
        return has_loaded and self.share.gpus == job.needs.gpus

    def receive(self) -> Outcome | None:
        """Hear what a worker says or prints: the outcome of its job, or nothing yet.

        The outcome is to be unpacked.
        """
        self._output.read()
        if not self.has_spoken():
            return None
        outcome = None
        try:
            for reply in self.channel.receive():
                outcome = self._take(reply) or outcome
        except Garbled:
            self._garbled = True
        except (EOFError, OSError):
            self._hung_up = True
        return outcome

    def has_spoken(self) -> bool:
        """Whether there is something to receive."""
        return bool(wait_for_any([self.channel], 0))  # type: ignore[list-item]

    def is_lost(self) -> bool:
        """Whether no more is to be expected of it; a result that has just come is taken first."""
        if self._refusal is not None or self._garbled or self._hung_up:
            return True
        # Others may hold the connection of a process that has ended.
        is_late = self._deadline <= time.monotonic()
        is_over = is_late or self._is_too_large() or self._process.poll() is not None
        return is_over and not self.has_spoken()

    def retire(self) -> None:
        """Let an idle worker end in its own way, for a moment."""
        self.channel.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        self.kill()

    def kill(self) -> str:
        """End the process and all that it has started; the traceback of a crash, if any."""
        kill_group(self.pid)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        return self._let_go()

    def lay_off(self) -> Loss | None:
        """Kill a worker that is lost, and say how its job was, if it had one."""
        if self._hung_up:
            with suppress(subprocess.TimeoutExpired):  # it is about to end, with a status
                self._process.wait(1)
        status = self._process.poll()
        report = self.kill()
        if self.job is None:
            return None
        kind, error = self._diagnose(status, report)
        failure = None  # what to raise if all workers are lost like this: it is no job's own doing
        if not self._ready and not self._is_too_large():
            failure = _cannot_start(error.replace("the worker", "it", 1))
        elif self._is_loading() and not self._is_too_large():
            failure = cannot_load(error)
        seconds = time.monotonic() - self._began
        return Loss(
            self.job, "unbegun" if failure else kind, error, seconds, failure, self._printed
        )

    def _diagnose(
        self, status: int | None, report: str
    ) -> tuple[Literal["killed", "died", "timeout"], str]:
        """What has become of it, by the status with which it had ended by itself, if it had."""
        if self._refusal is not None:
            return "died", self._refusal
        if self._garbled:  # perhaps by a process that an earlier fit has left
            what = "the worker sent what is no message of ours"
            return "killed", f"{what}: something else has written to its connection"
        if self._is_too_large():
            return "died", str(self._memory)
        if status is not None:
            # A crash of its own leaves a report.
            kind: Literal["killed", "died"] = "killed" if status < 0 and not report else "died"
            end = f"exited with status {status}"
            if status < 0:
                hint = ", perhaps for want of memory" if status == -signal.SIGKILL else ""
                end = f"was killed by {name_signal(-status)}{hint}"
            return kind, f"the worker {end}\n{report}".strip()
        if self._hung_up:
            return "died", "the worker closed its connection"
        if not self._ready:
            return "timeout", f"the worker was not ready after {self._limit:g} s"
        if self._is_loading():
            what = "the time limit of loading (ten times that of a fit, a minute at least)"
            return "timeout", f"killed after {self._limit:g} s, {what}"
        return "timeout", describe_timeout(self._limit)

    def _take(self, reply: Reply) -> Outcome | None:
        if reply.kind == "ready":
            self._ready = True
        elif self.job is None:
            raise Garbled  # nobody has asked
        elif reply.kind == "unloadable":
            self._refusal = reply.error
            return None
        elif reply.kind == "loaded":
            self._known.add(self.job.number)
        else:
            value = reply.value if reply.kind == "done" else None
            what = (self.job.tag, value, reply.error, reply.seconds, reply.kind)
            self.job, self._deadline, self._memory = None, inf, None
            return Outcome(*what, worker=self.name, output=self._output.take())
        self._begin()
        return None

    def _is_loading(self) -> bool:
        return self.job is not None and self.job.number not in self._known

    def _is_too_large(self) -> bool:
        return self._memory is not None and self._memory.is_passed()

    def _begin(self) -> None:
        """Start the clock of what the worker does next: start, load, or the job itself."""
        if self.job is None:
            return
        timeout = self.job.timeout
        if not self._ready:
            self._limit = _LONGEST_START
        else:
            self._limit = limit_loading(timeout) if self._is_loading() else timeout
        self._began = time.monotonic()
        self._deadline = inf if self._limit is None else self._began + self._limit

    def _let_go(self) -> str:
        self._watcher.dismiss()
        self.channel.close()
        self._printed = self._output.take()
        self._output.close()
        with self._crash_report as report:
            report.seek(0)
            text = report.read(_LONGEST_REPORT).decode(errors="replace").strip()
        # Python lists every extension module that it has loaded, which tells nobody anything.
        return text.partition("\n\nExtension modules:")[0]


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


def worker_environment(environment: Mapping[str, str], n_threads: int) -> dict[str, str]:
    """Variables for a worker: no more threads than its share, and one order of sets for all.

    Examples
    --------
    >>> worker_environment({"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "8"}, 2)["OMP_NUM_THREADS"]
    '1'
    >>> worker_environment({"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "8"}, 2)["MKL_NUM_THREADS"]
    '2'
    """
    limited = dict.fromkeys(_THREAD_VARIABLES, str(n_threads))
    for name in _THREAD_VARIABLES:
        asked = environment.get(name, "")
        if asked.isdecimal() and 0 < int(asked) < n_threads:
            limited[name] = asked
    # Python orders sets of text anew in every process: variation under nobody's seed.
    return {"PYTHONHASHSEED": "0", **environment, **limited}


def _program(further_places: Iterable[str], *arguments: int) -> str:
    places = [place for place in sys.path if isinstance(place, str)]
    places += [place for place in further_places if place not in places]
    return (
        f"import sys; sys.path[:] = {places!r}\n"
        f"from outperform.engines.serving import serve; serve{arguments!r}"
    )


def _cannot_start(reason: str) -> EngineError:
    return EngineError(
        f"cannot start a worker with '{sys.executable}': {reason}",
        "Check that this interpreter runs and has outperform",
    )


def unpack(outcome: Outcome) -> Outcome:
    """An outcome whose value is what the work returned, and not the bytes that a worker sent."""
    if outcome.kind != "done":
        return outcome
    try:
        return replace(outcome, value=loads(outcome.value))
    except Exception as error:  # made of something that only the worker has
        return replace(outcome, value=None, error=describe_exception(error), kind="error")
