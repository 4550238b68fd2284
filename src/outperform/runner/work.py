"""What workers do, one fit after the other: what that needs, and on what versions it ran."""

import platform
import socket
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Self

from outperform.engines import NO_NEEDS, Needs
from outperform.engines.engine import run
from outperform.errors import InvalidScores, OutperformError
from outperform.runner.spool import FitReport, write_report
from outperform.study.datasets import Dataset
from outperform.study.fits import Fit
from outperform.study.pipelines import Pipeline
from outperform.study.sources import NOISE
from outperform.study.study import Study
from outperform.study.tasks import Task, split_dataset
from outperform.wording import enumerate_names

_ALWAYS = ("outperform", "numpy", "scipy", "scikit-learn")
# Looked at where a fit has loaded them: importing them takes seconds.
_IF_LOADED = ("torch", "tensorflow", "jax", "xgboost", "lightgbm", "catboost", "transformers")
_PROCESSOR_FILE = Path("/proc/cpuinfo")


class MissingData(Exception):
    """Data that cannot be loaded where a fit should run."""


@dataclass(frozen=True, slots=True)
class FitWork:
    """What a worker does with a fit: load the data once, split it, train, score.

    Data is loaded with the work itself, so that a fit's time and timeout are its own, and so that
    a worker which lacks some is found out before it spoils a fit. In the spool, a folder, every
    report is kept before it is returned.
    """

    pipelines: Mapping[str, Pipeline]
    tasks: Mapping[str, Task]
    spool: Path | None = None
    _datasets: dict[str, Dataset] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls, study: Study, tasks: Iterable[Task] | None = None, *, spool: Path | None = None
    ) -> Self:
        """The work of a study, or of some of its tasks."""
        pipelines = {pipeline.name: pipeline for pipeline in study.pipelines}
        chosen = study.tasks if tasks is None else tasks
        return cls(pipelines, {task.name: task for task in chosen}, spool)

    def __call__(self, fit: Fit) -> dict[str, float]:
        """Scores of one fit."""
        pipeline, task = self.pipelines[fit.pipeline], self.tasks[fit.task]
        dataset = self.load(task)
        split = None
        if dataset is not None:
            # Fits of a search are scored on test data as well, for curves of searches; tuners are
            # told their validation scores only. The final fit trains on validation data too.
            split = split_dataset(task.splitter, dataset, seed=fit.seeds["split"], fold=fit.fold)
            split = split.refit() if fit.refit else split
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

    def report(self, wanted: tuple[str, Fit] | None) -> FitReport | None:
        """What came out of a fit, given with its key, on what it ran, and how long it took.

        Without a fit, a worker only gets ready: it has imported all it needs when it gets here.
        """
        if wanted is None:
            return None
        key, fit = wanted
        started = time.time()
        try:
            self.load(self.tasks[fit.task])
        except MissingData as lack:  # in this process, that of the coordinator
            return FitReport(key, {}, str(lack), 0.0, started, {}, lack=str(lack))
        scores, error, seconds, _ = run(self, fit)
        report = FitReport(key, scores or {}, error, seconds, started, find_versions())
        if self.spool is None:
            return report
        return report._replace(unspooled=write_report(self.spool, report))

    def load(self, task: Task) -> Dataset | None:
        """Data of a task, loaded once; MissingData where that cannot be."""
        if task.data is not None and task.name not in self._datasets:
            try:
                self._datasets[task.name] = task.data()
            except Exception as error:
                why = f"{type(error).__name__}: {error}"
                if isinstance(error, OutperformError):
                    why = error.problem
                where = socket.gethostname()
                raise MissingData(
                    f"the data of task {task.name!r} cannot be loaded on {where}: {why}"
                ) from error
        return self._datasets.get(task.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrive, (type(self), self.pipelines, self.tasks, self.spool)


def _arrive(kind: type[FitWork], *parts: Any) -> FitWork:
    """The work as a worker receives it, with its data."""
    work = kind(*parts)
    for task in work.tasks.values():
        work.load(task)
    return work


def list_needs(study: Study) -> dict[str, Needs]:
    """What a fit needs, by pipeline.

    Where one asks for GPUs, those that do not must see none: they would take some of its memory.
    """
    no_gpus = need_nothing(study).gpus
    needs = {}
    for pipeline in study.pipelines:
        others = dict(pipeline.resources)
        gpus, memory = others.pop("gpus", no_gpus), others.pop("memory", None)
        limit = None if memory is None else int(memory)
        needs[pipeline.name] = Needs(gpus, limit, tuple(sorted(others.items())))
    return needs


def need_nothing(study: Study) -> Needs:
    """What all that is no fit needs: no GPU, where there are fits which do."""
    is_asked = any("gpus" in pipeline.resources for pipeline in study.pipelines)
    return Needs(gpus=0) if is_asked else NO_NEEDS


def find_versions() -> dict[str, str]:
    """Versions that may change a score, and the processor, of this process.

    They are looked up once, and again where more of what matters has been loaded since.
    """
    return _find_versions(tuple(name for name in _IF_LOADED if name in sys.modules))


@cache
def _find_versions(loaded: tuple[str, ...]) -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in _ALWAYS:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    for name in loaded:
        number = getattr(sys.modules[name], "__version__", None)
        if number is not None:
            versions[name] = str(number)
    return versions | {"processor": _name_processor()}


@cache
def _name_processor() -> str:
    with suppress(OSError), _PROCESSOR_FILE.open(errors="replace") as lines:
        for line in lines:
            word, _, name = line.partition(":")
            if word.strip() == "model name":
                return name.strip()
    return platform.processor() or platform.machine()
