"""Messages between two processes, each checked: bytes that somebody else has written are noticed.

A fit inherits the descriptor of its worker's connection, and may write to it by mistake.
"""

import pickle
import socket
import struct
import zlib
from typing import Any

_MARK = b"\xffop\0"  # which no text begins with
_HEAD = struct.Struct("!4sIQ")  # the mark, then checksum and length of what follows
_CHUNK = 65_536  # bytes read at a time
_LONGEST = 1 << 40  # bytes of a message


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
        messages = []
        while (body := self._take()) is not None:
            messages.append(pickle.loads(body))
        return messages

    def close(self) -> None:
        """Close this end."""
        self._socket.close()

    def _take(self) -> bytes | None:
        """Body of the next message, None where it is not complete."""
        if not _MARK.startswith(self._unread[: len(_MARK)]):
            raise Garbled
        if len(self._unread) < _HEAD.size:
            return None
        _, checksum, length = _HEAD.unpack_from(self._unread)
        if length > _LONGEST:
            raise Garbled
        end = _HEAD.size + length
        if len(self._unread) < end:
            return None
        body = bytes(self._unread[_HEAD.size : end])
        if zlib.crc32(body) != checksum:
            raise Garbled
        del self._unread[:end]
        return body
