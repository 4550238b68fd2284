"""Worker processes kept for the next job, in whatever process a cluster has given us.

Starting one takes longer than many fits. Each serves one coordinator only, as modules stay as they
were when it imported them.
"""

import os
import threading
import time
from typing import NamedTuple

from outperform.engines.devices import Devices, GivenDevices
from outperform.engines.engine import Needs
from outperform.engines.jobs import Job
from outperform.engines.worker import Worker

IDLE_SECONDS = 30.0  # after which a child without work is sent home
_LOOK_ROUND = 1.0  # seconds after which devices are looked for again


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
        self._dismissed: set[str] = set()
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
                    self._changed.wait(_LOOK_ROUND)
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
            if kind.session not in self._dismissed:
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
            self._dismissed.add(session)
            gone = [entry for entry in self._idle if entry.kind.session == session]
            self._idle = [entry for entry in self._idle if entry.kind.session != session]
        for entry in gone:
            entry.worker.kill()
            self.let_go(entry.worker, entry.devices)

    def is_dismissed(self, session: str) -> bool:
        """Whether a coordinator has said that it wants nothing more."""
        return session in self._dismissed

    def _begin_anew(self) -> None:
        """After a fork: those of before are children of the process that was forked."""
        self._not_ours.append(self._idle)
        self._changed, self._idle, self._is_looking = threading.Condition(), [], False

    def _look_later(self) -> None:
        if not self._is_looking:
            self._is_looking = True
            timer = threading.Timer(IDLE_SECONDS, self._send_home)
            timer.daemon = True
            timer.start()

    def _find_idle(self, kind: Kind, job: Job) -> Worker | None:
        for index in reversed(range(len(self._idle))):  # others may go home
            if self._idle[index].kind == kind:
                _, _, worker, devices = self._idle.pop(index)
                if _is_well(worker) and worker.suits(job):
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
            latest = time.monotonic() - IDLE_SECONDS
            gone = [entry for entry in self._idle if entry.since <= latest]
            self._idle = [entry for entry in self._idle if entry.since > latest]
            if self._idle:
                self._look_later()
        for entry in gone:
            entry.worker.retire()
            self.let_go(entry.worker, entry.devices)


def _is_well(worker: Worker) -> bool:
    if worker.has_spoken():
        worker.receive()  # nobody has asked: it has died, or something writes to its connection
    return not worker.is_lost()
