"""Wins of all pairs of competitors at once, and who may be the best of them."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from outperform.errors import InvalidInput
from outperform.stats.checks import FloatArray, as_grid, as_pvalues, check_open_unit
from outperform.stats.ties import ROUNDING, may_be_rounded, merge_pairs

Counts = NDArray[np.int64]
_BLOCK = 4_000_000  # comparisons at a time
_FEWEST_VALUES = 3  # of differences whose spread says something


def count_all_pairs(scores: ArrayLike) -> tuple[Counts, Counts, Counts]:
    """Count in how many replicates each competitor beats each other, and in how many they tie.

    An entry depends on the scores of its two competitors alone.

    Parameters
    ----------
    scores : shape (n_competitors, n_replicates)
        Higher is better; NaN where one is missing: only replicates that both have are compared.

    Returns
    -------
    Wins of the row's competitor over the column's, ties, and replicates that both have, each of
    shape (n_competitors, n_competitors).

    Examples
    --------
    >>> wins, ties, n = count_all_pairs([[3, 2, 5], [1, 2, np.nan]])
    >>> wins.tolist(), int(ties[0, 1]), int(n[0, 1])
    ([[0, 1], [0, 0]], 1, 2)
    """
    array = as_grid(scores, "scores")
    n = _count_shared(array)
    wins = np.empty(n.shape, dtype=np.int64)
    for rows in _split_rows(array):
        wins[rows] = np.count_nonzero(array[rows, None] > array, axis=-1)
    for i, j in _find_rounded(array):
        a, b = merge_pairs(*_take_shared(array, i, j))
        wins[i, j], wins[j, i] = np.count_nonzero(a > b), np.count_nonzero(b > a)
    return wins, n - wins - wins.T, n


def t_test_all_pairs(scores: ArrayLike) -> FloatArray:
    """One-sided p-values of the paired t-test of all pairs, small where the row's mean is higher.

    Differences with fewer than three values are those of coarse scores, whose spread says nothing
    of chance: there the p-value is at least that of a sign test that wins all.

    Parameters
    ----------
    scores : as of `count_all_pairs`
        Pairs that share fewer than two replicates, and those tied in all, have p = 1.

    Examples
    --------
    >>> t_test_all_pairs([[3, 5, 7, 6], [1, 2, 6, 3]]).round(4).tolist()
    [[1.0, 0.0091], [0.9909, 1.0]]
    """
    array = as_grid(scores, "scores")
    pvalues = np.ones((len(array), len(array)))
    for rows in _split_rows(array):
        pvalues[rows] = _test_pairs(array[rows, None], array)
    for i, j in _find_rounded(array):
        a, b = merge_pairs(*_take_shared(array, i, j))
        pvalues[i, j], pvalues[j, i] = _test_pairs(np.array([a, b]), np.array([b, a]))
    return pvalues


def _count_shared(array: FloatArray) -> Counts:
    """Replicates that both of each pair have."""
    known = ~np.isnan(array)
    if known.all():  # by far the most usual, and a product of matrices takes longer than all else
        return np.full((len(array), len(array)), array.shape[1], dtype=np.int64)
    return np.asarray(known.astype(float) @ known.T).astype(np.int64)


def _split_rows(array: FloatArray) -> Iterator[slice]:
    """Rows that may be compared with all others at a time."""
    step = max(1, _BLOCK // array.size)
    return (slice(start, start + step) for start in range(0, len(array), step))


def _find_rounded(array: FloatArray) -> Iterator[tuple[int, int]]:
    """Pairs with scores that differ, but perhaps by rounding only: hardly ever any."""
    largest = float(np.nanmax(np.abs(array), initial=0))
    ordered = np.sort(array, axis=0)  # NaN last
    if not may_be_rounded(ordered[1:], ordered[:-1], largest).any():
        return
    for rows in _split_rows(array):
        near = may_be_rounded(array[rows, None], array, largest).any(axis=-1)
        pairs = ((rows.start + i, j) for i, j in np.argwhere(near).tolist())
        yield from (pair for pair in pairs if pair[0] < pair[1])


def _take_shared(array: FloatArray, i: int, j: int) -> FloatArray:
    two = array[[i, j]]
    return two[:, ~np.isnan(two).any(axis=0)]


def _test_pairs(a: FloatArray, b: FloatArray) -> FloatArray:
    differences = a - b
    known = ~np.isnan(differences)
    n = known.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, differences, 0).sum(axis=-1) / n
        centred = np.where(known, differences - mean[..., None], 0)
        error = np.sqrt(np.square(centred).sum(axis=-1) / (n - 1) / n)
        tail = stdtr(np.maximum(n - 1, 1), -mean / error)
    rounding = ROUNDING * np.where(known, np.maximum(np.abs(a), np.abs(b)), 0)
    steps = np.diff(np.sort(differences, axis=-1), axis=-1)  # NaN last, and never a step
    n_values = 1 + (steps > rounding.max(axis=-1, keepdims=True, initial=0)).sum(axis=-1)
    tail = np.where(n_values < _FEWEST_VALUES, np.maximum(tail, 0.5**n), tail)
    # NaN: neither difference nor spread, or fewer than two of them, which is no evidence.
    return np.where(np.isnan(tail), 1.0, tail)


def maybe_best(pvalues: ArrayLike, *, alpha: float = 0.05) -> NDArray[np.bool_]:
    """Which of k competitors may be the best: the truly best is among them with 1 - alpha.

    One is ruled out where another beats it at the level alpha / (k - 1). The truly best can be
    ruled out by one of k - 1 false rejections only, so the set holds it however tests depend on
    one another. (Holm's steps over comparisons with the observed leader would rule out more, but
    the leader is chosen by the same scores, and up to 6% instead of 5% of sets miss the best.)

    Parameters
    ----------
    pvalues : shape (..., k, k)
        One-sided: entry (i, j) is small where i beats j; the diagonal does not matter.

    References
    ----------
    Hsu (1996), Multiple comparisons: theory and methods, on comparisons with the best.

    Examples
    --------
    >>> maybe_best([[1, 0.001, 0.3], [1, 1, 1], [0.7, 0.004, 1]])
    array([ True, False,  True])
    """
    check_open_unit("alpha", alpha)
    family = as_pvalues(pvalues)
    k = family.shape[-1]
    if family.ndim < 2 or family.shape[-2] != k:
        raise InvalidInput(
            f"pvalues has shape {family.shape}", "Pass one row and one column per competitor"
        )
    beaten = family <= alpha / max(1, k - 1)
    beaten &= ~np.eye(k, dtype=bool)
    may: NDArray[np.bool_] = ~beaten.any(axis=-2)
    return may
