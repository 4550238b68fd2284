"""P(A>B) averaged over tasks, with its interval: about these tasks, or about tasks like these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainccinv, betaincinv, stdtr, stdtrit

from outperform.errors import InvalidInput
from outperform.plain_values import Plain
from outperform.stats.checks import FloatArray, check_choice, check_open_unit
from outperform.stats.intervals import sign_tail
from outperform.stats.numerics import divide, unwrap
from outperform.stats.task_aggregates import TasksAre


@dataclass(frozen=True, slots=True)
class AverageProbability(Plain):
    """Mean over tasks of P(A>B): floats, or arrays where leading axes were given."""

    probability: Any
    low: Any
    high: Any
    pvalue: Any  # two-sided: intervals at a confidence of up to 1 - pvalue leave out 1/2
    confidence_level: Any
    tasks: TasksAre


def average_probability(
    wins: ArrayLike,
    ties: ArrayLike,
    n: ArrayLike,
    *,
    confidence_level: ArrayLike = 0.95,
    tasks: TasksAre = "fixed",
    families: ArrayLike | None = None,
) -> AverageProbability:
    """Average P(A>B) over tasks; a tie counts as half a win, and every task counts the same.

    *These tasks* (``"fixed"``): only replicates vary. Wins of all tasks together are less spread
    than those of a single chance of winning would be (Hoeffding 1956), so the exact interval of
    counts (`exact_interval`) covers the average too. Where tasks have different numbers of pairs,
    it is taken for as many pairs as would have the same variance (Korn and Graubard 1998).

    *Tasks like these* (``"sampled"``): tasks are a sample, and Student's t interval of their
    chances of winning is added to it; where too few tasks are there for any sign test to reject,
    the exact interval of tasks won.

    Parameters
    ----------
    wins, ties, n : shape (..., n_tasks)
        Of each task's pairs; tasks without pairs are left out.
    confidence_level : a number, or one for each of the leading axes
    families : shape (n_tasks,)
        Tasks with the same label were not sampled one by one.

    Examples
    --------
    >>> average = average_probability([9, 6, 8], [0, 2, 0], [10, 10, 10])
    >>> round(average.probability, 3), round(average.low, 3), round(average.high, 3)
    (0.8, 0.602, 0.936)
    """
    check_choice("tasks", tasks, get_args(TasksAre))
    level = np.asarray(confidence_level, dtype=float)
    for bound in (level.min(), level.max()):
        check_open_unit("confidence_level", float(bound))
    counts = [np.asarray(each, dtype=float) for each in (wins, ties, n)]
    won, tied, lost = _weigh_tasks(*counts)
    tail = (1 - level) / 2
    low, high = 0.5 - _reach(lost, tied, won, tail), 0.5 + _reach(won, tied, lost, tail)
    shares = divide(counts[0] + counts[1] / 2, counts[2])  # NaN where there are no pairs
    probability = np.nanmean(shares, axis=-1)
    pvalue = np.minimum(1, 2 * np.minimum(sign_tail(won, lost), sign_tail(lost, won)))
    if tasks == "sampled":
        spread = _spread_over_tasks(shares, _number_families(families, shares.shape[-1]), tail)
        low, high = np.minimum(low, spread[0]), np.maximum(high, spread[1])
        pvalue = np.maximum(pvalue, spread[2])
    return AverageProbability(
        unwrap(probability), unwrap(low), unwrap(high), unwrap(pvalue), unwrap(level), tasks
    )


def _weigh_tasks(
    won: FloatArray, tied: FloatArray, total: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Wins, ties and losses of as many pairs as have the variance of the average over tasks."""
    if (won < 0).any() or (tied < 0).any() or (won + tied > total).any():
        raise InvalidInput("wins and ties do not add up to n at most", "Pass counts of each task")
    known = total > 0
    n_tasks = known.sum(axis=-1)
    if (n_tasks == 0).any():
        raise InvalidInput("there is no pair on any task", "Pass at least one pair")
    inverse = np.divide(1.0, total, where=known, out=np.zeros(np.shape(total)))
    n_pairs = n_tasks**2 / inverse.sum(axis=-1)
    won, tied = ((each * inverse).sum(axis=-1) / n_tasks * n_pairs for each in (won, tied))
    # Counts are whole numbers where tasks have equally many pairs, whatever was rounded.
    won, tied, n_pairs = (_round_whole(each) for each in (won, tied, n_pairs))
    return won, tied, np.maximum(0, n_pairs - won - tied)


def _round_whole(counts: FloatArray) -> FloatArray:
    whole = np.round(counts)
    return np.where(np.abs(counts - whole) < 1e-9 * np.maximum(1, whole), whole, counts)


def _reach(wins: FloatArray, ties: FloatArray, losses: FloatArray, tail: FloatArray) -> FloatArray:
    """How far above 1/2 the upper bound lies, as `exact_interval` has it for single counts."""
    n_traded, reached = np.minimum(ties, np.maximum(0, 2 - losses)), []
    for most in (0, 1, 2):
        traded = np.minimum(most, n_traded)
        tied, lost = ties - traded, losses + traded
        with np.errstate(invalid="ignore"):
            share = np.where(lost > 0, betainccinv(wins + 1, lost, tail) - 0.5, 0.5)
            widest = np.where(tied > 0, betainccinv(wins + lost + 1, tied, tail), 1.0)
            narrowest = np.where(tied > 0, betaincinv(wins + lost, tied + 1, tail), 1.0)
        share = np.where(np.abs(share) < 1e-12, 0.0, share)
        reached.append(share * np.where(share > 0, widest, narrowest))
    return np.asarray(np.maximum.reduce(reached))


def _number_families(families: ArrayLike | None, n_tasks: int) -> NDArray[np.intp]:
    labels = np.arange(n_tasks) if families is None else np.asarray(families)
    if labels.shape != (n_tasks,):
        raise InvalidInput(
            f"families has shape {labels.shape}, and there are {n_tasks} tasks",
            "Pass one label per task",
        )
    return np.unique(labels, return_inverse=True)[1]


def _spread_over_tasks(
    shares: FloatArray, family: NDArray[np.intp], tail: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Interval of the mean over tasks where tasks, by families, are a sample, and its p-value."""
    known = ~np.isnan(shares)
    mean = np.nanmean(shares, axis=-1)
    member = np.eye(family.max() + 1)[family]  # (n_tasks, n_families)
    sums = np.where(known, shares - mean[..., None], 0) @ member
    n_families = ((known @ member) > 0).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.sqrt(n_families / (n_families - 1)) / known.sum(axis=-1)
        error = scale * np.sqrt(np.square(sums).sum(axis=-1))
        reach = error * -stdtrit(n_families - 1, tail)
        pvalue = 2 * stdtr(n_families - 1, -np.abs(mean - 0.5) / error)
    few = 0.5**n_families > tail  # no sign test of so few can reject
    won = np.where(few, mean * n_families, 1)
    lost = np.where(few, n_families, 2) - won
    with np.errstate(invalid="ignore"):  # Clopper and Pearson's
        low = np.where(won > 0, betaincinv(won, lost + 1, tail), 0.0)
        high = np.where(lost > 0, betainccinv(won + 1, lost, tail), 1.0)
    return (
        np.where(few, low, np.maximum(0, mean - reach)),
        np.where(few, high, np.minimum(1, mean + reach)),
        np.where(np.isnan(pvalue), 1.0, np.maximum(pvalue, 2 * 0.5**n_families)),
    )
