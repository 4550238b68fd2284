"""The best of many areas under ROC curves, by the binormal model with equal variances.

Scores of positives and negatives are normal with the same variance, so that the area is
A = Φ(d / √2) with d the distance of their means in standard deviations. Estimates of d / √2 are
taken as normal, with the variance of the Mann-Whitney estimate of A.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, owens_t

from outperform.errors import InvalidInput
from outperform.stats.checks import FloatArray, check_count, check_open_unit
from outperform.stats.intervals import Interval

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(200)  # of what all have in common
_GRID = np.linspace(-9.0, 9.0, 4001)  # standard deviations around the common area


@dataclass(frozen=True, slots=True)
class BestAreaDistribution:
    """Distribution of the largest of m estimated areas."""

    m: int
    area: float  # the true one, of all
    deviation: float  # of an estimate of Φ⁻¹(area)
    correlation: float  # of each estimate with what all have in common

    @property
    def mean(self) -> float:
        """Expected area of the best."""
        areas, mass = self._discretise()
        return float(areas @ mass)

    @property
    def sd(self) -> float:
        """Standard deviation of the area of the best."""
        areas, mass = self._discretise()
        return math.sqrt(max(0.0, float((areas - areas @ mass) ** 2 @ mass)))

    def cdf(self, area: ArrayLike) -> FloatArray:
        """P(the best shows at most this area)."""
        return self._cdf((ndtri(np.asarray(area, dtype=float)) - ndtri(self.area)) / self.deviation)

    def upper(self, alpha: float = 0.05) -> float:
        """Area that the best exceeds with a chance of alpha / 2."""
        return self._quantile(1 - alpha / 2)

    def lower(self, alpha: float = 0.05) -> float:
        """Area that the best exceeds with a chance of 1 - alpha / 2."""
        return self._quantile(alpha / 2)

    def interval(self, confidence_level: float = 0.95) -> Interval:
        """Where the area of the best lies with this probability."""
        check_open_unit("confidence_level", confidence_level)
        alpha = 1 - confidence_level
        return Interval(self.lower(alpha), self.upper(alpha), confidence_level, "binormal")

    def _cdf(self, distance: ArrayLike) -> FloatArray:
        """P(the best is at most so many standard deviations above the common area)."""
        distance = np.asarray(distance, dtype=float)
        if self.correlation == 0:
            return np.asarray(ndtr(distance) ** self.m)
        own = math.sqrt(1 - self.correlation**2)
        given = ndtr((distance[..., None] - self.correlation * _NODES) / own) ** self.m
        return np.asarray(given @ (_WEIGHTS / _WEIGHTS.sum()))

    def _quantile(self, probability: float) -> float:
        low, high = -40.0, 40.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self._cdf(middle) < probability else (low, middle)
        return float(ndtr(ndtri(self.area) + self.deviation * high))

    def _discretise(self) -> tuple[FloatArray, FloatArray]:
        mass = np.diff(self._cdf(_GRID))
        middles = (_GRID[1:] + _GRID[:-1]) / 2
        return ndtr(ndtri(self.area) + self.deviation * middles), mass


def best_area_distribution(
    m: int, area: float, n_positives: int, n_negatives: int, *, correlation: float = 0.0
) -> BestAreaDistribution:
    """Distribution of the best of m estimated areas under the ROC curve, all truly equal.

    Parameters
    ----------
    correlation
        Of each estimate, on the normal scale, with what all have in common.

    Examples
    --------
    >>> best = best_area_distribution(1000, 0.9, 100, 900)
    >>> round(best.mean, 4), round(best.upper(0.05), 4)
    (0.9495, 0.9575)
    """
    check_count("m", m, at_least=1)
    if not -1 < correlation < 1:
        raise InvalidInput(f"correlation is {correlation:g}", "Pass a value between -1 and 1")
    deviation = area_deviation(area, n_positives, n_negatives)
    slope = math.exp(-float(ndtri(area)) ** 2 / 2) / math.sqrt(2 * math.pi)  # dA / dΦ⁻¹(A)
    return BestAreaDistribution(m, area, deviation / slope, correlation)


def area_deviation(area: float, n_positives: int, n_negatives: int) -> float:
    """Standard deviation of a Mann-Whitney estimate of the area, by the binormal model.

    References
    ----------
    Hanley and McNeil (1982), The meaning and use of the area under a ROC curve; their Q1 and Q2
    with the binormal model in place of the negative exponential one.

    Examples
    --------
    >>> round(area_deviation(0.5, 10, 10), 4)  # √((n₁ + n₂ + 1) / (12 n₁ n₂)), as is known
    0.1323
    """
    check_open_unit("area", area)
    check_count("n_positives", n_positives, at_least=1)
    check_count("n_negatives", n_negatives, at_least=1)
    # P(two positives beat a negative): bivariate normal with correlation 1/2.
    both = area - 2 * float(owens_t(ndtri(area), 1 / math.sqrt(3)))
    pairs = n_positives * n_negatives
    excess = (n_positives + n_negatives - 2) * (both - area**2)
    return math.sqrt((area * (1 - area) + excess) / pairs)
