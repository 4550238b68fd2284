"""Fits on the workers of a Dask scheduler."""

import gc
import json
import logging
import pickle
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from outperform.engines.engine import Needs, describe_exception
from outperform.engines.local import count_cores
from outperform.engines.remote import Disconnected, RemoteEngine, Tell, retry
from outperform.engines.supervision import Lease, Order, Report, supervise
from outperform.engines.worker import Job, Loss, cannot_load
from outperform.errors import EngineError, InvalidInput, MissingExtra, OutperformError
from outperform.wording import hide_logins

_PREFIX = "dask://"
_FILES = ("tls_ca_file", "tls_client_cert", "tls_client_key")  # of certificates
_MEND = "Give security a tls_ca_file, a tls_client_cert and a tls_client_key, in [engine.options]"
_LONGEST_ABSENCE = 60.0  # seconds for which a scheduler that is lost is looked for
_LONGEST_CONNECTING = 10.0  # seconds for the first connection
_LONGEST_INLINE = 20_000  # bytes of code that go with every job: a dependency costs more
_LONGEST_FAREWELL = 5.0  # seconds for telling workers and the scheduler that we go
# Text and bytes are all that is sent: objects of ours would end the connection of a scheduler or
# worker that lacks outperform, while code that fails there is said to have failed.
_CALL = "__import__('outperform.engines.dask', fromlist=['work']).work(code, order)"
_INSTALL = "Install this outperform, and what the study imports, where the workers run"
_IMPORT = "from outperform.engines import supervision"
_READ_ORDER = f"import pickle; pickle.loads({pickle.dumps((Order, Job, Lease))!r})"
_CENSUS_SECONDS = 1.0  # for which what we know of the workers is new enough


