"""The best of many that resemble one another, exactly: given a reference they are independent.

A reference succeeds at some of the n trials. Where it does, each of the m succeeds with one
probability, elsewhere with another; so the failures of each are a sum of two binomials, and the
fewest failures of m follow as if independent. A reference that is random itself is mixed over.
From there, what a lead is worth, and what all are worth of whom the best was seen.
"""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, log_ndtr, ndtri

from outperform.errors import InvalidInput
from outperform.stats.best_of_many import (
    BestOfDistribution,
    Failures,
    best_of_distribution,
    cumulate_failures,
    group_chances,
)
from outperform.stats.checks import FloatArray, check_count, check_open_unit
from outperform.stats.intervals import Interval
from outperform.stats.numerics import solve_rising

_LEFT_OUT = 1e-18  # probability beyond the ends of a sum
_RARE = 1e-15  # nearer to 0 or 1 than that, a chance is not solved for
# A sum over every s-th value of the reference errs by exp(-π² · width / s), with the width of
# the steepest term, and by exp(-2π² · (σ / s)²), with the reference's own σ: both below 1e-13.
_STEPS_PER_WIDTH = 3
_STEPS_PER_DEVIATION = 2
_FAR, _N_SHARED = 9.0, 3601  # standard deviations of what is shared, and points among them


def best_of_agreeing(m: int, n: int, n_right: int, agreement: float) -> BestOfDistribution:
    """Distribution of the best of m that agree with a reference which is right n_right times.

    Parameters
    ----------
    n_right
        Trials of the n at which the reference succeeds, k.
    agreement
        Chance of each to succeed there; elsewhere it is k / (n - k) · (1 - agreement), so that
        each succeeds at k of n trials on average.

    References
    ----------
    Møllersen and Holsbø (2023), What is the state of the art? Section 4.1, there simulated.

    Examples
    --------
    >>> round(best_of_agreeing(1000, 3000, 2700, 0.95).upper(0.05), 4)
    0.9187
    """
    check_count("n_right", n_right, at_least=1)
    group_chances(m, n, 0.5)  # checks m and n
    if n_right >= n:
        raise InvalidInput(
            f"the reference is right at {n_right} of {n} trials",
            "Pass an n_right below n: a reference that never fails tells nothing apart",
        )
    p = n_right / n
    lowest = max(0.0, 2 - 1 / p)
    if not lowest <= agreement <= 1:
        raise InvalidInput(
            f"agreement is {agreement:g}",
            f"Pass a value from {lowest:.4g} to 1: with a reference that is right at {n_right} of "
            f"{n} trials, others cannot be as good otherwise",
        )
    conditional = agreement, n_right / (n - n_right) * (1 - agreement)
    first, last = _find_window(m, n, np.array([p]))
    z, one = np.arange(first, last + 1), (np.array([conditional[0]]), np.array([conditional[1]]))
    log_survival = _log_survival_given(z, (n_right, n - n_right), one)[:, 0]
    return BestOfDistribution(m, n, first, m * log_survival)


def best_of_correlated(
    m: int, n: int, p: ArrayLike, correlation: float, *, reference: float | None = None
) -> BestOfDistribution:
    """Distribution of the best of m whose successes correlate with those of a reference.

    At each trial the reference succeeds with probability θ₀, each other one with its p, and the
    correlation of the two successes is ρ; any two others then correlate by ρ² if of equal p.

    Parameters
    ----------
    p
        Probability of success: one for all, or one for each, shape (m,).
    correlation
        ρ, between each and the reference.
    reference
        θ₀; by default p, or the mean of the p's.

    Examples
    --------
    >>> round(best_of_correlated(1000, 3000, 0.9, 0.5).mean, 4)
    0.9151
    """
    chances, counts = group_chances(m, n, p)
    reference = float(chances @ counts / m) if reference is None else reference
    check_feasible(chances, correlation, reference)
    if correlation == 0:
        return best_of_distribution(m, n, p)
    conditional = condition_on_reference(chances, correlation, reference)
    first, last = _find_window(m, n, chances)
    z = np.arange(first, last + 1)
    below, above = np.zeros(z.size), np.zeros(z.size)
    for n_right, weight in zip(*_weigh_reference(n, reference, conditional, m), strict=True):
        log_survival = _log_survival_given(z, (n_right, n - n_right), conditional) @ counts
        below -= weight * np.expm1(log_survival)
        above += weight * np.exp(log_survival)
    with np.errstate(divide="ignore"):
        mixed = np.where(below < 0.5, np.log1p(-np.minimum(below, 0.5)), np.log(above))
    return BestOfDistribution(m, n, first, mixed)


