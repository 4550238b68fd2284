"""Runs from anybody's table: one row per run, or each column an algorithm."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np

from outperform.errors import InvalidInput, UnknownDirection, UnknownName, UnreadableRuns
from outperform.runs.columns import (
    ALGORITHM,
    REPLICATE,
    SCORE,
    TASK,
    Roles,
    Wanted,
    assign_roles,
    kind_of,
    normalise,
    recognise,
)
from outperform.runs.formats import (
    UNNAMED,
    is_sequence,
    tabulate_columns,
    tabulate_scores,
)
from outperform.runs.labels import Labels, Numerals
from outperform.runs.long import (
    Ways,
    assemble,
    explain_transposed,
    is_transposed,
    read_long,
    read_rows,
)
from outperform.runs.metrics import Goal, TaskMetric, looks_like_score, resolve_goal
from outperform.runs.row_kinds import At, Chooser, RowReader, Rows, check_at
from outperform.runs.source_table import SourceTable, convert_number
from outperform.runs.sources import open_source
from outperform.runs.suspicions import Doubt, check_doubts
from outperform.runs.table import Runs
from outperform.wording import suggest_names

RowKind: TypeAlias = Literal["replicates", "tasks"]


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
        `"binary"`, `"constant"`, `"outlier"`, `"repeated"`, `"scale"` or `"sorted"`.

    Examples
    --------
    >>> runs = read_runs({"resnet": [0.9, 0.8], "vgg": [0.7, 0.8]}, metric="accuracy")
    >>> print(runs)
    4 runs of 2 algorithms (maximize accuracy, from the dict)
    >>> runs.pair("resnet", "vgg").b
    array([0.7, 0.8])
    """
    wanted = Wanted(algorithm, task, replicate, metric, validation)
    ways = Ways(check_at(at), check_doubts(accept))
    if isinstance(source, Mapping):
        return _read_dict(source, wanted, goal, ways, wide=wide, rows=rows)
    table, only = open_source(source)
    if wide:
        return read_wide(table, wanted, goal, rows=rows, ways=ways)
    return read_long(table, wanted, goal, only=only, ways=ways)


def _read_dict(
    source: Mapping[Any, Any],
    wanted: Wanted,
    goal: Goal | None,
    ways: Ways,
    *,
    wide: bool,
    rows: RowKind,
) -> Runs:
    if not source:
        raise UnreadableRuns("the dict is empty", "Give it scores by algorithm")
    if wide:
        return read_wide(tabulate_columns(source), wanted, goal, rows=rows, ways=ways)
    if wanted.algorithm is not None or _names_algorithms(source):
        return read_long(tabulate_columns(source), wanted, goal, only=UNNAMED, ways=ways)
    # As in `compare`, numbers of which nothing else is said are scores: higher is better.
    metric = wanted.metric or "score"
    if _labels_rows(source):
        unnamed = replace(wanted, metric=metric)
        return read_wide(tabulate_columns(source), unnamed, goal, rows=rows, ways=ways)
    table = tabulate_scores(source, metric)
    return read_long(table, Wanted(metric=metric), goal, only=UNNAMED, ways=ways)


def _names_algorithms(source: Mapping[Any, Any]) -> bool:
    """Whether one of the columns of a dict holds names of algorithms."""
    return any(
        normalise(str(name)) in ALGORITHM
        and is_sequence(values)
        and any(isinstance(value, str) for value in values)
        for name, values in source.items()
    )


def _labels_rows(source: Mapping[Any, Any]) -> bool:
    """Whether one of the columns of a dict holds seeds, tasks or steps, not scores."""
    return any(
        is_sequence(values)
        and (normalise(str(name)) in (*TASK, *REPLICATE) or _tells_rows(str(name), values))
        for name, values in source.items()
    )


def _tells_rows(name: str, values: Any) -> bool:
    """Whether values are statuses, steps or numbers of examples, not scores of an algorithm."""
    known = kind_of(name) in ("status", "step", "example")
    return known and all(isinstance(value, str | int | np.integer) for value in values)


