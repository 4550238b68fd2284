"""Bayesian optimisation: a Gaussian process (Matérn-5/2) and its expected improvement.

Hyperparameters of the process maximise the marginal likelihood. Points are compared on a seeded,
finite set of candidates, so that rounding errors of another machine do not move them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, lapack, solve_triangular
from scipy.special import erfcx, ndtr

from outperform.study.sources import derive_seed
from outperform.study.spaces import Choices, Integers, Params, Space
from outperform.study.tuners import Trial, suggest_random

FloatArray = NDArray[np.float64]
N_STARTUP = 5  # scored trials, at random, before the process is used
_N_STARTS = 3  # of the likelihood's optimisation
_N_CANDIDATES = 1000
_REFINEMENTS = (0.1, 0.03, 0.01, 0.003)  # widths of the search around the best candidate
_N_REFINED = 100  # candidates per width
# Of amplitude, length scales and noise, for inputs in the unit cube and standardised scores.
_BOUNDS = ((0.05, 20.0), (0.05, 20.0), (1e-6, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class GaussianProcess:
    """A process given its hyperparameters and what was observed."""

    x: FloatArray  # (n, d)
    log_theta: FloatArray  # logarithms of amplitude, d length scales, noise variance
    factor: FloatArray  # lower Cholesky factor of the covariance of the observations
    weights: FloatArray  # inverse covariance times observations

    def predict(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation at points (m, d), without observation noise."""
        amplitude = math.exp(self.log_theta[0])
        scales = np.exp(self.log_theta[1:-1])
        distance2 = _squared_distances(points / scales, self.x / scales)
        cross = amplitude * _matern(np.sqrt(5 * distance2))
        solved = solve_triangular(self.factor, cross.T, lower=True, check_finite=False)
        variance = amplitude - np.einsum("ij,ij->j", solved, solved)
        return cross @ self.weights, np.sqrt(np.maximum(variance, 1e-12 * amplitude))


def condition(log_theta: FloatArray, x: FloatArray, y: FloatArray) -> GaussianProcess:
    """Process with given hyperparameters, conditioned on observations y at x."""
    distance2 = _squared_distances(x / np.exp(log_theta[1:-1]), x / np.exp(log_theta[1:-1]))
    covariance = math.exp(log_theta[0]) * _matern(np.sqrt(5 * distance2))
    covariance[np.diag_indices(len(x))] += math.exp(log_theta[-1])
    factor = cholesky(covariance, lower=True, check_finite=False)
    weights = lapack.dpotrs(factor, y, lower=1)[0]
    return GaussianProcess(x, log_theta, factor, weights)


def fit_process(x: FloatArray, y: FloatArray, rng: np.random.Generator) -> GaussianProcess:
    """Process whose hyperparameters maximise the marginal likelihood.

    Parameters
    ----------
    x : shape (n, d), in the unit cube
    y : shape (n,), of mean 0 and standard deviation 1
    """
    from scipy.optimize import minimize

    amplitude, scale, noise = np.log(_BOUNDS)
    bounds = np.array([amplitude, *[scale] * x.shape[1], noise])
    middle = np.log([1.0, *[0.5] * x.shape[1], 0.01])
    starts = [middle, *rng.uniform(bounds[:, 0], bounds[:, 1], size=(_N_STARTS - 1, len(bounds)))]
    differences2 = square_differences(x)

    def loss(log_theta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = log_marginal_likelihood(log_theta, differences2, y)
        return -value, -gradient

    options = {"maxiter": 50}
    found = [
        minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options)
        for start in starts
    ]
    return condition(min(found, key=lambda result: result.fun).x, x, y)


def square_differences(x: FloatArray) -> FloatArray:
    """Squared differences of all pairs of rows of x (n, d), column by column: (d, n²)."""
    return ((x[:, None] - x[None]) ** 2).reshape(-1, x.shape[1]).T.copy()


def log_marginal_likelihood(
    log_theta: FloatArray, differences2: FloatArray, y: FloatArray
) -> tuple[float, FloatArray]:
    """Log density of y, and its gradient: Rasmussen & Williams (2006), eq. 5.8 and 5.9.

    Parameters
    ----------
    log_theta
        Logarithms of amplitude (variance), one length scale per column of x, noise variance.
    differences2
        From `square_differences`.
    """
    n = len(y)
    amplitude, noise = math.exp(log_theta[0]), math.exp(log_theta[-1])
    inverse2 = np.exp(-2 * log_theta[1:-1])
    root = np.sqrt(5 * (inverse2 @ differences2))
    decay = np.exp(-root)
    signal = (amplitude * (1 + root + root**2 / 3) * decay).reshape(n, n)
    factor = lapack.dpotrf(signal + noise * np.eye(n), lower=1)[0]
    weights = lapack.dpotrs(factor, y, lower=1)[0]
    value = -0.5 * y @ weights - np.log(np.diag(factor)).sum() - 0.5 * n * math.log(2 * math.pi)
    inverse = lapack.dpotri(factor, lower=1)[0]
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    outer = np.outer(weights, weights) - inverse
    # dM/dlog(l_k) = 5/3 (1 + √5 r) exp(-√5 r) (x_k - x'_k)² / l_k²
    slope = outer.ravel() * (5 / 3 * amplitude * (1 + root) * decay)
    gradient = [np.sum(outer * signal), *(differences2 @ slope * inverse2), noise * np.trace(outer)]
    return float(value), 0.5 * np.array(gradient)


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


