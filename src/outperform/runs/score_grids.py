"""Scores of all algorithms on one task side by side, and the questions that they raise.

All that two algorithms are asked about, each beside its neighbour, but for copied sequences: what
chance does in one of 1,000 cells happens in every table of thousands. Nor is anything asked where
all scores on a task are the same, which tells nobody apart.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from outperform.runs.labels import FloatArray, IntArray, Numerals, label_integers
from outperform.runs.metrics import Goal, is_bare_score, is_share
from outperform.runs.nesting import CHANCE_NESTED, find_nesting
from outperform.runs.suspicions import (
    FEWEST_SORTED,
    STAND_INS,
    Sides,
    Suspicion,
    find_suspicions,
)

if TYPE_CHECKING:
    from outperform.runs.table import Runs

_STILL = 1e-9  # steps between scores that may be the same, as a share of the largest
_LARGE = 100  # of which no share, and few other scores, are beyond


def lay_out_scores(
    runs: "Runs", rows: IntArray, sizes: IntArray
) -> tuple[FloatArray, Sequence[str]] | None:
    """Put scores into lines of these sizes, one column per replicate; see `Runs.score_grid`.

    Rows are those of the first algorithm, then those of the second, and so on. None where a
    replicate stands twice in a line.
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


def find_grid_suspicions(
    scores: FloatArray,
    names: Sequence[str],
    *,
    metric: str,
    place: str,
    order: str,
    goal: Goal | None = None,
) -> Iterator[Suspicion]:
    """Every question that scores on one task, a line per algorithm, raise; NaN is a missing run.

    Examples
    --------
    >>> scores = np.array([[0.91, 0.93], [0.92, 0.90], [91.0, 90.0]])
    >>> about = {"metric": "accuracy", "place": "runs.csv", "order": "seed"}
    >>> [each.doubt for each in find_grid_suspicions(scores, ("a", "b", "c"), **about)]
    ['scale']
    """
    if not _deserve_a_look(scores, metric):
        return
    known = [(name, row[~np.isnan(row)]) for name, row in zip(names, scores, strict=True)]
    known = [(name, row) for name, row in known if row.size > 1]
    for (a, of_a), (b, of_b) in pairwise(known):
        for each in find_suspicions(Sides((a, b), (of_a, of_b), metric, place, order, goal)):
            if each.doubt != "repeated":
                yield each


def _deserve_a_look(scores: FloatArray, metric: str) -> bool:
    """Whether any score or row looks unusual: a glance at all spares most pairs."""
    if scores.shape[1] < 2 or np.isnan(scores).all():
        return False
    low, high = np.nanmin(scores), np.nanmax(scores)
    if low == high:
        return False
    largest = max(high, -low)
    if largest > _LARGE:
        return True
    if low <= 1 < high and (is_share(metric) or is_bare_score(metric)):
        return True
    if np.isin(scores, STAND_INS).any() or np.isin(scores, (0, 1)).all():
        return True
    steps = np.diff(scores, axis=1)  # NaN at gaps, which neither rises nor falls
    if (~(np.abs(steps) > _STILL * largest)).all(axis=1).any():
        return True
    rises, falls = (steps > 0).any(axis=1), (steps < 0).any(axis=1)
    return bool(scores.shape[1] >= FEWEST_SORTED and np.count_nonzero(~(rises & falls)) > 1)


def find_grid_nesting(
    columns: Sequence[str], labels: Sequence[str], scores: FloatArray, n_tasks: int
) -> Iterator[Suspicion]:
    """Ask whether differences cluster by a column, as rarely by chance in all tasks as in one."""
    chance = CHANCE_NESTED / (n_tasks * max(len(scores) - 1, 1))
    for a, b in pairwise(scores):
        both = ~np.isnan(a) & ~np.isnan(b)
        shared = [label for label, keep in zip(labels, both.tolist(), strict=True) if keep]
        yield from find_nesting(columns, shared, (a - b)[both], chance=chance)
