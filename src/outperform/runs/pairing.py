"""Scores of two algorithms side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from outperform.errors import DuplicateRuns, InvalidScores, TooFewRuns, UnpairedScores
from outperform.runs.arrays import BoolArray, FloatArray, IntArray
from outperform.runs.labels import Numerals
from outperform.runs.naming import enumerate_names, enumerate_rows

if TYPE_CHECKING:
    from outperform.runs.table import Runs


@dataclass(frozen=True, slots=True)
class PairedScores:
    """Scores of two algorithms, entry i of both from the same replicate."""

    a: FloatArray = field(compare=False, repr=False)
    b: FloatArray = field(compare=False, repr=False)
    replicates: Sequence[str]  # the labels; positions from 1 where rows were paired in order
    n_dropped: int  # replicates left out because a score was missing or infinite


@dataclass(frozen=True, slots=True)
class SeparateScores:
    """Scores of two algorithms that have no runs in common."""

    a: FloatArray = field(compare=False, repr=False)
    b: FloatArray = field(compare=False, repr=False)
    n_dropped: int  # runs left out because their score was missing or infinite


@dataclass(frozen=True, slots=True)
class ValidatedScores:
    """Scores of one algorithm, with the validation scores that choose among its runs."""

    score: FloatArray = field(compare=False, repr=False)
    validation: FloatArray | None = field(compare=False, repr=False)  # None where it has none
    n_dropped: int  # runs left out because a score was missing or infinite


@dataclass(frozen=True, slots=True)
class Cell:
    """The rows of one algorithm on one task, and how messages call them."""

    algorithm: str
    place: str  # "runs.csv", or "task 'cifar' of runs.csv"
    rows: IntArray = field(compare=False, repr=False)


def pair_cells(runs: "Runs", a: Cell, b: Cell, *, drop_incomplete: bool) -> PairedScores:
    """Pair by replicate where the table has replicates, by order of rows otherwise."""
    _require_runs(a)
    _require_runs(b)
    if runs.replicates is None:
        scores_a, scores_b, labels, n_unmatched = _pair_in_order(runs, a, b)
    else:
        scores_a, scores_b, labels, n_unmatched = _pair_by_replicate(runs, a, b, drop_incomplete)
    complete = np.isfinite(scores_a) & np.isfinite(scores_b)
    if not complete.all():
        if not drop_incomplete:
            require_finite(runs, a)
            require_finite(runs, b)
        scores_a, scores_b = scores_a[complete], scores_b[complete]
        labels = tuple(label for label, keep in zip(labels, complete, strict=True) if keep)
    n_dropped = n_unmatched + int(np.count_nonzero(~complete))
    if len(labels) < 2:
        raise TooFewRuns(
            f"{a.algorithm!r} and {b.algorithm!r} have {_count(len(labels), 'pair')} in {a.place}",
            "Run both with the same seeds, at least twice; `outperform plan` says how often",
        )
    return PairedScores(scores_a, scores_b, labels, n_dropped)


def separate_cells(runs: "Runs", a: Cell, b: Cell, *, drop_incomplete: bool) -> SeparateScores:
    """Take the scores of both without pairing them."""
    scores = []
    for cell in (a, b):
        _require_runs(cell)
        if runs.replicates is not None:
            _order_by_replicate(runs, cell)  # refuses duplicates
        scores.append(finite_scores(runs, cell, drop_incomplete=drop_incomplete))
        if len(scores[-1]) < 2:
            raise TooFewRuns(
                f"{cell.algorithm!r} has {_count(len(scores[-1]), 'run')} in {cell.place}",
                "Run it again with other seeds; `outperform plan` says how often",
            )
    n_dropped = len(a.rows) + len(b.rows) - len(scores[0]) - len(scores[1])
    return SeparateScores(scores[0], scores[1], n_dropped)


def validate_cell(runs: "Runs", cell: Cell, *, drop_incomplete: bool) -> ValidatedScores:
    """Take the scores of a cell with its validation scores, if it has any."""
    _require_runs(cell)
    if runs.replicates is not None:
        _order_by_replicate(runs, cell)  # refuses duplicates
    score = runs.score[cell.rows]
    validation = None if runs.validation is None else runs.validation[cell.rows]
    if validation is None or np.isnan(validation).all():
        kept = finite_scores(runs, cell, drop_incomplete=drop_incomplete)
        return ValidatedScores(kept, None, score.size - kept.size)
    complete = np.isfinite(score) & np.isfinite(validation)
    if not drop_incomplete:
        require_finite(runs, cell)
        require_finite(runs, cell, runs.validation, "validation scores")
    n_dropped = int(np.count_nonzero(~complete))
    return ValidatedScores(score[complete], validation[complete], n_dropped)


def finite_scores(runs: "Runs", cell: Cell, *, drop_incomplete: bool) -> FloatArray:
    """Take the scores of a cell in the order of its rows."""
    if not drop_incomplete:
        require_finite(runs, cell)
    scores = runs.score[cell.rows]
    return scores[np.isfinite(scores)]


def require_finite(
    runs: "Runs", cell: Cell, scores: FloatArray | None = None, what: str = "scores"
) -> None:
    """Refuse scores, by default those of the runs, that are missing or infinite."""
    scores = runs.score if scores is None else scores
    wrong = cell.rows[~np.isfinite(scores[cell.rows])]
    if len(wrong):
        raise InvalidScores(
            f"{cell.algorithm!r} has {len(wrong)} of {len(cell.rows)} {what} missing or infinite "
            f"in {cell.place} ({enumerate_rows(runs.row[wrong])})",
            "Complete them, or pass --drop-incomplete to leave them out",
        )


def _pair_in_order(
    runs: "Runs", a: Cell, b: Cell
) -> tuple[FloatArray, FloatArray, Sequence[str], int]:
    if len(a.rows) != len(b.rows):
        raise UnpairedScores(
            f"cannot pair {len(a.rows)} runs of {a.algorithm!r} with {len(b.rows)} of "
            f"{b.algorithm!r} in {a.place}: no column says which belong together",
            "Name such a column with --replicate, or pass --unpaired",
        )
    labels = Numerals(np.arange(1, len(a.rows) + 1))
    return runs.score[a.rows], runs.score[b.rows], labels, 0


def _pair_by_replicate(
    runs: "Runs", a: Cell, b: Cell, drop_incomplete: bool
) -> tuple[FloatArray, FloatArray, Sequence[str], int]:
    (scores_a, has_a), (scores_b, has_b) = (_order_by_replicate(runs, cell) for cell in (a, b))
    is_shared = has_a & has_b
    if is_shared.all():
        return scores_a, scores_b, runs.replicates or (), 0
    shared, only_a, only_b = map(np.flatnonzero, (is_shared, has_a & ~has_b, has_b & ~has_a))
    if len(shared) == 0:
        raise _no_match(runs, a, b, only_a, only_b)
    n_unmatched = len(only_a) + len(only_b)
    if n_unmatched > 0 and not drop_incomplete:
        raise _unmatched(runs, (a, only_a), (b, only_b), n_shared=len(shared))
    return scores_a[shared], scores_b[shared], _names(runs, shared), n_unmatched


def _order_by_replicate(runs: "Runs", cell: Cell) -> tuple[FloatArray, BoolArray]:
    """Put a score at the code of its replicate, and say which replicates have one."""
    n_replicates = len(runs.replicates or ())
    codes = runs.replicate[cell.rows]
    has_score = np.zeros(n_replicates, dtype=bool)
    has_score[codes] = True
    if np.count_nonzero(has_score) < len(codes):
        raise _duplicates(runs, cell)
    scores = np.empty(n_replicates)
    scores[codes] = runs.score[cell.rows]
    return scores, has_score


def _duplicates(runs: "Runs", cell: Cell) -> DuplicateRuns:
    codes = runs.replicate[cell.rows]
    counts = np.bincount(codes)
    repeated = np.flatnonzero(counts > 1)
    rows = runs.row[cell.rows[codes == repeated[0]]]
    more = f"; {len(repeated) - 1} more repeat too" if len(repeated) > 1 else ""
    used = ",".join(runs.replicate_columns) or "replicate"
    if runs.spare_columns:
        columns = ",".join((*runs.replicate_columns, *runs.spare_columns))
        remedy = f"If these columns tell the runs apart, pass --replicate {columns}"
    else:
        remedy = (
            "Remove the copies, or name all columns that tell runs apart: "
            f"--replicate {used},COLUMN"
        )
    return DuplicateRuns(
        f"{cell.algorithm!r} has {counts[repeated[0]]} runs with {used} "
        f"{_names(runs, repeated[:1])[0]!r} in {cell.place} ({enumerate_rows(rows)}{more})",
        remedy,
    )


def _no_match(runs: "Runs", a: Cell, b: Cell, only_a: IntArray, only_b: IntArray) -> UnpairedScores:
    used = ",".join(runs.replicate_columns) or "replicate"
    shown = [enumerate_names(_names(runs, codes), limit=3) for codes in (only_a, only_b)]
    return UnpairedScores(
        f"the seeds of {a.algorithm!r} and {b.algorithm!r} do not match: no {used} is shared "
        f"in {a.place} ({shown[0]} against {shown[1]})",
        "Run both with the same seeds, or pass --unpaired",
    )


def _unmatched(
    runs: "Runs", of_a: tuple[Cell, IntArray], of_b: tuple[Cell, IntArray], *, n_shared: int
) -> UnpairedScores:
    used = ",".join(runs.replicate_columns) or "replicate"
    parts = [
        f"{len(codes)} for {cell.algorithm!r} only "
        f"({enumerate_names(_names(runs, codes), limit=3)})"
        for cell, codes in (of_a, of_b)
        if len(codes)
    ]
    return UnpairedScores(
        f"not every {used} has a run of both {of_a[0].algorithm!r} and {of_b[0].algorithm!r} "
        f"in {of_a[0].place}: {n_shared} for both, {', '.join(parts)}",
        "Add the missing runs, pass --drop-incomplete to leave them out, or pass --unpaired",
    )


def _names(runs: "Runs", codes: IntArray) -> tuple[str, ...]:
    names = runs.replicates or ()
    return tuple(names[code] for code in codes.tolist())


def _require_runs(cell: Cell) -> None:
    if len(cell.rows) == 0:
        raise TooFewRuns(
            f"{cell.algorithm!r} has no run in {cell.place}",
            "Add its runs, or compare on a task that both have",
        )


def _count(n: int, noun: str) -> str:
    return f"no {noun}" if n == 0 else f"one {noun} only" if n == 1 else f"{n} {noun}s"
