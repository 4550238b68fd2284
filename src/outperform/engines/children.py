"""Worker processes kept for the next job, in whatever process a cluster has given us.

Starting one takes longer than many fits. Each serves one coordinator only, as modules stay as they
were when it imported them.
"""

import os
import threading
import time
from typing import NamedTuple

from outperform.engines.engine import Needs
from outperform.engines.worker import Worker

IDLE_SECONDS = 30.0  # after which a child without work is sent home


class Kind(NamedTuple):
    """What children have in common that may stand in for one another."""

    session: str
    n_threads: int
    needs: Needs
    folder: str
    places: tuple[str, ...]
    devices: str  # that a process sees, which Ray changes from task to task


class Children:
    """The idle children of this process."""

    def __init__(self) -> None:
        self._not_ours: list[object] = []
        self._lock = threading.Lock()
        self._idle: list[tuple[float, Kind, Worker]] = []  # since when, the longest first
        self._dismissed: set[str] = set()
        self._is_looking = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin_anew)

    def take(self, kind: Kind) -> Worker:
        """An idle child of a kind, or a new one."""
        with self._lock:
            for index in reversed(range(len(self._idle))):  # others may go home
                if self._idle[index][1] == kind:
                    worker = self._idle.pop(index)[2]
                    if _is_well(worker):
                        return worker
                    worker.kill()
        return Worker(n_threads=kind.n_threads, folder=kind.folder, places=kind.places)

    def keep(self, worker: Worker, kind: Kind) -> None:
        """Keep a child that has done its job, for a while."""
        with self._lock:
            if kind.session not in self._dismissed:
                self._idle.append((time.monotonic(), kind, worker))
                self._look_later()
                return
        worker.kill()

    def dismiss(self, session: str) -> None:
        """Send home the children of a coordinator that wants nothing more."""
        with self._lock:
            self._dismissed.add(session)
            gone = [worker for _, kind, worker in self._idle if kind.session == session]
            self._idle = [entry for entry in self._idle if entry[1].session != session]
        for worker in gone:
            worker.kill()

    def is_dismissed(self, session: str) -> bool:
        """Whether a coordinator has said that it wants nothing more."""
        return session in self._dismissed

    def _begin_anew(self) -> None:
        """After a fork: those of before are children of the process that was forked."""
        self._not_ours.append(self._idle)
        self._lock, self._idle, self._is_looking = threading.Lock(), [], False

    def _look_later(self) -> None:
        if not self._is_looking:
            self._is_looking = True
            timer = threading.Timer(IDLE_SECONDS, self._send_home)
            timer.daemon = True
            timer.start()

    def _send_home(self) -> None:
        with self._lock:
            self._is_looking = False
            latest = time.monotonic() - IDLE_SECONDS
            gone = [worker for since, _, worker in self._idle if since <= latest]
            self._idle = [entry for entry in self._idle if entry[0] > latest]
            if self._idle:
                self._look_later()
        for worker in gone:
            worker.retire()


def _is_well(worker: Worker) -> bool:
    if worker.has_spoken():
        worker.receive()  # nobody has asked: it has died, or something writes to its connection
    return not worker.is_lost()
