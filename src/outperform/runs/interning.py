"""Names packed into integers, told apart without making Python strings of them.

A name of up to eight characters is one 64-bit integer (see `decimals.pack`), a longer one several.
Rows are compared as integers; only distinct names are ever decoded. Sorted as integers, names come
in the order of `labels.label_rows`: shorter ones first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from outperform.runs.arrays import IntArray, WordArray
from outperform.runs.decimals import read_digits
from outperform.runs.labels import Labels

_MIXER = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying loses nothing
_LOW_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)  # the value of a digit's character
_N_CACHED = 1 << 14  # rows of which several arrays fit in the cache
_N_SAMPLE = 512
_BLANKS = " \t\r\v\f\x1c\x1d\x1e\x1f"  # what strip removes from ASCII, but the newline
_FEW = 256  # distinct names up to which a binary search per row is cheap


class NotPlain(Exception):
    """The text is not as regular as it must be to be read fast."""


@dataclass(frozen=True, slots=True)
class Interned:
    """Names (n_words, n_names), and for each row the index of its name."""

    names: WordArray
    codes: IntArray


def intern(words: WordArray) -> Interned:
    """Intern the names of some rows, if they are few; otherwise keep a name per row.

    Parameters
    ----------
    words : shape (n_words, n_rows)
        Each column a name; no name is empty.
    """
    if (words == words[:, :1]).all():
        return Interned(words[:, :1], np.zeros(words.shape[1], dtype=np.int64))
    keys = _mix(words)
    numbered = _number_by_table(keys) or _number_few(keys)
    if numbered is None:
        return Interned(words, np.arange(len(keys)))
    distinct, codes = numbered
    return Interned(_names_of_keys(words, codes, len(distinct)), codes)


def join_interned(blocks: Sequence[Interned]) -> Labels:
    """Number the names of several blocks of rows alike, shortest first."""
    names = _stack([block.names for block in blocks])
    if len(names) == 1:
        ordered, rank = _number(names[0])
        distinct = ordered[np.newaxis]
    else:
        keys, codes = _number(_mix(names))
        unordered = _names_of_keys(names, codes, len(keys))
        order = np.lexsort(unordered)
        distinct, rank = unordered[:, order], np.argsort(order)[codes]
    bounds = np.cumsum([block.names.shape[1] for block in blocks])[:-1]
    of_blocks = zip(np.split(rank, bounds), blocks, strict=True)
    return Labels(_decode(distinct), np.concatenate([r[block.codes] for r, block in of_blocks]))


def _mix(words: WordArray) -> WordArray:
    """Make one key of all words of a name."""
    mixed: WordArray = words[0]
    for word in words[1:]:
        mixed = mixed * _MIXER + word
    return mixed


def _names_of_keys(words: WordArray, codes: IntArray, n_keys: int) -> WordArray:
    """Find the name behind each key, and make sure that no two names share one."""
    example = np.empty(n_keys, dtype=np.int64)
    example[codes] = np.arange(len(codes))
    names = words[:, example]
    if len(words) > 1 and not all((n[codes] == w).all() for n, w in zip(names, words, strict=True)):
        raise NotPlain
    return names


def _stack(parts: Sequence[WordArray]) -> WordArray:
    """Put names side by side, with as many words each as the longest needs."""
    n_words = max(len(part) for part in parts)
    if any(len(part) < n_words for part in parts):
        parts = [np.pad(part, ((0, n_words - len(part)), (0, 0))) for part in parts]
    return np.concatenate(parts, axis=1)


def _number(keys: WordArray) -> tuple[WordArray, IntArray]:
    """Find the distinct keys in ascending order, and the place of each key among them."""
    numbered = _number_by_table(keys) or _number_few(keys)
    if numbered is None:
        distinct, codes = np.unique(keys, return_inverse=True)
        return distinct, codes
    return numbered


def _number_few(keys: WordArray) -> tuple[WordArray, IntArray] | None:
    """Number keys of which only few are distinct: those of a sample, then those it lacked."""
    known = np.unique(_sample(keys))
    while len(known) <= _FEW:
        codes = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        is_new = known[codes] != keys
        if not is_new.any():
            return known, codes
        known = np.union1d(known, _sample(keys[is_new]))
    return None


def _sample(keys: WordArray) -> WordArray:
    return keys[:: 1 + len(keys) // _N_SAMPLE]


def _number_by_table(keys: WordArray) -> tuple[WordArray, IntArray] | None:
    """Number keys of names that are small integers, as seeds are, without sorting."""
    most = 4 * len(keys)
    if read_digits(keys[:1] & _LOW_NIBBLES)[0] > most:
        return None
    slot = np.empty(len(keys), dtype=np.int64)
    for i in range(0, len(keys), _N_CACHED):
        slot[i : i + _N_CACHED] = read_digits(keys[i : i + _N_CACHED] & _LOW_NIBBLES)
    n_slots = int(slot.max()) + 1
    if n_slots > most:
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
