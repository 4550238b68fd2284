"""Runs that wait for what simulated searches choose, and the models of searches in a store."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from outperform.engines import Outcome
from outperform.engines.engine import summarize_error
from outperform.runner.searches import Known, SearchState
from outperform.store import Store
from outperform.store.stored_surrogates import SURROGATES, name_surrogate
from outperform.study.designs import SimulatedHopt
from outperform.study.fits import PlannedRun
from outperform.study.redrawn_searches import Simulation
from outperform.study.spaces import Params
from outperform.study.study import Study

Tag = tuple[Literal["simulation"], str]  # of a simulation, which no fit has: its surrogate's name
Waiting = tuple[SearchState, list[PlannedRun]]


def is_simulation(tag: object) -> bool:
    """Whether this is the tag of a simulation."""
    return isinstance(tag, tuple)


class Finished(NamedTuple):
    """Searches that were simulated, and the runs that have waited for them."""

    state: SearchState
    runs: list[PlannedRun]
    choices: list[Params]  # one per run; none where it was refused
    refused: str  # why; empty where it was not


class Simulations:
    """Gathers the runs of each search, so that its model is made once and asked for all of them.

    Parameters
    ----------
    description
        Of the study, by which recorded models are known.
    anew
        Make models anew: fits that are tried again may change what a search saw.
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
        ready = [name for name in self._waiting if name not in self._running]
        return [(("simulation", name), self._prepare(name, known)) for name in ready]

    def finish(self, outcome: Outcome) -> Finished | None:
        """Take in what came of a simulation; None where it was taken in before.

        The model is recorded first, so that a run resumed anywhere goes on with the same one.
        """
        name = outcome.tag[1]
        if name not in self._running:
            return None
        state, runs = self._running.pop(name)
        if outcome.kind != "done":
            return Finished(state, runs, [], summarize_error(outcome.error))
        record = outcome.value["record"]
        if name not in self._records:
            names = {"pipeline": state.search.pipeline, "task": state.search.task}
            self._records[name] = {**names, **record}
            self._store.set_meta(SURROGATES, self._records)
        return Finished(state, runs, outcome.value["choices"], _join(record))

    def _prepare(self, name: str, known: Known) -> Simulation:
        state, runs = self._running[name] = self._waiting.pop(name)
        search = state.search
        return Simulation(
            search,
            self._study.pipeline(search.pipeline).space,
            tuple(state.history(known)),
            tuple(planned.tuner_seed for planned in runs),
            self._best_share,
            self._records.get(name, {}).get("chain"),
        )


def _join(record: Mapping[str, Any]) -> str:
    """Why a model was refused, and what to do; empty where it was not."""
    return ". ".join(record.get("refused", ()))
