"""Several competitors on many tasks, compared by their ranks.

Scores have the shape (..., n_tasks, n_competitors), one score of each competitor on each task, but
for `skillings_mack`, which allows for gaps; higher is better, and the best of a task has rank 1. A
rank depends on all who take part: adding a competitor may turn the order of two others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, chdtrc, gammaln, ndtr, ndtri

from outperform.errors import InvalidScores, TooFewRuns
from outperform.plain_values import Plain
from outperform.stats.checks import (
    BoolArray,
    FloatArray,
    as_samples,
    as_scores_with_gaps,
    check_count,
    check_open_unit,
    merge_stored,
    merge_ties,
)
from outperform.stats.mean_tests import permutation_pvalue
from outperform.stats.numerics import divide_rows, midranks, normal_nodes, unwrap
from outperform.wording import count

_BLOCK = 1000  # widths at a time, to bound memory
_FEW = 30  # variables, for which half the nodes give all digits
_CLOSE = 1e-13  # of a width to its quantile
_BLOCK_CELLS = 1 << 17  # ranks held at once: 1 MB


@dataclass(frozen=True, slots=True)
class FriedmanStatistics(Plain):
    """Friedman's and Iman and Davenport's statistics of the same ranks."""

    chi2: Any
    chi2_pvalue: Any
    f: Any  # infinite where all tasks agree
    f_pvalue: Any


@dataclass(frozen=True, slots=True)
class FriedmanTest(Plain):
    """Evidence against "all competitors are alike": arrays gain the leading axes."""

    ranks: FloatArray  # (n_competitors,), averaged over tasks
    corrected: FriedmanStatistics  # for ties, as they should be reported
    uncorrected: FriedmanStatistics  # as if no ranks were shared, to compare with publications
    n_tasks: int


@dataclass(frozen=True, slots=True)
class NemenyiTest(Plain):
    """Which competitors differ, all pairs at once: arrays gain the leading axes."""

    ranks: FloatArray  # (n_competitors,), averaged over tasks
    pvalues: FloatArray  # (n_competitors, n_competitors), adjusted for all pairs
    critical_difference: float  # of average ranks, from which on a pair differs
    alpha: float
    n_tasks: int


def average_ranks(scores: ArrayLike) -> FloatArray:
    """Mean rank of each competitor over tasks; the best is 1, and tied scores share their ranks.

    Parameters
    ----------
    scores : shape (..., n_tasks, n_competitors), higher is better

    Examples
    --------
    >>> average_ranks([[0.9, 0.8, 0.7], [0.6, 0.6, 0.5]])
    array([1.25, 1.75, 3.  ])
    """
    return np.asarray(_rank_tasks(scores, at_least=1).mean(axis=-2))


def friedman(scores: ArrayLike) -> FriedmanTest:
    """Test whether any competitor tends to rank differently, by Friedman's chi-square and by F.

    Both are approximations, made for many tasks: with few, chi-square mostly finds too little and
    Iman and Davenport's F too much. No p-value is below (k!)^-(N - 1), for k competitors and N
    tasks: at least so often do tasks agree this much by chance. Where all are tied, p is 1.

    Parameters
    ----------
    scores : shape (..., n_tasks, n_competitors), higher is better

    References
    ----------
    Friedman (1937); Iman and Davenport (1980); Demšar (2006), Statistical comparisons.

    Examples
    --------
    >>> test = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.6, 0.6, 0.5], [0.3, 0.4, 0.2]])
    >>> test.ranks, round(test.corrected.chi2, 2), round(test.corrected.f_pvalue, 3)
    (array([1.375, 1.625, 3.   ]), 6.53, 0.006)
    """
    ranks = _rank_tasks(scores, at_least=2)
    n_tasks, k = ranks.shape[-2:]
    # Twice the ranks are whole numbers, so that full agreement is found without rounding.
    centred = 2 * ranks - (k + 1)
    between = np.square(centred.sum(axis=-2)).sum(axis=-1)
    within = np.square(centred).sum(axis=(-2, -1))
    untied = np.full_like(within, n_tasks * k * (k**2 - 1) / 3)
    return FriedmanTest(
        np.asarray(ranks.mean(axis=-2)),
        _measure_agreement(between, within, n_tasks, k),
        _measure_agreement(between, untied, n_tasks, k),
        n_tasks,
    )


def _measure_agreement(
    between: FloatArray, within: FloatArray, n_tasks: int, k: int
) -> FriedmanStatistics:
    # Kendall's W: 0 where tasks contradict one another, 1 where all agree.
    agreement = between / np.where(within == 0, 1, n_tasks * within)
    chi2 = n_tasks * (k - 1) * agreement
    rest = 1 - agreement
    with np.errstate(divide="ignore"):
        # Equal to (N - 1) chi2 / (N (k - 1) - chi2), which Demšar (2006) has.
        f = (n_tasks - 1) * agreement / rest
    f_tail = betainc((n_tasks - 1) * (k - 1) / 2, (k - 1) / 2, rest)
    # Renaming competitors alike on all tasks gives k! outcomes that agree as much as this one.
    lowest = np.exp(-(n_tasks - 1) * gammaln(k + 1))
    pvalues = (np.maximum(lowest, tail) for tail in (chdtrc(k - 1, chi2), f_tail))
    chi2_pvalue, f_pvalue = (unwrap(np.asarray(pvalue)) for pvalue in pvalues)
    return FriedmanStatistics(
        unwrap(np.asarray(chi2)), chi2_pvalue, unwrap(np.asarray(f)), f_pvalue
    )


def nemenyi(scores: ArrayLike, *, alpha: float = 0.05) -> NemenyiTest:
    """Test all pairs of competitors at once by their average ranks.

    Two differ where their average ranks do by the critical difference q sqrt(k (k + 1) / 6N) or
    more, k competitors and N tasks; q is the quantile of the studentized range with infinite
    degrees of freedom, over sqrt(2). The chance of any false difference is about alpha where all
    are alike, and less where ranks are shared.

    Parameters
    ----------
    scores : shape (..., n_tasks, n_competitors), higher is better

    References
    ----------
    Nemenyi (1963), Distribution-free multiple comparisons; Demšar (2006), Statistical comparisons.

    Examples
    --------
    >>> test = nemenyi([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.6, 0.6, 0.5], [0.3, 0.4, 0.2]])
    >>> round(test.critical_difference, 3)
    1.657
    >>> test.pvalues.round(3)
    array([[1.   , 0.933, 0.056],
           [0.933, 1.   , 0.126],
           [0.056, 0.126, 1.   ]])
    """
    check_open_unit("alpha", alpha)
    all_ranks = _rank_tasks(scores, at_least=2)
    n_tasks, k = all_ranks.shape[-2:]
    ranks = np.asarray(all_ranks.mean(axis=-2))
    # Standard deviation of an average rank, but for what all ranks of a task have in common.
    unit = np.sqrt(k * (k + 1) / (12 * n_tasks))
    first, second = np.triu_indices(k, 1)
    pvalues = np.ones((*ranks.shape, k))
    tails = exceed_range(np.abs(ranks[..., first] - ranks[..., second]) / unit, k)
    pvalues[..., first, second] = pvalues[..., second, first] = tails
    return NemenyiTest(ranks, pvalues, float(range_quantile(alpha, k) * unit), alpha, n_tasks)


def _rank_tasks(scores: ArrayLike, *, at_least: int) -> FloatArray:
    """Ranks within each task; tied scores have the mean of the ranks that they share."""
    array = as_samples(scores, "scores", at_least=2)
    if array.ndim < 2:
        raise InvalidScores(
            f"scores has shape {array.shape}",
            "Pass one row per task and one column per competitor, shape (n_tasks, n_competitors)",
        )
    if array.shape[-2] < at_least:
        raise TooFewRuns(
            f"scores has {count(array.shape[-2], 'task')}", f"At least {at_least} are needed"
        )
    return midranks(-merge_tied(array, np.asarray(scores).dtype))


def merge_tied(array: FloatArray, dtype: np.dtype[Any]) -> FloatArray:
    """Make scores of a task identical where rounding, or what they are stored in, ties them."""
    rows = array.reshape(-1, array.shape[-1])
    stored = [merge_stored([row], [dtype])[0] for row in rows] if dtype.itemsize < 8 else rows
    [merged] = merge_ties(np.reshape(stored, array.shape))
    return merged


def exceed_range(width: ArrayLike, k: int) -> FloatArray:
    """P(range of k standard normal variables > width), for widths of any shape from 0 on."""
    widths = np.asarray(width, dtype=np.float64)
    flat = widths.reshape(-1, 1)
    tails = [_exceed_widths(flat[i : i + _BLOCK], k) for i in range(0, len(flat) or 1, _BLOCK)]
    return np.concatenate(tails).reshape(widths.shape)


def _exceed_widths(widths: FloatArray, k: int) -> FloatArray:
    """Mean over where the lowest lies of the chance that not all others are within the width."""
    node, weight = normal_nodes(101 if k <= _FEW else 201)
    # A wide range goes to both sides of 0, so that its lowest lies around minus half the width.
    lowest = node - widths / 2
    weight = weight * np.exp(node * widths / 2 - widths**2 / 8)
    above = ndtr(-lowest)
    with np.errstate(divide="ignore"):  # log(0) where the others lie beyond for sure
        # For widths near 0 the quotient may round to more than 1.
        beyond = np.minimum(1, ndtr(-lowest - widths) / above)
        all_within = (k - 1) * np.log1p(-beyond)
    # One minus the chance to be within would lose the digits of a small tail; this keeps them.
    total = (weight * above ** (k - 1) * -np.expm1(all_within)).sum(axis=1)
    return np.where(widths[:, 0] == 0, 1.0, np.minimum(1, k * total))


@cache  # simulations ask for the same one again and again
def range_quantile(alpha: float, k: int) -> float:
    """Width that the range of k standard normal variables exceeds with chance alpha."""

    def excess(width: float) -> float:
        return math.log(float(exceed_range(width, k)) / alpha)

    # The chance is at least that of one pair, and at most k(k - 1)/2 times it.
    low, high = (-math.sqrt(2) * float(ndtri(alpha / n)) for n in (2, k * (k - 1)))
    at_low, at_high = (excess(width) for width in (low, high))
    # Regula falsi on the logarithm; an end that stays twice has its weight halved: Illinois.
    last = 0.0
    while high - low > _CLOSE * high:
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        # At least a little off the ends, so that both close in.
        middle = min(max(middle, low + _CLOSE * high / 2), high - _CLOSE * high / 2)
        value = excess(middle)
        weight = 0.5 if value * last > 0 else 1.0
        if value > 0:
            low, at_low, at_high = middle, value, weight * at_high
        else:
            high, at_high, at_low = middle, value, weight * at_low
        last = value
    return high


@dataclass(frozen=True, slots=True)
class SkillingsMackTest(Plain):
    """Evidence against "all competitors are alike", with gaps in the table."""

    statistic: float
    df: int  # of chi-square: competitors less one, less in a table that falls apart
    chi2_pvalue: float
    permutation_pvalue: float
    n_tasks: int  # with two scores or more
    n_dropped: int  # tasks with fewer, which say nothing
    n_resamples: int


def skillings_mack(
    scores: ArrayLike, *, n_resamples: int = 10_000, rng: np.random.Generator
) -> SkillingsMackTest:
    """Test whether any competitor tends to rank differently, where scores are missing.

    Scores are ranked within each task among those that are there; a gap has the mean rank of its
    task. Gaps are taken to be unrelated to how good a competitor is: where the bad ones are left
    out, the test is wrong. Without gaps the statistic is Friedman's, not corrected for ties. The
    permutation p-value shuffles the scores of each task among those who have one, ties included;
    take that, and chi-square where there are many tasks and few ties.

    Where competitors fall into groups that have no task in common, only those of one group are
    compared, and `df` is the number of competitors less that of groups.

    Parameters
    ----------
    scores : shape (n_tasks, n_competitors), higher is better; NaN where there is none

    References
    ----------
    Skillings and Mack (1981), On the use of a Friedman-type statistic in balanced and unbalanced
    block designs.

    Examples
    --------
    >>> nan = float("nan")
    >>> scores = [[0.9, 0.8, 0.7], [0.8, nan, 0.6], [0.6, 0.5, nan], [0.3, 0.2, 0.1]]
    >>> test = skillings_mack(scores, rng=np.random.default_rng(0))
    >>> round(test.statistic, 2), test.df, round(test.chi2_pvalue, 3)
    (5.83, 2, 0.054)
    """
    check_count("n_resamples", n_resamples, at_least=100)
    centred, seen, n_dropped = _centre_ranks(scores)
    together = seen.T.astype(float) @ seen
    # Covariance of the sums of ranks in these units: minus the tasks that two have in common.
    values, vectors = np.linalg.eigh(np.diag(together.sum(axis=1)) - together)
    positive = values > 1e-9 * values.max()
    # Its product with its transpose is the inverse of the covariance.
    root, df = vectors[:, positive] / np.sqrt(values[positive]), int(np.count_nonzero(positive))
    statistic = _measure(centred, root)
    null = [
        _measure(_shuffle(centred, seen, n_rows, rng), root)
        for n_rows in divide_rows(n_resamples, centred.size, limit=_BLOCK_CELLS)
    ]
    pvalue = permutation_pvalue(
        statistic, np.sort(np.concatenate(null)), "greater", exact=False, rounding=1e-9
    )
    return SkillingsMackTest(
        float(statistic),
        df,
        float(chdtrc(df, statistic)),
        float(pvalue),
        len(centred),
        n_dropped,
        n_resamples,
    )


def _centre_ranks(scores: ArrayLike) -> tuple[FloatArray, BoolArray, int]:
    """Ranks about the mean of their task, 0 in gaps, in units in which all tasks count alike.

    Of the tasks with two scores or more; with where there are scores, and how many others.
    """
    array = as_scores_with_gaps(scores, "scores")
    if array.ndim != 2 or array.shape[1] < 2:
        raise InvalidScores(
            f"scores has shape {array.shape}",
            "Pass one row per task and one column for each of two competitors or more",
        )
    seen = ~np.isnan(array)
    kept = seen.sum(axis=1) >= 2
    if np.count_nonzero(kept) < 2:
        raise TooFewRuns(
            f"scores has {count(int(kept.sum()), 'task')} with two scores or more",
            "At least 2 are needed",
        )
    centred = np.zeros(array.shape)
    for i in np.flatnonzero(kept):
        n = np.count_nonzero(seen[i])
        ranks = average_ranks(np.asarray(scores)[i : i + 1, seen[i]])
        centred[i, seen[i]] = np.sqrt(12 / (n + 1)) * (ranks - (n + 1) / 2)
    return centred[kept], seen[kept], int(np.count_nonzero(~kept))


def _measure(centred: FloatArray, root: FloatArray) -> FloatArray:
    """Statistic of tables (..., n_tasks, n_competitors)."""
    return np.asarray(np.square(centred.sum(axis=-2) @ root).sum(axis=-1))


def _shuffle(
    centred: FloatArray, seen: BoolArray, n_shuffles: int, rng: np.random.Generator
) -> FloatArray:
    """Tables with the ranks of each task in random order, and the gaps where they are."""
    keys = rng.random((n_shuffles, *centred.shape))
    keys[:, ~seen] = 2  # gaps last
    places = np.argsort(keys, axis=-1)
    # Ranks first, then the zeros of gaps; which ranks come first does not matter.
    ordered = np.take_along_axis(centred, np.argsort(~seen, axis=1, kind="stable"), axis=1)
    tables = np.empty(keys.shape)
    np.put_along_axis(tables, places, np.broadcast_to(ordered, keys.shape), axis=-1)
    return tables
