"""One number over many tasks with its interval, by a bootstrap of replicates, or of tasks too."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtrit

from outperform.errors import InvalidInput
from outperform.plain_values import Plain
from outperform.stats.checks import FloatArray, as_scores, check_count, check_open_unit
from outperform.stats.numerics import divide_rows
from outperform.stats.task_aggregates import (
    Evaluate,
    TasksAre,
    TaskTables,
    draw_replicates,
    draw_tasks,
    keep_all,
    prepare_shares,
    prepare_summaries,
)

_BLOCK_CELLS = 1 << 17  # counts held at once: 1 MB, for each of a few arrays


@dataclass(frozen=True, slots=True)
class BootstrapEstimate(Plain):
    """Estimates with the ends of their intervals: arrays of one shape, competitors first."""

    JSON = "estimate low high"

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    # A row is the same resample for all competitors, shape (n_resamples, n_competitors, ...).
    resampled: FloatArray = field(repr=False, compare=False)
    tail: float = field(repr=False)  # share of resamples beyond either end

    def minus(self, baseline: int) -> BootstrapEstimate:
        """Difference of each competitor to the one at place `baseline`, from the same resamples."""
        check_count("baseline", baseline, at_least=0, at_most=len(self.estimate) - 1)
        estimate = self.estimate - self.estimate[baseline]
        return _find_ends(estimate, self.resampled - self.resampled[:, [baseline]], self.tail)


@dataclass(frozen=True, slots=True)
class AggregateScores(Plain):
    """Four summaries of the same scores, each of shape (n_competitors,)."""

    mean: BootstrapEstimate
    median: BootstrapEstimate  # of the tasks' means
    interquartile_mean: BootstrapEstimate  # of all runs
    optimality_gap: BootstrapEstimate  # of all runs; lower is better
    tasks: TasksAre
    confidence_level: float
    n_tasks: int
    n_families: int  # as many as tasks where each is its own
    n_resamples: int


@dataclass(frozen=True, slots=True)
class PerformanceProfiles(Plain):
    """Share of runs above each threshold, shape (n_competitors, n_thresholds)."""

    thresholds: FloatArray
    shares: BootstrapEstimate
    tasks: TasksAre
    confidence_level: float
    n_tasks: int
    n_families: int
    n_resamples: int


def aggregate_scores(
    scores: ArrayLike | Sequence[ArrayLike],
    *,
    tasks: TasksAre = "fixed",
    families: Sequence[Hashable] | None = None,
    shared: bool = True,
    target: float = 1.0,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    rng: np.random.Generator,
) -> AggregateScores:
    """Mean, median, interquartile mean and optimality gap over tasks, with bootstrap intervals.

    Scores must be comparable between tasks. The mean, the interquartile mean and the gap are over
    all runs, of which those of one task weigh as much as those of another; the median is that of
    the tasks' means. A quarter is rounded down to whole runs for the interquartile mean, where all
    tasks have as many replicates; elsewhere a quarter of the weight is left out, and the run at
    the edge counts in part.

    Parameters
    ----------
    scores : shape (n_tasks, n_competitors, n_replicates), higher is better
        Or one table of shape (n_competitors, n_replicates) per task, where numbers of replicates
        differ. In a sequence of tables, all have the same competitors.
    tasks
        "fixed": about these tasks, only replicates are drawn anew. "sampled": about tasks like
        these, tasks are drawn, then replicates of each.
    families
        Label of each task; tasks with the same label are drawn together.
    shared
        Replicate i of all competitors has the same seeds and is drawn together. Else each is
        resampled on its own.
    target
        Score that counts as solved, for the optimality gap.

    Returns
    -------
    For each summary `estimate`, `low` and `high`, shape (n_competitors,), and `minus(baseline)`,
    the same of the differences to one competitor. Intervals are percentiles of the resamples, taken
    as far out as makes up for the variance that resamples lack, and for not knowing it.

    Notes
    -----
    How often intervals hold what they should: docs/calibration.md. Where replicates vary more than
    tasks do, those about sampled tasks are too wide: what replicates vary is in the tasks' means.

    References
    ----------
    Agarwal et al. (2021), Deep reinforcement learning at the edge of the statistical precipice;
    Hesterberg (2015), What teachers should know about the bootstrap (expanded percentiles).

    Examples
    --------
    >>> scores = np.random.default_rng(1).normal([[0.7], [0.5]], 0.1, size=(6, 2, 10))
    >>> result = aggregate_scores(scores, rng=np.random.default_rng(0))
    >>> mean = result.interquartile_mean
    >>> mean.estimate.round(2), mean.low.round(2), mean.high.round(2)
    (array([0.71, 0.49]), array([0.68, 0.47]), array([0.73, 0.52]))
    >>> result.mean.minus(1).low.round(2)
    array([0.17, 0.  ])
    """
    if not math.isfinite(target):
        raise InvalidInput(f"target is {target}", "Pass the score that counts as solved")
    tables = TaskTables.make(scores, families, tasks)
    prepared = [prepare_summaries(part, target) for part in tables.divide(shared=shared)]
    drawn = _bootstrap(prepared, confidence_level, n_resamples, rng)
    estimate, low, high, resampled = drawn.estimate, drawn.low, drawn.high, drawn.resampled
    mean, median, trimmed, gap = (
        BootstrapEstimate(estimate[:, i], low[:, i], high[:, i], resampled[:, :, i], drawn.tail)
        for i in range(4)
    )
    n_tasks, n_families = len(tables.scores), tables.n_families
    return AggregateScores(
        mean, median, trimmed, gap, tasks, confidence_level, n_tasks, n_families, n_resamples
    )


def performance_profiles(
    scores: ArrayLike | Sequence[ArrayLike],
    thresholds: ArrayLike,
    *,
    tasks: TasksAre = "fixed",
    families: Sequence[Hashable] | None = None,
    shared: bool = True,
    confidence_level: float = 0.95,
    n_resamples: int = 2_000,
    rng: np.random.Generator,
) -> PerformanceProfiles:
    """Share of runs above each threshold, with pointwise bootstrap intervals.

    The mean over tasks of the share in each; a score that equals the threshold is not above it.

    Parameters
    ----------
    scores, tasks, families, shared
        As in `aggregate_scores`.
    thresholds : shape (n_thresholds,)

    References
    ----------
    Agarwal et al. (2021), Deep reinforcement learning at the edge of the statistical precipice.

    Examples
    --------
    >>> scores = [[[0.2, 0.6, 0.9], [0.1, 0.2, 0.3]], [[0.7, 0.8, 0.9], [0.4, 0.5, 0.6]]]
    >>> performance_profiles(scores, [0, 0.5], rng=np.random.default_rng(0)).shares.estimate
    array([[1.        , 0.83333333],
           [1.        , 0.16666667]])
    """
    values = as_scores(thresholds, "thresholds", at_least=1)
    tables = TaskTables.make(scores, families, tasks)
    prepared = [prepare_shares(part, values) for part in tables.divide(shared=shared)]
    shares = _bootstrap(prepared, confidence_level, n_resamples, rng)
    return PerformanceProfiles(
        values, shares, tasks, confidence_level, len(tables.scores), tables.n_families, n_resamples
    )


def _bootstrap(
    prepared: Sequence[tuple[TaskTables, Evaluate]],
    confidence_level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> BootstrapEstimate:
    check_open_unit("confidence_level", confidence_level)
    check_count("n_resamples", n_resamples, at_least=100)
    observed = [evaluate(keep_all(tables)) for tables, evaluate in prepared]
    first = prepared[0][0]  # all have the same tasks
    row_size = max(int(first.sizes.sum()), first.most_tasks * first.n_competitors)
    blocks = []
    for n_rows in divide_rows(n_resamples, row_size, limit=_BLOCK_CELLS):
        copies = draw_tasks(first, n_rows, rng)
        numbers = [evaluate(draw_replicates(tables, copies, rng)) for tables, evaluate in prepared]
        blocks.append(np.concatenate(numbers, axis=1))
    tail = _narrow_tail(first, (1 - confidence_level) / 2)
    return _find_ends(np.concatenate(observed, axis=1)[0], np.concatenate(blocks), tail)


def _find_ends(estimate: FloatArray, resampled: FloatArray, tail: float) -> BootstrapEstimate:
    # Quantiles of neighbours in memory are faster.
    neighbours = np.ascontiguousarray(np.moveaxis(resampled, 0, -1))
    low, high = np.quantile(neighbours, [tail, 1 - tail], axis=-1)
    return BootstrapEstimate(estimate, low, high, resampled, tail)


def _narrow_tail(tables: TaskTables, tail: float) -> float:
    """Share of resamples beyond either end: less than asked for, since resamples vary too little.

    The variance of n values among themselves is (n - 1) / n of that of what they were drawn from,
    and not known: hence Student's quantile. The unit is the replicate, or the family of tasks.
    """
    if tables.tasks == "sampled":
        n, df = np.array([tables.n_families]), tables.n_families - 1
    else:
        n, df = tables.sizes, int(np.sum(tables.sizes - 1))
    missing = np.sum(1 / n) / np.sum((n - 1) / n**2)  # n / (n - 1) where all have n
    return float(ndtr(np.sqrt(missing) * stdtrit(df, tail)))
