"""What other searches would have chosen, from the trials of one and without any fit.

They are resampled from its trials, or simulated: then the tuner is the one that runs real searches,
with its own seeds, and only the scores are predicted.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from outperform.errors import InvalidInput, OutperformError
from outperform.study.sources import derive_seed
from outperform.study.spaces import Params, Space
from outperform.study.tuners import Trial, Tuner, best_trial, make_tuner, suggest_grid


class Predictor(Protocol):
    """What answers: a surrogate, or any function whose optimum is searched."""

    @property
    def space(self) -> Space:
        """Where the tuner may search."""

    def predict(self, points: Sequence[Params]) -> NDArray[np.float64]:
        """Scores at points; higher is better."""


def simulate_searches(
    predictor: Predictor, tuner: Tuner, seeds: Sequence[int], n_trials: int
) -> list[Params]:
    """Choices of one search per seed; all trials at once where the tuner uses no history."""
    if n_trials < 2:
        raise InvalidInput(
            f"a search of {n_trials} trials is to be simulated, which chooses nothing",
            "Simulate searches as long as the real ones, of at least 2 trials",
        )
    if tuner.suggest is suggest_grid:
        raise InvalidInput(
            f"tuner {tuner.name!r} tries the same points whatever the seed, so that simulated "
            "searches all choose the same",
            "Search with 'noisy-grid' or 'random', or hold the hyperparameters fixed",
        )
    if tuner.uses_history:
        return [_search_in_turn(predictor, tuner, seed, n_trials) for seed in seeds]
    return _search_at_once(predictor, tuner, seeds, n_trials)


def _search_in_turn(predictor: Predictor, tuner: Tuner, seed: int, n_trials: int) -> Params:
    history: list[Trial] = []
    for _ in range(n_trials):
        params = tuner.suggest(predictor.space, history, seed, n_trials)
        history.append(Trial(params, float(predictor.predict([params])[0])))
    return best_trial(history).params


def _search_at_once(
    predictor: Predictor, tuner: Tuner, seeds: Sequence[int], n_trials: int
) -> list[Params]:
    histories = [[Trial({}, None)] * index for index in range(n_trials)]  # only their lengths count
    points = [
        tuner.suggest(predictor.space, history, seed, n_trials)
        for seed in seeds
        for history in histories
    ]
    scores = predictor.predict(points).reshape(len(seeds), n_trials)
    best = scores.argmax(axis=1)  # of several, the earliest, as in a real search
    return [points[search * n_trials + trial] for search, trial in enumerate(best.tolist())]


def count_needed_trials(space: Space, best_share: float = 1.0) -> int:
    """Trials of which the best share is enough for a surrogate: two more than dimensions."""
    return math.floor((len(space) + 1) / best_share + 1e-9) + 1


def resample_search(trials: Sequence[Trial], seed: int) -> Params:
    """Choice of a search whose trials are drawn from those recorded, with replacement.

    A search all of whose trials failed would choose nothing: it is drawn again.
    """
    best_trial(trials)  # refuses trials of which all have failed
    rng = np.random.default_rng(derive_seed(seed, "resample"))
    while True:
        drawn = [trials[index] for index in rng.integers(len(trials), size=len(trials))]
        if any(trial.score is not None for trial in drawn):
            return best_trial(drawn).params


@dataclass(frozen=True, slots=True)
class Simulation:
    """Searches to simulate on a surrogate of one that was done."""

    tuner: str
    n_trials: int  # of each
    seed: int  # of the search that was done
    space: Space
    trials: tuple[Trial, ...]  # that it did, higher scores being better
    seeds: tuple[int, ...]  # of the tuner, one per search to simulate
    best_share: float
    chain: Mapping[str, Any] | None = None  # of a simulation on these trials; None: it is sampled


def simulate(simulation: Simulation) -> dict[str, Any]:
    """Choices of simulated searches in the order of their seeds, and the surrogate's record.

    The record is plain data for a store: the Markov chain, from which the same surrogate is made
    again, and why it may be doubted (of a new chain); or only why it was refused.
    """
    from outperform.study.gaussian_process import Chain  # imports much of scipy
    from outperform.study.surrogate import fit_surrogate

    known = simulation.chain
    try:
        surrogate = fit_surrogate(
            simulation.space,
            simulation.trials,
            seed=simulation.seed,
            best_share=simulation.best_share,
            chain=None if known is None else Chain.from_record(known),
        )
    except OutperformError as error:
        return {"choices": [], "record": {"refused": [error.problem, error.remedy]}}
    tuner, n_trials = make_tuner(simulation.tuner), simulation.n_trials
    choices = simulate_searches(surrogate.process, tuner, simulation.seeds, n_trials)
    doubts = [*surrogate.doubt(tuner, n_trials)] if known is None else []
    return {"choices": choices, "record": {"chain": surrogate.chain.to_record(), "doubts": doubts}}
