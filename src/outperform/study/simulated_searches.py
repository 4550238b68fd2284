"""Searches in which a function answers instead of fits.

The tuner is the one that runs real searches, with its own seeds: only the scores are predicted.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from outperform.errors import InvalidInput
from outperform.study.spaces import Params, Space
from outperform.study.tuners import Trial, Tuner, best_trial, suggest_grid


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
