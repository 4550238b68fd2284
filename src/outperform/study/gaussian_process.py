"""A Gaussian process (Matérn-5/2, a length scale per input) with noisy observations.

`log_marginal_likelihood` and `condition` need no more than arrays and hyperparameters, so that
these may be maximised (`fit_process`, for the tuner `gp-ei`), sampled (`process_chain`, for the
surrogate) or given.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, lapack, solve_triangular
from scipy.spatial.distance import cdist

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
    optima = [
        minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options)
        for start in starts
    ]
    return condition(min(optima, key=lambda result: result.fun).x, x, y)


def covariances(log_theta: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Of the process, without noise, at points a (m, d) with that at points b (n, d): (m, n)."""
    scales = np.exp(log_theta[1:-1])
    distance2 = cdist(a / scales, b / scales, "sqeuclidean")
    return math.exp(log_theta[0]) * _matern(np.sqrt(5 * distance2))


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
    factor, failed = lapack.dpotrf(signal + noise * np.eye(n), lower=1)
    if failed:  # not positive definite, to rounding: as good as impossible
        return -math.inf, np.zeros_like(log_theta)
    weights = lapack.dpotrs(factor, y, lower=1)[0]
    value = _log_density(factor, weights, y)
    inverse = lapack.dpotri(factor, lower=1)[0]
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    outer = np.outer(weights, weights) - inverse
    # dM/dlog(l_k) = 5/3 (1 + √5 r) exp(-√5 r) (x_k - x'_k)² / l_k²
    slope = outer.ravel() * (5 / 3 * amplitude * (1 + root) * decay)
    gradient = [np.sum(outer * signal), *(differences2 @ slope * inverse2), noise * np.trace(outer)]
    return value, 0.5 * np.array(gradient)


def log_likelihood(log_theta: FloatArray, differences2: FloatArray, y: FloatArray) -> float:
    """Value of `log_marginal_likelihood` alone, in a third of its time: for those who sample."""
    n = len(y)
    amplitude, noise = math.exp(log_theta[0]), math.exp(log_theta[-1])
    covariance = _matern(np.sqrt((5 * np.exp(-2 * log_theta[1:-1])) @ differences2))
    covariance *= amplitude
    covariance[:: n + 1] += noise
    # Symmetric: its transpose is the same matrix in the order that LAPACK overwrites in place.
    square = covariance.reshape(n, n).T
    factor, failed = lapack.dpotrf(square, lower=1, clean=0, overwrite_a=1)
    if failed:
        return -math.inf
    return _log_density(factor, lapack.dpotrs(factor, y, lower=1)[0], y)


def _log_density(factor: FloatArray, weights: FloatArray, y: FloatArray) -> float:
    """Of y under N(0, factor·factorᵀ), with weights = (factor·factorᵀ)⁻¹y."""
    half_log_determinant = np.log(np.diag(factor)).sum()
    return float(-0.5 * y @ weights - half_log_determinant - 0.5 * len(y) * math.log(2 * math.pi))


def _matern(root: FloatArray) -> FloatArray:
    """Matérn-5/2 correlation at √5 times the scaled distance."""
    correlation = root * root
    correlation /= 3
    correlation += root
    correlation += 1
    correlation *= np.exp(-root)
    return correlation
