"""Learning curves: several rows of one run, of which one is to be chosen, but never by its test."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from outperform.errors import InvalidInput, UnreadableRuns
from outperform.runs.labels import BoolArray, FloatArray, IntArray, Labels, largest_within
from outperform.runs.source_table import parse_number
from outperform.wording import enumerate_rows

At: TypeAlias = Literal["last", "best-validation"] | int | float | str


@dataclass(frozen=True, slots=True)
class Curves:
    """Which run each row is a point of, and when it was measured.

    Attributes
    ----------
    run : shape (n_rows,)
        Number of the run, from 0 on.
    column
        What counts the steps, such as `epoch`.
    step : shape (n_rows,)
        The values of that column.
    stage : shape (n_rows,)
        What came first, where several columns count.
    """

    run: IntArray
    column: str
    step: FloatArray
    stage: FloatArray


@dataclass(frozen=True, slots=True)
class Chooser:
    """Validation scores, where there are any.

    Attributes
    ----------
    validation : shape (n_rows,), higher is better
    name
        What messages call them.
    """

    validation: FloatArray | None
    name: str


@dataclass(frozen=True, slots=True)
class Points:
    """The row of every run that counts.

    Attributes
    ----------
    is_chosen, lacks : shape (n_rows,)
        Whether a row counts, and whether its run has no such point: then its last row counts, which
        is incomplete.
    reason
        Why it is incomplete.
    note
        Which rows were chosen.
    """

    is_chosen: BoolArray
    lacks: BoolArray
    reason: str
    note: str


def check_at(at: At | None) -> At | None:
    """Turn what was asked for to "last", "best-validation" or a number."""
    if at is None or at in ("last", "best-validation"):
        return at
    number = None if isinstance(at, bool) else parse_number(str(at))
    if number is None or not np.isfinite(number):
        raise InvalidInput(
            f"at is {at!r}", 'Pass "last", "best-validation" or the number of a step'
        )
    return number


def parse_steps(labels: Labels, rows: IntArray, column: str, source: str) -> FloatArray:
    """Give the step of each row; dates become seconds."""
    values = [parse_number(name) for name in labels.names]
    if None in values:
        values = [_parse_date(name) for name in labels.names]
    numbers = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    steps: FloatArray = numbers[labels.codes]
    if np.isnan(steps).any():
        wrong = np.flatnonzero(np.isnan(steps))
        raise UnreadableRuns(
            f"column {column!r} of {source} holds {labels.names[labels.codes[wrong[0]]]!r} where a "
            f"step should be ({enumerate_rows(rows[wrong])})",
            "Give every row its step, or remove those rows",
        )
    return steps


def _parse_date(text: str) -> float | None:
    try:
        return float(np.datetime64(text, "ms").astype(np.int64)) / 1000
    except ValueError:
        return None


def choose_points(curves: Curves, at: At, chooser: Chooser) -> Points:
    """Choose one row of every run, and say which."""
    is_last = curves.stage == largest_within(curves.run, curves.stage)
    if at == "last":
        return Points(is_last, np.zeros_like(is_last), "", _describe_last(curves, is_last))
    if at == "best-validation":
        is_chosen = _is_best(curves, chooser)
        reason, what = f"no {chooser.name}", f"with the best {chooser.name}"
    else:
        is_chosen = curves.step == at
        reason, what = f"no {curves.column} {at:g}", f"at {curves.column} {at:g}"
        # Where finer steps are counted too, the last of them.
        is_chosen &= curves.stage == largest_within(
            curves.run, np.where(is_chosen, curves.stage, -np.inf)
        )
    lacks = largest_within(curves.run, is_chosen.astype(np.float64)) == 0
    note = f"of every run the row {what} was taken, of its learning curve no other"
    return Points(is_chosen | (is_last & lacks), lacks, reason, note)


def _is_best(curves: Curves, chooser: Chooser) -> BoolArray:
    """Whether a row is the first with the best validation score of its run."""
    if chooser.validation is None:
        raise InvalidInput(
            "nothing is known as validation scores, by which the best row of a run is chosen",
            "Name their column with --validation where the command has it, call it validation, or "
            "pass --at last",
        )
    values = np.where(np.isnan(chooser.validation), -np.inf, chooser.validation)
    is_best: BoolArray = (values == largest_within(curves.run, values)) & np.isfinite(values)
    earliest = largest_within(curves.run, np.where(is_best, -curves.stage, -np.inf))
    is_best &= -curves.stage == earliest
    return is_best


def _describe_last(curves: Curves, is_last: BoolArray) -> str:
    low, high = curves.step[is_last].min(), curves.step[is_last].max()
    if low == high:
        return f"of every run the row of its last {curves.column} ({high:g}) was taken"
    return (
        f"of every run the row of its last {curves.column} was taken, although runs end at "
        f"different ones ({low:g} to {high:g})"
    )
