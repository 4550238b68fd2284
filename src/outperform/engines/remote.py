"""Fits in processes of a cluster, any of which may be lost; and so may the cluster, for a while."""

import os
import secrets
import socket
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Literal, NamedTuple, Protocol, Self, TypeVar

from outperform.engines.channels import Works, pack
from outperform.engines.engine import (
    NO_NEEDS,
    Activity,
    Needs,
    Outcome,
    check_submission,
    describe_exception,
    summarize_error,
)
from outperform.engines.supervision import Lease, Order, Report
from outperform.engines.worker import N_TRIES, Job, Loss, cannot_load, unpack
from outperform.errors import EngineError, InvalidInput
from outperform.wording import enumerate_names

T = TypeVar("T")
News = Report | BaseException
Tell = Callable[[News], None]

_INSTALLED = {"site-packages", "dist-packages"}


class Disconnected(Exception):
    """News of an order that was lost with the cluster itself, or with what the order needs."""


class Cluster(Protocol):
    """What a cluster can do; it knows nothing of tries and losses.

    `share` and `call` are told of trouble by exceptions: Disconnected where reconnecting may help.
    """

    @property
    def name(self) -> str:
        """What it is called in messages, without credentials."""

    @property
    def n_workers(self) -> int:
        """How many items it works on at a time at present, one at least; asked often."""

    @property
    def is_deserted(self) -> bool:
        """Whether it is known to have no worker at present."""

    def share(self, code: bytes) -> Any:
        """Bring bytes to the workers once; gives what `call` takes in their place."""

    def call(self, code: Any, order: Order, tell: Tell, avoid: Collection[str] = ()) -> Any:
        """Have some worker `supervise(code, order)`; returns at once, with a hashable handle.

        Parameters
        ----------
        code
            What `share` gave.
        tell
            To be called once, from any thread, with the report; with Disconnected, where the
            order is lost and reconnecting may help; with any other exception where the worker
            could not even begin.
        avoid
            Workers that could not load the work: best not one of these, if that can be said.
        """

    def check_needs(self, needs: Needs) -> None:
        """Refuse what no worker will ever have, with InvalidInput."""

    def cancel(self, handles: list[Any]) -> None:
        """Give up orders, running ones too."""

    def reconnect(self) -> None:
        """Find the cluster again, if need be; raises EngineError where it is gone for good."""

    @property
    def lists_all(self) -> bool:
        """Whether all workers are among those of `working`, idle ones too, with None."""

    def working(self) -> list[tuple[str, Any]] | None:
        """Names of workers, and the handle of what each works on; None where that is not known.

        None in place of a handle where a worker is idle.
        """

    def close(self, session: str) -> None:
        """Let go, and let workers know that a session's coordinator wants nothing more."""


class _Sent(NamedTuple):
    job: Job
    handle: Any


