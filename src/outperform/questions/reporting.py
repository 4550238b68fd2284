"""Every question that runs can answer: each question's `report` says what it makes of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import combinations
from typing import Any

import numpy as np

from outperform.errors import InvalidInput, OutperformError
from outperform.questions.result import Result
from outperform.questions.rooms import list_questions
from outperform.runs import Runs
from outperform.wording import enumerate_names

_MOST_PAIRS = 3  # of algorithms that are compared without being named
_ALPHA = 0.05  # of every comparison


@dataclass(frozen=True, slots=True)
class Reported:
    """What a report is made of."""

    source: Any  # where the runs come from: the address of a store, a file, or a table in memory
    runs: Runs
    pairs: Sequence[tuple[str, str]]  # names of the algorithms that are compared, two by two
    options: Mapping[str, Any]  # train_size, test_size and drop_incomplete, as of `compare_runs`


def answer_all(
    source: Any, runs: Runs, names: Sequence[str] = (), **options: Any
) -> tuple[list[Result], list[str]]:
    """Ask every question that runs can answer.

    Parameters
    ----------
    names
        Of the two algorithms to compare; more than three are ranked if none is named.
    options
        `train_size`, `test_size` and `drop_incomplete`, as `compare_runs` takes them.

    Returns
    -------
    The results, and what must be known of them together: why some questions have none, and that
    several pairs have several chances of a false alarm.
    """
    reported = Reported(source, runs, _choose_pairs(runs, names), options)
    results: list[Result] = []
    notes, n_pairs = [], len(reported.pairs)
    if n_pairs > 1:
        notes.append(
            f"{n_pairs} pairs of algorithms are compared, each at α = {_ALPHA:g}: the chance that "
            f"equals differ significantly in at least one is up to {n_pairs * _ALPHA:.0%}. To name "
            f"a single pair, compare it with --alpha {_ALPHA / n_pairs:.2g}."
        )
    if not n_pairs:
        notes.append(
            f"{runs.source} has {len(runs.algorithms)} algorithms, which are ranked; to compare "
            f"two, name them: {enumerate_names(runs.algorithms)}."
        )
    # The others rest on the comparison, which is read first.
    for question in sorted(list_questions("report"), key=lambda name: name != "compare"):
        room = import_module(f"outperform.questions.{question}.report")
        answers: Iterator[Result] = room.answer(reported)
        try:
            results += answers
        except OutperformError as error:
            # Runs that cannot be compared, or ranked, make no report.
            if question == ("compare" if reported.pairs else "rank"):
                raise
            notes.append(f"Not asked: {room.QUESTION} {error}")
    return results, notes


def _choose_pairs(runs: Runs, names: Sequence[str]) -> list[tuple[str, str]]:
    if names:
        if len(names) != 2:
            raise InvalidInput(
                f"a report compares two algorithms, not {len(names)}", "Name A and B"
            )
        return [(names[0], names[1])]
    pairs = list(combinations(runs.algorithms, 2))
    if len(pairs) > _MOST_PAIRS:  # more of them are ranked
        return []
    # The better one first, so that differences and sentences point the same way.
    return [(a, b) if _count_lead(runs, a, b) >= 0 else (b, a) for a, b in pairs]


def _count_lead(runs: Runs, a: str, b: str) -> int:
    """On how many more tasks `a` has the better mean than `b`."""
    codes, lead = [runs.algorithms.index(name) for name in (a, b)], 0
    for number, task in enumerate(runs.tasks):
        rows = (runs.task == number) & np.isfinite(runs.score)
        first, second = (runs.score[rows & (runs.algorithm == code)] for code in codes)
        if first.size and second.size:
            difference = float(first.mean() - second.mean())
            better = difference > 0 if runs.goal_on(task) == "maximize" else difference < 0
            lead += better - (difference != 0 and not better)
    return lead
