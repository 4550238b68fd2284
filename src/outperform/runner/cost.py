"""What a study will cost: seconds of a fit, as recorded, told or measured, and fits left to do."""

from collections import Counter
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from outperform.engines import Engine, Outcome
from outperform.engines.engine import summarize_error
from outperform.runner.description import find_kept, read_finished
from outperform.runner.searches import SearchState, Simulations
from outperform.runner.work import FitWork, list_needs
from outperform.store import Store
from outperform.study.designs import Design
from outperform.study.fits import Fit, PlannedRun, Search
from outperform.study.simulated_searches import resample_search
from outperform.study.spaces import LogUniform, Uniform, default_params
from outperform.study.study import Study
from outperform.study.tuners import make_tuner
from outperform.wording import format_fit_time

Pair = tuple[str, str]  # pipeline, task

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


def measure_seconds(
    study: Study, engine: Engine, known: Mapping[Pair, float] | None = None
) -> FitSeconds:
    """Seconds of a fit of every pair, timed by a fit that is thrown away where not known.

    Hyperparameters are the defaults.
    """
    known = known or {}
    every = [draw.pair for draw in study.draws]
    pairs = [pair for pair in every if pair not in known]
    outcomes = _time_fits(study, engine, pairs)
    if all(outcome.seconds < _QUICK for outcome in outcomes.values()):
        outcomes = _time_fits(study, engine, pairs)  # those before paid for imports
    timed = {pair: outcome.seconds for pair, outcome in outcomes.items()}
    late = any(outcome.kind == "timeout" for outcome in outcomes.values())
    seconds = {pair: known[pair] if pair in known else timed[pair] for pair in every}
    failures = (
        f"a first fit of {pipeline} on {task}, with default hyperparameters, failed: "
        f"{summarize_error(outcome.error)}"
        for (pipeline, task), outcome in sorted(outcomes.items())
        if outcome.kind in ("error", "died")
    )
    return FitSeconds(seconds, late, tuple(failures))


def _time_fits(study: Study, engine: Engine, pairs: Collection[Pair]) -> dict[Pair, Outcome]:
    work, needs, left = FitWork.of(study), list_needs(study), set(pairs)
    outcomes: dict[Pair, Outcome] = {}
    patience = min(_PATIENCE, study.timeout or _PATIENCE)
    for planned in study.plan_runs() if left else ():
        pair = (planned.pipeline, planned.task)
        if pair in left:
            params = default_params(study.pipeline(planned.pipeline).space)
            fit = study.make_fit(planned, params, refit=True)
            engine.submit(work, fit, tag=pair, timeout=patience, needs=needs[fit.pipeline])
            left.remove(pair)
        if not left:
            break
    while len(outcomes) < len(pairs):
        outcomes.update({outcome.tag: outcome for outcome in engine.wait()})
    return outcomes