class RemoteEngine:
    """Runs items on a cluster: sends, counts tries, finds the cluster again when it is lost.

    Time limits, crashes and the like are the business of `supervise`, where the item runs.

    Parameters
    ----------
    heartbeat
        A file that its owner touches every now and then, where workers can see it: they go on
        without this process as long as that is not older than `patience`, in seconds.
    """

    def __init__(
        self, cluster: Cluster, *, heartbeat: Path | None = None, patience: float = 0.0
    ) -> None:
        self._cluster = cluster
        self._works = Works()
        self._shared: dict[int, Any] = {}
        self._loaded: set[int] = set()  # works that some worker has loaded
        self._unable: dict[str, str] = {}  # workers that could not load a work, and why
        self._n_unloaded: dict[int, int] = {}  # by work, how often that was so
        with tempfile.NamedTemporaryFile(prefix="outperform-", delete=False) as flag:
            self._flag = Path(flag.name)
        place = (socket.gethostname(), os.getpid(), str(self._flag))
        beat = "" if heartbeat is None else str(heartbeat.absolute())
        self._lease = Lease(secrets.token_hex(8), *place, beat, patience)
        self._sent: dict[int, _Sent] = {}
        self._n_sent = 0
        self._news: SimpleQueue[tuple[int, News]] = SimpleQueue()
        self._finished: list[Outcome] = []
        self._phase: Literal["open", "closing", "stopping"] = "open"
        self._failure: BaseException | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self.close() if error is None else self.stop()

    @property
    def name(self) -> str:
        """What the cluster is called, without credentials."""
        return self._cluster.name

    @property
    def n_workers(self) -> int:
        """How many items are worked on at a time, at present."""
        return self._cluster.n_workers

    @property
    def shortage(self) -> str | None:
        """Which workers could not load the work; None where all could."""
        if not self._unable:
            return None
        error = summarize_error(list(self._unable.values())[-1])
        return (
            f"others did all fits, as these workers could not load the code of the fits: "
            f"{enumerate_names(self._unable)}: {error}"
        )

    @property
    def waits_for(self) -> str | None:
        """That the cluster has no workers, where that is so and known."""
        if not self._sent or not self._cluster.is_deserted:
            return None
        return f"'{self.name}' has no workers: fits wait for some to join"

    def activity(self) -> list[Activity] | None:
        """What is worked on at the moment; None where the cluster does not tell."""
        working = self._cluster.working()
        if working is None:
            return None
        tags = {sent.handle: sent.job.tag for sent in [*self._sent.values()] if sent.handle}
        return [
            Activity(worker, tags[handle], None) for worker, handle in working if handle in tags
        ]

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
        if needs != NO_NEEDS:
            self._cluster.check_needs(needs)
        number, code = self._works.pack(work)
        self._send(Job(tag, number, code, pack(item), timeout, needs))

    def wait(self, patience: float | None = None) -> list[Outcome]:
        """Outcomes not handed out yet: at least one, or none where nothing is left to wait for."""
        deadline = None if patience is None else time.monotonic() + patience
        with suppress(Empty):
            while self._sent and not self._finished and self._failure is None:
                self._hear(None if deadline is None else max(0.0, deadline - time.monotonic()))
        if self._failure is not None and not self._finished and self._phase != "stopping":
            raise self._failure
        finished, self._finished = self._finished, []
        return finished

    def close(self) -> None:
        """Finish what was submitted, then let go; `wait` still hands out the outcomes."""
        if self._phase == "open":
            self._phase = "closing"
            while self._sent and self._failure is None:
                self._hear()
            self._let_go()

    def stop(self) -> None:
        """Give up at once what is not finished; `wait` still hands out what is."""
        if self._phase != "stopping":
            was_open, self._phase = self._phase == "open", "stopping"
            with suppress(Empty):
                while True:
                    self._finish(*self._news.get_nowait())
            if was_open:
                self._let_go()

    def _let_go(self) -> None:
        self._flag.unlink(missing_ok=True)
        with suppress(Disconnected):
            self._cluster.cancel([sent.handle for sent in self._sent.values()])
        self._sent.clear()
        self._cluster.close(self._lease.session)

    def _send(self, job: Job) -> None:
        """Send a job on its way; where the cluster is away, that is the first news of it."""
        self._n_sent += 1
        number = self._n_sent
        self._flag.touch()  # whoever tidies temporary files takes old ones away

        def tell(news: News) -> None:
            self._news.put((number, news))

        folder = os.getcwd()  # noqa: PTH109, as text
        places = _find_places(tuple(map(str, sys.path)), folder)
        order = Order(replace(job, tag=None, code=b""), self._lease, folder, places)
        handle = None
        try:
            if job.number not in self._shared:
                self._shared[job.number] = self._cluster.share(job.code)
            handle = self._cluster.call(self._shared[job.number], order, tell, self._unable)
        except Disconnected as error:
            tell(error)
        self._sent[number] = _Sent(job, handle)

    def _hear(self, patience: float | None = None) -> None:
        """Wait for news, and take in all there is; raises Empty where none comes in time."""
        number, news = self._news.get(timeout=patience)
        try:
            with suppress(Empty):
                while True:
                    self._take(number, news)
                    number, news = self._news.get_nowait()
        except EngineError as error:
            self._failure = error

    def _take(self, number: int, news: News) -> None:
        """Take in news; where the cluster was lost, find it again and send all that is not done."""
        if isinstance(news, Disconnected):
            if number not in self._sent:
                return  # it has been sent again already
            with suppress(Disconnected):
                self._cluster.cancel([sent.handle for sent in self._sent.values()])
            self._cluster.reconnect()
            self._shared.clear()
            jobs = [sent.job for sent in self._sent.values()]
            self._sent.clear()
            for job in jobs:
                self._send(job)
        elif not self._finish(number, news) and number in self._sent:
            self._try_again(self._sent.pop(number).job, news)

    def _finish(self, number: int, news: News) -> bool:
        """Take in an outcome, if that is what has come."""
        if number not in self._sent or not isinstance(news, Report) or news.outcome is None:
            return False
        job = self._sent.pop(number).job
        self._loaded.add(job.number)
        self._finished.append(replace(unpack(news.outcome), tag=job.tag))
        return True

    def _try_again(self, job: Job, news: News) -> None:
        """Send a job once more that was lost with its worker, unless it is to blame."""
        if isinstance(news, InvalidInput):  # no worker has what was promised for it
            raise EngineError(news.problem, news.remedy) from news
        loss, worker = _describe_loss(job, news)
        if loss.kind == "unbegun":
            self._note_unloaded(loss, worker)
            self._send(replace(job, n_unbegun=job.n_unbegun + 1))
        elif loss.kind == "killed" and job.n_killed + 1 < N_TRIES:
            self._loaded.add(job.number)
            self._send(replace(job, n_killed=job.n_killed + 1))
        elif loss.failure is not None:
            raise loss.failure
        else:
            self._loaded.add(job.number)
            self._finished.append(replace(loss.to_outcome(), worker=worker))

    def _note_unloaded(self, loss: Loss, worker: str) -> None:
        """Remember who could not load a work; raises where nobody can."""
        number = loss.job.number
        self._unable[worker] = loss.error
        self._n_unloaded[number] = self._n_unloaded.get(number, 0) + 1
        # Each of those whose names are not known may be the only one that cannot.
        n_tries = N_TRIES * (1 if worker else self._cluster.n_workers)
        if self._n_unloaded[number] < n_tries:
            return
        if worker and self._cluster.lists_all:
            if any(name not in self._unable for name, _ in self._cluster.working() or ()):
                return  # one of these may be loading it, or has
        elif number in self._loaded:
            return  # the cluster does not say who is there, but there was somebody
        assert loss.failure is not None
        self._unable.clear()
        where = f" (on {worker})" if worker else ""
        raise EngineError(f"{loss.failure.problem}{where}", loss.failure.remedy) from RuntimeError(
            loss.error
        )


