"""Sets of algorithms in which no pair is told apart, as large as they can be."""

from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Places = tuple[int, ...]  # of algorithms, ascending


def find_cliques(alike: NDArray[np.bool_]) -> Iterator[Places]:
    """Find the sets in which all are alike and that nobody can join, each once.

    There may be exponentially many: take as many as are needed.

    Parameters
    ----------
    alike : shape (k, k), symmetric
        Whether a pair is not told apart; the diagonal does not matter.

    References
    ----------
    Bron and Kerbosch (1973), Algorithm 457: finding all cliques of an undirected graph; with the
    pivot of Tomita et al. (2006).

    Examples
    --------
    >>> first_and_last_differ = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)
    >>> sorted(find_cliques(first_and_last_differ))
    [(0, 1), (1, 2)]
    """
    # Sets are the bits of an integer.
    neighbours = [
        sum(1 << other for other in np.flatnonzero(row).tolist() if other != place)
        for place, row in enumerate(alike)
    ]
    pending = [(0, (1 << len(neighbours)) - 1, 0)]
    while pending:
        chosen, may_join, left_out = pending.pop()
        if not may_join:
            if not left_out:
                yield _list_places(chosen)
            continue
        either = _list_places(may_join | left_out)
        pivot = max(either, key=lambda place: (may_join & neighbours[place]).bit_count())
        for place in _list_places(may_join & ~neighbours[pivot]):
            around, bit = neighbours[place], 1 << place
            pending.append((chosen | bit, may_join & around, left_out & around))
            may_join, left_out = may_join & ~bit, left_out | bit


def order_by_cover(cliques: Iterable[Places], n: int) -> list[Places]:
    """Choose so many cliques at most that hold many pairs, or all pairs, those with most first.

    Examples
    --------
    >>> order_by_cover([(0, 1), (0, 2, 3), (1, 2, 3)], 2)
    [(0, 2, 3), (1, 2, 3)]
    """
    added = {clique: set(combinations(clique, 2)) for clique in cliques}
    chosen: list[Places] = []
    while added and len(chosen) < n:
        best = max(added, key=lambda clique: len(added[clique]))
        covered = added.pop(best)
        if not covered:
            break
        chosen.append(best)
        for pairs in added.values():
            pairs -= covered
    return chosen


def _list_places(bits: int) -> Places:
    return tuple(place for place in range(bits.bit_length()) if bits >> place & 1)
