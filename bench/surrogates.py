"""Simulated searches: the surrogate and the tuner `gp-ei`, against scikit-learn's process.

Both sides have one thread: on matrices this small, more of them only wait for each other.
"""

import tracemalloc
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from outperform.study import adaptive_tuners, gaussian_process
from outperform.study.gaussian_process import one_thread, sample_chain, square_differences
from outperform.study.simulated_searches import simulate_searches
from outperform.study.spaces import LogUniform, Params, Space, Uniform, encode_units, units_of
from outperform.study.surrogate import N_STEPS, Surrogate, fit_surrogate
from outperform.study.tuners import TUNERS, Trial, suggest_random
from timing import Contest, Measured, time_both

FloatArray = NDArray[np.float64]
N_TRIALS, N_SEARCHES = 100, 100
N_SAMPLES = 50  # of the chain, as ours has them
SPACE: Space = {"decay": Uniform(0, 1), "rate": LogUniform(1e-4, 1), "width": Uniform(0, 1)}
SEEDS = range(N_SEARCHES)
_LIMIT = 50.0  # MB
# Bounds and start of the tuner's own process.
_BOUNDS = {"amplitude": (0.05, 20.0), "scale": (0.05, 20.0), "noise": (1e-6, 1.0)}


def draw_trials() -> list[Trial]:
    """A random search on a valley, with some noise."""
    rng = np.random.default_rng(0)
    points = [suggest_random(SPACE, [Trial({}, None)] * i, 0, N_TRIALS) for i in range(N_TRIALS)]
    depths = ((units_of(SPACE, points) - [0.3, 0.5, 0.6]) ** 2).sum(axis=1)
    scores = 0.9 - depths + 0.02 * rng.standard_normal(N_TRIALS)
    return [Trial(p, s) for p, s in zip(points, scores.tolist(), strict=True)]


@cache
def our_surrogate() -> Surrogate:
    return fit_surrogate(SPACE, draw_trials(), seed=0, best_share=None)


def make_kernel(n_columns: int) -> Any:
    matern = Matern([0.5] * n_columns, _BOUNDS["scale"], nu=2.5)
    noise = WhiteKernel(0.01, _BOUNDS["noise"])
    return ConstantKernel(1.0, _BOUNDS["amplitude"]) * matern + noise


@dataclass(frozen=True, slots=True)
class Regressors:
    """The surrogate's process by scikit-learn: one regressor per sample of the chain."""

    space: Space
    members: Sequence[GaussianProcessRegressor]

    def predict(self, points: Sequence[Params]) -> FloatArray:
        """Mean of what the regressors expect."""
        at = encode_units(self.space, units_of(self.space, points))
        return np.asarray(np.mean([member.predict(at) for member in self.members], axis=0))


def fit_regressors(trials: Sequence[Trial]) -> Regressors:
    """The same chain, walkers and steps, over scikit-learn's likelihood."""
    x = encode_units(SPACE, units_of(SPACE, [trial.params for trial in trials]))
    scores = np.array([trial.score for trial in trials])
    y = (scores - scores.mean()) / scores.std()
    kernel = make_kernel(x.shape[1])
    regressor = GaussianProcessRegressor(kernel, alpha=0, optimizer=None).fit(x, y)

    def likelihood(log_theta: FloatArray, *_: object) -> Any:
        return regressor.log_marginal_likelihood(log_theta, clone_kernel=False)

    with patch.object(gaussian_process, "log_likelihood", likelihood):
        pairs = square_differences(x)
        chain = sample_chain(pairs, y, seed=0, n_steps=N_STEPS, n_samples=N_SAMPLES)
    kernels = [kernel.clone_with_theta(log_theta) for log_theta in chain.log_thetas]
    members = [GaussianProcessRegressor(k, alpha=0, optimizer=None).fit(x, y) for k in kernels]
    return Regressors(SPACE, members)


def random_searches() -> Measured:
    trials = draw_trials()

    def ours() -> object:
        model = fit_surrogate(SPACE, trials, seed=0, best_share=None)
        return simulate_searches(model, TUNERS["random"], SEEDS, N_TRIALS)

    def theirs() -> object:
        with one_thread():
            return simulate_searches(fit_regressors(trials), TUNERS["random"], SEEDS, N_TRIALS)

    return time_both(ours, theirs, n_samples=3)


