"""Every question that runs can answer: each question's `report` says what it makes of them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from outperform.errors import InvalidInput, OutperformError
from outperform.questions import list_questions
from outperform.questions.result import Result
from outperform.runs import Runs
from outperform.runs.files import open_file
from outperform.runs.redrawn import find_redrawn, find_redrawn_column
from outperform.store.store import is_store, open_runs, show_address
from outperform.wording import enumerate_names

_READ_FIRST = ("compare", "rank")  # questions that the others rest on
_MOST_PAIRS = 3  # of algorithms that are compared without being named
_ALPHA = 0.05  # of every comparison


@dataclass(frozen=True, slots=True)
class Answers:
    """Results of every question that runs could answer, in the order in which they are read."""

    source: str  # name of what the runs come from
    runs: Runs | None  # None where there are none to compare
    results: tuple[Result, ...]
    notes: tuple[str, ...] = ()  # what must be known of all: why questions have no answer

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.results), *self.notes])

    def _repr_html_(self) -> str:
        """Show all of them in a notebook."""
        html: str = import_module("outperform.render.html").render_fragment(self)
        return html


@dataclass(frozen=True, slots=True)
class Reported:
    """What a report is made of."""

    source: Any  # where the runs come from: the address of a store, a file, or a table in memory
    table: Runs | OutperformError  # or why there are no runs to compare
    says_what_was_redrawn: bool  # whether the source is a file that tells it of every run
    pairs: Sequence[tuple[str, str]]  # names of the algorithms that are compared, two by two
    options: Mapping[str, Any]  # train_size, test_size and drop_incomplete, as of `compare_runs`
    reading: Mapping[str, Any]  # as of `read_runs`

    @property
    def runs(self) -> Runs:
        """The runs, for questions that need some to compare: without, it says why."""
        if isinstance(self.table, OutperformError):
            raise self.table
        return self.table


def answer_all(
    runs: Any,
    *names: str,
    drop_incomplete: bool = False,
    train_size: int | None = None,
    test_size: int | None = None,
    **reading: Any,
) -> Answers:
    """Ask every question that runs can answer, for `write_report` to make a page of.

    Parameters
    ----------
    runs
        `Runs`, or anything that `read_runs` reads: the address of a study's store, which tells
        most, a file, a data frame, a dict.
    names
        Of the two algorithms to compare; if none is named, up to three are compared two by two,
        and three and more are ranked.
    drop_incomplete, train_size, test_size
        As in `compare_runs`.
    reading
        As of `read_runs`; and `others`, tables to join with this one.

    Returns
    -------
    The results, one after the other, and `notes` on them: why some questions have none, and that
    several pairs have several chances of a false alarm.

    Examples
    --------
    >>> runs = {"new": [9, 8, 9, 7, 8, 9, 8, 9], "old": [7, 6, 8, 8, 7, 7, 5, 8]}
    >>> [type(result).__name__ for result in answer_all(runs)]
    ['Comparison', 'Audit']
    """
    options = {
        "drop_incomplete": drop_incomplete,
        "train_size": train_size,
        "test_size": test_size,
    }
    reported = _open(runs, names, options, reading)
    results: list[Result] = []
    refusals: dict[str, tuple[OutperformError, list[str]]] = {}  # by text, and of which questions
    questions = sorted(list_questions("report"), key=lambda name: name not in _READ_FIRST)
    for question in questions:
        room = import_module(f"outperform.questions.{question}.report")
        try:
            results += room.answer(reported)
        except OutperformError as error:
            if names and question == "compare":  # which was asked for
                raise
            refusals.setdefault(str(error), (error, []))[1].append(room.QUESTION)
    table = reported.table if isinstance(reported.table, Runs) else None
    name = table.source if table else _name(runs)
    if not results:
        raise _refuse_all(name, [*refusals.values()])
    notes = [] if table is None else [*_describe_pairs(table, len(reported.pairs))]
    notes += [f"Not asked: {' '.join(asked)} {error}" for error, asked in refusals.values()]
    return Answers(name, table, tuple(results), tuple(notes))


def _open(
    source: Any, names: Sequence[str], options: Mapping[str, Any], reading: Mapping[str, Any]
) -> Reported:
    """Read the runs, or keep the reason why not: a study tells other things too."""
    if names and len(names) != 2:
        raise InvalidInput(f"a report compares two algorithms, not {len(names)}", "Name A and B")
    table: Runs | OutperformError
    try:
        is_read = isinstance(source, Runs) and not reading
        table = source if is_read else open_runs(source, reading, names)
    except OutperformError as error:
        table = error
    redrawn = _find_redrawn_column(source, table)
    if redrawn is not None:
        table = InvalidInput(
            f"{_name(source)} says in its column {redrawn} what was redrawn for each of its runs: "
            "they are no replicates of one another",
            "Compare runs in which everything was redrawn; if that is so of every run, pass "
            "--accept redrawn",
        )
    pairs = _choose_pairs(table, names) if isinstance(table, Runs) else []
    return Reported(source, table, redrawn is not None, pairs, options, reading)


def _find_redrawn_column(source: Any, table: Runs | OutperformError) -> str | None:
    """Find what makes a file, which can be read again, one for `decompose`, not for `compare`."""
    if not isinstance(source, str | Path) or is_store(source) or not Path(source).is_file():
        return None
    if isinstance(table, Runs):
        redrawn = find_redrawn(table, np.arange(len(table)))
        return redrawn[0] if redrawn and "redrawn" not in table.accepted else None
    with suppress(OutperformError):  # which reading the runs has met too
        return find_redrawn_column(open_file(Path(source)))
    return None


def _name(source: Any) -> str:
    return show_address(source) if is_store(source) else Path(source).name


def _describe_pairs(runs: Runs, n_pairs: int) -> Iterator[str]:
    """Say what several comparisons, or none, mean; and who is in none of them."""
    if n_pairs > 1:
        yield (
            f"{n_pairs} pairs of algorithms are compared, each at α = {_ALPHA:g}: the chance that "
            f"equals differ significantly in at least one is up to {n_pairs * _ALPHA:.0%}. To name "
            f"a single pair, compare it with --alpha {_ALPHA / n_pairs:.2g}."
        )
    if len(runs.algorithms) > 1 and not n_pairs:
        yield (
            f"{runs.source} has {len(runs.algorithms)} algorithms, which are ranked; to compare "
            f"two, name them: {enumerate_names(runs.algorithms)}."
        )
    if len(runs.algorithms) > 1 and runs.unfinished:
        yield str(runs.explain_unfinished(*runs.unfinished))


def _refuse_all(
    name: str, refusals: Sequence[tuple[OutperformError, Sequence[str]]]
) -> OutperformError:
    """Say why there is no answer at all, and what each would need."""
    if len(refusals) == 1:
        return refusals[0][0]
    reasons = " ".join(f"{' '.join(asked)} {error}" for error, asked in refusals)
    return InvalidInput(f"{name} answers no question", reasons.removesuffix("."))


def _choose_pairs(runs: Runs, names: Sequence[str]) -> list[tuple[str, str]]:
    if names:
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
