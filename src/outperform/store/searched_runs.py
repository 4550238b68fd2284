"""Runs of a design that is repeated, search by search."""

from collections.abc import Mapping, Sequence
from itertools import count, takewhile
from typing import Any

import numpy as np

from outperform.runs.repeated_searches import Searches
from outperform.store.measurement import RunLabel
from outperform.study.designs import name_repetition

_SHARED = 0  # replicate whose seeds the first repetition may have too


def collect_searches(
    design: Mapping[str, Any],
    designs: Sequence[Mapping[str, Any]],
    labels: Sequence[RunLabel],
    scores: Mapping[str, Mapping[str, float]],
) -> Searches | None:
    """Scores after each search of a design; None where it is not repeated, or has no score.

    The first run after search i has the seeds of run i after the first search, for the sake of the
    ideal design, whose runs these are. It is left out where that one exists: with it, few searches
    of few runs would not be independent.
    """
    kind, source, n_replicates = design["design"], design["source"], design["replicates"]
    sources = {each["source"] for each in designs if each["design"] == kind}
    names = takewhile(sources.__contains__, (name_repetition(source, i) for i in count()))
    numbers = {name: i for i, name in enumerate(names)}
    rows: dict[tuple[str, str], dict[int, dict[int, float]]] = {}
    for label in labels:
        own = scores.get(label.key)
        if own and label.design == kind and label.source in numbers and "test" in own:
            of_cell = rows.setdefault((label.pipeline, label.task), {})
            of_search = of_cell.setdefault(numbers[label.source], {})
            of_search[label.replicate] = own["test"]
    if len(numbers) < 2 or not rows:
        return None
    complete = {
        cell: {
            i: np.array([runs[j] for j in _independent(i, n_replicates)])
            for i, runs in searches.items()
            if all(j in runs for j in range(n_replicates))
        }
        for cell, searches in rows.items()
    }
    return Searches(len(numbers), complete)


def _independent(search: int, n_replicates: int) -> list[int]:
    """Replicates after a search that have no seeds of another search's."""
    shares = 0 < search < n_replicates
    return [j for j in range(n_replicates) if not (shares and j == _SHARED)]
