"""Boo_n: what to expect of the best of n, chosen by one score and reported on another.

From m values sorted by the score that chooses, the one at rank j is the best of n with a chance
that depends on j, m and n alone. Values tied on that score are equally likely to be chosen.
"""

from typing import Literal, get_args, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from outperform.errors import InvalidInput, InvalidScores
from outperform.stats.checks import (
    FloatArray,
    IntArray,
    as_scores,
    check_choice,
    check_count,
    merge_ties,
)

BestOfEstimator = Literal["v", "u", "gaussian"]
Goal = Literal["maximize", "minimize"]

# Where the largest of up to 10^15 standard normals lies; a step this small is exact to the last
# digits, because the trapezoidal rule converges exponentially for densities.
_STEP = 0.005
_GRID = np.arange(1, 2801) * _STEP  # and its mirror image below 0


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
    chosen_by, reported = as_chosen(validation, test)
    sizes = as_budgets(n, chosen_by.size, estimator)
    better = turn(chosen_by, goal)
    if estimator == "gaussian":
        best = np.full(sizes.size, reported.mean())
        if np.ptp(better) > 0:  # else all are tied, and any may be chosen
            centred = better - better.mean()
            covariance = float(centred @ (reported - reported.mean())) / (better.size - 1)
            best += covariance / float(np.std(better, ddof=1)) * gaussian_best_of(sizes)
    else:
        order, group = sort_groups(better)
        ranked = _share_ties(reported[order], group)
        best = np.array([rank_weights(size, better.size, estimator) @ ranked for size in sizes])
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


def as_chosen(validation: ArrayLike, test: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    """Scores that choose, identical where tied, and scores that are reported, run by run."""
    (chosen_by,) = merge_ties(as_scores(validation, "validation", at_least=2))
    if test is None:
        return chosen_by, chosen_by
    reported = as_scores(test, "test", at_least=2)
    if chosen_by.size != reported.size:
        raise InvalidScores(
            f"there are {chosen_by.size} validation scores and {reported.size} test scores",
            "Pass one of each per run, in the same order",
        )
    return chosen_by, reported


def as_budgets(n: ArrayLike, n_runs: int, estimator: BestOfEstimator) -> IntArray:
    """Whole numbers from 1, as a flat array; not more than the runs where these are used up."""
    check_choice("estimator", estimator, get_args(BestOfEstimator))
    sizes = np.asarray(n).ravel()
    if sizes.size == 0:
        raise InvalidInput("there is no n", "Pass at least one number of candidates")
    for size in sizes.tolist():
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
