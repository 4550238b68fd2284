"""Whether a pipeline is reproducible: every seed does what it should, and nothing else does.

Each source is given several seeds, and each of these fits is done several times. Scores must be
the same within a seed and should differ between seeds (Bouthillier et al., 2021, appendix A), and
global generators of random numbers must end as they did, or something draws from them unseeded.
"""

import random
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, product, takewhile
from typing import Any

import numpy as np

from outperform.engines import Engine, Outcome
from outperform.engines.engine import summarize_error, use_engine
from outperform.errors import OutperformError, TooFewRuns, UnknownName
from outperform.questions.check.result import (
    THOROUGH,
    FailedFits,
    Reproducibility,
    SourceCheck,
    UnseededDraws,
)
from outperform.runner import FitWork
from outperform.runner.work import list_needs
from outperform.stats.checks import check_count, check_list
from outperform.study.fingerprints import hash_text
from outperform.study.fits import Draw, Fit
from outperform.study.spaces import default_params
from outperform.study.study import Study, check_is_study
from outperform.wording import suggest_names

_Key = tuple[str, str, str, int]  # pipeline, task, source ("" for the first seed), which seed
_Outcomes = dict[_Key, list[Outcome]]  # of the repeats of each fit
_States = Mapping[str, str]  # a hash of the state of each generator, by the generator's name
_Generator = tuple[Callable[[], Any], Callable[[Any], Any], Any]  # reads, writes and seeds it


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

    Every pipeline is fitted with several seeds of every source it honours, several times each;
    a source whose seeds change nothing gets up to five, as fewer may agree by chance.
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
    1 of 2 seeds changes no score: order of net on toy (2 to 5 seeds of every source, 2 runs each).
    """
    check_is_study(study)
    plans = plan_checks(study, pipelines=pipelines, sources=sources, n_seeds=n_seeds)
    check_count("repeats", n_repeats, at_least=2)
    outcomes: _Outcomes = {}
    with use_engine(engine) as workers:
        fit = partial(_fit_all, study, workers, outcomes, n_repeats=n_repeats, report=report)
        fit([plan.first_fits for plan in plans])
        fit([plan.further_fits(outcomes) for plan in plans])
    checks = [each for plan in plans for each in plan.judge(outcomes)]
    failed = [each for plan in plans for each in plan.list_failed(outcomes)]
    if not checks:
        first = failed[0]
        raise OutperformError(
            f"a fit of {first.pipeline} on {first.task} failed: {summarize_error(first.error)}",
            "Mend that first, since what fails cannot be checked; --debug shows where it failed",
        ) from RuntimeError(first.error)
    unseeded = [each for plan in plans for each in plan.find_unseeded(outcomes)]
    return Reproducibility(tuple(checks), tuple(unseeded), tuple(failed))


@dataclass(frozen=True, slots=True)
class PairPlan:
    """How one pipeline on one task is checked: the other seeds of each source, one at a time."""

    draw: Draw
    sources: tuple[str, ...]
    n_seeds: int

    @property
    def first_fits(self) -> dict[_Key, Fit]:
        """All sources at their first seed, which is one fit, then the other seeds of each."""
        return self._plan(self.sources, range(self.n_seeds))

    def further_fits(self, outcomes: _Outcomes) -> dict[_Key, Fit]:
        """More seeds of sources that changed nothing: few often agree on few test examples."""
        idle = [each.source for each in self.judge(outcomes) if each.finding == "unused"]
        return self._plan(idle, range(self.n_seeds, THOROUGH))

    def _plan(self, sources: Sequence[str], seeds: range) -> dict[_Key, Fit]:
        params = default_params(self.draw.pipeline.space)
        return {
            self._key(source, seed): self.draw.make_fit(
                params, *self.draw.seeds({source: seed}), refit=True
            )
            for source, seed in product(sources, seeds)
        }

    def _key(self, source: str, seed: int) -> _Key:
        return (*self.draw.pair, source if seed else "", seed)

    def _own(self, outcomes: _Outcomes) -> list[list[Outcome]]:
        return [same for key, same in outcomes.items() if key[:2] == self.draw.pair]

    def judge(self, outcomes: _Outcomes) -> list[SourceCheck]:
        """What the seeds of each source do; nothing where a fit failed."""
        if self.list_failed(outcomes):
            return []
        return [self._judge(outcomes, source) for source in self.sources]

    def _judge(self, outcomes: _Outcomes, source: str) -> SourceCheck:
        keys = takewhile(outcomes.__contains__, (self._key(source, i) for i in count()))
        seeds = [[outcome.value for outcome in outcomes[key]] for key in keys]
        scores = np.array([[each.scores["test"] for each in same] for same in seeds])
        return SourceCheck(*self.draw.pair, source, scores, _find_moved(seeds))

    def list_failed(self, outcomes: _Outcomes) -> list[FailedFits]:
        """One entry if fits failed, else none."""
        own = [outcome for same in self._own(outcomes) for outcome in same]
        errors = [outcome.error or "" for outcome in own if outcome.kind != "done"]
        return [FailedFits(*self.draw.pair, len(errors), len(own), errors[0])] if errors else []

    def find_unseeded(self, outcomes: _Outcomes) -> list[UnseededDraws]:
        """Global generators that are drawn from without a seed."""
        if self.list_failed(outcomes):
            return []
        repeats = [[outcome.value for outcome in same] for same in self._own(outcomes)]
        return [UnseededDraws(*self.draw.pair, name) for name in _find_unseeded(repeats)]


def plan_checks(
    study: Study, *, pipelines: Collection[str] = (), sources: Collection[str] = (), n_seeds: int
) -> list[PairPlan]:
    """How every pipeline on every task is checked, or those that are named."""
    check_count("seeds", n_seeds, at_least=2)
    _check_names("pipeline", pipelines, [pipeline.name for pipeline in study.pipelines])
    chosen = [draw for draw in study.draws if not pipelines or draw.pipeline.name in pipelines]
    known = list(dict.fromkeys(name for draw in chosen for name in draw.honoured))
    if not known:
        raise TooFewRuns("no pipeline honours any source", "Declare the sources of the pipelines")
    _check_names("source", sources, known)
    plans = []
    for draw in chosen:
        names = tuple(name for name in draw.honoured if not sources or name in sources)
        if names:
            plans.append(PairPlan(draw, names, n_seeds))
    return plans


def _check_names(word: str, names: Collection[str], known: Sequence[str]) -> None:
    check_list(f"{word}s", names)
    for name in names:
        if name not in known:
            what = "the study has" if word == "pipeline" else "the pipelines honour"
            raise UnknownName(f"{what} no {word} {name!r}", suggest_names(name, known))


def _fit_all(
    study: Study,
    engine: Engine,
    outcomes: _Outcomes,
    plans: Sequence[Mapping[_Key, Fit]],
    *,
    n_repeats: int,
    report: Callable[[int, int], None],
) -> None:
    """Do every fit several times, and add what became of them to the outcomes."""
    work, needs = WatchedFits(FitWork.of(study)), list_needs(study)
    fits = {key: fit for plan in plans for key, fit in plan.items()}
    keys = [key for key in fits for _ in range(n_repeats)]
    n_before, done = n_repeats * len(outcomes), dict[int, Outcome]()
    for number, key in enumerate(keys):
        own = needs[fits[key].pipeline]
        engine.submit(work, fits[key], tag=number, timeout=study.timeout, needs=own)
    while len(done) < len(keys):
        for outcome in engine.wait():
            done[outcome.tag] = outcome
        report(n_before + len(done), n_before + len(keys))
    for number, key in enumerate(keys):
        outcomes.setdefault(key, []).append(done[number])


@dataclass(frozen=True, slots=True)
class WatchedScores:
    """Scores of a fit, and the states in which it found and left the global generators."""

    scores: dict[str, float]
    before: _States
    after: _States

    @property
    def moved(self) -> set[str]:
        """Generators that the fit has drawn from, or has seeded."""
        return {name for name, state in self.before.items() if self.after[name] != state}


@dataclass(frozen=True, slots=True)
class WatchedFits:
    """Work like the runner's, which also says what became of the global generators.

    They are put into a new state before every fit, so that what draws from them without a seed
    cannot repeat itself by chance: a fresh process always starts torch from the same state.
    """

    work: FitWork

    def __call__(self, fit: Fit) -> WatchedScores:
        """Scores of one fit, and the states around it."""
        old = {name: read() for name, (read, _, _) in _list_generators().items()}
        for _, _, seed in _list_generators().values():
            seed()
        try:
            before = _hash_states()
            scores = self.work(fit)
            return WatchedScores(scores, before, {**before, **_hash_states()})
        finally:
            for name, (_, write, _) in _list_generators().items():
                if name in old:
                    write(old[name])


def _hash_states() -> dict[str, str]:
    return {name: _hash(read()) for name, (read, _, _) in _list_generators().items()}


def _hash(state: Any) -> str:
    parts = state if isinstance(state, tuple) else (state,)
    plain = (part.tolist() if hasattr(part, "tolist") else part for part in parts)
    return hash_text("/".join(map(str, plain)))


def _list_generators() -> dict[str, _Generator]:
    """How to read, write and seed anew each generator; torch only where it is imported."""
    legacy = np.random  # the generators that people's code draws from, whatever we think of them
    generators: dict[str, _Generator] = {
        "random": (random.getstate, random.setstate, random.seed),
        "numpy.random": (legacy.get_state, legacy.set_state, legacy.seed),
    }
    torch = sys.modules.get("torch")
    if hasattr(torch, "get_rng_state"):  # it is not, while it is being imported
        generators["torch"] = (torch.get_rng_state, torch.set_rng_state, torch.seed)  # type: ignore[union-attr]
    return generators


def _find_moved(seeds: Sequence[Sequence[WatchedScores]]) -> tuple[str, ...]:
    """Numbers beside the score that repeat in all fits of a seed, and differ between seeds."""
    values = {
        name: [{each.scores.get(name) for each in same} for same in seeds]
        for name in seeds[0][0].scores
        if name != "test"
    }
    return tuple(
        name
        for name, by_seed in values.items()
        if all(len(same) == 1 for same in by_seed) and len(set().union(*by_seed)) > 1
    )


def _find_unseeded(repeats: Sequence[Sequence[WatchedScores]]) -> Iterator[str]:
    """Generators that fits with the same seeds leave in different states.

    Who seeds a generator from the seeds of the study leaves it in the same state every time.
    """
    for name in sorted(set().union(*(each.moved for same in repeats for each in same))):
        ends = [{each.after[name] for each in same if name in each.moved} for same in repeats]
        if any(len(states) > 1 for states in ends):
            yield name
