"""The metric of every task, and which way it is better, where rows say so themselves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from outperform.errors import UnknownDirection, UnknownName, UnreadableRuns
from outperform.runs.columns import DIRECTION, METRIC, SCORE, normalise, recognise
from outperform.runs.labels import BoolArray, Labels, differ_within
from outperform.runs.metrics import (
    Goal,
    is_bare_score,
    known_goal,
    looks_like_score,
    resolve_goal,
)
from outperform.runs.row_kinds import Rows
from outperform.runs.source_table import SourceTable
from outperform.wording import enumerate_names, enumerate_rows, join_words, suggest_names

_WORDS: dict[str, Goal] = {
    **dict.fromkeys(("maximize", "maximise", "max", "higher", "up"), "maximize"),
    **dict.fromkeys(("minimize", "minimise", "min", "lower", "down"), "minimize"),
}


class TaskMetric(NamedTuple):
    """What the scores on a task are, and whether higher or lower ones are better."""

    metric: str
    goal: Goal


def sum_up_metrics(by_task: Mapping[str, TaskMetric]) -> dict[str, Any]:
    """Fields of `Runs` that say what all tasks have in common, and what each has.

    Examples
    --------
    >>> sum_up_metrics({"iris": TaskMetric("accuracy", "maximize")})
    {'metric': 'accuracy', 'goal': 'maximize', 'task_metrics': {}}
    """
    metrics = [*dict.fromkeys(each.metric for each in by_task.values())]
    goals = {each.goal for each in by_task.values()}
    differ = len(metrics) > 1 or len(goals) > 1
    return {
        "metric": enumerate_names(metrics, limit=3),
        "goal": goals.pop() if len(goals) == 1 else None,
        "task_metrics": dict(by_task) if differ else {},
    }


def find_metric_column(table: SourceTable, names: Sequence[str]) -> str | None:
    """Find the column that names the metric of each row; None where the score's name does.

    Parameters
    ----------
    names
        Columns that play no other part, or make up the names of tasks.
    """
    for name in recognise(names, METRIC):
        # In `metric,accuracy`, the metric may be a distance.
        if table.holds_text(name) and (recognise(names, SCORE) or _names_metrics(table, name)):
            return name
    return None


def _names_metrics(table: SourceTable, column: str) -> bool:
    """Whether a column names metrics of scores that have no name of their own (`test_score`)."""
    bare = any(is_bare_score(name) and looks_like_score(name) for name in table.names)
    return bare and any(map(known_goal, table.label(column).names))


def find_direction(table: SourceTable, names: Sequence[str]) -> Labels | None:
    """Find the goal of each row, where a column says it; any other may be called `goal` too."""
    found = {}
    for name in recognise(names, DIRECTION):
        labels = table.label(name)
        if any(map(_read_word, labels.names)):
            found[name] = labels
    if len(found) > 1:
        raise UnreadableRuns(
            f"columns {enumerate_names(found)} of {table.source} both say which way is better",
            "Keep one of them",
        )
    return next((_read_goals(table, *each) for each in found.items()), None)


def _read_word(text: str) -> Goal | None:
    words = normalise(text).replace("_", " ").removesuffix(" is better")
    return _WORDS.get(words)


def _read_goals(table: SourceTable, column: str, labels: Labels) -> Labels:
    goals = [_read_word(name) for name in labels.names]
    if unknown := [code for code, goal in enumerate(goals) if goal is None]:
        listed = enumerate_names(repr(labels.names[code]) for code in unknown)
        where = enumerate_rows(table.rows[np.isin(labels.codes, unknown)])
        raise UnreadableRuns(
            f"column {column!r} of {table.source} holds {listed} ({where}), which says no "
            "direction",
            "Write maximize or minimize; if the column says something else, give it another name",
        )
    codes = np.array([int(goal == "minimize") for goal in goals])
    return Labels(("maximize", "minimize"), codes[labels.codes])


@dataclass(frozen=True, slots=True)
class MetricReader:
    """Finds the metric of every task.

    Attributes
    ----------
    column
        Names the metric of each row; None where the name of the scores does.
    direction
        Which way that is better, row by row; None where no column says it.
    tasks
        The columns that name the tasks.
    score
        The column of scores.
    goal
        What a person said of it.
    """

    table: SourceTable
    column: str | None
    direction: Labels | None
    tasks: tuple[str, ...]
    score: str
    goal: Goal | None

    def find_metrics(
        self, rows: Rows, wanted: str | None
    ) -> tuple[Rows, dict[str, TaskMetric], tuple[str, ...]]:
        """Keep the rows of the metric that was named, or of all, one per task.

        Returns
        -------
        The rows, the metric of each of their tasks, and a note on tasks that lack it.
        """
        metrics = Labels((self.score,), np.zeros_like(rows.row))
        if self.column is not None:
            metrics = _ignore_case(self.table.label_runs(self.column))
        direction, notes = self.direction, tuple[str, ...]()
        if wanted is not None and self.column is not None:
            is_chosen = self._choose(metrics, wanted)
            notes = _note_tasks_without(metrics, rows.task, is_chosen)
            rows, metrics = rows.keep(is_chosen), metrics.keep(is_chosen)
            direction = direction and direction.keep(is_chosen)
        self._require_one(metrics, rows.task)
        named = _take_by_task(rows.task, metrics)
        told: Mapping[str, Any] = {}
        if direction is not None:
            self._require_one_way(direction, rows.task)
            told = _take_by_task(rows.task, direction)
        return rows, self._settle(named, told), notes

    def _choose(self, metrics: Labels, wanted: str) -> BoolArray:
        """Which rows are of the metric that was named."""
        for code, name in enumerate(metrics.names):
            if normalise(name) == normalise(wanted):
                is_chosen: BoolArray = metrics.codes == code
                return is_chosen
        raise UnknownName(
            f"no row of {self.table.source} is of the metric {wanted!r}",
            suggest_names(wanted, metrics.names),
        )

    def _require_one(self, metrics: Labels, task: Labels) -> None:
        """Refuse two metrics on one task: they would be taken for runs of one."""
        differs = differ_within(task.codes, metrics)
        if not differs.any():
            return
        first = task.codes[differs][0]
        counts = np.bincount(metrics.codes[task.codes == first], minlength=len(metrics.names))
        names = [metrics.names[code] for code in np.flatnonzero(counts).tolist()]
        listed = enumerate_names(
            f"{name}: {_count_rows(n)}" for name, n in zip(names, counts[counts > 0], strict=True)
        )
        parts = ",".join(filter(None, (*self.tasks, self.column)))
        raise UnreadableRuns(
            f"{self._place(task.names[first])} holds {len(names)} metrics ({listed})",
            f"Keep one with --metric {names[0]!r} (from Python: metric={names[0]!r}), or make each "
            f"a task of its own with --task {parts}",
        )

    def _require_one_way(self, direction: Labels, task: Labels) -> None:
        differs = differ_within(task.codes, direction)
        if not differs.any():
            return
        first = task.codes[differs][0]
        counts = np.bincount(direction.codes[task.codes == first])
        raise UnreadableRuns(
            f"scores of {self._place(task.names[first])} are to maximize in "
            f"{_count_rows(counts[0])} and to minimize in {_count_rows(counts[1])}",
            "Give all rows of a task one direction",
        )

    def _settle(self, named: Mapping[str, str], told: Mapping[str, Goal]) -> dict[str, TaskMetric]:
        """Find the direction of every task's metric, and refuse what contradicts itself."""
        if not told and len({*named.values()}) == 1:
            goal = resolve_goal(next(iter(named.values())), self.goal)
            return {task: TaskMetric(metric, goal) for task, metric in named.items()}
        settled, unknown = {}, {}
        for task, metric in named.items():
            says = [*self._list_ways(metric, told.get(task))]
            for way, goal in says[1:]:
                if goal != says[0][1]:
                    raise self._explain_contradiction(task, metric, (says[0], (way, goal)))
            if says:
                settled[task] = TaskMetric(metric, says[0][1])
            else:
                unknown[metric] = task
        if unknown:
            raise UnknownDirection(
                f"nothing says whether a higher {enumerate_names(map(repr, unknown))} is better "
                f"({self._place(next(iter(unknown.values())))})",
                "Add a column direction that says maximize or minimize in every row; --maximize or "
                "--minimize (from Python: goal=) will do if it holds for all tasks",
            )
        return settled

    def _list_ways(self, metric: str, told: Goal | None) -> Iterator[tuple[str, Goal]]:
        """Who says which way a metric is better."""
        if told is not None:
            yield "its column of directions", told
        known = known_goal(metric)
        if known is not None and not (is_bare_score(metric) and (told or self.goal)):
            yield "its name", known
        if self.goal is not None:
            yield f"--{self.goal}", resolve_goal(metric, self.goal)

    def _explain_contradiction(
        self, task: str, metric: str, says: tuple[tuple[str, Goal], tuple[str, Goal]]
    ) -> UnknownDirection:
        ways = join_words([f"{goal} by {way}" for way, goal in says])
        return UnknownDirection(
            f"{metric!r} in {self._place(task)} is to {ways}",
            "Let all say the same: mend the column, leave out the option, or give the metric the "
            "name of what it is (neg_rmse for an rmse that was turned round)",
        )

    def _place(self, task: str) -> str:
        return f"task {task!r} of {self.table.source}" if task else self.table.source


