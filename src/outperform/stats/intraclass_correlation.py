"""How much the mean of scores that share something varies, and how correlated they are."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtri

from outperform.errors import InvalidInput
from outperform.stats.checks import FloatArray, as_samples, check_open_unit
from outperform.stats.effect_sizes import Estimate
from outperform.stats.intervals import Interval

_LEVELS = 1000


@dataclass(frozen=True, slots=True)
class RepeatedMeans:
    """Means of repetitions: scores of one repetition share what it fixes."""

    n_repetitions: int
    n_scores: int  # of each
    mean: float  # over all repetitions
    mean_variance: float  # of the mean of one repetition, Var(μ̃|ξ)
    within_variance: float  # of scores within a repetition
    correlation: Estimate  # of two scores of one repetition, ρ, which may be negative

    @property
    def shared_variance(self) -> float:
        """Variance of what a repetition fixes, ρV; 0 where the estimate would be negative."""
        return max(0.0, self.mean_variance - self.within_variance / self.n_scores)

    @property
    def variance(self) -> float:
        """Variance V of a score over all repetitions, ρ being 0 at least."""
        return self.within_variance + self.shared_variance

    @property
    def expected_correlation(self) -> float:
        """Mean of ρ, at least 0, over all levels of its interval.

        Variances of means are linear in ρ, so that this is what to expect them with: the estimate
        is 0 as often as not where few repetitions tell little.
        """
        k, levels = self.n_scores, (np.arange(_LEVELS) + 0.5) / _LEVELS
        sizes = self.n_repetitions - 1, self.n_repetitions * (k - 1)
        ratios = k * self.mean_variance / self.within_variance / fdtri(*sizes, levels)
        return float(np.mean(((ratios - 1) / (ratios + k - 1)).clip(0, 1)))

    @property
    def mean_error(self) -> float:
        """Standard error of the mean over all repetitions."""
        return math.sqrt(self.mean_variance / self.n_repetitions)


def repeated_means(scores: ArrayLike, *, confidence_level: float = 0.95) -> RepeatedMeans:
    """Measure how much means of repetitions vary: Var(μ̃|ξ) = V/k + (k − 1)/k·ρ·V.

    V is the variance of a score over all repetitions, estimated without bias from the variances
    within and between them; ρ = (k·Var(μ̃) − V) / ((k − 1)·V) is the intraclass correlation then.

    Parameters
    ----------
    scores : shape (n_repetitions, k), both ≥ 2

    Returns
    -------
    The interval of ρ is exact where what is shared and what is not are normal.

    References
    ----------
    Bouthillier et al. (2021), Accounting for Variance in ML Benchmarks, equation 7; Searle (1971),
    Linear Models, chapter 9.

    Examples
    --------
    >>> means = repeated_means([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0], [1.0, 3.0, 5.0]])
    >>> print(means.mean_variance, means.within_variance, means.correlation)
    1.0 2.0 0.143 [-0.36, 0.951]
    """
    check_open_unit("confidence_level", confidence_level)
    table = as_repetitions(scores)
    n_repetitions, k = table.shape
    mean_variance = float(table.mean(axis=1).var(ddof=1))
    within = float(table.var(axis=1, ddof=1).mean())
    if within == 0:
        raise InvalidInput(
            "scores of one repetition are all the same", "Redraw what they depend on"
        )
    ratio, sizes = k * mean_variance / within, (n_repetitions - 1, n_repetitions * (k - 1))
    tail = (1 - confidence_level) / 2
    low, high = (_correlate(ratio / float(fdtri(*sizes, p)), k) for p in (1 - tail, tail))
    interval = Interval(low, high, confidence_level, "f")
    correlation = Estimate(_correlate(ratio, k), interval)
    return RepeatedMeans(
        n_repetitions, k, float(np.mean(table)), mean_variance, within, correlation
    )


def as_repetitions(scores: ArrayLike) -> FloatArray:
    """Scores of two repetitions or more, a row each, of two scores or more."""
    table = as_samples(scores, "scores", at_least=2)
    if table.ndim != 2 or len(table) < 2:
        raise InvalidInput(
            f"scores have the shape {table.shape}", "Pass two or more repetitions, a row each"
        )
    return table


def _correlate(ratio: float, k: int) -> float:
    """Correlation, from the ratio of the mean squares between and within repetitions."""
    return (ratio - 1) / (ratio + k - 1)
