"""Brunner and Munzel's test of samples that grow one score at a time, for every size at once."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outperform.errors import InvalidInput
from outperform.stats.checks import FloatArray, as_two_samples, check_paired
from outperform.stats.hypothesis_test import HypothesisTest, student_test
from outperform.stats.rank_tests import studentize_placements
from outperform.stats.ties import merge_ties

_BLOCK = 2_000  # samples handled at a time, to stay within the processor's cache


@dataclass(frozen=True, slots=True)
class GrowingTest:
    """Test of the first n scores of many pairs of samples."""

    n: int
    test: HypothesisTest


def grow_brunner_munzel(
    a: FloatArray, b: FloatArray, sizes: Collection[int]
) -> Iterator[GrowingTest]:
    """Test the first n scores of a against the first n of b, for each of many sizes n.

    A score that joins a is compared with all of b once, which updates how many scores each beats:
    no size is sorted anew, so that all sizes together cost as much as the largest.

    Parameters
    ----------
    a, b : shape (n_samples, n_max), higher is better
    sizes
        From 2 to n_max.

    Yields
    ------
    Two-sided t approximations, as `brunner_munzel` gives them, in ascending order of n.

    Examples
    --------
    >>> a, b = np.array([[5.0, 6, 7, 8]]), np.array([[1.0, 6, 2, 3]])
    >>> [(found.n, found.test.pvalue.round(3)) for found in grow_brunner_munzel(a, b, [3, 4])]
    [(3, array([0.176])), (4, array([0.014]))]
    """
    first, second = merge_ties(*as_two_samples(a, b, at_least=2))
    check_paired(first.shape[1], second.shape[1])
    wanted = sorted(set(sizes))
    if not (wanted and wanted[0] >= 2 and wanted[-1] <= first.shape[1]):
        raise InvalidInput(f"sizes are {wanted}", f"Pass at least one, from 2 to {first.shape[1]}")
    blocks = [
        _grow_block(first[i : i + _BLOCK].T.copy(), second[i : i + _BLOCK].T.copy(), wanted)
        for i in range(0, len(first), _BLOCK)
    ]
    for n, parts in zip(wanted, zip(*blocks, strict=True), strict=True):
        statistic, df = (np.concatenate(part) for part in zip(*parts, strict=True))
        yield GrowingTest(n, student_test("brunner-munzel", statistic, df, "two-sided"))


def _grow_block(
    a: FloatArray, b: FloatArray, sizes: list[int]
) -> list[tuple[FloatArray, FloatArray]]:
    """Statistic and degrees of freedom of each size; scores in rows, samples in columns."""
    # Twice the number of scores that each beats, so that a tie counts 1.
    beaten_by_a, beaten_by_b = np.zeros(a.shape, np.int32), np.zeros(b.shape, np.int32)
    found = []
    for last in range(sizes[-1]):
        _join(a[last], b[:last], beaten_by_a[last], beaten_by_b[:last])
        _join(b[last], a[: last + 1], beaten_by_b[last], beaten_by_a[: last + 1])
        n = last + 1
        if n in sizes:
            first, second = (c[:n].T.astype(np.int64) for c in (beaten_by_a, beaten_by_b))
            found.append(studentize_placements(first, second, n, n, win=2))
    return found


def _join(
    newcomer: FloatArray,
    others: FloatArray,
    beaten_by_newcomer: NDArray[np.int32],
    beaten_by_others: NDArray[np.int32],
) -> None:
    """Compare a score that joins one sample with all of the other, and count who beats whom."""
    beaten = (others < newcomer).view(np.int8) + (others <= newcomer).view(np.int8)
    beaten_by_newcomer[:] = beaten.sum(axis=0)
    beaten_by_others += 2 - beaten
