"""Intervals for the share of pairs won, and its sign test, from the counts of wins and ties."""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, betainc, betainccinv, betaincinv, betaln, ndtri

from outperform.errors import InvalidInput
from outperform.plain_values import Plain
from outperform.stats.checks import FloatArray, check_count, check_open_unit

# Tails that equal their level but for rounding have reached it.
REACHED = 1 - 1e-10
_Chances = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Interval(Plain):
    """Values compatible with the data at a level of confidence."""

    low: float
    high: float
    confidence_level: float
    method: str

    @property
    def level(self) -> str:
        """Confidence level in percent."""
        return f"{100 * self.confidence_level:g}%"

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"[{self.low:.3g}, {self.high:.3g}]"

    def __neg__(self) -> "Interval":
        return replace(self, low=-self.high, high=-self.low)

    def mirrored(self) -> "Interval":
        """Interval of 1 - x: that of P(B>A) where this one is of P(A>B)."""
        # Rounded, so that 1 - 0.42 is 0.58 and not a bit more, which a verdict would notice.
        low, high = round(1 - self.high, 15), round(1 - self.low, 15)
        return Interval(low, high, self.confidence_level, self.method)


def exact_interval(wins: int, ties: int, n: int, *, confidence_level: float = 0.95) -> Interval:
    """Interval of P(A>B) that leaves out 1/2 exactly where the sign test rejects it.

    With u the share of pairs that are not tied and q the share of those that are won,
    P = 1/2 + u (q - 1/2). The sign test looks at q alone, and so does Clopper and Pearson's
    interval of it. It is carried to P with the u, out of its own Clopper-Pearson interval, that
    moves the bound outwards: with the u observed, a side that ties a lot but never loses would be
    covered half of the time only. Where no tie is seen, u is 1.

    Parameters
    ----------
    wins, ties, n
        Of n pairs; a tie counts as half a win.

    Examples
    --------
    >>> print(exact_interval(20, 0, 29), exact_interval(8, 6, 14))
    [0.492, 0.847] [0.538, 0.935]
    """
    _check_counts(wins, n, confidence_level, ties)
    tail, losses = (1 - confidence_level) / 2, n - wins - ties
    low, high = 0.5 - _reach(losses, ties, wins, tail), 0.5 + _reach(wins, ties, losses, tail)
    return Interval(low, high, confidence_level, "exact")


def _reach(wins: int, ties: int, losses: int, tail: float) -> float:
    """How far above 1/2 the upper bound of P lies; below 0 if it lies below."""
    furthest = -0.5
    # Ties vary more than one or two losses do, so that trading a loss for a tie would lower the
    # bound: nothing that speaks for a side may do that.
    for traded in range(min(ties, max(0, 2 - losses)) + 1):
        tied, lost = ties - traded, losses + traded
        share = float(betainccinv(wins + 1, lost, tail)) - 0.5 if lost else 0.5
        if abs(share) < 1e-12:  # a tail that equals its level but for rounding has reached it
            share = 0.0
        elif tied and share > 0:
            share *= float(betainccinv(wins + lost + 1, tied, tail))
        elif tied:
            share *= float(betaincinv(wins + lost, tied + 1, tail))
        furthest = max(furthest, share)
    return furthest


def percentile_interval(
    wins: int, ties: int, n: int, *, confidence_level: float = 0.95
) -> Interval:
    """Percentile bootstrap interval of the share won, without resampling.

    Resampling pairs with replacement draws each as a win, a tie or a loss with the observed
    shares, so the bootstrap distribution is binomial (trinomial with ties) and its quantiles
    are known. It collapses to a point at 0 and n wins.

    Parameters
    ----------
    wins, ties, n
        Of n pairs; a tie counts as half a win.

    Returns
    -------
    The smallest share whose lower tail, and the largest whose upper tail, holds at least
    (1 - confidence_level) / 2: what 10,000 resamples only approximate.

    References
    ----------
    Bouthillier et al. (2021), Accounting for Variance in ML Benchmarks, appendix C.5.

    Examples
    --------
    >>> print(percentile_interval(20, 0, 29))
    [0.517, 0.862]
    """
    _check_counts(wins, n, confidence_level, ties)
    tail = (1 - confidence_level) / 2 * REACHED
    losses = n - wins - ties
    if ties == 0:
        low, lost = _wins_reaching(tail, wins, n), _wins_reaching(tail, losses, n)
        return Interval(low / n, (n - lost) / n, confidence_level, "percentile")
    low, lost = (_half_wins_reaching(tail, won, ties, n) for won in (wins, losses))
    return Interval(low / (2 * n), (2 * n - lost) / (2 * n), confidence_level, "percentile")


