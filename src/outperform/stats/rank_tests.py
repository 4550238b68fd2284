"""Tests that look at the order of scores only: Brunner and Munzel's, and Wilcoxon's of pairs."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from outperform.errors import InvalidInput
from outperform.stats.checks import (
    ROUNDING,
    BoolArray,
    FloatArray,
    IntArray,
    as_generator,
    as_pairs,
    as_two_samples,
    check_choice,
    check_count,
    find_differing,
    leading_shape,
    merge_pairs,
    merge_ties,
    span_ties,
)
from outperform.stats.mean_tests import (
    Alternative,
    HypothesisTest,
    permutation_pvalue,
    student_test,
)
from outperform.stats.numerics import divide_rows, unwrap

BrunnerMunzelMethod = Literal["t", "permutation"]
_BLOCK = 100_000  # elements handled at a time, to stay within the processor's cache
_TieGroups = tuple[NDArray[np.intp], NDArray[np.intp]]
_SAMPLES_AT_ONCE = 2_000  # samples handled at a time, to stay within the processor's cache
_LARGEST_EXACT = 50  # pairs of Wilcoxon's test


def brunner_munzel(
    a: ArrayLike,
    b: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    method: BrunnerMunzelMethod = "t",
    axis: int = -1,
    n_resamples: int = 9_999,
    rng: np.random.Generator | None = None,
) -> HypothesisTest:
    """Test whether P(A>B) differs from 1/2, for two independent samples of any shape.

    Parameters
    ----------
    a, b : shape (..., n_a) and (..., n_b), n ≥ 2; higher is better
        Leading axes broadcast: one test each.
    alternative
        ``"greater"``: a tends to be higher.
    method
        ``"t"``: the usual approximation, liberal in small samples. ``"permutation"``: keeps its
        level; all splits where there are at most `n_resamples` + 1, else random ones.
    rng
        Draws the random splits; by default seeded with 0, so that the same scores always give
        the same p-value.

    Returns
    -------
    A statistic that is positive when a tends to be higher (scipy's is negative then) and its
    p-value. At complete separation the variance estimate would be 0; the smallest that untied
    scores can otherwise have is taken instead. Where all scores are tied, p is 1.

    References
    ----------
    Brunner and Munzel (2000); Neubert and Brunner (2007) for the permutation version.

    Examples
    --------
    >>> brunner_munzel([5, 6, 7, 8, 9], [1, 2, 3, 4, 6]).pvalue < 0.01
    True
    """
    check_choice("method", method, get_args(BrunnerMunzelMethod))
    check_count("n_resamples", n_resamples, at_least=1)
    first, second = as_two_samples(a, b, at_least=2, axis=axis)
    shape, n_a = leading_shape(first, second), first.shape[-1]
    wide = [np.broadcast_to(x, (*shape, x.shape[-1])) for x in (first, second)]
    pooled = np.concatenate([x.reshape(-1, x.shape[-1]) for x in wide], axis=1)
    statistic, df = _studentize_rows(pooled, n_a)
    if method == "t":
        return student_test(
            "brunner-munzel", statistic.reshape(shape), df.reshape(shape), alternative
        )
    generator = as_generator(rng)
    pvalue = _permutation_pvalues(pooled, n_a, statistic, alternative, n_resamples, generator)
    return HypothesisTest(
        "brunner-munzel permutation",
        unwrap(np.nan_to_num(statistic.reshape(shape))),
        unwrap(pvalue.reshape(shape)),
        alternative,
    )


def _studentize_rows(pooled: FloatArray, n_a: int) -> tuple[FloatArray, FloatArray]:
    """Statistic and degrees of freedom of each row, of which the first n_a scores are from a."""
    n_rows = max(1, _BLOCK // pooled.shape[1])
    parts = []
    for i in range(0, max(1, len(pooled)), n_rows):
        order = np.argsort(pooled[i : i + n_rows], axis=1)
        ordered = np.take_along_axis(pooled[i : i + n_rows], order, axis=1)
        parts.append(_studentize(order < n_a, _tie_groups(ordered), n_a))
    statistic, df = (np.concatenate(part) for part in zip(*parts, strict=True))
    return statistic, df


def _tie_groups(ordered: FloatArray) -> _TieGroups | None:
    """For each position, the first and the last position with a tied score, if any are tied."""
    differs = find_differing(ordered)
    return None if differs.all() else span_ties(differs)


def _studentize(
    from_a: BoolArray, ties: _TieGroups | None, n_a: int
) -> tuple[FloatArray, FloatArray]:
    """Brunner and Munzel's statistic and degrees of freedom, one per row.

    Sorted, the number of b below an element of a is a cumulative sum, and so is the number of a
    below an element of b: all the ranks that the test needs.
    """
    n_b = from_a.shape[1] - n_a
    below_a: IntArray = np.cumsum(from_a, axis=1, dtype=np.int64)
    below_b: IntArray = np.arange(1, n_a + n_b + 1) - below_a
    if ties is None:
        return studentize_placements(below_b * from_a, below_a * ~from_a, n_a, n_b)
    below_a, below_b = (_sum_around_ties(counts, ties) for counts in (below_a, below_b))
    return studentize_placements(below_b * from_a, below_a * ~from_a, n_a, n_b, win=2)


def studentize_placements(
    beaten_by_a: IntArray, beaten_by_b: IntArray, n_a: int, n_b: int, *, win: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Statistic and degrees of freedom from how many of the other sample each score beats.

    A row per test; entries that stand for no score of the sample are 0. A win counts 1, or 2
    where a tie counts 1.
    """
    variance_a = _variance(beaten_by_a, n_a, win * n_b) / (n_a * (win * n_b) ** 2)
    variance_b = _variance(beaten_by_b, n_b, win * n_a) / (n_b * (win * n_a) ** 2)
    effect = beaten_by_a.sum(axis=1) / (win * n_a * n_b) - 0.5
    # One adjacent swap between separated samples gives each sample this variance.
    smallest = 1 / (n_a * n_b) ** 2
    constant = variance_a + variance_b == 0
    variance_a = np.where(constant, smallest, variance_a)
    variance_b = np.where(constant, smallest, variance_b)
    df = (variance_a + variance_b) ** 2 / (variance_a**2 / (n_a - 1) + variance_b**2 / (n_b - 1))
    # Where all are tied there is neither difference nor variation.
    effect = np.where(constant & (effect == 0), np.nan, effect)
    return effect / np.sqrt(variance_a + variance_b), df


def _sum_around_ties(counts: IntArray, ties: _TieGroups) -> IntArray:
    """Sum of the counts before and after each group of equal scores: twice their mean."""
    first, last = ties
    before = np.concatenate([np.zeros_like(counts[:, :1]), counts], axis=1)
    if len(first) == 1:  # one tie pattern for all rows: permutations of the same scores
        return np.asarray(before[:, first[0]] + counts[:, last[0]])
    below = np.take_along_axis(before, first, axis=1)
    return np.asarray(below + np.take_along_axis(counts, last, axis=1))


def _variance(counts: IntArray, n: int, largest: int) -> FloatArray:
    """Sample variance of n counts; the other entries of each row are 0.

    Whole numbers make the difference exact, and 0 if all counts are equal. 64 bits are too few
    for samples of 46,000 and more; Python's integers are not.
    """
    sums: NDArray[Any] = counts.sum(axis=1)
    squares: NDArray[Any]
    if n * largest**2 < 2**63:
        squares = np.einsum("ij,ij->i", counts, counts)
    else:
        squares = np.square(counts).sum(axis=1, dtype=object)
    if (n * largest) ** 2 >= 2**63:
        squares, sums = squares.astype(object), sums.astype(object)
    return np.asarray((n * squares - sums**2) / (n * (n - 1)), dtype=np.float64)


def _permutation_pvalues(
    pooled: FloatArray,
    n_a: int,
    statistic: FloatArray,
    alternative: Alternative,
    n_resamples: int,
    rng: np.random.Generator,
) -> FloatArray:
    n = pooled.shape[1]
    exact = math.comb(n, n_a) <= n_resamples + 1
    ordered = np.sort(pooled, axis=1)
    tied = ~find_differing(ordered).all(axis=1)
    # Without ties the null distribution depends on the sizes only: one serves all rows.
    cases: list[tuple[Any, _TieGroups | None]] = [] if tied.all() else [(~tied, None)]
    cases += [([i], _tie_groups(ordered[i : i + 1])) for i in np.flatnonzero(tied)]
    blocks = _list_splits(n, n_a, n_resamples, rng, exact=exact)
    nulls = [[_studentize(splits, ties, n_a)[0] for _, ties in cases] for splits in blocks]
    pvalue = np.empty(len(pooled))
    for (rows, _), parts in zip(cases, zip(*nulls, strict=True), strict=True):
        null = np.sort(np.concatenate(parts))
        pvalue[rows] = permutation_pvalue(statistic[rows], null, alternative, exact=exact)
    return pvalue


def _list_splits(
    n: int, n_a: int, n_resamples: int, rng: np.random.Generator, *, exact: bool
) -> Iterator[BoolArray]:
    """All splits, or random ones in blocks that bound the memory."""
    if exact:
        chosen = np.array(list(combinations(range(n), n_a)))
        splits = np.zeros((len(chosen), n), dtype=bool)
        np.put_along_axis(splits, chosen, True, axis=1)
        yield splits
        return
    for n_rows in divide_rows(n_resamples, n, limit=10 * _BLOCK):
        splits = np.zeros((n_rows, n), dtype=bool)
        splits[:, :n_a] = True
        yield rng.permuted(splits, axis=1, out=splits)


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
    >>> [(grown.n, grown.test.pvalue.round(3)) for grown in grow_brunner_munzel(a, b, [3, 4])]
    [(3, array([0.176])), (4, array([0.014]))]
    """
    first, second = merge_ties(*as_two_samples(a, b, at_least=2, paired=True))
    wanted = sorted(set(sizes))
    if not (wanted and wanted[0] >= 2 and wanted[-1] <= first.shape[1]):
        raise InvalidInput(f"sizes are {wanted}", f"Pass at least one, from 2 to {first.shape[1]}")
    blocks = [
        _grow_block(
            first[i : i + _SAMPLES_AT_ONCE].T.copy(),
            second[i : i + _SAMPLES_AT_ONCE].T.copy(),
            wanted,
        )
        for i in range(0, len(first), _SAMPLES_AT_ONCE)
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
    tests = []
    for last in range(sizes[-1]):
        _count_newcomer(a[last], b[:last], beaten_by_a[last], beaten_by_b[:last])
        _count_newcomer(b[last], a[: last + 1], beaten_by_b[last], beaten_by_a[: last + 1])
        n = last + 1
        if n in sizes:
            first, second = (c[:n].T.astype(np.int64) for c in (beaten_by_a, beaten_by_b))
            tests.append(studentize_placements(first, second, n, n, win=2))
    return tests


def _count_newcomer(
    newcomer: FloatArray,
    others: FloatArray,
    beaten_by_newcomer: NDArray[np.int32],
    beaten_by_others: NDArray[np.int32],
) -> None:
    """Compare a score that joins one sample with all of the other, and count who beats whom."""
    beaten = (others < newcomer).view(np.int8) + (others <= newcomer).view(np.int8)
    beaten_by_newcomer[:] = beaten.sum(axis=0)
    beaten_by_others += 2 - beaten


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
    ranks = _rank_differences(np.abs(differences), rounding)
    statistic = float(ranks[differences > 0].sum())
    # Doubled, midranks are whole numbers.
    less, greater = map(float, signed_rank_tails(round(2 * statistic), (2 * ranks).astype(int)))
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
    first, second = as_two_samples(a, b, at_least=1, paired=True)
    first, second = np.broadcast_arrays(*merge_pairs(first, second))
    n_decided, statistic, is_tied = _rank_untied(first, second)
    pvalues = np.empty(n_decided.shape)
    for n in np.unique(n_decided[~is_tied]).tolist():
        rows = (n_decided == n) & ~is_tied
        tails = signed_rank_tails(statistic[rows], np.arange(1, n + 1))
        pvalues[rows] = np.minimum(1, 2 * np.minimum(*tails))
    for row in map(tuple, np.argwhere(is_tied)):
        pvalues[row] = wilcoxon_test(first[row], second[row]).pvalue
    return pvalues


def _rank_untied(
    first: FloatArray, second: FloatArray
) -> tuple[NDArray[np.int64], NDArray[np.int64], BoolArray]:
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


def _rank_differences(values: FloatArray, rounding: FloatArray) -> FloatArray:
    """Ranks, averaged over values that differ from their neighbour by rounding only."""
    order = np.argsort(values)
    ordered, slack = values[order], rounding[order]
    first, last = span_ties(np.diff(ordered) > np.maximum(slack[1:], slack[:-1]))
    ranks = np.empty(values.size)
    ranks[order] = ((first + last) / 2 + 1)[: values.size]
    return ranks


def signed_rank_tails(
    statistic: ArrayLike, ranks: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """Chances of sums up to, and from, the statistic if each of the ranks stays or goes by a coin.

    Exact for up to 50 ranks, and normal beyond.
    """
    statistic = np.asarray(statistic)
    if ranks.size > _LARGEST_EXACT:
        # The variance of a sum of randomly signed ranks, tied or not, is the sum of squares / 4.
        z = (statistic - ranks.sum() / 2) / math.sqrt(float(np.square(ranks).sum()) / 4)
        return np.asarray(ndtr(z)), np.asarray(ndtr(-z))
    chances = np.ones(1)
    for rank in ranks:
        zeros = np.zeros(rank)
        chances = (np.concatenate([chances, zeros]) + np.concatenate([zeros, chances])) / 2
    from_last = np.cumsum(chances[::-1])[chances.size - 1 - statistic]
    return np.asarray(np.cumsum(chances)[statistic]), np.asarray(from_last)
