"""Searches of a study retraced, and how far they get, trial by trial."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from outperform.errors import TooFewRuns
from outperform.plain_values import Plain
from outperform.questions.result import Result, Table
from outperform.runs import Goal
from outperform.runs.scope import THIS_DATASET, Scope, join_scopes
from outperform.stats.checks import FloatArray
from outperform.stats.variances import MiddleRange, middle_range
from outperform.store import Store
from outperform.store.store import use_store
from outperform.study.fits import Fit, PlannedRun, Search, gather_fingerprints
from outperform.study.sources import ALL, TUNING_SOURCE
from outperform.study.spaces import Params
from outperform.study.study import Study, check_is_study
from outperform.study.tuners import Trial, make_tuner
from outperform.wording import count, enumerate_names

FitScores = Mapping[str, float]  # empty where the fit is missing or has failed
Recorded = str | Path | Store | Mapping[str, FitScores]  # a store, its address, or its scores
_MOST_TOLD = 3  # groups of searches in a sentence
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200)  # numbers of trials in a table
_ALL, _HPO = ("all sources",), ("seeds of the search",)
# Scores of the best trial so far after each trial, on validation and on test data (empty where a
# trial has no test score), and the final test score.
_Traced = tuple[list[float], list[float], float]


class Retracer:
    """Follows the searches of a study, which are pure functions of what its store has recorded."""

    def __init__(self, study: Study, recorded: Recorded) -> None:
        check_is_study(study)
        self.study = study
        if isinstance(recorded, Mapping):
            self.scores = recorded
        else:
            with use_store(recorded) as store:
                self.scores = store.scores()
        self.fingerprints = gather_fingerprints(study.pipelines, study.tasks)

    def follow(self, search: Search) -> Iterator[tuple[Params, FitScores]]:
        """Hyperparameters and scores of each trial; no scores where it failed or is not done yet.

        A search goes on after a trial that failed. After one that is not done yet nothing is
        recorded, so that what the tuner is told of it does not matter.
        """
        tuner, space = make_tuner(search.tuner), search.draw.pipeline.space
        sign = search.draw.task.sign
        history: list[Trial] = []
        for _ in range(search.n_trials):
            params = tuner.suggest(space, history, search.tuner_seed, search.n_trials)
            scores = self.find_scores(search.make_fit(params))
            yield params, scores
            history.append(Trial(params, sign * scores["valid"] if "valid" in scores else None))

    def find_scores(self, fit: Fit) -> FitScores:
        """Scores of a fit; none where it is missing or has failed."""
        return self.scores.get(fit.key(self.fingerprints), {})


@dataclass(frozen=True, slots=True)
class Course(Plain):
    """Scores of the trial that is best on validation data so far, by number of trials."""

    JSON = "mean sd low=bounds.low high=bounds.high"

    scores: FloatArray = field(repr=False, compare=False)  # shape (n_searches, n_trials)

    @property
    def mean(self) -> FloatArray:
        """Mean over searches."""
        mean: FloatArray = self.scores.mean(axis=0)
        return mean

    @property
    def sd(self) -> FloatArray:
        """Standard deviation over searches."""
        # From the first search, so that equal scores give exactly 0.
        sd: FloatArray = (self.scores - self.scores[:1]).std(axis=0, ddof=1)
        return sd

    @property
    def bounds(self) -> MiddleRange:
        """Ends of the range of the middle 80% of searches."""
        return middle_range(self.scores)


@dataclass(frozen=True, slots=True)
class SearchCurve(Plain):
    """Searches of one pipeline on one task, in the metric's own sign."""

    JSON = "pipeline task redrawn n_searches valid test final_mean final_sd"

    pipeline: str
    task: str
    redrawn: str  # from search to search: hpo alone, or all sources
    valid: Course
    test: Course | None  # None: not every trial was scored on test data
    final: FloatArray = field(repr=False, compare=False)  # test scores of final fits, one each

    @property
    def n_searches(self) -> int:
        """Number of searches."""
        return len(self.final)

    @property
    def n_trials(self) -> int:
        """Number of trials of each."""
        return int(self.valid.scores.shape[1])

    @property
    def final_sd(self) -> float:
        """Standard deviation of the test scores of final fits."""
        return float((self.final - self.final[0]).std(ddof=1))

    def __str__(self) -> str:
        return (
            f"after {self.n_trials} trials {self.pipeline} on {self.task} reaches "
            f"{self.valid.mean[-1]:.4g} ± {self.valid.sd[-1]:.2g} on validation and, trained on "
            f"that too, {self.final_mean:.4g} ± {self.final_sd:.2g} on test data "
            f"({self.n_searches} searches, {self.redrawn} redrawn)"
        )

    @property
    def final_mean(self) -> float:
        """Mean test score of the final fits."""
        return float(self.final.mean())


