"""Names packed into integers, told apart without making Python strings of them.

A name of up to eight characters is one 64-bit integer (see `decimals.pack`), a longer one several.
Rows are compared as integers; only distinct names are ever decoded. Sorted as integers, names come
in the order of `labels.label_rows`: shorter ones first. Names that are integers, as seeds are,
stand for themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from outperform.runs.arrays import IntArray, WordArray
from outperform.runs.decimals import pack, pad
from outperform.runs.labels import Labels, Numerals

_MIXER = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying loses nothing
_N_TRIED = 64  # rows that mostly show whether few names are distinct
_FEW = 4  # distinct names up to which looking for each in turn is faster than sorting
_BLANKS = " \t\r\v\f\x1c\x1d\x1e\x1f"  # what strip removes from ASCII, but the newline


class NotPlain(Exception):
    """The text is not as regular as it must be to be read fast."""


@dataclass(frozen=True, slots=True)
class Interned:
    """Names (n_words, n_names), and which of them stands in each row."""

    names: WordArray
    codes: IntArray


def intern(words: WordArray) -> Interned:
    """Find the distinct names of some rows.

    Parameters
    ----------
    words : shape (n_words, n_rows)
        Each column a name; no name is empty.
    """
    if len(words) == 1 and (few := _number_few(words[0])):
        names, codes = few
        return Interned(names[np.newaxis], codes)
    # Most names repeat that of the row before: only those that do not are looked up.
    is_new = (words[:, 1:] != words[:, :-1]).any(axis=0)
    bounds = np.concatenate(([0], np.flatnonzero(is_new) + 1, [words.shape[1]]))
    names, codes = _number(words[:, bounds[:-1]])
    return Interned(names, np.repeat(codes, np.diff(bounds)))


def join_interned(blocks: Sequence[Interned | IntArray]) -> Labels:
    """Number the names of several blocks of rows alike, shortest first."""
    integers = [block for block in blocks if not isinstance(block, Interned)]
    if len(integers) == len(blocks):
        return _number_integers(np.concatenate(integers))
    interned = [block if isinstance(block, Interned) else _spell(block) for block in blocks]
    names, places = _number(_stack([block.names for block in interned]))
    order = np.lexsort(names)
    bounds = np.cumsum([block.names.shape[1] for block in interned])[:-1]
    ranks = np.split(np.argsort(order)[places], bounds)
    codes = [rank[block.codes] for rank, block in zip(ranks, interned, strict=True)]
    return Labels(_decode(names[:, order]), np.concatenate(codes))


def _number_integers(values: IntArray) -> Labels:
    """Number integers of which none is negative, the smallest first."""
    if values.max() > 4 * len(values):
        distinct, codes = np.unique(values, return_inverse=True)
        return Labels(Numerals(distinct), codes)
    is_used = np.zeros(values.max() + 1, dtype=bool)
    is_used[values] = True
    distinct = np.flatnonzero(is_used)
    codes = values if len(distinct) == len(is_used) else (np.cumsum(is_used) - 1)[values]
    return Labels(Numerals(distinct), codes)


def _spell(integers: IntArray) -> Interned:
    """Turn integers to names, for a column that has other names too."""
    distinct, codes = np.unique(integers, return_inverse=True)
    texts = [str(integer).encode() for integer in distinct.tolist()]
    n_characters = np.array([len(text) for text in texts])
    names = pack(pad(*texts), np.cumsum(n_characters) - n_characters, n_characters)
    return Interned(names, codes)


def _number(words: WordArray) -> tuple[WordArray, IntArray]:
    """Find the distinct names, and the place of each name among them."""
    mixed: WordArray = words[0]
    for word in words[1:]:
        mixed = mixed * _MIXER + word
    distinct, codes = _number_few(mixed) or np.unique(mixed, return_inverse=True)
    if len(words) == 1:
        return distinct[np.newaxis], codes
    example = np.empty(len(distinct), dtype=np.int64)
    example[codes] = np.arange(len(codes))
    names = words[:, example]
    if (names[:, codes] != words).any():
        raise NotPlain  # two names were mixed to the same
    return names, codes


def _number_few(values: WordArray) -> tuple[WordArray, IntArray] | None:
    """Do what `np.unique` does, but without sorting, for values of which few are distinct."""
    if len({*values[:: 1 + len(values) // _N_TRIED].tolist()}) > _FEW:
        return None
    distinct = values[:1]
    codes = np.zeros(len(values), dtype=np.int64)
    others = values != distinct[0]
    while (first := others.argmax()) or others[first]:
        if len(distinct) == _FEW:
            return None
        is_next = values == values[first]
        codes += len(distinct) * is_next
        others ^= is_next
        distinct = np.append(distinct, values[first])
    return distinct, codes


def _stack(parts: Sequence[WordArray]) -> WordArray:
    """Put names side by side, with as many words each as the longest needs."""
    n_words = max(len(part) for part in parts)
    if any(len(part) < n_words for part in parts):
        parts = [np.pad(part, ((0, n_words - len(part)), (0, 0))) for part in parts]
    return np.concatenate(parts, axis=1)


def _decode(names: WordArray) -> tuple[str, ...]:
    n_words, n_names = names.shape
    lines = np.full((n_names, 8 * n_words + 1), ord("\n"), dtype=np.uint8)
    from_left = np.ascontiguousarray(names[::-1].T, dtype=">u8")
    lines[:, :-1] = from_left.view(np.uint8).reshape(n_names, -1)
    text = lines.tobytes().translate(None, b"\0").decode()
    decoded = text.split("\n")[:-1]
    may_need_stripping = not text.isascii() or any(blank in text for blank in _BLANKS)
    if may_need_stripping and any(name != name.strip() for name in decoded):
        raise NotPlain
    return tuple(decoded)
