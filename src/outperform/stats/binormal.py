"""The best of many areas under ROC curves, by the binormal model with equal variances.

Scores of positives and negatives are normal with the same variance, so that the area is
A = Φ(d / √2) with d the distance of their means in standard deviations. An estimate of A is taken
as Φ of a normal variable, with the mean A and the variance of the Mann-Whitney estimate.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtr, ndtri, owens_t

from outperform.errors import InvalidInput
from outperform.stats.checks import FloatArray, check_count, check_open_unit
from outperform.stats.intervals import Interval

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(100)  # of what all have in common
_GRID = np.linspace(-9.0, 9.0, 2001)  # standard deviations around the common area
_DENSITY = np.exp(-(_GRID**2) / 2) / np.exp(-(_GRID**2) / 2).sum()


@dataclass(frozen=True, slots=True)
class BestAreaDistribution:
    """Distribution of the largest of m estimated areas."""

    m: int
    area: float  # the true one, of all
    deviation: float  # of an estimate, on the normal scale
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
        return self._cdf((ndtri(np.asarray(area, dtype=float)) - self._middle) / self.deviation)

    @property
    def _middle(self) -> float:
        return float(_centre(self.area, self.deviation))

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
        return float(ndtr(self._middle + self.deviation * high))

    def _discretise(self) -> tuple[FloatArray, FloatArray]:
        mass = np.diff(self._cdf(_GRID))
        middles = (_GRID[1:] + _GRID[:-1]) / 2
        return ndtr(self._middle + self.deviation * middles), mass


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
    (0.9427, 0.9507)
    """
    check_count("m", m, at_least=1)
    if not -1 < correlation < 1:
        raise InvalidInput(f"correlation is {correlation:g}", "Pass a value between -1 and 1")
    deviation = float(scale_deviation(area, n_positives, n_negatives))
    return BestAreaDistribution(m, area, deviation, correlation)


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


def chance_of_area_lead(m: int, lead: float) -> float:
    """Chance that the best of m equals leads the second by so many standard deviations.

    Of an estimate on the normal scale, without what all have in common.

    Examples
    --------
    >>> round(chance_of_area_lead(2, 1.0), 4)  # 2 · (1 - Φ(1 / √2))
    0.4795
    """
    return min(1.0, float(m * (_DENSITY @ ndtr(_GRID - lead) ** (m - 1))))


def area_gap_of_best(m: int, *, confidence_level: float = 0.95) -> float:
    """Standard deviations by which the truly best of m may lag behind the leader.

    As `gap_of_best`, for estimates that are normal with equal variances.

    Examples
    --------
    >>> round(area_gap_of_best(2), 3)  # 1.645 · √2
    2.326
    """
    check_count("m", m, at_least=2)
    check_open_unit("confidence_level", confidence_level)
    low, high = -20.0, 20.0
    for _ in range(60):
        gap = (low + high) / 2
        enough = _DENSITY @ ndtr(_GRID + gap) ** (m - 1) >= confidence_level
        low, high = (low, gap) if enough else (gap, high)
    return high


def luck_of_best_area(areas: ArrayLike, deviations: ArrayLike) -> float:
    """By how much the largest estimate is expected to exceed its own true area.

    Parameters
    ----------
    areas
        True area of each, shape (m,).
    deviations
        Of the estimates on the normal scale, shape (m,).

    Examples
    --------
    >>> round(luck_of_best_area([0.9, 0.9], [0.1, 0.1]), 4)
    0.0098
    """
    areas, deviations = np.asarray(areas, dtype=float), np.asarray(deviations, dtype=float)
    centres = _centre(areas, deviations)
    top = centres.argmax()
    shown = centres[top] + deviations[top] * _GRID
    distance = (shown[:, None] - centres) / deviations
    log_below = log_ndtr(distance)
    # The best shows just this with the density of one times the chances of all others.
    logs = -(distance**2) / 2 - np.log(deviations) - log_below + log_below.sum(axis=1)[:, None]
    weights = np.exp(logs - logs.max())
    return float(((ndtr(shown)[:, None] - areas) * weights).sum() / weights.sum())


def scale_deviation(areas: ArrayLike, n_positives: int, n_negatives: int) -> FloatArray:
    """Standard deviation of estimates on the normal scale, such that areas vary as they should.

    If x is normal with mean h·√(1 + s²), h = Φ⁻¹(A), and deviation s, then Φ(x) has the mean A
    and the variance A - 2·T(h, 1 / √(1 + 2s²)) - A², with Owen's T: bisect for s.
    """
    areas = np.asarray(areas, dtype=float)
    height = ndtri(areas)
    target = np.array([area_deviation(float(a), n_positives, n_negatives) for a in areas.flat]) ** 2
    target = target.reshape(areas.shape)
    low, high = np.zeros_like(areas), np.full_like(areas, 100.0)
    for _ in range(60):
        middle = (low + high) / 2
        variance = areas - 2 * owens_t(height, 1 / np.sqrt(1 + 2 * middle**2)) - areas**2
        low, high = np.where(variance < target, (middle, high), (low, middle))
    return np.asarray(high)


def _centre(areas: ArrayLike, deviations: ArrayLike) -> FloatArray:
    """Mean of estimates on the normal scale."""
    return np.asarray(ndtri(areas) * np.sqrt(1 + np.square(deviations)))
