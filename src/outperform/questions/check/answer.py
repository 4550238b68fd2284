"""Whether a pipeline is reproducible: every seed does what it should, and nothing else does.

Each source is given several seeds, and each of these fits is done several times. Scores must be
the same within a seed and should differ between seeds (000, appendix A). That an interrupted and
resumed study equals an uninterrupted one is the runner's business, not that of pipelines: its tests
show it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from outperform.engines import Engine, Outcome
from outperform.errors import OutperformError, TooFewRuns
from outperform.plain_values import Plain
from outperform.questions.result import Mood, Result, Table
from outperform.runner import FitWork
from outperform.runs.scope import SEEDS, Scope
from outperform.stats.checks import FloatArray, check_count
from outperform.study.designs import Draw, honoured
from outperform.study.fits import Fit, make_fit
from outperform.study.pipelines import Pipeline
from outperform.study.spaces import default_params
from outperform.study.study import Study
from outperform.study.tasks import Task
from outperform.wording import enumerate_names

Finding = Literal["reproducible", "unused", "noisy"]


@dataclass(frozen=True, slots=True)
class SourceCheck(Plain):
    """What the seeds of one source do to the scores of one pipeline on one task."""

    JSON = "pipeline task source finding noise noise_sd spread scores"

    pipeline: str
    task: str
    source: str
    scores: FloatArray = field(repr=False, compare=False)  # shape (n_seeds, n_repeats)

    @property
    def noise(self) -> float:
        """Largest difference between runs of the same seed."""
        return float(np.ptp(self.scores, axis=1).max())

    @property
    def noise_sd(self) -> float:
        """Standard deviation of runs of the same seed, pooled over seeds."""
        # From the first run of each seed, so that equal scores give exactly 0.
        return float(np.sqrt((self.scores - self.scores[:, :1]).var(axis=1, ddof=1).mean()))

    @property
    def spread(self) -> float:
        """Largest difference between the mean scores of seeds."""
        return float(np.ptp(self.scores.mean(axis=1)))

    @property
    def finding(self) -> Finding:
        """`noisy`: the same seed gives different scores; `unused`: all seeds give the same."""
        if self.noise > 0:
            return "noisy"
        return "reproducible" if self.spread > 0 else "unused"

    def __str__(self) -> str:
        words = {
            "reproducible": "the same seed repeats the score, another changes it",
            "unused": "its seed changes nothing",
            "noisy": f"the same seed gives scores that differ by up to {self.noise:.3g}",
        }
        return f"{self.source} of {self.pipeline} on {self.task}: {words[self.finding]}."


@dataclass(frozen=True, slots=True)
class Reproducibility(Result):
    """What every source of every pipeline was found to do."""

    JSON = "reproducible scope checks caveats"

    checks: tuple[SourceCheck, ...]
    caveats: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        """What varied, and what this is about for that reason."""
        return Scope((SEEDS, "repeats of each seed"), "these pipelines on this machine")

    @property
    def reproducible(self) -> bool:
        """Whether every fit done again gave the same score."""
        return all(check.finding != "noisy" for check in self.checks)

    @property
    def unused(self) -> tuple[SourceCheck, ...]:
        """Sources whose seed changes nothing."""
        return tuple(check for check in self.checks if check.finding == "unused")

    @property
    def mood(self) -> Mood:
        """Good news if every seed repeats its score."""
        return "good" if self.reproducible else "open"

    @property
    def tables(self) -> list[Table | str]:
        """A row per source of a pipeline on a task."""
        header = ["pipeline", "task", "source", "finding"]
        header += ["between seeds", "within a seed", "sd within"]
        rows = [
            [c.pipeline, c.task, c.source, c.finding]
            + [f"{value:.3g}" for value in (c.spread, c.noise, c.noise_sd)]
            for c in self.checks
        ]
        return [Table(header, rows)]

    def __str__(self) -> str:
        n_seeds, n_repeats = self.checks[0].scores.shape
        noisy = list(dict.fromkeys(c.pipeline for c in self.checks if c.finding == "noisy"))
        how = f"({n_seeds} seeds of every source, {n_repeats} runs each)"
        if not noisy:
            return f"Every pipeline is reproducible: the same seeds give the same scores {how}."
        worst = max(self.checks, key=lambda check: check.noise)
        return (
            f"Not reproducible: {enumerate_names(noisy)}. The same seeds give scores that differ "
            f"by up to {worst.noise:.3g} {how}."
        )


def check_reproducibility(
    study: Study,
    engine: Engine,
    *,
    n_seeds: int = 5,
    n_repeats: int = 5,
    report: Callable[[int, int], None] = lambda _done, _all: None,
) -> Reproducibility:
    """Fit every pipeline with several seeds of every source it honours, several times each.

    Hyperparameters are at their defaults, and all other sources at their first seed; so the source
    `hpo` is left out: tuners are pure functions of their seed, and have tests of their own. Nothing
    is recorded anywhere.

    Parameters
    ----------
    report
        Called with the number of fits done and the number of all.
    """
    count_checks(study, n_seeds=n_seeds, n_repeats=n_repeats)  # refuses what makes no sense
    fits = {
        (pipeline.name, task.name, source): _make_fits(study, pipeline, task, source, n_seeds)
        for task in study.tasks
        for pipeline in study.pipelines
        for source in honoured(pipeline)
    }
    repeated = [fit for group in fits.values() for fit in group for _ in range(n_repeats)]
    scores = np.array(_fit_all(study, engine, repeated, report))
    blocks = scores.reshape(len(fits), n_seeds, n_repeats)
    checks = tuple(SourceCheck(*names, block) for names, block in zip(fits, blocks, strict=True))
    return Reproducibility(checks, tuple(_find_doubts(checks)))


def count_checks(study: Study, *, n_seeds: int, n_repeats: int) -> dict[tuple[str, str], int]:
    """Fits that `check_reproducibility` does, by pipeline and task."""
    check_count("seeds", n_seeds, at_least=2)
    check_count("repeats", n_repeats, at_least=2)
    if not any(map(honoured, study.pipelines)):
        raise TooFewRuns("no pipeline honours any source", "Declare the sources of the pipelines")
    return {
        (pipeline.name, task.name): len(honoured(pipeline)) * n_seeds * n_repeats
        for task in study.tasks
        for pipeline in study.pipelines
    }


def _make_fits(
    study: Study, pipeline: Pipeline, task: Task, source: str, n_seeds: int
) -> list[Fit]:
    draw = Draw(pipeline, task, study.seed, study.tuner, study.n_trials)
    fits = []
    for i in range(n_seeds):
        seeds, fold = draw.seeds({source: i})
        params = default_params(pipeline.space)
        fits.append(make_fit(pipeline, task, params, dict(seeds), fold=fold, refit=True))
    return fits


def _fit_all(
    study: Study, engine: Engine, fits: Sequence[Fit], report: Callable[[int, int], None]
) -> list[float]:
    """Test scores, in the order of the fits."""
    work, scores = FitWork(study), [float("nan")] * len(fits)
    for number, fit in enumerate(fits):
        engine.submit(work, fit, tag=number)
    n_done = 0
    while n_done < len(fits):
        for outcome in engine.wait():
            scores[outcome.tag] = _read_score(outcome, fits[outcome.tag])
            n_done += 1
        report(n_done, len(fits))
    return scores


def _read_score(outcome: Outcome, fit: Fit) -> float:
    if outcome.kind != "done":
        raise OutperformError(
            f"a fit of {fit.pipeline} on {fit.task} failed:\n{outcome.error}",
            "Mend that first: what fails cannot be checked",
        )
    return float(outcome.value["test"])


def _find_doubts(checks: Sequence[SourceCheck]) -> Iterator[str]:
    for check in checks:
        if check.finding == "unused":
            yield (
                f"{check.source} of {check.pipeline} on {check.task}: all "
                f"{check.scores.shape[0]} seeds give the score {check.scores[0, 0]:.4g}, so its "
                "seed is unused, or has no effect that this metric shows"
            )
        elif check.finding == "noisy" and check.spread <= check.noise:
            yield (
                f"{check.source} of {check.pipeline} on {check.task}: seeds differ by no more "
                "than runs of one seed do, so it cannot be told whether the seed is used"
            )
