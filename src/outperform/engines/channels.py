"""What passes between a coordinator and a worker: work as bytes, messages, and what it prints.

Each message is checked, so that bytes which somebody else has written are noticed: a fit inherits
the descriptor of its worker's connection, and may write to it by mistake.
"""

import codecs
import os
import pickle
import select
import socket
import struct
import zlib
from collections.abc import Callable
from contextlib import suppress
from types import MethodType
from typing import Any

from outperform.errors import InvalidInput
from outperform.wording import join_cut

_MARK = b"\xffop\0"  # which no text begins with
_HEAD = struct.Struct("!4sIQ")  # the mark, then checksum and length of what follows
_CHUNK = 65_536  # bytes read at a time; as many as a pipe holds
_LONGEST = 1 << 40  # bytes of a message
_HALF = 10_000  # characters that are kept of what is printed, the first and the last as many
_SURE = 4096  # bytes that a pipe takes at once if it takes any (PIPE_BUF of Linux)
_PATIENCE = 0.1  # seconds that our own stderr may take to take some


class Garbled(Exception):
    """Bytes that are no message."""


class Channel:
    """One end of a connection."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._unread = bytearray()

    def fileno(self) -> int:
        """Descriptor, to wait for."""
        return self._socket.fileno()

    def send(self, message: object) -> None:
        """Send anything that can be pickled."""
        body = pickle.dumps(message)
        head = _HEAD.pack(_MARK, zlib.crc32(body), len(body))
        if len(body) < _CHUNK:
            self._socket.sendall(head + body)  # at once: the other end wakes up once
        else:
            self._socket.sendall(head)
            self._socket.sendall(body)

    def receive(self) -> list[Any]:
        """Messages that are complete by now; waits only where no byte has come.

        Raises EOFError where the other end is closed, Garbled where bytes are no message.
        """
        news = self._socket.recv(_CHUNK)
        if not news:
            raise EOFError
        self._unread += news
        messages: list[Any] = []
        while True:
            if not _MARK.startswith(self._unread[: len(_MARK)]):
                raise Garbled
            if len(self._unread) < _HEAD.size:
                return messages
            _, checksum, length = _HEAD.unpack_from(self._unread)
            if length > _LONGEST:
                raise Garbled
            end = _HEAD.size + length
            if len(self._unread) < end:
                return messages
            body = bytes(self._unread[_HEAD.size : end])
            if zlib.crc32(body) != checksum:
                raise Garbled
            del self._unread[:end]
            messages.append(pickle.loads(body))

    def close(self) -> None:
        """Close this end."""
        self._socket.close()


class Output:
    """Our end of the pipe that a worker, and all that it starts, prints to.

    Beginning and end of what comes are kept, in pieces of any bytes, however long it gets.
    """

    def __init__(self, end: int) -> None:
        os.set_blocking(end, False)
        self._end = end
        self.is_over = False  # nobody holds the other end any more
        self._decoder: codecs.IncrementalDecoder | None = None  # where something was printed

    def fileno(self) -> int:
        """Descriptor, to wait for."""
        return self._end

    def read(self) -> None:
        """Pass on and keep what has been printed by now, as far as a pipe holds it."""
        left = _CHUNK
        while left > 0 and not self.is_over:
            try:
                piece = os.read(self._end, left)
            except BlockingIOError:
                return
            if not piece:
                self.is_over = True
                return
            self._keep(piece)
            _pass_on(piece)
            left -= len(piece)

    def take(self) -> str:
        """What was printed since last asked, without the middle where that is long."""
        self.read()
        if self._decoder is None:
            return ""
        self._keep(b"", final=True)
        self._decoder = None
        return join_cut(self._head, self._n_cut, self._tail)

    def close(self) -> None:
        """Close our end."""
        os.close(self._end)

    def _keep(self, piece: bytes, *, final: bool = False) -> None:
        if self._decoder is None:
            self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
            self._head, self._n_cut, self._tail = "", 0, ""
        text = self._decoder.decode(piece, final).replace("\0", "\ufffd")  # which no store takes
        room = _HALF - len(self._head)
        self._head += text[:room]
        tail = self._tail + text[room:]
        self._tail = tail[-_HALF:]
        self._n_cut += len(tail) - len(self._tail)


def _pass_on(piece: bytes) -> None:
    """Write to our own stderr; what that does not take is left out, for it may take nothing ever.

    Who calls this watches over workers, and must not be held up.
    """
    with suppress(OSError, ValueError):  # it is closed, or full
        for start in range(0, len(piece), _SURE):
            if not select.select([], [2], [], _PATIENCE)[1]:
                return
            os.write(2, piece[start : start + _SURE])


class Works:
    """Every work that was submitted, pickled once and numbered."""

    def __init__(self) -> None:
        self._works: dict[tuple[int, ...], tuple[Any, int, bytes]] = {}

    def pack(self, work: Callable[[Any], Any]) -> tuple[int, bytes]:
        """Number and bytes of a work."""
        # A bound method is a new object every time it is named.
        parts = (work.__self__, work.__func__) if isinstance(work, MethodType) else (work,)
        identity = tuple(map(id, parts))
        if identity not in self._works:
            # Keeping the work keeps its id from being given to another object.
            self._works[identity] = (work, len(self._works), pack(work))
        _, number, code = self._works[identity]
        return number, code


def pack(thing: Any) -> bytes:
    """Anything as bytes, InvalidInput where that cannot be."""
    import cloudpickle

    try:
        pickled: bytes = cloudpickle.dumps(thing)
    except Exception as error:
        raise InvalidInput(
            f"cannot send {thing!r:.200} to a worker: {error}",
            "Let it make what cannot be sent, such as open files and locks, when it runs",
        ) from error
    return pickled
