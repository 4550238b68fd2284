"""The best of many on one test set: the exact distribution of the fewest failures.

Each of m takes the same n trials and succeeds at each with probability p, so that its failures
are X ~ Bin(n, 1 - p). The fewest failures Z of m have P(Z > z) = P(X > z)^m. Everything is kept
as log P(Z > z), which holds both tails: where P(Z <= z) is tiny it is minus that, to the last
digit.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincc, betaincinv

from outperform.errors import InvalidInput
from outperform.stats.checks import FloatArray, as_scores, check_count, check_open_unit
from outperform.stats.intervals import Interval

_TINY = 1e-300  # probability that a window may leave out
_NEGLIGIBLE = 1e-17  # share of a sum that changes no digit of it
_UNLIKELY = 1e-12  # probability that moves no digit anybody reads
# For the integral of a product that falls like exp(-u · number who tie): 10 digits up to 20.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_CHUNK = 128  # values of z for which the same p's are left out
# Shares of n that are whole but for rounding, such as 0.9 * 3000, are whole.
_WHOLE = 1e-9

Failures: TypeAlias = NDArray[Any]  # counts, as integers or as floats


@dataclass(frozen=True, slots=True)
class BestOfDistribution:
    """Distribution of the best of m, as failures z or as the share of n that succeeded."""

    m: int
    n: int
    first: int  # the z that log_survival begins with; smaller ones have no probability
    log_survival: FloatArray = field(repr=False, compare=False)  # log P(Z > z)

    @property
    def mean(self) -> float:
        """Expected accuracy of the best."""
        return (self.n - self.first - float(np.exp(self.log_survival).sum())) / self.n

    @property
    def sd(self) -> float:
        """Standard deviation of the accuracy of the best."""
        survival = np.exp(self.log_survival)
        steps = np.arange(survival.size)
        variance = float(((2 * steps + 1) * survival).sum() - survival.sum() ** 2)
        return math.sqrt(max(variance, 0.0)) / self.n

    def cdf(self, z: ArrayLike) -> FloatArray:
        """P(Z <= z): the chance that at least one has at most z failures."""
        return 0.0 - np.expm1(self._log_survival_at(z))

    def pmf(self, z: ArrayLike) -> FloatArray:
        """P(Z = z)."""
        before, after = self._log_survival_at(np.asarray(z) - 1), self._log_survival_at(z)
        step = np.subtract(after, before, out=np.zeros_like(after), where=np.isfinite(before))
        return 0.0 - np.where(np.isfinite(before), np.exp(before) * np.expm1(step), 0.0)

    def upper(self, alpha: float = 0.05) -> float:
        """Accuracy that the best reaches with a chance of alpha / 2, at least."""
        check_open_unit("alpha", alpha)
        return (self.n - self.fewest(alpha / 2)) / self.n

    def lower(self, alpha: float = 0.05) -> float:
        """Accuracy that the best reaches with a chance of 1 - alpha / 2, at least."""
        check_open_unit("alpha", alpha)
        return (self.n - self.fewest(1 - alpha / 2)) / self.n

    def interval(self, confidence_level: float = 0.95) -> Interval:
        """Where the accuracy of the best lies with this probability, at least."""
        check_open_unit("confidence_level", confidence_level)
        alpha = 1 - confidence_level
        return Interval(self.lower(alpha), self.upper(alpha), confidence_level, "exact")

    def fewest(self, probability: float) -> int:
        """Smallest z with P(Z <= z) >= probability."""
        reached = -np.expm1(self.log_survival) >= probability
        return self.first + int(np.argmax(reached) if reached.any() else reached.size)

    def _log_survival_at(self, z: ArrayLike) -> FloatArray:
        place = np.floor(np.asarray(z, dtype=float)) - self.first
        inside = np.clip(place, 0, self.log_survival.size - 1).astype(np.int64)
        beyond = np.where(place < 0, 0.0, -np.inf)
        within = (place >= 0) & (place < self.log_survival.size)
        return np.where(within, self.log_survival[inside], beyond)


def best_of_distribution(m: int, n: int, p: ArrayLike) -> BestOfDistribution:
    """Distribution of the best of m that are independent, each with n trials.

    Parameters
    ----------
    m
        How many there are.
    p
        Probability of success at a trial: one for all, or one for each, shape (m,).

    References
    ----------
    Møllersen and Holsbø (2023), What is the state of the art? Equation 1; for different p's the
    product of the survivals takes the place of the power.

    Examples
    --------
    >>> best = best_of_distribution(1000, 3000, 0.9)
    >>> round(best.mean, 4), round(best.sd, 6), round(best.upper(0.05), 4)
    (0.9173, 0.001817, 0.9213)
    """
    chances, counts = group_chances(m, n, p)

    def survival_at(z: int) -> float:
        return float(_log_survival(np.array([z]), n, chances) @ counts)

    first = bisect_left(range(n), True, key=lambda z: -math.expm1(survival_at(z)) >= _TINY)
    last = bisect_left(range(n), True, key=lambda z: survival_at(z) < math.log(_TINY))
    pieces = []
    for begin in range(first, last + 1, _CHUNK):
        z = np.arange(begin, min(begin + _CHUNK, last + 1))
        # The likelihood ratio of two binomials is monotone: whoever adds nothing to the last z
        # of a chunk adds nothing to those before it.
        hazards = -_log_survival(z[-1:, None], n, chances)[0] * counts
        keep = np.flatnonzero(hazards >= _NEGLIGIBLE * hazards.sum() / counts.size)
        pieces.append(_log_survival_of_chunk(z, n, chances[keep]) @ counts[keep])
    return BestOfDistribution(m, n, first, np.concatenate(pieces))


def luck_of_best(n: int, p: ArrayLike) -> float:
    """By how much the best is expected to show more than its own success probability.

    Of those who tie for the best, each is as likely to be called so.

    Parameters
    ----------
    p
        Success probability of each, shape (m,).

    Examples
    --------
    >>> equal, apart = luck_of_best(3000, [0.9, 0.9]), luck_of_best(3000, [0.9, 0.8])
    >>> round(equal, 5), round(apart, 5)
    (0.00309, 0.0)
    """
    chances = as_scores(p, "p")
    best = best_of_distribution(chances.size, n, chances)
    distinct, counts = group_chances(chances.size, n, chances)
    likely = np.flatnonzero(best.pmf(best.first + np.arange(best.log_survival.size)) > _UNLIKELY)
    z = best.first + np.arange(likely[0], likely[-1] + 1)
    able = cumulate_failures(z[-1], n, distinct) > _UNLIKELY
    distinct, counts = distinct[able], counts[able]
    survival = _log_survival_of_chunk(np.arange(z[0] - 1, z[-1] + 1), n, distinct)
    with np.errstate(invalid="ignore"):  # inf - inf: out long before
        hazards = np.nan_to_num(-np.expm1(np.diff(survival, axis=0)))
    shares = _share_honour(hazards, counts)
    mass, total = best.pmf(z), shares.sum(axis=1)
    true = np.divide(shares @ distinct, total, out=np.zeros_like(mass), where=total > 0)
    return best.mean - float(true @ mass / mass[total > 0].sum())


def _share_honour(hazards: FloatArray, counts: FloatArray) -> FloatArray:
    """Chance of those of each p to be called the best at each z, if nobody was before it.

    Each is there with its hazard h, and 1 / (1 + others there) has the expectation
    ∫ Π (1 - u h) du over the others, from 0 to 1.
    """
    shares = np.zeros_like(hazards)
    for node, weight in zip((_NODES + 1) / 2, _WEIGHTS / 2, strict=True):
        absent = 1 - node * hazards
        shares += weight * np.exp(np.log(absent) @ counts)[:, None] / absent
    return shares * hazards * counts


def chance_to_reach(accuracy: float, n: int, p: float, *, strictly: bool = False) -> float:
    """Chance that one with success probability p shows at least this accuracy on n trials.

    Parameters
    ----------
    strictly
        More than this accuracy, not equal to it.

    Examples
    --------
    >>> round(chance_to_reach(0.9213, 3000, 0.9105), 4)
    0.0189
    """
    check_count("n", n, at_least=1)
    allowed = _failures_allowed(accuracy, n, strictly=strictly)
    return float(cumulate_failures(np.array([allowed]), n, p)[0])


def chance_needed(accuracy: float, n: int, power: float, *, strictly: bool = False) -> float:
    """Success probability with which one shows at least this accuracy as often as power says.

    Examples
    --------
    >>> round(chance_needed(0.9173, 3000, 0.8), 4)
    0.9213
    """
    check_count("n", n, at_least=1)
    check_open_unit("power", power)
    allowed = _failures_allowed(accuracy, n, strictly=strictly)
    if allowed < 0:
        raise InvalidInput(
            f"no accuracy on {n} trials is above {accuracy:g}", "Ask for a lower accuracy"
        )
    return float(betaincinv(n - allowed, allowed + 1, power)) if allowed < n else 0.0


def cumulate_failures(z: ArrayLike, n: int, p: ArrayLike, *, beyond: bool = False) -> FloatArray:
    """P(X <= z) of X ~ Bin(n, 1 - p), or P(X > z) beyond it, to all digits however small it is.

    Not `scipy.special.bdtr`, which is wrong in the ninth digit for n of a million.
    """
    z, p = np.asarray(z, dtype=float), np.asarray(p, dtype=float)
    inside = np.clip(z, 0, n - 1)
    tail = (betaincc if beyond else betainc)(n - inside, inside + 1, p)
    return np.where(z < 0, float(beyond), np.where(z >= n, float(not beyond), tail))


def group_chances(m: int, n: int, p: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Distinct success probabilities and how many have each."""
    check_count("m", m, at_least=1)
    check_count("n", n, at_least=1)
    chances = as_scores(np.atleast_1d(p), "p")
    if ((chances < 0) | (chances > 1)).any():
        wrong = chances[(chances < 0) | (chances > 1)][0]
        percent = f" ({wrong:g}% is {wrong / 100:g})" if 1 < wrong <= 100 else ""
        raise InvalidInput(f"p is {wrong:g}", f"Pass probabilities between 0 and 1{percent}")
    if np.ndim(p) == 0:
        return chances, np.array([float(m)])
    if chances.size != m:
        raise InvalidInput(
            f"m is {m}, but p has {chances.size} values", "Pass one p for all, or one for each"
        )
    distinct, counts = np.unique(chances, return_counts=True)
    return distinct, counts.astype(float)


