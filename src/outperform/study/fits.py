"""Fits: one training each, known by the hash of all it depends on."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from outperform.errors import InvalidInput, UnknownName
from outperform.study.fingerprints import hash_text, write_canonical
from outperform.study.pipelines import Pipeline
from outperform.study.sources import NOISE
from outperform.study.spaces import Params
from outperform.study.tasks import Task

# The split is the task's, whatever the pipeline honours; `noise` counts repetitions with all
# seeds fixed, which would otherwise be the same fit.
_ALWAYS = ("split", NOISE)


@dataclass(frozen=True, slots=True)
class Fit:
    """One training to be done; `make_fit` keeps the seeds that matter and no others."""

    pipeline: str
    task: str
    params: Params
    seeds: dict[str, int]
    fold: int = 0
    refit: bool = False  # on training and validation data together, to be scored on test

    def key(self, fingerprints: Mapping[str, str]) -> str:
        """Hash of all that the scores depend on: 32 hexadecimal digits.

        Parameters
        ----------
        fingerprints
            From `gather_fingerprints`: changed code or data make another key.
        """
        parts = {
            "pipeline": [self.pipeline, _find(fingerprints, "pipeline", self.pipeline)],
            "task": [self.task, _find(fingerprints, "task", self.task)],
            "params": {name: _plain(name, value) for name, value in self.params.items()},
            "seeds": {name: int(seed) for name, seed in self.seeds.items()},
            "fold": int(self.fold),
            "refit": bool(self.refit),
        }
        return hash_text(write_canonical(parts))


def make_fit(
    pipeline: Pipeline,
    task: Task,
    params: Params,
    seeds: Mapping[str, int],
    *,
    fold: int = 0,
    refit: bool = False,
) -> Fit:
    """Fit with the seeds that the pipeline honours, so that no other seed makes a new one.

    Examples
    --------
    >>> pipeline, task = Pipeline("net", "train {seed.init}"), Task("mnist", metric="accuracy")
    >>> make_fit(pipeline, task, {}, {"split": 1, "init": 2, "order": 3, "hpo": 4}).seeds
    {'split': 1, 'init': 2}
    """
    honoured = {*pipeline.sources, *_ALWAYS}
    kept = {name: seed for name, seed in seeds.items() if name in honoured}
    return Fit(pipeline.name, task.name, dict(params), kept, fold, refit)


def gather_fingerprints(pipelines: Iterable[Pipeline], tasks: Iterable[Task]) -> dict[str, str]:
    """Fingerprints of all pipelines and tasks of a study, as `Fit.key` needs them."""
    hashes = {f"pipeline {pipeline.name}": pipeline.fingerprint for pipeline in pipelines}
    return hashes | {f"task {task.name}": task.fingerprint for task in tasks}


def _find(fingerprints: Mapping[str, str], kind: str, name: str) -> str:
    try:
        return fingerprints[f"{kind} {name}"]
    except KeyError:
        raise UnknownName(
            f"there is no fingerprint of {kind} {name!r}",
            "Gather those of all pipelines and tasks of the study",
        ) from None


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
