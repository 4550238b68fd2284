"""What a study will cost: seconds of a fit, as recorded, told or measured, and fits left to do."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Protocol

from outperform.engines import Engine, Outcome
from outperform.engines.engine import summarize_error, use_engine
from outperform.plain_values import Plain
from outperform.runner.planning import Planner
from outperform.runner.stored_study import Pair, StoredStudy
from outperform.runner.work import FitWork, list_needs
from outperform.stats.checks import check_positive
from outperform.store import Store
from outperform.store.store import use_store
from outperform.study.designs import Design, count_fits
from outperform.study.fits import Draw
from outperform.study.spaces import default_params
from outperform.study.study import Study, check_is_study
from outperform.wording import count, format_duration, format_fit_time

_PATIENCE = 20.0  # seconds given to the fits that are timed before a study starts
_QUICK = 10.0  # seconds that a fit may take to be timed once more


@dataclass(frozen=True, slots=True)
class FitSeconds:
    """Mean seconds of a fit, for every pipeline on every task that they are known of."""

    by_pair: Mapping[Pair, float]
    late: bool = False  # a fit was given up: it takes longer
    failures: tuple[str, ...] = ()  # what was said of fits that failed when they were timed

    @property
    def about(self) -> str:
        """How sure the times are."""
        return "more than" if self.late else "about"

    def add_up(self, n_fits: Mapping[Pair, int], workers: int) -> float:
        """Seconds that so many fits of each pair take on so many workers, of which one does one."""
        some = {pair: n for pair, n in n_fits.items() if n}
        total = sum(n * self.by_pair[pair] for pair, n in some.items())
        return max(total / workers, max((self.by_pair[pair] for pair in some), default=0.0))

    def __str__(self) -> str:
        if not self.by_pair:
            return "how long a fit takes is not known yet"
        seconds = self.by_pair.__getitem__
        quick, slow = min(self.by_pair, key=seconds), max(self.by_pair, key=seconds)
        least, most = seconds(quick), seconds(slow)
        if most < 2 * least:
            mean = sum(self.by_pair.values()) / len(self.by_pair)
            return f"one fit takes {self.about} {format_fit_time(mean)}"
        return (
            f"one fit takes {self.about} {format_fit_time(least)} ({' on '.join(quick)}) to "
            f"{format_fit_time(most)} ({' on '.join(slow)})"
        )


def find_seconds(stored: StoredStudy, per_fit: float | None) -> FitSeconds:
    """Seconds of a fit as recorded from the same code, else as told."""
    seconds = {} if per_fit is None else {draw.pair: per_fit for draw in stored.study.draws}
    if stored.before is not None:
        recorded = stored.store.mean_seconds()
        unchanged = stored.find_unchanged(however_searched=True)
        seconds |= {pair: recorded[pair] for pair in recorded if pair in unchanged}
    return FitSeconds(seconds)


def measure_seconds(
    study: Study, engine: Engine, known: Mapping[Pair, float] | None = None
) -> FitSeconds:
    """Seconds of a fit of every pair, timed by a fit that is thrown away where not known.

    Hyperparameters are the defaults.
    """
    known = known or {}
    draws = [draw for draw in study.draws if draw.pair not in known]
    outcomes = _time_fits(study, engine, draws)
    if all(outcome.seconds < _QUICK for outcome in outcomes.values()):
        outcomes = _time_fits(study, engine, draws)  # those before paid for imports
    timed = {pair: outcome.seconds for pair, outcome in outcomes.items()}
    late = any(outcome.kind == "timeout" for outcome in outcomes.values())
    failures = (
        f"a first fit of {pipeline} on {task}, with default hyperparameters, failed: "
        f"{summarize_error(outcome.error)}"
        for (pipeline, task), outcome in sorted(outcomes.items())
        if outcome.kind in ("error", "died")
    )
    return FitSeconds({**known, **timed}, late, tuple(failures))


def _time_fits(study: Study, engine: Engine, draws: Sequence[Draw]) -> dict[Pair, Outcome]:
    work, needs = FitWork.of(study), list_needs(study)
    patience = min(_PATIENCE, study.timeout or _PATIENCE)
    for draw in draws:
        params = default_params(draw.pipeline.space)
        fit = draw.make_fit(params, *draw.seeds({}), refit=True)
        engine.submit(work, fit, tag=draw.pair, timeout=patience, needs=needs[fit.pipeline])
    outcomes: dict[Pair, Outcome] = {}
    while len(outcomes) < len(draws):
        outcomes.update({outcome.tag: outcome for outcome in engine.wait()})
    return outcomes


def count_left(
    stored: StoredStudy, designs: tuple[Design, ...] | None = None, pipelines: Collection[str] = ()
) -> Counter[Pair]:
    """Fits that a run would still do of what `Study.plan_runs` plans, at most; nothing is written.

    They are planned as the run would, as far as the recorded fits go. Where all that is recorded
    has been met, no search is followed any more: of 100,000 fits, that takes seconds.
    """
    planner = Planner(stored, only_counts=True)
    for order, planned in enumerate(stored.study.plan_runs(designs, pipelines)):
        planner.take_up(order, planned)
    return planner.count_missing()


class Decided(Protocol):
    """Two pipelines that a sequential test is to decide between."""

    @property
    def names(self) -> tuple[str, str]:
        """The two, which are all that is trained."""

    @property
    def longest(self) -> Design:
        """The design with as many replicates as the test may take."""

    def has_ended(self, store: Store) -> bool:
        """Whether the test was taken to its end."""


@dataclass(frozen=True, slots=True)
class DesignCost(Plain):
    """Fits and time of one design."""

    design: str
    n_fits: int
    n_left: int | None  # None where it was not counted, as for a design that is not chosen
    seconds: float | None  # of what is left, or else of all; None where a fit's are not known
    chosen: bool  # whether the study has it; the others are there to compare


@dataclass(frozen=True, slots=True)
class RunCost(Plain):
    """What a run of a study will cost, on so many workers: of each design, and what is left."""

    study: str
    n_workers: int
    n_left: int  # fits of all chosen designs together: one that several need is done once
    designs: tuple[DesignCost, ...]

    def __str__(self) -> str:
        chosen = [each for each in self.designs if each.chosen]
        times = [each.seconds for each in chosen if each.seconds is not None]
        time = "an unknown time"
        if len(times) == len(chosen):
            time = f"{format_duration(sum(times))} at most"
        return (
            f"{self.study}: {count(self.n_left, 'fit')} left, {time} on "
            f"{count(self.n_workers, 'worker')}."
        )


def estimate_cost(
    study: Study,
    store: str | Path | Store,
    engine: str | Engine = "local",
    *,
    seconds_per_fit: float | None = None,
    measure: bool = False,
    retry_failed: bool = False,
) -> RunCost:
    """Say what `run` with the same study, store and engine would still do, and how long it takes.

    Nothing is trained or written, unless `measure` asks for it.

    Parameters
    ----------
    seconds_per_fit
        What a fit takes where the store does not know it from fits of the same code.
    measure
        Time a fit of every pipeline on every task of which that is not known either.
    retry_failed
        As in `run`.

    Examples
    --------
    >>> from outperform import Ideal, Pipeline, Task
    >>> net = Pipeline("net", lambda params, split, seeds: {"test": 0.9}, sources=["init"])
    >>> study = Study([net], [Task("toy", metric="accuracy")], [Ideal(10)], name="toys")
    >>> print(estimate_cost(study, "toys.db", "inline", seconds_per_fit=60))
    toys: 10 fits left, 10.0 min at most on 1 worker.
    """
    check_is_study(study)
    if seconds_per_fit is not None:
        check_positive("seconds_per_fit", seconds_per_fit)
    with use_store(store) as opened, use_engine(engine) as workers:
        stored = StoredStudy(study, opened, retry_failed=retry_failed)
        seconds = find_seconds(stored, seconds_per_fit)
        if measure:
            seconds = measure_seconds(study, workers, seconds.by_pair)
        return price_run(stored, seconds, workers.n_workers)


def price_run(
    stored: StoredStudy,
    seconds: FitSeconds,
    n_workers: int,
    decided: Decided | None = None,
    *,
    counts_left: bool = True,
) -> RunCost:
    """Fits and time of every design: those of the study and, to compare, ideal and fix-hopt.

    Where two are to be decided, it is what that may take, at most. What is left is not counted
    where nobody asks for it.
    """
    n_fits, chosen = _list_designs(stored, decided)
    names = () if decided is None else decided.names
    every = tuple(chain.from_iterable(chosen.values()))  # which need some fits in common
    left: Mapping[str, Mapping[Pair, int]] = {}
    n_left = 0
    if counts_left and not stored.n_recorded:
        left = {kind: n_fits[kind] for kind in chosen}
        n_left = stored.study.count_fits(every, names)
    elif counts_left and not _has_ended(stored, decided, n_fits):
        left = {kind: count_left(stored, own, names) for kind, own in chosen.items()}
        total = count_left(stored, every, names) if len(chosen) > 1 else left[every[0].kind]
        n_left = sum(total.values())
    elif counts_left:
        left = {kind: {} for kind in chosen}
    designs = []
    for kind, own in n_fits.items():
        to_do = {pair: n for pair, n in left.get(kind, own).items() if n}
        is_timed = to_do.keys() <= seconds.by_pair.keys()
        time = seconds.add_up(to_do, n_workers) if is_timed else None
        n_own_left = sum(left[kind].values()) if kind in left else None
        designs.append(DesignCost(kind, sum(own.values()), n_own_left, time, kind in chosen))
    return RunCost(stored.study.name, n_workers, n_left, tuple(designs))


def _list_designs(
    stored: StoredStudy, decided: Decided | None
) -> tuple[dict[str, dict[Pair, int]], dict[str, tuple[Design, ...]]]:
    """Fits of every design by pair, and which designs are to be run; both by kind."""
    study, now = stored.study, stored.now
    if decided is not None:
        longest = decided.longest
        draws = [draw for draw in study.draws if draw.pipeline.name in decided.names]
        n_fits = {draw.pair: count_fits((longest,), draw) for draw in draws}
        return {longest.kind: n_fits}, {longest.kind: (longest,)}
    prices = {
        kind: {(pipeline, task): n for pipeline, task, n in own}
        for kind, own in now["prices"].items()
    }
    kinds = [kind for kind in prices if kind in now["kinds"]]
    return prices, {kind: tuple(d for d in study.designs if d.kind == kind) for kind in kinds}


def _has_ended(
    stored: StoredStudy, decided: Decided | None, n_fits: Mapping[str, Collection[Pair]]
) -> bool:
    """Whether a test of two has ended, on runs that still are what they were."""
    if decided is None or not {*n_fits[decided.longest.kind]} <= {*stored.kept}:
        return False
    return decided.has_ended(stored.store)
