"""What subsets of the runs show: random ones, and those picked for their scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, stdtrit

from outperform.plain_values import Plain
from outperform.stats.checks import (
    FloatArray,
    IntArray,
    add_counts,
    as_independent,
    as_pairs,
    check_count,
    check_open_unit,
    check_sizes,
)
from outperform.stats.effect_sizes import join_errors
from outperform.stats.mean_tests import HypothesisTest, student_test
from outperform.stats.numerics import divide, divide_rows
from outperform.stats.rank_tests import brunner_munzel
from outperform.stats.verdicts import VerdictRule

Test = Callable[[FloatArray, FloatArray], HypothesisTest]

_BLOCK = 1_000_000  # drawn positions held at a time, to bound the memory
_NEGLIGIBLE = 1e-13  # chance below which a number of ties is not looked at


@dataclass(frozen=True, slots=True)
class SubsetShares(Plain):
    """Share of random subsets of size n that find a higher, or b, for each n."""

    rule: str
    sizes: IntArray = field(compare=False, repr=False)
    share_a: FloatArray = field(compare=False, repr=False)
    share_b: FloatArray = field(compare=False, repr=False)
    error: FloatArray = field(compare=False, repr=False)  # Monte-Carlo, of either; 0 where exact

    @property
    def share_neither(self) -> FloatArray:
        """Share of subsets that conclude nothing."""
        return np.maximum(0.0, 1 - self.share_a - self.share_b)


def count_verdicts(
    counts: tuple[int, int, int], sizes: ArrayLike, *, rule: VerdictRule
) -> SubsetShares:
    """Share of subsets of the pairs on which each side outperforms the other, exactly.

    Which pairs are drawn matters only through how many are won and tied, and these counts follow
    the multivariate hypergeometric distribution: nothing is drawn.

    Parameters
    ----------
    counts
        Wins, ties and losses of a.
    sizes : shape (n_sizes,)
        Numbers of pairs in a subset.

    Examples
    --------
    >>> count_verdicts((7, 0, 1), [6, 7], rule=VerdictRule()).share_a
    array([0.25 , 0.125])
    """
    wins, ties, losses = counts
    chosen = check_sizes(sizes, at_least=1, at_most=add_counts(wins, ties, losses))
    shares = np.array([list(_share_verdicts(counts, int(n), rule)) for n in chosen])
    # Sums of probabilities may exceed 1 in the last bits.
    shares = np.clip(shares, 0.0, 1.0)
    return SubsetShares("verdict", chosen, shares[:, 0], shares[:, 1], np.zeros(chosen.size))


def count_rejections(
    a: ArrayLike,
    b: ArrayLike,
    sizes: ArrayLike,
    *,
    tests: Sequence[Test],
    paired: bool = True,
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    rng: np.random.Generator,
) -> tuple[SubsetShares, ...]:
    """Share of random subsets on which each two-sided test finds either sample higher.

    Parameters
    ----------
    a, b : shape (n_pairs,), or (n_a,) and (n_b,) when unpaired; higher is better
    sizes : shape (n_sizes,)
        Numbers of runs in a subset, drawn without replacement. One order of the runs is drawn per
        subset and its first n taken, so that curves over n are smooth; each of their points is
        what independent draws would give.
    tests
        Functions such as `welch_t_test` or `brunner_munzel`, vectorised over leading axes.
    paired
        Draw the same positions of both.

    References
    ----------
    Gundersen et al. (2023), figure 6 in the middle and on the right, and figures 15 to 33, whose
    one-sided level of 0.001 is ``alpha=0.002`` here.

    Examples
    --------
    >>> from outperform.stats import paired_t_test
    >>> a, rng = [5, 6, 7, 8, 9, 10], np.random.default_rng(0)
    >>> count_rejections(a, [1, 2, 4, 4, 5, 6], [5], tests=[paired_t_test], rng=rng)[0].share_a
    array([1.])
    """
    first, second = (as_pairs if paired else as_independent)(a, b, at_least=2)
    check_open_unit("alpha", alpha)
    check_count("n_resamples", n_resamples, at_least=1)
    chosen = check_sizes(sizes, at_least=2, at_most=min(first.size, second.size))
    counted = np.zeros((len(tests), 2, chosen.size))
    names = [""] * len(tests)
    every_a, every_b = np.arange(first.size), np.arange(second.size)
    for n_rows in divide_rows(n_resamples, first.size + second.size, limit=_BLOCK):
        rows_a = rng.permuted(np.tile(every_a, (n_rows, 1)), axis=1)
        rows_b = rows_a if paired else rng.permuted(np.tile(every_b, (n_rows, 1)), axis=1)
        for place, n in enumerate(chosen):
            drawn = first[rows_a[:, :n]], second[rows_b[:, :n]]
            for number, test in enumerate(tests):
                result = test(*drawn)
                names[number] = result.name
                signs = np.where(result.pvalue <= alpha, np.sign(result.statistic), 0)
                counted[number, :, place] += (signs > 0).sum(), (signs < 0).sum()
    # One more of each outcome keeps the error above 0 where all subsets agree.
    cautious = (counted.max(axis=1) + 1) / (n_resamples + 2)
    errors = np.sqrt(cautious * (1 - cautious) / n_resamples)
    shares = counted / n_resamples
    return tuple(
        SubsetShares(name, chosen, share[0], share[1], error)
        for name, share, error in zip(names, shares, errors, strict=True)
    )


def _share_verdicts(counts: tuple[int, int, int], n: int, rule: VerdictRule) -> Iterator[float]:
    """Chance that n random pairs show a ahead, and that they show b ahead."""
    wins, ties, losses = counts
    tied = _hypergeometric(ties, wins + losses, n)
    likely = np.flatnonzero(tied > _NEGLIGIBLE)
    range_of_ties = range(int(likely[0]), int(likely[-1]) + 1)
    needed = list(rule.fewest_wins(n, range_of_ties))
    for good, bad in ((wins, losses), (losses, wins)):
        yield sum(
            float(tied[t] * _hypergeometric(good, bad, n - t)[least:].sum())
            for t, least in zip(range_of_ties, needed, strict=True)
        )


def _hypergeometric(good: int, bad: int, n: int) -> FloatArray:
    """Chances of 0 to n good ones among n drawn without replacement."""
    drawn = np.arange(n + 1)
    possible = (drawn <= good) & (n - drawn <= bad)
    chances = np.zeros(n + 1)
    some = drawn[possible]
    draws: tuple[tuple[int, Any], ...] = ((good, some), (bad, n - some), (good + bad, n))
    ways = [gammaln(all_ + 1) - gammaln(k + 1) - gammaln(all_ - k + 1) for all_, k in draws]
    chances[possible] = np.exp(ways[0] + ways[1] - ways[2])
    return chances


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
        """Most runs that can be picked so that both tests find a higher; 0 if none can."""
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
    return _compare_first(best, worst, sizes, confidence_level, paired=False)


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
    return _compare_first(first[order], second[order], sizes, confidence_level, paired=True)


def _compare_first(
    first: FloatArray,
    second: FloatArray,
    chosen: ArrayLike | None,
    confidence_level: float,
    *,
    paired: bool,
) -> PickedRuns:
    """Compare the first n of both, which were picked, for each n."""
    n_most = min(first.size, second.size)
    # As many as both have is picking only if one of them has more.
    sizes: IntArray = np.arange(2, n_most + (first.size != second.size))
    if chosen is not None:
        sizes = check_sizes(chosen, at_least=2, at_most=n_most)
    check_open_unit("confidence_level", confidence_level)
    means, variances = zip(*(_summarise_first(x, sizes) for x in (first, second)), strict=True)
    if paired:
        value, variance = _summarise_first(first - second, sizes)
        error, df = np.sqrt(variance / sizes), (sizes - 1).astype(float)
    else:
        value, (error_a, error_b) = means[0] - means[1], np.sqrt(variances / sizes)
        error, df = join_errors(error_a, error_b, (sizes, sizes))
    t_test = student_test("t", divide(value, error), df, "greater")
    pooled = np.sqrt((variances[0] + variances[1]) / 2)
    effect_size = np.where((value == 0) & (pooled == 0), 0.0, divide(value, pooled))
    ranked = (brunner_munzel(first[:n], second[:n], alternative="greater") for n in sizes)
    # From the upper end of the second interval to the lower end of the first.
    reach = stdtrit(sizes - 1, (1 + confidence_level) / 2) / np.sqrt(sizes)
    return PickedRuns(
        sizes,
        value,
        effect_size,
        np.asarray(t_test.pvalue),
        np.array([test.pvalue for test in ranked]),
        means[0] - means[1] - reach * (np.sqrt(variances[0]) + np.sqrt(variances[1])),
        confidence_level,
    )


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