def suggest_gp_ei(space: Space, history: Sequence[Trial], seed: int, n_trials: int) -> Params:
    """Bayesian optimisation: the point of largest expected improvement over the best so far.

    The first trials are those of random search with the same seed. Failed trials teach nothing.
    A point is not tried twice while there are others. Choices are one-hot.
    """
    scored = [trial for trial in history if trial.score is not None]
    if len(scored) < N_STARTUP or not space:
        return suggest_random(space, history, seed, n_trials)
    from threadpoolctl import threadpool_limits

    # One thread: more of them only wait for each other here, and would round differently.
    with threadpool_limits(1, user_api="blas"):
        rng = np.random.default_rng(derive_seed(seed, "gp-ei", len(history)))
        points = _rank_candidates(space, scored, rng)
    return _first_untried(space, points, history)


def _rank_candidates(space: Space, scored: Sequence[Trial], rng: np.random.Generator) -> FloatArray:
    """Candidates in the unit cube, the largest expected improvement first."""
    names = sorted(space)
    tried = np.array([[space[name].to_unit(t.params[name]) for name in names] for t in scored])
    y = _standardise(np.array([trial.score for trial in scored], dtype=np.float64))
    process = fit_process(_encode(space, tried), y, rng)
    best = float(process.predict(process.x)[0].max())

    points, values = np.empty((0, len(space))), np.empty(0)
    for width in (None, *_REFINEMENTS):
        if width is None:
            fresh = rng.random((_N_CANDIDATES, len(space)))
        else:
            fresh = _around(points[np.argmax(values)], width, rng)
        mean, sd = process.predict(_encode(space, fresh))
        points = np.concatenate([points, fresh])
        values = np.concatenate([values, log_expected_improvement(mean, sd, best)])
    return points[np.argsort(-values, kind="stable")]


def _matern(root: FloatArray) -> FloatArray:
    """Matérn-5/2 correlation at √5 times the scaled distance."""
    return (1 + root + root**2 / 3) * np.exp(-root)


def _squared_distances(a: FloatArray, b: FloatArray) -> FloatArray:
    return cast(FloatArray, ((a[:, None] - b[None]) ** 2).sum(axis=-1))


def _standardise(scores: FloatArray) -> FloatArray:
    """Mean 0 and standard deviation 1; a disaster counts as bad, not as how bad."""
    median = float(np.median(scores))
    headroom = float(scores.max()) - median
    if headroom > 0:
        scores = np.maximum(scores, median - 5 * headroom)
    centred: FloatArray = scores - scores.mean()
    return centred / (float(centred.std()) or 1.0)


def _encode(space: Space, units: FloatArray) -> FloatArray:
    """Inputs of the process: what the pipeline will see of each point, in the unit cube."""
    columns = []
    for index, name in enumerate(sorted(space)):
        dimension, column = space[name], units[:, index]
        if isinstance(dimension, Choices):
            n_options = len(dimension.options)
            places = np.minimum((column * n_options).astype(int), n_options - 1)
            columns.extend(np.eye(n_options)[places].T)
        elif isinstance(dimension, Integers):
            rounded = [dimension.to_unit(dimension.from_unit(u)) for u in column.tolist()]
            columns.append(np.array(rounded))
        else:
            columns.append(column)
    return np.stack(columns, axis=1)


def _around(point: FloatArray, width: float, rng: np.random.Generator) -> FloatArray:
    """Candidates near a point, each changed in a random subset of its coordinates."""
    shape = (_N_REFINED, len(point))
    changed = rng.random(shape) < max(0.5, 1 / len(point))
    moved = point + width * rng.standard_normal(shape)
    return np.clip(np.where(changed, moved, point), 0.0, 1.0)


def _first_untried(space: Space, points: FloatArray, history: Sequence[Trial]) -> Params:
    """First of the points that was not tried, or the first where all were."""
    tried = [trial.params for trial in history]
    names = sorted(space)
    first: Params | None = None
    for point in points.tolist():
        units = dict(zip(names, point, strict=True))
        params = {name: dimension.from_unit(units[name]) for name, dimension in space.items()}
        if params not in tried:
            return params
        first = first or params
    return cast(Params, first)
