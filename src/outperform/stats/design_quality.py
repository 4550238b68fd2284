"""What repetitions that share something are worth beside independent scores: mean and spread."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, stdtr, stdtrit

from outperform.errors import InvalidInput
from outperform.plain_values import Plain
from outperform.stats.budget_split import cheapest_repetitions, scores_of_one_repetition
from outperform.stats.checks import FloatArray, as_samples, as_scores, check_count, check_open_unit
from outperform.stats.effect_sizes import (
    Estimate,
    MeanDifference,
    mean_and_deviation,
    student_interval,
)
from outperform.stats.intervals import Interval
from outperform.stats.variance_sources import as_repetitions, repeated_means
from outperform.stats.variances import deviation, deviation_ratio

N_DRAWS = 4000  # of what the true variances and the true bias may be
_AT_ONCE = 500  # numbers of scores, to bound the memory
_METHOD = "generalized"  # of intervals that rest on them


@dataclass(frozen=True, slots=True)
class EstimateCurve(Plain):
    """Estimates for k = 1 ... K scores, each with its interval."""

    values: FloatArray
    low: FloatArray
    high: FloatArray

    def at(self, n_scores: int, confidence_level: float) -> Estimate:
        """Estimate for so many scores."""
        ends = float(self.low[n_scores - 1]), float(self.high[n_scores - 1])
        interval = Interval(*ends, confidence_level, _METHOD)
        return Estimate(float(self.values[n_scores - 1]), interval)


@dataclass(frozen=True, slots=True)
class Reach(Plain):
    """What reaches the precision of so many independent scores, in scores and their overheads.

    Infinite where nothing does: more scores of one repetition remove neither what they share nor
    the bias, more repetitions not the bias.
    """

    n_ideal: int
    cost_ideal: float
    n_scores_alone: float  # of a single repetition
    cost_alone: float
    n_repetitions: float  # that are cheapest, of n_scores each
    n_scores: float
    cost: float
    ratio: Estimate  # of that cost to the independent scores'


@dataclass(frozen=True, slots=True)
class DesignQuality(Plain):
    """Bias, variance and error of means of repetitions, and how many independent scores equal one.

    Attributes
    ----------
    variance, within_variance, correlation
        Of a score, V; of scores within a repetition; of two scores of one repetition, ρ. With
        these Var(μ̃_k) = V/k + (k - 1)/k·ρ·V.
    mean_variance
        Var(μ̃_K) of the mean of all K scores of a repetition.
    shared_variance, squared_bias
        ρV and the bias squared, both without the part that chance adds and 0 at least: their sum
        is the error that no number of scores of one repetition removes.
    standard_error, mse, equivalent
        Of means of k = 1 ... K scores of one repetition: √Var(μ̃_k), the mean squared error, and
        the number of independent scores whose mean has the same.
    """

    n_repetitions: int
    n_scores: int
    mean: float
    bias: MeanDifference
    variance: Estimate
    within_variance: Estimate
    correlation: Estimate
    mean_variance: Estimate
    shared_variance: float
    squared_bias: float
    standard_error: EstimateCurve
    mse: EstimateCurve
    equivalent: EstimateCurve
    reach: Reach


def assess_design(
    scores: ArrayLike,
    ideal: ArrayLike,
    partners: Sequence[int] | None = None,
    *,
    overhead: int = 0,
    n_ideal: int = 10,
    confidence_level: float = 0.95,
    rng: np.random.Generator,
) -> DesignQuality:
    """Measure what the mean of k scores of one repetition is worth, against independent scores.

    Parameters
    ----------
    scores : shape (n_repetitions, K), both ≥ 2
    ideal : shape (n,), n ≥ 2
        Independent scores, whose mean has no bias; they must vary.
    partners : n_repetitions places
        Of the independent score that shares something with each repetition, -1 where none does:
        the interval of the bias allows for it. None: no score does.
    overhead
        Cost of a repetition, and of an independent score, beside its scores, in scores.
    n_ideal
        Number of independent scores whose precision is to be reached.

    Returns
    -------
    Variances within and between repetitions have chi-square intervals and ρ the F interval, which
    are exact for normal scores; the bias has Student's, with Welch's degrees of freedom. All else
    has generalized intervals, for normal scores: what is asked for is computed from draws of the
    variances and of the bias as those intervals have them.

    References
    ----------
    Bouthillier et al. (2021), Accounting for Variance in ML Benchmarks, equations 6 to 8 and
    appendix H; Weerahandi (1993), Generalized confidence intervals.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.normal(0, 1, (20, 1)) + rng.normal(0, 1, (20, 50))
    >>> quality = assess_design(shared, rng.normal(0, 1.4, 50), overhead=100, rng=rng)
    >>> print(quality.correlation, round(quality.equivalent.values[-1], 2))
    0.419 [0.289, 0.611] 3.49
    """
    check_open_unit("confidence_level", confidence_level)
    check_count("overhead", overhead, at_least=0)
    check_count("n_ideal", n_ideal, at_least=1)
    table, alone = as_repetitions(scores), as_ideal(ideal)
    if np.ptp(table) == 0:
        raise InvalidInput(
            f"all scores of all repetitions are {table.flat[0]:g}",
            "Pass repetitions that vary, or scores that do",
        )
    n, k = table.shape
    bias = _subtract_means(table.mean(axis=1), alone, partners, confidence_level)
    parts = _estimate_parts(table, alone, bias)
    dfs = n - 1, n * (k - 1), alone.size - 1
    drawn = _draw_parts(parts, bias, dfs, rng)
    variances, mse, equivalent = (
        _enclose(measure, parts, drawn, confidence_level)
        for measure in (_Parts.mean_variances, _Parts.mse, _Parts.equivalent)
    )
    correlation = Estimate(1.0, Interval(1.0, 1.0, confidence_level, "f"))
    if parts.within:  # else scores of a repetition are copies
        correlation = repeated_means(table, confidence_level=confidence_level).correlation
    return DesignQuality(
        *(n, k, float(table.mean()), bias, variances.at(1, confidence_level)),
        _estimate_variance(float(parts.within), dfs[1], confidence_level),
        correlation,
        _estimate_variance(float(parts.between), dfs[0], confidence_level),
        float(parts.shared),
        float(parts.squared_bias),
        EstimateCurve(*map(np.sqrt, (variances.values, variances.low, variances.high))),
        mse,
        equivalent,
        _find_reach(parts, drawn, (overhead, n_ideal), confidence_level),
    )


def as_ideal(ideal: ArrayLike) -> FloatArray:
    """Independent scores, which must vary to be a measure of anything."""
    alone = as_scores(ideal, "ideal", at_least=2)
    if np.ptp(alone) == 0:
        raise InvalidInput(
            f"all {alone.size} independent scores are {alone[0]:g}",
            "Compare with scores that vary",
        )
    return alone


@dataclass(frozen=True, slots=True)
class _Parts:
    """What errors are made of: as estimated, or draws of each."""

    between: float | FloatArray  # variance of means of all K scores of a repetition
    within: float | FloatArray
    squared_bias: float | FloatArray
    ideal: float | FloatArray  # variance of an independent score
    n_scores: int

    @property
    def shared(self) -> FloatArray:
        return np.maximum(self.between - self.within / self.n_scores, 0)

    def mean_variances(self, sizes: FloatArray) -> FloatArray:
        """Of means of so many scores, a row each, on average over which of the K they are."""
        weights = 1 / sizes[:, None] - 1 / self.n_scores
        return np.asarray(self.between + self.within * weights)

    def mse(self, sizes: FloatArray) -> FloatArray:
        return self.mean_variances(sizes) + self.squared_bias

    def equivalent(self, sizes: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):  # no error at all is worth infinitely many
            return self.ideal / self.mse(sizes)


def _estimate_parts(table: FloatArray, ideal: FloatArray, bias: MeanDifference) -> _Parts:
    between = table.mean(axis=1).var(ddof=1)
    # Scores that are copies have none, where a rounded mean would leave them some.
    within = (table - table[:, :1]).var(axis=1, ddof=1).mean()
    # The square of an estimate is too large by the square of its error, on average.
    squared_bias = max(0.0, bias.value**2 - bias.error**2)
    variances = float(between), float(within), squared_bias, float(ideal.var(ddof=1))
    return _Parts(*variances, table.shape[1])


def _draw_parts(
    parts: _Parts, bias: MeanDifference, dfs: tuple[int, int, int], rng: np.random.Generator
) -> _Parts:
    """Draw each part as its own interval has it: variances by chi-square, the bias by t."""
    variances = (parts.between, parts.within, parts.ideal)
    between, within, ideal = (
        variance * df / rng.chisquare(df, N_DRAWS)
        for variance, df in zip(variances, dfs, strict=True)
    )
    chances, squared_bias = rng.random(N_DRAWS), np.full(N_DRAWS, bias.value**2)
    if bias.error > 0:
        # Where |t| exceeds the one observed with these chances: 0 with the p-value of no bias. From
        # the t interval it never would be drawn, and errors be overstated where there is no bias.
        observed = abs(bias.value) / bias.error
        shifts = np.linspace(0, observed - float(stdtrit(bias.df, 1e-4)), 500)
        inside = stdtr(bias.df, observed - shifts) - stdtr(bias.df, -observed - shifts)
        squared_bias = np.square(bias.error * np.interp(chances, 1 - inside, shifts))
    return _Parts(between, within, squared_bias, ideal, parts.n_scores)


def _enclose(
    measure: Callable[[_Parts, FloatArray], FloatArray],
    parts: _Parts,
    drawn: _Parts,
    confidence_level: float,
) -> EstimateCurve:
    """What is measured for 1 ... K scores, between the quantiles of what was drawn."""
    sizes, tail = np.arange(1.0, parts.n_scores + 1), (1 - confidence_level) / 2
    blocks = [sizes[i : i + _AT_ONCE] for i in range(0, sizes.size, _AT_ONCE)]
    ends = [_cut_off(measure(drawn, block), tail) for block in blocks]
    low, high = np.concatenate(ends, axis=1)
    return EstimateCurve(measure(parts, sizes)[:, 0], low, high)


def _cut_off(drawn: FloatArray, tail: float) -> FloatArray:
    """Draws that leave out a tail on either side; some may be infinite, so none are averaged."""
    n_draws = drawn.shape[-1]
    places = [int(tail * n_draws), n_draws - 1 - int(tail * n_draws)]
    return np.moveaxis(np.partition(drawn, places)[..., places], -1, 0)


def _estimate_variance(variance: float, df: int, confidence_level: float) -> Estimate:
    """Variance with its interval for normal scores."""
    tail = (1 - confidence_level) / 2
    low, high = (variance * df / float(chdtri(df, p)) for p in (tail, 1 - tail))
    return Estimate(variance, Interval(low, high, confidence_level, "chi-square"))


def _subtract_means(
    means: FloatArray,
    ideal: FloatArray,
    partners: Sequence[int] | None,
    confidence_level: float,
) -> MeanDifference:
    """Mean of repetitions minus that of independent scores, some of which go together.

    Σ ȳ_r/R - Σ x_i/n is a sum over those that go together, as ȳ_r/R - x_i/n, and over the others
    of either kind: three sums of independent terms, each with a variance of its own.
    """
    linked = [(r, i) for r, i in enumerate(partners or ()) if i >= 0]
    rows, places = (list(each) for each in zip(*linked, strict=True)) if linked else ([], [])
    if len(rows) < 2:  # which tell no variance
        rows, places = [], []
    y, x = means / means.size, ideal / ideal.size
    terms = [
        (len(rows), y[rows] - x[places]),
        (means.size - len(rows), y),
        (ideal.size - len(rows), x),
    ]
    parts = [
        (count * float(values.var(ddof=1)), values.size - 1) for count, values in terms if count
    ]
    error = math.sqrt(math.fsum(part for part, _ in parts))
    spread = math.fsum((part / error**2) ** 2 / df for part, df in parts) if error else 1.0
    value = float(means.mean() - ideal.mean())
    return student_interval(value, error, 1 / spread, confidence_level)


def _find_reach(
    parts: _Parts, drawn: _Parts, wanted: tuple[int, int], confidence_level: float
) -> Reach:
    overhead, n_ideal = wanted
    allowed = parts.ideal / n_ideal - parts.squared_bias
    within = float(parts.within)
    alone = float(scores_of_one_repetition(parts.shared, within, allowed))
    best = cheapest_repetitions(parts.shared, within, allowed, overhead=overhead)
    allowed_drawn = drawn.ideal / n_ideal - drawn.squared_bias
    costs = cheapest_repetitions(drawn.shared, drawn.within, allowed_drawn, overhead=overhead).cost
    whole, tail = float(n_ideal * (overhead + 1)), (1 - confidence_level) / 2
    ends = _cut_off(costs, tail) / whole
    interval = Interval(float(ends[0]), float(ends[1]), confidence_level, _METHOD)
    ratio = Estimate(float(best.cost) / whole, interval)
    repetitions, scores, cost = map(float, best)
    return Reach(n_ideal, whole, alone, overhead + alone, repetitions, scores, cost, ratio)


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
    >>> deviations = assess_deviations([[[1, 2, 3], [1, 3, 5]]], [1.0, 2.0, 3.0, 4.0, 5.0], rng=rng)
    >>> deviations.values.tolist(), deviations.mean.value
    ([1.0, 2.0], 1.5)
    """
    check_open_unit("confidence_level", confidence_level)
    alone, tables = as_ideal(ideal), [as_samples(each, "scores", at_least=2) for each in scores]
    values = np.mean([mean_and_deviation(table)[1] for table in tables], axis=0)
    n, level = values.size, confidence_level
    if n == 1:  # its scores tell how sure its deviation is
        single = [deviation(table[0], confidence_level=level) for table in tables]
        ratios = [deviation_ratio(table[0], alone, confidence_level=level) for table in tables]
        return DeviationEstimates(values, _average(single), np.nan, _average(ratios))
    mean, spread = map(float, mean_and_deviation(values))
    estimate = student_interval(mean, spread / n**0.5, n - 1, level)
    own, df = float(mean_and_deviation(alone)[1]), alone.size - 1
    drawn = mean + estimate.error * rng.standard_t(n - 1, N_DRAWS)
    drawn_ratios = drawn / (own * np.sqrt(df / rng.chisquare(df, N_DRAWS)))
    low, high = np.quantile(drawn_ratios, [(1 - level) / 2, (1 + level) / 2])
    interval = Interval(max(0.0, float(low)), float(high), level, "generalized")
    return DeviationEstimates(values, estimate, spread, Estimate(mean / own, interval))


def _average(estimates: Sequence[Estimate]) -> Estimate:
    """Mean of estimates, with the mean of their bounds: they may depend on each other."""
    numbers = [(each.value, each.interval.low, each.interval.high) for each in estimates]
    value, low, high = np.mean(numbers, axis=0).tolist()
    return Estimate(value, replace(estimates[0].interval, low=low, high=high))
