"""How sure Boo_n is, which of two is better and from which n on, by resamples of the runs.

Resamples are evaluated for every n at once. Intervals of Boo_n may also come from the jackknife.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from outperform.errors import InvalidInput, UnpairedScores
from outperform.plain_values import Plain
from outperform.stats.best_of_n import BestOfEstimator, Goal, SortedRuns, as_budgets
from outperform.stats.checks import (
    FloatArray,
    IntArray,
    check_choice,
    check_count,
    check_open_unit,
    merge_pairs,
    merge_ties,
)
from outperform.stats.effect_sizes import Estimate
from outperform.stats.intervals import Interval

BestOfInterval = Literal["jackknife", "percentile"]
Scores = tuple[ArrayLike, ArrayLike | None]  # validation and test, of the same runs


@dataclass(frozen=True, slots=True)
class BestOfEstimates:
    """Boo_n for several n, with what the uncertainty of each is read from."""

    n: IntArray  # shape (k,), as of all but one
    value: FloatArray
    # Of resamples of the runs, shape (n_resamples, k): a row is the same resample at every n.
    resampled: FloatArray = field(repr=False, compare=False)
    error: FloatArray = field(repr=False)  # Jackknife's standard error
    df: FloatArray = field(repr=False)  # and its degrees of freedom

    def bounds(
        self, *, confidence_level: float = 0.95, method: BestOfInterval = "jackknife"
    ) -> tuple[FloatArray, FloatArray]:
        """Ends of the interval at every n."""
        check_open_unit("confidence_level", confidence_level)
        check_choice("interval", method, get_args(BestOfInterval))
        tail = (1 - confidence_level) / 2
        if method == "percentile":
            check_count("n_resamples", len(self.resampled), at_least=1)
            by_n = np.ascontiguousarray(self.resampled.T)  # quantiles of neighbours are faster
            low, high = np.quantile(by_n, [tail, 1 - tail], axis=1)
            return low, high
        reach = stdtrit(self.df, 1 - tail) * self.error
        return self.value - reach, self.value + reach

    def at(
        self, n: int, *, confidence_level: float = 0.95, method: BestOfInterval = "jackknife"
    ) -> Estimate:
        """Value and interval at one of the n."""
        place = np.flatnonzero(self.n == n)[:1]
        numbers = self.value, self.resampled, self.error, self.df
        alone = BestOfEstimates(self.n[place], *(each[..., place] for each in numbers))
        (low,), (high,) = alone.bounds(confidence_level=confidence_level, method=method)
        interval = Interval(float(low), float(high), confidence_level, method)
        return Estimate(float(alone.value[0]), interval)

    def minus(self, other: BestOfEstimates) -> BestOfEstimates:
        """Difference of two independent samples, at the same n and with as many resamples."""
        if not np.array_equal(self.n, other.n) or len(self.resampled) != len(other.resampled):
            raise UnpairedScores(
                "the two were not estimated for the same n with as many resamples",
                "Estimate both with the same n and n_resamples",
            )
        squares = self.error**2, other.error**2
        with np.errstate(invalid="ignore"):  # neither varies
            df = (squares[0] + squares[1]) ** 2 / (
                squares[0] ** 2 / self.df + squares[1] ** 2 / other.df
            )
        return BestOfEstimates(
            self.n,
            np.subtract(*merge_pairs(self.value, other.value)),
            np.subtract(*merge_pairs(self.resampled, other.resampled)),
            np.sqrt(squares[0] + squares[1]),
            np.where(np.isfinite(df), df, self.df + other.df),
        )


def estimate_best_of(
    n: ArrayLike,
    validation: ArrayLike,
    test: ArrayLike | None = None,
    *,
    estimator: BestOfEstimator = "v",
    goal: Goal = "maximize",
    n_resamples: int = 10_000,
    rng: np.random.Generator,
) -> BestOfEstimates:
    """Boo_n for every n, with what its intervals are made of.

    Parameters
    ----------
    n, validation, test, estimator, goal
        As in `expected_best_of`.
    n_resamples
        0 where only the jackknife is wanted, which draws nothing.

    Examples
    --------
    >>> scores = [0.71, 0.74, 0.69, 0.75, 0.70, 0.73, 0.72, 0.78]
    >>> estimates = estimate_best_of([1, 3], scores, rng=np.random.default_rng(0))
    >>> print(estimates.at(3))
    0.751 [0.717, 0.786]
    >>> print(estimates.at(3, method="percentile"))
    0.751 [0.724, 0.77]
    """
    check_count("n_resamples", n_resamples, at_least=0)
    runs = SortedRuns.make(validation, test, goal)
    sizes = as_budgets(n, runs.size, estimator)
    resampled = [np.empty((0, sizes.size))]
    if n_resamples:
        evaluate = runs.make_evaluator(sizes, runs.size, estimator)
        resampled += map(evaluate, runs.resample(n_resamples, runs.size, rng=rng))
    left = runs.leave_one_out(sizes, estimator)
    error = np.sqrt(runs.size - 1) * np.array([each.std() for each in left])
    df = np.full(sizes.size, runs.size - 1.0)
    value = runs.expect_best(sizes, estimator)
    return BestOfEstimates(sizes, value, np.concatenate(resampled), error, df)


def best_of_probability(
    n: int,
    a: Scores,
    b: Scores,
    *,
    estimator: BestOfEstimator = "v",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    rng: np.random.Generator,
) -> Estimate:
    """Chance that the best of n fresh runs of `a` has a higher test score than that of `b`.

    Parameters
    ----------
    a, b : validation and test scores, each of shape (n_runs,); higher is better
        Of independent samples. Test scores may be None: those that choose are reported.
    estimator
        ``"v"`` or ``"u"``, as in `expected_best_of`.

    Returns
    -------
    The chance, exact for these runs, a tie counting half, and its percentile bootstrap interval.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = ([0.1, 0.2], [0.5, 0.9]), ([0.3, 0.4], [0.7, 0.6])
    >>> best_of_probability(2, a, b, n_resamples=100, rng=rng).value
    0.75
    """
    check_choice("estimator", estimator, ("v", "u"))
    check_open_unit("confidence_level", confidence_level)
    check_count("n_resamples", n_resamples, at_least=1)
    sides = [SortedRuns.make(*scores, "maximize") for scores in (a, b)]
    reported = merge_ties(*(side.reported for side in sides))
    sides = [replace(side, reported=x) for side, x in zip(sides, reported, strict=True)]
    for side in sides:
        as_budgets(n, side.size, estimator)
    every = [np.arange(side.size)[None, :] for side in sides]
    (value,) = _compare(sides, every, n, estimator)
    widest = max(side.size for side in sides)
    drawn = [side.resample(n_resamples, side.size, widest=widest, rng=rng) for side in sides]
    chances = [_compare(sides, rows, n, estimator) for rows in zip(*drawn, strict=True)]
    tail = (1 - confidence_level) / 2
    low, high = np.quantile(np.concatenate(chances), [tail, 1 - tail])
    return Estimate(float(value), Interval(float(low), float(high), confidence_level, "percentile"))


def _compare(
    sides: Sequence[SortedRuns], rows: Sequence[IntArray], n: int, estimator: BestOfEstimator
) -> FloatArray:
    """P(A>B) of pairs of samples, which are rows of sorted positions."""
    weights_a, weights_b = (
        side.weigh(places, n, estimator) for side, places in zip(sides, rows, strict=True)
    )
    order = np.argsort(sides[1].reported)
    ordered = sides[1].reported[order]
    up_to = np.zeros((len(weights_b), order.size + 1))
    np.cumsum(weights_b[:, order], axis=1, out=up_to[:, 1:])
    below = np.searchsorted(ordered, sides[0].reported, side="left")
    not_above = np.searchsorted(ordered, sides[0].reported, side="right")
    beaten = (up_to[:, below] + up_to[:, not_above]) / 2
    # Sums of weights may exceed 1 by rounding.
    return np.asarray(np.clip(np.einsum("ij,ij->i", weights_a, beaten), 0.0, 1.0))


@dataclass(frozen=True, slots=True)
class Crossing(Plain):
    """The n from which on one curve stays above the other, and how sure that is."""

    JSON = "n share low high"

    n: int
    sign: int  # 1: the difference is positive from there on, -1: negative
    share: float  # of resamples in which the same curve ends above, having been below before
    low: float  # of n, over these resamples
    high: float


def find_crossing(
    difference: BestOfEstimates, *, confidence_level: float = 0.95
) -> Crossing | None:
    """Find the n from which on the difference keeps its last sign; None if it always has it.

    Parameters
    ----------
    difference
        Estimated for increasing n.
    """
    signs = np.sign(difference.value)
    (place,) = _last_change(signs[None, :])
    if place == 0 or signs[-1] == 0:
        return None
    resampled = np.sign(difference.resampled)
    alike = resampled[resampled[:, -1] == signs[-1]]
    places = _last_change(alike)
    crossed = difference.n[places[places > 0]]
    tail = (1 - confidence_level) / 2
    low, high = np.quantile(crossed, [tail, 1 - tail]) if crossed.size else (np.nan, np.nan)
    return Crossing(
        n=int(difference.n[place]),
        sign=int(signs[-1]),
        share=crossed.size / len(resampled),
        low=float(low),
        high=float(high),
    )


def _last_change(signs: FloatArray) -> IntArray:
    """First place from which on each row keeps its last sign."""
    other = signs != signs[:, -1:]
    from_end = np.argmax(other[:, ::-1], axis=1)
    return np.where(other.any(axis=1), signs.shape[1] - from_end, 0)


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and middle range, over repetitions of a whole experiment, by its number of runs."""

    mean: FloatArray = field(repr=False, compare=False)
    low: FloatArray = field(repr=False, compare=False)
    high: FloatArray = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class BestOfSpreads:
    """How three ways to report an experiment vary when it is repeated, by its number of runs."""

    n_runs: IntArray
    best_single: Spread  # test score of the run with the best validation score
    best_of: Spread  # Boo_n
    average: Spread  # mean test score


