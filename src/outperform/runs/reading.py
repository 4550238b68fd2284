"""Runs from anybody's table, which may say in every row what it measures, and which way."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from outperform.errors import UnknownColumn, UnknownDirection, UnknownName, UnreadableRuns
from outperform.runs.columns import (
    ALGORITHM,
    DIRECTION,
    METRIC,
    REPLICATE,
    SCORE,
    TASK,
    At,
    Roles,
    Wanted,
    assign_roles,
    data_of,
    explain_no_score,
    find_column,
    find_score,
    find_validation,
    kind_of,
    normalise,
    recognise,
)
from outperform.runs.files import open_source
from outperform.runs.formats import UNNAMED, is_sequence, tabulate_columns, tabulate_scores
from outperform.runs.labels import FloatArray, Labels, differ_within, repeat_label
from outperform.runs.metrics import (
    Goal,
    TaskMetric,
    is_bare_score,
    known_goal,
    looks_like_score,
    resolve_goal,
)
from outperform.runs.row_kinds import RowReader, Rows, assemble, check_at, read_rows
from outperform.runs.source_table import SourceTable
from outperform.runs.suspicions import Doubt, check_doubts
from outperform.runs.table import Runs
from outperform.runs.wide import RowKind, explain_transposed, is_transposed, read_wide
from outperform.wording import count, enumerate_names, enumerate_rows, join_words, suggest_names

_DECIMAL = re.compile(r"[+-]?\d*\.\d+")
_WORDS: dict[str, Goal] = {
    **dict.fromkeys(("maximize", "maximise", "max", "higher", "up"), "maximize"),
    **dict.fromkeys(("minimize", "minimise", "min", "lower", "down"), "minimize"),
}


def read_runs(
    source: object,
    *,
    algorithm: str | Sequence[str] | None = None,
    task: str | Sequence[str] | None = None,
    replicate: str | Sequence[str] | None = None,
    metric: str | None = None,
    validation: str | None = None,
    goal: Goal | None = None,
    wide: bool = False,
    rows: RowKind = "replicates",
    at: At | None = None,
    accept: Doubt | Sequence[Doubt] = (),
) -> Runs:
    """Read a table of scores.

    Parameters
    ----------
    source
        A file (CSV, TSV, JSON Lines, Parquet), a pandas or polars data frame, a list of dicts,
        a dict of columns, or a dict of scores by algorithm: `{"a": [0.9, 0.8]}` or
        `{"a": {seed: 0.9}}`.
    algorithm, task, replicate
        Columns to use where their names are not recognised; several are joined, as in
        `"seed,fold"`. In a wide table, `algorithm` names the columns that are algorithms.
    metric
        The column of scores. In a wide table, and for scores by algorithm, only their name.
    validation
        The column of validation scores.
    goal
        Whether higher or lower is better, where the metric's name does not tell.
    wide
        Each column is an algorithm.
    rows
        What each row of a wide table is.
    at
        Which row of a learning curve counts, if rows are points of one: `"last"`,
        `"best-validation"` or the number of a step.
    accept
        What is right although it looks wrong, so that it is no reason to refuse a comparison:
        `"binary"`, `"constant"`, `"counts"`, `"examples"`, `"margin"`, `"nested"`, `"outlier"`,
        `"pooled"`, `"redrawn"`, `"repeated"`, `"scale"`, `"settings"` or `"sorted"`.

    Examples
    --------
    >>> runs = read_runs({"resnet": [0.9, 0.8], "vgg": [0.7, 0.8]}, metric="accuracy")
    >>> print(runs)
    4 runs of 2 algorithms (maximize accuracy, from the dict)
    >>> runs.pair("resnet", "vgg").b
    array([0.7, 0.8])
    """
    named = (algorithm, task, replicate, metric, validation)
    wanted, only = Wanted(*named, goal, check_at(at), check_doubts(accept)), UNNAMED
    if isinstance(source, Mapping):
        table, wanted, wide = _open_dict(source, wanted, wide)
    else:
        table, only = open_source(source)
    return read_wide(table, wanted, rows) if wide else _read_long(table, wanted, only)


def _open_dict(
    source: Mapping[Any, Any], wanted: Wanted, wide: bool
) -> tuple[SourceTable, Wanted, bool]:
    """Make a table of a dict, and say whether each of its columns is an algorithm."""
    if not source:
        raise UnreadableRuns("the dict is empty", "Give it scores by algorithm")
    columns = [(str(name), values) for name, values in source.items() if is_sequence(values)]
    names_algorithms = any(
        normalise(name) in ALGORITHM and any(isinstance(value, str) for value in values)
        for name, values in columns
    )
    if wide or wanted.algorithm is not None or names_algorithms:
        return tabulate_columns(source), wanted, wide
    # As in `compare`, numbers of which nothing else is said are scores: higher is better.
    wanted = replace(wanted, metric=wanted.metric or "score")
    if any(_labels_rows(*column) for column in columns):
        return tabulate_columns(source), wanted, True
    table = tabulate_scores(source, wanted.metric or "")
    return table, replace(wanted, task=None, replicate=None, validation=None), False


def _labels_rows(name: str, values: Any) -> bool:
    """Whether values are seeds, tasks, steps and the like, not scores of an algorithm."""
    if normalise(name) in (*TASK, *REPLICATE):
        return True
    known = kind_of(name) in ("status", "step", "example")
    return known and all(isinstance(value, str | int | np.integer) for value in values)


def _read_long(table: SourceTable, wanted: Wanted, only: str) -> Runs:
    """Read a table with one row per run; `only` is the algorithm where no column names any."""
    try:
        roles = assign_roles(table.names, wanted, table.source)
    except UnknownColumn as error:
        raise _explain_value(table, wanted) or error from None
    metrics = _find_metric_column(table, (*roles.free, *roles.task))
    metric = wanted.metric
    names_row = metrics is not None and normalise(metric or "") not in map(normalise, table.names)
    score, validation = _find_numbers(table, roles, wanted, None if names_row else metric, metrics)
    rows = read_rows(table, roles, [score] if validation is None else [score, validation], only)
    direction = _find_direction(table, roles.free)
    reader = _MetricReader(table, metrics, direction, roles.task, score, wanted.goal)
    rows, by_task, notes = reader.find_metrics(rows, metric if names_row else None)
    turned, name = None, ""
    if validation is not None:
        of_row = metrics is not None and is_bare_score(validation)
        name = "validation" if of_row else validation  # of the metric that the row names
        goals = {task: known_goal(name) or each.goal for task, each in by_task.items()}
        signs = [-1 if goals.get(task) == "minimize" else 1 for task in rows.task.names]
        turned = np.array(signs)[rows.task.codes] * rows.numbers[1]  # higher is better
    kept, about_rows = RowReader(table, rows, roles, turned, name).keep_runs(wanted.at)
    notes = (*notes, *about_rows)
    return assemble(table, kept, roles, wanted, by_task, notes=notes, validation_metric=name)


def _explain_value(table: SourceTable, wanted: Wanted) -> UnknownColumn | None:
    """Say that what should name a column is a value of one, if it is."""
    ways = {
        "algorithm": (ALGORITHM, "name the algorithms after the file"),
        "task": (TASK, "look at one task with --on {} (from Python: compare_runs(..., task={}))"),
        "replicate": (REPLICATE, "remove the other rows of the file if only this should count"),
    }
    for option, (known, way) in ways.items():
        named = getattr(wanted, option) or ()
        for name in named.split(",") if isinstance(named, str) else named:
            likely = [*recognise(table.names, known), *filter(None, table.names)]
            column = next((each for each in likely if name in table.label(each).names), None)
            if column is not None and normalise(name) not in map(normalise, table.names):
                return UnknownColumn(
                    f"no column {name!r} in {table.source}: it is a value of column {column!r}",
                    f"Pass --{option} {column!r}, and {way.format(repr(name), repr(name))}",
                )
    return None


def _find_numbers(
    table: SourceTable, roles: Roles, wanted: Wanted, metric: str | None, metrics: str | None
) -> tuple[str, str | None]:
    """Find the columns of scores, `metric` if named, and of validation scores."""
    others = [name for name in roles.free if name != metrics]
    named = None
    if wanted.validation is not None:
        named = find_column(wanted.validation, others, table.source)
    candidates = [n for n in others if n != named and not data_of(n)]
    score = find_score(table, candidates, metric, may_be_wide=not roles.algorithm)
    if score is None and named is not None and data_of(named) != "validation":
        score = named  # the only score may choose as well
    if score is None:
        raise _explain_missing_score(table, roles, others)
    validation = named or find_validation(table, others, score)
    return score, None if validation == score else validation


def _explain_missing_score(
    table: SourceTable, roles: Roles, others: Sequence[str]
) -> UnreadableRuns:
    """Say what the table looks like instead of a long one."""
    numeric = [name for name in others if table.holds_numbers(name)]
    if decimals := [name for name in table.names if _DECIMAL.fullmatch(name)]:
        return UnreadableRuns(
            f"the first row of {table.source} holds a number ({decimals[0]}) where names of "
            "columns should be",
            "Start it with such a row: algorithm,seed,accuracy",
        )
    if is_transposed(table, roles, others):
        return explain_transposed(table)
    if apart := [name for name in numeric if data_of(name)]:
        return UnknownColumn(
            f"{table.source} has scores of validation or training data ({enumerate_names(apart)}), "
            "but no column looks like the score to report",
            f"Name it with --metric; --metric {apart[0]!r} reports those",
        )
    if not roles.algorithm and len(numeric) > 1:
        return UnreadableRuns(
            f"{table.source} looks wide: columns {enumerate_names(numeric)} hold numbers, "
            "and none names an algorithm",
            "Add --wide if each column is an algorithm (from Python: wide=True), or name the "
            "column of algorithms with --algorithm",
        )
    if means := [cell for name in others for cell in table.head(name) if "±" in str(cell)]:
        return UnreadableRuns(
            f"{table.source} holds means with their deviations ({means[0]}), not runs",
            "Compare two of them with `outperform compare --summary TABLE A B` (from Python: "
            "compare_published_table)",
        )
    return explain_no_score(table, numeric)


def _find_metric_column(table: SourceTable, names: Sequence[str]) -> str | None:
    """Find the column that names the metric of each row; None where the score's name does."""
    for name in recognise(names, METRIC):
        if not table.holds_text(name):
            continue
        # Scores have no name of their own (`test_score`): in `metric,accuracy`, it is a distance.
        bare = any(is_bare_score(each) and looks_like_score(each) for each in table.names)
        if recognise(names, SCORE) or (bare and any(map(known_goal, table.label(name).names))):
            return name
    return None


def _find_direction(table: SourceTable, names: Sequence[str]) -> Labels | None:
    """Find the goal of each row, where a column says it; any other may be called `goal` too."""
    said = {}
    for name in recognise(names, DIRECTION):
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
class _MetricReader:
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
            self._refuse_other_scales(rows.task, rows.numbers[0])
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

    def _refuse_other_scales(self, task: Labels, score: FloatArray) -> None:
        """Refuse bare scores that are shares on one task, and larger on another, such as errors."""
        if len(task.names) < 2:
            return
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
            f"{self.score!r} of {self.table.source} lies {' and '.join(places)}: nothing says that "
            "higher is better on both, as for an accuracy, and not lower on one, as for an error",
            'Pass --maximize (from Python: goal="maximize") if higher is better on all tasks; if '
            "not, add a column direction that says maximize or minimize in every row, or a column "
            "metric",
        )

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
