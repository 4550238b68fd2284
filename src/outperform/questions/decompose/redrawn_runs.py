"""Runs in which sources of variation were redrawn apart, and those that a store has."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from outperform.errors import DuplicateRuns, InvalidInput
from outperform.stats.checks import FloatArray
from outperform.store import Store
from outperform.store.measurement import RunLabel
from outperform.store.planned_runs import (
    describe_left_out,
    get_test_score,
    is_planned,
)
from outperform.store.stored_doubts import describe_versions
from outperform.wording import enumerate_names

Level = tuple[Any, ...]
_ONE_BY_ONE, _CROSSED = "variance", "crossed"  # designs


@dataclass(frozen=True, slots=True)
class Variation:
    """Runs of one algorithm on one task, under what was redrawn for each."""

    algorithm: str
    task: str
    metric: str
    by_source: dict[str, list[float]] = field(default_factory=dict)  # one source at a time
    failed: Counter[str] = field(default_factory=Counter)  # runs of these that have no score
    crossed: dict[tuple[str, ...], list[tuple[Level, float]]] = field(default_factory=dict)

    @property
    def names(self) -> dict[str, str]:
        """What results say that the scores are of."""
        return {"algorithm": self.algorithm, "task": self.task, "metric": self.metric}


def load_variation(store: Store) -> tuple[list[Variation], list[str]]:
    """Runs of a study's variance and crossed designs, as far as it has them now; and notes."""
    study = store.get_meta("study") or {}
    labels = store.run_labels() if study else []
    apart = [label for label in labels if label.design in (_ONE_BY_ONE, _CROSSED)]
    designs = [d for d in study.get("designs", ()) if d["design"] in (_ONE_BY_ONE, _CROSSED)]
    planned = [label for label in apart if is_planned(label, designs, study)]
    fits = store.get({label.key for label in planned})
    done = {key: fit for key, fit in fits.items() if fit.status == "done"}
    if not done:
        kinds = enumerate_names(sorted({label.design for label in labels})) or "none yet"
        raise InvalidInput(
            f"{store.address} holds no runs in which sources were redrawn apart (designs: {kinds})",
            'Add a [[design]] with kind = "variance" to the study and run it',
        )
    variations: dict[tuple[str, str], Variation] = {}
    order = {name: place for place, name in enumerate([*study["pipelines"], *study["tasks"]])}
    planned.sort(key=lambda run: (order[run.task], order[run.pipeline], run.replicate))
    known = {(label.pipeline, label.task) for label in planned if label.key in done}
    for run in (label for label in planned if label.key in fits):
        names, metric = (run.pipeline, run.task), study["tasks"][run.task]["metric"]
        if names not in known:
            continue
        own = variations.setdefault(names, Variation(*names, metric))
        if run.key not in done:
            own.failed[run.source] += run.design == _ONE_BY_ONE
            continue
        fit = done[run.key]
        score = get_test_score(fit.scores, fit.key, store)
        if run.design == _ONE_BY_ONE:
            own.by_source.setdefault(run.source, []).append(score)
        else:
            sources = tuple(run.source.split("+"))
            # Folds of one cross-validation share the seed of their split.
            fold = {"split": fit.fold}
            level = tuple((fit.seeds.get(name), fold.get(name, 0)) for name in sources)
            own.crossed.setdefault(sources, []).append((level, score))
    notes = [*describe_left_out(apart, designs, study), *describe_versions(store)]
    return list(variations.values()), [*_describe_missing(planned, done), *notes]


def _describe_missing(planned: Iterable[RunLabel], done: Container[str]) -> Iterator[str]:
    """Say of whom runs are missing: those that fail are hardly like the others."""
    total = Counter((label.pipeline, label.task) for label in planned)
    missing = Counter((label.pipeline, label.task) for label in planned if label.key not in done)
    for (pipeline, task), n in missing.items():
        whole = total[pipeline, task]
        consequence = "what they would add to its variation is not known"
        if n == whole:
            consequence = "nothing is told of it"
        yield (
            f"{n} of {whole} runs of {pipeline} on {task} failed, or are still to be done: "
            f"{consequence}"
        )


def arrange_levels(names: Sequence[str], cells: Iterable[tuple[Level, float]]) -> FloatArray:
    """Scores as an array with an axis per source; every combination must be there, once."""
    scores: dict[Level, float] = {}
    for level, score in cells:
        if level in scores:
            described = (f"{name} {value}" for name, value in zip(names, level, strict=True))
            problem = f"two runs have {', '.join(described)}"
            raise DuplicateRuns(problem, "Keep one run per combination")
        scores[level] = score
    axes = [list(dict.fromkeys(level[axis] for level in scores)) for axis in range(len(names))]
    shape = tuple(map(len, axes))
    missing = int(np.prod(shape)) - len(scores)
    if missing:
        raise InvalidInput(
            f"{missing} of the {' × '.join(map(str, shape))} combinations of "
            f"{enumerate_names(names)} are missing",
            "Let `outperform run` finish the crossed design, or complete the file",
        )
    table = np.empty(shape)
    for level, score in scores.items():
        table[tuple(axis.index(value) for axis, value in zip(axes, level, strict=True))] = score
    return table
