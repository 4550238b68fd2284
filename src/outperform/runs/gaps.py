"""Replicates that one of two algorithms has no complete run of."""

from typing import TYPE_CHECKING

import numpy as np

from outperform.runs.arrays import BoolArray, IntArray

if TYPE_CHECKING:
    from outperform.runs.pairing import Cell
    from outperform.runs.table import Runs


def note_gaps(runs: "Runs", a: "Cell", b: "Cell") -> tuple[str, ...]:
    """Say whose complete runs are missing, if the two share some replicates but not all."""
    if runs.replicates is None:
        return ()
    complete = [cell.rows[np.isfinite(runs.score[cell.rows])] for cell in (a, b)]
    has_a, has_b = (_mark_replicates(runs, rows) for rows in complete)
    if not (has_a & has_b).any():
        return ()
    is_any = _mark_replicates(runs, np.concatenate((a.rows, b.rows)))
    lacks_a, lacks_b = (int(np.count_nonzero(is_any & ~has)) for has in (has_a, has_b))
    if lacks_a == lacks_b:
        return ()
    (fewest, other), (most, name) = sorted([(lacks_a, a.algorithm), (lacks_b, b.algorithm)])
    return (
        f"{name} lacks a complete run for {most} of {np.count_nonzero(is_any)} "
        f"{runs.replicate_name}s, {other} for {fewest}: if those went badly, leaving them out "
        f"flatters {name}",
    )


def _mark_replicates(runs: "Runs", rows: IntArray) -> BoolArray:
    """Whether some of these rows are of a replicate."""
    is_marked = np.zeros(len(runs.replicates or ()), dtype=bool)
    is_marked[runs.replicate[rows]] = True
    return is_marked
