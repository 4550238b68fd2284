"""How much scores vary: standard deviations and their ratios."""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, fdtri, ndtri

from outperform.errors import InvalidInput
from outperform.stats.checks import FloatArray, as_scores, check_count, check_open_unit
from outperform.stats.effect_sizes import Estimate, mean_and_deviation
from outperform.stats.intervals import Interval

_FEWEST = 5  # values from which a kurtosis can be estimated


def deviation(values: ArrayLike, *, confidence_level: float = 0.95) -> Estimate:
    """Standard deviation with Bonett's interval, which heavy tails make wider, if not enough.

    Parameters
    ----------
    values : shape (n,), n ≥ 2

    Returns
    -------
    The deviation (n - 1 in the denominator) and its interval; 0 and [0, 0] where all values are
    equal. Fewer than 5 values say nothing of their tails: they are taken as normal, which the
    interval's method, ``"chi-square"`` instead of ``"bonett"``, tells.

    References
    ----------
    Bonett (2006), Approximate confidence interval for standard deviation of nonnormal
    distributions.

    Examples
    --------
    >>> print(deviation([0.71, 0.74, 0.69, 0.75, 0.70, 0.73, 0.72, 0.78]))
    0.0292 [0.0168, 0.0669]
    """
    check_open_unit("confidence_level", confidence_level)
    array = as_scores(values, "values", at_least=2)
    sd = float(mean_and_deviation(array)[1])
    return Estimate(sd, _enclose(sd, [array], confidence_level))


def deviation_ratio(a: ArrayLike, b: ArrayLike, *, confidence_level: float = 0.95) -> Estimate:
    """Standard deviation of `a` divided by that of `b`, of independent values.

    Parameters
    ----------
    a, b : shape (n_a,) and (n_b,), n ≥ 2; b must vary

    Returns
    -------
    The ratio and an interval made on the log scale with Bonett's standard error of each, so that
    neither needs to be normal nor to have the other's kurtosis; 0 and [0, 0] where `a` does not
    vary. With fewer than 5 values in either, both are taken as normal (method ``"f"``).

    References
    ----------
    Bonett (2006), Robust confidence interval for a ratio of standard deviations.

    Examples
    --------
    >>> print(deviation_ratio([0.1, 0.5, 0.3, 0.2, 0.9, 0.6], [0.1, 0.4, 0.3, 0.2, 0.5, 0.4]))
    2 [0.554, 7.22]
    """
    check_open_unit("confidence_level", confidence_level)
    first, second = as_scores(a, "a", at_least=2), as_scores(b, "b", at_least=2)
    above, below = (float(mean_and_deviation(x)[1]) for x in (first, second))
    if below == 0:
        raise InvalidInput(
            f"all {second.size} values of b are {second[0]:g}, so their deviation is 0",
            "Divide by the deviation of values that vary",
        )
    return Estimate(above / below, _enclose(above / below, [first, second], confidence_level))


def binomial_deviation(accuracy: float, n: int) -> float:
    """Standard deviation √(τ(1 - τ)/n) of a share of n independent examples.

    Examples
    --------
    >>> binomial_deviation(0.5, 2500)
    0.01
    """
    check_count("n", n, at_least=1)
    if not 0 <= accuracy <= 1:
        raise InvalidInput(f"accuracy is {accuracy}", "Pass a share between 0 and 1")
    return math.sqrt(accuracy * (1 - accuracy) / n)


def normality_pvalue(values: ArrayLike) -> float:
    """p-value of Shapiro and Wilk's test: small where the values are not normal.

    Parameters
    ----------
    values : shape (n,), n ≥ 1

    Returns
    -------
    The p-value; 1 where nothing could speak against normality: fewer than 3 values, or all equal.

    Examples
    --------
    >>> round(normality_pvalue([1, 2, 3, 4, 5, 6, 7, 30]), 4)
    0.0003
    """
    array = as_scores(values, "values", at_least=1)
    width = np.ptp(array)
    if array.size < 3 or width == 0:
        return 1.0
    from scipy.stats import shapiro

    with warnings.catch_warnings():
        # Beyond 5,000 values the p-value is an extrapolation, off by little.
        warnings.filterwarnings("ignore", "scipy.stats.shapiro: For N > 5000", UserWarning)
        return float(shapiro((array - array.min()) / width).pvalue)


class MiddleRange(NamedTuple):
    """Ends of a range, column by column."""

    low: FloatArray
    high: FloatArray


def middle_range(values: FloatArray) -> MiddleRange:
    """Ends of the range of the middle 80% of the values, of shape (n,) or (n, k), by column."""
    return MiddleRange(*np.quantile(values, [0.1, 0.9], axis=0))


def _enclose(value: float, samples: list[FloatArray], confidence_level: float) -> Interval:
    """Interval of a deviation, or of the ratio of two: Bonett's, or that of few normal values."""
    tail, dfs = (1 - confidence_level) / 2, [sample.size - 1 for sample in samples]
    z = -float(ndtri(tail))
    if value == 0:
        return Interval(0.0, 0.0, confidence_level, "bonett")
    if min(dfs) + 1 >= max(_FEWEST, z + 1):
        factors, errors = zip(*(_log_variance_error(x, z) for x in samples), strict=True)
        middle = value * math.sqrt(factors[0] / math.prod(factors[1:]))
        reach = math.exp(z * math.hypot(*errors) / 2)
        return Interval(middle / reach, middle * reach, confidence_level, "bonett")
    if len(dfs) == 1:
        df, method = dfs[0], "chi-square"
        low, high = (value * math.sqrt(df / float(chdtri(df, p))) for p in (tail, 1 - tail))
    else:
        method = "f"
        low, high = (value / math.sqrt(float(fdtri(*dfs, p))) for p in (1 - tail, tail))
    return Interval(low, high, confidence_level, method)


def _log_variance_error(values: FloatArray, z: float) -> tuple[float, float]:
    """Bonett's factor c = n/(n - z) of the variance, and the standard error of its logarithm."""
    n = values.size
    ordered = np.sort((values - values.min()) / np.ptp(values))
    # About a trimmed mean, fourth moments of skewed values are biased less.
    n_cut = min(int(n / (2 * math.sqrt(n - 4))) if n > _FEWEST else n, (n - 1) // 2)
    fourth = np.sum((ordered - ordered[n_cut : n - n_cut].mean()) ** 4)
    kurtosis = float(n * fourth / np.sum((ordered - ordered.mean()) ** 2) ** 2)
    factor = n / (n - z)
    return factor, factor * math.sqrt((kurtosis - (n - 3) / n) / (n - 1))


def count_far_above(values: ArrayLike) -> int:
    """Count values more than 3 interquartile ranges above the upper quartile: Tukey's far out.

    Of normal values, one in 850,000 is.
    """
    array = as_scores(values, "values", at_least=2)
    low, high = np.quantile(array, [0.25, 0.75])
    return int(np.count_nonzero(array > high + 3 * (high - low))) if high > low else 0
