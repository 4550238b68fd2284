"""Fits in processes of this machine, any of which may hang, crash or be killed."""

import atexit
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import wait as wait_for_any
from typing import Any, Literal, Self

from outperform.engines.channels import Works, pack
from outperform.engines.engine import (
    NO_NEEDS,
    Activity,
    Needs,
    Outcome,
    check_submission,
    summarize_error,
)
from outperform.engines.resources import Devices, Share
from outperform.engines.worker import N_TRIES, Job, Loss, Worker, unpack
from outperform.errors import InvalidInput

_LOOK_ROUND = 1.0  # seconds after which workers are looked after though none has spoken


class LocalEngine:
    """Runs items in worker processes, each item on whichever worker is free first.

    Parameters
    ----------
    n_workers
        How many items are worked on at a time.
    n_threads
        Threads that numerical libraries may use in each worker; by default the cores are shared
        out among the workers.
    gpus
        Graphics processors to hand out: how many, or a list of them, where one named twice is
        shared by two items. By default those in CUDA_VISIBLE_DEVICES or, without that, those that
        `nvidia-smi` lists.

    Notes
    -----
    Work is pickled when first submitted, and sent once to every worker; what it refers to should
    not change afterwards.

    A thread of its own hands out items and enforces the timeout, whatever the submitter is doing.

    Examples
    --------
    >>> with LocalEngine(2) as engine:
    ...     engine.submit(lambda number: number**2, 7, tag="seven")
    ...     engine.wait()[0].value
    49
    """

    waits_for: None = None

    def __init__(
        self,
        n_workers: int,
        *,
        n_threads: int | None = None,
        gpus: int | Sequence[int | str] | None = None,
    ) -> None:
        if n_workers < 1:
            raise InvalidInput(f"n_workers is {n_workers}", "Have one worker at least")
        if n_threads is not None and not (isinstance(n_threads, int) and n_threads >= 1):
            raise InvalidInput(f"n_threads is {n_threads!r}", "Give one thread at least")
        self._devices = Devices(gpus)
        self.n_workers = n_workers
        self.n_threads = n_threads or max(1, count_cores() // n_workers)
        self._works = Works()
        self._workers: list[Worker] = []
        self._room = n_workers  # for workers; less where some never get ready
        self._last_unbegun = ""  # error of the worker that left less room
        self._pending = JobQueue()
        self._finished: list[Outcome] = []
        self._n_outstanding = 0  # submitted, and not handed out by `wait`
        self._phase: Literal["open", "closing", "stopping"] = "open"
        self._failure: BaseException | None = None
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._bell, self._bell_rope = socket.socketpair()
        for end in (self._bell, self._bell_rope):
            end.setblocking(False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self.close() if error is None else self.stop()

    @property
    def name(self) -> str:
        """Its address."""
        return f"local:{self.n_workers}"

    @property
    def shortage(self) -> str | None:
        """Why fewer items are worked on at a time; None where all workers got ready."""
        if self._room == self.n_workers:
            return None
        return (
            f"{self._room} of {self.n_workers} workers did all fits, as others could not load the "
            f"code of the fits: {summarize_error(self._last_unbegun)}"
        )

    def activity(self) -> list[Activity]:
        """What is worked on at the moment."""
        workers = [(worker, worker.job) for worker in [*self._workers]]
        return [Activity(worker.name, job.tag, worker.since) for worker, job in workers if job]

    def submit(
        self,
        work: Callable[[Any], Any],
        item: Any,
        *,
        tag: Any,
        timeout: float | None = None,
        needs: Needs = NO_NEEDS,
    ) -> None:
        """Ask for `work(item)`; returns at once."""
        check_submission(timeout, is_open=self._phase == "open", failure=self._failure)
        if needs.gpus:
            self._devices.check(needs.gpus)
        number, code = self._works.pack(work)
        job = Job(tag, number, code, pack(item), timeout, needs)
        with self._changed:
            self._n_outstanding += 1
            self._pending.add(job)
        if self._thread is None:
            atexit.register(self.stop)
            self._thread = threading.Thread(target=self._run, name="outperform", daemon=True)
            self._thread.start()
        self._ring()

    def wait(self, patience: float | None = None) -> list[Outcome]:
        """Outcomes not handed out yet: at least one, or none where nothing is left to wait for."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._finished or not self._n_outstanding or self._failure is not None,
                patience,
            )
            if self._failure is not None and not self._finished and self._phase != "stopping":
                raise self._failure
            finished, self._finished = self._finished, []
            self._n_outstanding -= len(finished)
            return finished

    def close(self) -> None:
        """Finish what was submitted, then end the workers; `wait` still hands out outcomes."""
        self._end("closing")

    def stop(self) -> None:
        """Kill the workers at once; `wait` still hands out what was finished before."""
        self._end("stopping")

    def _end(self, phase: Literal["closing", "stopping"]) -> None:
        self._phase = phase
        if self._thread is not None:
            self._ring()
            self._thread.join()
            atexit.unregister(self.stop)
            self._thread = None
        self._bell.close()
        self._bell_rope.close()

    def _ring(self) -> None:
        with suppress(BlockingIOError, OSError):  # rung often enough already, or closed
            self._bell_rope.send(b"!")

    def _run(self) -> None:
        """Body of the thread, the only one that touches workers."""
        try:
            while self._phase == "open" or (self._phase == "closing" and self._has_work()):
                self._assign()
                deadlines = [worker.deadline - time.monotonic() for worker in self._workers]
                self._collect(patience=max(0.0, min([_LOOK_ROUND, *deadlines])))
            while any(worker.has_spoken() for worker in self._workers):
                self._collect(patience=0)
        except BaseException as error:
            self._failure = error
        finally:
            try:
                while self._workers:
                    worker = self._workers.pop()
                    is_done = self._phase == "closing" and worker.job is None
                    worker.retire() if is_done else worker.kill()
            finally:
                with self._changed:
                    self._pending.clear()
                    self._n_outstanding = len(self._finished)
                    self._changed.notify_all()

    def _has_work(self) -> bool:
        return bool(self._pending) or any(worker.job is not None for worker in self._workers)

    def _assign(self) -> None:
        while self._pending:
            idle = [worker for worker in self._workers if worker.job is None]
            if not idle and len(self._workers) >= self._room:
                return
            if not (self._give_to_idle(idle) or self._give_to_new(idle)):
                return

    def _give_to_idle(self, idle: list[Worker]) -> bool:
        """Give an idle worker a job that it suits, if there are two such."""
        for job in self._pending.list_first():
            for worker in reversed(idle):
                if worker.suits(job):
                    worker.give(self._pending.take(job.needs.gpus))
                    return True
        return False

    def _give_to_new(self, idle: list[Worker]) -> bool:
        """Start a worker for a job, in place of idle ones if need be; False: no job can run yet."""
        for job in self._pending.list_first():
            gpus = job.needs.gpus
            share = self._take_devices(gpus, idle) if gpus else Share(gpus)
            if share is None:
                continue
            if len(self._workers) >= self._room:
                self._retire(idle[0], idle)
            self._workers.append(Worker(n_threads=self.n_threads, share=share))
            self._workers[-1].give(self._pending.take(gpus))
            return True
        return False

    def _take_devices(self, gpus: float, idle: list[Worker]) -> Share | None:
        """So many devices, in place of idle workers if need be; None where they are not free.

        What a worker sees of the devices is settled when it starts, and it may keep memory of them
        until it ends.
        """
        if not self._devices.can_take(gpus, [worker.share for worker in idle]):
            return None
        while not self._devices.can_take(gpus):
            self._retire(next(worker for worker in idle if worker.share.devices), idle)
        return self._devices.take(gpus)

    def _retire(self, worker: Worker, idle: list[Worker]) -> None:
        idle.remove(worker)
        self._workers.remove(worker)
        worker.retire()
        self._devices.give_back(worker.share)

    def _collect(self, *, patience: float) -> None:
        """Hand out outcomes of the next workers to speak, die or run out of time."""
        ends: dict[Any, Worker] = {end: worker for worker in self._workers for end in worker.ends}
        finished: list[Outcome] = []
        try:
            for end in wait_for_any([self._bell, *ends], patience):
                if end is self._bell:
                    self._bell.recv(4096)
                elif outcome := ends[end].receive():
                    finished.append(unpack(outcome))
            for worker in [worker for worker in self._workers if worker.is_lost()]:
                if outcome := self._dismiss(worker):
                    finished.append(outcome)
        finally:  # what others have finished is not lost where this raises
            if finished:
                with self._changed:
                    self._finished += finished
                    self._changed.notify_all()

    def _dismiss(self, worker: Worker) -> Outcome | None:
        """Part with a worker that is lost; its job is done elsewhere unless it is to blame."""
        self._workers.remove(worker)
        loss = worker.lay_off()
        self._devices.give_back(worker.share)
        if loss is None:
            return None
        n_killed = loss.job.n_killed + 1
        if loss.kind == "unbegun":
            self._give_back(loss)
        elif loss.kind == "killed" and n_killed < N_TRIES:
            self._pending.add(replace(loss.job, n_killed=n_killed))  # among other neighbours
        else:
            return replace(loss.to_outcome(), worker=worker.name)
        return None

    def _give_back(self, loss: Loss) -> None:
        """Queue a job that was not begun; raises where no worker gets as far as that."""
        job = replace(loss.job, n_unbegun=loss.job.n_unbegun + 1)
        if job.n_unbegun == N_TRIES:
            if not any(worker.may_do(job) for worker in self._workers):
                assert loss.failure is not None
                raise loss.failure from RuntimeError(loss.error)
            # Others can, and there is no room for more of them, in memory perhaps.
            self._room, self._last_unbegun = len(self._workers), loss.error
            job = replace(job, n_unbegun=0)
        self._pending.add(job, first=True)


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


def count_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
