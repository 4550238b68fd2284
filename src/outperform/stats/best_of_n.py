"""Boo_n: what to expect of the best of n, chosen by one score and reported on another.

From m values sorted by the score that chooses, the one at rank j is the best of n with a chance
that depends on j, m and n alone. Values tied on that score are equally likely to be chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from outperform.errors import InvalidInput, InvalidScores
from outperform.stats.alignment import align_series
from outperform.stats.checks import (
    FloatArray,
    IntArray,
    as_scores,
    check_choice,
    check_count,
    merge_ties,
)
from outperform.stats.numerics import divide_rows

BestOfEstimator = Literal["v", "u", "gaussian"]
Goal = Literal["maximize", "minimize"]

# Where the largest of up to 10^15 standard normals lies; a step this small is exact to the last
# digits, because the trapezoidal rule converges exponentially for densities.
_STEP = 0.005
_GRID = np.arange(1, 2801) * _STEP  # and its mirror image below 0
_BLOCK = 1_000_000  # scores held at once: 8 MB for each of a few arrays


@overload
def expected_best_of(
    n: int,
    validation: ArrayLike,
    test: ArrayLike | None = ...,
    *,
    estimator: BestOfEstimator = ...,
    goal: Goal = ...,
) -> float: ...


@overload
def expected_best_of(
    n: ArrayLike,
    validation: ArrayLike,
    test: ArrayLike | None = ...,
    *,
    estimator: BestOfEstimator = ...,
    goal: Goal = ...,
) -> FloatArray: ...


def expected_best_of(
    n: ArrayLike,
    validation: ArrayLike,
    test: ArrayLike | None = None,
    *,
    estimator: BestOfEstimator = "v",
    goal: Goal = "maximize",
) -> float | FloatArray:
    """Expected test score of the run with the best validation score among n fresh ones (Boo_n).

    Parameters
    ----------
    n
        Number of candidates, the budget; an array gives one value for each.
    validation, test : shape (n_runs,)
        Scores that choose, and scores that are reported: those that chose where there are none.
    estimator
        ``"v"``: n draws from the runs with replacement, for any n; biased towards the mean for n
        near n_runs. ``"u"``: n draws without replacement, unbiased, for n ≤ n_runs.
        ``"gaussian"``: both scores are taken as normal.
    goal
        Whether higher or lower *validation* is better; `test` stays in its own sign.

    References
    ----------
    Bajgar, Kadlec and Kleindienst (2018), A Boo(n) for Evaluating Architecture Performance,
    equations 6 and 7.

    Examples
    --------
    >>> expected_best_of(2, validation=[0.1, 0.2], test=[0.5, 0.9])
    0.8
    >>> expected_best_of([1, 2], [3.0, 5.0], estimator="u")
    array([4., 5.])
    """
    runs = SortedRuns.make(validation, test, goal)
    best = runs.expect_best(as_budgets(n, runs.size, estimator), estimator)
    return float(best[0]) if np.ndim(n) == 0 else best.reshape(np.shape(n))


def best_of_weights(
    n: int, validation: ArrayLike, *, estimator: BestOfEstimator = "v", goal: Goal = "maximize"
) -> FloatArray:
    """Chance of each run to be the one chosen as the best of n.

    Parameters
    ----------
    n, validation, estimator, goal
        As in `expected_best_of`; not ``"gaussian"``, which chooses among all normal scores.

    Returns
    -------
    Weights in the order of the runs, which add up to 1; runs tied on validation share theirs.

    Examples
    --------
    >>> best_of_weights(2, [0.2, 0.1, 0.2, 0.0])
    array([0.375 , 0.1875, 0.375 , 0.0625])
    """
    check_choice("estimator", estimator, ("v", "u"))
    (chosen_by,) = merge_ties(as_scores(validation, "validation", at_least=1))
    (size,) = as_budgets(n, chosen_by.size, estimator)
    order, group = sort_groups(turn(chosen_by, goal))
    weights = np.empty(order.size)
    weights[order] = _share_ties(rank_weights(int(size), order.size, estimator), group)
    return weights


@overload
def gaussian_best_of(n: int) -> float: ...


@overload
def gaussian_best_of(n: ArrayLike) -> FloatArray: ...


def gaussian_best_of(n: ArrayLike) -> float | FloatArray:
    """Expected largest of n independent standard normals: Boo_n(N(0, 1)).

    Parameters
    ----------
    n
        From 1 to 10^15; an array gives one value for each.

    Examples
    --------
    >>> gaussian_best_of([1, 5, 10]).round(3)
    array([0.   , 1.163, 1.539])
    """
    sizes = as_budgets(n, 1, "gaussian").astype(float)
    log_density = -(_GRID**2) / 2 - np.log(2 * np.pi) / 2
    log_below = log_ndtr([_GRID, -_GRID])
    pairs = (np.exp((size - 1) * log_below + log_density) for size in sizes)
    # A score and its opposite at a time: for n = 1 they cancel to the last bit.
    best = _STEP * sizes * [_GRID @ (above - below) for above, below in pairs]
    return float(best[0]) if np.ndim(n) == 0 else best.reshape(np.shape(n))


@dataclass(frozen=True, slots=True)
class SortedRuns:
    """Runs from worst to best on validation.

    A resample of them is drawn as sorted positions, worst first. The value at rank j then weighs
    the same in every resample, so all resamples and all n are one product of matrices. Positions
    drawn twice are tied, but have the same scores: it does not matter which is chosen.
    """

    better: FloatArray
    reported: FloatArray
    group: IntArray  # the same for runs that are tied
    size: int  # number of runs

    @classmethod
    def make(cls, validation: ArrayLike, test: ArrayLike | None, goal: Goal) -> SortedRuns:
        """Sort runs; `goal` says whether higher or lower validation is better."""
        if test is not None:
            validation, test = align_series(validation, test, "in validation or in test")
        (chosen_by,) = merge_ties(as_scores(validation, "validation", at_least=2))
        reported = chosen_by if test is None else as_scores(test, "test", at_least=2)
        if chosen_by.size != reported.size:
            raise InvalidScores(
                f"there are {chosen_by.size} validation scores and {reported.size} test scores",
                "Pass one of each per run, in the same order",
            )
        better = turn(chosen_by, goal)
        order, group = sort_groups(better)
        return cls(better[order], reported[order], group, order.size)

    def resample(
        self, n_resamples: int, n_drawn: int, *, widest: int = 0, rng: np.random.Generator
    ) -> Iterator[IntArray]:
        """Draw rows of `n_drawn` sorted positions, with replacement, as many at a time as fit.

        `widest` is the length of other rows that are held beside them.
        """
        for n_rows in divide_rows(n_resamples, max(n_drawn, widest) + 1, limit=_BLOCK):
            # Sums of exponentials, divided by the last, are sorted uniforms: no sorting is needed.
            sums = np.cumsum(rng.standard_exponential((n_rows, n_drawn + 1)), axis=1)
            places = (sums[:, :-1] * (self.size / sums[:, -1:])).astype(np.int64)
            yield np.minimum(places, self.size - 1)  # where the quotient was rounded up

    def weigh(self, rows: IntArray, n: int, estimator: BestOfEstimator) -> FloatArray:
        """Chance of each run to be the best of n, for every row of sorted positions."""
        n_rows, n_groups = len(rows), int(self.group[-1]) + 1
        row = np.arange(n_rows)[:, None]
        key = (self.group[rows] + n_groups * row).ravel()
        by_rank = np.broadcast_to(rank_weights(n, rows.shape[1], estimator), rows.shape).ravel()
        weight = np.bincount(key, by_rank, minlength=n_rows * n_groups)
        n_tied = np.bincount(key, minlength=n_rows * n_groups)
        share = (weight / np.maximum(n_tied, 1)).reshape(n_rows, n_groups)
        drawn = np.bincount((rows + self.size * row).ravel(), minlength=n_rows * self.size)
        return np.asarray(drawn.reshape(n_rows, self.size) * share[:, self.group])

    def expect_best(self, sizes: IntArray, estimator: BestOfEstimator) -> FloatArray:
        """Boo_n of these runs, for each n."""
        if estimator != "gaussian":
            ranked = _share_ties(self.reported, self.group)
            return np.array([rank_weights(n, self.size, estimator) @ ranked for n in sizes])
        best = np.full(sizes.size, self.reported.mean())
        if self.better[0] < self.better[-1]:  # else all are tied, and any may be chosen
            centred = self.better - self.better.mean()
            covariance = float(centred @ (self.reported - self.reported.mean())) / (self.size - 1)
            best += covariance / float(np.std(self.better, ddof=1)) * gaussian_best_of(sizes)
        return best

    def make_evaluator(
        self, sizes: IntArray, n_drawn: int, estimator: BestOfEstimator
    ) -> Callable[[IntArray], FloatArray]:
        """Make a function from rows of `n_drawn` sorted positions to Boo_n, a column per n."""
        if estimator == "gaussian":
            return partial(self._evaluate_gaussian, gaussian_best_of(sizes))
        weights = np.transpose([rank_weights(int(size), n_drawn, estimator) for size in sizes])
        return partial(self._evaluate_weighted, weights)

    def _evaluate_weighted(self, weights: FloatArray, rows: IntArray) -> FloatArray:
        scores = self.reported[rows]
        n_groups = int(self.group[-1]) + 1
        if n_groups < self.size:  # runs that are tied within a row have the mean of their scores
            key = (self.group[rows] + n_groups * np.arange(len(rows))[:, None]).ravel()
            sums, counts = np.bincount(key, weights=scores.ravel()), np.bincount(key)
            scores = (sums / np.maximum(counts, 1))[key].reshape(scores.shape)
        return np.asarray(scores @ weights)

    def _evaluate_gaussian(self, constants: FloatArray, rows: IntArray) -> FloatArray:
        better, scores = self.better[rows], self.reported[rows]
        mean = scores.mean(axis=1, keepdims=True)
        centred = better - better.mean(axis=1, keepdims=True)
        squares = np.einsum("ij,ij->i", centred, centred)
        products = np.einsum("ij,ij->i", centred, scores - mean)
        # Rows are sorted; those of which all runs are tied gain nothing.
        squares[better[:, 0] == better[:, -1]] = np.inf
        gain = products / np.sqrt(squares * max(better.shape[1] - 1, 1))
        return np.asarray(mean + np.outer(gain, constants))

    def leave_one_out(self, sizes: IntArray, estimator: BestOfEstimator) -> Iterator[FloatArray]:
        """Boo_n without each run in turn, for each n.

        Drawn with replacement, even by ``"u"``: without it, n of n - 1 runs could not be drawn, and
        the errors are nearly the same.
        """
        if estimator == "gaussian":
            yield from self._leave_one_out_gaussian(sizes)
            return
        group, others = self.group, self.size - 1
        size = np.bincount(group)
        end, total = np.cumsum(size), np.bincount(group, weights=self.reported)
        start = end - size
        for n in sizes.tolist():
            below = np.append(0.0, np.cumsum(rank_weights(n, others, "v")))
            # Groups of tied runs keep their ranks below the run left out, and lose one above it.
            kept = total / size * (below[np.minimum(end, others)] - below[start])
            moved = total / size * (below[end - 1] - below[np.maximum(start - 1, 0)])
            own = (below[end - 1] - below[start]) / np.maximum(size - 1, 1)
            beside = np.append(0.0, np.cumsum(kept)[:-1]) + np.append(
                np.cumsum(moved[::-1])[-2::-1], 0.0
            )
            yield beside[group] + (total[group] - self.reported) * own[group]

    def _leave_one_out_gaussian(self, sizes: IntArray) -> Iterator[FloatArray]:
        """Boo_n of normal scores without each run in turn, from sums less its part, for each n."""
        m = self.size
        x, y = self.better - self.better.mean(), self.reported - self.reported.mean()
        squares = x @ x - m / (m - 1) * x**2
        products = x @ y - m / (m - 1) * x * y
        # Where all others are tied, they gain nothing, whatever rounding says.
        lowest = np.append(self.better[1], np.full(m - 1, self.better[0]))
        highest = np.append(np.full(m - 1, self.better[-1]), self.better[-2])
        varies = (lowest < highest) & (squares > 0)
        gain = products / np.sqrt(np.where(varies, squares, np.inf) * max(m - 2, 1))
        for constant in gaussian_best_of(sizes):
            yield self.reported.mean() - y / (m - 1) + gain * constant


def as_budgets(n: ArrayLike, n_runs: int, estimator: BestOfEstimator) -> IntArray:
    """Whole numbers from 1, as a flat array; not more than the runs where these are used up."""
    check_choice("estimator", estimator, get_args(BestOfEstimator))
    sizes = np.asarray(n).ravel()
    if sizes.size == 0:
        raise InvalidInput("there is no n", "Pass at least one number of candidates")
    # Of whole numbers, the smallest tells; of anything else, each.
    for size in [sizes.min()] if sizes.dtype.kind in "iu" else sizes.tolist():
        check_count("n", size, at_least=1)
    if estimator == "u" and sizes.max() > n_runs:
        raise InvalidInput(
            f"n is {sizes.max()}, but there are {n_runs} runs: estimator 'u' draws n of them "
            "without replacement",
            f"Pass an n up to {n_runs}, add runs, or use estimator 'v'",
        )
    return sizes.astype(np.int64)


def sort_groups(better: FloatArray) -> tuple[IntArray, IntArray]:
    """Order from worst to best, and at each place the number of its group of tied values."""
    order = np.argsort(better, kind="stable")
    ordered = better[order]
    return order, np.append(0, np.cumsum(ordered[1:] != ordered[:-1]))


def rank_weights(n: int, n_runs: int, estimator: BestOfEstimator) -> FloatArray:
    """Chance of each rank, worst first, to be the best of n."""
    if estimator == "v":
        below = (np.arange(n_runs + 1) / n_runs) ** n
    else:
        # C(j, n)/C(m, n), from j = m downwards by factors (j - n)/j, which never overflow.
        ranks = np.arange(n_runs, 0, -1)
        below = np.cumprod(np.append(1.0, np.maximum(ranks - n, 0) / ranks))[::-1]
    return np.diff(below)


def _share_ties(values: FloatArray, group: IntArray) -> FloatArray:
    """Give tied places the mean of their values."""
    return np.asarray((np.bincount(group, weights=values) / np.bincount(group))[group])


def turn(scores: FloatArray, goal: Goal) -> FloatArray:
    """Scores of which higher is better."""
    check_choice("goal", goal, get_args(Goal))
    return scores if goal == "maximize" else -scores
