"""Whether a pipeline is reproducible: every seed does what it should, and nothing else does.

Each source is given several seeds, and each of these fits is done several times. Scores must be
the same within a seed and should differ between seeds (Bouthillier et al., 2021, appendix A). That
an interrupted and resumed study equals an uninterrupted one is the runner's business, not that of
pipelines: its tests show it.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np

from outperform.engines import Engine, Outcome
from outperform.engines.engine import summarize_error, use_engine
from outperform.errors import OutperformError, TooFewRuns, UnknownName
from outperform.questions.check.generators import WatchedFits, WatchedScores
from outperform.questions.check.result import (
    FailedFits,
    Reproducibility,
    SourceCheck,
    UnseededDraws,
)
from outperform.runner import FitWork
from outperform.runner.work import list_needs
from outperform.stats.checks import check_count
from outperform.study.fits import Fit, honoured, make_fit
from outperform.study.pipelines import Pipeline
from outperform.study.spaces import default_params
from outperform.study.study import Study
from outperform.study.tasks import Task
from outperform.wording import suggest_names


def check(
    study: Study,
    engine: str | Engine = "local",
    *,
    pipelines: Collection[str] = (),
    sources: Collection[str] = (),
    n_seeds: int = 2,
    n_repeats: int = 2,
    report: Callable[[int, int], None] = lambda _done, _all: None,
) -> Reproducibility:
    """Check that every seed of a study does what it should, before the study is run.

    Every pipeline is fitted with several seeds of every source it honours, several times each.
    Hyperparameters are at their defaults, and all other sources at their first seed; so the source
    `hpo` is left out: tuners are pure functions of their seed, and have tests of their own. Nothing
    is recorded anywhere.

    Parameters
    ----------
    engine
        Where fits run, as in `run`: an address, or an open engine.
    pipelines, sources
        Names of those to check: all if none is named.
    n_seeds, n_repeats
        Seeds of every source, and fits of each seed: 5 of both leave less to chance.
    report
        Called with the number of fits done and the number of all.

    Examples
    --------
    >>> from outperform import Ideal, Pipeline, Task
    >>> def fit(params, split, seeds):
    ...     return {"test": seeds["init"] / 2**32}
    >>> net = Pipeline("net", fit, sources=["init", "order"])
    >>> study = Study([net], [Task("toy", metric="accuracy")], [Ideal(2)])
    >>> print(check(study, "inline"))
    1 of 2 seeds does nothing: order of net on toy (2 seeds of every source, 2 runs each).
    """
    plans = plan_checks(study, pipelines=pipelines, sources=sources, n_seeds=n_seeds)
    check_count("repeats", n_repeats, at_least=2)
    fits = [fit for plan in plans for fit in plan.fits for _ in range(n_repeats)]
    with use_engine(engine) as workers:
        outcomes = iter(_fit_all(study, workers, fits, report))
    checks: list[SourceCheck] = []
    unseeded: list[UnseededDraws] = []
    failed: list[FailedFits] = []
    for plan in plans:
        own = [*islice(outcomes, n_repeats * len(plan.fits))]
        errors = [outcome.error or "" for outcome in own if outcome.kind != "done"]
        if errors:
            failed.append(FailedFits(*plan.names, len(errors), len(own), errors[0]))
            continue
        names, watched = plan.names, [outcome.value for outcome in own]
        scores = np.array([each.scores["test"] for each in watched]).reshape(-1, n_repeats)
        checks += [SourceCheck(*names, s, scores[plan.rows(s, n_seeds)]) for s in plan.sources]
        unseeded += [UnseededDraws(*names, each) for each in _find_unseeded(watched, n_repeats)]
    if not checks:
        first = failed[0]
        raise OutperformError(
            f"a fit of {first.pipeline} on {first.task} failed: {summarize_error(first.error)}",
            "Mend that first, since what fails cannot be checked; --debug shows where it failed",
        ) from RuntimeError(first.error)
    return Reproducibility(tuple(checks), tuple(unseeded), tuple(failed))


@dataclass(frozen=True, slots=True)
class PairPlan:
    """The fits that check one pipeline on one task: all sources at their first seed, then others.

    The first fit serves every source.
    """

    pipeline: Pipeline
    task: Task
    sources: tuple[str, ...]
    fits: tuple[Fit, ...]

    @property
    def names(self) -> tuple[str, str]:
        """Of the pipeline and the task."""
        return self.pipeline.name, self.task.name

    def rows(self, source: str, n_seeds: int) -> list[int]:
        """Which of the fits are those of a source, one per seed."""
        first = 1 + self.sources.index(source) * (n_seeds - 1)
        return [0, *range(first, first + n_seeds - 1)]


def plan_checks(
    study: Study,
    *,
    pipelines: Collection[str] = (),
    sources: Collection[str] = (),
    n_seeds: int,
) -> list[PairPlan]:
    """Fits that a check does, once each, for every pipeline on every task."""
    check_count("seeds", n_seeds, at_least=2)
    _check_names("pipeline", pipelines, [pipeline.name for pipeline in study.pipelines])
    pairs = [(pipeline, task) for task in study.tasks for pipeline in study.pipelines]
    chosen = [(p, task) for p, task in pairs if not pipelines or p.name in pipelines]
    known = list(dict.fromkeys(name for pair in chosen for name in honoured(*pair)))
    if not known:
        raise TooFewRuns("no pipeline honours any source", "Declare the sources of the pipelines")
    _check_names("source", sources, known)
    plans = []
    for pipeline, task in chosen:
        names = [name for name in honoured(pipeline, task) if not sources or name in sources]
        if names:
            draws = [{}, *({name: i} for name in names for i in range(1, n_seeds))]
            seeded = map(study.draw(pipeline, task).seeds, draws)
            make = partial(make_fit, pipeline, task, default_params(pipeline.space), refit=True)
            fits = [make(dict(seeds), fold=fold) for seeds, fold in seeded]
            plans.append(PairPlan(pipeline, task, tuple(names), tuple(fits)))
    return plans


def _check_names(word: str, names: Collection[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            what = "the study has" if word == "pipeline" else "the pipelines honour"
            raise UnknownName(f"{what} no {word} {name!r}", suggest_names(name, known))


def _fit_all(
    study: Study, engine: Engine, fits: Sequence[Fit], report: Callable[[int, int], None]
) -> list[Outcome]:
    """What became of the fits, in their order."""
    work, needs = WatchedFits(FitWork.of(study)), list_needs(study)
    outcomes: dict[int, Outcome] = {}
    for number, fit in enumerate(fits):
        own = needs[fit.pipeline]
        engine.submit(work, fit, tag=number, timeout=study.timeout, needs=own)
    while len(outcomes) < len(fits):
        for outcome in engine.wait():
            outcomes[outcome.tag] = outcome
        report(len(outcomes), len(fits))
    return [outcomes[number] for number in range(len(fits))]


def _find_unseeded(watched: Sequence[WatchedScores], n_repeats: int) -> Iterator[str]:
    """Generators that fits with the same seeds leave in different states.

    Who seeds a generator from the seeds of the study leaves it in the same state every time.
    """
    repeats = [watched[i : i + n_repeats] for i in range(0, len(watched), n_repeats)]
    for name in sorted(set().union(*(each.moved for each in watched))):
        ends = [{each.after[name] for each in same if name in each.moved} for same in repeats]
        if any(len(states) > 1 for states in ends):
            yield name
