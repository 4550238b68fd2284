"""Plain CSV text to columns, as fast as numpy allows, without a loop over rows.

The positions of all delimiters and newlines come from one comparison of the bytes; reshaped to
one line per row they give the start and end of every field. A field is then packed into 64-bit
integers (see `decimals`): equal names are equal integers, so names are told apart by sorting
integers, and only the distinct ones ever become Python strings. The text is taken in blocks that
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
from outperform.runs.decimals import N_PADDING, pack, parse_decimals, read_digits, view_words
from outperform.runs.labels import Labels
from outperform.runs.numbers import parse_number

_BLOCK_SIZE = 1 << 20
_NEWLINE, _RETURN = ord("\n"), ord("\r")
_MIXER = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying loses nothing
_N_CACHED = 1 << 14  # rows of which several arrays fit in the cache
_N_SAMPLE = 1 << 12
_FEW = 1024  # distinct names up to which a binary search per row is cheap


T = TypeVar("T")


class _NotPlain(Exception):
    """The text is not as regular as it must be here."""


@dataclass(frozen=True, slots=True)
class _Block:
    """Some rows of the text, with where each field starts and ends (n_columns, n_rows)."""

    text: bytes
    words: WordArray
    start: IntArray
    end: IntArray

    def pack_column(self, column: int) -> list[WordArray]:
        start, end = self.start[column], self.end[column]
        length = end - start
        if length.min() == 0:
            raise _NotPlain
        n_words = 1 + (int(length.max()) - 1) // 8
        return [pack(self.words, start, end, index) for index in range(n_words)]

    def parse_column(self, column: int) -> FloatArray:
        start, end = self.start[column], self.end[column]
        values, plain = parse_decimals(self.words, start, end)
        for i in np.flatnonzero(~plain).tolist():
            number = parse_number(self.text[start[i] : end[i]].decode())
            if number is None:
                raise _NotPlain
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

    def read(text: bytes) -> tuple[list[list[WordArray]], list[FloatArray]]:
        block = _split(text, n_columns, ord(delimiter))
        packed = [block.pack_column(column) for column in labels]
        return packed, [block.parse_column(column) for column in numbers]

    try:
        words, values = zip(*_map(read, list(_blocks(data, begin))), strict=True)
        names = [_label(parts) for parts in zip(*words, strict=True)]
        return names, [np.concatenate(arrays) for arrays in zip(*values, strict=True)]
    except _NotPlain:
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
        raise _NotPlain
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
        raise _NotPlain
    end = np.ascontiguousarray(separators.reshape(n_rows, n_columns).T)
    if not is_newline[end[-1]].all():
        raise _NotPlain
    start = np.empty_like(end)
    start[0, 0], start[0, 1:], start[1:] = 0, end[-1, :-1] + 1, end[:-1] + 1
    if b"\r" in text:
        _leave_out_returns(characters, end[-1])
    return _Block(text, view_words(text + bytes(N_PADDING)), start, end)


def _leave_out_returns(characters: npt.NDArray[np.uint8], end: IntArray) -> None:
    n_returns = np.count_nonzero(characters == _RETURN)
    if n_returns != len(end) or not (characters[end - 1] == _RETURN).all():
        raise _NotPlain
    end -= 1


def _label(blocks: Sequence[list[WordArray]]) -> Labels:
    """Number the distinct names of a column, shortest first."""
    words = _join_blocks(blocks)
    # Neighbouring rows often share a name: look at the first of each such stretch only.
    is_head = np.ones(words.shape[1], dtype=bool)
    is_head[1:] = (words[:, 1:] != words[:, :-1]).any(axis=0)
    heads = np.flatnonzero(is_head)
    if len(heads) > len(is_head) // 2:
        distinct, codes = _number(words)
        return Labels(_decode(distinct), codes)
    distinct, codes = _number(words[:, heads])
    lengths = np.diff(heads, append=len(is_head))
    return Labels(_decode(distinct), np.repeat(codes, lengths))


def _join_blocks(blocks: Sequence[list[WordArray]]) -> WordArray:
    """Bring all blocks to the same number of words: shape (n_words, n_rows)."""
    n_words = max(len(parts) for parts in blocks)
    rows = []
    for index in range(n_words):
        of_block = (p[index] if index < len(p) else np.zeros_like(p[0]) for p in blocks)
        rows.append(np.concatenate(list(of_block)))
    return np.stack(rows) if n_words > 1 else rows[0][np.newaxis]


def _number(words: WordArray) -> tuple[WordArray, IntArray]:
    """Find the distinct columns of `words` in ascending order, and the place of each."""
    if len(words) == 1:
        distinct, codes = _number_integers(words[0])
        return distinct[np.newaxis], codes
    mixed = words[0]
    for word in words[1:]:
        mixed = mixed * _MIXER + word
    keys, codes = _number_integers(mixed)
    example = np.empty(len(keys), dtype=np.int64)
    example[codes] = np.arange(len(codes))
    distinct = words[:, example]
    if not (distinct[:, codes] == words).all():  # two names mixed to the same key
        raise _NotPlain
    order = np.lexsort(distinct)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return distinct[:, order], rank[codes]


def _number_integers(keys: WordArray) -> tuple[WordArray, IntArray]:
    sample = keys[:: 1 + len(keys) // _N_SAMPLE]
    n_slots = int(_read_as_digits(sample).max()) + 1
    numbered = _number_by_table(keys) if n_slots <= 4 * len(keys) else None
    if numbered is None:
        numbered = _number_few(keys, np.unique(sample))
    if numbered is None:
        distinct, codes = np.unique(keys, return_inverse=True)
        return distinct, codes
    return numbered


def _number_few(keys: WordArray, known: WordArray) -> tuple[WordArray, IntArray] | None:
    """Number a small set of names, of which a sample is known already."""
    while len(known) <= _FEW:
        codes = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        is_new = known[codes] != keys
        if not is_new.any():
            return known, codes
        known = np.union1d(known, keys[is_new])
    return None


def _number_by_table(keys: WordArray) -> tuple[WordArray, IntArray] | None:
    """Number names that are small integers, as seeds are, without sorting."""
    slot = np.empty(len(keys), dtype=np.int64)
    for i in range(0, len(keys), _N_CACHED):
        slot[i : i + _N_CACHED] = _read_as_digits(keys[i : i + _N_CACHED])
    n_slots = int(slot.max()) + 1
    if n_slots > 4 * len(keys) + _FEW:
        return None
    table = np.zeros(n_slots, dtype=np.uint64)
    table[slot] = keys
    used = np.flatnonzero(table)
    distinct = table[used]
    if not (table[slot] == keys).all() or not (distinct[1:] > distinct[:-1]).all():
        return None  # two names share a slot, as 1 and 01 do, or the order is another
    place = np.empty(n_slots, dtype=np.int64)
    place[used] = np.arange(len(used))
    return distinct, place[slot]


def _read_as_digits(keys: WordArray) -> WordArray:
    return read_digits(keys & np.uint64(0x0F0F0F0F0F0F0F0F))


def _decode(distinct: WordArray) -> tuple[str, ...]:
    n_words, n_names = distinct.shape
    lines = np.full((n_names, 8 * n_words + 1), _NEWLINE, dtype=np.uint8)
    from_left = np.ascontiguousarray(distinct[::-1].T, dtype=">u8")
    lines[:, :-1] = from_left.view(np.uint8).reshape(n_names, -1)
    text = lines.tobytes().translate(None, b"\0").decode()
    names = text.split("\n")[:-1]
    if names != text.split() and any(not name or name != name.strip() for name in names):
        raise _NotPlain
    return tuple(names)
