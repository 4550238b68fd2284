"""A column of names, kept as the distinct names and one integer code per row."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, overload

import numpy as np
import numpy.typing as npt

BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

_N_FIRST = 100_000  # rows that are looked at before all are
_SPARSE = 8  # possible groups per row, from which on numbering those that exist pays


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

    def keep(self, rows: BoolArray | IntArray) -> "Labels":
        """Leave out the other rows."""
        return Labels(self.names, self.codes[rows])

    def spell(self) -> list[str]:
        """Give the name of every row."""
        return [self.names[code] for code in self.codes.tolist()]

    def distinct(self) -> list[str]:
        """Give the names that rows have."""
        return [self.names[code] for code in np.unique(self.codes).tolist()]

    def by_appearance(self) -> "Labels":
        """Number the names in the order in which the rows first mention them, and drop the rest."""
        n_rows = len(self.codes)
        first = np.full(len(self.names), n_rows)
        for n_seen in (min(n_rows, _N_FIRST), n_rows):  # mostly the first rows mention all
            codes = self.codes[:n_seen]
            # A name comes first where the one before is another. Of repeated indices the last
            # assignment wins, so walk from the end.
            places = np.flatnonzero(codes[1:] != codes[:-1]) + 1
            first[codes[places][::-1]] = places[::-1]
            first[codes[:1]] = 0
            if first.max(initial=0) < n_rows:
                break
        if (first[:-1] < first[1:]).all() and first.max(initial=0) < n_rows:
            return self
        order = np.argsort(first)[: np.count_nonzero(first < n_rows)]
        rank = np.empty_like(first)
        rank[order] = np.arange(len(order))
        return Labels(tuple(map(self.names.__getitem__, order.tolist())), rank[self.codes])


def label_rows(texts: Sequence[str]) -> Labels:
    """Code each text by its place among the distinct ones, shortest first.

    The order does not depend on the order of rows, and puts 2 before 10.

    Examples
    --------
    >>> label_rows(["10", "2", "10"]).names
    ('2', '10')
    """
    # The length in bytes; halves of characters, which JSON may hold, have one too.
    names = sorted(set(texts), key=lambda text: (len(text.encode(errors="surrogatepass")), text))
    place = dict(zip(names, range(len(names)), strict=True))
    codes = np.fromiter(map(place.__getitem__, texts), dtype=np.int64, count=len(texts))
    return Labels(tuple(names), codes)


def label_integers(integers: IntArray) -> Labels:
    """Label rows by integers of which none is negative, as `label_rows` does their spellings."""
    largest = int(integers.max())
    if largest > _SPARSE * len(integers):
        distinct, codes = np.unique(integers, return_inverse=True)
        return Labels(Numerals(distinct), codes)
    is_used = np.zeros(largest + 1, dtype=bool)
    is_used[integers] = True
    if is_used.all():  # each is its own code
        return Labels(Numerals(np.arange(largest + 1)), integers)
    return Labels(Numerals(np.flatnonzero(is_used)), (np.cumsum(is_used) - 1)[integers])


def repeat_label(name: str, n_rows: int) -> Labels:
    """Give every row the same name."""
    return Labels((name,), np.broadcast_to(np.int64(0), n_rows))  # which takes no memory


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


def split_groups(group: IntArray, labels: Labels) -> IntArray:
    """Number groups of rows anew, such that all rows of one share their label too.

    Examples
    --------
    >>> split_groups(np.array([0, 0, 1]), label_rows(["x", "y", "x"])).tolist()
    [0, 1, 2]
    """
    n_groups = (int(group.max(initial=0)) + 1) * len(labels.names)
    split: IntArray = group * len(labels.names) + labels.codes
    if n_groups > _SPARSE * len(group):
        split = np.unique(split, return_inverse=True)[1]
    return split


def differ_within(group: IntArray, labels: Labels) -> BoolArray:
    """Rows whose label is not that of the last row of their group; none where all are alike."""
    if len(labels.names) == 1 or not len(group):
        return np.zeros(len(group), dtype=bool)
    last = np.empty(group.max() + 1, dtype=np.int64)
    last[group] = labels.codes  # of repeated indices the last assignment wins
    differs: BoolArray = last[group] != labels.codes
    return differs


def largest_within(group: IntArray, values: FloatArray) -> FloatArray:
    """Give each row the largest value of its group."""
    largest = np.full(group.max() + 1, -np.inf)
    np.maximum.at(largest, group, values)
    return largest[group]
