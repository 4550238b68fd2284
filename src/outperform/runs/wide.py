"""Tables in which each column is an algorithm."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from outperform.errors import InvalidInput, UnknownDirection, UnknownName, UnreadableRuns
from outperform.runs.columns import (
    ALGORITHM,
    SCORE,
    Roles,
    Wanted,
    assign_roles,
    kind_of,
    normalise,
    recognise,
)
from outperform.runs.curves import Chooser
from outperform.runs.labels import Labels, Numerals
from outperform.runs.long import Ways, assemble, explain_transposed, is_transposed, read_rows
from outperform.runs.metrics import Goal, looks_like_score, resolve_goal
from outperform.runs.row_kinds import RowReader, Rows
from outperform.runs.source_table import SourceTable, convert_number
from outperform.runs.table import Runs
from outperform.runs.task_metrics import TaskMetric
from outperform.wording import suggest_names

RowKind: TypeAlias = Literal["replicates", "tasks"]


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
    others = [n for n in table.names if n not in labels and not _tells_rows(table, n)]
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


def _tells_rows(table: SourceTable, name: str) -> bool:
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
