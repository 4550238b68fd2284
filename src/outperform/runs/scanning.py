"""Plain CSV text to columns, as fast as numpy allows, without a loop over rows.

The positions of all delimiters and newlines come from one comparison of the bytes; reshaped to
one line per row they give the start and end of every field. A number is parsed (see `decimals`),
a name interned (see `interning`) from eight characters at a time. The text is read in pieces, on
several processors, which also keeps memory low.

Whatever this cannot be sure about (quotes but around whole fields, ragged or blank rows, very
long names or such with spaces around them, text among numbers) is not read here: `scan` gives
None, and the csv module takes over.
"""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from outperform.runs.arrays import FloatArray, IntArray
from outperform.runs.contents import Contents
from outperform.runs.decimals import N_AFTER, Text, pack, pad, parse_decimals, parse_integers
from outperform.runs.interning import Interned, NotPlain, intern, join_interned
from outperform.runs.labels import Labels
from outperform.runs.numbers import parse_number

_PIECE_SIZE = 1 << 21  # with smaller ones, threads spend their time handing over to one another
_N_THREADS = min(4, os.cpu_count() or 1)
_LONGEST_ROW = 1 << 14  # bytes, read beyond a piece to complete its last row
_LONGEST_NAME = 128  # bytes: every name of a block takes as much memory as the longest
_NEWLINE, _RETURN, _QUOTE = ord("\n"), ord("\r"), ord('"')


@dataclass(frozen=True, slots=True)
class _Block:
    """Some rows of the text, with where each starts, and where its fields end."""

    text: Text
    start: IntArray
    end: IntArray  # (n_columns, n_rows)
    has_quotes: bool  # around fields

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
        start = self.end[column - 1] + 1 if column else self.start
        n_characters = self.end[column] - start
        if self.has_quotes:
            is_quoted = self.text.characters.take(start) == _QUOTE
            return start + is_quoted, n_characters - 2 * is_quoted
        return start, n_characters


def scan(
    contents: Contents,
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
    contents, begin
        The text, and where in it the first row starts, right after the newline of the header.
    n_columns
        How many columns the header has.
    labels, numbers
        Indices of the columns to read as names and as numbers (NaN where missing).

    Returns
    -------
    One `Labels` and one array per column asked for, or None if the text is not plain.
    """

    def read(piece: range) -> tuple[list[Interned | IntArray], list[FloatArray]]:
        block = _split(_read_rows(contents, piece), n_columns, ord(delimiter))
        interned = [block.intern_column(column) for column in labels]
        values = [block.parse_column(column) for column in numbers]
        if not labels and np.isnan(values).all(axis=0).any():
            raise NotPlain  # a row without a number may be blank, hence no run
        return interned, values

    pieces = _cut(begin, contents.size)
    try:
        with _mapping(len(pieces)) as apply:
            interned, values = zip(*apply(read, pieces), strict=True)
            names = list(apply(join_interned, zip(*interned, strict=True)))
            return names, list(apply(np.concatenate, zip(*values, strict=True)))
    except NotPlain:
        return None


@contextmanager
def _mapping(n_pieces: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """Give a `map` that works on several processors if there are several pieces."""
    if n_pieces == 1:
        yield map
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_N_THREADS) as threads:
        yield threads.map


def _cut(begin: int, end: int) -> list[range]:
    """Cut positions to pieces of equal length, equally many for each thread."""
    length = end - begin
    n_pieces = 1
    if length > _PIECE_SIZE:
        n_pieces = _N_THREADS * math.ceil(length / (_PIECE_SIZE * _N_THREADS))
    cuts = [begin + length * i // n_pieces for i in range(n_pieces + 1)]
    return [range(*ends) for ends in pairwise(cuts)]


def _read_rows(contents: Contents, piece: range) -> Text:
    """Read the rows that start in a piece, from the newline before them to that of the last."""
    # The newline before them, or before the piece, may have two characters.
    data = contents.read(piece.start - 2, piece.stop + _LONGEST_ROW + N_AFTER)
    begin = data.find(b"\n", 1)
    if piece.stop == contents.size:
        end = len(data.rstrip(b"\r\n"))
        newline = b"\r\n" if data.endswith(b"\r\n", 0, begin + 1) else b"\n"
        text = pad(data[begin:end], newline)
    else:
        end = data.find(b"\n", len(piece) + 1) + 1
        text = Text(data, begin, end) if end + N_AFTER <= len(data) else pad(data[begin:end])
    if not 0 < begin < end - 1 or not _is_text(text):
        raise NotPlain
    return text


def _is_text(text: Text) -> bool:
    # Bytes beyond ASCII are negative as signed numbers: one pass finds them and byte 0.
    if text.characters.view(np.int8).min() > 0:
        return True
    try:
        return "\0" not in text.data[text.begin : text.end].decode()
    except UnicodeDecodeError:
        return False


def _split(text: Text, n_columns: int, delimiter: int) -> _Block:
    characters = text.characters
    is_newline = characters == _NEWLINE
    is_separator = characters == delimiter
    is_separator |= is_newline
    separators = np.flatnonzero(is_separator)
    n_rows = np.count_nonzero(is_newline) - 1
    if len(separators) != n_rows * n_columns + 1:
        raise NotPlain
    end = separators[1:].reshape(n_rows, n_columns).T.copy()
    if not is_newline.take(end[-1]).all():
        raise NotPlain
    start = np.append(1, end[-1, :-1] + 1)
    if text.data.find(b"\r", text.begin, text.end) >= 0:
        _leave_out_returns(characters, end[-1])
    has_quotes = text.data.find(b'"', text.begin, text.end) >= 0
    if has_quotes:
        _check_quotes(characters, start, end)
    return _Block(text, start, end, has_quotes)


def _leave_out_returns(characters: npt.NDArray[np.uint8], end: IntArray) -> None:
    is_return = characters == _RETURN
    end -= 1
    if np.count_nonzero(is_return) != len(end) or not is_return.take(end).all():
        raise NotPlain


def _check_quotes(characters: npt.NDArray[np.uint8], start: IntArray, end: IntArray) -> None:
    """Refuse quotes that do not stand around a field that holds no others."""
    starts = np.vstack((start, end[:-1] + 1))
    is_quoted = end - starts > 1
    for places in (starts, end - 1):
        is_quoted &= characters.take(places) == _QUOTE
    if np.count_nonzero(characters == _QUOTE) != 2 * np.count_nonzero(is_quoted):
        raise NotPlain
