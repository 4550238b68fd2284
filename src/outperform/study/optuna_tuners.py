"""TPE and CMA-ES, with the extra `optuna`.

Neither keeps anything between suggestions: each starts afresh, in memory, under a seed derived
from the search's seed and the trial's number, and is told the history.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from outperform.study.sources import derive_seed
from outperform.study.spaces import Choices, Dimension, Integers, LogUniform, Params, Space
from outperform.study.tuners import Trial, suggest_random

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

N_STARTUP = 10  # scored trials, at random, before TPE models anything


def suggest_tpe(space: Space, history: Sequence[Trial], seed: int, n_trials: int) -> Params:  # noqa: ARG001
    """Tree-structured Parzen estimator of optuna; failed trials teach nothing."""
    import optuna

    distributions = {name: _distribution(space[name]) for name in sorted(space)}
    sampler = optuna.samplers.TPESampler(
        n_startup_trials=N_STARTUP, seed=derive_seed(seed, "tpe", len(history))
    )
    with _quiet("optuna"):
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for trial in history:
            study.add_trial(
                optuna.trial.create_trial(
                    params={name: trial.params[name] for name in distributions},
                    distributions=distributions,
                    value=trial.score,
                    state=optuna.trial.TrialState["FAIL" if trial.score is None else "COMPLETE"],
                )
            )
        suggested = study.ask(distributions).params
    return {name: suggested[name] for name in space}


def suggest_cma_es(space: Space, history: Sequence[Trial], seed: int, n_trials: int) -> Params:
    """CMA-ES of the package cmaes, which is what optuna runs.

    Not through optuna: its sampler keeps the strategy's state beside the trials it suggested
    itself, so that a fresh study told the same history would never adapt. A failed trial ranks
    last in its generation; a generation without any score is passed over. Choices, which have no
    order, are drawn at random.
    """
    from cmaes import CMA

    drawn = suggest_random(space, history, seed, n_trials)
    names = [name for name in sorted(space) if not isinstance(space[name], Choices)]
    if not names:
        return drawn
    optimizer = CMA(
        mean=np.full(len(names), 0.5),
        sigma=1 / 6,
        bounds=np.array([[0.0, 1.0]] * len(names)),
        seed=derive_seed(seed, "cma-es", len(history)),
    )
    size = optimizer.population_size
    for start in range(0, len(history) - size + 1, size):
        generation = history[start : start + size]
        if any(trial.score is not None for trial in generation):
            optimizer.tell([_solution(trial, names, space) for trial in generation])
    units = optimizer.ask().tolist()
    adapted = {name: space[name].from_unit(u) for name, u in zip(names, units, strict=True)}
    return drawn | adapted


def _solution(trial: Trial, names: Sequence[str], space: Space) -> tuple[np.ndarray, float]:
    place = np.array([space[name].to_unit(trial.params[name]) for name in names])
    return place, inf if trial.score is None else -trial.score


def _distribution(dimension: Dimension) -> "BaseDistribution":
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if isinstance(dimension, Choices):
        return CategoricalDistribution(dimension.options)
    if isinstance(dimension, Integers):
        return IntDistribution(dimension.low, dimension.high, log=dimension.log)
    return FloatDistribution(dimension.low, dimension.high, log=isinstance(dimension, LogUniform))


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Silence one logger's notices, and leave it as it was."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