@dataclass(frozen=True, slots=True)
class TheirProcess:
    """What the tuner asks of a process, by scikit-learn."""

    x: FloatArray
    regressor: GaussianProcessRegressor

    def predict(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation, without the noise that theirs includes."""
        mean, sd = self.regressor.predict(points, return_std=True)
        noise = self.regressor.kernel_.k2.noise_level
        return mean, np.sqrt(np.maximum(sd**2 - noise, 1e-12))


def maximise(loss: Any, start: FloatArray, bounds: FloatArray) -> tuple[FloatArray, float]:
    """As scikit-learn does, in no more steps than the tuner takes."""
    options = {"maxiter": 50}
    optimum = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options)
    return optimum.x, optimum.fun


def fit_theirs(*, always: bool) -> Callable[[Space, Sequence[Trial], int], TheirProcess]:
    """A tuner's process, its hyperparameters fitted at every trial or as often as the tuner's."""
    kernels: dict[int, Any] = {}

    def fit(space: Space, scored: Sequence[Trial], seed: int) -> TheirProcess:
        x = encode_units(space, units_of(space, [trial.params for trial in scored]))
        y = np.array([trial.score for trial in scored])
        kernel = None if always else kernels.get(adaptive_tuners.count_fitted(len(y)))
        regressor = GaussianProcessRegressor(
            kernel or make_kernel(x.shape[1]),
            alpha=0,
            optimizer=None if kernel else maximise,
            n_restarts_optimizer=0 if kernel else 2,
            random_state=seed,
        ).fit(x, (y - y.mean()) / y.std())
        kernels[len(y)] = kernel or regressor.kernel_
        return TheirProcess(x, regressor)

    return fit


def gp_ei_searches(*, always: bool) -> Measured:
    """One search stands for all: the tuner as it is, and with a process by scikit-learn."""

    def ours() -> object:
        adaptive_tuners._recall_likeliest.cache_clear()  # every search has processes of its own
        return simulate_searches(our_surrogate(), TUNERS["gp-ei"], [0], N_TRIALS)

    def theirs() -> object:
        fit = fit_theirs(always=always)
        with patch.object(adaptive_tuners, "_fit_process", fit), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns where hyperparameters reach their bounds
            return simulate_searches(our_surrogate(), TUNERS["gp-ei"], [0], N_TRIALS)

    with one_thread():
        measured = time_both(ours, theirs, n_samples=3)
    ours_of_all, theirs_of_all = measured.ours * N_SEARCHES, measured.theirs * N_SEARCHES
    return Measured(ours_of_all, theirs_of_all, note="both scaled up from 1 search")


def memory() -> Measured:
    trials = draw_trials()
    simulate_searches(our_surrogate(), TUNERS["gp-ei"], [0], 10)  # imports are no part of it
    tracemalloc.start()
    model = fit_surrogate(SPACE, trials, seed=0, best_share=None)
    simulate_searches(model, TUNERS["random"], SEEDS, N_TRIALS)
    simulate_searches(model, TUNERS["gp-ei"], [1], N_TRIALS)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return Measured(peak, _LIMIT, unit="MB", note="10,000 points are 5 MB")


_GP_EI = f"{N_SEARCHES} GP-EI searches of {N_TRIALS} trials simulated"
CONTESTS = [
    Contest(
        f"surrogate of {N_TRIALS} trials in 3 dimensions, {N_SEARCHES} random searches simulated",
        "scikit-learn's likelihood under emcee, its regressors",
        Fraction(1, 3),
        random_searches,
    ),
    Contest(
        _GP_EI,
        "the tuner with scikit-learn's regressor, fitted at every trial",
        Fraction(1, 10),
        partial(gp_ei_searches, always=True),
    ),
    Contest(
        _GP_EI,
        "the same, fitted as often as ours",
        None,
        partial(gp_ei_searches, always=False),
    ),
    Contest("the surrogate and these searches, memory", f"{_LIMIT:.0f} MB", Fraction(1), memory),
]
