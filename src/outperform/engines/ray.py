"""Fits on a Ray cluster, or on a Ray that is started here for as long as the engine is open."""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from outperform.engines.engine import Needs, summarize_error
from outperform.engines.remote import Disconnected, RemoteEngine, Tell, retry
from outperform.engines.resources import GivenDevices
from outperform.engines.supervision import Order, Report, name_process, supervise
from outperform.engines.worker import Job, Loss
from outperform.errors import EngineError, InvalidInput, MissingExtra, OutperformError
from outperform.wording import hide_logins

_HERE = ("ray", "ray://local")
_PULSE_SECONDS = 1.0
_NOTE_AFTER = 1.0  # seconds of a fit: quicker ones are over before anybody has read of them
_NOTE_EVERY = 10.0  # seconds
# A Ray that is away for a minute ends the processes that use it, without a word to them.
_LONGEST_ABSENCE = 20.0  # seconds
_LONGEST_CONNECTING = 5.0  # seconds: a head that has just been started may not listen yet
_LONGEST_INLINE = 20_000  # bytes of code that go with every job: a dependency costs more
# A head starts a server for each client, which dies at once now and then: it is forked from a
# process whose other threads are at work. The client hears of it after half a minute.
_N_TRIES = 3
_QUIET = {"log_to_driver": False, "logging_level": "ERROR"}


def open_cluster(
    address: str, options: Mapping[str, Any], *, heartbeat: Path | None, patience: float
) -> RemoteEngine:
    """Engine of a Ray cluster; options go to `ray.init`."""
    words = _read_address(address, options)
    if address in _HERE:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # before it is imported
    try:
        import ray  # noqa: F401
    except ImportError:
        raise MissingExtra(
            f"'{address}' needs Ray, which is not installed",
            'Install it with `pip install "outperform[ray]"`, here and where the workers run',
        ) from None
    return RemoteEngine(_Ray(address, words), heartbeat=heartbeat, patience=patience)


