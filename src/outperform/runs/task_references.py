"""What tables say of tasks: any column, and the scores by which tasks become comparable."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from outperform.errors import InvalidInput, UnknownColumn, UnknownName, UnreadableRuns
from outperform.runs.columns import TASK, find_column, recognise
from outperform.runs.files import open_file
from outperform.runs.labels import differ_within
from outperform.runs.metrics import is_share
from outperform.runs.source_table import SourceTable, parse_number
from outperform.runs.suspicions import LARGEST_FRACTION
from outperform.wording import enumerate_names, enumerate_rows

if TYPE_CHECKING:
    from outperform.runs.table import Runs

BASELINE = ("baseline", "low", "random")
TARGET = ("target", "high", "human")
_COLUMNS = "Give it one row per task, with the columns task, baseline and target"


def read_references(path: str | Path) -> dict[str, tuple[float, float]]:
    """Read the scores of a baseline, which become 0, and of a target, which become 1.

    From a table in any format of runs, with one row per task, whose columns are called `task`,
    `baseline` (or `low`, `random`) and `target` (or `high`, `human`). Both are given by task, in
    the metric's own sign.
    """
    table = open_file(Path(path))
    task, *numbers = (_find(table, known) for known in (TASK, BASELINE, TARGET))
    labels = table.label_runs(task)
    if repeated := np.flatnonzero(np.bincount(labels.codes) > 1).tolist():
        where = enumerate_rows(table.rows[labels.codes == repeated[0]])
        more = f"; {len(repeated) - 1} more repeat too" if len(repeated) > 1 else ""
        raise UnreadableRuns(
            f"{table.source} has task {labels.names[repeated[0]]!r} more than once ({where}{more})",
            "Keep one row per task",
        )
    baseline, target = (column.tolist() for column in table.parse(numbers))
    references = zip(labels.spell(), zip(baseline, target, strict=True), strict=True)
    return _check_pairs(dict(references), table.source)


def take_references(runs: "Runs", baseline: str, target: str) -> dict[str, tuple[float, float]]:
    """Take baseline and target of every task from two columns of a table of runs.

    Examples
    --------
    >>> from outperform.runs import read_runs
    >>> rows = [{"model": m, "task": "pong", "score": 3, "low": -21, "human": 15} for m in "ab"]
    >>> take_references(read_runs(rows), "low", "human")
    {'pong': (-21.0, 15.0)}
    """
    columns = [_parse(runs, name) for name in (baseline, target)]
    references = {task: (columns[0][task], columns[1][task]) for task in runs.tasks}
    return _check_pairs(references, runs.source)


def _parse(runs: "Runs", column: str) -> dict[str, float]:
    numbers = {}
    for task, text in runs.task_values(column).items():
        number = parse_number(text)
        if number is None:
            raise UnreadableRuns(
                f"column {column!r} of {runs.source} holds {text!r} on task {task!r}, where a "
                "number should be",
                "Name the columns with the scores of a baseline and of a target",
            )
        numbers[task] = number
    return numbers


def check_references(
    references: Mapping[str, tuple[float, float]], tasks: Iterable[str]
) -> dict[str, tuple[float, float]]:
    """Give the references of these tasks, in their order, and refuse to go without one."""
    wanted = [*tasks]
    if missing := [task for task in wanted if task not in references]:
        raise UnknownName(
            f"{len(missing)} of {len(wanted)} tasks have no baseline and target: "
            f"{enumerate_names(map(repr, missing))}",
            f"Add a row for each, spelled alike (there are: {enumerate_names(references)})",
        )
    return {task: references[task] for task in wanted}


def check_ways(references: Mapping[str, tuple[float, float]], runs: "Runs") -> None:
    """Refuse a target that is worse than its baseline, and references in another unit."""
    for task, (baseline, target) in references.items():
        if (target > baseline) != (runs.goal_on(task) == "maximize"):
            raise InvalidInput(
                f"the target {target:g} of task {task!r} is worse than its baseline {baseline:g}, "
                f"as {runs.metric_on(task)} is to {runs.goal_on(task)}",
                "Swap the two, or say which way is better (--maximize, --minimize, a column "
                "direction)",
            )
        if runs.goal_on(task) == "maximize" and is_share(runs.metric_on(task)):
            scores = runs.score[runs.task == runs.tasks.index(task)]
            _check_unit(task, references[task], float(np.nanmax(scores, initial=0)))


def _check_unit(task: str, references: tuple[float, float], highest: float) -> None:
    """Refuse fractions beside per cent: all scores would seem to be far from both references."""
    if min(max(references), highest) <= 1 and max(*references, highest) > LARGEST_FRACTION:
        raise InvalidInput(
            f"baseline {references[0]:g} and target {references[1]:g} of task {task!r} look like "
            f"{'fractions' if max(references) <= 1 else 'per cent'}, and its scores, up to "
            f"{highest:g}, like {'per cent' if highest > 1 else 'fractions'}",
            "Give both in one unit",
        )


def _find(table: SourceTable, known: Sequence[str]) -> str:
    candidates = recognise(table.names, known)
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise UnknownColumn(
            f"columns {enumerate_names(candidates)} of {table.source} may all be the {known[0]}",
            "Keep one of them",
        )
    listed = enumerate_names(filter(None, table.names))
    raise UnknownColumn(
        f"{table.source} has no column {known[0]} (it has: {listed})",
        f"{_COLUMNS} (or {' or '.join(known[1:])} for {known[0]})",
    )


def _check_pairs(
    references: dict[str, tuple[float, float]], source: str
) -> dict[str, tuple[float, float]]:
    for task, pair in references.items():
        for name, value in zip(("baseline", "target"), pair, strict=True):
            if not math.isfinite(value):
                what = "missing" if math.isnan(value) else f"{value:g}"
                problem = f"the {name} of task {task!r} in {source} is {what}"
                raise InvalidInput(problem, "Give both as finite numbers")
        if pair[0] == pair[1]:
            raise InvalidInput(
                f"baseline and target of task {task!r} in {source} are both {pair[0]:g}, so "
                "nothing lies between them",
                "Give two different scores, or leave the task out of the runs",
            )
    return references


def take_task_values(runs: "Runs", column: str) -> dict[str, str]:
    """Give the value that all rows of a task share; see `Runs.task_values`."""
    if not runs.others.names:
        raise UnknownColumn(
            f"no column {column!r} in {runs.source}, which knows nothing else of its tasks",
            "Give a file of runs that has such a column",
        )
    name = find_column(column, runs.others.names, runs.source)
    labels = runs.others.label(name, np.arange(len(runs)))
    differs = differ_within(runs.task, labels)
    if differs.any():
        first = int(runs.task[differs][0])
        codes = dict.fromkeys(labels.codes[runs.task == first].tolist())
        listed = enumerate_names(labels.names[code] or "(empty)" for code in codes)
        raise UnreadableRuns(
            f"column {name!r} has {len(codes)} values in {_place(runs, first)} ({listed})",
            "Give all rows of a task the same, or name another column",
        )
    last = np.empty(len(runs.tasks), dtype=np.int64)
    last[runs.task] = labels.codes
    values = {
        task: labels.names[code] for task, code in zip(runs.tasks, last.tolist(), strict=True)
    }
    for number, value in enumerate(values.values()):
        if not value:
            where = enumerate_rows(runs.row[runs.task == number])
            raise UnreadableRuns(
                f"column {name!r} is empty in {_place(runs, number)} ({where})",
                f"Give every task its {name}",
            )
    return values


def _place(runs: "Runs", task: int) -> str:
    name = runs.tasks[task]
    return f"task {name!r} of {runs.source}" if name else runs.source
