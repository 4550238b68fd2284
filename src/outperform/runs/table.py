"""The table of scores that every analysis starts from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import numpy.typing as npt

from outperform.errors import InvalidInput, TooFewRuns, UnknownName
from outperform.runs.labels import FloatArray, IntArray, Labels, Numerals, label_rows
from outperform.runs.metrics import Goal, TaskMetric
from outperform.runs.mismatches import refuse_duplicates
from outperform.runs.pairing import (
    Cell,
    PairedScores,
    SeparateScores,
    ValidatedScores,
    find_gaps,
    finite_scores,
    pair_cells,
    separate_cells,
    validate_cell,
)
from outperform.runs.repeated_searches import Searches
from outperform.runs.scope import FOLDS, RUNS, SPLITS, THIS_DATASET, THIS_SPLIT, Resplit, Scope
from outperform.runs.score_grids import lay_out_scores
from outperform.runs.source_table import OtherColumns
from outperform.runs.suspicions import Doubt
from outperform.runs.task_references import take_task_values
from outperform.stats.checks import merge_stored, need_32_bits
from outperform.wording import count, enumerate_names, enumerate_rows, find_near, suggest_names


@dataclass(frozen=True, slots=True)
class Runs:
    """Scores of algorithms on tasks, one entry per run in every array.

    Methods take a task, which may be left out where there is only one, and `drop_incomplete`, to
    leave out (and count) what has a missing or infinite score instead of refusing it.

    Attributes
    ----------
    algorithms, tasks
        Names in order of appearance; tasks is `("",)` where the source names none.
    replicates
        Labels that tell which runs belong together, None where nothing tells it. Their order does
        not depend on the order of rows: shorter labels first, so 2 comes before 10.
    algorithm, task, replicate : shape (n_runs,)
        Index of each run's name in the tuples above; replicate is all 0 without replicates.
    score : shape (n_runs,)
        In the metric's own sign; NaN where missing.
    validation : shape (n_runs,)
        Validation scores, NaN where missing; None where the source has none.
    row : shape (n_runs,)
        Where each run stands in its source: line of the file, or position from 1.
    metric
        Name of the scores; those of all tasks where they have several.
    goal
        Whether higher or lower scores are better; None where that depends on the task.
    replicate_columns, spare_columns
        Columns that the labels come from, and others that look as if they told runs apart.
    notes
        What a reader of the results must know, such as rows that were left out.
    unfinished
        Algorithms of a study of which no run has a score yet.
    validation_metric
        Name of the validation scores; "" where the source has none.
    algorithm_columns, task_columns
        Columns that the names of algorithms and of tasks come from.
    incomplete
        Why each run is no finished one, such as its status; empty where it is. None where all are.
    others
        What else the source says of the runs; nothing where they come from a store.
    accepted
        What is right although it looks wrong.
    varied
        What was drawn anew for every replicate, in the words of `outperform.runs.scope`.
    resplits
        Sizes of training and test sets by task, where one dataset was divided anew and they are
        known.
    task_metrics
        Metric and goal of every task, where not all have the same; empty where they have.
    fixed_splits
        Tasks whose data are known to be divided the same way for every run.
    stopped_early
        Whether somebody looked at them again and again, to stop when they had decided.
    ruled_out
        Smallest P(A>B) that a sequential test found neither of two algorithms to have on a task.
    simulated
        Runs of the same study whose searches were simulated, where these have searched once.
    one_search
        Whether all runs of an algorithm rest on the same search of its hyperparameters.
    searches
        Runs of the same study after several searches, search by search; None where it has none.
    counted
        Whether replicates are numbered from 0, so that a number that is missing is still to be
        done.
    """

    algorithms: tuple[str, ...]
    tasks: tuple[str, ...]
    replicates: Sequence[str] | None
    algorithm: IntArray = field(compare=False, repr=False)
    task: IntArray = field(compare=False, repr=False)
    replicate: IntArray = field(compare=False, repr=False)
    score: FloatArray = field(compare=False, repr=False)
    validation: FloatArray | None = field(compare=False, repr=False)
    row: IntArray = field(compare=False, repr=False)
    metric: str
    goal: Goal | None
    source: str
    replicate_columns: tuple[str, ...] = ()
    spare_columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
    validation_metric: str = ""
    algorithm_columns: tuple[str, ...] = ()
    task_columns: tuple[str, ...] = ()
    incomplete: Labels | None = field(default=None, repr=False)
    others: OtherColumns = field(default=OtherColumns(()), compare=False, repr=False)
    accepted: tuple[Doubt, ...] = ()
    varied: tuple[str, ...] = (RUNS,)
    resplits: Mapping[str, Resplit] = field(default_factory=dict, compare=False, repr=False)
    task_metrics: Mapping[str, TaskMetric] = field(default_factory=dict, hash=False, repr=False)
    fixed_splits: tuple[str, ...] = ()
    stopped_early: bool = False
    ruled_out: Mapping[tuple[str, str, str], float] = field(default_factory=dict, compare=False)
    simulated: Runs | None = field(default=None, compare=False, repr=False)
    one_search: bool = False
    searches: Searches | None = field(default=None, compare=False, repr=False)
    counted: bool = False
    _order: IntArray = field(init=False, compare=False, repr=False)
    _cells: npt.NDArray[Any] = field(init=False, compare=False, repr=False)  # in that order

    def __post_init__(self) -> None:
        # Rows of one algorithm on one task become neighbours, so that each of many
        # comparisons looks at its own rows only.
        n_cells = len(self.algorithms) * len(self.tasks)
        # Short integers are sorted by radix, many times faster.
        kind: npt.DTypeLike = np.uint16 if n_cells <= np.iinfo(np.uint16).max else np.int64
        cell: npt.NDArray[Any] = self.algorithm.astype(kind)
        cell *= len(self.tasks)
        cell += self.task.astype(kind)
        is_sorted = (cell[1:] >= cell[:-1]).all()
        order = np.arange(len(cell)) if is_sorted else np.argsort(cell, kind="stable")
        object.__setattr__(self, "_order", order)
        object.__setattr__(self, "_cells", cell[order])
        if need_32_bits(self.score).any():
            own = np.split(self.score[order], np.flatnonzero(np.diff(self._cells)) + 1)
            score = np.empty_like(self.score)
            score[order] = np.concatenate(merge_stored(own, ()))
            object.__setattr__(self, "score", score)

    def __len__(self) -> int:
        return len(self.score)

    def __repr__(self) -> str:
        # What a notebook shows: the fields are arrays, and what readers have noted for questions.
        return f"<Runs: {self}>"

    def __str__(self) -> str:
        on = "" if self.tasks == ("",) else f" on {count(len(self.tasks), 'task')}"
        metrics = f"{self.goal} {self.metric}"
        if self.task_metrics:
            each = Counter(self.task_metrics.values()).items()
            metrics = enumerate_names(f"{goal} {metric} on {n}" for (metric, goal), n in each)
        none = f"; no run of {enumerate_names(self.unfinished)} has a score"
        return (
            f"{count(len(self), 'run')} of {count(len(self.algorithms), 'algorithm')}{on} "
            f"({metrics}, from {self.source}){none if self.unfinished else ''}"
        )

    @property
    def replicate_name(self) -> str:
        """What messages call a replicate: the columns that its labels come from."""
        return ",".join(self.replicate_columns) or "replicate"

    def metric_on(self, task: str | None = None) -> str:
        """Name of the scores on a task, which may be left out where all tasks have the same."""
        if not self.task_metrics:
            return self.metric
        return self.task_metrics[self.tasks[self._number_task(task)]].metric

    def goal_on(self, task: str | None = None) -> Goal:
        """Whether higher or lower scores are better on a task, as `metric_on` takes it."""
        if not self.task_metrics:
            assert self.goal is not None
            return self.goal
        return self.task_metrics[self.tasks[self._number_task(task)]].goal

    def scope_on(self, task: str | None = None) -> Scope:
        """What varied between the runs on a task, and what they are about at least."""
        name = self.tasks[0] if task is None else task
        if name not in self.fixed_splits:
            return Scope(self.varied, THIS_DATASET, tuned_once=self.one_search)
        varied = tuple(word for word in self.varied if word not in (SPLITS, FOLDS))
        return Scope(varied or (RUNS,), THIS_SPLIT, tuned_once=self.one_search)

    def select(
        self, algorithm: str, task: str | None = None, *, drop_incomplete: bool = False
    ) -> FloatArray:
        """Take the scores of one algorithm on one task, in the order of rows."""
        cell = self.cell(algorithm, task)
        refuse_duplicates(self, cell)
        return finite_scores(self, cell, drop_incomplete=drop_incomplete)

    def pair(
        self, a: str, b: str, task: str | None = None, *, drop_incomplete: bool = False
    ) -> PairedScores:
        """Pair the scores of two algorithms on one task by replicate.

        Without replicates they are paired in the order of rows, if there are equally many.
        Replicates without two finite scores are refused, or left out and counted.
        """
        return pair_cells(self, *self._two_cells(a, b, task), drop_incomplete=drop_incomplete)

    def separate(
        self, a: str, b: str, task: str | None = None, *, drop_incomplete: bool = False
    ) -> SeparateScores:
        """Take the scores of two algorithms on one task without pairing them."""
        return separate_cells(self, *self._two_cells(a, b, task), drop_incomplete=drop_incomplete)

    def select_validated(
        self, algorithm: str, task: str | None = None, *, drop_incomplete: bool = False
    ) -> ValidatedScores:
        """Take the scores of one algorithm on one task with its validation scores."""
        return validate_cell(self, self.cell(algorithm, task), drop_incomplete=drop_incomplete)

    def cell(self, algorithm: str, task: str | None = None) -> Cell:
        """Find the rows of one algorithm on one task."""
        number = self._number_task(task)
        name, rows = self.tasks[number], self._rows_of(algorithm, number)
        place = f"task {name!r} of {self.source}" if name else self.source
        return Cell(algorithm, place, self.metric_on(name), self.goal_on(name), rows)

    def find_gaps(
        self, a: str, b: str, task: str | None = None
    ) -> tuple[tuple[int, int], tuple[str, ...]]:
        """Count the replicates that each has no complete run of, unpaired, with a note on them."""
        return find_gaps(self, *self._two_cells(a, b, task), paired=False)

    def score_grid(self, task: str | None = None) -> tuple[FloatArray, Sequence[str]]:
        """Take the scores of all algorithms on one task, side by side.

        Returns
        -------
        An array of shape (n_algorithms, n_replicates), NaN where a run is missing, incomplete or
        infinite, and the labels of its columns: the replicates of the task. Without replicates,
        runs stand in the order of rows, under their number from 1.
        """
        number = self._number_task(task)
        cells = np.arange(len(self.algorithms)) * len(self.tasks) + number
        cells = cells.astype(self._cells.dtype)
        first = np.searchsorted(self._cells, cells)
        sizes = np.searchsorted(self._cells, cells, "right") - first
        # Of every algorithm, the places of its rows among all that are in order.
        places = np.arange(sizes.sum()) + np.repeat(first - np.cumsum(sizes) + sizes, sizes)
        grid = lay_out_scores(self, self._order[places], sizes)
        for algorithm in self.algorithms if grid is None else ():
            refuse_duplicates(self, self.cell(algorithm, self.tasks[number]))
        assert grid is not None
        return grid

    def task_values(self, column: str) -> dict[str, str]:
        """Give what a column, with one value on each task, says of it, such as its family."""
        return take_task_values(self, column)

    def tasks_of(self, a: str, b: str) -> tuple[str, ...]:
        """Tasks on which one of two algorithms was scored, or was to be; all if there is none."""
        own = self._rows_of(a), self._rows_of(b)
        if len(self.tasks) == 1:
            return self.tasks
        rows = np.concatenate(own)
        is_known = ~np.isnan(self.score[rows])
        if self.incomplete is not None:  # a reason to have no score will do
            is_known |= self.incomplete.codes[rows] != self.incomplete.names.index("")
        n_known = np.bincount(self.task[rows[is_known]], minlength=len(self.tasks)).tolist()
        return tuple(compress(self.tasks, n_known)) or self.tasks

    def locate(self, runs: IntArray) -> str:
        """Name the rows that some of the runs stand in, or their replicates in a store."""
        if not self.counted or self.replicates is None:
            return enumerate_rows(self.row[runs])
        codes = np.unique(self.replicate[runs]).tolist()
        named = enumerate_names((self.replicates[code] for code in codes), limit=5)
        return f"{self.replicate_name}{'' if len(codes) == 1 else 's'} {named}"

    def require_two(self) -> None:
        """Refuse runs of one algorithm, which nobody can be compared with."""
        if len(self.algorithms) > 1:
            return
        if self.unfinished:
            raise self.explain_unfinished(*self.unfinished)
        raise TooFewRuns(
            f"{self.source} holds one algorithm only: {self.algorithms[0]}",
            "Join the file of the other with --with FILE (from Python: join_runs), or name the "
            "column that tells them apart with --algorithm",
        )

    def explain_unfinished(self, *names: str) -> UnknownName:
        """Say that algorithms of a study have no scores, and who knows why."""
        return UnknownName(
            f"no run of {enumerate_names(map(repr, names))} in {self.source} has a score: they "
            "failed, or are still to be done",
            f"See which, and why, with `outperform status {quote(self.source)}`",
        )

    def _rows_of(self, algorithm: str, task: int | None = None) -> IntArray:
        """Rows of an algorithm, whose cells are neighbours, or of its cell on one task."""
        if algorithm not in self.algorithms or algorithm in self.unfinished:
            raise self._explain_unknown(algorithm, self.algorithms, "algorithm")
        first = self.algorithms.index(algorithm) * len(self.tasks)
        ends = (first, first + len(self.tasks))
        if task is not None:
            ends = (first + task, first + task + 1)
        # Of the same kind as the cells, which numpy would copy otherwise.
        begin, end = self._cells.searchsorted(np.array(ends, dtype=self._cells.dtype))
        return self._order[begin:end]

    def _two_cells(self, a: str, b: str, task: str | None) -> tuple[Cell, Cell]:
        if len(self.algorithms) == 1 and not self.unfinished:
            self.require_two()
        cells = self.cell(a, task), self.cell(b, task)
        if a == b:
            raise InvalidInput(
                f"cannot compare {a!r} with itself",
                f"Name two of: {enumerate_names(self.algorithms)}",
            )
        return cells

    def _number_task(self, task: str | None) -> int:
        """Find the task that is meant, and refuse one that is not there."""
        if task is None and len(self.tasks) > 1:
            raise UnknownName(
                f"{self.source} has {len(self.tasks)} tasks and none was named",
                f"Name one with --on (task in Python): {enumerate_names(self.tasks)}",
            )
        if task is not None and task not in self.tasks:
            raise self._explain_unknown(task, self.tasks, "task")
        return 0 if task is None else self.tasks.index(task)

    def _explain_unknown(self, name: str, known: tuple[str, ...], kind: str) -> UnknownName:
        if name not in known and known == ("",):
            return UnknownName(
                f"no {kind} {name!r} in {self.source}, which has no column of {kind}s",
                f"Leave out the {kind}, or name the column with --{kind}",
            )
        if kind == "algorithm" and name in self.unfinished:
            return self.explain_unfinished(name)
        remedy = suggest_names(name, known)
        is_file_name = [*known] == [Path(self.source).stem] and not self.algorithm_columns
        if kind == "algorithm" and is_file_name and not find_near(name, known):
            remedy += (
                ", the name of the file, as no column names algorithms: if one does, pass it with "
                "--algorithm; if each column is an algorithm, add --wide"
            )
        if (column := self._find_column_of(name)) is not None:
            remedy = f"Column {column!r} holds it: pass --{kind} {quote(column)}. {remedy}"
        return UnknownName(f"no {kind} {name!r} in {self.source}", remedy)

    def _find_column_of(self, name: str) -> str | None:
        every = np.arange(len(self))
        for column in self.others.names:
            if name in self.others.label(column, every).names:
                return column
        return None


def make_runs(
    algorithm: Sequence[str],
    task: Sequence[str],
    replicate: Sequence[int],
    score: npt.ArrayLike,
    *,
    metric: str,
    goal: Goal,
    source: str,
    validation: npt.ArrayLike | None = None,
) -> Runs:
    """Make runs of columns that are known for what they are, as those of a store.

    Anything else that is known of them, such as notes or what varied, is put in with
    `dataclasses.replace`.

    Parameters
    ----------
    algorithm, task, replicate, score, validation : shape (n_runs,)
        What each run is of, and its scores in the metric's own sign; NaN where missing. Runs of
        the same replicate are pairs.
    source
        What messages call the table.

    Examples
    --------
    >>> about = {"metric": "accuracy", "goal": "maximize", "source": "a store"}
    >>> runs = make_runs(["a", "b"] * 2, ["iris"] * 4, [0, 0, 1, 1], [0.9, 0.7, 0.8, 0.8], **about)
    >>> print(runs)
    4 runs of 2 algorithms on 1 task (maximize accuracy, from a store)
    """
    algorithms, tasks = label_rows(algorithm).by_appearance(), label_rows(task).by_appearance()
    numbers = np.asarray(replicate, dtype=np.int64)
    replicates, codes = np.unique(numbers, return_inverse=True)
    return Runs(
        **name_runs(algorithms, tasks, Labels(Numerals(replicates), codes)),
        score=np.asarray(score, dtype=np.float64),
        validation=None if validation is None else np.asarray(validation, dtype=np.float64),
        row=np.arange(1, len(numbers) + 1),
        metric=metric,
        goal=goal,
        source=source,
        replicate_columns=("replicate",),
        validation_metric="" if validation is None else "validation",
        algorithm_columns=("algorithm",),
        task_columns=("task",),
    )


def name_runs(algorithm: Labels, task: Labels, replicate: Labels | None) -> dict[str, Any]:
    """Fields of `Runs` that say what each run is of."""
    return {
        "algorithms": tuple(algorithm.names),
        "algorithm": algorithm.codes,
        "tasks": tuple(task.names),
        "task": task.codes,
        "replicates": None if replicate is None else replicate.names,
        "replicate": np.zeros_like(task.codes) if replicate is None else replicate.codes,
    }
