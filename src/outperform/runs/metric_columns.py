"""Tables that say in every row what it measures, or which way that is better."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from outperform.errors import UnknownDirection, UnknownName, UnreadableRuns
from outperform.runs.columns import SCORE, Roles, normalise, recognise
from outperform.runs.labels import Labels, differ_within, repeat_label
from outperform.runs.metrics import (
    Goal,
    TaskMetric,
    is_bare_score,
    known_goal,
    looks_like_score,
    resolve_goal,
)
from outperform.runs.row_kinds import sums_up_tasks
from outperform.runs.source_table import Rows, SourceTable
from outperform.wording import count, enumerate_names, enumerate_rows, join_words, suggest_names

_WORDS: dict[str, Goal] = {
    **dict.fromkeys(("maximize", "maximise", "max", "higher", "up"), "maximize"),
    **dict.fromkeys(("minimize", "minimise", "min", "lower", "down"), "minimize"),
}


def refuse_other_scales(name: str, rows: Rows, source: str) -> None:
    """Refuse bare scores that are shares on one task, and larger, or by name errors, on another."""
    task, score = rows.task, rows.numbers[0]
    remedy = (
        'Pass --maximize (from Python: goal="maximize") if higher is better on all tasks; if '
        "not, add a column direction that says maximize or minimize in every row, or a column "
        "metric"
    )
    named = [each for each in task.names if looks_like_score(each) and not sums_up_tasks(each)]
    errors = [each for each in named if known_goal(each) == "minimize"]
    if errors:
        raise UnknownDirection(
            f"nothing says that a higher {name!r} of {source} is better, and by their names not on "
            f"{enumerate_names(errors, limit=3)}",
            remedy,
        )
    low, high = np.full(len(task.names), np.inf), np.full(len(task.names), -np.inf)
    np.fmin.at(low, task.codes, score)  # which pass over missing scores
    np.fmax.at(high, task.codes, score)
    shares = np.flatnonzero((low > 0) & (low < 1) & (high <= 1))
    larger = np.flatnonzero((low > 1) & np.isfinite(high))
    if not shares.size or not larger.size:
        return
    places = [
        f"between {low[code]:g} and {high[code]:g} on {task.names[code]!r}"
        for code in (shares[0], larger[0])
    ]
    raise UnknownDirection(
        f"{name!r} of {source} lies {' and '.join(places)}: nothing says that "
        "higher is better on both, as for an accuracy, and not lower on one, as for an error",
        remedy,
    )


def find_metric_column(table: SourceTable, roles: Roles) -> str | None:
    """Find the column that names the metric of each row; None where the score's name does."""
    for name in roles.metrics:
        if not table.holds_text(name):
            continue
        # Scores have no name of their own (`test_score`): in `metric,accuracy`, it is a distance.
        bare = any(is_bare_score(each) and looks_like_score(each) for each in table.names)
        if recognise((*roles.free, *roles.task), SCORE) or (
            bare and any(map(known_goal, table.label(name).names))
        ):
            return name
    return None


