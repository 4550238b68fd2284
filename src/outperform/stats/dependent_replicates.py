"""What replicates that share a dataset, or a search, show about other data or searches like it.

Replicates that split one dataset again and again share its examples, so they are not independent:
whatever is lucky about this dataset is in all of them, and their mean settles on this dataset's
difference, not on that of the population. Nadeau and Bengio's correction takes two replicates to
correlate by ρ = n_test / (n_train + n_test). With s the standard deviation of the k differences,
the variance of their mean is (1/k + n_test/n_train)·s²: more replicates remove the first part and
never the second. How often this errs, with learners that train: docs/scope.md.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import nctdtr, ndtr, ndtri, stdtr, stdtrit

from outperform.errors import InvalidInput
from outperform.plain_values import Plain
from outperform.stats.checks import (
    ROUNDING,
    as_pairs,
    as_scores,
    check_count,
    check_open_unit,
    check_positive,
)
from outperform.stats.effect_sizes import Estimate, mean_and_deviation, student_interval
from outperform.stats.intervals import Interval
from outperform.stats.mean_tests import Alternative, HypothesisTest, student_test

# By how much the corrected standard error may be too small with learners that remember single
# examples: 1.3, as measured; to the digit, what makes 0.05 into 0.01.
_UNDERSTATED = float(ndtri(0.005) / ndtri(0.025))
_LEAST = 1e-300  # the smallest level that anything is computed with


def cautious_alpha(alpha: float) -> float:
    """Level at which the correction errs in no more than alpha of studies, whatever the learner.

    At 0.05 it errs in up to 14% with learners that remember single examples, such as one nearest
    neighbour, and at 0.01 in up to 4% (docs/scope.md, where other levels, groups and more
    learners are too). A fifth is not enough below: the correction takes a standard error that is
    too small by a factor, which weighs the more the smaller the level. Above, the factor alone
    would do for a pair, but not for many pairs at once.

    Examples
    --------
    >>> [round(cautious_alpha(alpha), 4) for alpha in (0.01, 0.05, 0.1)]
    [0.0007, 0.01, 0.02]
    """
    check_open_unit("alpha", alpha)
    if alpha >= 0.05:  # where both are the same, but for rounding
        return alpha / 5
    return max(2 * float(ndtr(_UNDERSTATED * ndtri(alpha / 2))), _LEAST)


@dataclass(frozen=True, slots=True)
class ResampledDifference(Estimate):
    """The mean of a - b for data like these, from re-splits of one dataset."""

    JSON = "value interval pvalue shown n_replicates deviation standard_error df"

    pvalue: float  # below 1 - confidence_level exactly where 0 lies outside the interval
    n_replicates: int  # number of re-splits, k
    deviation: float  # standard deviation s of the k differences
    standard_error: float  # √(1/k + n_test/n_train)·s; infinite where s is 0
    df: int  # degrees of freedom of Student's t, k - 1

    @property
    def shown(self) -> bool:
        """Whether a difference, in the sign of `value`, is shown for data like these."""
        return self.pvalue < 1 - self.interval.confidence_level

    @property
    def overlap(self) -> float:
        """n_test/n_train, which the standard error was made with; NaN where s is 0."""
        if self.deviation == 0:
            return math.nan
        return (self.standard_error / self.deviation) ** 2 - 1 / self.n_replicates

    @property
    def floor(self) -> float:
        """Smallest |difference| that any number of further re-splits could show."""
        overlap = self.standard_error**2 - self.deviation**2 / self.n_replicates
        return -float(ndtri((1 - self.interval.confidence_level) / 2)) * math.sqrt(overlap)


def resampled_difference(
    a: ArrayLike,
    b: ArrayLike,
    *,
    n_train: float,
    n_test: float,
    confidence_level: float = 0.95,
) -> ResampledDifference:
    """Mean of `a` minus mean of `b` over data like these, from re-splits of one dataset.

    Parameters
    ----------
    a, b : shape (n_replicates,), n ≥ 2; higher is better
        Row i of both must come from the same split.
    n_train, n_test
        How many examples each split trains on and tests; their means where sizes vary. Each
        counts once, however often a bootstrap draws it.

    Returns
    -------
    Differences that do not vary at all do not tell how they would on other data: then the
    interval is unbounded and the p-value 1.

    References
    ----------
    Nadeau and Bengio (2003), Inference for the generalization error.

    Examples
    --------
    >>> a, b = [0.8, 0.9, 0.7, 0.8], [0.7, 0.7, 0.6, 0.7]
    >>> result = resampled_difference(a, b, n_train=800, n_test=200)
    >>> print(result)
    0.125 [0.0125, 0.238]
    >>> round(result.pvalue, 3), result.shown
    (0.038, True)
    """
    check_open_unit("confidence_level", confidence_level)
    value, deviation, error, k = _mean_and_error(a, b, n_train, n_test)
    df = k - 1
    reach = -float(stdtrit(df, (1 - confidence_level) / 2)) * error
    interval = Interval(value - reach, value + reach, confidence_level, "nadeau-bengio")
    pvalue = 2 * float(stdtr(df, -abs(value) / error))
    return ResampledDifference(value, interval, pvalue, k, deviation, error, df)


def nadeau_bengio_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    n_train: float,
    n_test: float,
    alternative: Alternative = "two-sided",
) -> HypothesisTest:
    """Corrected resampled t-test, for scores from splits of one dataset that overlap.

    The test that belongs to `resampled_difference`.

    Parameters
    ----------
    a, b : shape (n_pairs,), n ≥ 2; higher is better
    n_train, n_test
        As in `resampled_difference`.

    Returns
    -------
    The p-value is 1 where differences do not vary: nothing tells how they would on other data.

    References
    ----------
    Nadeau and Bengio (2003), Inference for the generalization error.

    Examples
    --------
    >>> a, b = [0.8, 0.9, 0.7], [0.7, 0.7, 0.6]
    >>> round(nadeau_bengio_test(a, b, n_train=800, n_test=200).pvalue, 4)
    0.0942
    """
    value, _, error, k = _mean_and_error(a, b, n_train, n_test)
    statistic = np.asarray(math.nan if math.isinf(error) else value / error)
    return student_test("nadeau-bengio", statistic, k - 1, alternative)


def resplit_floor(deviation: float, *, n_train: float, n_test: float, alpha: float = 0.05) -> float:
    """Smallest difference that any number of re-splits of one dataset could show.

    A mean difference closer to 0 than this is never significant, however many re-splits it is
    the mean of: z·√(n_test/n_train)·s, to which the half-width of the interval shrinks.

    Parameters
    ----------
    deviation
        Standard deviation s of the replicates' differences.

    Examples
    --------
    >>> round(resplit_floor(0.02, n_train=800, n_test=200), 4)
    0.0196
    """
    _check_sizes(n_train, n_test)
    check_open_unit("alpha", alpha)
    if not (deviation >= 0 and math.isfinite(deviation)):
        raise InvalidInput(
            f"deviation is {deviation}", "Pass 0 or a positive number in the unit of the scores"
        )
    return -float(ndtri(alpha / 2)) * math.sqrt(n_test / n_train) * deviation


def resampled_power(
    n_replicates: float,
    effect_in_sd: float,
    *,
    n_train: float,
    n_test: float,
    alpha: float = 0.05,
) -> float:
    """Chance that re-splits of one dataset show a true difference for data like it.

    Parameters
    ----------
    n_replicates
        Number of re-splits; `math.inf` for the most that any number can reach.
    effect_in_sd
        True mean of a - b, in standard deviations of the replicates' differences.

    Returns
    -------
    The chance to find a significantly better: a tail of the noncentral t distribution.

    Examples
    --------
    >>> round(resampled_power(10, 1.0, n_train=800, n_test=200), 3)
    0.327
    >>> round(resampled_power(math.inf, 1.0, n_train=800, n_test=200), 3)
    0.516
    """
    _check_sizes(n_train, n_test)
    check_open_unit("alpha", alpha)
    if not math.isfinite(effect_in_sd):
        raise InvalidInput(f"effect_in_sd is {effect_in_sd}", "Pass a finite number")
    if n_replicates == math.inf:
        return float(ndtr(effect_in_sd / math.sqrt(n_test / n_train) + ndtri(alpha / 2)))
    check_count("n_replicates", n_replicates, at_least=2)
    df = n_replicates - 1
    noncentrality = effect_in_sd / math.sqrt(1 / n_replicates + n_test / n_train)
    return 1 - float(nctdtr(df, noncentrality, -stdtrit(df, alpha / 2)))


def required_resplits(
    effect_in_sd: float,
    *,
    n_train: float,
    n_test: float,
    alpha: float = 0.05,
    beta: float = 0.05,
) -> int | None:
    """Fewest re-splits that show a true difference with power 1 - beta; None if none do.

    Parameters
    ----------
    effect_in_sd
        True mean of a - b, in standard deviations of the replicates' differences.

    Examples
    --------
    >>> required_resplits(2.0, n_train=800, n_test=200)
    28
    >>> print(required_resplits(1.0, n_train=800, n_test=200))
    None
    """
    check_open_unit("beta", beta)

    def reaches(n_replicates: float) -> bool:
        power = resampled_power(
            n_replicates, effect_in_sd, n_train=n_train, n_test=n_test, alpha=alpha
        )
        return power >= 1 - beta

    if not reaches(math.inf):
        return None
    # Power only grows with the number of re-splits: double, then bisect.
    enough = 2
    while not reaches(enough):
        enough *= 2
    return bisect_left(range(enough), True, lo=enough // 2 + 1, key=reaches)


def _mean_and_error(
    a: ArrayLike, b: ArrayLike, n_train: float, n_test: float
) -> tuple[float, float, float, int]:
    """Mean and deviation of the differences, standard error of the mean, number of replicates."""
    _check_sizes(n_train, n_test)
    first, second = as_pairs(a, b, at_least=2)
    value, deviation = map(float, mean_and_deviation(first - second))
    # Equal differences of unequal scores differ by the rounding of these.
    if deviation <= ROUNDING * np.abs([first, second]).max():
        return value, 0.0, math.inf, first.size
    error = deviation * math.sqrt(1 / first.size + n_test / n_train)
    return value, deviation, error, first.size


def _check_sizes(n_train: float, n_test: float) -> None:
    for name, size in (("n_train", n_train), ("n_test", n_test)):
        check_positive(name, size)
        if math.isinf(size):
            raise InvalidInput(f"{name} is infinite", "Pass the number of examples of each split")


@dataclass(frozen=True, slots=True)
class CombinedDifference(Plain):
    """Mean difference after one search, with a spread that counts other searches by half.

    Attributes
    ----------
    value, interval
        Mean of the differences with the search held fixed, and the paired t interval with `sd`.
    sd
        Mean of `sd_fixed`, too small without the luck of tuning, and `sd_redrawn`, too large where
        searches are simulated.
    """

    JSON = (
        "difference=value low=interval.low high=interval.high sd sd_fixed sd_simulated=sd_redrawn"
    )

    value: float
    interval: Interval
    sd_fixed: float
    sd_redrawn: float
    n_pairs: int

    @property
    def sd(self) -> float:
        """Standard deviation of a difference."""
        return (self.sd_fixed + self.sd_redrawn) / 2


def combine_designs(
    fixed: ArrayLike, redrawn: ArrayLike, *, confidence_level: float = 0.95
) -> CombinedDifference:
    """Combine paired differences after one search with those after searches redrawn from it.

    Parameters
    ----------
    fixed, redrawn : shape (n_pairs,); n ≥ 2
        Differences of two sides, pair by pair.

    References
    ----------
    Anonymous authors, Simulated hyperparameter optimization for statistical tests in machine
    learning benchmarks, section 4.2 and figure 3.

    Examples
    --------
    >>> combined = combine_designs([1, 2, 3], [0, 2, 4])
    >>> combined.value, combined.sd, combined.interval.method
    (2.0, 1.5, 't')
    """
    check_open_unit("confidence_level", confidence_level)
    first = as_scores(fixed, "the differences of one search", at_least=2)
    second = as_scores(redrawn, "the differences of redrawn searches", at_least=2)
    value, sd_fixed = map(float, mean_and_deviation(first))
    sd_redrawn = float(mean_and_deviation(second)[1])
    error = (sd_fixed + sd_redrawn) / 2 / math.sqrt(first.size)
    interval = student_interval(value, error, first.size - 1, confidence_level).interval
    return CombinedDifference(value, interval, sd_fixed, sd_redrawn, first.size)


def coverage_after_one_search(
    n_pairs: int, correlation: float, *, confidence_level: float = 0.95
) -> float:
    """How often the interval of `combine_designs` holds the mean difference over all searches.

    Pairs of one search share its luck, which makes up `correlation` of their variance, and the
    interval takes them for independent. For normal scores, and standard deviations that are known:
    √(1 - correlation) with the search held fixed, and 1 with redrawn ones that are as real ones.

    Examples
    --------
    >>> coverage_after_one_search(50, 0.0) > 0.95, round(coverage_after_one_search(50, 0.1), 2)
    (True, 0.58)
    """
    check_count("n_pairs", n_pairs, at_least=2)
    if not 0 <= correlation <= 1:
        raise InvalidInput(f"correlation is {correlation}", "Pass a number from 0 to 1")
    check_open_unit("confidence_level", confidence_level)
    sd = (math.sqrt(1 - correlation) + 1) / 2
    reach = -float(stdtrit(n_pairs - 1, (1 - confidence_level) / 2)) * sd
    return float(2 * ndtr(reach / math.sqrt(1 + (n_pairs - 1) * correlation)) - 1)
