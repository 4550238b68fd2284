"""Replicates that one of two algorithms has no complete run of."""

from typing import TYPE_CHECKING

import numpy as np

from outperform.runs.arrays import BoolArray, IntArray

if TYPE_CHECKING:
    from outperform.runs.pairing import Cell
    from outperform.runs.table import Runs


def count_gaps(runs: "Runs", a: "Cell", b: "Cell") -> tuple[int, int]:
    """Count the replicates, or rows where there are none, that each has no complete run of."""
    if runs.replicates is None:
        missing = (~np.isfinite(runs.score[cell.rows]) for cell in (a, b))
        first, second = map(np.count_nonzero, missing)
        return int(first), int(second)
    complete = [cell.rows[np.isfinite(runs.score[cell.rows])] for cell in (a, b)]
    has_a, has_b = (_mark_replicates(runs, rows) for rows in complete)
    if not (has_a & has_b).any():  # independent runs have replicates of their own
        return _count_incomplete(runs, a), _count_incomplete(runs, b)
    is_any = _mark_replicates(runs, np.concatenate((a.rows, b.rows)))
    lacks_a, lacks_b = (int(np.count_nonzero(is_any & ~has)) for has in (has_a, has_b))
    return lacks_a, lacks_b


def note_gaps(runs: "Runs", a: "Cell", b: "Cell") -> tuple[str, ...]:
    """Say whose complete runs are missing, if one lacks more of them than the other."""
    lacks_a, lacks_b = count_gaps(runs, a, b)
    if lacks_a == lacks_b or runs.replicates is None:
        return ()
    (fewest, other), (most, name) = sorted([(lacks_a, a.algorithm), (lacks_b, b.algorithm)])
    n_replicates = len(np.unique(runs.replicate[np.concatenate((a.rows, b.rows))]))
    return (
        f"{name} lacks a complete run for {most} of {n_replicates} "
        f"{runs.replicate_name}s, {other} for {fewest}: if those went badly, leaving them out "
        f"flatters {name}",
    )


def _count_incomplete(runs: "Runs", cell: "Cell") -> int:
    return int(np.count_nonzero(~np.isfinite(runs.score[cell.rows])))


def _mark_replicates(runs: "Runs", rows: IntArray) -> BoolArray:
    """Whether some of these rows are of a replicate."""
    is_marked = np.zeros(len(runs.replicates or ()), dtype=bool)
    is_marked[runs.replicate[rows]] = True
    return is_marked
