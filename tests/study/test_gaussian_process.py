"""The Gaussian process against scikit-learn's, and the search against random search."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.stats import binomtest, norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from outperform.study import adaptive_tuners
from outperform.study.adaptive_tuners import (
    N_STARTUP_GP,
    log_expected_improvement,
    suggest_gp_ei,
)
from outperform.study.gaussian_process import (
    condition,
    log_likelihood,
    log_marginal_likelihood,
    maximise_likelihood,
    pack_pairs,
    square_differences,
)
from outperform.study.spaces import Choices, Integers, LogUniform, Uniform
from outperform.study.tuners import Trial, best_trial, suggest_random

RNG = np.random.default_rng(11)
X = RNG.random((30, 3))
PAIRS = square_differences(X)
Y = np.sin(5 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.standard_normal(30)
POINTS = RNG.random((20, 3))
THETAS = [
    np.log([1.0, 0.3, 0.7, 2.0, 0.01]),
    np.log([3.0, 1.0, 0.1, 0.5, 0.3]),
    np.log([0.2, 5.0, 5.0, 0.2, 1e-4]),
]


def oracle(log_theta, rows=slice(None)):
    amplitude, *scales, noise = np.exp(log_theta)
    kernel = ConstantKernel(amplitude) * Matern(scales, nu=2.5) + WhiteKernel(noise)
    return GaussianProcessRegressor(kernel, alpha=0, optimizer=None).fit(X[rows], Y[rows])


# Reference


@pytest.mark.parametrize("log_theta", THETAS)
def test_likelihood_and_gradient_match_scikit_learn(log_theta):
    regressor = oracle(log_theta)
    expected, gradient = regressor.log_marginal_likelihood(log_theta, eval_gradient=True)
    value, ours = log_marginal_likelihood(log_theta, PAIRS, Y)
    assert value == pytest.approx(expected, rel=1e-9)
    assert ours == pytest.approx(gradient, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("log_theta", THETAS)
def test_the_likelihood_without_gradient_matches_scikit_learn(log_theta):
    pairs, y = PAIRS.copy(), Y.copy()
    expected = oracle(log_theta).log_marginal_likelihood(log_theta)
    assert log_likelihood(log_theta, pack_pairs(pairs), y) == pytest.approx(expected, rel=1e-9)
    assert (pairs == PAIRS).all()  # nothing of the caller's is overwritten
    assert (y == Y).all()


@pytest.mark.parametrize("log_theta", THETAS)
def test_leaving_one_out_is_what_fitting_to_the_others_predicts(log_theta):
    mean, sd = condition(log_theta, X, Y).leave_one_out(Y)
    for left_out in (0, 7, 29):
        rest = np.arange(30) != left_out
        others = oracle(log_theta, rest).predict(X[[left_out]], return_std=True)
        assert mean[left_out] == pytest.approx(others[0][0], rel=1e-6, abs=1e-8)
        assert sd[left_out] == pytest.approx(others[1][0], rel=1e-6)


@pytest.mark.parametrize("log_theta", THETAS)
def test_predictions_match_scikit_learn(log_theta):
    expected_mean, expected_sd = oracle(log_theta).predict(POINTS, return_std=True)
    mean, sd = condition(log_theta, X, Y).predict(POINTS)
    assert mean == pytest.approx(expected_mean, rel=1e-7, abs=1e-9)
    # scikit-learn's standard deviation is that of an observation.
    noise = np.exp(log_theta[-1])
    assert sd**2 + noise == pytest.approx(expected_sd**2, rel=1e-6)


def test_the_gradient_is_the_likelihoods_slope():
    error = check_grad(
        lambda theta: log_marginal_likelihood(theta, PAIRS, Y)[0],
        lambda theta: log_marginal_likelihood(theta, PAIRS, Y)[1],
        THETAS[0],
    )
    assert error < 1e-4


def test_the_fit_is_as_likely_as_scikit_learns_best():
    y = (Y - Y.mean()) / Y.std()
    log_theta = maximise_likelihood(X, y, np.random.default_rng(0))
    kernel = ConstantKernel(1.0, (0.05, 20)) * Matern([0.5] * 3, (0.05, 20), nu=2.5)
    regressor = GaussianProcessRegressor(
        kernel + WhiteKernel(0.01, (1e-6, 1)), alpha=0, n_restarts_optimizer=5, random_state=0
    )
    with pytest.warns(match="close to the specified upper bound"):  # the third column is no use
        regressor.fit(X, y)
    value, _ = log_marginal_likelihood(log_theta, PAIRS, y)
    assert value >= regressor.log_marginal_likelihood_value_ - 0.01
    assert log_theta[3] > 2 * log_theta[1]


# Expected improvement


@pytest.mark.parametrize("z", [-3.0, -1.0, -1e-9, 0.0, 0.5, 4.0])
def test_expected_improvement_by_hand(z):
    mean, sd, best = 2 + 0.7 * z, 0.7, 2.0
    expected = sd * (z * norm.cdf(z) + norm.pdf(z))
    improvement = log_expected_improvement(np.array([mean]), np.array([sd]), best)
    assert np.exp(improvement) == pytest.approx(expected)


def test_expected_improvement_matches_simulation():
    draws = np.random.default_rng(0).normal(1.0, 2.0, size=200_000)
    improvement = np.exp(log_expected_improvement(np.array([1.0]), np.array([2.0]), 1.5))[0]
    assert improvement == pytest.approx(np.maximum(draws - 1.5, 0).mean(), rel=0.02)


def test_expected_improvement_still_compares_where_it_underflows():
    z = -np.array([10.0, 30, 100, 900, 1100, 1e5])
    improvements = log_expected_improvement(z, np.ones(6), 0.0)
    assert np.isfinite(improvements).all()
    assert (np.diff(improvements) < 0).all()
    # φ(z)/z² as z falls.
    assert improvements - norm.logpdf(z) == pytest.approx(-2 * np.log(-z), abs=0.05)
    farther = log_expected_improvement(-np.array([1e5, 1e7, 1e9, 1e12]), np.ones(4), 0.0)
    assert (np.diff(farther) < 0).all()


# Search

SPACE = {"x": Uniform(-5, 10), "y": Uniform(0, 15)}


def branin(params):
    x, y = params["x"], params["y"]
    bowl = (y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6) ** 2
    return -float(bowl + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10)


def search(suggest, objective, seed, n_trials, space=None):
    history: list[Trial] = []
    for _ in range(n_trials):
        params = suggest(space or SPACE, history, seed, n_trials)
        history.append(Trial(params, objective(params)))
    return history


def count_wins(objective, n_seeds, n_trials):
    """How often Bayesian optimisation finds a truly better point than random search."""
    wins = 0
    for seed in range(n_seeds):
        processes = [
            branin(best_trial(search(suggest, objective, seed, n_trials)).params)
            for suggest in (suggest_gp_ei, suggest_random)
        ]
        wins += processes[0] > processes[1]
    return wins


def test_gp_ei_nears_the_optimum_of_a_smooth_function_and_random_search_does_not():
    def found(suggest):
        return [best_trial(search(suggest, branin, seed, 25)).score for seed in range(5)]

    # The optimum is -0.398. Of 24 searches by gp-ei, the worst gave -0.53; the median of random
    # search is -2.07.
    assert min(found(suggest_gp_ei)) > -0.6
    assert max(found(suggest_random)) < -0.6  # negative control


@pytest.mark.slow
def test_gp_ei_beats_random_search_over_many_seeds():
    # It wins all 24; 15 of them would not pass.
    assert binomtest(count_wins(branin, 24, 25), 24, 0.9, alternative="less").pvalue > 0.001


@pytest.mark.slow
def test_gp_ei_wins_nothing_where_scores_mean_nothing():
    """Negative control: scores without relation to the point."""
    noise = np.random.default_rng(5)
    wins = count_wins(lambda params: float(noise.standard_normal()), 40, 15)
    assert binomtest(wins, 40, 0.5).pvalue > 0.001


def test_the_first_trials_are_those_of_random_search():
    ours = search(suggest_gp_ei, branin, 3, N_STARTUP_GP + 1)
    random = search(suggest_random, branin, 3, N_STARTUP_GP + 1)
    assert ours[:N_STARTUP_GP] == random[:N_STARTUP_GP]
    assert ours[N_STARTUP_GP] != random[N_STARTUP_GP]


def test_a_search_fits_few_processes_and_what_it_remembers_moves_no_point(monkeypatch):
    sizes = []

    def count(x, y, rng):
        sizes.append(len(x))
        return maximise_likelihood(x, y, rng)

    monkeypatch.setattr(adaptive_tuners, "maximise_likelihood", count)
    history = search(suggest_gp_ei, branin, 97, 30)
    # At every trial up to 20, then at 22, 24, 26 and 28; trial 30 was suggested with 29 before it.
    assert sizes == [*range(N_STARTUP_GP, 21), 22, 24, 26, 28]
    adaptive_tuners._recall_likeliest.cache_clear()
    for n in (12, 21, 29):
        assert suggest_gp_ei(SPACE, history[:n], 97, 30) == history[n].params
    assert sizes[-3:] == [12, 20, 28]


def test_rounding_errors_do_not_move_the_point():
    history = search(suggest_random, branin, 0, 12)
    rng = np.random.default_rng(0)
    jolted = [Trial(t.params, t.score * (1 + 1e-13 * rng.standard_normal())) for t in history]
    assert suggest_gp_ei(SPACE, history, 0, 20) == suggest_gp_ei(SPACE, jolted, 0, 20)


def test_a_disaster_does_not_blind_the_search():
    def objective(params):
        return -1e12 if params["x"] > 8 else branin(params)

    scores = [best_trial(search(suggest_gp_ei, objective, seed, 25)).score for seed in range(4)]
    assert np.median(scores) > -1.5  # the optimum is -0.398; random search reaches about -3


def test_equal_scores_are_no_obstacle():
    history = search(suggest_random, lambda params: 1.0, 0, 8)
    assert suggest_gp_ei(SPACE, history, 0, 20).keys() == SPACE.keys()


def test_points_are_not_repeated_while_others_are_left():
    space = {"kind": Choices(["a", "b", "c"]), "n": Integers(1, 4)}

    def score(params):
        return float(params["n"] == 2) + float(params["kind"] == "c")

    history = search(suggest_random, score, 1, N_STARTUP_GP, space)
    tried = {tuple(sorted(trial.params.items())) for trial in history}
    while len(tried) < 12:
        params = suggest_gp_ei(space, history, 1, 30)
        assert tuple(sorted(params.items())) not in tried
        history.append(Trial(params, score(params)))
        tried.add(tuple(sorted(params.items())))
    assert suggest_gp_ei(space, history, 1, 30).keys() == space.keys()


def test_it_finds_the_best_of_mixed_spaces():
    space = {
        "lr": LogUniform(1e-5, 1),
        "depth": Integers(1, 10),
        "kind": Choices(["bad", "good", "ugly"]),
    }

    def score(params):
        off = (np.log10(params["lr"]) + 2) ** 2 + 0.2 * (params["depth"] - 7) ** 2
        return -float(off) - 3 * (params["kind"] != "good")

    trials = [best_trial(search(suggest_gp_ei, score, seed, 30, space)) for seed in range(3)]
    assert [trial.params["kind"] for trial in trials] == ["good"] * 3
    assert min(trial.score for trial in trials) > -0.5


def test_hyperparameters_that_cannot_be_have_no_likelihood():
    """Whoever samples hyperparameters may try such: the same point twice, and no noise."""
    x = np.zeros((3, 1))
    log_theta, pairs, y = np.log([1.0, 1.0, 1e-300]), square_differences(x), np.arange(3.0)
    value, gradient = log_marginal_likelihood(log_theta, pairs, y)
    assert value == -np.inf
    assert (gradient == 0).all()
    assert log_likelihood(log_theta, pack_pairs(pairs), y) == -np.inf
