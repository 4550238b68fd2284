"""What runs inside a worker process: receive an item, work on it, send back what came out."""

import faulthandler
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Literal, NamedTuple

from outperform.engines.engine import describe_exception, run


class Reply(NamedTuple):
    """One message from a worker.

    `"ready"`: the interpreter is up. `"started"`: the work has been loaded and begins now. The
    others end a job.
    """

    kind: Literal["ready", "started", "done", "error"]
    value: bytes = b""
    error: str | None = None
    seconds: float = 0.0


def serve(channel: int, crash_report: int, coordinator: int, n_threads: int) -> None:
    """Work until the coordinator closes the channel or is no more.

    Parameters
    ----------
    channel, crash_report
        File descriptors: of the connection, and of a file for the traceback of a crash.
    coordinator
        Process id; when it is not the parent any more, this process and its children end.
    n_threads
        Threads that numerical libraries may use.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the coordinator
    for descriptor in (channel, crash_report):
        os.set_inheritable(descriptor, False)
    faulthandler.enable(crash_report)
    threading.Thread(target=_die_with, args=(coordinator,), daemon=True).start()
    with suppress(EOFError, ConnectionError):  # the coordinator has closed or died
        _Server(Connection(channel), n_threads).serve()


def _die_with(coordinator: int) -> None:
    """End this process, and the commands it has started, when the coordinator is gone."""
    while os.getppid() == coordinator:
        time.sleep(0.5)
    os.killpg(0, signal.SIGKILL)


class _Server:
    def __init__(self, connection: Connection, n_threads: int) -> None:
        self._connection = connection
        self._n_threads = n_threads
        self._works: dict[int, Callable[[Any], Any]] = {}

    def serve(self) -> None:
        self._connection.send(Reply("ready"))
        while True:
            number, code, item = self._connection.recv()
            try:
                reply = self._reply(number, code, item)
            except BaseException as error:  # in loading the work, or in packing what came out
                reply = Reply("error", error=describe_exception(error))
            self._connection.send(reply)

    def _reply(self, number: int, code: bytes | None, item: bytes) -> Reply:
        if code is not None:
            self._works[number] = pickle.loads(code)
            _limit_threads(self._n_threads)
            self._connection.send(Reply("started"))
        value, error, seconds, kind = run(self._works[number], pickle.loads(item))
        return Reply(kind, _pack(value), error, seconds)


def _pack(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except Exception:  # such as instances of classes made in a notebook
        import cloudpickle

        packed: bytes = cloudpickle.dumps(value)
        return packed


def _limit_threads(n_threads: int) -> None:
    # Variables in the environment limit the libraries that load later; this is for those that
    # came with the work and have not heeded them.
    from threadpoolctl import threadpool_limits

    threadpool_limits(n_threads)
