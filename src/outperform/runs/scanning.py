"""Plain CSV text to columns, as fast as numpy allows, without a loop over rows.

The positions of all delimiters and newlines come from one comparison of the bytes; reshaped to
one line per row they give the start and end of every field. A number is parsed (see `decimals`),
a name interned (see `interning`) from eight characters at a time. The text is taken in blocks that
fit in the processor's cache, which also keeps memory low.

Whatever this cannot be sure about (quotes, ragged or blank rows, names with spaces around them,
text among numbers) is not read here: `scan` gives None, and the csv module takes over.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from outperform.runs.arrays import FloatArray, IntArray
from outperform.runs.decimals import N_BEFORE, Text, pack, pad, parse_decimals
from outperform.runs.interning import Interned, NotPlain, intern, join_interned
from outperform.runs.labels import Labels
from outperform.runs.numbers import parse_number

_BLOCK_SIZE = 1 << 20
_NEWLINE, _RETURN = ord("\n"), ord("\r")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Block:
    """Some rows of the text, with where each field starts and ends (n_columns, n_rows)."""

    text: Text
    start: IntArray
    end: IntArray

    def intern_column(self, column: int) -> Interned:
        start, end = self.start[column], self.end[column]
        if (start == end).any():
            raise NotPlain
        return intern(pack(self.text, start, end))

    def parse_column(self, column: int) -> FloatArray:
        start, end = self.start[column], self.end[column]
        values, plain = parse_decimals(self.text, start, end)
        for i in np.flatnonzero(~plain).tolist():
            number = parse_number(self.text.padded[start[i] : end[i]].decode())
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

    def read(text: Text) -> tuple[list[Interned], list[FloatArray]]:
        block = _split(text, n_columns, ord(delimiter))
        interned = [block.intern_column(column) for column in labels]
        return interned, [block.parse_column(column) for column in numbers]

    try:
        interned, values = zip(*_map(read, _blocks(data, begin)), strict=True)
        names = [join_interned(parts) for parts in zip(*interned, strict=True)]
        return names, [np.concatenate(arrays) for arrays in zip(*values, strict=True)]
    except NotPlain:
        return None


def _map(read: Callable[[Text], T], blocks: Iterator[Text]) -> list[T]:
    """Apply `read` to each block, on several processors where there is enough to do."""
    first = list(islice(blocks, 4))
    if len(first) < 4:
        return [read(text) for text in first]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as threads:
        return list(threads.map(read, chain(first, blocks)))


def _blocks(data: bytes, begin: int) -> Iterator[Text]:
    """Cut the text into blocks of whole rows."""
    end = len(data)
    while end > begin and data[end - 1] in b"\r\n":
        end -= 1
    if begin == end:
        raise NotPlain
    last_newline = b"\r\n" if data[:begin].endswith(b"\r\n") else b"\n"
    view = memoryview(data)
    while begin < end:
        cut = data.rfind(b"\n", begin, begin + _BLOCK_SIZE)
        if cut < 0:
            cut = data.find(b"\n", begin)
        is_last = cut < 0 or cut >= end
        yield pad(view[begin:end], last_newline) if is_last else pad(view[begin : cut + 1])
        begin = end if is_last else cut + 1


def _split(text: Text, n_columns: int, delimiter: int) -> _Block:
    is_newline = text.characters == _NEWLINE
    separators = np.flatnonzero(is_newline | (text.characters == delimiter))
    n_rows = np.count_nonzero(is_newline)
    if len(separators) != n_rows * n_columns:
        raise NotPlain
    end = np.ascontiguousarray(separators.reshape(n_rows, n_columns).T)
    if not is_newline[end[-1]].all():
        raise NotPlain
    start = np.empty_like(end)
    start[0, 0], start[0, 1:], start[1:] = N_BEFORE, end[-1, :-1] + 1, end[:-1] + 1
    if b"\r" in text.padded:
        _leave_out_returns(text.characters, end[-1])
    return _Block(text, start, end)


def _leave_out_returns(characters: npt.NDArray[np.uint8], end: IntArray) -> None:
    n_returns = np.count_nonzero(characters == _RETURN)
    if n_returns != len(end) or not (characters[end - 1] == _RETURN).all():
        raise NotPlain
    end -= 1
