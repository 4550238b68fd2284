"""Searches on their way, real and simulated, and the fits and runs that wait for them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from outperform.engines import Outcome
from outperform.engines.engine import summarize_error
from outperform.store import Store
from outperform.store.stored_doubts import SURROGATES, name_surrogate
from outperform.study.designs import SimulatedHopt
from outperform.study.fits import Fit, PlannedRun, Search
from outperform.study.simulated_searches import Simulation
from outperform.study.spaces import Params
from outperform.study.study import Study
from outperform.study.tuners import Trial, Tuner, best_trial

Known = Mapping[str, Mapping[str, float]]  # scores of fits by key; none where a fit failed
Tag = tuple[Literal["simulation"], str]  # of a simulation, which no fit has: its surrogate's name
Waiting = tuple["SearchState", list[PlannedRun]]


@dataclass(slots=True, eq=False)
class SearchState:
    """A search as far as it is known, and the runs that wait for its outcome.

    It has failed where it has come to its end and found nothing.
    """

    search: Search
    order: int  # place of its first run in the study: earlier ones are done first
    sign: int  # -1 where lower scores are better
    finished_run: str | None = None  # key of a recorded run that has used its outcome
    n_assumed: int = 0  # trials counted as known without a look, as a run after it is finished
    runs: list[PlannedRun] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)  # what was tried so far, without scores
    keys: list[str] = field(default_factory=list)  # of the fits of these trials
    missing: set[str] = field(default_factory=set)  # keys of those that are not done yet
    best: Params | None = None  # what it has found
    failed: bool = False

    def go_on(
        self,
        study: Study,
        tuner: Tuner,
        known: Known,
        want: Callable[[Fit], str],
        *,
        may_stop: Callable[[], bool] | None = None,
    ) -> list[str]:
        """Want the fit of every trial that can be told by now; `want` gives its key. Those keys.

        Once a trial is missing, `may_stop` says whether those after it need not be told.
        """
        search, n_before = self.search, len(self.keys)
        space = study.pipeline(search.pipeline).space
        while len(self.keys) < search.n_trials:
            if self.missing and (tuner.uses_history or (may_stop and may_stop())):
                break
            history = self.history(known) if tuner.uses_history else self.trials
            params = tuner.suggest(space, history, search.tuner_seed, search.n_trials)
            self.keys.append(want(study.make_fit(search, params, refit=False)))
            self.trials.append(Trial(params, None))
            self.missing |= {self.keys[-1]} - known.keys()
        return self.keys[n_before:]

    def history(self, known: Known) -> list[Trial]:
        """Trials so far, higher being better; failed and unfinished ones have no score."""
        scores = [known.get(key) for key in self.keys]
        return [
            Trial(trial.params, self.sign * score["valid"] if score else None)
            for trial, score in zip(self.trials, scores, strict=True)
        ]

    def conclude(self, known: Known) -> None:
        """Find the best trial, or that every one has failed."""
        self.failed = not any(map(known.get, self.keys))
        self.best = None if self.failed else best_trial(self.history(known)).params


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
    """

    def __init__(
        self, study: Study, store: Store, description: Mapping[str, Any], *, anew: bool
    ) -> None:
        self._study, self._store, self._description = study, store, description
        shares = [each.best_share for each in study.designs if isinstance(each, SimulatedHopt)]
        self._best_share = shares[0] if shares else 1.0
        self._records: dict[str, Any] = store.get_meta(SURROGATES) or {} if shares else {}
        if anew:
            self._records = {}
        self._waiting: dict[str, Waiting] = {}
        self._running: dict[str, Waiting] = {}

    def add(self, state: SearchState, planned: PlannedRun) -> str:
        """Let a run wait for the search that is simulated for it; why that cannot be, if known."""
        name = name_surrogate(state.search, self._best_share, self._description)
        refused = _join(self._records.get(name, {}))
        if not refused:
            self._waiting.setdefault(name, (state, []))[1].append(planned)
        return refused

    def begin(self, known: Known) -> list[tuple[Tag, Simulation]]:
        """Simulations to run now, by tag: one at a time of each search."""
        begun: list[tuple[Tag, Simulation]] = []
        for name in [name for name in self._waiting if name not in self._running]:
            state, runs = self._running[name] = self._waiting.pop(name)
            simulation = Simulation(
                state.search,
                self._study.pipeline(state.search.pipeline).space,
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


def _join(record: Mapping[str, Any]) -> str:
    """Why a model was refused, and what to do; empty where it was not."""
    return ". ".join(record.get("refused", ()))
