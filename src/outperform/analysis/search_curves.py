"""How far searches of hyperparameters get, trial by trial, and how much that varies."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from outperform.errors import TooFewRuns
from outperform.runs import Goal
from outperform.runs.naming import enumerate_names
from outperform.stats.checks import FloatArray
from outperform.study.estimators import PlannedRun
from outperform.study.fits import gather_fingerprints, make_fit
from outperform.study.sources import TUNING_SOURCE
from outperform.study.study import Study
from outperform.study.tuners import Trial, best_trial, make_tuner

Scores = Mapping[str, Mapping[str, float]]  # of every fit that is done, by key


@dataclass(frozen=True, slots=True)
class SearchCurve:
    """Searches of one pipeline on one task, in the metric's own sign."""

    pipeline: str
    task: str
    redrawn: str  # from search to search: hpo alone, or all sources
    valid: FloatArray = field(repr=False, compare=False)  # best so far: (n_searches, n_trials)
    test: FloatArray = field(repr=False, compare=False)  # of the final fits: (n_searches,)

    @property
    def n_searches(self) -> int:
        """Number of searches."""
        return len(self.valid)

    @property
    def n_trials(self) -> int:
        """Number of trials of each."""
        return int(self.valid.shape[1])

    @property
    def mean(self) -> FloatArray:
        """Mean of the best validation score so far, by number of trials."""
        mean: FloatArray = self.valid.mean(axis=0)
        return mean

    @property
    def sd(self) -> FloatArray:
        """Standard deviation over searches of the best so far, by number of trials."""
        sd: FloatArray = self.valid.std(axis=0, ddof=1)
        return sd

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Ends of the range of the middle 80 % of searches, by number of trials."""
        low, high = np.quantile(self.valid, [0.1, 0.9], axis=0)
        return low, high

    def __str__(self) -> str:
        return (
            f"after {self.n_trials} trials {self.pipeline} on {self.task} reaches "
            f"{self.mean[-1]:.4g} ± {self.sd[-1]:.2g} on validation and {self.test.mean():.4g} ± "
            f"{self.test.std(ddof=1):.2g} on test data ({self.n_searches} searches, "
            f"{self.redrawn} redrawn)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "pipeline": self.pipeline,
            "task": self.task,
            "redrawn": self.redrawn,
            "n_searches": self.n_searches,
            "mean": self.mean.tolist(),
            "sd": self.sd.tolist(),
            "low": self.bounds[0].tolist(),
            "high": self.bounds[1].tolist(),
            "test_mean": float(self.test.mean()),
            "test_sd": float(self.test.std(ddof=1)),
        }


@dataclass(frozen=True, slots=True)
class SearchCurves:
    """Best validation score so far, by number of trials, of every group of searches."""

    metric: str
    goal: Goal
    tuner: str
    curves: tuple[SearchCurve, ...]
    caveats: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.metric} by {self.tuner} search: {'; '.join(map(str, self.curves))}."

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "metric": self.metric,
            "goal": self.goal,
            "tuner": self.tuner,
            "curves": [curve.to_dict() for curve in self.curves],
            "caveats": list(self.caveats),
        }


def trace_searches(study: Study, scores: Scores) -> SearchCurves:
    """Follow the finished searches of a study, which its tuner can retrace from recorded scores.

    Parameters
    ----------
    scores
        From `SqliteStore.scores`.
    """
    tracer = _Tracer(study, scores)
    groups: dict[tuple[str, str, str], list[tuple[list[float], float]]] = {}
    seen, unfinished = set(), set()
    for run in study.plan_runs():
        names = run.pipeline, run.task, run.source if run.source == TUNING_SOURCE else "all"
        if run.search is None or (names, run.search) in seen:
            continue
        seen.add((names, run.search))
        traced = tracer.trace(run)
        if traced is None:
            unfinished.add(f"{run.pipeline} on {run.task}")
        else:
            groups.setdefault(names, []).append(traced)
    curves = tuple(
        SearchCurve(*names, np.array([v for v, _ in found]), np.array([t for _, t in found]))
        for names, found in sorted(groups.items(), key=lambda group: _find_place(study, group[0]))
        if len(found) > 1
    )
    if not curves:
        raise TooFewRuns(
            "no pipeline has two finished searches on a task",
            "Run the ideal estimator, or variance with searches = 20",
        )
    task = study.tasks[0]
    return SearchCurves(
        task.metric, task.goal, study.tuner, curves, tuple(_find_doubts(curves, unfinished))
    )


def _find_place(study: Study, names: tuple[str, str, str]) -> tuple[int, int, str]:
    pipelines, tasks = ([each.name for each in group] for group in (study.pipelines, study.tasks))
    return tasks.index(names[1]), pipelines.index(names[0]), names[2]


class _Tracer:
    def __init__(self, study: Study, scores: Scores) -> None:
        self.study, self.scores = study, scores
        self.tuner = make_tuner(study.tuner)
        self.fingerprints = gather_fingerprints(study.pipelines, study.tasks)

    def trace(self, run: PlannedRun) -> tuple[list[float], float] | None:
        """Best so far on validation after each trial, and the final test score."""
        assert run.search is not None
        pipeline, task = self.study.pipeline(run.pipeline), self.study.task(run.task)
        sign = 1 if task.goal == "maximize" else -1
        history: list[Trial] = []
        for _ in range(run.search.n_trials):
            params = self.tuner.suggest(
                pipeline.space, history, run.search.tuner_seed, run.search.n_trials
            )
            score = self._find(run, params, "valid", refit=False)
            if score is None:
                return None
            history.append(Trial(params, sign * score))
        test = self._find(run, best_trial(history).params, "test", refit=True)
        best = sign * np.maximum.accumulate([trial.score or 0.0 for trial in history])
        return None if test is None else (best.tolist(), test)

    def _find(self, run: PlannedRun, params: Any, name: str, *, refit: bool) -> float | None:
        pipeline, task = self.study.pipeline(run.pipeline), self.study.task(run.task)
        planned = run if refit or run.search is None else run.search
        fit = make_fit(pipeline, task, params, dict(planned.seeds), fold=planned.fold, refit=refit)
        return self.scores.get(fit.key(self.fingerprints), {}).get(name)


def _find_doubts(curves: tuple[SearchCurve, ...], unfinished: set[str]) -> Iterator[str]:
    yield (
        "a best validation score is chosen for being good, and so flatters; test scores are of "
        "fits on training and validation data together"
    )
    if unfinished:
        yield (
            f"searches that are unfinished, or had a failing trial, are left out: "
            f"{enumerate_names(sorted(unfinished))}"
        )
    few = [f"{c.pipeline} on {c.task} ({c.n_searches})" for c in curves if c.n_searches < 10]
    if few:
        yield f"fewer than 10 searches of {enumerate_names(few)}: their spread is rough"
