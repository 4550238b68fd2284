"""What runs picked for their scores would show: the best n, the worst n, the best n pairs."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from outperform.plain_values import Plain
from outperform.stats.checks import (
    FloatArray,
    IntArray,
    as_independent,
    as_pairs,
    check_open_unit,
    check_sizes,
)
from outperform.stats.effect_sizes import join_errors
from outperform.stats.hypothesis_test import student_test
from outperform.stats.rank_tests import brunner_munzel


@dataclass(frozen=True, slots=True)
class PickedRuns(Plain):
    """What n runs picked from each of two samples show, for each n.

    Attributes
    ----------
    sizes : shape (n_sizes,)
        How many runs are picked from each.
    difference
        Mean of those picked from a minus mean of those from b: the absolute effect size.
    effect_size
        The same in pooled standard deviations, Cohen's d; infinite where neither varies.
    t_pvalue, rank_pvalue
        Of the one-sided t-test (Welch's, or of pairs) and Brunner and Munzel's test that a is
        higher.
    gap
        From the upper end of the interval of b's mean to the lower end of that of a's; negative
        where they overlap.
    """

    sizes: IntArray = field(compare=False, repr=False)
    difference: FloatArray = field(compare=False, repr=False)
    effect_size: FloatArray = field(compare=False, repr=False)
    t_pvalue: FloatArray = field(compare=False, repr=False)
    rank_pvalue: FloatArray = field(compare=False, repr=False)
    gap: FloatArray = field(compare=False, repr=False)
    confidence_level: float  # of the intervals that the gap lies between

    def largest_significant(self, alpha: float) -> int:
        """Most runs that can be picked so that both tests find a higher; 0 if none can.

        Examples
        --------
        >>> pick_best_against_worst(range(10), range(10)).largest_significant(0.05)
        7
        """
        significant = (self.t_pvalue <= alpha) & (self.rank_pvalue <= alpha)
        return int(self.sizes[significant].max(initial=0))


def pick_best_against_worst(
    a: ArrayLike,
    b: ArrayLike,
    *,
    sizes: ArrayLike | None = None,
    confidence_level: float = 0.999,
) -> PickedRuns:
    """Compare the n highest of `a` with the n lowest of `b`, which may be the same sample.

    Parameters
    ----------
    a, b : shape (n_a,) and (n_b,), n ≥ 3; higher is better
    sizes
        Numbers of runs to pick, each at least 2; by default all that leave out at least one run.
    confidence_level
        Of the intervals that the gap lies between.

    References
    ----------
    Gundersen et al. (2023), On Reporting Robust and Trustworthy Conclusions from Model Comparison
    Studies, figures 2 to 5, 9 and 10.

    Examples
    --------
    >>> pick_best_against_worst([1, 2, 3, 4], [1, 2, 3, 4]).difference
    array([2., 1.])
    """
    first, second = as_independent(a, b, at_least=3)
    best, worst = np.sort(first)[::-1], np.sort(second)
    chosen = _choose_sizes(sizes, best.size, worst.size)
    return _compare_first(best, worst, chosen, confidence_level, paired=False)


def pick_best_pairs(
    a: ArrayLike,
    b: ArrayLike,
    *,
    sizes: ArrayLike | None = None,
    confidence_level: float = 0.999,
) -> PickedRuns:
    """Compare `a` with `b` on the n pairs that favour `a` most: the largest differences.

    Parameters
    ----------
    a, b : shape (n_pairs,), n ≥ 3; higher is better
    sizes, confidence_level
        As in `pick_best_against_worst`.

    References
    ----------
    Gundersen et al. (2023), figure 6 on the left.

    Examples
    --------
    >>> pick_best_pairs([3, 5, 4], [1, 1, 3]).difference
    array([3.])
    """
    first, second = as_pairs(a, b, at_least=3)
    order = np.argsort(second - first, kind="stable")
    chosen = _choose_sizes(sizes, first.size, first.size)
    return _compare_first(first[order], second[order], chosen, confidence_level, paired=True)


def _compare_first(
    first: FloatArray,
    second: FloatArray,
    sizes: IntArray,
    confidence_level: float,
    *,
    paired: bool,
) -> PickedRuns:
    """Compare the first n of both, which were picked, for each n."""
    check_open_unit("confidence_level", confidence_level)
    means, variances = zip(*(_summarise_first(x, sizes) for x in (first, second)), strict=True)
    if paired:
        value, variance = _summarise_first(first - second, sizes)
        t_pvalue = _t_pvalues(value, np.sqrt(variance / sizes), sizes - 1)
    else:
        value, (error_a, error_b) = means[0] - means[1], np.sqrt(variances / sizes)
        t_pvalue = _t_pvalues(value, *join_errors(error_a, error_b, (sizes, sizes)))
    effect_size = _divide(value, np.sqrt((variances[0] + variances[1]) / 2))
    tests = (brunner_munzel(first[:n], second[:n], alternative="greater") for n in sizes)
    rank_pvalue = np.array([test.pvalue for test in tests])
    # From the upper end of the second interval to the lower end of the first.
    reach = stdtrit(sizes - 1, (1 + confidence_level) / 2) / np.sqrt(sizes)
    gap = means[0] - means[1] - reach * (np.sqrt(variances[0]) + np.sqrt(variances[1]))
    return PickedRuns(sizes, value, effect_size, t_pvalue, rank_pvalue, gap, confidence_level)


def _choose_sizes(sizes: ArrayLike | None, n_a: int, n_b: int) -> IntArray:
    n_most = min(n_a, n_b)
    if sizes is None:
        # As many as both have is picking only if one of them has more.
        return np.arange(2, n_most + (n_a != n_b))
    return check_sizes(sizes, at_least=2, at_most=n_most)


def _summarise_first(values: FloatArray, sizes: IntArray) -> tuple[FloatArray, FloatArray]:
    """Mean and sample variance of the first n values, for each n.

    Welford's recurrence: each value adds (x - mean of those before)² · (n - 1) / n to the sum of
    squares, which is exact where all are equal and loses nothing where the mean is large.
    """
    counts = np.arange(1, values.size + 1)
    means = values[0] + np.cumsum(values - values[0]) / counts
    steps = (values[1:] - means[:-1]) ** 2 * counts[:-1] / counts[1:]
    squares = np.concatenate([[0.0], np.cumsum(steps)])
    return means[sizes - 1], squares[sizes - 1] / (sizes - 1)


def _t_pvalues(value: FloatArray, error: FloatArray, df: Any) -> FloatArray:
    statistic = _divide(value, error)
    statistic = np.where((value == 0) & (error == 0), np.nan, statistic)
    return np.asarray(student_test("t", statistic, df, "greater").pvalue)


def _divide(value: FloatArray, by: FloatArray) -> FloatArray:
    """Quotient; infinite where only the divisor is 0, and 0 where both are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((value == 0) & (by == 0), 0.0, value / by)
