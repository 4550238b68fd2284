"""Tables in which each column is an algorithm."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from outperform.errors import InvalidInput, UnknownDirection, UnknownName, UnreadableRuns
from outperform.runs.assembling import About, Keys, assemble, join_or_repeat
from outperform.runs.cells import CellTable, Columns, Table
from outperform.runs.columns import (
    ALGORITHM,
    SCORE,
    Parts,
    Wanted,
    assign_parts,
    normalise,
    recognise,
)
from outperform.runs.labels import Labels
from outperform.runs.long import explain_transposed, is_transposed
from outperform.runs.metrics import Goal, looks_like_score, resolve_goal
from outperform.runs.naming import suggest_names
from outperform.runs.table import Runs

RowKind: TypeAlias = Literal["replicates", "tasks"]


def read_wide(table: Table, wanted: Wanted, goal: Goal | None, *, rows: RowKind) -> Runs:
    """Read a table in which each column is an algorithm, each row a replicate or a task."""
    if rows not in ("replicates", "tasks"):
        raise InvalidInput(f"rows cannot be {rows!r}", 'Pass "replicates" or "tasks"')
    head = table.head()
    if wanted.algorithm is None:
        _refuse_long(head)
    metric, resolved = _name_metric(wanted, goal)
    algorithms, parts = _find_algorithms(head, wanted)
    columns = table.take([*parts.task, *parts.replicate], algorithms)
    keys = _label_rows(columns, parts, rows).tile(algorithms)
    return assemble(
        keys,
        np.concatenate(columns.numbers),
        None,
        row=np.tile(columns.rows, len(algorithms)),
        about=About(metric, resolved, table.source, parts.replicate, parts.spare),
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


def _label_rows(columns: Columns, parts: Parts, rows: RowKind) -> Keys:
    n_rows, n_task = len(columns.rows), len(parts.task)
    task = join_or_repeat(columns.labels[:n_task], "", n_rows)
    replicate = None
    if parts.replicate:
        replicate = join_or_repeat(columns.labels[n_task:], "", n_rows)
    positions = np.arange(n_rows)
    if rows == "replicates" and replicate is None:
        replicate = Labels(tuple(str(i) for i in range(n_rows)), positions)
    if rows == "tasks" and not parts.task:
        task = Labels(tuple(f"row {row}" for row in columns.rows), positions)
    return Keys(Labels(("",), np.zeros(n_rows, dtype=np.int64)), task, replicate)


def _find_algorithms(head: CellTable, wanted: Wanted) -> tuple[list[str], Parts]:
    """Find the columns that are algorithms, and those that label the rows."""
    chosen = _choose(wanted.algorithm, head)
    labels = Wanted(algorithm=(), task=wanted.task, replicate=wanted.replicate)
    candidates = [name for name in head.names if name not in chosen]
    parts = assign_parts(candidates, labels, head.source)
    if chosen:
        return chosen, parts
    taken = {*parts.task, *parts.replicate, *parts.spare, ""}
    others = [name for name in head.names if name not in taken]
    if is_transposed(head, parts, others):
        raise explain_transposed(head)
    for name in others:
        if head.holds_text(name):
            raise _explain_text(head, name)
    if not others:
        raise UnreadableRuns(
            f"no column of {head.source} is left to be an algorithm",
            "Give each algorithm a column of scores",
        )
    return others, parts


def _choose(given: str | Sequence[str] | None, head: CellTable) -> list[str]:
    """Take the columns a person named, in the table's own spelling."""
    if given is None:
        return []
    names = [name for name in head.names if name]
    if isinstance(given, str):
        given = [given] if given in names else [name.strip() for name in given.split(",")]
    chosen = []
    for name in given:
        if name not in names and name in map(str, head.column(names[0])):
            raise explain_transposed(head)
        if name not in names:
            raise UnknownName(f"no algorithm {name!r} in {head.source}", suggest_names(name, names))
        chosen.append(name)
    return list(dict.fromkeys(chosen))


def _refuse_long(head: CellTable) -> None:
    named = [name for name in recognise(head.names, ALGORITHM) if head.holds_text(name)]
    scores = [n for n in head.names if normalise(n) in SCORE or looks_like_score(n)]
    if named and scores:
        raise UnreadableRuns(
            f"{head.source} looks long: column {named[0]!r} names algorithms and column "
            f"{scores[0]!r} holds scores",
            "Leave out --wide",
        )


def _explain_text(head: CellTable, name: str) -> UnreadableRuns:
    return UnreadableRuns(
        f"column {name!r} of {head.source} holds text, so it is no algorithm",
        "Name the columns that are with --algorithm A,B; if it labels the rows, say so with "
        f"--replicate {name!r} or --task {name!r}",
    )
