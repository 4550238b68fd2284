"""Wins of all pairs of competitors at once, and who may be the best of them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from outperform.errors import InvalidScores
from outperform.stats.checks import FloatArray, as_pvalues, check_open_unit
from outperform.stats.ties import ROUNDING, merge_pairs

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
    >>> wins.tolist(), ties[0, 1], n[0, 1]
    ([[0, 1], [0, 0]], 1, 2)
    """
    array = np.asarray(scores, dtype=float)
    if array.ndim != 2:
        raise InvalidScores(
            f"scores has shape {array.shape}", "Pass one row per competitor, one column a replicate"
        )
    known = ~np.isnan(array)
    n = (known.astype(np.float64) @ known.T).astype(np.int64)
    wins = _count_wins(array)
    for i, j in _find_rounded(array):
        both = known[i] & known[j]
        a, b = merge_pairs(array[i, both], array[j, both])
        wins[i, j], wins[j, i] = np.count_nonzero(a > b), np.count_nonzero(b > a)
    return wins, n - wins - wins.T, n


def _count_wins(array: FloatArray) -> Counts:
    k, n = array.shape
    step = max(1, _BLOCK // max(1, k * n))
    wins = np.empty((k, k), dtype=np.int64)
    for start in range(0, k, step):
        above = array[start : start + step, None] > array[None]
        wins[start : start + step] = np.count_nonzero(above, axis=-1)
    return wins


def _find_rounded(array: FloatArray) -> list[tuple[int, int]]:
    """Pairs with scores that differ, but perhaps by rounding only: hardly ever any."""
    if not array.size or np.isnan(array).all():
        return []
    order = np.argsort(array, axis=0)  # NaN last
    ordered = np.take_along_axis(array, order, axis=0)
    gap = np.diff(ordered, axis=0)
    tolerance = ROUNDING * np.nanmax(np.abs(array))
    if not ((gap > 0) & (gap <= tolerance)).any():
        return []
    near = np.abs(array[:, None] - array[None]) <= tolerance
    near &= array[:, None] != array[None]
    return [(int(i), int(j)) for i, j in zip(*np.nonzero(near.any(axis=-1)), strict=True) if i < j]


def t_test_all_pairs(scores: ArrayLike) -> FloatArray:
    """One-sided p-values of the paired t-test of all pairs, small where the row's mean is higher.

    Differences with fewer than three values are those of coarse scores, whose spread says nothing
    of chance: there the p-value is at least that of a sign test that wins all.

    Parameters
    ----------
    scores : as of `count_all_pairs`; pairs with fewer than two replicates have p = 1

    Examples
    --------
    >>> t_test_all_pairs([[3, 5, 7, 6], [1, 2, 6, 3]]).round(4).tolist()
    [[1.0, 0.0079], [0.9921, 1.0]]
    """
    array = np.asarray(scores, dtype=float)
    k = len(array)
    pvalues = np.ones((k, k))
    step = max(1, _BLOCK // max(1, array.size))
    for start in range(0, k, step):
        pvalues[start : start + step] = _test_differences(
            array[start : start + step, None] - array[None]
        )
    return pvalues


def _test_differences(differences: FloatArray) -> FloatArray:
    known = ~np.isnan(differences)
    n = known.sum(axis=-1)
    zeroed = np.where(known, differences, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = zeroed.sum(axis=-1) / n
        centred = np.where(known, differences - mean[..., None], 0)
        error = np.sqrt(np.square(centred).sum(axis=-1) / (n - 1) / n)
        tail = stdtr(np.maximum(n - 1, 1), -mean / error)
    ordered = np.sort(differences, axis=-1)  # NaN last, and never a step
    rounding = ROUNDING * np.max(np.abs(zeroed), axis=-1, keepdims=True)
    n_values = 1 + (np.diff(ordered, axis=-1) > rounding).sum(axis=-1)
    tail = np.where(n_values < _FEWEST_VALUES, np.maximum(tail, 0.5**n), tail)
    # Neither difference nor spread, or too few of them: no evidence.
    return np.where(np.isnan(tail) | (n < 2), 1.0, tail)


def maybe_best(pvalues: ArrayLike, *, alpha: float = 0.05) -> NDArray[np.bool_]:
    """Which of k competitors may be the best: the truly best is among them with 1 - alpha.

    One is ruled out where another beats it at the level alpha / (k - 1). The truly best can be
    ruled out by one of k - 1 false rejections only, so the set holds it however tests depend on
    one another. (Holm's steps over comparisons with the observed leader would rule out more, but
    the leader is chosen by the same scores, and the set would hold the best less often.)

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
        raise InvalidScores(f"pvalues has shape {family.shape}", "Pass one row and column for each")
    beaten = family <= alpha / max(1, k - 1)
    beaten &= ~np.eye(k, dtype=bool)
    may: NDArray[np.bool_] = ~beaten.any(axis=-2)
    return may
