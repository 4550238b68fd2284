"""How far apart the highest and the lowest of k standard normal variables lie.

This is the studentized range with infinite degrees of freedom.
"""

import math
from functools import cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from outperform.stats.checks import FloatArray
from outperform.stats.quadrature import normal_nodes

_BLOCK = 1000  # widths at a time, to bound memory
_place_nodes = cache(normal_nodes)  # a quantile asks for the same ones again and again
_FEW = 30  # variables, for which half the nodes give all digits
_CLOSE = 1e-13  # of a width to its quantile


def exceed_range(width: ArrayLike, k: int) -> FloatArray:
    """P(range of k standard normal variables > width), for widths of any shape from 0 on.

    Examples
    --------
    >>> round(float(exceed_range(3.314, 3)), 4)
    0.05
    """
    widths = np.asarray(width, dtype=np.float64)
    flat = widths.reshape(-1, 1)
    tails = [_exceed_widths(flat[i : i + _BLOCK], k) for i in range(0, len(flat) or 1, _BLOCK)]
    return np.concatenate(tails).reshape(widths.shape)


def _exceed_widths(widths: FloatArray, k: int) -> FloatArray:
    """Mean over where the lowest lies of the chance that not all others are within the width."""
    node, weight = _place_nodes(101 if k <= _FEW else 201)
    # A wide range goes to both sides of 0, so that its lowest lies around minus half the width.
    lowest = node - widths / 2
    weight = weight * np.exp(node * widths / 2 - widths**2 / 8)
    above = ndtr(-lowest)
    with np.errstate(divide="ignore"):  # log(0) where the others lie beyond for sure
        # For widths near 0 the quotient may round to more than 1.
        beyond = np.minimum(1, ndtr(-lowest - widths) / above)
        all_within = (k - 1) * np.log1p(-beyond)
    # One minus the chance to be within would lose the digits of a small tail; this keeps them.
    total = (weight * above ** (k - 1) * -np.expm1(all_within)).sum(axis=1)
    return np.where(widths[:, 0] == 0, 1.0, np.minimum(1, k * total))


@cache  # simulations ask for the same one again and again
def range_quantile(alpha: float, k: int) -> float:
    """Width that the range of k standard normal variables exceeds with chance alpha.

    Examples
    --------
    >>> round(range_quantile(0.05, 3), 3)
    3.314
    """
    # The chance is at least that of one pair, and at most k(k - 1)/2 times it.
    low, high = (-math.sqrt(2) * float(ndtri(alpha / n)) for n in (2, k * (k - 1)))
    at_low, at_high = (_exceed_log(width, k, alpha) for width in (low, high))
    # Regula falsi on the logarithm; an end that stays twice has its weight halved: Illinois.
    last = 0.0
    while high - low > _CLOSE * high:
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        # At least a little off the ends, so that both close in.
        middle = min(max(middle, low + _CLOSE * high / 2), high - _CLOSE * high / 2)
        value = _exceed_log(middle, k, alpha)
        weight = 0.5 if value * last > 0 else 1.0
        if value > 0:
            low, at_low, at_high = middle, value, weight * at_high
        else:
            high, at_high, at_low = middle, value, weight * at_low
        last = value
    return high


def _exceed_log(width: float, k: int, alpha: float) -> float:
    return math.log(float(exceed_range(width, k)) / alpha)
