"""Tuners that learn from the history of their search: gp-ei, tpe and cma-es.

What each suggests hangs on nothing but space, history and seed: it starts afresh, in memory, under
a seed derived from the search's and the trial's number, and is told the history. The last two need
the extra `optuna`.
"""

import logging
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import numpy as np
from scipy.special import erfcx, ndtr

from outperform.study.gaussian_process import (
    FloatArray,
    GaussianProcess,
    condition,
    draw_starts,
    maximise_likelihood,
    one_thread,
)
from outperform.study.sources import derive_seed
from outperform.study.spaces import (
    Choices,
    Dimension,
    Integers,
    LogUniform,
    Params,
    Space,
    encode_units,
    params_at,
    units_of,
)
from outperform.study.tuners import Trial, suggest_random

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

N_STARTUP_GP = 5  # scored trials, at random, before the process is used
N_STARTUP_TPE = 10  # the same, before TPE models anything
_GROWTH = 10  # per cent more scored trials, after which the process is fitted anew
_N_CANDIDATES = 1000
_REFINEMENTS = (0.1, 0.03, 0.01, 0.003)  # widths of the search around the best candidate
_N_REFINED = 100  # candidates per width


def suggest_gp_ei(space: Space, history: Sequence[Trial], seed: int, n_trials: int) -> Params:
    """Bayesian optimisation: the point of largest expected improvement over the best so far.

    Points are compared on a seeded, finite set of candidates, so that rounding errors of another
    machine do not move them. The first trials are those of random search with the same seed. Failed
    trials teach nothing. A point is not tried twice while there are others. Choices are one-hot.
    The process knows all trials, but its length scales are those of the first of them, fitted anew
    at each of the first twenty and whenever there are a tenth more.
    """
    scored = [index for index, trial in enumerate(history) if trial.score is not None]
    if len(scored) < N_STARTUP_GP or not space:
        return suggest_random(space, history, seed, n_trials)
    last_fitted = scored[count_fitted(len(scored)) - 1]
    with one_thread():
        seed_of_fit = derive_seed(seed, "gp-ei", last_fitted + 1)
        process = _fit_process(space, [history[index] for index in scored], seed_of_fit)
        rng = np.random.default_rng(derive_seed(seed, "gp-ei", len(history)))
        draw_starts(process.x.shape[1], rng)  # used or not: the candidates come after them
        points = _rank_candidates(space, process, rng)
    return _first_untried(space, points, history)