def _wins_reaching(tail: float, wins: int, n: int) -> int:
    """Find how many wins or fewer n resampled pairs have with at least the given probability."""
    return bisect_left(range(n), tail, key=lambda k: float(bdtr(k, n, wins / n)))


def _half_wins_reaching(tail: float, wins: int, ties: int, n: int) -> int:
    """Find how many half wins or fewer n resampled pairs have with at least this probability."""
    chances = ((n - wins - ties) / n, ties / n, wins / n)  # of 0, 1 and 2 half wins
    tilt = _tilt_towards(math.log(tail), chances, n)
    scale, tilted = _tilted(chances, tilt)
    first, mass = _resampled_half_wins(tilted, n)
    growth = n * math.log(scale) - tilt * (first + np.arange(mass.size))
    # Far above the tilted mean the growth is immense, but the tail has been reached by then.
    mass *= np.exp(np.minimum(growth, 700))
    return first + int(np.searchsorted(np.cumsum(mass), tail))


def _tilt_towards(log_tail: float, chances: _Chances, n: int) -> float:
    """Find the exponential tilt whose mean has about the given lower tail, by Chernoff's bound.

    Around the mean of the tilted distribution rounding errors are small beside what they
    disturb, however far out in the tail of the distribution itself it lies.
    """
    tilt, step = 0.0, 32.0
    while step > 0.25 / math.sqrt(n):  # less than a quarter of a standard deviation
        scale, (_, tied, won) = _tilted(chances, tilt - step)
        if n * (math.log(scale) - (tilt - step) * (tied + 2 * won)) > log_tail:
            tilt -= step
        step /= 2
    return tilt


def _tilted(chances: _Chances, tilt: float) -> tuple[float, _Chances]:
    """Mean of exp(tilt · half wins), and the chances weighted by it."""
    factor = math.exp(tilt)
    lost, tied, won = chances[0], chances[1] * factor, chances[2] * factor**2
    scale = lost + tied + won
    return scale, (lost / scale, tied / scale, won / scale)


def _resampled_half_wins(chances: _Chances, n: int) -> tuple[int, FloatArray]:
    """First value and probabilities of the sum of the half wins of n resampled pairs.

    The characteristic function of one pair to the power n, transformed back on a window that
    leaves out less than 1e-17 of the mass; its length is a power of two, which is fastest.
    """
    lost, tied, won = chances
    mean = 2 * won + tied
    deviation = math.sqrt(max(n * (4 * won + tied - mean**2), 0.0))
    reach = min(2 * n, math.ceil(9 * deviation) + 12)
    first = max(0, round(n * mean) - reach)
    size = 1 << (2 * reach + 1).bit_length()
    step = _roots_of_unity(size)
    one_pair = lost + tied * step + won * step**2
    # Powers of complex numbers are slow, and most of them vanish.
    lasts = np.abs(one_pair) > 1e-18 ** (1 / n)
    all_pairs = np.zeros_like(one_pair)
    all_pairs[lasts] = one_pair[lasts] ** n
    mass = np.fft.irfft(all_pairs, size)
    shift = first % size
    return first, np.maximum(np.concatenate((mass[shift:], mass[:shift])), 0.0)


@lru_cache(maxsize=4)  # many tasks have equally many pairs, so the same window
def _roots_of_unity(size: int) -> NDArray[np.complex128]:
    return np.asarray(np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size))


def wilson_interval(wins: float, n: int, *, confidence_level: float = 0.95) -> Interval:
    """Wilson's score interval of a share; half wins are allowed.

    Examples
    --------
    >>> print(wilson_interval(29, 29))
    [0.883, 1]
    """
    _check_counts(wins, n, confidence_level)
    z = -float(ndtri((1 - confidence_level) / 2))
    share = wins / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    low = 0.0 if wins == 0 else max(0.0, centre - reach)
    high = 1.0 if wins == n else min(1.0, centre + reach)
    return Interval(low, high, confidence_level, "wilson")


