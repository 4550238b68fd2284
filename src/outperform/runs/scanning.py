"""Plain CSV text to columns, as fast as numpy allows, without a loop over rows.

The positions of all delimiters and newlines come from one comparison of the bytes; reshaped to
one line per row they give the start and end of every field. A number is parsed (see `decimals`),
a name interned (see `interning`) from eight characters at a time. The text is taken in blocks that
fit in the processor's cache, which also keeps memory low.

Whatever this cannot be sure about (quotes, ragged or blank rows, names with spaces around them,
text among numbers) is not read here: `scan` gives None, and the csv module takes over.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from outperform.runs.arrays import FloatArray, IntArray, WordArray
from outperform.runs.decimals import N_PADDING, pack, parse_decimals, view_words
from outperform.runs.interning import Interned, NotPlain, intern, join_interned
from outperform.runs.labels import Labels
from outperform.runs.numbers import parse_number

_BLOCK_SIZE = 1 << 19
_NEWLINE, _RETURN = ord("\n"), ord("\r")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Block:
    """Some rows of the text, with where each field starts and ends (n_columns, n_rows)."""

    text: bytes
    words: WordArray
    start: IntArray
    end: IntArray

    def intern_column(self, column: int) -> Interned:
        start, end = self.start[column], self.end[column]
        length = end - start
        if length.min() == 0:
            raise NotPlain
        n_words = 1 + (int(length.max()) - 1) // 8
        words = [pack(self.words, start, end, index) for index in range(n_words)]
        return intern(np.stack(words) if n_words > 1 else words[0][np.newaxis])

    def parse_column(self, column: int) -> FloatArray:
        start, end = self.start[column], self.end[column]
        values, plain = parse_decimals(self.words, start, end)
        for i in np.flatnonzero(~plain).tolist():
            number = parse_number(self.text[start[i] : end[i]].decode())
            if number is None:
                raise NotPlain
            values[i] = number
        return values


def scan(
    data: bytes,
    begin: int,
    n_columns: int,
    *,
    delimiter: str,
    labels: Sequence[int],
    numbers: Sequence[int],
) -> tuple[list[Labels], list[FloatArray]] | None:
    """Read some columns of delimited text.

    Parameters
    ----------
    data, begin
        UTF-8 text without byte 0, and where in it the first row after the header starts.
    n_columns
        How many columns the header has.
    labels, numbers
        Indices of the columns to read as names and as numbers (NaN where missing).

    Returns
    -------
    One `Labels` and one array per column asked for, or None if the text is not plain.
    """
    if data.find(b'"', begin) >= 0:
        return None

    def read(text: bytes) -> tuple[list[Interned], list[FloatArray]]:
        block = _split(text, n_columns, ord(delimiter))
        interned = [block.intern_column(column) for column in labels]
        return interned, [block.parse_column(column) for column in numbers]

    try:
        interned, values = zip(*_map(read, list(_blocks(data, begin))), strict=True)
        names = [join_interned(parts) for parts in zip(*interned, strict=True)]
        return names, [np.concatenate(arrays) for arrays in zip(*values, strict=True)]
    except NotPlain:
        return None


def _map(read: Callable[[bytes], T], texts: list[bytes]) -> list[T]:
    """Apply `read` to each text, on several processors where there is enough to do."""
    if len(texts) < 4:
        return [read(text) for text in texts]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=4) as threads:
        return list(threads.map(read, texts))


def _blocks(data: bytes, begin: int) -> Iterator[bytes]:
    """Cut the text into blocks of whole rows."""
    end = len(data)
    while end > begin and data[end - 1] in b"\r\n":
        end -= 1
    if begin == end:
        raise NotPlain
    last_newline = b"\r\n" if data[:begin].endswith(b"\r\n") else b"\n"
    while begin < end:
        cut = data.rfind(b"\n", begin, begin + _BLOCK_SIZE)
        if cut < 0:
            cut = data.find(b"\n", begin)
        is_last = cut < 0 or cut >= end
        yield data[begin:end] + last_newline if is_last else data[begin : cut + 1]
        begin = end if is_last else cut + 1


def _split(text: bytes, n_columns: int, delimiter: int) -> _Block:
    characters = np.frombuffer(text, dtype=np.uint8)
    is_newline = characters == _NEWLINE
    separators = np.flatnonzero(is_newline | (characters == delimiter))
    n_rows = np.count_nonzero(is_newline)
    if len(separators) != n_rows * n_columns:
        raise NotPlain
    end = np.ascontiguousarray(separators.reshape(n_rows, n_columns).T)
    if not is_newline[end[-1]].all():
        raise NotPlain
    start = np.empty_like(end)
    start[0, 0], start[0, 1:], start[1:] = 0, end[-1, :-1] + 1, end[:-1] + 1
    if b"\r" in text:
        _leave_out_returns(characters, end[-1])
    return _Block(text, view_words(text + bytes(N_PADDING)), start, end)


def _leave_out_returns(characters: npt.NDArray[np.uint8], end: IntArray) -> None:
    n_returns = np.count_nonzero(characters == _RETURN)
    if n_returns != len(end) or not (characters[end - 1] == _RETURN).all():
        raise NotPlain
    end -= 1