def open_cluster(
    address: str, options: Mapping[str, Any], *, heartbeat: Path | None, patience: float
) -> RemoteEngine:
    """Engine of a Dask scheduler; options go to `distributed.Client`."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise MissingExtra(
            f"'{hide_logins(address)}' needs Dask, which is not installed",
            'Install it with `pip install "outperform[dask]"`, here and where the workers run',
        ) from None
    words = {"timeout": _LONGEST_CONNECTING, "set_as_default": False, **options}
    cluster = _Scheduler(address, words)
    return RemoteEngine(cluster, heartbeat=heartbeat, patience=patience)


class _Sent(NamedTuple):
    future: Any
    job: Job
    tell: Tell


class _Scheduler:
    """A Dask scheduler as a cluster; handles are keys of its tasks."""

    lists_all = True

    def __init__(self, name: str, words: Mapping[str, Any]) -> None:
        self.name = name
        self._words = words
        self._sent: dict[str, _Sent] = {}
        self._done: SimpleQueue[Any] = SimpleQueue()  # futures; None: no more will come
        self._gatherer: threading.Thread | None = None
        self._n_calls = 0
        self._threads: dict[str, int] = {}  # by worker
        self._counted = float("-inf")  # when these were asked for
        self._resources: dict[Needs, dict[str, float]] = {}
        try:
            self._client = self._connect()
        except InvalidInput:
            raise
        except Exception as error:  # options may make it raise anything
            raise self._describe(error) from error

    @property
    def n_workers(self) -> int:
        """Threads of all workers; one even where there is none, so that somebody waits for it."""
        return max(1, sum(self._count_threads().values()))

    @property
    def is_deserted(self) -> bool:
        return self._client.status == "running" and not self._count_threads()

    def share(self, code: bytes) -> Any:
        if len(code) < _LONGEST_INLINE or self.is_deserted:  # nobody could keep it for others
            return code
        with _as_disconnected():
            return self._client.scatter(code, broadcast=True, hash=False)

    def call(self, code: Any, order: Order, tell: Tell, avoid: Collection[str] = ()) -> str:
        if self._client.status != "running":
            raise Disconnected
        self._n_calls += 1
        job = order.job
        key = f"outperform-{order.lease.session}-{self._n_calls}"
        others = [name for name in self._count_threads() if name not in avoid] if avoid else []
        with _as_disconnected():
            future = self._client.submit(
                eval,
                _CALL,
                {"code": code, "order": pickle.dumps(order)},
                key=key,
                pure=False,
                priority=job.n_unbegun + job.n_killed,  # what has waited before comes first
                resources=self._resources.get(job.needs),
                workers=others or None,
                allow_other_workers=bool(others),
            )
        self._sent[key] = _Sent(future, job, tell)
        future.add_done_callback(self._done.put)
        if self._gatherer is None:
            self._gatherer = threading.Thread(target=self._gather, daemon=True)
            self._gatherer.start()
        return key

    def check_needs(self, needs: Needs) -> None:
        if needs in self._resources:
            return
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        offers = [worker.get("resources", {}) for worker in workers]
        wanted = {"GPU": needs.gpus, **dict(needs.others)}
        if any("MEMORY" in offer for offer in offers):  # where not, it is only watched over
            wanted["MEMORY"] = needs.memory
        asked = {name: amount for name, amount in wanted.items() if amount}
        if offers and not any(
            all(offer.get(name, 0) >= amount for name, amount in asked.items()) for offer in offers
        ):
            listed = " ".join(f"{name}={amount:g}" for name, amount in asked.items())
            raise InvalidInput(
                f"a fit needs {listed}, and no worker of '{self.name}' has that",
                f'Start workers with `dask worker ADDRESS --resources "{listed}"`, or ask for less '
                "in the pipeline's resources",
            )
        self._resources[needs] = asked

    def cancel(self, handles: list[str]) -> None:
        futures = [self._sent.pop(key).future for key in handles if key in self._sent]
        if futures and self._client.status == "running":
            with _as_disconnected():
                self._client.cancel(futures)

    def reconnect(self) -> None:
        self._sent.clear()
        _run_aside(partial(self._client.close, timeout=2))
        try:
            self._client = retry(self._connect, _LONGEST_ABSENCE, OSError, TimeoutError, ValueError)
        except (OSError, TimeoutError, ValueError) as error:
            raise EngineError(
                f"the Dask scheduler at '{self.name}' is gone: {error}",
                "Start it again, and its workers; the same command resumes",
            ) from error

    def working(self) -> list[tuple[str, Any]]:
        processing: Mapping[str, Collection[Any]] = {}
        if self._client.status == "running":
            with suppress(Disconnected), _as_disconnected():
                processing = self._client.processing()
        threads, places = self._count_threads(), {key: n for n, key in enumerate([*self._sent])}
        working: list[tuple[str, Any]] = []
        for worker, keys in processing.items():
            # Dask has the next tasks wait at a worker already: what was sent first is at work.
            at_work = sorted(keys, key=lambda key: places.get(key, -1))[: threads.get(worker, 1)]
            working += [(worker, key) for key in at_work or [None]]
        return working

    def close(self, session: str) -> None:
        dismissal = f"{_IMPORT}; supervision.dismiss({session!r})"
        if self._client.status == "running":
            _run_aside(partial(self._client.run, exec, dismissal, on_error="ignore"))
        self._done.put(None)
        _run_aside(partial(self._client.close, timeout=2))

    def _connect(self) -> Any:
        from distributed import Client

        # We say ourselves that a scheduler is lost, without the traceback.
        for part in ("batched", "client", "comm", "core"):
            logging.getLogger(f"distributed.{part}").setLevel(logging.CRITICAL)
        # Dask closes clients of failed connections when they are collected. Where that happens
        # while another starts, both wait for the same lock for ever.
        gc.collect()
        return Client(**_read_address(self.name, self._words))

    def _describe(self, error: Exception) -> OutperformError:
        """Why there is no first connection."""
        from distributed.comm.core import CommClosedError

        why = (str(error) or str(error.__cause__)).rstrip(".")
        # The latter where it has spoken, unencrypted, before we could.
        if isinstance(error, CommClosedError) or "cannot convert to SSL" in why:
            return EngineError(
                f"the Dask scheduler at '{self.name}' ends the connection: {why}",
                "If it is encrypted, give the certificates that it asks for as security in "
                "[engine.options]; if not, none",
            )
        if isinstance(error, OSError | TimeoutError):
            return EngineError(
                f"there is no Dask scheduler at '{self.name}': {why}",
                "Start one with `dask scheduler`, or mend the address",
            )
        return InvalidInput(
            f"Dask does not take '{self.name}' or its options: {why}",
            "Mend the address, or [engine.options]",
        )

    def _count_threads(self) -> dict[str, int]:
        is_old = time.monotonic() - self._counted > _CENSUS_SECONDS
        if is_old and self._client.status == "running":
            with suppress(Disconnected), _as_disconnected():
                self._threads = self._client.nthreads()
            self._counted = time.monotonic()
        return self._threads

    def _gather(self) -> None:
        """Body of a thread: fetch results, all that there are at a time, and hand them on."""
        while (future := self._done.get()) is not None:
            done = [future]
            with suppress(Empty):
                while (future := self._done.get_nowait()) is not None:
                    done.append(future)
                self._done.put(None)  # for the next look
            finished = [each for each in done if each.status == "finished"]
            results: list[Any] = []
            with suppress(Exception):  # then each is asked for by itself, and says what is wrong
                results = self._client.gather(finished)
            by_key = dict(zip((each.key for each in finished), results, strict=False))
            for each in done:
                if sent := self._sent.get(each.key):  # else we have cancelled it
                    news = self._read(sent.job, each, by_key.get(each.key))
                    if self._sent.pop(each.key, None) is not None:
                        sent.tell(news)

    def _read(self, job: Job, future: Any, result: bytes | None) -> Any:
        """News of a task that is done."""
        from distributed.scheduler import KilledWorker

        try:
            return pickle.loads(future.result() if result is None else result)
        except KilledWorker as error:
            what = f"the Dask worker was lost, in each of {error.allowed_failures + 1} tries"
            return Report(error.last_worker.address, loss=Loss(job, "died", what, 0.0))
        except (CancelledError, OSError, TimeoutError):
            return Disconnected()
        except Exception as error:
            return self._explain(job, error)

    def _explain(self, job: Job, error: Exception) -> Any:
        """Where a task failed before it got to a child: on a worker that lacks this outperform."""
        with suppress(Exception):
            answers = self._client.run(exec, _READ_ORDER, on_error="return")
            for worker, answer in answers.items():
                if isinstance(answer, BaseException):
                    text = describe_exception(error)
                    failure = EngineError(cannot_load(text).problem, _INSTALL)
                    return Report(worker, loss=Loss(job, "unbegun", text, 0.0, failure))
        return error


def work(code: bytes, order_bytes: bytes) -> bytes:
    """What Dask's workers run: gives a report, as bytes."""
    from distributed import get_worker

    worker, order = get_worker(), pickle.loads(order_bytes)
    key = worker.get_current_task()

    def is_wanted() -> bool:
        task = worker.state.tasks.get(key)
        is_ours = task is not None and task.state in ("executing", "long-running")
        if is_ours and worker.status.name in ("running", "paused", "closing_gracefully"):
            return True
        # The client has cancelled it or is gone, or the scheduler is.
        return bool(order.lease.heartbeat) and order.lease.is_beating()

    n_threads = max(1, count_cores() // worker.state.nthreads)
    report = supervise(code, order, is_wanted=is_wanted, worker=worker.address, n_threads=n_threads)
    return pickle.dumps(report)


@contextmanager
def _as_disconnected() -> Iterator[None]:
    """Trouble with the connection, as Disconnected."""
    try:
        yield
    except (OSError, TimeoutError, CancelledError, RuntimeError) as error:
        raise Disconnected from error


def _run_aside(call: Callable[[], object]) -> None:
    """Make a call that may fail or take for ever, and go on without it after a while."""

    def run() -> None:
        with suppress(Exception):
            call()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(_LONGEST_FAREWELL)


def _read_address(address: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Words for `distributed.Client`, of an address and options as a study file writes them.

    Raises OSError where a scheduler file is not there, for as long as the option `timeout` says.
    """
    from dask.utils import parse_timedelta

    place = address.removeprefix(_PREFIX)
    given = options.get("security")
    if address.startswith(_PREFIX) and place.startswith("/"):
        security = _read_security(given)
        scheduler = _read_scheduler_file(Path(place), parse_timedelta(options["timeout"]))
    else:
        host, _, port = place.rpartition(":")
        is_place = address.startswith(_PREFIX) and host and port.isdecimal()
        if not is_place or "/" in place or "@" in place:
            raise InvalidInput(
                f"'{hide_logins(address)}' does not say where the scheduler is",
                "Write dask://HOST:PORT, or dask:///path/scheduler.json for a scheduler file",
            )
        security = _read_security(given)
        is_encrypted = given is not None or security.require_encryption
        scheduler = f"{'tls' if is_encrypted else 'tcp'}://{place}"
    if scheduler.startswith("tls:") and not _load_certificates(security):
        # Dask would end in a TypeError, and wait for the client that it was.
        raise InvalidInput(f"'{address}' is encrypted, and there are no certificates for it", _MEND)
    return {**options, "security": security, "address": scheduler}


def _read_scheduler_file(path: Path, patience: float) -> str:
    """Address of the scheduler; Dask itself would wait for the file for ever."""
    unwritten = (OSError, ValueError, LookupError, TypeError)
    try:
        content = retry(
            lambda: json.loads(path.read_bytes())["address"], patience, *unwritten, pause=0.05
        )
    except unwritten as error:
        raise OSError(f"no scheduler has written this file ({error})") from error
    return str(content)


def _read_security(given: Any) -> Any:
    """Certificates of a table, or of Dask's own object; else those of Dask's configuration."""
    from distributed.security import Security

    if isinstance(given, Security):
        return given
    if not isinstance(given, Mapping | None):
        raise InvalidInput("security in [engine.options] is no table", _MEND)
    try:
        return Security(**(given or {}))
    except (TypeError, ValueError) as error:
        raise _refuse(error) from error


def _load_certificates(security: Any) -> Any:
    """What encrypts; None where there is not all that it takes."""
    for word in _FILES:
        name = getattr(security, word)
        # Of several lines, it is the certificate itself.
        if isinstance(name, str) and "\n" not in name and not Path(name).is_file():
            raise InvalidInput(
                f"the {word} of security in [engine.options] is not there",
                f"Name it from / or from {Path.cwd()}",
            )
    try:
        return security.get_connection_args("client")["ssl_context"]
    except (OSError, TypeError, ValueError) as error:
        raise _refuse(error) from error


def _refuse(error: Exception) -> InvalidInput:
    return InvalidInput(f"security in [engine.options] is of no use: {error}", _MEND)
