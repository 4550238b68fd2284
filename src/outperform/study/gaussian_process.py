"""A Gaussian process (Matérn-5/2, a length scale per input) with noisy observations.

`log_marginal_likelihood` and `condition` need no more than arrays and hyperparameters, so that
these may be the likeliest (`maximise_likelihood`, for the tuner `gp-ei`), sampled (`process_chain`,
for the surrogate) or given.
"""

import math
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, lapack, solve_triangular
from scipy.spatial.distance import cdist
from threadpoolctl import ThreadpoolController

FloatArray = NDArray[np.float64]
_N_STARTS = 3  # of the likelihood's optimisation
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
        cross = covariances(self.log_theta, points, self.x)
        solved = solve_triangular(self.factor, cross.T, lower=True, check_finite=False)
        variance = amplitude - np.einsum("ij,ij->j", solved, solved)
        return cross @ self.weights, np.sqrt(np.maximum(variance, 1e-12 * amplitude))

    def leave_one_out(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of each observation given all others, noise included.

        Rasmussen & Williams (2006), eq. 5.12: no process is conditioned anew.
        """
        precisions = np.diag(lapack.dpotri(self.factor, lower=1)[0])
        return y - self.weights / precisions, 1 / np.sqrt(precisions)


def condition(log_theta: FloatArray, x: FloatArray, y: FloatArray) -> GaussianProcess:
    """Process with given hyperparameters, conditioned on observations y at x."""
    covariance = covariances(log_theta, x, x)
    covariance[np.diag_indices(len(x))] += math.exp(log_theta[-1])
    factor = cholesky(covariance, lower=True, check_finite=False)
    weights = lapack.dpotrs(factor, y, lower=1)[0]
    return GaussianProcess(x, log_theta, factor, weights)


def maximise_likelihood(x: FloatArray, y: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Hyperparameters (their logarithms) under which the observations are likeliest.

    Parameters
    ----------
    x : shape (n, d), in the unit cube
    y : shape (n,), of mean 0 and standard deviation 1
    """
    from scipy.optimize import minimize

    bounds = _bound(x.shape[1])
    starts = [np.log([1.0, *[0.5] * x.shape[1], 0.01]), *draw_starts(x.shape[1], rng)]
    differences2 = square_differences(x)

    def loss(log_theta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = log_marginal_likelihood(log_theta, differences2, y)
        return -value, -gradient

    options = {"maxiter": 50}
    optima = [
        minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options)
        for start in starts
    ]
    best: FloatArray = min(optima, key=lambda result: result.fun).x
    return best


def draw_starts(n_columns: int, rng: np.random.Generator) -> FloatArray:
    """Hyperparameters from which the likelihood is maximised, beside those in the middle."""
    bounds = _bound(n_columns)
    return rng.uniform(bounds[:, 0], bounds[:, 1], size=(_N_STARTS - 1, len(bounds)))


def covariances(log_theta: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Of the process, without noise, at points a (m, d) with that at points b (n, d): (m, n)."""
    scales = np.exp(log_theta[1:-1])
    distance2 = cdist(a / scales, b / scales, "sqeuclidean")
    return math.exp(log_theta[0]) * matern(np.sqrt(5 * distance2))


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
    root = np.sqrt((5 * inverse2) @ differences2)
    decay = amplitude * np.exp(-root)
    slope = (1 + root) * decay  # dM/dlog(l_k) = 5/3 (1 + √5 r) exp(-√5 r) (x_k - x'_k)² / l_k²
    signal = root * root / 3 * decay + slope
    covariance = signal.copy()
    covariance[:: n + 1] += noise
    # Symmetric: its transpose is the same matrix in the order that LAPACK overwrites in place.
    factor, failed = lapack.dpotrf(covariance.reshape(n, n).T, lower=1, overwrite_a=1)
    if failed:  # not positive definite, to rounding: as good as impossible
        return -math.inf, np.zeros_like(log_theta)
    weights = lapack.dpotrs(factor, y, lower=1)[0]
    value = _log_density(np.diag(factor), weights, y)
    half_inverse = lapack.dpotri(factor, lower=1, overwrite_c=1)[0]  # a triangle; the other is 0
    trace = half_inverse.trace()
    # Twice the triangle sums to what the inverse would, but for the diagonal, counted twice.
    outer = (np.multiply.outer(weights, weights) - 2 * half_inverse.T).ravel()
    of_scales = 5 / 3 * inverse2 * (differences2 @ (outer * slope))
    of_noise = noise * (weights @ weights - trace)
    return value, 0.5 * np.array([outer @ signal + amplitude * trace, *of_scales, of_noise])


def log_likelihood(log_theta: FloatArray, packed: FloatArray, y: FloatArray) -> float:
    """Value of `log_marginal_likelihood` alone, in a third of its time: for those who sample.

    Parameters
    ----------
    packed
        Differences from `pack_pairs`.
    """
    n = len(y)
    diagonal = _find_diagonal(n)
    covariance = matern(np.sqrt((5 * np.exp(-2 * log_theta[1:-1])) @ packed))
    covariance *= math.exp(log_theta[0])
    covariance[diagonal] += math.exp(log_theta[-1])
    factor, failed = lapack.dpftrf(n, covariance, uplo="L", overwrite_a=1)
    if failed:
        return -math.inf
    weights = lapack.dpftrs(n, factor, y, uplo="L")[0].ravel()
    return _log_density(factor[diagonal], weights, y)


def pack_pairs(differences2: FloatArray) -> FloatArray:
    """Of `square_differences`, each pair of rows once: (d, n(n + 1) / 2).

    In the order of LAPACK's rectangular full packed matrices, which are factored as they are.
    """
    n = math.isqrt(differences2.shape[1])
    packed = [lapack.dtrttf(row.reshape(n, n), uplo="L")[0] for row in differences2]
    return np.array(packed)


@lru_cache(maxsize=8)
def _find_diagonal(n: int) -> NDArray[np.intp]:
    return np.flatnonzero(lapack.dtrttf(np.eye(n), uplo="L")[0])


def one_thread() -> AbstractContextManager[object]:
    """Linear algebra in one thread: more only wait for each other here, and round differently."""
    limit: AbstractContextManager[object] = _find_libraries().limit(limits=1, user_api="blas")
    return limit


@cache  # it takes milliseconds, as long as a suggestion of the tuner
def _find_libraries() -> ThreadpoolController:
    return ThreadpoolController()


def _bound(n_columns: int) -> FloatArray:
    amplitude, scale, noise = np.log(_BOUNDS)
    return np.array([amplitude, *[scale] * n_columns, noise])


def _log_density(diagonal: FloatArray, weights: FloatArray, y: FloatArray) -> float:
    """Of y under N(0, K), K⁻¹y being the weights, given the diagonal of K's Cholesky factor."""
    half_log_determinant = np.log(diagonal).sum()
    return float(-0.5 * y @ weights - half_log_determinant - 0.5 * len(y) * math.log(2 * math.pi))


def matern(root: FloatArray) -> FloatArray:
    """Matérn-5/2 correlation at √5 times the scaled distance, which is overwritten: it is faster.

    Examples
    --------
    >>> matern(np.array([0.0, 3.0])).round(4)
    array([1.    , 0.3485])
    """
    correlation = root * (1 / 3)
    correlation += 1
    correlation *= root
    correlation += 1
    np.negative(root, out=root)
    correlation *= np.exp(root, out=root)
    return correlation
