"""Tables in which each column is an algorithm."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
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
    read_name,
    recognise,
)
from outperform.runs.labels import FloatArray, Labels, Numerals
from outperform.runs.metrics import TaskMetric, looks_like_score, resolve_goal
from outperform.runs.row_kinds import assemble, keep_runs, read_rows, sums_up_runs, sums_up_tasks
from outperform.runs.source_table import (
    ArrowTexts,
    OtherColumns,
    Rows,
    SourceTable,
    parse_number,
)
from outperform.runs.table import Runs
from outperform.wording import enumerate_names, suggest_names

RowKind: TypeAlias = Literal["replicates", "tasks"]

_OF_OTHERS = re.compile("best|delta|diff|difference|gap|ranking|Δ", re.IGNORECASE)
# What tables say of datasets and of runs, beside settings, times and sizes of test sets.
_DESCRIPTION = re.compile(
    r"#?((n|no|num|number)[ _.]*(of[ _]+)?)?(attributes|classes|clusters|d|dimensions?|examples|"
    r"features|instances|k|labels|n|p|p[ _-]?values?|samples|size|variables)"
)
_FEWEST_COUNTED = 5  # rows, from which on 1, 2, 3, ... hardly are scores
_LOOKS_LIKE_REPLICATE = re.compile(r".*\d")


def read_wide(table: SourceTable, wanted: Wanted, rows: RowKind) -> Runs:
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
    table, wanted, about_labels = _name_labels(table, wanted, rows)
    algorithms, about_columns = _choose(wanted.algorithm, table), ""
    if not algorithms:
        algorithms, about_columns = _leave_out_descriptions(table, _find_algorithms(table, wanted))
    roles = _assign_others(table, wanted, algorithms)
    read = read_rows(table, roles, algorithms, "")
    kept, about_rows = keep_runs(table, read, roles, wanted.at)
    stacked = _stack(_name_rows(kept, roles, rows), algorithms)
    by_task = dict.fromkeys(stacked.task.names, metric)
    notes = (*filter(None, (about_columns,)), *about_labels, *about_rows)
    runs = assemble(table, stacked, roles, wanted, by_task, notes=notes)
    return replace(runs, others=_keep_others(table, stacked, algorithms))


def _name_labels(
    table: SourceTable, wanted: Wanted, rows: RowKind
) -> tuple[SourceTable, Wanted, tuple[str, ...]]:
    """Take text in a first column without a name, as data frames write it, for labels of rows."""
    role = "replicate" if rows == "replicates" else "task"
    known = recognise(table.names, REPLICATE if rows == "replicates" else TASK)
    if table.names[0] or known or getattr(wanted, role) or not table.holds_text(""):
        return table, wanted, ()
    named = replace(table, names=("row", *table.names[1:]))
    notes: tuple[str, ...] = ()
    if rows == "replicates":
        listed = enumerate_names(map(str, table.head("")), limit=3)
        notes = (f"rows ({listed}) are taken for replicates; if they are tasks, pass --rows tasks",)
    change: dict[str, Any] = {role: "row"}
    return named, replace(wanted, **change), notes


def _keep_others(table: SourceTable, rows: Rows, algorithms: Sequence[str]) -> OtherColumns:
    """What columns say of runs that neither are algorithms nor look like further ones."""
    (scores,) = rows.numbers
    kept: dict[str, Sequence[object] | ArrowTexts] = {}
    for name, column in zip(table.names, table.columns, strict=True):
        if name and name not in algorithms and not _look_alike(table.head(name), scores):
            kept[name] = column
    if not kept:
        return OtherColumns(())
    other = replace(table, names=tuple(kept), columns=[*kept.values()])
    return OtherColumns(((other, rows.row),))


def _look_alike(cells: Sequence[object], scores: FloatArray) -> bool:
    """Whether cells are numbers among scores, and as fine as these: `C` may be an algorithm."""
    numbers, scores = _take_numbers(cells), scores[np.isfinite(scores)]
    if not (numbers.size and scores.size and scores.min() <= np.median(numbers) <= scores.max()):
        return False
    return bool((numbers % 1).any() or not (scores % 1).any())


def _take_numbers(cells: Sequence[object]) -> FloatArray:
    numbers: FloatArray = np.array([parse_number(cell) for cell in cells], dtype=float)
    finite: FloatArray = numbers[np.isfinite(numbers)]
    return finite


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
    labels = {*roles.task, *roles.replicate, *roles.spare, *roles.status, ""}
    others = [n for n in table.names if n not in labels and not _counts_steps(table, n)]
    scores = [name for name in others if not _counts_rows(table, name)]
    others = scores if len(scores) > 1 else others
    if is_transposed(table, roles, others):
        raise explain_transposed(table)
    for name in others:
        if table.holds_text(name):
            raise UnreadableRuns(
                f"column {name!r} of {table.source} holds text, so it is no algorithm",
                "Name the columns that are with --algorithm A,B; if it labels the rows, say so "
                f"with --replicate {name!r} or --task {name!r}",
            )
        if len(others) > 2 and _sums_up(name):
            raise UnreadableRuns(
                f"column {name!r} of {table.source} seems to sum up others, so it is no algorithm",
                "Name the columns that are with --algorithm A,B",
            )
    if not others:
        raise UnreadableRuns(
            f"no column of {table.source} is left to be an algorithm",
            "Give each algorithm a column of scores",
        )
    return others


def _leave_out_descriptions(table: SourceTable, names: list[str]) -> tuple[list[str], str]:
    """Leave out columns that describe rows, by their names and their numbers, with a note."""
    described = [name for name in names if _names_description(name) and table.holds_numbers(name)]
    others = [name for name in names if name not in described]
    if len(others) < 2:
        return names, ""
    scores = np.concatenate([_take_numbers(table.head(name)) for name in others])
    beyond = np.abs(scores).max(initial=0) / 2  # the worst and the best may have such names too
    low, high = scores.min(initial=np.inf) - beyond, scores.max(initial=-np.inf) + beyond
    middle = {name: np.median(_take_numbers(table.head(name))) for name in described}
    described = [name for name in described if not low <= middle[name] <= high]
    if not described:
        return names, ""
    return [name for name in names if name not in described], (
        f"{enumerate_names(described)} {'is' if len(described) == 1 else 'are'} left out, as "
        f"{'it seems' if len(described) == 1 else 'they seem'} to describe rows: name all columns "
        "that are algorithms with --algorithm if not"
    )


def _names_description(name: str) -> bool:
    said = read_name(name)
    sizes = {"most", "test data", "total", "training"} & said.hints
    return bool(sizes or said.kind in ("setting", "time") or _DESCRIPTION.fullmatch(said.plain))


def _sums_up(name: str) -> bool:
    """Whether a column holds what is made of others, such as their mean, the best, or a rank."""
    return sums_up_runs(name) or sums_up_tasks(name) or _OF_OTHERS.fullmatch(name) is not None


def _counts_steps(table: SourceTable, name: str) -> bool:
    """Whether a column holds steps or numbers of examples, not scores of an algorithm."""
    if read_name(name).kind not in ("step", "example"):
        return False
    numbers = map(parse_number, table.head(name))
    return all(number is None or float(number).is_integer() for number in numbers)


def _counts_rows(table: SourceTable, name: str) -> bool:
    """Whether a column holds the numbers of the rows, such as the index of a data frame."""
    numbers = [parse_number(cell) for cell in table.head(name)]
    counts = [math.nan if number is None else number for number in numbers]
    return len(counts) >= _FEWEST_COUNTED and all(b - a == 1 for a, b in pairwise(counts))


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
    scores = [n for n in table.names if read_name(n).plain in SCORE or looks_like_score(n)]
    if named and scores:
        raise UnreadableRuns(
            f"{table.source} looks long: column {named[0]!r} names algorithms and column "
            f"{scores[0]!r} holds scores",
            "Leave out --wide",
        )


def is_transposed(table: SourceTable, roles: Roles, others: Sequence[str]) -> bool:
    """Whether each row seems to be an algorithm, with a column per replicate."""
    texts = [name for name in (*roles.algorithm, *others) if table.holds_text(name)]
    numeric = [name for name in others if table.holds_numbers(name)]
    if len(texts) != 1 or texts[0] != next(filter(None, table.names)) or len(numeric) < 2:
        return False
    named = table.head(texts[0])
    tells_algorithms = texts[0] in roles.algorithm or all(
        _LOOKS_LIKE_REPLICATE.fullmatch(name) for name in numeric
    )
    return tells_algorithms and len(set(map(str, named))) == len(named)


def explain_transposed(table: SourceTable) -> UnreadableRuns:
    """Say that rows and columns are swapped, or that the rows are summaries."""
    first = next(filter(None, table.names))
    listed = enumerate_names(map(str, table.head(first)), limit=3)
    if {"mean", "average"} & {name.casefold() for name in table.names}:
        return UnreadableRuns(
            f"{table.source} holds a mean of each algorithm ({listed}), not runs",
            "Compare published means with --summary (from Python: compare_published)",
        )
    return UnreadableRuns(
        f"each row of {table.source} seems to be an algorithm ({listed})",
        "Transpose it, so that each column is an algorithm, and add --wide",
    )
