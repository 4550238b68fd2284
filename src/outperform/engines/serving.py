"""What runs inside a worker process: receive an item, work on it, send back what came out."""

import faulthandler
import os
import pickle
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, Literal, NamedTuple

from outperform.engines.channels import Channel
from outperform.engines.engine import describe_exception, run


class Reply(NamedTuple):
    """One message from a worker.

    `"ready"`: the interpreter is up. `"loaded"`: the work has been loaded, and the fit begins now.
    `"unloadable"`: it could not be, which ends the worker. The others end a job.
    """

    kind: Literal["ready", "loaded", "unloadable", "done", "error"]
    value: bytes = b""
    error: str | None = None
    seconds: float = 0.0


def serve(channel: int, crash_report: int, n_threads: int) -> None:
    """Work until the coordinator closes the channel or is no more.

    Channel and crash report are descriptors: of a socket, and of a file for a crash's traceback.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the coordinator
    for descriptor in (channel, crash_report):
        os.set_inheritable(descriptor, False)
    faulthandler.enable(crash_report)
    # Print line by line, in Python and in C, as to a terminal: whoever watches sees it at once.
    with suppress(AttributeError, OSError):  # there is none
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    library, stdout = _find_c_stdout()
    if library is not None:
        library.setvbuf(stdout, None, 1, 0)  # _IOLBF
    # The coordinator has closed or died, or a fit has closed what is not its own.
    with suppress(EOFError, OSError), socket.socket(fileno=channel) as end:
        _serve(Channel(end), n_threads)


def _serve(channel: Channel, n_threads: int) -> None:
    pid = os.getpid()
    works: dict[int, Callable[[Any], Any]] = {}

    def send(reply: Reply) -> None:
        if os.getpid() != pid:
            os._exit(0)  # a fit has forked, and come back twice: its worker speaks for both
        channel.send(reply)

    send(Reply("ready"))
    while True:
        messages: list[tuple[int, bytes | None, bytes]] = []
        while not messages:
            messages = channel.receive()
        number, code, item = messages[0]  # the next comes after our reply
        if code is not None:
            try:
                works[number] = pickle.loads(code)
                # Variables in the environment limit the libraries that load later; this is for
                # those that came with the work and have not heeded them.
                from threadpoolctl import threadpool_limits

                threadpool_limits(n_threads)
            except BaseException as error:  # SystemExit too
                return send(Reply("unloadable", error=describe_exception(error)))
            send(Reply("loaded"))
        send(_reply(works[number], item))


def _reply(work: Callable[[Any], Any], item: bytes) -> Reply:
    try:
        value, error, seconds, kind = run(work, pickle.loads(item))
        return Reply(kind, _pack(value), error, seconds)
    except BaseException as error:  # in loading the item, or in packing what came out
        return Reply("error", error=describe_exception(error))
    finally:
        _flush()


def _pack(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except Exception:  # such as instances of classes made in a notebook
        import cloudpickle

        packed: bytes = cloudpickle.dumps(value)
        return packed


def _flush() -> None:
    """Let out what a fit has printed, before its outcome is sent: later it counts for another."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # whatever a fit has put in its place
            stream.flush()
    library, stdout = _find_c_stdout()
    if library is not None:
        library.fflush(stdout)  # not all streams: some thread may wait for one


@cache
def _find_c_stdout() -> tuple[Any, Any]:
    """The library of C and its stdout; None where they have other names."""
    try:
        import ctypes

        library = ctypes.CDLL(None)
        return library, ctypes.c_void_p.in_dll(library, "stdout")
    except (ImportError, OSError, ValueError):
        return None, None
