"""One number over many tasks, from scores that were made comparable first, or their resamples.

A mean over tasks says something only where all scores are in one unit, such as the way from a
baseline (0) to a target (1) of each task.

Resamples of replicates, and of tasks, are drawn as how often each holds each run. Sums over runs
are products of matrices with these counts; what depends on the order of runs is read from them,
added up along scores sorted once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outperform.errors import InvalidInput, InvalidScores, TooFewRuns
from outperform.stats.checks import FloatArray, IntArray, as_samples, check_choice, merge_ties
from outperform.stats.numerics import unwrap
from outperform.wording import count

_BLOCK = 64  # sorted runs that are added up at once


TasksAre = Literal["fixed", "sampled"]


@dataclass(frozen=True, slots=True)
class TaskTables:
    """Scores of each task, shape (n_competitors, n_replicates), and what is drawn of them."""

    scores: list[FloatArray]
    family: IntArray  # of each task
    tasks: TasksAre

    @classmethod
    def make(
        cls,
        scores: ArrayLike | Sequence[ArrayLike],
        families: Sequence[Hashable] | None,
        tasks: TasksAre,
    ) -> TaskTables:
        """Check scores; tasks without a family are their own."""
        check_choice("tasks", tasks, get_args(TasksAre))
        # One replicate shows nothing of how replicates vary, unless tasks are what varies.
        at_least = 2 if tasks == "fixed" else 1
        arrays = _list_tables(scores, at_least)
        made = cls(arrays, _number_families(families, len(arrays)), tasks)
        if tasks == "sampled" and made.n_families < 2:
            unit = "task" if families is None else "family"
            raise TooFewRuns(
                f"scores has tasks of one {unit} only",
                'At least 2 are needed to resample tasks; pass tasks="fixed" to ask about these',
            )
        return made

    @property
    def sizes(self) -> IntArray:
        """Number of replicates of each task."""
        return np.array([table.shape[1] for table in self.scores])

    @property
    def n_competitors(self) -> int:
        """Number of rows of every table."""
        return len(self.scores[0])

    @property
    def n_families(self) -> int:
        """Number of families, or of tasks where each is its own."""
        return int(self.family.max()) + 1

    @property
    def most_tasks(self) -> int:
        """Largest number of tasks that a resample may hold."""
        if self.tasks == "fixed":
            return len(self.scores)
        return self.n_families * int(np.bincount(self.family).max())

    def divide(self, *, shared: bool) -> list[TaskTables]:
        """Tables to draw replicates of at once: of one competitor each, where they share none."""
        if shared:
            return [self]
        alone = [[table[i : i + 1] for table in self.scores] for i in range(self.n_competitors)]
        return [TaskTables(each, self.family, self.tasks) for each in alone]


@dataclass(frozen=True, slots=True)
class Resamples:
    """How often each resample holds each run, and the means of tasks in it."""

    counts: IntArray  # (n_resamples, n_runs), the runs of a task side by side
    copies: IntArray  # (n_resamples, n_tasks)
    means: FloatArray  # (n_resamples, places, n_competitors), infinite where there is no task


# From resamples to numbers, shape (n_resamples, n_competitors, ...).
Evaluate = Callable[[Resamples], FloatArray]


def keep_all(tables: TaskTables) -> Resamples:
    """Every run once: what was observed, as the only resample."""
    means = np.array([[table.mean(axis=1) for table in tables.scores]])
    ones = np.ones((1, int(tables.sizes.sum())), dtype=np.int64)
    return Resamples(ones, np.ones((1, len(tables.scores)), dtype=np.int64), means)


def draw_tasks(tables: TaskTables, n_resamples: int, rng: np.random.Generator) -> IntArray:
    """How often each resample holds each task, (n_resamples, n_tasks); families stay together."""
    if tables.tasks == "fixed":
        return np.ones((n_resamples, len(tables.scores)), dtype=np.int64)
    n = tables.n_families
    drawn = rng.integers(0, n, size=(n_resamples, n))
    return _count(drawn, np.arange(n_resamples), n_resamples, n)[:, tables.family]


def draw_replicates(tables: TaskTables, copies: IntArray, rng: np.random.Generator) -> Resamples:
    """Draw replicates of every copy of a task anew, the same ones for all competitors."""
    n_rows = len(copies)
    means = np.full((n_rows, tables.most_tasks, tables.n_competitors), np.inf)
    first_places = np.cumsum(copies, axis=1) - copies
    counts = []
    for table, n_copies, first in zip(tables.scores, copies.T, first_places.T, strict=True):
        n = table.shape[1]
        rows = np.repeat(np.arange(n_rows), n_copies)  # the resample of each copy
        drawn = rng.integers(0, n, size=(rows.size, n))
        of_copies = _count(drawn, np.arange(rows.size), rows.size, n)
        place = np.arange(rows.size) - (np.cumsum(n_copies) - n_copies - first)[rows]
        means[rows, place] = of_copies @ table.T / n
        one_each = rows.size == n_rows and (n_copies == 1).all()
        counts.append(of_copies if one_each else _count(drawn, rows, n_rows, n))
    return Resamples(np.concatenate(counts, axis=1), copies, means)


def _count(drawn: IntArray, rows: IntArray, n_rows: int, n: int) -> IntArray:
    """How often the values 0 to n - 1 are drawn, (n_rows, n), in all that belongs to a row."""
    flat = (drawn + n * rows[:, None]).ravel()
    return np.bincount(flat, minlength=n_rows * n).reshape(n_rows, n)


def _list_tables(scores: ArrayLike | Sequence[ArrayLike], at_least: int) -> list[FloatArray]:
    """Tables of the same competitors, with at least so many replicates."""
    advice = "Pass one table per task, shape (n_competitors, n_replicates)"
    try:
        given: list[ArrayLike] = list(scores)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidScores(f"scores is {scores!r}", advice) from None
    tables = [as_samples(x, f"scores[{i}]", at_least=at_least) for i, x in enumerate(given)]
    if not tables:
        raise TooFewRuns("scores has 0 tasks", "At least 1 is needed")
    for i, table in enumerate(tables):
        if table.ndim != 2 or len(table) != len(tables[0]) or not len(table):
            expected = f"({len(tables[0])}, n_replicates)" if tables[0].ndim == 2 else "2-D"
            raise InvalidScores(
                f"scores[{i}] has shape {table.shape}, but should be {expected}",
                f"{advice}, with the same competitors in all of them",
            )
    return tables


def _number_families(families: Sequence[Hashable] | None, n_tasks: int) -> IntArray:
    labels = range(n_tasks) if families is None else families
    if len(labels) != n_tasks:
        raise InvalidInput(
            f"families has {count(len(labels), 'label')}, but scores has {count(n_tasks, 'task')}",
            "Pass the family of each task, in the order of the tasks",
        )
    numbers = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    return np.array([numbers[label] for label in labels])


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
    return unwrap(np.asarray(ordered[..., n // 4 : n - n // 4].mean(axis=-1)))


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
    return unwrap(np.asarray(np.maximum(target - samples, 0).mean(axis=-1)))


def prepare_summaries(tables: TaskTables, target: float) -> tuple[TaskTables, Evaluate]:
    """Tables to draw, and how resamples of them become mean, median, interquartile mean and gap."""
    runs, n = _SortedRuns(tables), tables.n_competitors
    # A shortfall is one more competitor, whose mean is the gap.
    both = [np.vstack([table, np.maximum(target - table, 0)]) for table in tables.scores]

    def evaluate(resamples: Resamples) -> FloatArray:
        n_tasks = resamples.copies.sum(axis=1)
        means = np.where(np.isfinite(resamples.means), resamples.means, 0.0)
        mean, gap = np.split(means.sum(axis=1) / n_tasks[:, None], [n], axis=1)
        # Infinite means, where there is no task, come last.
        ordered, rows = np.sort(resamples.means[:, :, :n], axis=1), np.arange(len(n_tasks))
        median = (ordered[rows, (n_tasks - 1) // 2] + ordered[rows, n_tasks // 2]) / 2
        return np.stack([mean, median, runs.trim(resamples), gap], axis=-1)

    return replace(tables, scores=both), evaluate


def prepare_shares(tables: TaskTables, thresholds: FloatArray) -> tuple[TaskTables, Evaluate]:
    """Tables to draw, and how resamples of them become shares of runs above each threshold."""
    runs = _SortedRuns(tables)
    same = np.broadcast_to(thresholds, (tables.n_competitors, thresholds.size))
    values, limits = merge_ties(runs.values, same)
    places = [np.searchsorted(*each, side="right") for each in zip(values, limits, strict=True)]

    def evaluate(resamples: Resamples) -> FloatArray:
        weights, total = runs.weigh(resamples)
        shares = []
        for order, n_below in zip(runs.order, places, strict=True):
            height = np.cumsum(np.take(weights, order, axis=1), axis=1)
            below = np.where(n_below > 0, height[:, n_below - 1], 0)
            shares.append(1 - below / total[:, None])
        return np.stack(shares, axis=1)

    return tables, evaluate


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

    Weights have the shape (n_resamples, n_blocks, n_in_block). Whole blocks are added up at once;
    only the two at the edges are looked into.
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
