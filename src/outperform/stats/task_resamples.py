"""Resamples of replicates within tasks, and of tasks: drawn as how often each run is in them."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from outperform.errors import InvalidInput, InvalidScores, TooFewRuns
from outperform.stats.checks import FloatArray, IntArray, as_samples, check_choice

Tasks = Literal["fixed", "sampled"]


@dataclass(frozen=True, slots=True)
class TaskTables:
    """Scores of each task, shape (n_competitors, n_replicates), and what is drawn of them."""

    scores: list[FloatArray]
    family: IntArray  # of each task
    tasks: Tasks

    @classmethod
    def make(
        cls,
        scores: ArrayLike | Sequence[ArrayLike],
        families: Sequence[Hashable] | None,
        tasks: Tasks,
    ) -> "TaskTables":
        """Check scores; tasks without a family are their own."""
        check_choice("tasks", tasks, get_args(Tasks))
        # One replicate shows nothing of how replicates vary, unless tasks are what varies.
        at_least = 2 if tasks == "fixed" else 1
        arrays = [
            as_samples(table, f"scores[{i}]", at_least=at_least)
            for i, table in enumerate(_list_tables(scores))
        ]
        _check_shapes(arrays)
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

    def only(self, competitor: int) -> "TaskTables":
        """The same tables with one competitor."""
        alone = [table[competitor : competitor + 1] for table in self.scores]
        return TaskTables(alone, self.family, self.tasks)


@dataclass(frozen=True, slots=True)
class Resamples:
    """How often each resample holds each run, and the means of tasks in it."""

    counts: IntArray  # (n_resamples, n_runs), the runs of a task side by side
    copies: IntArray  # (n_resamples, n_tasks)
    means: FloatArray  # (n_resamples, places, n_competitors), infinite where there is no task


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


def _list_tables(scores: ArrayLike | Sequence[ArrayLike]) -> list[ArrayLike]:
    try:
        return list(scores)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidScores(
            f"scores is {scores!r}",
            "Pass one table per task, shape (n_competitors, n_replicates)",
        ) from None


def _check_shapes(tables: list[FloatArray]) -> None:
    if not tables:
        raise TooFewRuns("scores has 0 task(s)", "At least 1 is needed")
    for i, table in enumerate(tables):
        if table.ndim != 2 or len(table) != len(tables[0]) or not len(table):
            expected = f"({len(tables[0])}, n_replicates)" if tables[0].ndim == 2 else "2-D"
            raise InvalidScores(
                f"scores[{i}] has shape {table.shape}, but should be {expected}",
                "Pass one table per task, shape (n_competitors, n_replicates), with the same "
                "competitors in all of them",
            )


def _number_families(families: Sequence[Hashable] | None, n_tasks: int) -> IntArray:
    labels = range(n_tasks) if families is None else families
    if len(labels) != n_tasks:
        raise InvalidInput(
            f"families has {len(labels)} label(s), but scores has {n_tasks} task(s)",
            "Pass the family of each task, in the order of the tasks",
        )
    numbers = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    return np.array([numbers[label] for label in labels])
