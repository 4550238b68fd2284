"""What a design plans: runs, the search before each, and fits, known by the hash of all they need.

Seeds and keys must never change: by them a study is resumed from its store.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from outperform.errors import InvalidInput, UnknownName
from outperform.study.fingerprints import hash_text, write_canonical
from outperform.study.pipelines import Pipeline
from outperform.study.sources import LEARNING_SOURCES, NOISE, TUNING_SOURCE, derive_seed
from outperform.study.spaces import Params
from outperform.study.splits import CrossValidation
from outperform.study.tasks import Task

Seeds = tuple[tuple[str, int], ...]
Choice = Literal["best", "simulated", "resampled"]  # of hyperparameters, from a search's trials
# The split is the task's, whatever the pipeline honours; `noise` counts repetitions with all
# seeds fixed, which would otherwise be the same fit.
_ALWAYS = ("split", NOISE)


@dataclass(frozen=True, slots=True)
class Fit:
    """One training to be done, with the seeds that matter and no others."""

    pipeline: str
    task: str
    params: Params
    seeds: dict[str, int]
    fold: int = 0
    refit: bool = False  # on training and validation data together, to be scored on test

    def key(self, fingerprints: Mapping[str, str]) -> str:
        """Hash of all that the scores depend on, code and data (`gather_fingerprints`) too."""
        parts: dict[str, Any] = {
            "params": {name: _plain(name, value) for name, value in self.params.items()},
            "seeds": {name: int(seed) for name, seed in self.seeds.items()},
            "fold": int(self.fold),
            "refit": bool(self.refit),
        }
        for kind, name in (("pipeline", self.pipeline), ("task", self.task)):
            if f"{kind} {name}" not in fingerprints:
                raise UnknownName(
                    f"there is no fingerprint of {kind} {name!r}",
                    "Gather those of all pipelines and tasks of the study",
                )
            parts[kind] = [name, fingerprints[f"{kind} {name}"]]
        return hash_text(write_canonical(parts))


@dataclass(frozen=True, slots=True)
class Search:
    """One hyperparameter optimisation: `n_trials` fits under the same seeds."""

    pipeline: str
    task: str
    seeds: Seeds
    fold: int
    tuner: str
    n_trials: int
    draw: "Draw" = field(compare=False, repr=False)

    @property
    def tuner_seed(self) -> int:
        """Seed of the tuner."""
        return dict(self.seeds)[TUNING_SOURCE]

    def make_fit(self, params: Params) -> Fit:
        """Fit of a trial with these hyperparameters."""
        return self.draw.make_fit(params, self.seeds, self.fold)


@dataclass(slots=True)
class PlannedRun:
    """One final fit, and what it is for.

    Its seeds are derived when they are asked for: in a study that is resumed, most never are. It is
    not frozen because that would take four times as long, and they are planned by the 100,000.
    """

    design: str
    source: str  # what is redrawn from replicate to replicate
    replicate: int
    pipeline: str
    task: str
    search: Search | None  # None: default hyperparameters
    redrawn: Mapping[str, int]  # at which replicate; other sources are at 0
    draw: "Draw" = field(compare=False, repr=False)
    choice: Choice = "best"  # or that of a search redrawn with the run's seed of hpo

    @property
    def role(self) -> tuple[str, str, int, str, str]:
        """What it is for, by which it is known from one run of the study to the next."""
        return (self.design, self.source, self.replicate, self.pipeline, self.task)

    @property
    def identity(self) -> tuple[Search | None, Choice, frozenset[tuple[str, int]]]:
        """What tells its fit from those of other runs of its pipeline on its task."""
        moved = frozenset((name, i) for name, i in self.redrawn.items() if i)
        return self.search, self.choice, moved

    @property
    def seeds(self) -> Seeds:
        """Seed of every source."""
        return self.draw.seeds(self.redrawn)[0]

    @property
    def tuner_seed(self) -> int:
        """Seed of the search that is redrawn for it."""
        return dict(self.seeds)[TUNING_SOURCE]

    def make_fit(self, params: Params) -> Fit:
        """Fit with these hyperparameters."""
        return self.draw.make_fit(params, *self.draw.seeds(self.redrawn), refit=True)


@dataclass(frozen=True)  # without slots, so that it keeps what every run of its design asks for
class Draw:
    """Derives the seeds of replicates of one pipeline on one task.

    Examples
    --------
    >>> net = Pipeline("net", lambda params, split, seeds: {"test": 0.9}, sources=["init"])
    >>> Draw(net, Task("digits", metric="accuracy"), 0, "random", 20).honoured
    ('split', 'init')
    """

    pipeline: Pipeline
    task: Task
    root: int
    tuner: str
    n_trials: int

    @cached_property
    def pair(self) -> tuple[str, str]:
        """Names of the pipeline and of the task."""
        return self.pipeline.name, self.task.name

    def seeds(self, replicates: Mapping[str, int]) -> tuple[Seeds, int]:
        """Seeds and fold, with each source at a replicate of its own (0 if not named).

        Folds of one cross-validation share the seed of their split.
        """
        repeated = (NOISE,) if replicates.get(NOISE) else ()
        at = {name: replicates.get(name, 0) for name in (*self.learning, TUNING_SOURCE, *repeated)}
        splitter, fold = self.task.splitter, 0
        if isinstance(splitter, CrossValidation):
            at["split"], fold = divmod(at["split"], splitter.n_folds)
        return tuple((name, derive_seed(self.root, name, i)) for name, i in at.items()), fold

    @cached_property
    def learning(self) -> tuple[str, ...]:
        """Learning sources: those of Bouthillier et al. (2021), and the pipeline's own."""
        own = [name for name in self.pipeline.sources if name != TUNING_SOURCE]
        return tuple(dict.fromkeys([*LEARNING_SOURCES, *own]))

    @cached_property
    def honoured(self) -> tuple[str, ...]:
        """Learning sources whose seed changes what the pipeline does on this task.

        The split of a task with data is the task's, so it is one whether the pipeline names it or
        not; where it is fixed, or only others get it, it is none.
        """
        own = tuple(name for name in self.pipeline.sources if name != TUNING_SOURCE)
        if self.task.data is None or not self.pipeline.gets_split:
            return own
        others = tuple(name for name in own if name != "split")
        if not self.task.redraws_split:
            return others
        return own if "split" in own else ("split", *own)

    def search(self, replicates: Mapping[str, int]) -> Search | None:
        """Search whose seeds are at these replicates; None if there is nothing to search."""
        if not self.pipeline.space:
            return None
        return Search(*self.pair, *self.seeds(replicates), self.tuner, self.n_trials, self)

    def run(
        self,
        label: tuple[str, str, int],
        replicates: Mapping[str, int],
        search: Search | None,
        choice: Choice = "best",
    ) -> PlannedRun:
        """Run with a label (design, source, replicate) and each source at a replicate."""
        return PlannedRun(*label, *self.pair, search, {**replicates}, self, choice)

    def make_fit(self, params: Params, seeds: Seeds, fold: int, *, refit: bool = False) -> Fit:
        """Fit with the seeds that the pipeline honours, so that no other seed makes a new one."""
        honoured = {*self.pipeline.sources, *_ALWAYS}
        kept = {name: seed for name, seed in seeds if name in honoured}
        return Fit(*self.pair, dict(params), kept, fold, refit)


def gather_fingerprints(pipelines: Iterable[Pipeline], tasks: Iterable[Task]) -> dict[str, str]:
    """Fingerprints of all pipelines and tasks of a study, as `Fit.key` needs them."""
    hashes = {f"pipeline {pipeline.name}": pipeline.fingerprint for pipeline in pipelines}
    return hashes | {f"task {task.name}": task.fingerprint for task in tasks}


def _plain(name: str, value: Any) -> Any:
    """Python's own value, so that the key is the same wherever the value came from."""
    plain = value.item() if isinstance(value, np.generic) else value
    finite = not isinstance(plain, float) or math.isfinite(plain)
    if not (finite and isinstance(plain, bool | int | float | str)):
        raise InvalidInput(
            f"hyperparameter {name!r} is {value!r}",
            "Pass a finite number, a text, or true or false",
        )
    return plain
