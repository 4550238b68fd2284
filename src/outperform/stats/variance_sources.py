"""Where variance comes from: the factors of a crossed design, or what repetitions share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, fdtri

from outperform.errors import InvalidInput, InvalidScores, TooFewRuns
from outperform.plain_values import Plain
from outperform.stats.checks import FloatArray, as_samples, check_open_unit
from outperform.stats.effect_sizes import Estimate
from outperform.stats.intervals import Interval
from outperform.wording import count

Axes = tuple[int, ...]
_N_LEVELS = 1000  # of an interval, over which its mean is taken


@dataclass(frozen=True, slots=True)
class VarianceComponent(Plain):
    """Variance that some factors cause together, beyond what fewer of them cause."""

    names: tuple[str, ...]  # one: a main effect; several: their interaction
    df: int
    mean_square: float
    variance: Estimate  # without bias, so its value may be negative; its interval is not
    share: float  # of the sum of all, negative ones taken as 0


@dataclass(frozen=True, slots=True)
class VarianceComponents(Plain):
    """Variance of one score, as a sum over main effects and interactions."""

    JSON = "names levels total components"

    names: tuple[str, ...]
    levels: tuple[int, ...]
    components: tuple[VarianceComponent, ...]  # main effects first
    total: Estimate  # variance when every factor is redrawn: the sum of all estimates


def variance_components(
    scores: ArrayLike, names: Sequence[str], *, confidence_level: float = 0.95
) -> VarianceComponents:
    """Components of variance of a balanced crossed design with random levels, by moments.

    Parameters
    ----------
    scores : shape (n_levels_1, ..., n_levels_k), each ≥ 2
        One score per combination of levels.
    names
        Of the k factors, in the order of the axes.

    Returns
    -------
    Main effects and all interactions. The highest one includes the noise, which one score per
    combination cannot tell from it. Shares add up to 1, or are all 0 where scores are equal.
    Intervals are modified large-sample ones, for effects that are normal: exact for the highest
    interaction, and for a main effect of two factors above 0 if and only if the F test finds it.

    References
    ----------
    Ting, Burdick, Graybill, Jeyaratnam and Lu (1990), Confidence intervals on linear combinations
    of variance components that are unrestricted in sign.

    Examples
    --------
    >>> result = variance_components([[1, 2], [5, 6]], ["split", "init"])
    >>> [(component.names, component.variance.value) for component in result.components]
    [(('split',), 8.0), (('init',), 0.5), (('split', 'init'), 0.0)]
    """
    check_open_unit("confidence_level", confidence_level)
    array = _as_crossed(scores, names)
    parts = list(_mean_squares(array - array.flat[0]))  # without rounding where all are equal
    squares, dfs = {axes: ms for axes, _, ms in parts}, {axes: df for axes, df, _ in parts}
    tail = (1 - confidence_level) / 2
    weights = {axes: _weigh(axes, squares, array.shape) for axes in squares}
    variances = {axes: _combine(weights[axes], squares, dfs, tail=tail) for axes in squares}
    sums = {axes: math.fsum(each.get(axes, 0.0) for each in weights.values()) for axes in squares}
    positive = math.fsum(max(variance.value, 0.0) for variance in variances.values())
    components = tuple(
        VarianceComponent(
            names=tuple(names[axis] for axis in axes),
            df=dfs[axes],
            mean_square=squares[axes],
            variance=variance,
            share=max(variance.value, 0.0) / positive if positive > 0 else 0.0,
        )
        for axes, variance in variances.items()
    )
    total = _combine(sums, squares, dfs, tail=tail)
    return VarianceComponents(tuple(names), array.shape, components, total)


def _as_crossed(scores: ArrayLike, names: Sequence[str]) -> FloatArray:
    array = as_samples(scores, "scores")
    if array.ndim != len(names) or len(set(names)) != len(names):
        raise InvalidScores(
            f"scores has {array.ndim} axes of lengths {array.shape}, and the names are "
            f"{', '.join(map(repr, names))}",
            "Pass one axis per factor and a name of its own for each",
        )
    for name, n_levels in zip(names, array.shape, strict=True):
        if n_levels < 2:
            raise TooFewRuns(f"{name!r} has {count(n_levels, 'level')}", "At least 2 are needed")
    return array


def _mean_squares(scores: FloatArray) -> Iterator[tuple[Axes, int, float]]:
    """Degrees of freedom and mean square of every non-empty set of axes, smaller sets first."""
    every = range(scores.ndim)
    for axes in chain.from_iterable(combinations(every, n) for n in range(1, scores.ndim + 1)):
        effect = scores
        for axis in every:
            mean = effect.mean(axis=axis, keepdims=True)
            effect = effect - mean if axis in axes else mean
        n_each = scores.size // effect.size
        df = math.prod(scores.shape[axis] - 1 for axis in axes)
        yield axes, df, float(n_each * np.square(effect).sum() / df)


def _weigh(axes: Axes, squares: Mapping[Axes, float], shape: tuple[int, ...]) -> dict[Axes, float]:
    """Weights of mean squares in a component.

    They solve E[MS_S] = Σ_{T⊇S} n_T σ²_T, n_T = Π_{j∉T} L_j, by inclusion and exclusion.
    """
    n_each = math.prod(n for axis, n in enumerate(shape) if axis not in axes)
    return {
        larger: (-1) ** (len(larger) - len(axes)) / n_each
        for larger in squares
        if set(axes) <= set(larger)
    }


def _combine(
    weights: Mapping[Axes, float],
    squares: Mapping[Axes, float],
    dfs: Mapping[Axes, int],
    *,
    tail: float,
) -> Estimate:
    """Weighted sum of mean squares, with its interval: the parameter is a variance, at least 0."""
    terms = [(weight, squares[axes], dfs[axes]) for axes, weight in weights.items()]
    largest = max(abs(weight) * square for weight, square, _ in terms)
    value = math.fsum(weight * square for weight, square, _ in terms)
    value = value if abs(value) > 1e-12 * largest else 0.0  # equal but for rounding
    below = _reach_below(terms, largest, tail)
    above = _reach_below([(-weight, square, df) for weight, square, df in terms], largest, tail)
    low, high = max(0.0, value - below), max(0.0, value + above)
    return Estimate(value, Interval(low, high, 1 - 2 * tail, "mls"))


def _reach_below(terms: Sequence[tuple[float, float, int]], unit: float, tail: float) -> float:
    """How far the lower bound of a sum of mean squares lies below it (Ting et al., √V_L).

    What a sum may exceed is what its negative may fall below: the upper bound needs no formula of
    its own.
    """
    if unit == 0:
        return 0.0
    # By the sign of the weight: a mean square of 0 counts among the added ones, too.
    added = [(weight * square / unit, df) for weight, square, df in terms if weight > 0]
    subtracted = [(-weight * square / unit, df) for weight, square, df in terms if weight < 0]
    parts = [(_shortfall(df, tail) * term) ** 2 for term, df in added]
    for (x, n), (y, m) in combinations(added, 2):
        parts.append(_support(n, m, tail) * x * y / (len(added) - 1))
    alone = math.sqrt(max(0.0, math.fsum(parts))) - math.fsum(term for term, _ in subtracted)
    parts += [(_excess(df, tail) * term) ** 2 for term, df in subtracted]
    for x, n in added:
        parts += [_oppose(n, m, tail) * x * y for y, m in subtracted]
    # What is taken is a variance, too: the bound is never above that of what is added alone.
    return unit * max(math.sqrt(max(0.0, math.fsum(parts))), alone)


def _shortfall(df: int, tail: float) -> float:
    """G = 1 - 1/F(df, ∞): by which share a mean square alone is lowered to its exact bound."""
    return 1 - df / float(chdtri(df, tail))


def _excess(df: int, tail: float) -> float:
    """H = 1/F(df, ∞) - 1: by which share it is raised to its exact upper bound."""
    return df / float(chdtri(df, 1 - tail)) - 1


def _oppose(n: int, m: int, tail: float) -> float:
    """Make the bound 0 where the ratio of an added and a taken mean square is at F's quantile."""
    ratio = float(fdtri(n, m, 1 - tail))
    lowered, raised = _shortfall(n, tail) * ratio, _excess(m, tail)
    return ((ratio - 1) ** 2 - lowered**2 - raised**2) / ratio


def _support(n: int, m: int, tail: float) -> float:
    """Make the bound exact where two added mean squares have one expectation and are pooled."""
    pooled = _shortfall(n + m, tail) * (n + m)
    own = (_shortfall(n, tail) * n) ** 2 + (_shortfall(m, tail) * m) ** 2
    return (pooled**2 - own) / (n * m)


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
        k, levels = self.n_scores, (np.arange(_N_LEVELS) + 0.5) / _N_LEVELS
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
    ratios = ratio, *(ratio / float(fdtri(*sizes, p)) for p in (1 - tail, tail))
    value, low, high = ((each - 1) / (each + k - 1) for each in ratios)
    correlation = Estimate(value, Interval(low, high, confidence_level, "f"))
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
