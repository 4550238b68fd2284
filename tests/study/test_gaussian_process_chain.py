"""The Markov chain: is it a sample from the posterior, and always the same one?"""

import numpy as np
import pytest
from scipy.stats import chisquare
from threadpoolctl import threadpool_limits

from outperform.study.gaussian_process import (
    Chain,
    covariances,
    log_likelihood,
    pack_pairs,
    prior_of,
    sample_chain,
    square_differences,
    summarise,
)


def draw_scores(rng, x, log_theta):
    covariance = covariances(log_theta, x, x) + np.exp(log_theta[-1]) * np.eye(len(x))
    return np.linalg.cholesky(covariance) @ rng.standard_normal(len(x))


RNG = np.random.default_rng(3)
X = RNG.random((15, 1))
Y = draw_scores(RNG, X, np.log([1.0, 0.3, 0.1]))


def sample(x=X, y=Y, seed=0, n_steps=100, n_samples=50):
    with threadpool_limits(1, user_api="blas"):
        return sample_chain(
            square_differences(x), y, seed=seed, n_steps=n_steps, n_samples=n_samples
        )


@pytest.mark.slow
def test_without_a_likelihood_the_chain_samples_the_prior(monkeypatch):
    """By hand: every logarithm has the prior's mean and variance. A biased move shows here."""
    monkeypatch.setattr("outperform.study.gaussian_process.log_likelihood", lambda *given: 0.0)
    chain = sample_chain(np.empty((3, Y.size**2)), Y, seed=1, n_steps=4000, n_samples=4000 * 20)
    centre, width = prior_of(3)
    z = (chain.log_thetas - centre) / width
    n_independent = z.shape[1] * chain.n_effective
    assert abs(z.mean()) < 4 / np.sqrt(n_independent)
    assert abs((z**2).mean() - 1) < 4 * np.sqrt(2 / n_independent)


def test_the_posterior_mean_matches_integration_on_a_grid():
    centre, width = prior_of(1)
    z = np.linspace(-3.5, 3.5, 15)
    grid = np.stack(np.meshgrid(z, z, z), axis=-1).reshape(-1, 3)
    pairs = pack_pairs(square_differences(X))
    log_density = np.array(
        [log_likelihood(centre + width * at, pairs, Y) - 0.5 * at @ at for at in grid]
    )
    weights = np.exp(log_density - log_density.max())
    expected = centre + width * (weights @ grid) / weights.sum()
    chain = sample(n_steps=400, n_samples=400 * 12)
    error = chain.log_thetas.std(axis=0) / np.sqrt(chain.n_effective)
    off = np.abs(chain.log_thetas.mean(axis=0) - expected) / error
    assert (off < 4).all()
    assert (np.abs(centre - expected) / error).max() > 4  # negative control: the prior's mean


def test_a_seed_gives_one_chain_bit_for_bit_and_touches_no_other_generator():
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    first = sample()
    np.random.seed(2)  # noqa: NPY002
    second = sample()
    np.random.seed(1)  # noqa: NPY002
    sample(seed=4)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002
    assert first.log_thetas.tobytes() == second.log_thetas.tobytes()
    assert first.autocorrelation_time == second.autocorrelation_time
    assert sample(seed=1).log_thetas.tobytes() != first.log_thetas.tobytes()


def test_a_chain_of_few_independent_samples_is_doubted():
    assert sample(n_steps=300).doubts == ()
    assert Chain(np.zeros((5, 3)), 41.7, 0.3, 57.5).doubts == (
        "the Markov chain is worth 58 independent samples (autocorrelation time 42 steps), fewer "
        "than 100: a longer one may predict otherwise",
    )


def test_the_autocorrelation_time_is_that_of_the_walkers():
    """By hand: steps that keep a share φ of the last one have a time of (1 + φ) / (1 - φ)."""
    rng = np.random.default_rng(0)
    walkers = np.zeros((4000, 12, 2))
    for step in range(1, 4000):
        keep = np.array([0.5, 0.8])
        walkers[step] = keep * walkers[step - 1] + rng.standard_normal((12, 2))
    chain = summarise(walkers, 0.3, 50)
    assert chain.autocorrelation_time == pytest.approx(9, rel=0.1)
    assert chain.n_effective == pytest.approx(4000 * 12 / 9, rel=0.1)
    assert chain.log_thetas.shape == (50, 2)


def test_walkers_that_never_move_are_one_sample_each():
    chain = summarise(np.ones((100, 12, 3)), 0.0, 50)
    assert (chain.autocorrelation_time, chain.n_effective) == (100, 12)


def test_a_chain_that_hardly_moves_is_doubted():
    chain = Chain(np.zeros((5, 3)), 10.0, 0.03, 400.0)
    assert chain.doubts == (
        "the Markov chain took 3% of the steps that it proposed, not 10% to 90%: it has hardly "
        "mixed",
    )


@pytest.mark.slow
def test_the_posterior_is_calibrated():
    """Simulation-based calibration (Talts et al., 2018): ranks of the truth are uniform."""
    rng = np.random.default_rng(12)
    centre, width = prior_of(1)
    ranks, shifted = [], []
    for study in range(120):
        x = rng.random((12, 1))
        log_theta = centre + width * rng.standard_normal(3)
        y = draw_scores(rng, x, log_theta)
        chain = sample(x, y, seed=study, n_steps=100, n_samples=39)
        ranks.append((chain.log_thetas < log_theta).sum(axis=0))
        shifted.append((chain.log_thetas + width < log_theta).sum(axis=0))
    for column in np.transpose(ranks):
        counts = np.bincount(column // 5, minlength=8)  # 40 ranks in 8 bins
        assert chisquare(counts).pvalue > 0.001
    for column in np.transpose(shifted):  # negative control: a chain one standard deviation off
        assert chisquare(np.bincount(column // 5, minlength=8)).pvalue < 0.001
