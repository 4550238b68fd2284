"""Runs that stand more than once, and what they may be instead of copies."""

from typing import TYPE_CHECKING

import numpy as np

from outperform.errors import DuplicateRuns
from outperform.runs.arrays import IntArray
from outperform.runs.grouping import differ_within, split_groups
from outperform.runs.labels import Labels
from outperform.runs.metrics import known_goal
from outperform.runs.settings import names_setting
from outperform.wording import enumerate_names, enumerate_rows

if TYPE_CHECKING:
    from outperform.runs.pairing import Cell
    from outperform.runs.table import Runs


def explain_duplicates(runs: "Runs", cell: "Cell") -> DuplicateRuns:
    """Say which runs of one algorithm on one task share their replicate, and what to do."""
    codes = runs.replicate[cell.rows]
    counts = np.bincount(codes)
    repeated = np.flatnonzero(counts > 1)
    is_first = codes == repeated[0]
    used = runs.replicate_name
    more = f"; {len(repeated) - 1} more repeat too" if len(repeated) > 1 else ""
    label = (runs.replicates or ())[int(repeated[0])]
    problem = (
        f"{cell.algorithm!r} has {counts[repeated[0]]} runs with {used} {label!r} in {cell.place} "
        f"({enumerate_rows(runs.row[cell.rows[is_first]])}{more})"
    )
    if (spare := _find_spare(runs, cell)) is not None:
        columns = ",".join((*runs.replicate_columns, *spare))
        return DuplicateRuns(
            problem, f"If these columns tell the runs apart, pass --replicate {columns}"
        )
    if settings := _find_settings(runs, cell):
        values = enumerate_names(_values(runs, settings[0], cell.rows[is_first]), limit=3)
        told = f"{settings[0]} ({values})" + "".join(f" and {name}" for name in settings[1:])
        columns = ",".join(settings)
        named = ",".join((*runs.algorithm_columns, *settings))
        return DuplicateRuns(
            f"{problem} that differ in {told}: they are settings of a search, not replicates of "
            "one",
            f"Keep the rows of one setting, make it part of the name with --algorithm {named}, or "
            "ask what the best setting reaches: `outperform best-of` with "
            f"--replicate {used},{columns}",
        )
    return DuplicateRuns(
        problem,
        f"Remove the copies, or name all columns that tell runs apart: --replicate {used},COLUMN",
    )


def _find_spare(runs: "Runs", cell: "Cell") -> tuple[str, ...] | None:
    """Columns of replicates that are not used, if they tell all runs apart."""
    if not runs.spare_columns:
        return None
    group = runs.replicate[cell.rows]
    for name in runs.spare_columns:
        labels = _read(runs, name, cell.rows)
        group = group if labels is None else split_groups(group, labels)
    return runs.spare_columns if len(np.unique(group)) == len(group) else None


def _find_settings(runs: "Runs", cell: "Cell") -> list[str]:
    """Find the hyperparameters that runs of one replicate differ in, by their name or their use."""
    if runs.others is None:
        return []
    used = {*runs.algorithm_columns, *runs.replicate_columns, runs.metric, runs.validation_metric}
    free = [name for name in runs.others.names if name not in used]
    named = [name for name in free if names_setting(name) and _differs(runs, cell, name)]
    return named or [name for name in free if _looks_like_setting(runs, cell, name)][:1]


def _differs(runs: "Runs", cell: "Cell", name: str) -> bool:
    """Whether runs of one replicate differ in a column."""
    labels = _read(runs, name, cell.rows)
    return labels is not None and bool(differ_within(runs.replicate[cell.rows], labels).any())


def _looks_like_setting(runs: "Runs", cell: "Cell", name: str) -> bool:
    """Whether a column tells all runs of one replicate apart, and its values recur in others."""
    labels = None if known_goal(name) else _read(runs, name, cell.rows)
    if labels is None:
        return False
    n_runs, n_values = len(labels.codes), len(np.unique(labels.codes))
    group = split_groups(runs.replicate[cell.rows], labels)
    # What was measured, or notes of when and where, hardly recur.
    return len(np.unique(group)) == n_runs and n_values <= n_runs / 2


def _read(runs: "Runs", name: str, rows: IntArray) -> Labels | None:
    labels = runs.others.read(name) if runs.others else None
    return labels and Labels(labels.names, labels.codes[rows])


def _values(runs: "Runs", name: str, rows: IntArray) -> list[str]:
    labels = _read(runs, name, rows)
    return [labels.names[code] for code in dict.fromkeys(labels.codes.tolist())] if labels else []
