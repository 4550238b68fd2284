"""What workers do: one fit after the other."""

import platform
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from outperform.errors import InvalidScores
from outperform.study.dataset_splits import check_feasible, measure_resplit, split_dataset
from outperform.study.datasets import Dataset
from outperform.study.fits import Fit
from outperform.study.sources import NOISE, derive_seed
from outperform.study.splits import Split
from outperform.study.study import Study
from outperform.study.tasks import Task
from outperform.wording import enumerate_names


@dataclass(frozen=True, slots=True)
class FitWork:
    """What a worker does with a fit: load the data once, split it, train, score.

    Data is loaded with the work itself, so that a fit's time and timeout are its own. Without a
    fit, a worker only gets ready: it has imported all it needs when it gets here.
    """

    study: Study
    _datasets: dict[str, Dataset] = field(default_factory=dict, init=False, repr=False)

    def __call__(self, fit: Fit | None) -> dict[str, float]:
        """Scores of one fit."""
        if fit is None:
            return {}
        pipeline, task = self.study.pipeline(fit.pipeline), self.study.task(fit.task)
        dataset = self._load(task)
        split = None if dataset is None else _split(task, dataset, fit)
        seeds = {name: seed for name, seed in fit.seeds.items() if name != NOISE}
        scores = pipeline.fit(
            fit.params, split, seeds, dataset, task=fit.task, fold=fit.fold, refit=fit.refit
        )
        needed = "test" if fit.refit else "valid"
        if needed not in scores:
            raise InvalidScores(
                f"pipeline {fit.pipeline!r} gives {enumerate_names(scores)}, and no {needed!r}",
                'Return a score on "valid" for searches and one on "test" for final fits',
            )
        return scores

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrive, (self.study,)

    def _load(self, task: Task) -> Dataset | None:
        if task.data is not None and task.name not in self._datasets:
            self._datasets[task.name] = task.data()
        return self._datasets.get(task.name)


def _arrive(study: Study) -> FitWork:
    """The work as a worker receives it, with its data; what cannot be loaded fails in the fit."""
    work = FitWork(study)
    for task in study.tasks:
        with suppress(Exception):
            work._load(task)
    return work


def check_splits(study: Study) -> dict[str, list[int]]:
    """Refuse a split that is impossible in any run, before the first fit.

    Returns
    -------
    By task with data, the sizes of its training and test sets.
    """
    loaded = {task.name: task.data() for task in study.tasks if task.data is not None}
    draws: dict[str, dict[int, tuple[int, int]]] = {name: {} for name in loaded}
    for planned in study.plan_runs() if loaded else ():
        replicate = planned.redrawn.get("split", 0)
        if planned.task in loaded and replicate not in draws[planned.task]:
            draws[planned.task][replicate] = planned.draw.split_at(replicate)
    sizes = {}
    for name, dataset in loaded.items():
        splitter = study.task(name).splitter
        check_feasible(splitter, dataset, draws[name].values())
        seed = derive_seed(study.seed, "split", 0)
        resplit = measure_resplit(splitter, dataset, seed=seed)
        sizes[name] = [resplit.n_train, resplit.n_test]
    return sizes


def _split(task: Task, dataset: Dataset, fit: Fit) -> Split:
    """Split of a fit: the final one trains on validation data too.

    Fits of a search are scored on test data as well, for curves of searches; tuners are told their
    validation scores only.
    """
    split = split_dataset(task.splitter, dataset, seed=fit.seeds["split"], fold=fit.fold)
    return split.refit() if fit.refit else split


def find_versions() -> dict[str, str]:
    """Versions that may change a score."""
    versions = {"python": platform.python_version()}
    for package in ("outperform", "numpy", "scipy", "scikit-learn"):
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions
