"""A column of names, kept as the distinct names and one integer code per row."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from outperform.runs.arrays import IntArray


@dataclass(frozen=True, slots=True)
class Labels:
    """Distinct names, and for each row the index of its name."""

    names: tuple[str, ...]
    codes: IntArray = field(compare=False, repr=False)

    def by_appearance(self) -> "Labels":
        """Number the names in the order in which the rows first mention them."""
        n_rows = len(self.codes)
        first = np.empty(len(self.names), dtype=np.int64)
        # Of repeated indices the last assignment wins, so walk from the end.
        first[self.codes[::-1]] = np.arange(n_rows - 1, -1, -1)
        if (first[1:] > first[:-1]).all():
            return self
        order = np.argsort(first)
        rank = np.empty_like(order)
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


def _length_then_bytes(name: str) -> tuple[int, bytes]:
    encoded = name.encode(errors="surrogatepass")
    return len(encoded), encoded
