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
    At,
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
    assemble,
    explain_transposed,
    is_transposed,
    read_long,
    read_rows,
)
from outperform.runs.metrics import Goal, TaskMetric, looks_like_score, resolve_goal
from outperform.runs.row_kinds import RowReader, Rows, check_at
from outperform.runs.source_table import SourceTable, parse_number
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
    named = (algorithm, task, replicate, metric, validation)
    wanted, only = Wanted(*named, goal, check_at(at), check_doubts(accept)), UNNAMED
    if isinstance(source, Mapping):
        table, wanted, wide = _open_dict(source, wanted, wide)
    else:
        table, only = open_source(source)
    return _read_wide(table, wanted, rows) if wide else read_long(table, wanted, only)


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


def _read_wide(table: SourceTable, wanted: Wanted, rows: RowKind) -> Runs:
    """Read a table in which each column is an algorithm, each row a replicate or a task."""
    if rows not in ("replicates", "tasks"):
        raise InvalidInput(f"rows cannot be {rows!r}", 'Pass "replicates" or "tasks"')
    if wanted.algorithm is None:
        _refuse_long(table)
    if wanted.metric is None and wanted.goal is None:
        raise UnknownDirection(
            "nothing says whether higher numbers are better: "
            "their columns are named after algorithms, not after a metric",
            "Pass --metric NAME, --maximize or --minimize "
            '(from Python: metric=NAME, goal="maximize" or goal="minimize")',
        )
    name = wanted.metric or "score"
    metric = TaskMetric(name, resolve_goal(name, wanted.goal))
    algorithms = _choose(wanted.algorithm, table) or _find_algorithms(table, wanted)
    roles = _assign_others(table, wanted, algorithms)
    read = read_rows(table, roles, algorithms, "")
    kept, notes = RowReader(table, read, roles).keep_runs(wanted.at)
    stacked = _stack(_name_rows(kept, roles, rows), algorithms)
    return assemble(
        table,
        stacked,
        roles,
        by_task=dict.fromkeys(stacked.task.names, metric),
        validation_metric="",
        notes=notes,
        accepted=wanted.accepted,
    )


def _name_rows(read: Rows, roles: Roles, rows: RowKind) -> Rows:
    """Name the rows of a table that does not."""
    positions = np.arange(len(read.row))
    if rows == "replicates" and read.replicate is None:
        return replace(read, replicate=Labels(Numerals(positions), positions))
    if rows == "tasks" and not roles.task:
        return replace(read, task=Labels(tuple(f"row {row}" for row in read.row), positions))
    return read


def _stack(rows: Rows, algorithms: Sequence[str]) -> Rows:
    """Put the columns of numbers, which are these algorithms, one below the other."""
    n_rows, n_columns = len(rows.row), len(algorithms)
    stacked = replace(rows, numbers=[]).keep(np.tile(np.arange(n_rows), n_columns))
    algorithm = Labels(tuple(algorithms), np.repeat(np.arange(n_columns), n_rows))
    return replace(stacked, algorithm=algorithm, numbers=[np.concatenate(rows.numbers)])


def _assign_others(table: SourceTable, wanted: Wanted, algorithms: Sequence[str]) -> Roles:
    """Say what the columns are for that are no algorithms."""
    is_algorithm = set(algorithms)
    names = [name for name in table.names if name not in is_algorithm]
    return assign_roles(names, replace(wanted, algorithm=(), metric=None), table.source)


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
    numbers = map(parse_number, table.head(name))
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