def _read_address(address: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Words for `ray.init`."""
    if address in _HERE:
        return {"address": "local", "include_dashboard": False, **_QUIET, **options}
    if address == "ray://auto":
        return {"address": "auto", **_QUIET, **options}
    host, _, port = address.removeprefix("ray://").rpartition(":")
    is_place = address.startswith("ray://") and host and port.isdecimal()
    if not is_place or "/" in host or "@" in host:
        raise InvalidInput(
            f"'{hide_logins(address)}' does not say where Ray is",
            "Write ray://HOST:PORT, ray://auto for the cluster that this machine is part of, or "
            "ray to start one here",
        )
    return {"address": address, **options}


@dataclass(slots=True)
class _Call:
    references: list[Any]  # to what the task and its copies will return
    n_left: int  # of which nothing was heard
    tell: Tell


class _Ray:
    """Ray as a cluster; handles are numbers of its tasks."""

    lists_all = False

    def __init__(self, name: str, words: Mapping[str, Any]) -> None:
        import ray

        self.name = name
        self._ray: Any = ray
        self._words = words
        self._is_ours = not (name == "ray://auto" and ray.is_initialized())
        # By number: a reference of Ray's client cannot tell it from others before the server has
        # answered, in the thread that waits for our lock.
        self._waiting: dict[int, _Call] = {}
        self._unwanted: list[Any] = []  # copies of what is done
        self._n_calls = 0
        self._session = ""  # in which calls are made
        self._working: list[tuple[str, Any]] | None = None
        self._lock = threading.Lock()
        self._is_gone = False
        self._closing = threading.Event()
        if self._is_ours:
            self._connect()
        self._begin()

    @property
    def is_deserted(self) -> bool:
        return not self._is_gone and not self._nodes

    def share(self, code: bytes) -> Any:
        if len(code) < _LONGEST_INLINE:
            return code
        try:
            _reach(self._place)  # putting something into a store that is gone ends this process
        except OSError as error:
            self._is_gone = True
            raise Disconnected from error
        return self._ray.put(code)

    def call(self, code: Any, order: Order, tell: Tell, avoid: Collection[str] = ()) -> int:
        if self._is_gone:
            raise Disconnected
        self._n_calls += 1
        task, n_copies = self._task_for(order.job.needs), 1
        if avoid and (nodes := list_other_nodes(self._nodes, avoid)):
            from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

            node = nodes[self._n_calls % len(nodes)]
            preference = NodeAffinitySchedulingStrategy(node, soft=True)
            task = task.options(scheduling_strategy=preference)
        elif avoid:
            n_copies = 2  # Ray cannot be told to avoid a process: one copy keeps it busy
        self._session = order.lease.session
        references = [task.remote(code, order, self._n_calls) for _ in range(n_copies)]
        with self._lock:
            self._waiting[self._n_calls] = _Call(references, n_copies, tell)
        for reference in references:
            reference.future().add_done_callback(partial(self._hear, self._n_calls, order.job))
        return self._n_calls

    def check_needs(self, needs: Needs) -> None:
        if needs in self._tasks:
            return
        asked = _list_resources(needs)
        offers = [node["Resources"] for node in self._nodes]
        if not any(
            all(offer.get(name, 0) >= amount for name, amount in asked.items()) for offer in offers
        ):
            listed = ", ".join(f"{name}: {amount:g}" for name, amount in asked.items())
            raise InvalidInput(
                f"a fit needs {listed}, and no node of '{self.name}' has that",
                "Add a node that has, with `ray start --num-gpus` or `--resources`, or ask for "
                "less in the pipeline's resources",
            )

    def cancel(self, handles: list[int]) -> None:
        with self._lock:
            calls = [self._waiting.pop(number) for number in handles if number in self._waiting]
            unwanted, self._unwanted = self._unwanted, []
        if not self._is_gone:
            for reference in [*unwanted, *(each for call in calls for each in call.references)]:
                self._ray.cancel(reference, force=True)  # its process ends, and so does the child

    def reconnect(self) -> None:
        """Connect anew; a Ray that was started here, or by others in this process, stays lost."""
        self._end(was_lost=True)
        try:
            if self.name in _HERE or not self._is_ours:
                raise ConnectionError
            retry(partial(_reach, self._place), _LONGEST_ABSENCE, OSError)
        except OSError as error:
            raise EngineError(
                f"the Ray at '{self.name}' is gone",
                "Start it again; the same command resumes",
            ) from error
        self._connect()
        self._begin()

    def working(self) -> list[tuple[str, Any]] | None:
        return self._working

    def close(self, session: str) -> None:
        if not self._is_gone:
            self._end(was_lost=False)

    def _connect(self) -> None:
        try:
            named = self._words["address"]
            place = os.environ.get("RAY_ADDRESS", "") if named == "auto" else named
            if place.removeprefix("ray://").rpartition(":")[2].isdecimal():
                # Ray itself tries for minutes.
                head = partial(_reach, place.removeprefix("ray://"))
                retry(head, _LONGEST_CONNECTING, OSError)
            # It would tell what it hands on to the cluster.
            logging.getLogger("ray.client_builder").setLevel(logging.WARNING)
            for n_left in reversed(range(_N_TRIES)):
                try:
                    self._ray.init(**self._words)
                    return
                except ConnectionError:
                    if not n_left:
                        raise
        except Exception as error:  # options may make it raise anything
            raise self._describe(error) from error

    def _describe(self, error: Exception) -> OutperformError:
        """Why there is no connection."""
        why = summarize_error(str(error)).rstrip(".")
        if isinstance(error, ImportError):
            return MissingExtra(
                f"'{self.name}' needs what Ray's client needs: {why}",
                'Install it with `pip install "outperform[ray]"`',
            )
        is_word = "keyword argument" in why
        if isinstance(error, OSError | RuntimeError | ValueError) and not is_word:
            return EngineError(
                f"there is no Ray at '{self.name}': {why}",
                "Start one with `ray start --head`, or mend the address",
            )
        return InvalidInput(
            f"Ray does not take these options: {why}", "Mend them in [engine.options]"
        )

    def _begin(self) -> None:
        """Make ready to send tasks to the Ray that we are connected to."""
        self._tasks: dict[Needs, Any] = {}
        self._task = self._ray.remote(max_retries=0)(_work)
        self._place = self._words["address"].removeprefix("ray://")
        if not self._words["address"].startswith("ray://"):
            self._place = self._ray.get_runtime_context().gcs_address
        self._look()
        self._is_gone = False
        self._closing = threading.Event()
        self._pulse = threading.Thread(target=self._feel_pulse, args=(self._closing,), daemon=True)
        self._pulse.start()

    def _end(self, *, was_lost: bool) -> None:
        self._is_gone = True
        self._closing.set()
        self._pulse.join(_PULSE_SECONDS)
        if self._is_ours or was_lost:  # a lost one would end this process
            with suppress(Exception):
                self._ray.shutdown()

    def _feel_pulse(self, closing: threading.Event) -> None:
        """Look whether Ray is there, and how large it is: asking it would wait for ever."""
        last = time.monotonic()
        while not closing.wait(_PULSE_SECONDS):
            try:
                _reach(self._place)
                last = time.monotonic()
                self._look()
            except Exception:
                if time.monotonic() - last > _LONGEST_ABSENCE:
                    break
        if closing.is_set():
            return
        self._is_gone = True
        with self._lock:
            lost, self._waiting = [*self._waiting.values()], {}
        for call in lost:
            call.tell(Disconnected())

    def _look(self) -> None:
        """See how large Ray is at present, and what it does."""
        self._nodes = [node for node in self._ray.nodes() if node["Alive"]]
        n_processors = sum(node["Resources"].get("CPU", 0) for node in self._nodes)
        self.n_workers = max(1, int(n_processors))
        try:  # who works on which call, where they take their time
            board = self._ray.get_actor(_name_board(self._session))
            notes: dict[str, int] = self._ray.get(board.read.remote(), timeout=_PULSE_SECONDS)
            self._working = [*notes.items()]
        except (ValueError, self._ray.exceptions.RayError):  # nothing has taken so long, or is lost
            self._working = None

    def _task_for(self, needs: Needs) -> Any:
        if needs not in self._tasks:
            others = _list_resources(needs)
            words = {
                "num_cpus": others.pop("CPU", 0),
                "num_gpus": others.pop("GPU", needs.gpus),
                "memory": others.pop("memory", None),
                "resources": others,
            }
            self._tasks[needs] = self._task.options(**words)
        return self._tasks[needs]

    def _hear(self, number: int, job: Job, future: Any) -> None:
        """Hand on what has become of a task; Ray calls this in a thread of its own."""
        news = _read_news(job, future.result)
        with self._lock:
            call = self._waiting.get(number)
            if call is None:  # it was cancelled by us, done by its copy, or lost with Ray
                return
            call.n_left -= 1
            if call.n_left and not (isinstance(news, Report) and news.outcome):
                return  # its copy may have more luck
            del self._waiting[number]
            self._unwanted += call.references if call.n_left else []
        call.tell(news)


def list_other_nodes(nodes: list[dict[str, Any]], avoid: Collection[str]) -> list[str]:
    """Names of nodes on whose hosts none of the workers to avoid are.

    Examples
    --------
    >>> nodes = [{"NodeID": "a1", "NodeManagerHostname": "one"}]
    >>> list_other_nodes(nodes, ["two:17"]), list_other_nodes(nodes, ["one:17"])
    (['a1'], [])
    """
    hosts = {worker.rpartition(":")[0] for worker in avoid}
    return [node["NodeID"] for node in nodes if node["NodeManagerHostname"] not in hosts]


def _list_resources(needs: Needs) -> dict[str, float]:
    """What a fit needs, in Ray's words."""
    others = {"CPU" if name == "cpus" else name: amount for name, amount in needs.others}
    known = {"CPU": 1.0, "GPU": needs.gpus, "memory": needs.memory}
    return {name: amount for name, amount in (known | others).items() if amount}


def _read_news(job: Job, result: Callable[[], Report]) -> Any:
    """The report of a task, or what its exception means."""
    from ray import exceptions

    lost = (
        exceptions.WorkerCrashedError,
        exceptions.NodeDiedError,
        exceptions.OutOfMemoryError,
        exceptions.TaskCancelledError,
    )
    try:
        return result()
    except lost as error:
        what = f"Ray lost the worker: {type(error).__name__}: {error}"
        return Report("", loss=Loss(job, "killed", what, 0.0))
    except exceptions.RayTaskError as error:
        return error.cause
    except exceptions.RuntimeEnvSetupError as error:
        return error
    except Exception:
        return Disconnected()


def _work(code: bytes, order: Order, number: int) -> Report:
    """What Ray's workers run."""
    n_threads = int(dict(order.job.needs.others).get("cpus", 1))
    next_note = time.monotonic() + _NOTE_AFTER

    def is_wanted() -> bool:
        nonlocal next_note
        if time.monotonic() > next_note:
            next_note += _NOTE_EVERY
            with suppress(Exception):  # whatever is wrong with the board, the fit goes on
                _write_on_board(order.lease.session, number)
        return order.lease.is_valid()

    words: dict[str, Any] = {"n_threads": max(1, n_threads), "devices": GivenDevices()}
    return supervise(code, order, is_wanted=is_wanted, **words)


class _Board:
    """An actor on which workers note what they do, for whoever watches the run.

    It lives in a worker, and may be lost with it: notes are written again and again.
    """

    def __init__(self) -> None:
        self._notes: dict[str, tuple[float, int]] = {}

    def write(self, worker: str, number: int) -> None:
        self._notes[worker] = time.monotonic(), number

    def read(self) -> dict[str, int]:
        oldest = time.monotonic() - 2 * _NOTE_EVERY
        return {worker: number for worker, (at, number) in self._notes.items() if at > oldest}


_boards: dict[str, Any] = {}  # by session, on which this worker has written


def _write_on_board(session: str, number: int) -> None:
    import ray

    words: dict[str, Any] = {"name": _name_board(session), "get_if_exists": True, "num_cpus": 0}
    board: Any = ray.remote(_Board).options(**words).remote()
    board.write.remote(name_process(), number)
    _boards[session] = board  # Ray ends an actor that nobody holds


def _name_board(session: str) -> str:
    return f"outperform {session}"


def _reach(place: str) -> None:
    """Raise OSError where nobody listens."""
    host, _, port = place.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), timeout=5).close()
