"""What many statistics compute with: blocks of rows, means over distributions, roots."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammainccinv, gammaincinv, ndtr

from outperform.stats.checks import FloatArray, span_ties

CLOSE = 1e-7  # of a probability to its target, or of two guesses to each other


@lru_cache(maxsize=8)  # a quantile asks for the same ones again and again
def normal_nodes(n_nodes: int = 401) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of a mean over a standard normal variable, by the trapezoidal rule."""
    score = np.linspace(-8.5, 8.5, n_nodes)
    weight = np.exp(-(score**2) / 2)
    return score, weight / weight.sum()


def chi_square_nodes(df: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of a mean over a chi-square variable, through its normal score."""
    score, weight = normal_nodes()
    half = np.where(score < 0, gammaincinv(df / 2, ndtr(score)), gammainccinv(df / 2, ndtr(-score)))
    return 2 * half, weight


def symmetric_beta_nodes(shape: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of a mean over a Beta(shape, shape) variable, through its normal score."""
    score, weight = normal_nodes(101)
    lower = betaincinv(shape, shape, ndtr(-np.abs(score)))
    return np.where(score < 0, lower, 1 - lower), weight


def divide_rows(n_rows: int, row_size: int, *, limit: int) -> list[int]:
    """Numbers of rows of blocks that hold at most `limit` numbers each, but one row at least."""
    block = max(1, limit // row_size)
    return [min(block, n_rows - start) for start in range(0, n_rows, block)]


def solve_rising(
    function: Callable[[float], float], target: float, low: float, high: float
) -> float:
    """Where between two bounds an increasing function reaches its target.

    Regula falsi, with the weight of an end that stays twice halved: the Illinois method.
    """
    at_low, at_high = function(low) - target, function(high) - target
    if at_low >= 0 or at_high <= 0:  # but for rounding, it is one of the bounds
        return low if at_low >= 0 else high
    last = 0.0
    while high - low > CLOSE:
        middle = low + (high - low) * at_low / (at_low - at_high)
        value = function(middle) - target
        if abs(value) < CLOSE:
            return middle
        weight = 0.5 if value * last > 0 else 1.0
        if value < 0:
            low, at_low, at_high = middle, value, weight * at_high
        else:
            high, at_high, at_low = middle, value, weight * at_low
        last = value
    return (low + high) / 2


def unwrap(array: NDArray[Any]) -> float | FloatArray:
    """Float where there is a single value, else the array."""
    return float(array) if array.ndim == 0 else array


def midranks(values: FloatArray) -> FloatArray:
    """Ranks along the last axis, from the lowest on; identical values share theirs."""
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    first, last = span_ties(ordered[..., 1:] != ordered[..., :-1])
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=-1)
    return ranks


def halve(
    holds: Callable[[float], bool], low: float, high: float, n_steps: int
) -> tuple[float, float]:
    """Close in on where a condition begins to hold, which it does not at `low` but at `high`."""
    for _ in range(n_steps):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high


def divide(value: Any, by: Any) -> FloatArray:
    """Quotient; infinite where only the divisor is 0, NaN where both are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.divide(value, by), dtype=np.float64)