def clopper_pearson_interval(wins: float, n: int, *, confidence_level: float = 0.95) -> Interval:
    """Clopper and Pearson's interval, which covers a share at least as often as it claims.

    Half wins are allowed; the guarantee then rests on ties varying less than wins do.

    Examples
    --------
    >>> print(clopper_pearson_interval(29, 29))
    [0.881, 1]
    """
    _check_counts(wins, n, confidence_level)
    tail = (1 - confidence_level) / 2
    low = 0.0 if wins == 0 else float(betaincinv(wins, n - wins + 1, tail))
    high = 1.0 if wins == n else float(betainccinv(wins + 1, n - wins, tail))
    return Interval(low, high, confidence_level, "clopper-pearson")


def anytime_interval(wins: float, n: int, *, confidence_level: float = 0.95) -> Interval:
    """Interval that may be looked at after every pair: all of them hold at once.

    Robbins' mixture of binomial likelihoods over Beta(1/2, 1/2): the shares p whose likelihood
    is more than alpha times the mixture's. The likelihood ratio is convex in each outcome, so
    for ties as half wins it stays a supermartingale and the guarantee holds.

    References
    ----------
    Robbins (1970), Statistical methods related to the law of the iterated logarithm.

    Examples
    --------
    >>> print(anytime_interval(29, 29))
    [0.834, 1]
    """
    _check_counts(wins, n, confidence_level)
    losses = n - wins
    mixture = float(betaln(wins + 0.5, losses + 0.5) - betaln(0.5, 0.5))
    threshold = mixture + math.log(1 - confidence_level)

    def excluded(share: float) -> bool:
        likelihood = (wins and wins * math.log(share)) + (losses and losses * math.log1p(-share))
        return bool(likelihood <= threshold)

    share = wins / n
    low = 0.0 if wins == 0 else _boundary(excluded, 0.0, share)
    high = 1.0 if losses == 0 else _boundary(excluded, 1.0, share)
    return Interval(low, high, confidence_level, "anytime")


def _boundary(excluded: Callable[[float], bool], outside: float, inside: float) -> float:
    """Bisect between an excluded and an included share, to the last bit."""
    while True:
        middle = (outside + inside) / 2
        if middle in (outside, inside):
            return inside
        outside, inside = (middle, inside) if excluded(middle) else (outside, middle)


def _check_counts(wins: float, n: int, confidence_level: float, ties: int | None = None) -> None:
    """Refuse counts that do not add up; without ties, wins may be half ones."""
    check_count("n", n, at_least=1)
    check_open_unit("confidence_level", confidence_level)
    won = wins + (ties or 0) / 2
    if not 0 <= won <= n:
        raise InvalidInput(f"{won:g} wins of {n}", "Pass wins between 0 and n")
    if ties is None:
        return
    if not (wins >= 0 and ties >= 0 and wins + ties <= n and wins % 1 == ties % 1 == 0):
        raise InvalidInput(f"{wins} wins and {ties} ties of {n}", "Pass whole counts that add up")


def smallest_conclusive(alpha: float) -> int:
    """Fewest pairs of which all wins are evidence at alpha, two-sided: 0.5**n < alpha / 2."""
    check_open_unit("alpha", alpha)
    return math.floor(math.log2(2 / alpha)) + 1


def sign_tail(wins: FloatArray, losses: FloatArray) -> FloatArray:
    """Chance of as many wins or more among equals: a one-sided sign test, also of part wins."""
    most = int(max(np.max(wins, initial=0), np.max(losses, initial=0)))
    few = (most + 1) ** 2 < np.size(wins) / 4
    if few and all((counts == np.rint(counts)).all() for counts in (wins, losses)):
        # Few different counts of very many: each is worked out once.
        table = _binomial_tail(*np.indices((most + 1, most + 1)).astype(float))
        return np.asarray(table[np.asarray(wins, dtype=int), np.asarray(losses, dtype=int)])
    return _binomial_tail(wins, losses)


def _binomial_tail(wins: FloatArray, losses: FloatArray) -> FloatArray:
    tail: FloatArray = betainc(np.maximum(wins, 1e-300), losses + 1, 0.5)
    return np.where(wins > 0, tail, 1.0)
