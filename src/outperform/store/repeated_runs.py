"""Scores of a study's designs, repetition by repetition, as its store has them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Any, NamedTuple

import numpy as np

from outperform.errors import InvalidInput, UnknownName
from outperform.runs.repeated_searches import Searches
from outperform.stats.checks import FloatArray, check_list
from outperform.store.measurement import RunLabel
from outperform.store.planned_runs import Design, get_test_score
from outperform.store.store import Store
from outperform.store.stored_doubts import describe_versions
from outperform.study.designs import is_later_repetition, name_repetition
from outperform.study.sources import ALL
from outperform.wording import suggest_names

_SHARED = 0  # replicate whose seeds the first repetition may have too
_Role = tuple[str, str, str, str]  # design, source, pipeline, task
# Of ten runs each, a tenth of which fail, ρ = 0.28 is estimated to be 0.17.
LEFT_OUT = (
    "with failed or missing runs: if these went badly, ρ and the design's error are larger than "
    "measured"
)


class Repeats(NamedTuple):
    """How often a design is repeated, and with how many replicates each time."""

    n_replicates: int
    n_repetitions: int


class Repetitions(NamedTuple):
    """Scores of the repetitions that are complete, a row each."""

    scores: FloatArray  # shape (number of complete ones, number of replicates)
    numbers: tuple[int, ...]  # which they are: number i has the search of ideal's replicate i
    n_incomplete: int  # repetitions with failed or missing runs


@dataclass(frozen=True, slots=True)
class RepeatedRuns:
    """Test scores of a store, by role and replicate, the study they are of, and notes on them."""

    address: str
    study: Mapping[str, Any]
    designs: Sequence[Design]
    scores: Mapping[_Role, Mapping[int, float]]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, store: Store) -> "RepeatedRuns":
        """Read them from a store."""
        study, done = store.get_meta("study"), store.scores()
        if study is None:
            raise InvalidInput(
                f"{store.address} holds no finished runs yet",
                "Let `outperform run` finish some first",
            )
        scores: dict[_Role, dict[int, float]] = {}
        for label in store.run_labels():
            if done.get(label.key):
                role = label.design, label.source, label.pipeline, label.task
                score = get_test_score(done[label.key], label.key, store)
                scores.setdefault(role, {})[label.replicate] = score
        notes = tuple(describe_versions(store))
        return cls(store.address, study, study["designs"], scores, notes)

    def choose_pairs(
        self, pipelines: Collection[str] = (), task: str | None = None
    ) -> list[tuple[str, str]]:
        """Pipelines and tasks to look at, task by task; all where none is named."""
        known = self.study["pipelines"], self.study["tasks"]
        return choose_pairs(pipelines, task, known, self.address)

    def count_repeats(self, kind: str) -> dict[str, Repeats]:
        """Numbers of replicates and repetitions of a kind of design, by what it redraws."""
        planned = self._count_replicates(kind)
        counts = {}
        for source, n_replicates in planned.items():
            if not is_later_repetition(source):
                names = (name_repetition(source, repetition) for repetition in count())
                n_repetitions = sum(1 for _ in takewhile(planned.__contains__, names))
                counts[source] = Repeats(n_replicates, n_repetitions)
        return counts

    def _count_replicates(self, kind: str) -> dict[str, int]:
        of_kind = (d for d in self.designs if d["design"] == kind)
        return {design["source"]: design["replicates"] for design in of_kind}

    def find_ideal(self, pipeline: str, task: str) -> dict[int, float]:
        """Scores of the ideal runs that the study has now, by replicate; there may be none."""
        n_replicates = self._count_replicates("ideal").get(ALL, 0)
        scores = self.scores.get(("ideal", ALL, pipeline, task), {})
        return {i: scores[i] for i in sorted(scores) if i < n_replicates}

    def describe_missing(self, pairs: Collection[tuple[str, str]]) -> Iterator[str]:
        """Count the ideal runs that failed, or are missing, of pipelines on tasks."""
        n_planned = self._count_replicates("ideal").get(ALL, 0)
        for pair in pairs:
            if n_missing := n_planned - len(self.find_ideal(*pair)):
                yield (
                    f"{n_missing} of {n_planned} ideal runs of {' on '.join(pair)} failed, or are "
                    "still to be done: if these went badly, its mean is worse, and its deviation "
                    "larger, than measured"
                )

    def find_repetitions(self, kind: str, source: str, pipeline: str, task: str) -> Repetitions:
        """Scores of the repetitions of a design that are complete."""
        n_replicates, n_repetitions = self.count_repeats(kind)[source]
        rows = {}
        for repetition in range(n_repetitions):
            role = kind, name_repetition(source, repetition), pipeline, task
            scores = self.scores.get(role, {})
            if all(i in scores for i in range(n_replicates)):
                rows[repetition] = [scores[i] for i in range(n_replicates)]
        table = np.array([*rows.values()]).reshape(len(rows), n_replicates)
        return Repetitions(table, tuple(rows), n_repetitions - len(rows))


def choose_pairs(
    pipelines: Collection[str],
    task: str | None,
    known: tuple[Collection[str], Collection[str]],
    address: str,
) -> list[tuple[str, str]]:
    """Pairs of these pipelines and this task, task by task, of all that a study has if not named.

    Known are the names of its pipelines and of its tasks.
    """
    check_list("pipelines", pipelines)
    wanted = pipelines, () if task is None else (task,)
    for what, names, there in zip(("pipeline", "task"), wanted, known, strict=True):
        for name in names:
            if name not in there:
                problem = f"the study of {address} has no {what} {name!r}"
                raise UnknownName(problem, suggest_names(name, [*there]))
    chosen, tasks = (names or there for names, there in zip(wanted, known, strict=True))
    return [(pipeline, where) for where in tasks for pipeline in chosen]


def varies(scores: FloatArray) -> bool:
    """Whether there are several scores, and not all the same."""
    return scores.size > 1 and bool(np.ptp(scores) > 0)


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
