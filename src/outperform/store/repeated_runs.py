"""Scores of a study's designs, repetition by repetition, as its store has them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Any, NamedTuple

import numpy as np

from outperform.errors import InvalidInput, UnknownName
from outperform.stats.checks import FloatArray, check_list
from outperform.store.planned_runs import Design, get_test_score, list_designs
from outperform.store.store import Store
from outperform.store.stored_doubts import describe_versions
from outperform.study.designs import is_later_repetition, name_repetition
from outperform.study.sources import ALL
from outperform.wording import suggest_names

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
        labels = store.run_labels()
        for label in labels:
            if done.get(label.key):
                role = label.design, label.source, label.pipeline, label.task
                score = get_test_score(done[label.key], label.key, store)
                scores.setdefault(role, {})[label.replicate] = score
        designs, notes = list_designs(study, labels), tuple(describe_versions(store))
        return cls(store.address, study, designs, scores, notes)

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
