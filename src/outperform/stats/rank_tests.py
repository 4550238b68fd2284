"""Brunner and Munzel's test, which looks at the order of independent scores only."""

import math
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outperform.stats.checks import (
    FloatArray,
    IntArray,
    as_generator,
    as_two_samples,
    check_choice,
    check_count,
    leading_shape,
)
from outperform.stats.chunks import divide_rows
from outperform.stats.hypothesis_test import (
    Alternative,
    HypothesisTest,
    permutation_pvalue,
    student_test,
    unwrap,
)
from outperform.stats.ties import find_differing

BrunnerMunzelMethod = Literal["t", "permutation"]
_BLOCK = 100_000  # elements handled at a time, to stay within the processor's cache


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
    pooled = np.concatenate([_stack_rows(x, shape) for x in (first, second)], axis=1)
    statistic, df = _in_blocks(pooled, n_a)
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


def _stack_rows(samples: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Samples of all tests, a row each."""
    n = samples.shape[-1]
    return np.broadcast_to(samples, (*shape, n)).reshape(-1, n)


def _in_blocks(pooled: FloatArray, n_a: int) -> tuple[FloatArray, FloatArray]:
    n_rows = max(1, _BLOCK // pooled.shape[1])
    parts = [
        _studentize(*_sort_pooled(pooled[i : i + n_rows], n_a), n_a)
        for i in range(0, max(1, len(pooled)), n_rows)
    ]
    statistic, df = (np.concatenate(part) for part in zip(*parts, strict=True))
    return statistic, df


def _sort_pooled(pooled: FloatArray, n_a: int) -> tuple[NDArray[np.bool_], "_TieGroups | None"]:
    """Which of the pooled scores, in ascending order, are from a; and where ties begin and end."""
    order = np.argsort(pooled, axis=1)
    ordered = np.take_along_axis(pooled, order, axis=1)
    return order < n_a, _tie_groups(ordered)


_TieGroups = tuple[NDArray[np.intp], NDArray[np.intp]]


def _tie_groups(ordered: FloatArray) -> _TieGroups | None:
    """For each position, the first and the last position with a tied score, if any are tied."""
    changes = find_differing(ordered)
    if changes.all():
        return None
    n_rows, n = ordered.shape
    edge = np.ones((n_rows, 1), dtype=bool)
    starts, ends = np.hstack([edge, changes]), np.hstack([changes, edge])
    position = np.arange(n)
    first = np.maximum.accumulate(np.where(starts, position, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, position, n - 1)[:, ::-1], axis=1)[:, ::-1]
    return first, last


def _studentize(
    from_a: NDArray[np.bool_], ties: _TieGroups | None, n_a: int
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
    return _divide(effect, variance_a, variance_b, n_a, n_b)


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


def _divide(
    effect: FloatArray, variance_a: FloatArray, variance_b: FloatArray, n_a: int, n_b: int
) -> tuple[FloatArray, FloatArray]:
    # One adjacent swap between separated samples gives each sample this variance.
    smallest = 1 / (n_a * n_b) ** 2
    constant = variance_a + variance_b == 0
    variance_a = np.where(constant, smallest, variance_a)
    variance_b = np.where(constant, smallest, variance_b)
    df = (variance_a + variance_b) ** 2 / (variance_a**2 / (n_a - 1) + variance_b**2 / (n_b - 1))
    # Where all are tied there is neither difference nor variation.
    effect = np.where(constant & (effect == 0), np.nan, effect)
    return effect / np.sqrt(variance_a + variance_b), df


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
    blocks: Iterable[NDArray[np.bool_]]
    blocks = [_all_splits(n, n_a)] if exact else _random_splits(n, n_a, n_resamples, rng)
    nulls = [[_studentize(splits, ties, n_a)[0] for _, ties in cases] for splits in blocks]
    pvalue = np.empty(len(pooled))
    for (rows, _), parts in zip(cases, zip(*nulls, strict=True), strict=True):
        null = np.sort(np.concatenate(parts))
        pvalue[rows] = permutation_pvalue(statistic[rows], null, alternative, exact=exact)
    return pvalue


def _all_splits(n: int, n_a: int) -> NDArray[np.bool_]:
    chosen = np.array(list(combinations(range(n), n_a)))
    splits = np.zeros((len(chosen), n), dtype=bool)
    np.put_along_axis(splits, chosen, True, axis=1)
    return splits


def _random_splits(
    n: int, n_a: int, n_resamples: int, rng: np.random.Generator
) -> Iterator[NDArray[np.bool_]]:
    """Random splits, in blocks that bound the memory."""
    for n_rows in divide_rows(n_resamples, n, limit=10 * _BLOCK):
        splits = np.zeros((n_rows, n), dtype=bool)
        splits[:, :n_a] = True
        yield rng.permuted(splits, axis=1, out=splits)
