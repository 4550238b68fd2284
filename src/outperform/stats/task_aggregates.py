"""One number over many tasks, from scores that were made comparable first.

A mean over tasks says something only where all scores are in one unit, such as the way from a
baseline (0) to a target (1) of each task.

Of resamples, sums over runs are products of matrices with how often each holds each run; what
depends on the order of runs is read from these counts, added up along scores sorted once.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outperform.errors import InvalidInput
from outperform.stats.checks import FloatArray, as_samples
from outperform.stats.hypothesis_test import unwrap
from outperform.stats.task_resamples import Resamples, TaskTables
from outperform.stats.ties import merge_ties

_BLOCK = 64  # sorted runs that are added up at once


def interquartile_mean(scores: ArrayLike, *, axis: int = -1) -> float | FloatArray:
    """Mean of the scores that are left without the lowest and the highest quarter.

    A quarter is rounded down to whole scores: of fewer than 4, none is left out.

    Parameters
    ----------
    scores : any shape; the scores of one mean lie along `axis`

    References
    ----------
    Agarwal et al. (2021), Deep reinforcement learning at the edge of the statistical precipice.

    Examples
    --------
    >>> interquartile_mean([0.1, 0.5, 0.6, 9.0])
    0.55
    """
    ordered = np.sort(as_samples(scores, "scores", axis=axis), axis=-1)
    n = ordered.shape[-1]
    mean: float | FloatArray = unwrap(np.asarray(ordered[..., n // 4 : n - n // 4].mean(axis=-1)))
    return mean


def optimality_gap(scores: ArrayLike, *, target: float = 1.0, axis: int = -1) -> float | FloatArray:
    """How far scores fall short of a target on average: here, lower is better.

    A score above the target counts as one that meets it, so that no task makes up for another.

    Parameters
    ----------
    scores : any shape, higher is better; the scores of one gap lie along `axis`

    References
    ----------
    Agarwal et al. (2021), Deep reinforcement learning at the edge of the statistical precipice.

    Examples
    --------
    >>> optimality_gap([0.5, 0.75, 3.0, 1.0])
    0.1875
    """
    if not math.isfinite(target):
        raise InvalidInput(f"target is {target}", "Pass the score that counts as solved")
    samples = as_samples(scores, "scores", axis=axis)
    gap: float | FloatArray = unwrap(np.asarray(np.maximum(target - samples, 0).mean(axis=-1)))
    return gap


class Summaries:
    """Mean, median, interquartile mean and gap, shape (n_resamples, n_competitors, 4)."""

    def __init__(self, tables: TaskTables, target: float) -> None:
        # A shortfall is one more competitor, whose mean is the gap.
        self.tables = replace(
            tables,
            scores=[np.vstack([table, np.maximum(target - table, 0)]) for table in tables.scores],
        )
        self._runs = _SortedRuns(tables)
        self._n = tables.n_competitors

    def __call__(self, resamples: Resamples) -> FloatArray:
        """Summaries of each resample."""
        n_tasks = resamples.copies.sum(axis=1)
        means = np.where(np.isfinite(resamples.means), resamples.means, 0.0)
        mean, gap = np.split(means.sum(axis=1) / n_tasks[:, None], [self._n], axis=1)
        # Infinite means, where there is no task, come last.
        ordered, rows = np.sort(resamples.means[:, :, : self._n], axis=1), np.arange(len(n_tasks))
        median = (ordered[rows, (n_tasks - 1) // 2] + ordered[rows, n_tasks // 2]) / 2
        return np.stack([mean, median, self._runs.trim(resamples), gap], axis=-1)


class Shares:
    """Shares of runs above thresholds, shape (n_resamples, n_competitors, n_thresholds)."""

    def __init__(self, tables: TaskTables, thresholds: FloatArray) -> None:
        self.tables = tables
        self._runs = _SortedRuns(tables)
        same = np.broadcast_to(thresholds, (tables.n_competitors, thresholds.size))
        values, limits = merge_ties(self._runs.values, same)
        self._n_below = [
            np.searchsorted(row, limit, side="right")
            for row, limit in zip(values, limits, strict=True)
        ]

    def __call__(self, resamples: Resamples) -> FloatArray:
        """Shares in each resample."""
        weights, total = self._runs.weigh(resamples)
        shares = []
        for order, n_below in zip(self._runs.order, self._n_below, strict=True):
            height = np.cumsum(np.take(weights, order, axis=1), axis=1)
            below = np.where(n_below > 0, height[:, n_below - 1], 0)
            shares.append(1 - below / total[:, None])
        return np.stack(shares, axis=1)


class _SortedRuns:
    """All runs of all tasks, sorted for each competitor on its own."""

    def __init__(self, tables: TaskTables) -> None:
        pooled = np.concatenate(tables.scores, axis=1)
        self.order = np.argsort(pooled, axis=1)
        self.values = np.take_along_axis(pooled, self.order, axis=1)
        self._sizes = tables.sizes

    def weigh(self, resamples: Resamples) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weight of each run, and of all; those of a task are worth as much as those of another."""
        n_tasks = resamples.copies.sum(axis=1)
        if (self._sizes == self._sizes[0]).all():
            return resamples.counts, n_tasks * self._sizes[0]  # whole numbers are faster
        return resamples.counts / np.repeat(self._sizes, self._sizes), n_tasks.astype(float)

    def trim(self, resamples: Resamples) -> FloatArray:
        """Interquartile means, (n_resamples, n_competitors)."""
        weights, total = self.weigh(resamples)
        # Whole runs are cut off where all weigh the same, as interquartile_mean does.
        cut = total // 4 if total.dtype.kind == "i" else total / 4
        n_runs = weights.shape[1]
        padded = np.zeros((len(weights), n_runs + 1))  # the last one fills up blocks
        padded[:, :n_runs] = weights
        n_blocks = -(-n_runs // _BLOCK)
        filling = np.full(n_blocks * _BLOCK - n_runs, n_runs)
        ordered = np.empty((len(weights), n_blocks * _BLOCK))
        means = np.empty((len(weights), len(self.order)))
        for i, (order, values) in enumerate(zip(self.order, self.values, strict=True)):
            np.take(padded, np.append(order, filling), axis=1, out=ordered, mode="clip")
            blocks = ordered.reshape(len(weights), n_blocks, _BLOCK)
            filled = np.append(values, np.full(filling.size, values[-1])).reshape(-1, _BLOCK)
            means[:, i] = _sum_between(blocks, filled, cut, total - cut) / (total - 2 * cut)
        return means


def _sum_between(
    blocks: FloatArray, values: FloatArray, low: NDArray[Any], high: NDArray[Any]
) -> FloatArray:
    """Weighted sums of sorted values, of the weight between two heights of each resample.

    Whole blocks are added up at once; only the two at the edges are looked into.

    Parameters
    ----------
    blocks : shape (n_resamples, n_blocks, n_in_block)
        Weights, along ascending values.
    values : shape (n_blocks, n_in_block)
    """
    top = np.cumsum(blocks.sum(axis=-1), axis=1)
    first = (top <= low[:, None]).sum(axis=1)
    last = (top < high[:, None]).sum(axis=1)
    start, end = int(first.min()), int(last.max()) + 1
    sums = np.einsum("rbk,bk->rb", blocks[:, start:end], values[start:end])
    place = np.arange(start, end)
    inside = (place > first[:, None]) & (place < last[:, None])
    rows = np.arange(len(blocks))
    total: FloatArray = np.where(inside, sums, 0.0).sum(axis=1)
    for edge in (first, last):
        below = np.where(edge > 0, top[rows, edge - 1], 0.0)
        height = below[:, None] + np.cumsum(blocks[rows, edge], axis=1)
        kept = np.clip(height, low[:, None], high[:, None])
        share = np.diff(kept, axis=1, prepend=np.clip(below, low, high)[:, None])
        part = (share * values[edge]).sum(axis=1)
        total += part if edge is first else np.where(last > first, part, 0.0)
    return total
