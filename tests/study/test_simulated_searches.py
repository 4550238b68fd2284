"""Searches on a function instead of fits."""

import re
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import ks_2samp

from outperform.errors import InvalidInput
from outperform.study.simulated_searches import simulate_searches
from outperform.study.spaces import LogUniform, Uniform
from outperform.study.surrogate import fit_surrogate
from outperform.study.tuners import TUNERS, Trial, best_trial, make_tuner

SPACE = {"lr": LogUniform(1e-4, 1), "dropout": Uniform(0, 1)}


@dataclass(frozen=True)
class Known:
    """A function in the place of fits: searches on it are real ones."""

    space = SPACE

    def predict(self, points):
        lr = np.log10([point["lr"] for point in points])
        dropout = np.array([point["dropout"] for point in points])
        return 0.9 - 0.1 * (lr + 1.5) ** 2 - 0.2 * (dropout - 0.3) ** 2


def search(predictor, tuner, seed, n_trials):
    """What a runner does: suggest, score, record, in turn."""
    history = []
    for _ in range(n_trials):
        params = tuner.suggest(predictor.space, history, seed, n_trials)
        history.append(Trial(params, float(predictor.predict([params])[0])))
    return history


@pytest.fixture(scope="module")
def surrogate():
    return fit_surrogate(SPACE, search(Known(), TUNERS["random"], 99, 50), seed=0)


@pytest.mark.parametrize("name", ["random", "wide-random", "noisy-grid", "gp-ei", "tpe", "cma-es"])
def test_a_simulated_search_is_the_real_one_with_predictions_for_scores(surrogate, name):
    if name in ("tpe", "cma-es"):
        pytest.importorskip("optuna")
    tuner = make_tuner(name)
    n_trials = 8 if tuner.uses_history else 30
    expected = [best_trial(search(surrogate, tuner, seed, n_trials)).params for seed in (1, 2)]
    assert simulate_searches(surrogate, tuner, [1, 2], n_trials) == expected
    assert simulate_searches(surrogate, tuner, [1], n_trials) == expected[:1]
    assert expected[0] != expected[1]


def test_simulated_searches_choose_as_real_ones_do(surrogate):
    random = TUNERS["random"]
    real = simulate_searches(Known(), random, range(1000, 1200), 30)
    simulated = simulate_searches(surrogate, random, range(2000, 2200), 30)
    for name in SPACE:
        ours, theirs = [[params[name] for params in chosen] for chosen in (simulated, real)]
        assert ks_2samp(ours, theirs).pvalue > 0.001
    true_scores = [Known().predict(chosen) for chosen in (simulated, real)]
    assert ks_2samp(*true_scores).pvalue > 0.001


def test_the_comparison_of_searches_sees_searches_of_another_length(surrogate):
    """Negative control of the test above."""
    real = simulate_searches(Known(), TUNERS["random"], range(1000, 1200), 30)
    shorter = simulate_searches(surrogate, TUNERS["random"], range(2000, 2200), 10)
    assert ks_2samp(Known().predict(shorter), Known().predict(real)).pvalue < 0.001


class Flat(Known):
    def predict(self, points):
        return np.zeros(len(points))


def test_of_equal_predictions_the_earliest_is_chosen():
    random = TUNERS["random"]
    assert simulate_searches(Flat(), random, [5], 20) == [random.suggest(SPACE, [], 5, 20)]


@pytest.mark.parametrize(
    ("tuner", "n_trials", "message"),
    [
        (
            "random",
            1,
            "a search of 1 trials is to be simulated, which chooses nothing. Simulate searches as "
            "long as the real ones, of at least 2 trials.",
        ),
        (
            "grid",
            9,
            "tuner 'grid' tries the same points whatever the seed, so that simulated searches all "
            "choose the same. Search with 'noisy-grid' or 'random', or hold the hyperparameters "
            "fixed.",
        ),
    ],
)
def test_searches_that_say_nothing_are_refused(tuner, n_trials, message):
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        simulate_searches(Known(), TUNERS[tuner], [0], n_trials)
