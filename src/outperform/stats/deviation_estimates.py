"""How well the standard deviation of repetitions stands for that of independent scores."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from outperform.plain_values import Plain
from outperform.stats.checks import FloatArray, as_samples, check_open_unit
from outperform.stats.design_quality import N_DRAWS, as_ideal
from outperform.stats.effect_sizes import Estimate, mean_and_deviation, student_interval
from outperform.stats.intervals import Interval
from outperform.stats.variances import deviation, deviation_ratio


@dataclass(frozen=True, slots=True)
class DeviationEstimates(Plain):
    """Standard deviations as repetitions estimate them, beside that of independent scores."""

    JSON = "n_repetitions values mean spread ratio"

    values: FloatArray = field(repr=False, compare=False)  # one per repetition
    mean: Estimate
    spread: float  # standard deviation of the estimates; NaN of a single one
    ratio: Estimate  # of the mean to the deviation of independent scores

    @property
    def n_repetitions(self) -> int:
        """Number of estimates."""
        return self.values.size


def assess_deviations(
    scores: Sequence[ArrayLike],
    ideal: ArrayLike,
    *,
    confidence_level: float = 0.95,
    rng: np.random.Generator,
) -> DeviationEstimates:
    """Standard deviations of the scores of repetitions, and their ratio to that of `ideal`.

    Parameters
    ----------
    scores : arrays of shape (n_repetitions, K), K ≥ 2
        Of several arrays, the deviations of a repetition are averaged: those of
        fix-hopt and of simulated searches, whose errors go opposite ways (Bouthillier et al.).
    ideal : shape (n,), n ≥ 2
        Independent scores; they must vary.

    Returns
    -------
    The mean over repetitions has Student's interval, its ratio a generalized one for normal scores.
    Of a single repetition, both are Bonett's.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = assess_deviations([[[1, 2, 3], [1, 3, 5]]], [1.0, 2.0, 3.0, 4.0, 5.0], rng=rng)
    >>> found.values.tolist(), found.mean.value
    ([1.0, 2.0], 1.5)
    """
    check_open_unit("confidence_level", confidence_level)
    alone, tables = as_ideal(ideal), [as_samples(each, "scores", at_least=2) for each in scores]
    values = np.mean([mean_and_deviation(table)[1] for table in tables], axis=0)
    if values.size == 1:
        return _assess_single(tables, alone, values, confidence_level)
    n, level = values.size, confidence_level
    mean, spread = map(float, mean_and_deviation(values))
    estimate = student_interval(mean, spread / n**0.5, n - 1, level)
    own, df = float(mean_and_deviation(alone)[1]), alone.size - 1
    drawn = mean + estimate.error * rng.standard_t(n - 1, N_DRAWS)
    ratios = drawn / (own * np.sqrt(df / rng.chisquare(df, N_DRAWS)))
    low, high = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    interval = Interval(max(0.0, float(low)), float(high), level, "generalized")
    return DeviationEstimates(values, estimate, spread, Estimate(mean / own, interval))


def _assess_single(
    tables: Sequence[FloatArray], ideal: FloatArray, values: FloatArray, level: float
) -> DeviationEstimates:
    """Of one repetition, its scores tell how sure its deviation is."""
    deviations = [deviation(table[0], confidence_level=level) for table in tables]
    ratios = [deviation_ratio(table[0], ideal, confidence_level=level) for table in tables]
    means = [_average(each) for each in (deviations, ratios)]
    return DeviationEstimates(values, means[0], np.nan, means[1])


def _average(estimates: Sequence[Estimate]) -> Estimate:
    """Mean of estimates, with the mean of their bounds: they may depend on each other."""
    if len(estimates) == 1:
        return estimates[0]
    numbers = [(each.value, each.interval.low, each.interval.high) for each in estimates]
    value, low, high = np.mean(numbers, axis=0).tolist()
    return Estimate(value, replace(estimates[0].interval, low=low, high=high))
