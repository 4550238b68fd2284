"""From the best score seen back to what all of m equals are worth."""

import math
from collections.abc import Callable

from scipy.special import betaincinv, ndtri

from outperform.stats.best_of_dependent import best_of_correlated, chance_of_best
from outperform.stats.binormal import area_deviation, best_area_distribution
from outperform.stats.checks import check_open_unit
from outperform.stats.intervals import Interval

_CLOSE = 1e-7  # of a probability to its target, or of two guesses to each other
_RARE = 1e-15


def common_chance(m: int, n: int, z: int, *, correlation: float = 0.0) -> float:
    """Success probability of m equals whose best is expected to have z failures.

    Parameters
    ----------
    correlation
        Of each one's successes with those of a reference of the same success probability.

    Examples
    --------
    >>> round(common_chance(1000, 3000, 248), 4)
    0.9
    """
    if z in (0, n):
        return 1 - z / n

    def expected(p: float) -> float:
        return best_of_correlated(m, n, p, correlation).mean

    low = common_chance(m, n, z) if correlation else 0.0
    return _solve(expected, 1 - z / n, low, 1 - z / n)


def common_chance_interval(
    m: int, n: int, z: int, *, correlation: float = 0.0, confidence_level: float = 0.95
) -> Interval:
    """Success probabilities with which the best of m equals would have z failures or so.

    Clopper and Pearson's interval where m is 1. Its lower end is the p whose upper bound for the
    best is what was seen.

    Examples
    --------
    >>> print(common_chance_interval(1000, 3000, 236))
    [0.9, 0.908]
    """
    check_open_unit("confidence_level", confidence_level)
    tail = (1 - confidence_level) / 2

    def limit(failures: int, probability: float) -> float:
        def chance(p: float) -> float:
            # On the normal scale it is nearly a line, and quickly solved for.
            reached = chance_of_best(m, n, p, failures, correlation=correlation)
            return float(ndtri(min(max(reached, _RARE), 1 - _RARE)))

        # Dependence takes the best of m nearer to the only one of one, never beyond.
        most, least = (_invert_tail(k, n, failures, probability) for k in (m, 1))
        return _solve(chance, float(ndtri(probability)), most, least) if correlation else most

    low = 0.0 if z == n else limit(z, tail)
    high = 1.0 if z == 0 else limit(z - 1, 1 - tail)
    return Interval(low, high, confidence_level, "exact")


def common_area(
    m: int, area: float, n_positives: int, n_negatives: int, *, correlation: float = 0.0
) -> float:
    """Area under the ROC curve of m equals whose best is expected to show this one; 0.5 at least.

    Examples
    --------
    >>> round(common_area(1000, 0.9456, 100, 900), 3)
    0.9
    """

    def expected(p: float) -> float:
        best = best_area_distribution(m, p, n_positives, n_negatives, correlation=correlation)
        return best.mean

    return _solve(expected, area, 0.5, area)


def common_area_interval(
    m: int,
    area: float,
    n_positives: int,
    n_negatives: int,
    *,
    correlation: float = 0.0,
    confidence_level: float = 0.95,
) -> Interval:
    """Areas with which the best of m equals would show this one or so, by the binormal model."""
    tail = (1 - confidence_level) / 2

    def exceeded(p: float) -> float:
        best = best_area_distribution(m, p, n_positives, n_negatives, correlation=correlation)
        return 1 - float(best.cdf(area))

    beyond = min(1 - _CLOSE, area + 5 * area_deviation(area, n_positives, n_negatives))
    low, high = (_solve(exceeded, level, 0.5, beyond) for level in (tail, 1 - tail))
    return Interval(low, high, confidence_level, "binormal")


def _invert_tail(m: int, n: int, z: int, probability: float) -> float:
    """Success probability with which the best of m independent has at most z failures."""
    return float(betaincinv(n - z, z + 1, -math.expm1(math.log1p(-probability) / m)))


def _solve(function: Callable[[float], float], target: float, low: float, high: float) -> float:
    """Where between two bounds an increasing function reaches its target.

    Regula falsi, with the weight of an end that stays twice halved: the Illinois method.
    """
    at_low, at_high = function(low) - target, function(high) - target
    if at_low >= 0 or at_high <= 0:  # but for rounding, it is one of the bounds
        return low if at_low >= 0 else high
    last = 0.0
    while high - low > _CLOSE:
        middle = low + (high - low) * at_low / (at_low - at_high)
        value = function(middle) - target
        if abs(value) < _CLOSE:
            return middle
        weight = 0.5 if value * last > 0 else 1.0
        if value < 0:
            low, at_low, at_high = middle, value, weight * at_high
        else:
            high, at_high, at_low = middle, value, weight * at_low
        last = value
    return (low + high) / 2
