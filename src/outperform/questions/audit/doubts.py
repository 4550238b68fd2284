"""Reasons to doubt an audit: seeds that follow no sequence, and runs that were hidden in part."""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from outperform.questions.audit.result import Hiding
from outperform.questions.compare.result import Comparison
from outperform.runs import Runs
from outperform.wording import enumerate_names, join_words

_NUMBERED = re.compile(r"(.*?)(\d{1,18})\s*")
_MOST_LISTED = 8  # seeds
_FEW_GAPS = 0.5  # of the sequence: where more is missing, there never was a sequence


def note_seeds(runs: Runs, algorithms: Sequence[str], task: str) -> Iterator[str]:
    """Notes on the seeds of one or two algorithms: gaps, odd beginnings, seeds of one only."""
    if runs.replicates is None:
        yield "the table does not say which seeds were used, so nobody can see whether any are gone"
        return
    on_task = runs.task == runs.tasks.index(task)
    labels = []
    for algorithm in algorithms:
        rows = on_task & (runs.algorithm == runs.algorithms.index(algorithm))
        labels.append([runs.replicates[code] for code in np.unique(runs.replicate[rows]).tolist()])
    notes = [describe_sequence(each) for each in labels]
    alike = len(set(notes)) == 1
    for name, note in zip(algorithms, notes[:1] if alike else notes, strict=False):
        if note:
            yield note if alike else f"{name}: {note}"
    for own, other in ((0, 1), (1, 0)) if len(labels) == 2 else ():
        others = set(labels[other])
        alone = [label for label in labels[own] if label not in others]
        # Where nothing is shared, the seeds were never meant to be the same.
        if alone and len(alone) < len(labels[own]):
            yield (
                f"seeds run for {algorithms[own]} only: {enumerate_names(alone)}; were those of "
                f"{algorithms[other]} left out?"
            )


def describe_sequence(labels: Sequence[str]) -> str:
    """Say what is missing from 0, 1, ..., n - 1 or 1, ..., n, or nothing if nothing is.

    Examples
    --------
    >>> describe_sequence(["0", "1", "2", "4", "5"])
    'seeds 0…5 without 3: were these runs left out?'
    >>> describe_sequence(["Run 1", "Run 2", "Run 3"])
    ''
    """
    parsed = [_NUMBERED.fullmatch(label) for label in labels]
    if len({match[1] if match else None for match in parsed}) != 1 or not parsed[0]:
        return ""  # they are no numbers after words that are alike
    numbers = sorted({int(match[2]) for match in parsed if match})
    first, last = numbers[0], numbers[-1]
    missing = last - first + 1 - len(numbers)
    if missing > _FEW_GAPS * (last - first + 1):
        listed = enumerate_names(map(str, numbers), limit=3)
        return (
            f"seeds {listed} follow no sequence: a predefined one, such as 0…{len(numbers) - 1}, "
            "would show that none were tried and left out"
        )
    if missing:
        gone = list(map(str, sorted(set(range(first, last + 1)) - set(numbers))))
        listed = join_words(gone) if len(gone) <= _MOST_LISTED else enumerate_names(gone)
        return f"seeds {first}…{last} without {listed}: were these runs left out?"
    if first > 1:
        return f"seeds {first}…{last} do not begin at 0 or 1: were earlier ones tried?"
    return ""


def doubt_hiding(comparison: Comparison, hidden: tuple[Hiding, ...]) -> Iterator[str]:
    """Say where the t-test disagrees, and where hiding was searched in part."""
    by_t = [hiding.n for hiding in hidden if hiding.rule == "paired t"]
    if any(comparison.lacking):
        what = "pairs" if comparison.paired else "runs"
        yield (
            f"runs to hide are counted among all {what}, those that are missing included, as the "
            "worst of who lacks them; random seed sets and picked runs are of the runs that are "
            "left"
        )
    elif comparison.winner is not None and by_t[:1] == [0]:
        better = comparison.a if comparison.winner == "a" else comparison.b
        yield (
            f"the paired t-test does not find {better} better: it wins often, but not by enough "
            "on average"
        )
    if not comparison.paired:
        yield (
            "independent runs were hidden from the ends only, the worst of one and the best of the "
            "other: where a number is marked ≤, fewer may do"
        )