def miss_of_alike(m: int, correlation: float, *, confidence_level: float = 0.95) -> float:
    """How often the interval for m independent equals misses what alike ones are worth.

    Scores are taken as normal, which they are with many examples; with few, intervals are wider
    than they need be and miss less often. In standard deviations, the best of m lies at
    ρZ + √(1 - ρ²)·M, with Z what all share with the reference and M the best of m independent ones,
    and the interval holds the truth where that is no surprise for M alone.

    Parameters
    ----------
    correlation
        ρ, as in `best_of_correlated`: any two correlate by ρ².

    Examples
    --------
    >>> round(miss_of_alike(20, 0.5), 3), round(miss_of_alike(20, 0.0), 3)
    (0.187, 0.05)
    """
    check_count("m", m, at_least=1)
    check_open_unit("confidence_level", confidence_level)
    if not 0 <= correlation < 1:
        raise InvalidInput(f"correlation is {correlation}", "Pass a value from 0 up to below 1")
    tail, own = (1 - confidence_level) / 2, math.sqrt(1 - correlation**2)
    shared = np.linspace(-_FAR, _FAR, _N_SHARED)
    weight = np.exp(-np.square(shared) / 2)
    weight /= weight.sum()

    def chance_below(bound: float) -> float:
        return float(weight @ np.exp(m * log_ndtr((bound - correlation * shared) / own)))

    low, high = (float(ndtri(share ** (1 / m))) for share in (tail, 1 - tail))
    return chance_below(low) + 1 - chance_below(high)


def chance_of_best(m: int, n: int, p: float, z: int, *, correlation: float = 0.0) -> float:
    """P(Z <= z) alone: that at least one of m equals has at most z failures.

    Examples
    --------
    >>> round(chance_of_best(1000, 3000, 0.9, 236), 4)
    0.0325
    """
    group_chances(m, n, p)
    failures = np.array([z])
    if correlation == 0 or p in (0, 1) or not 0 <= z < n:
        with np.errstate(divide="ignore"):
            return float(-np.expm1(m * np.log(cumulate_failures(failures, n, p, beyond=True)))[0])
    chances = np.array([p])
    check_feasible(chances, correlation, p)
    conditional = condition_on_reference(chances, correlation, p)
    total = 0.0
    for n_right, weight in zip(*_weigh_reference(n, p, conditional, m), strict=True):
        log_survival = _log_survival_given(failures, (n_right, n - n_right), conditional)
        total -= float(weight) * math.expm1(m * log_survival[0, 0])
    return total


def feasible_range(correlation: float, reference: float) -> tuple[float, float]:
    """Success probabilities that can correlate so with the reference's.

    Odds between ρ² times those of the reference and 1 / ρ² times; of its failures if ρ < 0.

    Examples
    --------
    >>> [round(p, 4) for p in feasible_range(0.5, 0.9)]
    [0.6923, 0.973]
    """
    if not -1 <= correlation <= 1:
        raise InvalidInput(f"correlation is {correlation:g}", "Pass a value between -1 and 1")
    if not 0 < reference < 1:
        raise InvalidInput(f"reference is {reference:g}", "Pass a value between 0 and 1")
    odds = reference / (1 - reference) if correlation > 0 else (1 - reference) / reference
    lowest = odds * correlation**2
    return lowest / (1 + lowest), odds / (odds + correlation**2)


def condition_on_reference(
    p: FloatArray, correlation: float, reference: float
) -> tuple[FloatArray, FloatArray]:
    """Success probabilities where the reference succeeds, and where it fails."""
    slope = correlation * np.sqrt(p * (1 - p))
    right = p + slope * math.sqrt((1 - reference) / reference)
    wrong = p - slope * math.sqrt(reference / (1 - reference))
    return np.clip(right, 0.0, 1.0), np.clip(wrong, 0.0, 1.0)


