"""What the columns of a table say of its tasks, such as the family of each."""

from typing import TYPE_CHECKING

import numpy as np

from outperform.errors import UnknownColumn, UnreadableRuns
from outperform.runs.columns import find_column
from outperform.runs.labels import differ_within
from outperform.wording import enumerate_names, enumerate_rows

if TYPE_CHECKING:
    from outperform.runs.table import Runs


def take_task_values(runs: "Runs", column: str) -> dict[str, str]:
    """Give the value that all rows of a task share; see `Runs.task_values`."""
    if runs.others is None:
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
