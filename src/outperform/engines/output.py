"""What a worker prints: passed on at once, and kept in part, for the outcome of its item."""

import codecs
import os
import select
from contextlib import suppress

from outperform.wording import join_cut

LONGEST_OUTPUT = 20_000  # characters that are kept: the first half of them, and the last
_CHUNK = 65_536  # bytes read at a time; as many as a pipe holds
_SURE = 4096  # bytes that a pipe takes at once if it takes any (PIPE_BUF of Linux)
_PATIENCE = 0.1  # seconds that our own stderr may take to take some


class KeptText:
    r"""Beginning and end of a text that comes in pieces of any bytes, however long it gets.

    Examples
    --------
    >>> text = KeptText(8)
    >>> for piece in (b"Begi", b"ns, g", b"oes on, ends.\xff"):
    ...     text.add(piece)
    >>> print(text)
    Begi
    [15 characters cut]
    ds.�
    """

    def __init__(self, length: int = LONGEST_OUTPUT) -> None:
        self._half = length // 2
        self.forget()

    def forget(self) -> None:
        """Begin anew, with a text of which nothing has come."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head = self._tail = ""
        self._n_cut = 0

    def add(self, piece: bytes, *, final: bool = False) -> None:
        """Keep as much of a piece as there is room for."""
        text = self._decoder.decode(piece, final).replace("\0", "\ufffd")  # which no store takes
        room = self._half - len(self._head)
        self._head += text[:room]
        tail = self._tail + text[room:]
        self._tail = tail[-self._half :]
        self._n_cut += len(tail) - len(self._tail)

    def __str__(self) -> str:
        return join_cut(self._head, self._n_cut, self._tail)


class Output:
    """Our end of the pipe that a worker, and all that it starts, prints to."""

    def __init__(self, end: int) -> None:
        os.set_blocking(end, False)
        self._end = end
        self._kept = KeptText()
        self.is_over = False  # nobody holds the other end any more

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
            self.is_over = not piece
            self._kept.add(piece)
            _pass_on(piece)
            left -= len(piece)

    def forget(self) -> None:
        """Count what was printed so far for nobody."""
        self.read()
        self._kept.forget()

    def take(self) -> str:
        """What was printed since last asked, without the middle where that is long."""
        self.read()
        self._kept.add(b"", final=True)
        text = str(self._kept)
        self._kept.forget()
        return text

    def close(self) -> None:
        """Close our end."""
        os.close(self._end)


def _pass_on(piece: bytes) -> None:
    """Write to our own stderr; what that does not take is left out, for it may take nothing ever.

    Who calls this watches over workers, and must not be held up.
    """
    with suppress(OSError, ValueError):  # it is closed, or full
        for start in range(0, len(piece), _SURE):
            if not select.select([], [2], [], _PATIENCE)[1]:
                return
            os.write(2, piece[start : start + _SURE])
