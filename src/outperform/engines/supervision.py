"""What runs in a process of a cluster: give a job to a child, watch it, and tell what came out.

The child may hang, crash and eat the memory; this process stays as it is, and never loads the
user's code. Starting a child takes longer than many fits, so it is kept for the next job of its
coordinator; for another one it is not, as modules stay as they were when it imported them.
"""

import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import wait as wait_for_any
from typing import NamedTuple

from outperform.engines.engine import Needs, Outcome
from outperform.engines.resources import VISIBLE, Devices, GivenDevices
from outperform.engines.worker import Job, Loss, Worker

_IDLE_SECONDS = 30.0  # after which a child without work is sent home
_LOOK_ROUND = 0.5  # seconds after which we ask whether the job is still wanted
_LONGEST_PAUSE = 30.0  # seconds for which a worker that cannot load the work takes no job
_RETRY_DEVICES = 1.0  # seconds after which devices are looked for again

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


class Kind(NamedTuple):
    """What children have in common that may stand in for one another."""

    session: str
    n_threads: int
    needs: Needs
    visible: str  # devices that this process sees, which Ray changes from task to task
    folder: str
    places: tuple[str, ...]


class _Idle(NamedTuple):
    since: float
    kind: Kind
    worker: Worker
    devices: Devices | GivenDevices


class Children:
    """The idle children of this process."""

    def __init__(self) -> None:
        self._not_ours: list[object] = []
        self._changed = threading.Condition()
        self._idle: list[_Idle] = []  # the longest first
        self.dismissed: set[str] = set()  # coordinators that want nothing more
        self._is_looking = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin_anew)

    def take(self, kind: Kind, job: Job, devices: Devices | GivenDevices) -> Worker:
        """An idle child that suits a job, or a new one, as soon as there are devices for it."""
        devices.check(job.needs.gpus)
        with self._changed:
            worker = self._find_idle(kind, job)
            while worker is None and (share := devices.take(job.needs.gpus)) is None:
                if not self._free_devices():
                    self._changed.wait(_RETRY_DEVICES)
                worker = self._find_idle(kind, job)
        if worker is not None:
            return worker
        assert share is not None
        try:
            return Worker(
                n_threads=kind.n_threads, share=share, folder=kind.folder, places=kind.places
            )
        except BaseException:
            devices.give_back(share)
            raise

    def keep(self, worker: Worker, kind: Kind, devices: Devices | GivenDevices) -> None:
        """Keep a child that has done its job, for a while."""
        with self._changed:
            if kind.session not in self.dismissed:
                self._idle.append(_Idle(time.monotonic(), kind, worker, devices))
                self._look_later()
                self._changed.notify()
                return
        worker.kill()
        self.let_go(worker, devices)

    def let_go(self, worker: Worker, devices: Devices | GivenDevices) -> None:
        """Let others have the devices of a child that is gone."""
        with self._changed:
            devices.give_back(worker.share)
            self._changed.notify()

    def dismiss(self, session: str) -> None:
        """Send home the children of a coordinator that wants nothing more."""
        with self._changed:
            self.dismissed.add(session)
            gone = [entry for entry in self._idle if entry.kind.session == session]
            self._idle = [entry for entry in self._idle if entry.kind.session != session]
        for entry in gone:
            entry.worker.kill()
            self.let_go(entry.worker, entry.devices)

    def _begin_anew(self) -> None:
        """After a fork: those of before are children of the process that was forked."""
        self._not_ours.append(self._idle)
        self._changed, self._idle, self._is_looking = threading.Condition(), [], False

    def _look_later(self) -> None:
        if not self._is_looking:
            self._is_looking = True
            timer = threading.Timer(_IDLE_SECONDS, self._send_home)
            timer.daemon = True
            timer.start()

    def _find_idle(self, kind: Kind, job: Job) -> Worker | None:
        for index in reversed(range(len(self._idle))):  # others may go home
            if self._idle[index].kind == kind:
                _, _, worker, devices = self._idle.pop(index)
                if worker.has_spoken():  # though nobody asked: it has died, or somebody writes
                    worker.receive()
                if not worker.is_lost() and worker.suits(job):
                    return worker
                worker.kill()
                devices.give_back(worker.share)
        return None

    def _free_devices(self) -> bool:
        """Send home the child that has been idle longest of those with devices; whether one was."""
        for index, (_, _, worker, devices) in enumerate(self._idle):
            if worker.share.devices:
                del self._idle[index]
                worker.kill()
                devices.give_back(worker.share)
                return True
        return False

    def _send_home(self) -> None:
        with self._changed:
            self._is_looking = False
            latest = time.monotonic() - _IDLE_SECONDS
            gone = [entry for entry in self._idle if entry.since <= latest]
            self._idle = [entry for entry in self._idle if entry.since > latest]
            if self._idle:
                self._look_later()
        for entry in gone:
            entry.worker.retire()
            self.let_go(entry.worker, entry.devices)


