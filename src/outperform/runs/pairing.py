"""Scores of two algorithms side by side, or of one alone: whose are missing, what they raise."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress
from typing import TYPE_CHECKING

import numpy as np

from outperform.errors import InvalidScores, TooFewRuns, UnpairedScores
from outperform.runs.columns import read_name
from outperform.runs.confounders import find_confounders, note_confounders, note_settings
from outperform.runs.labels import BoolArray, FloatArray, IntArray, Numerals
from outperform.runs.metrics import Goal, is_share
from outperform.runs.mismatches import (
    explain_unmatched,
    note_spellings,
    note_task_spellings,
    refuse_duplicates,
    write_alike,
)
from outperform.runs.nesting import find_nesting
from outperform.runs.scope import FOLDS, HYPERPARAMETERS
from outperform.runs.source_table import parse_number
from outperform.runs.suspicions import Doubt, Sides, ask, find_suspicions
from outperform.wording import count

if TYPE_CHECKING:
    from outperform.runs.table import Runs

# What trials of a search are not asked, and what is taken for the answer.
_OF_A_SEARCH: dict[Doubt, str] = {
    "pooled": (
        "it is taken for a setting that was searched; if it names data, look at each with --task"
    ),
    "repeated": "settings are taken to change nothing there; if rows are copies, remove them",
}
_DIVERGED = (
    "they are taken for trials that diverged, as some settings do, and the mean is mostly theirs; "
    "if the number stands for a trial without a score, leave it empty"
)


@dataclass(frozen=True, slots=True)
class PairedScores:
    """Scores of two algorithms, entry i of both from the same replicate."""

    a: FloatArray = field(compare=False, repr=False)
    b: FloatArray = field(compare=False, repr=False)
    replicates: Sequence[str]  # the labels; positions from 1 where rows were paired in order
    n_dropped: int  # replicates left out because a score was missing or infinite
    notes: tuple[str, ...] = ()  # what a reader of results must know of these scores
    lacking: tuple[int, int] = (0, 0)  # replicates that either has no complete run of
    # Of each pair among all replicates that either has, and how many these are.
    places: IntArray = field(default_factory=lambda: np.arange(0), compare=False, repr=False)
    n_places: int = 0


@dataclass(frozen=True, slots=True)
class SeparateScores:
    """Scores of two algorithms that have no runs in common."""

    a: FloatArray = field(compare=False, repr=False)
    b: FloatArray = field(compare=False, repr=False)
    n_dropped: int  # runs left out because their score was missing or infinite
    notes: tuple[str, ...] = ()  # what a reader of results must know of these scores
    lacking: tuple[int, int] = (0, 0)  # replicates that either has no complete run of


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
    metric: str
    goal: Goal
    rows: IntArray = field(compare=False, repr=False)


def pair_cells(runs: "Runs", a: Cell, b: Cell, *, drop_incomplete: bool) -> PairedScores:
    """Pair by replicate where the table has replicates, by order of rows otherwise."""
    if not (len(a.rows) and len(b.rows)):
        raise _explain_no_runs(runs, b if len(a.rows) else a)
    note: tuple[str, ...] = ()
    if runs.replicates is None:
        pairs = _pair_in_order(runs, a, b)
    else:
        is_clear = isinstance(runs.replicates, Numerals)  # 0 has one spelling among integers
        if not (is_clear or np.array_equal(runs.replicate[a.rows], runs.replicate[b.rows])):
            runs, note = _pair_equal_numbers(runs, a, b)
        pairs = _pair_by_replicate(runs, a, b, drop_incomplete)
    complete = np.isfinite(pairs.a) & np.isfinite(pairs.b)
    if not complete.all():
        if not drop_incomplete:
            _require_finite(runs, a)
            _require_finite(runs, b)
        pairs = _keep_pairs(pairs, complete)
    if len(pairs.a) < 2:
        raise TooFewRuns(
            f"{a.algorithm!r} and {b.algorithm!r} have {_count(len(pairs.a), 'pair')} in {a.place}",
            "Run both with the same seeds, at least twice; `outperform plan` says how often"
            f"{_point_to_rank(runs)}",
        )
    order = "rows" if runs.replicates is None else runs.replicate_name
    of_both = pairs.a, pairs.b
    sides = Sides((a.algorithm, b.algorithm), of_both, a.metric, a.place, order, a.goal)
    notes = (*_question(runs, (a, b), sides, pairs.replicates), *note)
    if not pairs.n_dropped:
        return replace(pairs, notes=notes)
    lacking, about_gaps = find_gaps(runs, a, b)
    return replace(pairs, notes=(*notes, *about_gaps), lacking=lacking)


def _keep_pairs(pairs: PairedScores, kept: BoolArray) -> PairedScores:
    """Leave out the other pairs, and count them."""
    return replace(
        pairs,
        a=pairs.a[kept],
        b=pairs.b[kept],
        replicates=tuple(compress(pairs.replicates, kept)),
        n_dropped=pairs.n_dropped + int(np.count_nonzero(~kept)),
        places=pairs.places[kept],
    )


def separate_cells(runs: "Runs", a: Cell, b: Cell, *, drop_incomplete: bool) -> SeparateScores:
    """Take the scores of both without pairing them."""
    scores = []
    for cell in (a, b):
        if not len(cell.rows):
            raise _explain_no_runs(runs, cell)
        refuse_duplicates(runs, cell)
        scores.append(finite_scores(runs, cell, drop_incomplete=drop_incomplete))
        if len(scores[-1]) < 2:
            raise TooFewRuns(
                f"{cell.algorithm!r} has {_count(len(scores[-1]), 'run')} in {cell.place}",
                f"Run it again with other seeds; `outperform plan` says how often"
                f"{_point_to_rank(runs)}",
            )
    n_dropped = len(a.rows) + len(b.rows) - len(scores[0]) - len(scores[1])
    of_both = scores[0], scores[1]
    sides = Sides((a.algorithm, b.algorithm), of_both, a.metric, a.place, "", a.goal)
    lacking, about_gaps = find_gaps(runs, a, b, paired=False)
    notes = (*_question(runs, (a, b), sides), *about_gaps)
    return SeparateScores(scores[0], scores[1], n_dropped, notes, lacking)


def _point_to_rank(runs: "Runs") -> str:
    """One run on each of several tasks tells of tasks like these."""
    return "; over all tasks `outperform rank` tells" if len(runs.tasks) > 1 else ""


def _question(
    runs: "Runs", cells: tuple[Cell, Cell], sides: Sides, labels: Sequence[str] = ()
) -> tuple[str, ...]:
    """Refuse scores that raise questions, and note what speaks against taking them as they are."""
    columns, suspicions = runs.replicate_columns, find_suspicions(sides)
    if len(columns) > 1 or "setting" in [read_name(each).kind for each in columns]:
        differences = sides.scores[0] - sides.scores[1] if sides.order else np.empty(0)
        suspicions = chain(find_nesting(columns, labels, differences), suspicions)
    rows, paired = np.concatenate((cells[0].rows, cells[1].rows)), sides.order != ""
    confounders = find_confounders(runs, rows, sides.place, paired=paired)
    notes = [*ask(chain(suspicions, confounders), runs.accepted)]
    if len(runs.algorithms) > 2:
        notes.extend(note_spellings(runs.algorithms, sides.names))
    for cell in cells:
        notes.extend(note_settings(runs, cell.algorithm, cell.rows))
    return (*notes, *note_confounders(runs, rows, paired=paired))


def question_alone(
    runs: "Runs", algorithm: str, task: str | None = None, *, are_trials: bool = False
) -> tuple[str, ...]:
    """Refuse runs that raise a question, as comparing them would; note what else speaks of them.

    Parameters
    ----------
    are_trials
        Whether they may be trials of a search, which differ in their settings.
    """
    cell = runs.cell(algorithm, task)
    scores = finite_scores(runs, cell, drop_incomplete=True)
    n_missing = cell.rows.size - scores.size
    if scores.size < 2:
        return ()
    sides = Sides((algorithm,), (scores,), cell.metric, cell.place, "", cell.goal)
    # One algorithm that never varies is compared with nobody, and a caveat says so of it.
    suspicions = (each for each in find_suspicions(sides) if each.doubt != "constant")
    confounders = find_confounders(runs, cell.rows, cell.place, paired=False)
    settings = [*note_settings(runs, algorithm, cell.rows)]
    # Nearly every search has settings whose names nobody knows, and others that change nothing.
    is_search = are_trials and (settings or HYPERPARAMETERS in runs.varied)
    answers = dict(_OF_A_SEARCH) if is_search else {}
    if is_search and not _is_wild_for_better(sides):
        answers["outlier"] = _DIVERGED
    asked, answered = [], []
    for each in (*suspicions, *confounders):
        if each.doubt in answers and each.doubt not in runs.accepted:
            answered.append(f"{each.fact}: {answers[each.doubt]}")
        else:
            asked.append(each)
    return (
        *ask(asked, runs.accepted),
        *answered,
        *note_spellings(runs.algorithms, (algorithm,)),
        *(() if are_trials else settings),
        *(() if are_trials or not n_missing else (_describe_missing(algorithm, n_missing),)),
        *_note_folds(runs, task),
    )


def _describe_missing(algorithm: str, n_missing: int) -> str:
    return (
        f"{count(n_missing, 'incomplete run was', 'incomplete runs were')} left out: if these went "
        f"badly, {algorithm} varies more than the others show"
    )


def _is_wild_for_better(sides: Sides) -> bool:
    """Whether scores are wild that are better than others, or shares: these cannot diverge."""
    if is_share(sides.metric):
        return True
    (scores,), middle = sides.scores, np.median(sides.scores[0])
    better = (np.minimum if sides.goal == "minimize" else np.maximum)(scores, middle)
    return any(
        each.doubt == "outlier" for each in find_suspicions(replace(sides, scores=(better,)))
    )


def _note_folds(runs: "Runs", task: str | None) -> Iterator[str]:
    if FOLDS in runs.scope_on(task).varied:
        yield (
            "folds share most of their training data, and some are easier than others: runs are "
            "not independent, and their luck is that of the folds too; for the luck of training, "
            "give one row per seed, its mean over all folds"
        )


def validate_cell(runs: "Runs", cell: Cell, *, drop_incomplete: bool) -> ValidatedScores:
    """Take the scores of a cell with its validation scores, if it has any."""
    if not len(cell.rows):
        raise _explain_no_runs(runs, cell)
    refuse_duplicates(runs, cell)
    score = runs.score[cell.rows]
    validation = None if runs.validation is None else runs.validation[cell.rows]
    if validation is None or np.isnan(validation).all():
        kept = finite_scores(runs, cell, drop_incomplete=drop_incomplete)
        return ValidatedScores(kept, None, score.size - kept.size)
    complete = np.isfinite(score) & np.isfinite(validation)
    if not drop_incomplete:
        _require_finite(runs, cell)
        _require_finite(runs, cell, runs.validation, "validation scores")
    n_dropped = int(np.count_nonzero(~complete))
    return ValidatedScores(score[complete], validation[complete], n_dropped)


def finite_scores(runs: "Runs", cell: Cell, *, drop_incomplete: bool) -> FloatArray:
    """Take the scores of a cell in the order of its rows."""
    if not drop_incomplete:
        _require_finite(runs, cell)
    scores = runs.score[cell.rows]
    return scores[np.isfinite(scores)]


def _require_finite(
    runs: "Runs", cell: Cell, scores: FloatArray | None = None, what: str = "scores"
) -> None:
    """Refuse scores, by default those of the runs, that are missing or infinite."""
    values = runs.score if scores is None else scores
    wrong = cell.rows[~np.isfinite(values[cell.rows])]
    if not len(wrong):
        return
    remedy = "Complete them, or pass --drop-incomplete to leave them out"
    reasons = _list_reasons(runs, wrong) if scores is None else ""
    if reasons:
        raise InvalidScores(
            f"{len(wrong)} of {len(cell.rows)} runs of {cell.algorithm!r} are incomplete in "
            f"{cell.place}: {reasons}",
            remedy,
        )
    raise InvalidScores(
        f"{cell.algorithm!r} has {len(wrong)} of {len(cell.rows)} {what} missing or infinite "
        f"in {cell.place} ({runs.locate(wrong)})",
        remedy,
    )


def _list_reasons(runs: "Runs", wrong: IntArray) -> str:
    """Count the runs of each status that did not finish; empty where no status tells."""
    if runs.incomplete is None:
        return ""
    codes = runs.incomplete.codes[wrong]
    silent = runs.incomplete.names.index("")
    if (codes == silent).all():
        return ""
    reasons = []
    for code in np.argsort(-np.bincount(codes), kind="stable")[: len(np.unique(codes))].tolist():
        these = wrong[codes == code]
        why = "without a score" if code == silent else runs.incomplete.names[code]
        reasons.append(f"{len(these)} {why} ({runs.locate(these)})")
    return ", ".join(reasons)


def _pair_in_order(runs: "Runs", a: Cell, b: Cell) -> PairedScores:
    n = len(a.rows)
    if n != len(b.rows):
        raise UnpairedScores(
            f"cannot pair {n} runs of {a.algorithm!r} with {len(b.rows)} of "
            f"{b.algorithm!r} in {a.place}: no column says which belong together",
            "Name such a column with --replicate, or pass --unpaired",
        )
    scores, labels = (runs.score[a.rows], runs.score[b.rows]), Numerals(np.arange(1, n + 1))
    return PairedScores(*scores, labels, 0, places=np.arange(n), n_places=n)


def _pair_by_replicate(runs: "Runs", a: Cell, b: Cell, drop_incomplete: bool) -> PairedScores:
    scores_a, has_a = _order_by_replicate(runs, a)
    scores_b, has_b = _order_by_replicate(runs, b)
    is_shared, is_used, labels = has_a & has_b, has_a | has_b, runs.replicates or ()
    n_places = int(np.count_nonzero(is_used))
    places = np.arange(n_places) if n_places == len(is_used) else np.cumsum(is_used) - 1
    if runs.counted and isinstance(labels, Numerals):
        places, n_places = labels.integers, int(labels.integers[is_used].max()) + 1
    pairs = PairedScores(scores_a, scores_b, labels, 0, places=places, n_places=n_places)
    if is_shared.all():
        return pairs
    only_a, only_b = np.flatnonzero(has_a & ~has_b), np.flatnonzero(has_b & ~has_a)
    n_shared, n_unmatched = int(np.count_nonzero(is_shared)), len(only_a) + len(only_b)
    if not n_shared or (n_unmatched and not drop_incomplete):
        raise explain_unmatched(runs, (a, only_a), (b, only_b), n_shared=n_shared)
    # Of the others some have no run of either, and so none that was dropped.
    return replace(_keep_pairs(pairs, is_shared), n_dropped=n_unmatched)


def _order_by_replicate(runs: "Runs", cell: Cell) -> tuple[FloatArray, BoolArray]:
    """Put a score at the code of its replicate, and say which replicates have one."""
    n_replicates = len(runs.replicates or ())
    codes = runs.replicate[cell.rows]
    has_score = np.zeros(n_replicates, dtype=bool)
    has_score[codes] = True
    if np.count_nonzero(has_score) < len(codes):
        refuse_duplicates(runs, cell)
    scores = np.empty(n_replicates)
    scores[codes] = runs.score[cell.rows]
    return scores, has_score


def _explain_no_runs(runs: "Runs", cell: Cell) -> TooFewRuns:
    remedy = "Add its runs, or compare on a task that both have: --on TASK (task= in Python)"
    for spelling in note_task_spellings(runs.tasks):
        remedy = f"{spelling}; else a{remedy[1:]}"
    return TooFewRuns(f"{cell.algorithm!r} has no run in {cell.place}", remedy)


def _count(n: int, noun: str) -> str:
    return f"no {noun}" if n == 0 else f"one {noun} only" if n == 1 else f"{n} {noun}s"


def _pair_equal_numbers(runs: "Runs", a: Cell, b: Cell) -> tuple["Runs", tuple[str, ...]]:
    """Take 0.0 of one algorithm and 0 of the other as one replicate, with a note, if nothing else.

    Only where it makes more pairs, and no algorithm has both.
    """
    assert runs.replicates is not None
    codes_a, codes_b = (np.unique(runs.replicate[cell.rows]) for cell in (a, b))
    if np.array_equal(codes_a, codes_b) or (alike := write_alike(runs.replicates)) is None:
        return runs, ()
    new_a, new_b = np.unique(alike.codes[codes_a]), np.unique(alike.codes[codes_b])
    is_clear = len(new_a) == len(codes_a) and len(new_b) == len(codes_b)
    n_joined = len(np.intersect1d(new_a, new_b)) - len(np.intersect1d(codes_a, codes_b))
    if not is_clear or not n_joined:
        return runs, ()
    first = next(c for c in codes_a.tolist() if c not in codes_b and alike.codes[c] in new_b)
    second = next(c for c in codes_b.tolist() if alike.codes[c] == alike.codes[first])
    more = f", and {n_joined - 1} more likewise" if n_joined > 1 else ""
    note = (
        f"{runs.replicate_name} {runs.replicates[first]!r} of {a.algorithm} and "
        f"{runs.replicates[second]!r} of {b.algorithm} were paired as the same number{more}"
    )
    return replace(runs, replicates=alike.names, replicate=alike.codes[runs.replicate]), (note,)


def join_equal_numbers(runs: "Runs") -> tuple["Runs", tuple[str, ...]]:
    """Take 0.0 and 0 as one replicate, with a note, unless an algorithm has both on a task."""
    names = runs.replicates
    if names is None or isinstance(names, Numerals) or (alike := write_alike(names)) is None:
        return runs, ()
    cell = runs.algorithm.astype(np.int64) * len(runs.tasks) + runs.task
    runs_of = [
        len(np.unique(np.stack((cell, codes)), axis=1)[0])
        for codes in (runs.replicate, alike.codes[runs.replicate])
    ]
    if runs_of[0] > runs_of[1]:
        return runs, ()
    twice = int(np.flatnonzero(np.bincount(alike.codes) > 1)[0])
    spellings = [repr(names[code]) for code in np.flatnonzero(alike.codes == twice).tolist()]
    more = len(names) - len(alike.names) - 1
    note = (
        f"{runs.replicate_name} {' and '.join(spellings)} were taken as the same number"
        f"{f', and {more} more likewise' if more > 0 else ''}"
    )
    return replace(runs, replicates=alike.names, replicate=alike.codes[runs.replicate]), (note,)


def find_gaps(
    runs: "Runs", a: Cell, b: Cell, *, paired: bool = True
) -> tuple[tuple[int, int], tuple[str, ...]]:
    """Count the replicates, or rows where there are none, that each has no complete run of.

    With a note on whose are missing, if one lacks more of them than the other.
    """
    n_labels = len(runs.replicates or ("",))
    every = np.bincount(runs.replicate[np.concatenate((a.rows, b.rows))], minlength=n_labels) > 0
    complete = [c.rows[np.isfinite(runs.score[c.rows])] for c in (a, b)]
    has_a, has_b = (np.bincount(runs.replicate[rows], minlength=n_labels) > 0 for rows in complete)
    lacking = (len(a.rows) - len(complete[0]), len(b.rows) - len(complete[1]))
    if runs.replicates is not None and (has_a & has_b).any():  # else they have their own
        lacks = [np.flatnonzero(every & ~has) for has in (has_a, has_b)]
        if not paired:
            lacks = [_leave_out_later(runs, c, own) for c, own in zip((a, b), lacks, strict=True)]
        lacking = (len(lacks[0]), len(lacks[1]))
    if lacking[0] == lacking[1] or runs.replicates is None:
        return lacking, ()
    (fewest, other), (most, name) = sorted(zip(lacking, (a.algorithm, b.algorithm), strict=True))
    note = (
        f"{name} lacks a complete run for {most} of {np.count_nonzero(every)} "
        f"{runs.replicate_name}s, {other} for {fewest}: if those went badly, leaving them out "
        f"flatters {name}"
    )
    return lacking, (note,)


def _leave_out_later(runs: "Runs", cell: Cell, lacking: IntArray) -> IntArray:
    """Leave out replicates with higher numbers than all that an algorithm was run with.

    Who was run with the seeds 0 to 9 lacks none of 10 to 19, where runs need no partner.
    """
    if not lacking.size:
        return lacking
    labels = runs.replicates or ()
    own = [parse_number(labels[code]) for code in np.unique(runs.replicate[cell.rows])]
    numbers = [parse_number(labels[code]) for code in lacking]
    if None in own or None in numbers:
        return lacking
    return lacking[np.array(numbers, float) <= max(number for number in own if number is not None)]
