"""What scores from re-splits of one dataset show about other data like it.

Replicates that split one dataset again and again share its examples, so they are not independent:
whatever is lucky about this dataset is in all of them, and their mean settles on this dataset's
difference, not on that of the population. Nadeau and Bengio's correction takes two replicates to
correlate by ρ = n_test / (n_train + n_test). With s the standard deviation of the k differences,
the variance of their mean is (1/k + n_test/n_train)·s²: more replicates remove the first part and
never the second. How often this errs, with learners that train: docs/scope.md.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import nctdtr, ndtr, ndtri, stdtr, stdtrit

from outperform.errors import InvalidInput
from outperform.stats.checks import as_pairs, check_count, check_open_unit, check_positive
from outperform.stats.effect_sizes import Estimate, mean_and_deviation
from outperform.stats.hypothesis_test import Alternative, HypothesisTest, student_test
from outperform.stats.intervals import Interval
from outperform.stats.ties import ROUNDING, merge_pairs


def cautious_alpha(alpha: float) -> float:
    """Level at which the correction errs in no more than alpha of studies, whatever the learner.

    At 0.05 it errs in up to 14% with learners that remember single examples, such as one nearest
    neighbour, and at 0.01 in up to 4% (docs/scope.md, where groups and more learners are too).

    Examples
    --------
    >>> cautious_alpha(0.05)
    0.01
    """
    return alpha / 5


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
    first, second = merge_pairs(*as_pairs(a, b, at_least=2))
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
