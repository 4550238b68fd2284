"""Hyperparameters of a Gaussian process, sampled from their posterior.

The model: scores of mean 0 and standard deviation 1, points in the unit cube, and independent
normal priors on the logarithms of the hyperparameters (`PRIORS`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from outperform.study.gaussian_process import FloatArray, log_likelihood, pack_pairs

# Median, and standard deviation of the logarithm: the amplitude (variance) is that of the scores,
# give or take a factor of e; length scales are around half the range that is searched; noise is
# around a tenth of the scores' variance, and anything from next to none to all of it.
PRIORS = {"amplitude": (1.0, 1.0), "scale": (0.5, 1.0), "noise": (0.1, 2.0)}
_FARTHEST = 8.0  # standard deviations from a prior's centre, where the prior ends
_N_DRAWS = 20  # from the prior per walker, of which the likeliest is a walker's start
_TRUSTED = 100  # effective samples; fewer are doubted


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
    is rarely missed, and half as many steps as are kept come first and are thrown away.

    Parameters
    ----------
    differences2
        From `square_differences`: one row per length scale.
    n_samples
        Kept for predictions, evenly spaced over the chain.

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
