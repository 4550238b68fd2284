"""Runs from anybody's table."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from outperform.errors import UnknownColumn, UnreadableRuns
from outperform.runs.columns import (
    ALGORITHM,
    REPLICATE,
    TASK,
    At,
    Roles,
    Wanted,
    assign_roles,
    explain_no_score,
    find_column,
    find_score,
    find_validation,
    normalise,
    read_name,
    recognise,
)
from outperform.runs.files import open_source
from outperform.runs.formats import UNNAMED, is_sequence, tabulate_columns, tabulate_scores
from outperform.runs.learning_curves import check_at
from outperform.runs.metric_columns import (
    MetricReader,
    find_direction,
    find_metric_column,
    refuse_other_scales,
)
from outperform.runs.metrics import (
    Goal,
    TaskMetric,
    is_bare_score,
    known_goal,
    looks_like_score,
    resolve_goal,
)
from outperform.runs.row_kinds import assemble, keep_runs, read_rows
from outperform.runs.source_table import Rows, SourceTable
from outperform.runs.suspicions import Doubt, check_doubts
from outperform.runs.table import Runs
from outperform.runs.wide import RowKind, explain_transposed, is_transposed, read_wide
from outperform.wording import enumerate_names

_DECIMAL = re.compile(r"[+-]?\d*\.\d+")


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
    at = None if at is None else check_at(at)
    wanted, only = Wanted(*named, goal, at, check_doubts(accept)), UNNAMED
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
        read_name(name).plain in ALGORITHM and any(isinstance(value, str) for value in values)
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
    said = read_name(name)
    if said.plain in (*TASK, *REPLICATE):
        return True
    known = said.kind in ("status", "step", "example")
    return known and all(isinstance(value, str | int | np.integer) for value in values)


def _read_long(table: SourceTable, wanted: Wanted, only: str) -> Runs:
    """Read a table with one row per run; `only` is the algorithm where no column names any."""
    try:
        roles = assign_roles(table.names, wanted, table.source)
    except UnknownColumn as error:
        raise _explain_value(table, wanted) or error from None
    metrics = find_metric_column(table, roles) if roles.metrics else None
    metric = wanted.metric
    names_row = metrics is not None and normalise(metric or "") not in map(normalise, table.names)
    score, validation = _find_numbers(table, roles, wanted, None if names_row else metric, metrics)
    rows = read_rows(table, roles, [score] if validation is None else [score, validation], only)
    direction = find_direction(table, roles.directions) if roles.directions else None
    notes: tuple[str, ...] = ()
    if metrics is None and direction is None:
        by_task = _take_metric(score, wanted.goal, rows, table.source)
    else:
        reader = MetricReader(table, metrics, direction, roles.task, score, wanted.goal)
        rows, by_task, notes = reader.find_metrics(rows, metric if names_row else None)
    turned, name = None, ""
    if validation is not None:
        of_row = metrics is not None and is_bare_score(validation)
        name = "validation" if of_row else validation  # of the metric that the row names
        goals = {task: known_goal(name) or each.goal for task, each in by_task.items()}
        signs = [-1 if goals.get(task) == "minimize" else 1 for task in rows.task.names]
        turned = np.array(signs)[rows.task.codes] * rows.numbers[1]  # higher is better
    kept, about_rows = keep_runs(table, rows, roles, wanted.at, (turned, name))
    notes = (*notes, *about_rows)
    return assemble(table, kept, roles, wanted, by_task, notes=notes, validation_metric=name)


def _take_metric(score: str, goal: Goal | None, rows: Rows, source: str) -> dict[str, TaskMetric]:
    """Take the name of the scores for the metric of every task."""
    tasks = rows.task.names
    if goal is None and len(tasks) > 1 and is_bare_score(score):
        refuse_other_scales(score, rows, source)
    return dict.fromkeys(tasks, TaskMetric(score, resolve_goal(score, goal)))


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
    validating = [name for name in others if read_name(name).data == "validation"]
    candidates = [name for name in others if name != named and not read_name(name).data]
    score = find_score(table, candidates, metric, may_be_wide=not roles.algorithm)
    if score is None and named is not None and read_name(named).data != "validation":
        score = named  # the only score may choose as well
    if score is None:
        raise _explain_missing_score(table, roles, others)
    validation = named
    if named is None and validating:
        validation = find_validation(table, validating, score)
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
    if apart := [name for name in numeric if read_name(name).data]:
        apart = [*filter(looks_like_score, apart)] or apart
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
