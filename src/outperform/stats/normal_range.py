"""How far apart the highest and the lowest of k standard normal variables lie.

This is the studentized range with infinite degrees of freedom.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from outperform.stats.checks import FloatArray
from outperform.stats.quadrature import normal_nodes

_BLOCK = 1000  # widths at a time, to bound memory
_HALVINGS = 60  # of an interval of a few units: all digits of a float


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
    node, weight = normal_nodes(201)
    # A wide range goes to both sides of 0, so that its lowest lies around minus half the width.
    lowest = node - widths / 2
    weight = weight * np.exp(node * widths / 2 - widths**2 / 8)
    with np.errstate(divide="ignore"):  # log(0) where the others lie beyond for sure
        # For widths near 0 the quotient may round to more than 1.
        beyond = np.minimum(1, ndtr(-lowest - widths) / ndtr(-lowest))
        all_within = (k - 1) * np.log1p(-beyond)
    # One minus the chance to be within would lose the digits of a small tail; this keeps them.
    total = (weight * ndtr(-lowest) ** (k - 1) * -np.expm1(all_within)).sum(axis=1)
    return np.where(widths[:, 0] == 0, 1.0, np.minimum(1, k * total))


def range_quantile(alpha: float, k: int) -> float:
    """Width that the range of k standard normal variables exceeds with chance alpha.

    Examples
    --------
    >>> round(range_quantile(0.05, 3), 3)
    3.314
    """
    # The chance is at most k(k - 1)/2 times that of one pair.
    low, high = 0.0, -math.sqrt(2) * float(ndtri(alpha / (k * (k - 1))))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if exceed_range(middle, k) > alpha else (low, middle)
    return high
