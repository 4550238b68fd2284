"""What a study still needs, as far as the recorded fits tell.

Searches, real and simulated, are followed until a fit is missing, and runs wait for them.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from heapq import heappush
from itertools import count
from typing import Any

from outperform.engines import Outcome
from outperform.engines.engine import summarize_error
from outperform.runner.exchange import Progress, Tag
from outperform.runner.stored_study import Pair, StoredStudy
from outperform.store import Measurement, RunLabel
from outperform.store.stored_doubts import SURROGATES, label_trial, name_surrogate
from outperform.study.designs import SimulatedHopt
from outperform.study.fits import Fit, PlannedRun, Search
from outperform.study.simulated_searches import Simulation, resample_search
from outperform.study.spaces import LogUniform, Params, Uniform, default_params
from outperform.study.study import Study
from outperform.study.tuners import Trial, best_trial, make_tuner

Known = Mapping[str, Mapping[str, float]]  # scores of fits by key; none where a fit failed
Waiting = tuple["SearchState", list[PlannedRun]]


@dataclass(slots=True, eq=False)
class SearchState:
    """A search as far as it is known, and the runs that wait for its outcome.

    It has failed where it has come to its end and found nothing.
    """

    search: Search
    order: int  # place of its first run in the study: earlier ones are done first
    finished_run: str | None = None  # key of a recorded run that has used its outcome
    n_assumed: int = 0  # trials counted as known without a look, as a run after it is finished
    runs: list[PlannedRun] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)  # what was tried so far, without scores
    keys: list[str] = field(default_factory=list)  # of the fits of these trials
    missing: set[str] = field(default_factory=set)  # keys of those that are not done yet
    best: Params | None = None  # what it has found
    failed: bool = False

    def history(self, known: Known) -> list[Trial]:
        """Trials so far, higher being better; failed and unfinished ones have no score."""
        sign, scores = self.search.draw.task.sign, [known.get(key) for key in self.keys]
        return [
            Trial(trial.params, sign * score["valid"] if score else None)
            for trial, score in zip(self.trials, scores, strict=True)
        ]


@dataclass(slots=True, eq=False)
class MissingFit:
    """A fit to be done, and the searches that wait for it."""

    fit: Fit
    order: int
    searches: list[SearchState] = field(default_factory=list)
    n_attempts: int = 0


class Simulations:
    """Gathers the runs of each search, so that its model is made once and asked for all of them.

    Recorded models are known by the description of the study. They are made anew where fits that
    are tried again may change what a search saw.

    Attributes
    ----------
    waiting
        Searches of which simulations are to begin, with the runs that wait for these, by name.
    """

    def __init__(self, stored: StoredStudy) -> None:
        self._store, self._description = stored.store, stored.now
        designs = stored.study.designs
        shares = [each.best_share for each in designs if isinstance(each, SimulatedHopt)]
        self._best_share = shares[0] if shares else 1.0
        self._records: dict[str, Any] = {}
        if shares and not stored.retry_failed:
            self._records = self._store.get_meta(SURROGATES) or {}
        self.waiting: dict[str, Waiting] = {}
        self._running: dict[str, Waiting] = {}

    def add(self, state: SearchState, planned: PlannedRun) -> str:
        """Let a run wait for the search that is simulated for it; why that cannot be, if known."""
        name = name_surrogate(state.search, self._best_share, self._description)
        refused = _join(self._records.get(name, {}))
        if not refused:
            self.waiting.setdefault(name, (state, []))[1].append(planned)
        return refused

    def begin(self, known: Known) -> list[tuple[Tag, Simulation]]:
        """Simulations to run now, by tag: one at a time of each search."""
        begun: list[tuple[Tag, Simulation]] = []
        for name in [name for name in self.waiting if name not in self._running]:
            state, runs = self._running[name] = self.waiting.pop(name)
            search = state.search
            simulation = Simulation(
                search.tuner,
                search.n_trials,
                search.tuner_seed,
                search.draw.pipeline.space,
                tuple(state.history(known)),
                tuple(planned.tuner_seed for planned in runs),
                self._best_share,
                self._records.get(name, {}).get("chain"),
            )
            begun.append((("simulation", name), simulation))
        return begun

    def finish(
        self, outcome: Outcome
    ) -> tuple[SearchState, list[PlannedRun], list[Params], str] | None:
        """Take in what came of a simulation; None where it was taken in before.

        That is the runs that have waited for it, what it chose for each, and else why it was
        refused. The model is recorded first, so that a run resumed anywhere goes on with the same.
        """
        name = outcome.tag[1]
        if name not in self._running:
            return None
        state, runs = self._running.pop(name)
        if outcome.kind != "done":
            return state, runs, [], summarize_error(outcome.error)
        record = outcome.value["record"]
        if name not in self._records:
            names = {"pipeline": state.search.pipeline, "task": state.search.task}
            self._records[name] = {**names, **record}
            self._store.set_meta(SURROGATES, self._records)
        return state, runs, outcome.value["choices"], _join(record)


class Planner:
    """Takes up one planned run after the other, and wants the fits that are missing.

    Attributes
    ----------
    known
        Scores of the recorded fits by key, none where one failed; without failures to be retried.
    fits
        Those that are wanted and missing, by key.
    queue
        A heap of those to be submitted: order, number in the queue and key. Early runs come first,
        so that pairs end together.
    labels
        Which fits are runs, and which failed ones are trials; not saved yet.
    """

    def __init__(self, stored: StoredStudy, *, only_counts: bool = False) -> None:
        study, self._store = stored.study, stored.store
        self.known, self._finished = stored.recorded
        self.progress = Progress(stored.now["n_fits"])
        self.fits: dict[str, MissingFit] = {}
        self.labels: list[RunLabel] = []
        self.simulations = Simulations(stored)
        self._fingerprints = stored.now["fingerprints"]
        self._tuner = make_tuner(study.tuner)
        self._counted: set[str] = set()  # known before, and needed by this study
        self._searches: dict[Search, SearchState] = {}
        self.queue: list[tuple[int, int, str]] = []
        self._numbers = count()
        self._may_guess = only_counts and self._tuner.draws_alike and _draws_differ(study)

    def enqueue(self, key: str) -> None:
        """Let a missing fit be submitted, perhaps once more."""
        heappush(self.queue, (self.fits[key].order, next(self._numbers), key))

    def take_up(self, order: int, planned: PlannedRun) -> None:
        """Count a run that is finished; of another, follow the search or want the fit."""
        search, finished = planned.search, self._finished.get(planned.role)
        state = None if search is None else self._searches.get(search)
        if search is not None and state is None:
            self._searches[search] = state = SearchState(search, order)
            state.n_assumed = 0 if finished is None else search.n_trials
            self.progress.n_known += state.n_assumed
        if state is not None and planned.choice == "best" and state.finished_run is None:
            state.finished_run = finished
        if finished is not None:
            self._count_known(finished)
        elif state is not None:
            state.runs.append(planned)
            self._follow(state)
        else:
            self._want_run(planned, default_params(planned.draw.pipeline.space), order)

    def settle(self, measurement: Measurement) -> None:
        """Take in what came out of a missing fit, and let the searches that wait for it go on."""
        missing = self.fits.pop(measurement.key, None)
        if missing is None:  # it came twice
            return
        self.progress.n_done += measurement.status == "done"
        self.progress.n_failed += measurement.status == "failed"
        self.known[measurement.key] = measurement.scores
        self._counted.add(measurement.key)
        for state in missing.searches:
            state.missing.discard(measurement.key)
            self._follow(state)

    def take_choices(self, outcome: Outcome) -> None:
        """Want the runs that have waited for simulated searches."""
        finished = self.simulations.finish(outcome)
        if finished is None:
            return
        state, runs, choices, refused = finished
        if refused:
            self._refuse(state, refused, len(runs))
        for planned, params in zip(() if refused else runs, choices, strict=True):
            self._want_run(planned, params, state.order)

    def label_failure(self, key: str) -> None:
        """Note of which searches a failed fit was a trial, for whoever asks what they saw."""
        for state in self.fits[key].searches:
            self._label_trials(state, key)

    def count_missing(self) -> Counter[Pair]:
        """Fits that are left, at most, of each pipeline on each task.

        What comes after a missing trial is not known, so that fits may turn out to be equal, and be
        done once.
        """
        left = Counter((each.fit.pipeline, each.fit.task) for each in self.fits.values())
        unfinished = [(state, state.runs) for state in self._searches.values() if state.runs]
        for state, runs in (*unfinished, *self.simulations.waiting.values()):
            search, apart = state.search, {run.identity for run in runs}
            left[search.pipeline, search.task] += search.n_trials - len(state.keys) + len(apart)
        return left

    def _follow(self, state: SearchState) -> None:
        """Go on with a search until a fit is missing; at its end, take up the waiting runs."""
        if state.best is None and state.finished_run is not None:
            # Suggesting every trial again would take long, and find what this run was given.
            state.best = self._store.get([state.finished_run])[state.finished_run].params
        if state.best is None or any(run.choice != "best" for run in state.runs):
            self._try_all(state)
            if state.missing or len(state.keys) < state.search.n_trials:
                return
            if state.best is None:
                state.failed = not any(map(self.known.get, state.keys))
            if state.best is None and not state.failed:
                state.best = best_trial(state.history(self.known)).params
        if state.failed:
            _count_blocked(self.progress.blocked, state, len(state.runs))
        for planned in () if state.failed else state.runs:
            self._choose(planned, state)
        state.runs.clear()

    def _try_all(self, state: SearchState) -> None:
        """Want every trial of a search; one after the other where the tuner learns from them."""
        if not state.keys:
            self.progress.n_known -= state.n_assumed  # they are counted one by one
            state.n_assumed = 0
        search, tuner, space = state.search, self._tuner, state.search.draw.pipeline.space
        while len(state.keys) < search.n_trials:
            # Where fits are only counted, and none of those to come is known, they need no look.
            may_stop = self._may_guess and self.progress.n_known >= len(self.known)
            if state.missing and (tuner.uses_history or may_stop):
                return
            history = state.history(self.known) if tuner.uses_history else state.trials
            params = tuner.suggest(space, history, search.tuner_seed, search.n_trials)
            key = self._want(search.make_fit(params), state.order)
            state.keys.append(key)
            state.trials.append(Trial(params, None))
            if key in self.fits:
                state.missing.add(key)
                self.fits[key].searches.append(state)
            elif not self.known[key]:
                self._label_trials(state, key)

    def _choose(self, planned: PlannedRun, state: SearchState) -> None:
        """Want a run with what its search chose, or what one redrawn for it does."""
        assert state.best is not None
        if planned.choice == "best":
            self._want_run(planned, state.best, state.order)
        elif planned.choice == "resampled":
            params = resample_search(state.history(self.known), planned.tuner_seed)
            self._want_run(planned, params, state.order)
        elif refused := self.simulations.add(state, planned):
            self._refuse(state, refused, 1)

    def _refuse(self, state: SearchState, why: str, n_runs: int) -> None:
        """Give up runs whose search cannot be simulated."""
        where = _count_blocked(self.progress.unsimulated, state, n_runs)
        self.progress.refusals[where] = why

    def _label_trials(self, state: SearchState, key: str) -> None:
        places = (number for number, tried in enumerate(state.keys) if tried == key)
        self.labels += [label_trial(state.search, number, key) for number in places]

    def _want_run(self, planned: PlannedRun, params: Params, order: int) -> None:
        key = self._want(planned.make_fit(params), order)
        self.labels.append(RunLabel(*planned.role, key))

    def _want(self, fit: Fit, order: int) -> str:
        """Key of a fit, which is queued unless it is known or on its way already."""
        key = fit.key(self._fingerprints)
        if key in self.known:
            self._count_known(key)
        elif key not in self.fits:
            self.fits[key] = MissingFit(fit, order)
            self.enqueue(key)
        return key

    def _count_known(self, key: str) -> None:
        if key not in self._counted:
            self._counted.add(key)
            self.progress.n_known += 1


def _draws_differ(study: Study) -> bool:
    """Whether no two random trials of a search are equal, whichever it is."""
    spaces = [pipeline.space.values() for pipeline in study.pipelines if pipeline.space]
    return all(any(isinstance(each, Uniform | LogUniform) for each in own) for own in spaces)


def _count_blocked(blocked: dict[str, int], state: SearchState, n_runs: int) -> str:
    """Count runs that cannot be done, by their pipeline and task."""
    where = f"{state.search.pipeline} on {state.search.task}"
    blocked[where] = blocked.get(where, 0) + n_runs
    return where


def _join(record: Mapping[str, Any]) -> str:
    """Why a model was refused, and what to do; empty where it was not."""
    return ". ".join(record.get("refused", ()))
