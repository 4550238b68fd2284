"""Tables in which each column is an algorithm."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from outperform.errors import InvalidInput, UnknownDirection, UnknownName, UnreadableRuns
from outperform.runs.assembling import About, Keys, Rows, assemble, join_or_repeat
from outperform.runs.cells import CellTable, Table
from outperform.runs.columns import (
    ALGORITHM,
    SCORE,
    Parts,
    Wanted,
    assign_parts,
    find_status,
    names_example,
    names_step,
    normalise,
    recognise,
)
from outperform.runs.curves import Chooser
from outperform.runs.labels import Labels
from outperform.runs.long import Ways, explain_transposed, is_transposed
from outperform.runs.metrics import Goal, looks_like_score, resolve_goal
from outperform.runs.numbers import convert_number
from outperform.runs.row_kinds import RowReader, find_telltales
from outperform.runs.statuses import explain_unfinished
from outperform.runs.table import Runs
from outperform.wording import suggest_names

RowKind: TypeAlias = Literal["replicates", "tasks"]


def read_wide(
    table: Table,
    wanted: Wanted,
    goal: Goal | None,
    *,
    rows: RowKind,
    ways: Ways | None = None,
) -> Runs:
    """Read a table in which each column is an algorithm, each row a replicate or a task."""
    if rows not in ("replicates", "tasks"):
        raise InvalidInput(f"rows cannot be {rows!r}", 'Pass "replicates" or "tasks"')
    ways = ways or Ways()
    head = table.head()
    if wanted.algorithm is None:
        _refuse_long(head)
    metric, resolved = _name_metric(wanted, goal)
    algorithms, parts = _find_algorithms(head, wanted)
    telltales = find_telltales([name for name in table.names if name not in algorithms], parts)
    parts = replace(parts, replicate=telltales.leave(parts.replicate))
    read = _take(table, parts, algorithms)
    reader = RowReader(table, read, telltales, parts.replicate, Chooser(None, "", resolved))
    kept, notes = reader.keep_runs(ways.at)
    labelled = replace(kept, keys=_label_rows(kept, parts, rows))
    about = About(
        metric=metric,
        goal=resolved,
        source=table.source,
        replicate_columns=parts.replicate,
        spare_columns=parts.spare,
        notes=notes,
        accepted=ways.accepted,
    )
    return assemble(labelled.tile(algorithms), table, about)


def _take(table: Table, parts: Parts, algorithms: Sequence[str]) -> Rows:
    """Read the rows, before they are those of any algorithm."""
    status = find_status([name for name in table.names if name not in algorithms])
    names = [*parts.task, *parts.replicate, *([status] if status else [])]
    columns = table.take(names, algorithms)
    n_rows, n_task = len(columns.rows), len(parts.task)
    of_replicate = columns.labels[n_task : n_task + len(parts.replicate)]
    keys = Keys(
        Labels(("",), np.zeros(n_rows, dtype=np.int64)),
        join_or_repeat(columns.labels[:n_task], "", n_rows),
        join_or_repeat(of_replicate, "", n_rows) if of_replicate else None,
    )
    incomplete = None
    if status:
        incomplete = explain_unfinished(columns.labels[-1], columns.rows, status, table.source)
    return Rows(keys, columns.numbers, columns.rows, incomplete)


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


def _label_rows(read: Rows, parts: Parts, rows: RowKind) -> Keys:
    """Name the rows of a table that does not."""
    keys, positions = read.keys, np.arange(len(read.row))
    if rows == "replicates" and keys.replicate is None:
        numbers = Labels(tuple(str(i) for i in range(len(read.row))), positions)
        return replace(keys, replicate=numbers)
    if rows == "tasks" and not parts.task:
        return replace(keys, task=Labels(tuple(f"row {row}" for row in read.row), positions))
    return keys


def _find_algorithms(head: CellTable, wanted: Wanted) -> tuple[list[str], Parts]:
    """Find the columns that are algorithms, and those that label the rows."""
    chosen = _choose(wanted.algorithm, head)
    labels = Wanted(algorithm=(), task=wanted.task, replicate=wanted.replicate)
    candidates = [name for name in head.names if name not in chosen]
    parts = assign_parts(candidates, labels, head.source)
    if chosen:
        return chosen, parts
    taken = {*parts.task, *parts.replicate, *parts.spare, find_status(candidates), ""}
    others = [name for name in head.names if name not in taken]
    others = [name for name in others if not _tells_rows(head, name)]
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


def _tells_rows(head: CellTable, name: str) -> bool:
    """Whether a column holds steps or numbers of examples, not scores of an algorithm."""
    if not (names_step(name) or names_example(name)):
        return False
    numbers = [convert_number(value) for value in head.column(name)]
    return all(number is None or float(number).is_integer() for number in numbers)


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