@dataclass(frozen=True, slots=True)
class SearchCurves(Result):
    """Scores of the best trial so far, by number of trials, of every group of searches."""

    JSON = "metric goal tuner scope curves caveats"

    metric: str
    goal: Goal
    tuner: str
    curves: tuple[SearchCurve, ...]
    caveats: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        """What varied from search to search, and what this is about for that reason."""
        scopes = [
            Scope(_HPO if curve.redrawn == TUNING_SOURCE else _ALL, THIS_DATASET)
            for curve in self.curves
        ]
        return join_scopes(scopes, [curve.task for curve in self.curves])

    @property
    def tables(self) -> list[Table | str]:
        """The best so far after 1, 2, 5, 10, ... trials and at the end, on each set."""
        longest = max(curve.n_trials for curve in self.curves)
        steps = [step for step in _STEPS if step < longest] + [longest]
        trials = [count(step, "trial") for step in steps]
        header = ["pipeline", "task", "redrawn", "searches", "data", *trials, "final fits"]
        rows = []
        for curve in self.curves:
            names = [curve.pipeline, curve.task, curve.redrawn, str(curve.n_searches)]
            final = f"{curve.final_mean:.4g} ± {curve.final_sd:.2g}"
            for data, course, last in (
                ("validation", curve.valid, ""),
                ("test", curve.test, final),
            ):
                reached = ["–"] * len(steps)
                if course is not None:
                    reached = [f"{course.mean[n - 1]:.4g} ± {course.sd[n - 1]:.2g}" for n in steps]
                rows.append([*names, data, *reached, last])
        return [Table(header, rows)]

    def __str__(self) -> str:
        n_others = len(self.curves) - _MOST_TOLD
        others = [f"and {n_others} more groups of searches"] if n_others > 0 else []
        sentences = "; ".join([*map(str, self.curves[:_MOST_TOLD]), *others])
        return f"{self.metric} by {self.tuner} search: {sentences}."


def trace_searches(study: Study, recorded: Recorded) -> SearchCurves:
    """Follow the finished searches of a study, which its tuner can retrace from recorded scores.

    Parameters
    ----------
    recorded
        The store that the study was run into, its address, or its scores by key.
    """
    retracer = Retracer(study, recorded)
    groups: dict[tuple[str, str, str], list[_Traced]] = {}
    seen, unfinished = set(), set()
    for run in study.plan_runs():
        names = run.pipeline, run.task, run.source if run.source == TUNING_SOURCE else ALL
        if run.search is None or (names, run.search) in seen:
            continue
        seen.add((names, run.search))
        traced = _trace(retracer, run)
        if traced is None:
            unfinished.add(f"{run.pipeline} on {run.task}")
        else:
            groups.setdefault(names, []).append(traced)
    curves = []
    pipelines, tasks = ([each.name for each in group] for group in (study.pipelines, study.tasks))
    for names in sorted(groups, key=lambda n: (tasks.index(n[1]), pipelines.index(n[0]), n[2])):
        valid, test, final = zip(*groups[names], strict=True)
        if len(final) > 1:
            tested = Course(np.array(test)) if all(test) else None
            curves.append(SearchCurve(*names, Course(np.array(valid)), tested, np.array(final)))
    if not curves:
        raise TooFewRuns(
            "no pipeline has two finished searches on a task",
            "Run the ideal design, or variance with searches = 20",
        )
    task, doubts = study.tasks[0], tuple(_find_doubts(curves, unfinished))
    return SearchCurves(task.metric, task.goal, study.tuner, tuple(curves), doubts)


def _trace(retracer: Retracer, run: PlannedRun) -> _Traced | None:
    """Retrace the search of a run; None where a fit of it is missing."""
    assert run.search is not None
    tried, trials = [], []
    for params, scores in retracer.follow(run.search):
        if "valid" not in scores:
            return None
        tried.append(params)
        trials.append(scores)
    sign = run.draw.task.sign
    # Which trial is the best after each; of equals the earliest, as it is to the search.
    valid = [sign * scores["valid"] for scores in trials]
    best: list[int] = []
    for i, score in enumerate(valid):
        best.append(i if not best or score > valid[best[-1]] else best[-1])
    final = retracer.find_scores(run.make_fit(tried[best[-1]]))
    if "test" not in final:
        return None
    tested = all("test" in scores for scores in trials)
    test = [trials[i]["test"] for i in best] if tested else []
    return [trials[i]["valid"] for i in best], test, final["test"]


def _find_doubts(curves: Sequence[SearchCurve], unfinished: set[str]) -> Iterator[str]:
    yield (
        "a best validation score is chosen for being good, and so flatters; final test scores are "
        "of fits on training and validation data together"
    )
    untested = [f"{curve.pipeline} on {curve.task}" for curve in curves if curve.test is None]
    if untested:
        yield (
            f"no curve of test scores of {enumerate_names(dict.fromkeys(untested))}: not every "
            'trial has one; pipelines that return "test" beside "valid" get it, and searches '
            "never use it"
        )
    if unfinished:
        yield (
            f"searches that are unfinished, or had a failing trial, are left out: "
            f"{enumerate_names(sorted(unfinished))}"
        )
    few = [f"{c.pipeline} on {c.task} ({c.n_searches})" for c in curves if c.n_searches < 10]
    if few:
        yield f"fewer than 10 searches of {enumerate_names(few)}: their spread is rough"