def suggest_tpe(space: Space, history: Sequence[Trial], seed: int, n_trials: int) -> Params:  # noqa: ARG001
    """Tree-structured Parzen estimator of optuna; failed trials teach nothing."""
    import optuna

    distributions = {name: _distribution(space[name]) for name in sorted(space)}
    sampler = optuna.samplers.TPESampler(
        n_startup_trials=N_STARTUP_TPE, seed=derive_seed(seed, "tpe", len(history))
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
            places = [[space[n].to_unit(trial.params[n]) for n in names] for trial in generation]
            losses = [math.inf if trial.score is None else -trial.score for trial in generation]
            optimizer.tell([*zip(map(np.array, places), losses, strict=True)])
    units = optimizer.ask().tolist()
    adapted = {name: space[name].from_unit(u) for name, u in zip(names, units, strict=True)}
    return drawn | adapted


def log_expected_improvement(mean: FloatArray, sd: FloatArray, best: float) -> FloatArray:
    """Logarithm of E[max(0, f - best)] for f ~ N(mean, sd²), exact where it underflows.

    Examples
    --------
    >>> log_expected_improvement(np.array([0.0]), np.array([1.0]), 0.0).round(4)
    array([-0.9189])
    """
    z = (mean - best) / sd
    log_density = -0.5 * z**2 - 0.5 * math.log(2 * math.pi)
    # E = sd·(φ(z) + zΦ(z)); for z < 0 the bracket is φ(z)·(1 - |z|·Φ(z)/φ(z)), about φ(z)/z².
    below = np.minimum(z, 0.0)
    ratio = math.sqrt(math.pi / 2) * erfcx(-below / math.sqrt(2))
    # Beyond z = -1e8 rounding leaves nothing of the bracket; the density decides there.
    tail = log_density + np.log(np.maximum(1 + below * ratio, 1e-300))
    above = np.maximum(z, 0.0)
    gain = np.exp(-0.5 * above**2) / math.sqrt(2 * math.pi) + above * ndtr(above)
    return cast(FloatArray, np.log(sd) + np.where(z < 0, tail, np.log(gain)))


def count_fitted(n_scored: int) -> int:
    """How many of the scored trials, the first, the process's hyperparameters are fitted to.

    Examples
    --------
    >>> [count_fitted(n) for n in (5, 6, 19, 20, 21, 22, 23, 24, 100)]
    [5, 6, 19, 20, 20, 22, 22, 24, 94]
    """
    n_fitted = N_STARTUP_GP
    while (larger := max(n_fitted + 1, n_fitted * (100 + _GROWTH) // 100)) <= n_scored:
        n_fitted = larger
    return n_fitted


def _fit_process(space: Space, scored: Sequence[Trial], seed: int) -> GaussianProcess:
    x = encode_units(space, units_of(space, [trial.params for trial in scored]))
    scores = np.array([trial.score for trial in scored], dtype=np.float64)
    n = count_fitted(len(scored))
    y = _standardise(scores[:n])
    log_theta = _recall_likeliest(x[:n].tobytes(), y.tobytes(), seed)
    return condition(np.array(log_theta), x, _standardise(scores))


@lru_cache(maxsize=1024)  # of as many searches at the same time; it saves time and nothing else
def _recall_likeliest(x: bytes, y: bytes, seed: int) -> tuple[float, ...]:
    scores = np.frombuffer(y)
    points = np.frombuffer(x).reshape(len(scores), -1)
    log_theta = maximise_likelihood(points, scores, np.random.default_rng(seed))
    return tuple(log_theta.tolist())


def _rank_candidates(
    space: Space, process: GaussianProcess, rng: np.random.Generator
) -> FloatArray:
    """Candidates in the unit cube, the largest expected improvement first."""
    best = float(process.predict(process.x)[0].max())
    points, values = np.empty((0, len(space))), np.empty(0)
    for width in (None, *_REFINEMENTS):
        if width is None:
            fresh = rng.random((_N_CANDIDATES, len(space)))
        else:
            # Near the best, each changed in a random subset of its coordinates.
            best_point, shape = points[np.argmax(values)], (_N_REFINED, len(space))
            changed = rng.random(shape) < max(0.5, 1 / len(space))
            moved = best_point + width * rng.standard_normal(shape)
            fresh = np.clip(np.where(changed, moved, best_point), 0.0, 1.0)
        mean, sd = process.predict(encode_units(space, fresh))
        points = np.concatenate([points, fresh])
        values = np.concatenate([values, log_expected_improvement(mean, sd, best)])
    return points[np.argsort(-values, kind="stable")]


def _standardise(scores: FloatArray) -> FloatArray:
    """Mean 0 and standard deviation 1; a disaster counts as bad, not as how bad."""
    median = float(np.median(scores))
    headroom = float(scores.max()) - median
    if headroom > 0:
        scores = np.maximum(scores, median - 5 * headroom)
    centred: FloatArray = scores - scores.mean()
    return centred / (float(centred.std()) or 1.0)


def _first_untried(space: Space, points: FloatArray, history: Sequence[Trial]) -> Params:
    """First of the points that was not tried, or the first where all were."""
    tried = [trial.params for trial in history]
    for point in points:
        params = params_at(space, point.tolist())
        if params not in tried:
            return params
    return params_at(space, points[0].tolist())


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
