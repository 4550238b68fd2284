"""Plain CSV text to columns, as fast as numpy allows, without a loop over rows.

The positions of all delimiters and newlines come from one comparison of the bytes; reshaped to
one line per row they give the start and end of every field. A number is parsed (see `decimals`),
a name interned (see `interning`) from eight characters at a time. The text is taken in blocks,
on several processors, which also keeps memory low.

Whatever this cannot be sure about (quotes, ragged or blank rows, very long names or such with
spaces around them, text among numbers) is not read here: `scan` gives None, and the csv module
takes over.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from outperform.runs.arrays import FloatArray, IntArray
from outperform.runs.decimals import N_AFTER, Text, pack, pad, parse_decimals, parse_integers
from outperform.runs.interning import Interned, NotPlain, intern, join_interned
from outperform.runs.labels import Labels
from outperform.runs.numbers import parse_number

_BLOCK_SIZE = 1 << 22  # with smaller ones, threads spend their time handing over to one another
_LONGEST_NAME = 128  # bytes: every name of a block takes as much memory as the longest
_NEWLINE, _RETURN = ord("\n"), ord("\r")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Block:
    """Some rows of the text, with where each starts, and where its fields end."""

    text: Text
    start: IntArray
    end: IntArray  # (n_rows, n_columns)

    def intern_column(self, column: int) -> Interned | IntArray:
        start, n_characters = self._locate(column)
        if n_characters.min() == 0 or n_characters.max() > _LONGEST_NAME:
            raise NotPlain
        # One row tells most columns of names from those of integers.
        if parse_integers(self.text, start[:1], n_characters[:1]) is not None:
            integers = parse_integers(self.text, start, n_characters)
            if integers is not None:
                return integers
        return intern(pack(self.text, start, n_characters))

    def parse_column(self, column: int) -> FloatArray:
        start, n_characters = self._locate(column)
        values, plain = parse_decimals(self.text, start, n_characters)
        for i in np.flatnonzero(~plain).tolist():
            number = parse_number(self.text.decode(start[i], n_characters[i]))
            if number is None:
                raise NotPlain
            values[i] = number
        return values

    def _locate(self, column: int) -> tuple[IntArray, IntArray]:
        """Where the fields of a column start, and how long they are."""
        start = self.end[:, column - 1] + 1 if column else self.start
        return start, self.end[:, column] - start


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

    def read(text: Text) -> tuple[list[Interned | IntArray], list[FloatArray]]:
        block = _split(text, n_columns, ord(delimiter))
        interned = [block.intern_column(column) for column in labels]
        return interned, [block.parse_column(column) for column in numbers]

    try:
        interned, values = zip(*_map(read, list(_blocks(data, begin))), strict=True)
        names = [join_interned(parts) for parts in zip(*interned, strict=True)]
        return names, [np.concatenate(arrays) for arrays in zip(*values, strict=True)]
    except NotPlain:
        return None


def _map(read: Callable[[Text], T], blocks: Sequence[Text]) -> list[T]:
    """Apply `read` to each block, on several processors where there is enough to do."""
    if len(blocks) < 4:
        return [read(text) for text in blocks]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as threads:
        return list(threads.map(read, blocks))


def _blocks(data: bytes, begin: int) -> Iterator[Text]:
    """Cut the text into blocks of whole rows."""
    end = len(data)
    while end > begin and data[end - 1] in b"\r\n":
        end -= 1
    if begin == end:
        raise NotPlain
    while end - begin > _BLOCK_SIZE:
        cut = data.rfind(b"\n", begin, begin + _BLOCK_SIZE) + 1 or data.find(b"\n", begin, end) + 1
        if not cut or cut + N_AFTER > len(data):
            break
        yield Text(data, begin, cut)
        begin = cut
    yield pad(data[begin:end], b"\r\n" if data.endswith(b"\r\n", 0, begin) else b"\n")


def _split(text: Text, n_columns: int, delimiter: int) -> _Block:
    characters = text.characters
    is_newline = characters == _NEWLINE
    is_separator = characters == delimiter
    is_separator |= is_newline
    separators = np.flatnonzero(is_separator)
    n_rows = np.count_nonzero(is_newline)
    if len(separators) != n_rows * n_columns:
        raise NotPlain
    end = separators.reshape(n_rows, n_columns)
    if not is_newline.take(end[:, -1]).all():
        raise NotPlain
    start = np.append(0, end[:-1, -1] + 1)
    if text.data.find(b"\r", text.begin, text.end) >= 0:
        _leave_out_returns(characters, end[:, -1])
    return _Block(text, start, end)


def _leave_out_returns(characters: npt.NDArray[np.uint8], end: IntArray) -> None:
    n_returns = np.count_nonzero(characters == _RETURN)
    if n_returns != len(end) or not (characters[end - 1] == _RETURN).all():
        raise NotPlain
    end -= 1
