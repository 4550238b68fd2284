"""Scores of all algorithms on one task, side by side."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from outperform.runs.labels import FloatArray, IntArray, Numerals, label_integers

if TYPE_CHECKING:
    from outperform.runs.pairing import Cell
    from outperform.runs.table import Runs


def lay_out_scores(
    runs: "Runs", rows: IntArray, sizes: IntArray
) -> tuple[FloatArray, Sequence[str]] | None:
    """Put scores into lines of these sizes, one column per replicate; see `Runs.score_grid`.

    Parameters
    ----------
    rows : shape (n_rows,)
        Those of the first algorithm, then those of the second, and so on.
    sizes : shape (n_algorithms,)

    Returns
    -------
    None where a replicate stands twice in a line.
    """
    if not len(rows):
        return np.empty((len(sizes), 0)), ()
    column, labels = _number_columns(runs, rows, sizes)
    place = np.repeat(np.arange(len(sizes)) * len(labels), sizes) + column
    is_taken = np.zeros(len(sizes) * len(labels), dtype=bool)
    is_taken[place] = True
    if np.count_nonzero(is_taken) < len(rows):
        return None
    grid = np.full(len(is_taken), np.nan)
    grid[place] = runs.score[rows]
    grid[np.isinf(grid)] = np.nan
    return grid.reshape(len(sizes), len(labels)), labels


def _number_columns(
    runs: "Runs", rows: IntArray, sizes: IntArray
) -> tuple[IntArray, Sequence[str]]:
    """Give each row its column, and each column the label of its replicate, or its number."""
    if runs.replicates is None:
        first = np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.arange(len(rows)) - first, Numerals(np.arange(1, sizes.max() + 1))
    present = label_integers(runs.replicate[rows])
    assert isinstance(present.names, Numerals)
    codes = present.names.integers
    if isinstance(runs.replicates, Numerals):
        return present.codes, Numerals(runs.replicates.integers[codes])
    return present.codes, tuple(map(runs.replicates.__getitem__, codes.tolist()))


def has_duplicates(runs: "Runs", cell: "Cell") -> bool:
    """Whether a replicate stands twice in a cell."""
    codes = runs.replicate[cell.rows]
    return len(np.unique(codes)) < len(codes)