_children = Children()
_devices = Devices()
_unloaded: dict[tuple[str, int], tuple[int, float]] = {}  # failures, and when to try again


@dataclass(frozen=True, slots=True)
class Order:
    """A job on its way to a cluster, without its code."""

    job: Job
    lease: Lease  # who wants it, and for how long
    folder: str  # where the coordinator runs; so does the job, where there is such a folder
    places: tuple[str, ...]  # of the coordinator's own modules, for workers that see these files


@dataclass(frozen=True, slots=True)
class Report:
    """What became of an order; neither outcome nor loss where it was not wanted any more."""

    worker: str  # where that was
    outcome: Outcome | None = None  # its value still as bytes, which the coordinator unpacks
    loss: Loss | None = None


def name_process() -> str:
    """Name of this process among those of all hosts."""
    return f"{socket.gethostname()}:{os.getpid()}"


def supervise(
    code: bytes,
    order: Order,
    *,
    is_wanted: Callable[[], bool] | None = None,
    worker: str = "",
    n_threads: int = 1,
    devices: Devices | GivenDevices | None = None,
) -> Report:
    """Have a child of this process do a job, and kill it when nobody wants that any more.

    Parameters
    ----------
    is_wanted
        Whether the result is, as far as the cluster knows; asked twice a second. By default, the
        order's lease tells.
    worker
        What the cluster calls this worker; by default, its host and process.
    n_threads
        Threads that numerical libraries may use, unless the environment allows fewer.
    devices
        Where graphics processors come from; by default, those of this process are handed out.
    """
    worker, lease, job = worker or name_process(), order.lease, replace(order.job, code=code)
    wanted = is_wanted or lease.is_valid
    allowed = os.environ.get("OMP_NUM_THREADS", "")  # one in a Dask worker
    if allowed.isdecimal() and int(allowed) > 0:
        n_threads = min(n_threads, int(allowed))

    def still_wanted() -> bool:
        return lease.session not in _children.dismissed and wanted()

    if not _pause(lease, job, still_wanted):
        return Report(worker)
    if devices is None:
        # Where none are found that a cluster has promised, those that this process sees.
        are_ours = not job.needs.gpus or _devices.are_known
        devices = _devices if are_ours else GivenDevices()
    visible = os.environ.get(VISIBLE, "")
    kind = Kind(lease.session, n_threads, job.needs, visible, order.folder, order.places)
    child = _children.take(kind, job, devices)
    report = Report(worker)
    try:
        child.give(job)
        report = _watch(child, worker, still_wanted)
    except BaseException:  # a cluster may cancel by an exception
        child.kill()
        raise
    finally:
        if report.outcome is None:
            _children.let_go(child, devices)
        else:
            _children.keep(child, kind, devices)
    _remember(lease, job, report.loss)
    return report


def dismiss(session: str) -> None:
    """Kill what this process does for a coordinator, now or within a moment."""
    _children.dismiss(session)


def _watch(child: Worker, worker: str, is_wanted: Callable[[], bool]) -> Report:
    looked = time.monotonic()
    while True:
        until = min(_LOOK_ROUND, max(0.0, child.deadline - time.monotonic()))
        if wait_for_any(child.ends, until):  # type: ignore[arg-type]
            outcome = child.receive()
            if outcome is not None:
                return Report(worker, replace(outcome, tag=None, worker=worker))
        if child.is_lost():
            loss = child.lay_off()
            if loss is not None:  # without what its coordinator has
                loss = replace(loss, job=replace(loss.job, code=b"", item=b""))
            return Report(worker, loss=loss)
        if time.monotonic() - looked > _LOOK_ROUND:
            looked = time.monotonic()
            if not is_wanted():
                child.kill()
                return Report(worker)


def _pause(lease: Lease, job: Job, is_wanted: Callable[[], bool]) -> bool:
    """Wait where loading the work has failed before: others that can load it shall get the jobs.

    Returns whether the job is wanted.
    """
    _, resume = _unloaded.get((lease.session, job.number), (0, 0.0))
    while is_wanted():
        left = resume - time.monotonic()
        if left <= 0:
            return True
        time.sleep(min(left, _LOOK_ROUND))
    return False


def _remember(lease: Lease, job: Job, loss: Loss | None) -> None:
    work = (lease.session, job.number)
    if loss is not None and loss.kind == "unbegun":
        n_failures = _unloaded.get(work, (0, 0.0))[0] + 1
        pause = min(0.5 * 2.0**n_failures, _LONGEST_PAUSE)
        _unloaded[work] = (n_failures, time.monotonic() + pause)
    else:
        _unloaded.pop(work, None)
