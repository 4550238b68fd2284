"""What a lead in a ranking is worth: how far apart chance alone puts equals."""

from bisect import bisect_left

import numpy as np

from outperform.errors import InvalidInput
from outperform.stats.best_of_dependent import (
    check_feasible,
    condition_on_reference,
    cumulate_given,
)
from outperform.stats.best_of_many import (
    cumulate_failures,
    exceed_failures,
    group_chances,
)
from outperform.stats.checks import FloatArray, check_count, check_open_unit

_LEFT_OUT = 1e-18


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
    last = bisect_left(range(n), True, key=lambda z: bool(exceed_failures(z, n, p) <= _LEFT_OUT))
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
