"""How many repetitions, of how many scores each, a mean must have to be as precise as wanted."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from outperform.errors import InvalidInput
from outperform.stats.checks import FloatArray

_NEAR = np.arange(-5.0, 6.0)  # whole numbers around the best real one that are tried


class Efforts(NamedTuple):
    """Repetitions, scores of each and what all cost; infinite where none reach the target."""

    n_repetitions: FloatArray
    n_scores: FloatArray
    cost: FloatArray


def cheapest_repetitions(
    shared: ArrayLike, within: ArrayLike, allowed: ArrayLike, *, overhead: float
) -> Efforts:
    """Find the cheapest m repetitions of k scores with shared/m + within/(m·k) ≤ allowed.

    They cost m·(overhead + k). In real numbers k = √(overhead·within/shared) is best, whatever is
    allowed; whole numbers around it are tried for either, with the fewest of the other that do.

    Parameters
    ----------
    shared, within : any shapes that broadcast
        Variance of what a repetition shares, ρV, and of scores within one.
    allowed
        Variance that the mean may have.
    overhead
        What a repetition costs before its first score, in scores.

    References
    ----------
    Cochran (1977), Sampling Techniques, section 10.6: the best numbers in two-stage sampling.

    Examples
    --------
    >>> print(*cheapest_repetitions(1.0, 9.0, 2.0, overhead=16))
    1.0 9.0 25.0
    >>> print(*cheapest_repetitions(1.0, 9.0, 0.5, overhead=16))
    4.0 9.0 100.0
    """
    if not (overhead >= 0 and np.min(shared) >= 0 and np.min(within) >= 0):
        raise InvalidInput(
            "a variance or the overhead is below 0", "Pass variances and costs of 0 or more"
        )
    parts = np.broadcast_arrays(*(np.asarray(x, float) for x in (shared, within, allowed)))
    a, b, limit = (part[..., None] for part in parts)
    with np.errstate(all="ignore"):  # what comes of 0 and infinity is not reached
        best = np.sqrt(overhead * b / a)  # scores of each
        most = np.maximum(_round_up((a + b) / limit), 1)  # repetitions, of a single score
        scores = np.maximum(np.floor(np.nan_to_num(best, nan=1, posinf=1)) + _NEAR, 1)
        repetitions = np.maximum(_round_up((a + b / scores) / limit), 1)
        tried = np.clip(np.floor(np.nan_to_num((a + b / best) / limit, nan=1)) + _NEAR, 1, most)
        fewest = np.maximum(_round_up(b / (tried * limit - a)), 1)
        fewest = np.where(np.isnan(fewest), 1, fewest)  # 0/0: any number does
        repetitions, scores = _join(repetitions, tried), _join(scores, fewest)
        reached = (limit > 0) & ((a + b / scores) / repetitions <= limit * (1 + 1e-9))
        cost = np.where(reached, repetitions * (overhead + scores), np.inf)
    return _pick(repetitions, scores, cost)


def scores_of_one_repetition(
    shared: ArrayLike, within: ArrayLike, allowed: ArrayLike
) -> FloatArray:
    """Fewest scores k of one repetition with shared + within/k ≤ allowed; infinite where none do.

    Examples
    --------
    >>> scores_of_one_repetition(1.0, 9.0, [2.0, 1.0])
    array([ 9., inf])
    """
    a, b, limit = (np.asarray(x, float) for x in (shared, within, allowed))
    with np.errstate(divide="ignore", invalid="ignore"):
        fewest = np.maximum(_round_up(b / (limit - a)), 1)
    return np.where(limit > a, fewest, np.inf)


def _round_up(values: FloatArray) -> FloatArray:
    """Next whole number, unless rounding alone has missed one."""
    return np.ceil(values * (1 - 1e-12))


def _join(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.concatenate(np.broadcast_arrays(first, second), axis=-1)


def _pick(repetitions: FloatArray, scores: FloatArray, cost: FloatArray) -> Efforts:
    place = cost.argmin(axis=-1)[..., None]
    n, k, lowest = (
        np.take_along_axis(each, place, -1)[..., 0] for each in (repetitions, scores, cost)
    )
    reached = np.isfinite(lowest)
    return Efforts(np.where(reached, n, np.inf), np.where(reached, k, np.inf), lowest)
