"""Wilcoxon's signed-rank test, which looks at the order of paired differences only."""

import math
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from outperform.stats.checks import (
    FloatArray,
    as_pairs,
    as_two_samples,
    check_choice,
    check_paired,
)
from outperform.stats.hypothesis_test import Alternative, HypothesisTest
from outperform.stats.ties import ROUNDING, merge_pairs

LARGEST_EXACT_WILCOXON = 50


def wilcoxon_test(
    a: ArrayLike, b: ArrayLike, *, alternative: Alternative = "two-sided"
) -> HypothesisTest:
    """Wilcoxon's signed-rank test of paired scores.

    Pairs without a difference are left out, as Wilcoxon did. The null distribution is exact, with
    tied ranks too, up to 50 differing pairs, and normal with correction for ties beyond.

    Parameters
    ----------
    a, b : shape (n_pairs,); higher is better

    Returns
    -------
    The sum of the ranks of pairs that a wins, and its p-value (1 if all pairs are tied).

    Examples
    --------
    >>> wilcoxon_test([2, 3, 4, 5, 6, 7], [1, 1, 1, 1, 1, 1]).pvalue
    0.03125
    """
    check_choice("alternative", alternative, get_args(Alternative))
    first, second = as_pairs(a, b)
    decided = first != second
    first, second = first[decided], second[decided]
    differences = first - second
    # Differences are tied where rounding of the scores tells them apart: 0.3 - 0.2 and 0.2 - 0.1.
    rounding = ROUNDING * np.maximum(np.abs(first), np.abs(second))
    ranks = _midranks(np.abs(differences), rounding)
    statistic = float(ranks[differences > 0].sum())
    if differences.size <= LARGEST_EXACT_WILCOXON:
        # Doubled, midranks are whole numbers.
        chances, doubled = signed_rank_chances((2 * ranks).astype(int)), round(2 * statistic)
        greater, less = float(chances[doubled:].sum()), float(chances[: doubled + 1].sum())
    else:
        # The variance of a sum of randomly signed ranks, tied or not, is the sum of squares / 4.
        z = (statistic - ranks.sum() / 2) / math.sqrt(float(np.square(ranks).sum()) / 4)
        greater, less = float(ndtr(-z)), float(ndtr(z))
    tails = {"greater": greater, "less": less, "two-sided": 2 * min(greater, less)}
    return HypothesisTest("wilcoxon", statistic, min(1.0, tails[alternative]), alternative)


def wilcoxon_pvalues(a: ArrayLike, b: ArrayLike) -> FloatArray:
    """Two-sided p-values of `wilcoxon_test` for many pairs of samples at once.

    Parameters
    ----------
    a, b : shape (..., n_pairs); higher is better
        Leading axes broadcast: one test each.

    Examples
    --------
    >>> wilcoxon_pvalues([2, 3, 4, 5, 6, 7], [[1] * 6, [9] * 6])
    array([0.03125, 0.03125])
    """
    first, second = as_two_samples(a, b, at_least=1)
    check_paired(first.shape[-1], second.shape[-1])
    first, second = np.broadcast_arrays(*merge_pairs(first, second))
    n_decided, statistic, is_tied = _rank_untied(first, second)
    pvalues = np.empty(n_decided.shape)
    for n in np.unique(n_decided[~is_tied]).tolist():
        rows = (n_decided == n) & ~is_tied
        pvalues[rows] = _untied_pvalues(statistic[rows], n)
    for row in map(tuple, np.argwhere(is_tied)):
        pvalues[row] = wilcoxon_test(first[row], second[row]).pvalue
    return pvalues


def _rank_untied(
    first: FloatArray, second: FloatArray
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Pairs that differ, the ranks that the first wins, and whether any of these are tied."""
    differences = first - second
    decided = differences != 0
    magnitude = np.where(decided, np.abs(differences), np.inf)
    order = np.argsort(magnitude, axis=-1)
    slack = ROUNDING * np.maximum(np.abs(first), np.abs(second))
    ordered, slack = (np.take_along_axis(each, order, axis=-1) for each in (magnitude, slack))
    with np.errstate(invalid="ignore"):  # inf - inf, of pairs without a difference
        near = np.diff(ordered, axis=-1) <= np.maximum(slack[..., 1:], slack[..., :-1])
    ranks = np.arange(1, first.shape[-1] + 1)
    statistic = (ranks * np.take_along_axis(differences > 0, order, axis=-1)).sum(axis=-1)
    return np.asarray(decided.sum(axis=-1)), np.asarray(statistic), np.asarray(near.any(axis=-1))


def _untied_pvalues(statistic: NDArray[np.int64], n: int) -> FloatArray:
    """Two-sided p-values of sums of the ranks 1 to n."""
    if n <= LARGEST_EXACT_WILCOXON:
        chances = signed_rank_chances(np.arange(1, n + 1))
        less = np.cumsum(chances)[statistic]
        greater = np.cumsum(chances[::-1])[len(chances) - 1 - statistic]
    else:
        ranks = np.arange(1, n + 1)
        z = (statistic - ranks.sum() / 2) / math.sqrt(float(np.square(ranks).sum()) / 4)
        less, greater = ndtr(z), ndtr(-z)
    pvalues: FloatArray = np.minimum(1, 2 * np.minimum(less, greater))
    return pvalues


def _midranks(values: FloatArray, rounding: FloatArray) -> FloatArray:
    """Ranks, averaged over values that differ from their neighbour by rounding only."""
    order = np.argsort(values)
    ordered, slack = values[order], rounding[order]
    is_new = np.diff(ordered) > np.maximum(slack[1:], slack[:-1])
    group = np.concatenate([np.zeros(min(1, values.size), dtype=int), np.cumsum(is_new)])
    counts = np.bincount(group)
    ranks = np.empty(values.size)
    ranks[order] = (np.cumsum(counts) - (counts - 1) / 2)[group]
    return ranks


def signed_rank_chances(ranks: NDArray[np.int64]) -> FloatArray:
    """Chance of each sum of the ranks that are left when each stays or goes by a coin."""
    chances = np.ones(1)
    for rank in ranks:
        zeros = np.zeros(rank)
        chances = (np.concatenate([chances, zeros]) + np.concatenate([zeros, chances])) / 2
    return chances
