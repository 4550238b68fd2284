"""A column of names, kept as the distinct names and one integer code per row."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np

from outperform.runs.arrays import BoolArray, IntArray

_N_FIRST = 1000  # rows that often mention every name


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Numerals(Sequence[str]):
    """Names that are integers, written out only where they are looked at.

    To the eye it is the tuple of the names, but half a million of them take no time to make.

    Examples
    --------
    >>> Numerals(np.array([2, 10])) == ("2", "10")
    True
    """

    integers: IntArray

    def __len__(self) -> int:
        return len(self.integers)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(Numerals(self.integers[index]))
        return str(self.integers[index])

    def __iter__(self) -> Iterator[str]:
        return map(str, self.integers.tolist())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Numerals):
            return np.array_equal(self.integers, other.integers)
        return tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


@dataclass(frozen=True, slots=True)
class Labels:
    """Distinct names, and for each row the index of its name."""

    names: Sequence[str]
    codes: IntArray = field(compare=False, repr=False)

    def keep(self, rows: BoolArray) -> "Labels":
        """Leave out the other rows."""
        return Labels(self.names, self.codes[rows])

    def tile(self, n_times: int) -> "Labels":
        """Repeat all rows."""
        return Labels(self.names, np.tile(self.codes, n_times))

    def by_appearance(self) -> "Labels":
        """Number the names in the order in which the rows first mention them, and drop the rest."""
        first = np.full(len(self.names), len(self.codes))
        for codes in (self.codes[:_N_FIRST], self.codes):
            is_new = np.ones(len(codes), dtype=bool)
            is_new[1:] = codes[1:] != codes[:-1]
            # Of repeated indices the last assignment wins, so walk from the end.
            row = np.flatnonzero(is_new)[::-1]
            first[codes[row]] = row
            if first.max(initial=0) < len(self.codes):
                break
        if (first[1:] > first[:-1]).all() and first.max(initial=0) < len(self.codes):
            return self
        order = np.argsort(first)[: np.count_nonzero(first < len(self.codes))]
        rank = np.empty_like(first)
        rank[order] = np.arange(len(order))
        return Labels(tuple(self.names[i] for i in order), rank[self.codes])


def label_rows(texts: Sequence[str]) -> Labels:
    """Code each text by its place among the distinct ones, shortest first.

    The order does not depend on the order of rows, and puts 2 before 10.

    Examples
    --------
    >>> label_rows(["10", "2", "10"]).names
    ('2', '10')
    """
    names = sorted(set(texts), key=_length_then_bytes)
    code = {name: i for i, name in enumerate(names)}
    return Labels(tuple(names), np.array([code[text] for text in texts], dtype=np.int64))


def join_labels(parts: Iterable[Labels]) -> Labels:
    """Combine the labels of several columns: `3` and `0` become `3,0`."""
    joined, *others = parts
    for other in others:
        n_names = max(len(other.names), 1)
        combined, codes = np.unique(joined.codes * n_names + other.codes, return_inverse=True)
        names = (f"{joined.names[c // n_names]},{other.names[c % n_names]}" for c in combined)
        joined = Labels(tuple(names), codes.astype(np.int64))
    return joined


def concatenate_labels(parts: Sequence[Labels]) -> Labels:
    """Put the rows of several columns one after another, and number their names alike."""
    if len(parts) == 1:
        return parts[0]
    place: dict[str, int] = {}
    codes: list[IntArray] = []
    for part in parts:
        numbers = [place.setdefault(name, len(place)) for name in part.names]
        codes.append(np.array(numbers, dtype=np.int64)[part.codes])
    return Labels(tuple(place), np.concatenate(codes))


def _length_then_bytes(name: str) -> tuple[int, bytes]:
    encoded = name.encode(errors="surrogatepass")
    return len(encoded), encoded