def read_wide(
    table: SourceTable, wanted: Wanted, goal: Goal | None, *, rows: RowKind, ways: Ways
) -> Runs:
    """Read a table in which each column is an algorithm, each row a replicate or a task."""
    if rows not in ("replicates", "tasks"):
        raise InvalidInput(f"rows cannot be {rows!r}", 'Pass "replicates" or "tasks"')
    if wanted.algorithm is None:
        _refuse_long(table)
    metric, resolved = _name_metric(wanted, goal)
    algorithms = _choose(wanted.algorithm, table) or _find_algorithms(table, wanted)
    roles = _assign_others(table, wanted, algorithms)
    read = read_rows(table, roles, algorithms, "")
    kept, notes = RowReader(table, read, roles, Chooser(None, "")).keep_runs(ways.at)
    named = _name_rows(kept, roles, rows)
    return assemble(
        table,
        named.tile(algorithms),
        roles,
        by_task=dict.fromkeys(named.task.names, TaskMetric(metric, resolved)),
        validation_metric="",
        notes=notes,
        accepted=ways.accepted,
    )


def _name_metric(wanted: Wanted, goal: Goal | None) -> tuple[str, Goal]:
    """Name the metric of numbers that stand under the names of algorithms."""
    if wanted.metric is None and goal is None:
        raise UnknownDirection(
            "nothing says whether higher numbers are better: "
            "their columns are named after algorithms, not after a metric",
            "Pass --metric NAME, --maximize or --minimize "
            '(from Python: metric=NAME, goal="maximize" or goal="minimize")',
        )
    metric = wanted.metric or "score"
    return metric, resolve_goal(metric, goal)


def _name_rows(read: Rows, roles: Roles, rows: RowKind) -> Rows:
    """Name the rows of a table that does not."""
    positions = np.arange(len(read.row))
    if rows == "replicates" and read.replicate is None:
        return replace(read, replicate=Labels(Numerals(positions), positions))
    if rows == "tasks" and not roles.task:
        names = tuple(f"row {row}" for row in read.row)
        return replace(read, task=Labels(names, positions))
    return read


def _assign_others(table: SourceTable, wanted: Wanted, algorithms: Sequence[str]) -> Roles:
    """Say what the columns are for that are no algorithms."""
    is_algorithm = set(algorithms)
    names = [name for name in table.names if name not in is_algorithm]
    labels = Wanted(algorithm=(), task=wanted.task, replicate=wanted.replicate)
    return assign_roles(names, labels, table.source)


def _find_algorithms(table: SourceTable, wanted: Wanted) -> list[str]:
    """Find the columns that are algorithms: those that are nothing else."""
    roles = _assign_others(table, wanted, ())
    labels = {*roles.task, *roles.replicate, *roles.spare, roles.status, ""}
    others = [n for n in table.names if n not in labels and not _counts_rows(table, n)]
    if is_transposed(table, roles, others):
        raise explain_transposed(table)
    for name in others:
        if table.holds_text(name):
            raise UnreadableRuns(
                f"column {name!r} of {table.source} holds text, so it is no algorithm",
                "Name the columns that are with --algorithm A,B; if it labels the rows, say so "
                f"with --replicate {name!r} or --task {name!r}",
            )
    if not others:
        raise UnreadableRuns(
            f"no column of {table.source} is left to be an algorithm",
            "Give each algorithm a column of scores",
        )
    return others


def _counts_rows(table: SourceTable, name: str) -> bool:
    """Whether a column holds steps or numbers of examples, not scores of an algorithm."""
    if kind_of(name) not in ("step", "example"):
        return False
    numbers = map(convert_number, table.head(name))
    return all(number is None or float(number).is_integer() for number in numbers)


def _choose(named: str | Sequence[str] | None, table: SourceTable) -> list[str]:
    """Take the columns a person named, in the table's own spelling."""
    if named is None:
        return []
    names = [name for name in table.names if name]
    if isinstance(named, str):
        named = [named] if named in names else [name.strip() for name in named.split(",")]
    for name in named:
        if name not in names and name in map(str, table.head(names[0])):
            raise explain_transposed(table)
        if name not in names:
            problem = f"no algorithm {name!r} in {table.source}"
            raise UnknownName(problem, suggest_names(name, names))
    return list(dict.fromkeys(named))


def _refuse_long(table: SourceTable) -> None:
    named = [name for name in recognise(table.names, ALGORITHM) if table.holds_text(name)]
    scores = [n for n in table.names if normalise(n) in SCORE or looks_like_score(n)]
    if named and scores:
        raise UnreadableRuns(
            f"{table.source} looks long: column {named[0]!r} names algorithms and column "
            f"{scores[0]!r} holds scores",
            "Leave out --wide",
        )