class LeftFits:
    """Counts the fits that a run would still do, at most; nothing is written.

    Searches are followed as the coordinator does it, as far as the recorded fits go. What comes
    after that is not known, so that fits may turn out to be equal, and be done once. Where all that
    is recorded has been met, no search is followed any more: of 100,000 fits, that takes seconds.
    """

    def __init__(
        self, study: Study, store: Store, description: Mapping[str, Any], *, retry_failed: bool
    ) -> None:
        self._study, self._store, self._description = study, store, description
        self._known, runs = read_finished(store, retry_failed=retry_failed)
        # As `enter_study` forgets runs.
        before = store.get_meta("study")
        kept = set(find_kept(before, description, retry_failed=retry_failed))
        self._finished = {role: key for role, key in runs.items() if role[3:] in kept}
        self._simulations = Simulations(study, store, description, anew=retry_failed)
        self._tuner = make_tuner(study.tuner)

    def count(
        self, designs: tuple[Design, ...] | None = None, pipelines: Collection[str] = ()
    ) -> Counter[Pair]:
        """Fits left of what `Study.plan_runs` plans, for every pair of pipeline and task."""
        missing: dict[Hashable, Pair] = {}  # by key, or by what tells apart those without one yet
        searches: dict[Search, SearchState] = {}
        finished: dict[Search, str] = {}  # keys of runs that have used what a search found
        met = _Met(len(self._known))
        for planned in self._study.plan_runs(designs, pipelines):
            pair, search = (planned.pipeline, planned.task), planned.search
            if planned.role in self._finished:
                met.add_run(self._finished[planned.role], search if self._differ(search) else None)
                if search is not None and planned.choice == "best":
                    finished.setdefault(search, self._finished[planned.role])
                continue
            state = None if search is None else searches.get(search)
            if search is not None and state is None:
                state = SearchState(search, 0, self._study.task(search.task).sign)
                searches[search] = state
                if used := finished.get(search):  # whoever used what it found had all its trials
                    state.best = self._store.get([used])[used].params
            if state is not None and (state.best is None or planned.choice != "best"):
                missing |= dict.fromkeys(self._follow(state, met), pair)
            wanted = self._find_run(planned, state)
            if wanted in self._known:
                met.add_run(wanted, None)
            elif wanted is not None:
                missing[wanted] = pair
        return Counter(missing.values())

    def _differ(self, search: Search | None) -> bool:
        """Whether no two trials of a search are equal, so that as many are recorded."""
        if search is None or not self._tuner.draws_alike:
            return False
        space = self._study.pipeline(search.pipeline).space
        return any(isinstance(each, Uniform | LogUniform) for each in space.values())

    def _follow(self, state: SearchState, met: "_Met") -> list[Hashable]:
        """Trials of a search that are to be done; at its end, it knows what it has found."""
        if state.keys:  # it was followed before
            return []
        differ = self._differ(state.search)

        def want(fit: Fit) -> str:
            key = self._find_key(fit)
            if key in self._known:
                met.add_trial(key, state.search)
            return key

        state.go_on(
            self._study, self._tuner, self._known, want, may_stop=lambda: differ and met.all
        )
        if not state.missing and state.best is None:
            state.conclude(self._known)
        # What is tried after one whose score is not known is not known either.
        later = range(len(state.keys), state.search.n_trials)
        return [*state.missing, *((state.search, i) for i in later)]

    def _find_run(self, planned: PlannedRun, state: SearchState | None) -> Hashable | None:
        """Key of a run, or what tells it apart; None where it can never be done."""
        if state is None:
            params = default_params(self._study.pipeline(planned.pipeline).space)
        elif state.failed:
            return None
        elif state.best is not None and planned.choice == "best":
            params = state.best
        elif not state.missing and planned.choice == "resampled":
            params = resample_search(state.history(self._known), planned.tuner_seed)
        elif not state.missing and self._simulations.add(state, planned):  # it is refused
            return None
        else:
            moved = frozenset((name, i) for name, i in planned.redrawn.items() if i)
            return (planned.search, moved, planned.choice)
        return self._find_key(self._study.make_fit(planned, params, refit=True))

    def _find_key(self, fit: Fit) -> str:
        return fit.key(self._description["fingerprints"])


class _Met:
    """Counts which of the recorded fits were met among those that are planned."""

    def __init__(self, n_known: int) -> None:
        self._n_known, self._n_trials = n_known, 0
        self._keys: set[Hashable] = set()
        self._searches: set[Search] = set()  # whose trials are counted, but not looked up

    def add_run(self, key: Hashable, search: Search | None) -> None:
        """Count a run, and with it the trials of this search, if any."""
        self._keys.add(key)
        if search is not None and search not in self._searches:
            self._searches.add(search)
            self._n_trials += search.n_trials

    def add_trial(self, key: str, search: Search) -> None:
        """Count a trial, unless those of its search are counted already."""
        if search not in self._searches:
            self._keys.add(key)

    @property
    def all(self) -> bool:
        """Whether nothing else is recorded."""
        return len(self._keys) + self._n_trials >= self._n_known