def retry(call: Callable[[], T], seconds: float, *errors: type[Exception], pause: float = 0.5) -> T:
    """Call until these errors end; after so many seconds, the next of them gets through."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return call()
        except errors:
            if time.monotonic() > deadline:
                raise
        time.sleep(pause)


@cache
def _find_places(path: tuple[str, ...], folder: str) -> tuple[str, ...]:
    """Where modules of the user's own are looked for; installed ones are the worker's own."""
    standard = sysconfig.get_path("stdlib")
    places = [Path(folder, place) for place in path]
    return tuple(
        str(place)
        for place in places
        if not (_INSTALLED & set(place.parts) or place.is_relative_to(standard))
    )


def _describe_loss(job: Job, news: News) -> tuple[Loss, str]:
    """How a job was lost, as its coordinator sees it, and where."""
    if isinstance(news, EngineError):
        return Loss(job, "unbegun", str(news), 0.0, news), ""
    if isinstance(news, BaseException):
        error = describe_exception(news)
        return Loss(job, "unbegun", error, 0.0, cannot_load(error)), ""
    if news.loss is None:
        failure = EngineError(
            f"a worker has taken this run for ended three times, and stopped its fit (on "
            f"{news.worker})",
            "Name a spool that all workers see, with --spool, or none; the same command resumes",
        )
        return Loss(job, "killed", failure.problem, 0.0, failure), news.worker
    return replace(news.loss, job=job), news.worker
