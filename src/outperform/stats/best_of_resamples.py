"""How sure Boo_n is: the jackknife, and resamples of the runs, evaluated for every n at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from outperform.errors import UnpairedScores
from outperform.stats.best_of_n import BestOfEstimator, Goal, SortedRuns, as_budgets
from outperform.stats.checks import (
    FloatArray,
    IntArray,
    check_choice,
    check_count,
    check_open_unit,
    merge_pairs,
)
from outperform.stats.effect_sizes import Estimate
from outperform.stats.intervals import Interval

BestOfInterval = Literal["jackknife", "percentile"]


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
