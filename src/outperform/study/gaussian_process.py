"""A Gaussian process (Matérn-5/2, a length scale per input) with noisy observations.

`log_marginal_likelihood` and `condition` need no more than arrays and hyperparameters, so that
these may be the likeliest (`maximise_likelihood`, for the tuner `gp-ei`), or sampled from their
posterior (`sample_chain`, for the surrogate): scores of mean 0 and standard deviation 1, points in
the unit cube, and independent normal priors on the logarithms of the hyperparameters (`PRIORS`).
"""

import math
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, lapack, solve_triangular
from scipy.spatial.distance import cdist
from threadpoolctl import ThreadpoolController

FloatArray = NDArray[np.float64]
_N_STARTS = 3  # of the likelihood's optimisation
# Of amplitude, length scales and noise, for inputs in the unit cube and standardised scores.
_BOUNDS = ((0.05, 20.0), (0.05, 20.0), (1e-6, 1.0))
# Median, and standard deviation of the logarithm: the amplitude (variance) is that of the scores,
# give or take a factor of e; length scales are around half the range that is searched; noise is
# around a tenth of the scores' variance, and anything from next to none to all of it.
PRIORS = {"amplitude": (1.0, 1.0), "scale": (0.5, 1.0), "noise": (0.1, 2.0)}
_FARTHEST = 8.0  # standard deviations from a prior's centre, where the prior ends
_N_DRAWS = 20  # from the prior per walker, of which the likeliest is a walker's start
_TRUSTED = 100  # effective samples; fewer are doubted


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
    """Hyperparameters (their logarithms) under which standardised observations are likeliest."""
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

    Given logarithms of amplitude (variance), one length scale per column of x, and noise variance;
    and the differences from `square_differences`.
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

    Differences are those of `pack_pairs`.
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
    """Matérn-5/2 correlation at √5 times the scaled distance, overwritten because it is faster."""
    correlation = root * (1 / 3)
    correlation += 1
    correlation *= root
    correlation += 1
    np.negative(root, out=root)
    correlation *= np.exp(root, out=root)
    return correlation


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """A sample from the posterior, and how well the walkers have mixed."""

    log_thetas: FloatArray  # (samples, d + 2), as `log_marginal_likelihood` takes them
    autocorrelation_time: float  # in steps, of the hyperparameter that takes longest
    acceptance: float  # share of the proposed steps that were taken, of all walkers
    n_effective: float  # independent samples that the whole chain is worth

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why the sample may not be one from the posterior."""
        doubts = []
        if self.n_effective < _TRUSTED:
            doubts.append(
                f"the Markov chain is worth {self.n_effective:.0f} independent samples "
                f"(autocorrelation time {self.autocorrelation_time:.0f} steps), fewer than "
                f"{_TRUSTED}: a longer one may predict otherwise"
            )
        if not 0.1 <= self.acceptance <= 0.9:
            doubts.append(
                f"the Markov chain took {self.acceptance:.0%} of the steps that it proposed, not "
                "10% to 90%: it has hardly mixed"
            )
        return tuple(doubts)

    def to_record(self) -> dict[str, Any]:
        """As plain data, from which `from_record` makes the very same."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return values | {"log_thetas": self.log_thetas.tolist()}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """The chain that was recorded."""
        return cls(**{**record, "log_thetas": np.array(record["log_thetas"], dtype=np.float64)})


def sample_chain(
    differences2: FloatArray, y: FloatArray, *, seed: int, n_steps: int, n_samples: int
) -> Chain:
    """Sample amplitude, length scales and noise given the observations y.

    Walkers start at the likeliest of many draws from the prior, so that a mode of the posterior
    is rarely missed, and half as many steps as are kept come first and are thrown away. Of the
    chain, `n_samples` evenly spaced places are kept for predictions.

    References
    ----------
    Foreman-Mackey et al. (2013), emcee: The MCMC Hammer; Snoek et al. (2012), Practical Bayesian
    Optimization of Machine Learning Algorithms; ter Braak (2006), A Markov
    Chain Monte Carlo version of the genetic algorithm Differential Evolution.
    """
    from emcee import EnsembleSampler
    from emcee.moves import DEMove, StretchMove

    centre, width = prior_of(len(differences2))
    packed = pack_pairs(differences2)

    def log_posterior(log_theta: FloatArray) -> float:
        z = (log_theta - centre) / width
        if np.abs(z).max() > _FARTHEST:
            return -np.inf
        return float(log_likelihood(log_theta, packed, y) - 0.5 * z @ z)

    n_walkers = 4 * len(centre)
    rng = np.random.Generator(np.random.MT19937(seed))  # which emcee can go on with
    draws = centre + width * rng.standard_normal((_N_DRAWS * n_walkers, len(centre)))
    order = np.argsort([-log_posterior(draw) for draw in draws], kind="stable")
    # Not emcee's snooker move: up to version 3.1.6 it samples too narrow a distribution.
    moves = [(DEMove(), 0.8), (StretchMove(), 0.2)]
    sampler = EnsembleSampler(n_walkers, len(centre), log_posterior, moves=moves)
    sampler.random_state = rng.bit_generator.state
    state = sampler.run_mcmc(draws[order[:n_walkers]], n_steps // 2, store=False)
    sampler.run_mcmc(state, n_steps)
    return summarise(sampler.get_chain(), float(np.mean(sampler.acceptance_fraction)), n_samples)


def prior_of(n_scales: int) -> tuple[FloatArray, FloatArray]:
    """Centre and standard deviation of the prior of the logarithms."""
    names = ["amplitude", *["scale"] * n_scales, "noise"]
    medians, widths = np.transpose([PRIORS[name] for name in names])
    return np.log(medians), widths


def summarise(chain: FloatArray, acceptance: float, n_samples: int) -> Chain:
    """What walkers (steps, walkers, hyperparameters) are worth, and some of their places."""
    from emcee.autocorr import integrated_time

    n_steps, n_walkers, n_parameters = chain.shape
    with np.errstate(invalid="ignore"):  # a walker that never moved correlates with nothing
        times = integrated_time(chain, tol=0)
    # Chains that are far too short seem to have times below that of independent draws.
    time = max(1.0, float(np.where(np.isfinite(times), times, n_steps).max()))
    flat = chain.reshape(-1, n_parameters)
    kept = np.linspace(0, len(flat) - 1, min(n_samples, len(flat))).round().astype(int)
    return Chain(flat[kept], time, acceptance, n_steps * n_walkers / time)