def find_direction(table: SourceTable, names: Sequence[str]) -> Labels | None:
    """Find the goal of each row, where a column says it; any other may be called `goal` too."""
    said = {}
    for name in names:
        labels = table.label(name)
        words = [normalise(each).replace("_", " ") for each in labels.names]
        goals = [_WORDS.get(each.removesuffix(" is better")) for each in words]
        if any(goals):
            said[name] = labels, goals
    if len(said) > 1:
        raise UnreadableRuns(
            f"columns {enumerate_names(said)} of {table.source} both say which way is better",
            "Keep one of them",
        )
    if not said:
        return None
    ((column, (labels, goals)),) = said.items()
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
    """Finds the metric of every task."""

    table: SourceTable
    column: str | None  # names the metric of each row; None where the name of the scores does
    direction: Labels | None  # which way that is better, row by row; None where no column says it
    tasks: tuple[str, ...]  # columns that name the tasks
    score: str
    goal: Goal | None  # what a person said

    def find_metrics(
        self, rows: Rows, wanted: str | None
    ) -> tuple[Rows, dict[str, TaskMetric], tuple[str, ...]]:
        """Keep the rows of the metric that was named, or of all, one per task.

        With the metric of each of their tasks, and a note on tasks that lack the one named.
        """
        metrics, direction = repeat_label(self.score, len(rows.row)), self.direction
        if self.column is not None:
            metrics = _ignore_case(self.table.label_runs(self.column))
        notes = []
        if wanted is not None and self.column is not None:
            code = self._choose(metrics, wanted)
            is_chosen = metrics.codes == code
            if without := np.setdiff1d(rows.task.codes, rows.task.codes[is_chosen]).tolist():
                listed = enumerate_names(rows.task.names[each] for each in without)
                metric = metrics.names[code]
                notes.append(f"nothing is said of {listed}, where no {metric} was measured")
            rows, metrics = rows.keep(is_chosen), metrics.keep(is_chosen)
            direction = direction and direction.keep(is_chosen)
        named = self._take_by_task(rows.task, metrics, self._explain_metrics)
        if direction is None and self.goal is None and all(map(is_bare_score, metrics.names)):
            refuse_other_scales(self.score, rows, self.table.source)
        directions: dict[str, Goal] = {}
        if direction is not None:
            directions = self._take_by_task(rows.task, direction, self._explain_directions)
        return rows, self._settle(named, directions), tuple(notes)

    def _choose(self, metrics: Labels, wanted: str) -> int:
        for code, name in enumerate(metrics.names):
            if normalise(name) == normalise(wanted):
                return code
        raise UnknownName(
            f"no row of {self.table.source} is of the metric {wanted!r}",
            suggest_names(wanted, metrics.names),
        )

    def _take_by_task(
        self, task: Labels, labels: Labels, explain: Callable[[str, dict[str, str]], UnreadableRuns]
    ) -> dict[str, Any]:
        """Give the label that all rows of a task share, or explain how many have which."""
        differs = differ_within(task.codes, labels)
        if differs.any():
            first = task.codes[differs][0]
            counts = np.bincount(labels.codes[task.codes == first], minlength=len(labels.names))
            rows = {
                name: count(n, "row")
                for name, n in zip(labels.names, counts.tolist(), strict=True)
                if n
            }
            raise explain(self._place(task.names[first]), rows)
        code = np.full(len(task.names), -1)
        code[task.codes] = labels.codes if len(labels.names) > 1 else 0
        return {
            name: labels.names[each]
            for name, each in zip(task.names, code.tolist(), strict=True)
            if each >= 0
        }

    def _explain_metrics(self, place: str, rows: dict[str, str]) -> UnreadableRuns:
        """Say that a task has two metrics: they would be taken for runs of one."""
        listed = enumerate_names(f"{name}: {n_rows}" for name, n_rows in rows.items())
        first, parts = next(iter(rows)), ",".join(filter(None, (*self.tasks, self.column)))
        return UnreadableRuns(
            f"{place} holds {len(rows)} metrics ({listed})",
            f"Keep one with --metric {first!r} (from Python: metric={first!r}), or make each "
            f"a task of its own with --task {parts}",
        )

    def _explain_directions(self, place: str, rows: dict[str, str]) -> UnreadableRuns:
        return UnreadableRuns(
            f"scores of {place} are to maximize in {rows['maximize']} and to minimize in "
            f"{rows['minimize']}",
            "Give all rows of a task one direction",
        )

    def _settle(
        self, named: Mapping[str, str], directions: Mapping[str, Goal]
    ) -> dict[str, TaskMetric]:
        """Find the direction of every task's metric, and refuse what contradicts itself."""
        if not directions and len({*named.values()}) == 1:
            goal = resolve_goal(next(iter(named.values())), self.goal)
            return {task: TaskMetric(metric, goal) for task, metric in named.items()}
        settled, unknown = {}, {}
        for task, metric in named.items():
            ways = self._list_ways(metric, directions.get(task))
            if len(ways) > 1:
                listed = join_words([f"{goal} by {way}" for goal, way in ways.items()])
                raise UnknownDirection(
                    f"{metric!r} in {self._place(task)} is to {listed}",
                    "Let all say the same: mend the column, leave out the option, or give the "
                    "metric the name of what it is (neg_rmse for an rmse that was turned round)",
                )
            if ways:
                settled[task] = TaskMetric(metric, next(iter(ways)))
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

    def _list_ways(self, metric: str, direction: Goal | None) -> dict[Goal, str]:
        """Which ways a metric is better, and who says so first."""
        ways: dict[Goal, str] = {}
        if direction is not None:
            ways[direction] = "its column of directions"
        known = known_goal(metric)
        if known is not None and not (is_bare_score(metric) and (direction or self.goal)):
            ways.setdefault(known, "its name")
        if self.goal is not None:
            ways.setdefault(resolve_goal(metric, self.goal), f"--{self.goal}")
        return ways

    def _place(self, task: str) -> str:
        return f"task {task!r} of {self.table.source}" if task else self.table.source


def _ignore_case(metrics: Labels) -> Labels:
    """Take names that differ in case only as one metric, spelled as it first appears."""
    labels = metrics.by_appearance()
    spelled: dict[str, str] = {}
    for name in labels.names:
        spelled.setdefault(normalise(name), name)
    place = {plain: code for code, plain in enumerate(spelled)}
    codes = np.array([place[normalise(name)] for name in labels.names])
    return Labels(tuple(spelled.values()), codes[labels.codes])