def _ignore_case(metrics: Labels) -> Labels:
    """Take names that differ in case only as one metric, spelled as it first appears."""
    labels = metrics.by_appearance()
    place: dict[str, int] = {}
    codes = [place.setdefault(normalise(name), len(place)) for name in labels.names]
    first = dict(zip(codes[::-1], labels.names[::-1], strict=True))
    names = tuple(first[code] for code in range(len(place)))
    return Labels(names, np.array(codes)[labels.codes])


def _take_by_task(task: Labels, labels: Labels) -> dict[str, Any]:
    """Give the label of each task, whose rows all have the same."""
    code = np.full(len(task.names), -1)
    code[task.codes] = labels.codes
    return {
        name: labels.names[each]
        for name, each in zip(task.names, code.tolist(), strict=True)
        if each >= 0
    }


def _note_tasks_without(metrics: Labels, task: Labels, is_chosen: BoolArray) -> tuple[str, ...]:
    """Name the tasks that have other metrics only."""
    without = np.setdiff1d(task.codes, task.codes[is_chosen]).tolist()
    if not without:
        return ()
    metric = metrics.names[metrics.codes[is_chosen][0]]
    listed = enumerate_names(task.names[code] for code in without)
    return (f"nothing is said of {listed}, where no {metric} was measured",)


def _count_rows(n: int) -> str:
    return f"{n:,} row{'' if n == 1 else 's'}"
