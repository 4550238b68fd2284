"""How large a difference is, in the unit of the scores and in standard deviations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from outperform.plain_values import Plain
from outperform.stats.alignment import align_series
from outperform.stats.checks import (
    FloatArray,
    as_independent,
    as_pairs,
    as_scores,
    check_open_unit,
    check_paired,
    merge_ties,
)
from outperform.stats.intervals import Interval
from outperform.stats.numerics import midranks


@dataclass(frozen=True, slots=True)
class Estimate(Plain):
    """A value with its interval."""

    value: float
    interval: Interval

    def __str__(self) -> str:
        return f"{self.value:.3g} {self.interval}"


@dataclass(frozen=True, slots=True)
class MeanDifference(Estimate):
    """A difference of means with its interval, standard error and degrees of freedom."""

    JSON = "value interval"  # as of every other estimate

    error: float
    df: float


def mean_difference(
    a: ArrayLike, b: ArrayLike, *, paired: bool = True, confidence_level: float = 0.95
) -> MeanDifference:
    """Mean of `a` minus mean of `b`, with Student's interval (Welch's when unpaired).

    Parameters
    ----------
    a, b : shape (n_pairs,), or (n_a,) and (n_b,) when unpaired; n ≥ 2

    Examples
    --------
    >>> print(mean_difference([3, 4, 5], [1, 1, 1]))
    3 [0.516, 5.48]
    """
    check_open_unit("confidence_level", confidence_level)
    first, second = (as_pairs if paired else as_independent)(a, b, at_least=2)
    return find_difference(first, second, paired=paired, confidence_level=confidence_level)


def find_difference(
    a: FloatArray, b: FloatArray, *, paired: bool, confidence_level: float
) -> MeanDifference:
    """Do what `mean_difference` does, for scores in which ties are identical already."""
    if paired:
        value, deviation = map(float, mean_and_deviation(a - b))
        error, df = deviation / math.sqrt(a.size), float(a.size - 1)
    else:
        value, error, df = map(float, subtract_means(a, b))
    return student_interval(value, error, df, confidence_level)


def student_interval(
    value: float, error: float, df: float, confidence_level: float
) -> MeanDifference:
    """Value with its t interval."""
    reach = -float(stdtrit(df, (1 - confidence_level) / 2)) * error
    interval = Interval(value - reach, value + reach, confidence_level, "t")
    return MeanDifference(value, interval, error, df)


def subtract_means(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Difference of means over the last axis, its standard error and degrees of freedom."""
    (mean_a, deviation_a), (mean_b, deviation_b) = mean_and_deviation(a), mean_and_deviation(b)
    n_a, n_b = a.shape[-1], b.shape[-1]
    errors = deviation_a / math.sqrt(n_a), deviation_b / math.sqrt(n_b)
    return mean_a - mean_b, *join_errors(*errors, (n_a, n_b))


def join_errors(
    error_a: Any, error_b: Any, sizes: tuple[Any, Any]
) -> tuple[FloatArray, FloatArray]:
    """Standard error of a difference, and its Welch-Satterthwaite degrees of freedom."""
    error = np.hypot(error_a, error_b)
    with np.errstate(invalid="ignore"):
        share = np.square(error_a / error)  # of the variance: its own square might underflow
    df = 1 / (share**2 / (sizes[0] - 1) + (1 - share) ** 2 / (sizes[1] - 1))
    # Without any variance the degrees of freedom do not matter, but must be a number.
    return error, np.where(error == 0, sum(sizes) - 2, df)


def mean_and_deviation(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation over the last axis; of equal values exactly these, and 0.

    In units of the range, so that no square overflows or vanishes.
    """
    lowest = values.min(axis=-1, keepdims=True)
    width = values.max(axis=-1, keepdims=True) - lowest
    unit = np.where(width == 0, 1.0, width)
    scaled = (values - lowest) / unit
    mean, deviation = scaled.mean(axis=-1), scaled.std(axis=-1, ddof=1)
    return lowest[..., 0] + unit[..., 0] * mean, unit[..., 0] * deviation


def cohens_d(a: ArrayLike, b: ArrayLike) -> float:
    """Difference of means in pooled standard deviations; infinite where scores do not vary.

    Parameters
    ----------
    a, b : shape (n_a,) and (n_b,), n ≥ 2; positive when a is higher

    Examples
    --------
    >>> cohens_d([3, 4, 5], [2, 3, 4])
    1.0
    """
    first, second = as_independent(a, b, at_least=2)
    (mean_a, deviation_a), (mean_b, deviation_b) = map(mean_and_deviation, (first, second))
    df_a, df_b = first.size - 1, second.size - 1
    pooled = np.hypot(math.sqrt(df_a) * deviation_a, math.sqrt(df_b) * deviation_b)
    return _standardize(mean_a - mean_b, pooled / math.sqrt(df_a + df_b))


def paired_d(a: ArrayLike, b: ArrayLike) -> float:
    """Mean of the paired differences in their standard deviations.

    Parameters
    ----------
    a, b : shape (n_pairs,), n ≥ 2; positive when a is higher

    Examples
    --------
    >>> paired_d([3, 4, 5], [2, 2, 2])
    2.0
    """
    first, second = as_pairs(a, b, at_least=2)
    return _standardize(*mean_and_deviation(first - second))


def rank_correlation(a: ArrayLike, b: ArrayLike) -> float:
    """Spearman's correlation of paired values; NaN where either does not vary.

    Parameters
    ----------
    a, b : shape (n_pairs,), n ≥ 2

    Examples
    --------
    >>> round(rank_correlation([1, 2, 3, 4], [1, 3, 2, 9]), 3)
    0.8
    """
    a, b = align_series(a, b)
    first, second = as_scores(a, "a", at_least=2), as_scores(b, "b", at_least=2)
    check_paired(first.size, second.size)
    (first,), (second,) = merge_ties(first), merge_ties(second)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(np.corrcoef(midranks(first), midranks(second))[0, 1])


def _standardize(difference: Any, deviation: Any) -> float:
    if deviation == 0:
        return float(np.sign(difference) * np.inf) if difference != 0 else 0.0
    return float(difference / deviation)
