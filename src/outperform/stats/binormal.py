"""The best of many areas under ROC curves, by the binormal model with equal variances.

Scores of positives and negatives are normal with the same variance, so that the area is
A = Φ(d / √2) with d the distance of their means in standard deviations. The Mann-Whitney
estimate of A then has a known variance; arcsin √estimate is taken as normal, which gives the
estimate its mean, its variance and, as simulations show, nearly its skew.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtr, ndtri, owens_t

from outperform.errors import InvalidInput
from outperform.stats.checks import FloatArray, check_count, check_open_unit
from outperform.stats.intervals import Interval
from outperform.stats.numerics import CLOSE, halve, solve_rising

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(100)  # of what all have in common
_GRID = np.linspace(-9.0, 9.0, 2001)  # standard deviations around the common area
_DENSITY = np.exp(-(_GRID**2) / 2) / np.exp(-(_GRID**2) / 2).sum()


@dataclass(frozen=True, slots=True)
class BestAreaDistribution:
    """Distribution of the largest of m estimated areas."""

    m: int
    area: float  # the true one, of all
    deviation: float  # of arcsin √estimate
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
        area = np.asarray(area, dtype=float)
        below = self._cdf((np.arcsin(np.sqrt(area)) - self._middle) / self.deviation)
        return np.where(area >= 1, 1.0, below)[()]  # a float for a float

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
        conditional = ndtr((distance[..., None] - self.correlation * _NODES) / own) ** self.m
        return np.asarray(conditional @ (_WEIGHTS / _WEIGHTS.sum()))

    def _quantile(self, probability: float) -> float:
        _, high = halve(lambda x: bool(self._cdf(x) >= probability), -40.0, 40.0, 60)
        return float(_to_area(self._middle + self.deviation * high))

    def _discretise(self) -> tuple[FloatArray, FloatArray]:
        mass = np.diff(self._cdf(_GRID))
        middles = (_GRID[1:] + _GRID[:-1]) / 2
        return _to_area(self._middle + self.deviation * middles), mass


def best_area_distribution(
    m: int, area: float, n_positives: int, n_negatives: int, *, correlation: float = 0.0
) -> BestAreaDistribution:
    """Distribution of the best of m estimated areas under the ROC curve, all truly equal.

    Parameters
    ----------
    correlation
        Of each arcsin √estimate with what all have in common.

    Examples
    --------
    >>> best = best_area_distribution(1000, 0.9, 100, 900)
    >>> round(best.mean, 4), round(best.upper(0.05), 4)
    (0.9456, 0.955)
    """
    check_count("m", m, at_least=1)
    if not -1 < correlation < 1:
        raise InvalidInput(f"correlation is {correlation:g}", "Pass a value between -1 and 1")
    deviation = float(scale_deviations(area, n_positives, n_negatives))
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

    Of an estimate, without what all have in common.

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

    def is_enough(gap: float) -> bool:
        return bool(_DENSITY @ ndtr(_GRID + gap) ** (m - 1) >= confidence_level)

    return halve(is_enough, -20.0, 20.0, 60)[1]


def luck_of_best_area(areas: ArrayLike, deviations: ArrayLike) -> float:
    """By how much the largest estimate is expected to exceed its own true area.

    Parameters
    ----------
    areas
        True area of each, shape (m,).
    deviations
        Of arcsin √estimate of each, shape (m,).

    Examples
    --------
    >>> round(luck_of_best_area([0.9, 0.9], [0.03, 0.03]), 4)
    0.0101
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
    return float(((_to_area(shown)[:, None] - areas) * weights).sum() / weights.sum())


def scale_deviations(areas: ArrayLike, n_positives: int, n_negatives: int) -> FloatArray:
    """Standard deviation of arcsin √estimate, such that estimates vary as they should.

    If y is normal with deviation s, sin² y has the mean A and the variance V where u = exp(-4s²)
    solves u² / 2 - k u + 4V + k - 1/2 = 0, with k = (1 - 2A)².
    """
    areas = np.asarray(areas, dtype=float)
    deviations = [area_deviation(float(area), n_positives, n_negatives) for area in areas.flat]
    off_middle = (1 - 2 * areas) ** 2
    variances = np.reshape(deviations, areas.shape) ** 2
    # Areas next to 1 would vary more than any such y makes them: then as much as they can.
    root = np.sqrt(np.maximum((1 - off_middle) ** 2 - 8 * variances, 0.0))
    return np.asarray(np.sqrt(-np.log(off_middle + root) / 4))


def _centre(areas: ArrayLike, deviations: ArrayLike) -> FloatArray:
    """Mean of arcsin √estimate."""
    shrunk = (1 - 2 * np.asarray(areas)) * np.exp(2 * np.square(deviations))
    return np.asarray(np.arccos(np.clip(shrunk, -1.0, 1.0)) / 2)


def _to_area(angle: ArrayLike) -> FloatArray:
    return np.asarray(np.sin(np.clip(angle, 0.0, np.pi / 2)) ** 2)


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

    return solve_rising(expected, area, 0.5, area)


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

    beyond = min(1 - CLOSE, area + 5 * area_deviation(area, n_positives, n_negatives))
    low, high = (solve_rising(exceeded, level, 0.5, beyond) for level in (tail, 1 - tail))
    return Interval(low, high, confidence_level, "binormal")