def best_of_spreads(
    n_runs: ArrayLike,
    n: int,
    validation: ArrayLike,
    test: ArrayLike | None = None,
    *,
    goal: Goal = "maximize",
    confidence_level: float = 0.95,
    n_resamples: int = 2_000,
    rng: np.random.Generator,
) -> BestOfSpreads:
    """Repeat experiments of several sizes by drawing their runs from those at hand.

    Parameters
    ----------
    n_runs
        Numbers of runs of the experiments.
    n, validation, test, goal
        As in `expected_best_of`, with the estimator ``"v"``.
    confidence_level
        Share of the repetitions in the range.

    References
    ----------
    Bajgar, Kadlec and Kleindienst (2018), figure 2. The best single run's distribution is exact
    here, and so not smoothed.

    Examples
    --------
    >>> scores = np.arange(10.0)
    >>> spreads = best_of_spreads([1, 10], 5, scores, rng=np.random.default_rng(0))
    >>> spreads.best_single.mean.round(2)  # the more runs, the better the best of them
    array([4.5 , 8.51])
    """
    check_open_unit("confidence_level", confidence_level)
    check_count("n_resamples", n_resamples, at_least=1)
    runs = SortedRuns.make(validation, test, goal)
    sizes, asked = as_budgets(n_runs, runs.size, "v"), as_budgets(n, runs.size, "v")
    if asked.size > 1:
        raise InvalidInput(f"n is {n}", "Pass one number of candidates")
    quantiles = [(1 - confidence_level) / 2, (1 + confidence_level) / 2]
    order = np.argsort(runs.reported)
    spreads = []  # mean and quantiles of each way, by number of runs
    for size in sizes.tolist():
        # Those of the best single run follow from the chance of each to be it.
        (weights,) = runs.weigh(np.arange(runs.size)[None, :], size, "v")
        places = np.searchsorted(np.cumsum(weights[order]), quantiles)
        low, high = runs.reported[order][np.minimum(places, runs.size - 1)]
        ways = [(weights @ runs.reported, low, high)]
        evaluate = runs.make_evaluator(np.append(asked, 1), size, "v")
        drawn = map(evaluate, runs.resample(n_resamples, size, rng=rng))
        for values in np.concatenate([*drawn]).T:
            ways.append((values.mean(), *np.quantile(values, quantiles)))
        spreads.append(ways)
    single, best, average = (Spread(*way) for way in np.transpose(spreads, (1, 2, 0)))
    return BestOfSpreads(sizes, single, best, average)