def cumulate_given(
    z: Failures, parts: tuple[int, int], conditional: tuple[float, float]
) -> FloatArray:
    """P(at most z failures) for consecutive z, in two parts of the trials with one p each."""
    # The sum is over the part that varies less.
    spread = [n * p * (1 - p) for n, p in zip(parts, conditional, strict=True)]
    inner, outer = (0, 1) if spread[0] <= spread[1] else (1, 0)
    first, mass = _weigh_failures(parts[inner], conditional[inner])
    first_outer, mass_outer = _weigh_failures(parts[outer], conditional[outer])
    below = np.concatenate([[0.0], np.cumsum(mass_outer)])
    lagged = np.arange(z[0] - first - mass.size + 1, z[-1] - first + 1)
    rest = below[np.clip(lagged - first_outer + 1, 0, mass_outer.size)]
    return np.convolve(rest, mass, mode="valid")


def _log_survival_given(
    z: Failures, parts: tuple[int, int], conditional: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """Logarithm of P(X > z) given the reference, a row per z and a column per p."""
    below = [cumulate_given(z, parts, pair) for pair in zip(*conditional, strict=True)]
    with np.errstate(divide="ignore"):  # log 0 is what it should be
        return np.log1p(-np.minimum(np.transpose(below), 1.0))


def _weigh_failures(n: int, p: float) -> tuple[int, FloatArray]:
    """First value and probabilities of X ~ Bin(n, 1 - p), but for tails that do not matter.

    From the mode both ways by the ratio of neighbours, then scaled to add up to 1.
    """
    mean = n * (1 - p)
    # Bernstein's inequality: less than 1e-18 lies beyond.
    reach = 9.5 * math.sqrt(mean * p) + 30
    first, last = max(0, math.floor(mean - reach)), min(n, math.ceil(mean + reach))
    mode = min(n, math.floor((n + 1) * (1 - p)))
    if p in (0, 1):
        return mode, np.ones(1)
    up = np.arange(mode + 1, last + 1, dtype=float)
    down = np.arange(mode, first, -1, dtype=float)
    odds = (1 - p) / p
    after = np.cumprod((n - up + 1) / up * odds)
    before = np.cumprod(down / (n - down + 1) / odds)[::-1]
    mass = np.concatenate([before, [1.0], after])
    return first, mass / mass.sum()


def _weigh_reference(
    n: int, reference: float, conditional: tuple[FloatArray, FloatArray], m: int
) -> tuple[list[int], FloatArray]:
    """How often the reference may succeed, and with what probability.

    Where n is large, neighbours are so alike that every s-th value stands for s of them.
    """
    first, mass = _weigh_failures(n, 1 - reference)
    n_right = first + np.arange(mass.size)
    right, wrong = conditional
    spread = np.sqrt(n * (reference * right * (1 - right) + (1 - reference) * wrong * (1 - wrong)))
    width = float(np.min(spread / np.maximum(np.abs(right - wrong), 1e-12)))
    steps = (
        width / math.sqrt(2 * math.log(m + 2)) / _STEPS_PER_WIDTH,
        math.sqrt(n * reference * (1 - reference)) / _STEPS_PER_DEVIATION,
    )
    step = max(1, int(min(steps)))
    kept = np.flatnonzero(mass > _LEFT_OUT)[::step]
    return n_right[kept].tolist(), mass[kept] / mass[kept].sum()


def _find_window(m: int, n: int, p: FloatArray) -> tuple[int, int]:
    """Failures between which the best lies: no earlier than if independent, no later than one."""
    best = float(p.max())
    first = best_of_distribution(m, n, best).fewest(_LEFT_OUT)
    return first, bisect_left(
        range(n), True, key=lambda z: bool(cumulate_failures(z, n, best, beyond=True) <= _LEFT_OUT)
    )


def check_feasible(p: FloatArray, correlation: float, reference: float) -> None:
    """Refuse success probabilities that cannot correlate so with the reference."""
    if correlation == 0:
        return
    low, high = feasible_range(correlation, reference)
    # A p at the end of the range but for rounding is in it.
    wrong = p[(p < low * (1 - 1e-12)) | (p > high * (1 + 1e-12))]
    if wrong.size:
        raise InvalidInput(
            f"success with probability {wrong[0]:g} cannot correlate by {correlation:g} with a "
            f"reference that succeeds with probability {reference:g}",
            f"Pass a p from {low:.4g} to {high:.4g}, or a correlation nearer to 0",
        )


def chance_of_lead(m: int, n: int, p: float, lead: int, *, correlation: float = 0.0) -> float:
    """Chance that the best of m equals has at least so many failures fewer than the second.

    Parameters
    ----------
    lead
        Failures between the first and the second.
    correlation
        Of each one's successes with those of a common reference of the same p, which is right
        at as many of the n trials as expected.

    Examples
    --------
    >>> round(chance_of_lead(2, 1, 0.5, 1), 4)  # one of two coins shows heads, the other tails
    0.5
    """
    _check_many(m, n, lead)
    if lead == 0:
        return 1.0
    mass, survival = _distribute_one(n, p, correlation)
    others = _shift(survival, lead - 1) ** (m - 1)
    return min(1.0, float(m * (mass @ others)))


def gap_of_best(
    m: int, n: int, p: float, *, confidence_level: float = 0.95, correlation: float = 0.0
) -> int:
    """Failures by which the truly best of m may lag behind the leader, at this level.

    All that lag no more make up a set that holds the truly best with this confidence, whatever
    the others are worth: it is hardest to tell where all are equally good.

    References
    ----------
    Gupta (1965), On some multiple decision (selection and ranking) rules.

    Examples
    --------
    >>> gap_of_best(1000, 3000, 0.9)
    81
    """
    _check_many(m, n, 0)
    check_open_unit("confidence_level", confidence_level)
    mass, survival = _distribute_one(n, p, correlation)

    def is_enough(gap: int) -> bool:
        return float(mass @ _shift(survival, -gap - 1) ** (m - 1)) >= confidence_level

    return bisect_left(range(n), True, key=is_enough)


def _distribute_one(n: int, p: float, correlation: float) -> tuple[FloatArray, FloatArray]:
    """P(X = z) and P(X > z) of one, for all z that have probability."""
    check_feasible(np.array([p]), correlation, p)
    first = bisect_left(range(n), True, key=lambda z: bool(cumulate_failures(z, n, p) >= _LEFT_OUT))
    last = bisect_left(
        range(n), True, key=lambda z: bool(cumulate_failures(z, n, p, beyond=True) <= _LEFT_OUT)
    )
    z = np.arange(first, last + 1)
    if correlation == 0 or p in (0, 1):
        below = cumulate_failures(z, n, p)
    else:
        right, wrong = condition_on_reference(np.array([p]), correlation, p)
        n_right = round(n * p)
        below = cumulate_given(z, (n_right, n - n_right), (float(right[0]), float(wrong[0])))
    return np.diff(below, prepend=0.0), np.maximum(1 - below, 0.0)


def _shift(survival: FloatArray, steps: int) -> FloatArray:
    """P(X > z + steps) for the same z: 1 before them, 0 after them."""
    place = np.arange(survival.size) + steps
    inside = survival[np.clip(place, 0, survival.size - 1)]
    return np.where(place < 0, 1.0, np.where(place >= survival.size, 0.0, inside))


def _check_many(m: int, n: int, lead: int) -> None:
    group_chances(m, n, 0.5)
    check_count("lead", lead, at_least=0)
    if m < 2:
        raise InvalidInput(f"m is {m}, which has no second", "Pass an m of at least 2")


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
    return solve_rising(expected, 1 - z / n, low, 1 - z / n)


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
        chances = (-math.expm1(math.log1p(-probability) / k) for k in (m, 1))
        most, least = (float(betaincinv(n - failures, failures + 1, each)) for each in chances)
        return solve_rising(chance, float(ndtri(probability)), most, least) if correlation else most

    low = 0.0 if z == n else limit(z, tail)
    high = 1.0 if z == 0 else limit(z - 1, 1 - tail)
    return Interval(low, high, confidence_level, "exact")