def _log_survival(z: Failures, n: int, p: FloatArray) -> FloatArray:
    """Logarithm of P(X > z), for z and p that are broadcast."""
    below = cumulate_failures(z, n, p)
    result = np.log1p(-np.minimum(below, 0.5))
    mostly = below > 0.5
    z, p = np.broadcast_to(z, below.shape)[mostly], np.broadcast_to(p, below.shape)[mostly]
    with np.errstate(divide="ignore"):  # log 0 is what it should be
        result[mostly] = np.log(cumulate_failures(z, n, p, beyond=True))
    return result


def _log_survival_of_chunk(z: Failures, n: int, p: FloatArray) -> FloatArray:
    """Logarithm of P(X > z), a row for each of some consecutive z and a column per p.

    Two tails per p, and between them P(X = z - 1) = P(X = z) · z / (n - z + 1) · p / (1 - p),
    which is a hundred times faster than a tail for each z. It goes down from where it is largest.
    """
    ends = cumulate_failures(np.array([[z[0]], [z[-1] - 1], [z[-1]]]), n, p)
    in_tail = (ends[2] <= 0.5) & (p < 1)
    result = np.empty((z.size, p.size))
    result[:, ~in_tail] = _log_survival(z[:, None], n, p[~in_tail])
    ends, odds = ends[:, in_tail], p[in_tail] / (1 - p[in_tail])
    later = z[:0:-1].astype(float)
    ratios = (later / (n - later + 1))[:, None] * odds
    mass = (ends[2] - ends[1]) * np.cumprod(np.vstack([np.ones_like(odds), ratios]), axis=0)[::-1]
    mass[0] = ends[0]
    result[:, in_tail] = np.log1p(-np.cumsum(mass, axis=0))
    return result


def _failures_allowed(accuracy: float, n: int, *, strictly: bool) -> int:
    if not 0 <= accuracy <= 1:
        raise InvalidInput(f"accuracy is {accuracy:g}", "Pass a value between 0 and 1")
    failures = n * (1 - accuracy)
    if strictly:
        return math.ceil(failures - _WHOLE * n) - 1
    return math.floor(failures + _WHOLE * n)
