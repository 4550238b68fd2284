"""The surrogate of a search: what it recovers, what it refuses, what it doubts."""

import csv
import re

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from outperform.errors import InvalidInput, InvalidScores, TooFewRuns
from outperform.study.spaces import Choices, Integers, LogUniform, Uniform
from outperform.study.surrogate import fit_surrogate
from outperform.study.surrogate_fidelity import (
    Fidelity,
    Remoteness,
    average_left_out,
    list_doubts,
    measure_fidelity,
    measure_remoteness,
)
from outperform.study.tuners import Trial, suggest_random

SPACE = {"lr": LogUniform(1e-4, 1), "dropout": Uniform(0, 1)}


def bowl(params):
    off = (np.log10(params["lr"]) + 1.5) ** 2 + 3 * (params["dropout"] - 0.4) ** 2
    return 0.9 - 0.05 * float(off)


def draw_points(space, n, seed=0):
    return [suggest_random(space, [Trial({}, None)] * index, seed, n) for index in range(n)]


def draw_trials(function, n=40, *, noise=0.0, space=SPACE, seed=0):
    rng = np.random.default_rng(seed)
    points = draw_points(space, n, seed)
    return [Trial(point, function(point) + noise * rng.standard_normal()) for point in points]


# What it recovers


def test_a_known_function_is_recovered():
    surrogate = fit_surrogate(SPACE, draw_trials(bowl, noise=0.005), seed=0, best_share=None)
    points = draw_points(SPACE, 200, seed=1)
    truth = np.array([bowl(point) for point in points])
    assert np.std(surrogate.predict(points) - truth) < 0.1 * np.std(truth)
    assert surrogate.fidelity.r_squared > 0.95
    assert surrogate.doubts == ()


def test_predictions_are_the_mean_of_scikit_learns_over_the_chain():
    trials = draw_trials(bowl, noise=0.02)
    surrogate = fit_surrogate(SPACE, trials, seed=0, best_share=None)
    points = draw_points(SPACE, 7, seed=1)

    def place(params):
        return [params["dropout"], (np.log10(params["lr"]) + 4) / 4]  # in the order of names

    x, at = [[place(p) for p in each] for each in ([t.params for t in trials], points)]
    scores = np.array([trial.score for trial in trials])
    y = (scores - scores.mean()) / scores.std()
    means = []
    for amplitude, *scales, noise in np.exp(surrogate.chain.log_thetas):
        kernel = ConstantKernel(amplitude) * Matern(scales, nu=2.5) + WhiteKernel(noise)
        regressor = GaussianProcessRegressor(kernel, alpha=0, optimizer=None).fit(x, y)
        means.append(regressor.predict(at))
    expected = scores.mean() + scores.std() * np.mean(means, axis=0)
    assert surrogate.predict(points) == pytest.approx(expected, rel=1e-7)


def test_a_point_is_predicted_alike_alone_and_among_many(monkeypatch):
    surrogate = fit_surrogate(SPACE, draw_trials(bowl), seed=0)
    points = draw_points(SPACE, 25, seed=1)
    together = surrogate.predict(points)
    assert [surrogate.predict([p])[0] for p in points] == pytest.approx(together, rel=1e-12)
    monkeypatch.setattr("outperform.study.surrogate._BLOCK", 7 * surrogate.n_trials)
    assert surrogate.predict(points) == pytest.approx(together, rel=1e-12)


def test_choices_and_whole_numbers_are_recovered():
    space = {"depth": Integers(1, 6), "kind": Choices(["bad", "good", "ugly"])}

    def score(params):
        return 0.1 * params["depth"] - 0.5 * (params["kind"] != "good")

    surrogate = fit_surrogate(space, draw_trials(score, 50, space=space), seed=0, best_share=None)
    for depth in (1, 3, 6):
        for kind in ("bad", "good", "ugly"):
            point = {"depth": depth, "kind": kind}
            assert surrogate.predict([point])[0] == pytest.approx(score(point), abs=0.05)
    assert surrogate.chain.log_thetas.shape[1] == 2 + 2  # a choice has one length scale


def test_the_order_of_the_space_and_the_scale_of_scores_change_nothing():
    trials = draw_trials(bowl, 20)
    points = draw_points(SPACE, 5, seed=1)
    expected = fit_surrogate(SPACE, trials, seed=0).predict(points)
    turned = dict(reversed(SPACE.items()))
    assert (fit_surrogate(turned, trials, seed=0).predict(points) == expected).all()
    per_cent = [Trial(t.params, 128 * t.score) for t in trials]  # exact in binary
    assert fit_surrogate(SPACE, per_cent, seed=0).predict(points) == pytest.approx(128 * expected)


def test_a_seed_gives_one_surrogate_bit_for_bit():
    trials, points = draw_trials(bowl, 20, noise=0.02), draw_points(SPACE, 5, seed=1)
    first, again, other = [
        fit_surrogate(SPACE, trials, seed=seed).predict(points).tobytes() for seed in (0, 0, 1)
    ]
    assert first == again
    assert first != other


# Which trials, which hyperparameters


def test_failed_and_bad_trials_are_left_out_and_counted():
    trials = draw_trials(bowl, 40)
    failed = [Trial(t.params, None) if i % 4 == 0 else t for i, t in enumerate(trials)]
    surrogate = fit_surrogate(SPACE, failed, seed=0)
    # 30 have scores, of which 85% are 25.5.
    assert (surrogate.n_trials, surrogate.n_failed, surrogate.n_dropped) == (26, 10, 4)
    scores = sorted(t.score for t in failed if t.score is not None)
    best = [t for t in failed if t.score is not None and t.score >= scores[4]]
    expected = fit_surrogate(SPACE, best, seed=0, best_share=None)
    points = draw_points(SPACE, 5, seed=1)
    assert (surrogate.predict(points) == expected.predict(points)).all()


def test_what_does_not_vary_is_left_out_and_said():
    space = SPACE | {"momentum": Uniform(0, 1), "loss": Choices(["log"])}
    trials = [
        Trial(t.params | {"momentum": 0.9, "loss": "log"}, t.score) for t in draw_trials(bowl)
    ]
    surrogate = fit_surrogate(space, trials, seed=0)
    plain = fit_surrogate(SPACE, draw_trials(bowl), seed=0)
    points = draw_points(space, 5, seed=1)
    assert (surrogate.predict(points) == plain.predict(points)).all()
    assert surrogate.untried == ("momentum",)
    assert surrogate.doubts[-1] == (
        "the trials do not differ in 'momentum', of whose effect the surrogate knows nothing"
    )
    assert plain.untried == ()


CONDITIONAL = {
    "width": Integers(1, 9),
    "kind": Choices(["linear", "cnn"]),
    "bias": Choices([True, False]),  # which has nothing to do with it
}


def draw_conditional_trials(n=30):
    trials = []
    for point in draw_points(CONDITIONAL, n):
        if point["kind"] == "linear":
            trials.append(Trial({"kind": "linear", "bias": point["bias"]}, 0.5))
        else:
            trials.append(Trial(point, 0.3 + 0.05 * point["width"]))
    return trials


def test_a_hyperparameter_without_meaning_has_no_effect():
    surrogate = fit_surrogate(CONDITIONAL, draw_conditional_trials(), seed=0, best_share=None)
    assert surrogate.process.inputs.absences == {"width": ("kind", ("linear",))}
    plain = {"kind": "linear", "bias": True}
    linear = [plain, *(plain | {"width": width} for width in (1, 5, 9))]
    assert surrogate.predict(linear) == pytest.approx([0.5] * 4, abs=0.02)
    assert np.ptp(surrogate.predict(linear)) == 0
    cnn = surrogate.predict([{"kind": "cnn", "bias": True, "width": w} for w in (1, 9)])
    assert cnn == pytest.approx([0.35, 0.75], abs=0.05)


# What it refuses


def refuse(error, message, space, trials, **options):
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        fit_surrogate(space, trials, seed=0, **options)


def test_fewer_trials_than_dimensions_are_refused():
    trials = draw_trials(bowl, 5)
    failed = [*trials[:3], Trial(trials[3].params, None), Trial(trials[4].params, None)]
    refuse(
        TooFewRuns,
        "there are 3 trials to fit a surrogate to, 2 failed ones left out; 2 hyperparameters need "
        "at least 4. Search longer, or hold the hyperparameters fixed.",
        SPACE,
        failed,
    )


@pytest.mark.parametrize("n", [0, 1])
def test_searches_of_one_trial_or_none_are_refused(n):
    refuse(
        TooFewRuns,
        f"there are {n} trials to fit a surrogate to; 0 hyperparameters need at least 2. Search "
        "longer, or hold the hyperparameters fixed.",
        SPACE,
        draw_trials(bowl, n),
    )


def test_equal_scores_are_refused():
    refuse(
        InvalidScores,
        "all 34 trials to fit a surrogate to score 0.5. Hold the hyperparameters fixed: they make "
        "no difference here.",
        SPACE,
        draw_trials(lambda params: 0.5),
    )


@pytest.mark.parametrize("step", [1e-15, 5e-324])
def test_scores_that_differ_by_rounding_only_are_refused(step):
    trials = [Trial(p, (step == 1e-15) + i * step) for i, p in enumerate(draw_points(SPACE, 20))]
    with pytest.raises(InvalidScores, match=r"^all 20 trials to fit a surrogate to score"):
        fit_surrogate(SPACE, trials, seed=0, best_share=None)


def test_scores_without_a_finite_spread_are_refused():
    trials = [Trial(p, 1e300 * i) for i, p in enumerate(draw_points(SPACE, 20))]
    with pytest.raises(InvalidScores, match=r"^the search reaches 1.9e\+301, too large"):
        fit_surrogate(SPACE, trials, seed=0)


def test_equal_points_are_refused():
    refuse(
        InvalidInput,
        "all 5 trials tried the same hyperparameters. Search a space with several values.",
        SPACE,
        [Trial({"lr": 0.1, "dropout": 0.5}, 0.1 * index) for index in range(5)],
        best_share=None,
    )


def test_too_many_trials_are_refused():
    refuse(
        InvalidInput,
        "there are 1,001 trials to fit a surrogate to, more than 1,000. Pass the first 1,000 of a "
        "random search, or a smaller best_share.",
        SPACE,
        draw_trials(bowl, 1001),
        best_share=None,
    )


@pytest.mark.parametrize("share", [0, -1, 1.5, float("nan")])
def test_shares_that_are_none_are_refused(share):
    refuse(
        InvalidInput,
        f"best_share is {share}. Pass a share above 0 and at most 1, or None for all trials.",
        SPACE,
        draw_trials(bowl),
        best_share=share,
    )


def test_what_is_missing_without_a_reason_is_refused():
    trials = draw_trials(bowl, 10)
    trials[3] = Trial({"lr": trials[3].params["lr"]}, 0.5)
    refuse(
        InvalidInput,
        "'dropout' is missing in 1 of 10 trials, and no choice tells in which. Give it in every "
        "trial, or add the choice that it depends on to the space.",
        SPACE,
        trials,
        best_share=None,
    )
    surrogate = fit_surrogate(SPACE, draw_trials(bowl, 20), seed=0)
    with pytest.raises(InvalidInput, match=r"^a point has no 'dropout': {'lr': 0.1}\. Give"):
        surrogate.predict([{"lr": 0.1}])


def test_pure_noise_is_refused():
    trials = draw_trials(lambda params: 0.0, noise=1.0)
    with pytest.raises(InvalidScores) as refusal:
        fit_surrogate(SPACE, trials, seed=0)
    assert re.fullmatch(
        r"the surrogate explains nothing of the search: leave-one-out R² is -?0\.\d\d ± 0\.\d\d, "
        "not above 0 beyond noise",
        refusal.value.problem,
    )
    assert refusal.value.remedy == (
        "Search longer or in a wider space, or hold the hyperparameters fixed: what they are "
        "seems to matter less than the noise of a fit"
    )


@pytest.mark.slow
def test_noise_is_explained_as_rarely_as_the_refusal_says():
    """One-sided at 5%; without weights of the samples, a third of these searches would pass."""
    space = {name: Uniform(0, 1) for name in "abc"}
    n_explained = 0
    for seed in range(40):
        trials = draw_trials(lambda params: 0.0, 60, noise=1.0, space=space, seed=seed)
        try:
            fit_surrogate(space, trials, seed=seed, best_share=None, n_steps=60)
        except InvalidScores:
            continue
        n_explained += 1
    assert binomtest(n_explained, 40, 0.05, alternative="greater").pvalue > 0.001


# What it doubts


def test_a_discontinuous_function_is_doubted():
    space = {"x": Uniform(0, 1), "y": Uniform(0, 1)}

    def cliff(params):
        return 0.8 + 0.05 * params["y"] - 0.5 * (params["x"] > 0.62)

    def slope(params):
        return 0.8 + 0.05 * params["y"] - 0.5 * params["x"]

    trials = draw_trials(cliff, 50, noise=0.01, space=space)
    surrogate = fit_surrogate(space, trials, seed=0, best_share=None)
    assert "scores may jump somewhere, where the surrogate is smooth" in " ".join(surrogate.doubts)
    smooth = draw_trials(slope, 50, noise=0.01, space=space)  # negative control
    assert fit_surrogate(space, smooth, seed=0, best_share=None).doubts == ()


def test_noise_that_is_not_the_same_everywhere_is_doubted():
    rng = np.random.default_rng(4)
    trials = [
        Trial(p, bowl(p) + float(rng.normal(0, 0.002 if bowl(p) > 0.8 else 0.08)))
        for p in draw_points(SPACE, 60)
    ]
    surrogate = fit_surrogate(SPACE, trials, seed=0, best_share=None)
    assert surrogate.fidelity.trend < -0.3
    assert any(doubt.startswith("errors shrink with the predicted") for doubt in surrogate.doubts)


def test_regions_that_were_not_explored_are_doubted():
    points = [p for p in draw_points(SPACE, 400) if p["dropout"] < 0.05][:30]

    def climb(params):  # towards where no trial is, in waves that end the trust in far neighbours
        return params["dropout"] + 0.01 * np.sin(300 * params["dropout"])

    trials = [Trial(point, climb(point)) for point in points]
    surrogate = fit_surrogate(SPACE, trials, seed=0, best_share=None)
    assert surrogate.process.measure_remoteness(points).share_remote == 0
    far = surrogate.process.measure_remoteness([{"lr": 0.01, "dropout": 0.9}])
    assert far.share_remote == 1


def test_few_trials_are_doubted():
    surrogate = fit_surrogate(SPACE, draw_trials(bowl, 12), seed=0, best_share=None)
    assert surrogate.doubts[-1] == (
        "the surrogate is fitted to 12 trials, fewer than 20: what it explains is hardly known"
    )


def test_fidelity_by_hand():
    # Leave-one-out means of 1, 2, 3 and 6 are 11/3, 10/3, 3 and 2: off by 8/3, 4/3, 0 and 4.
    fidelity = measure_fidelity(
        np.array([1.0, 2, 3, 6]), np.array([2.0, 2, 3, 5]), np.array([1.0, 1, 1, 1])
    )
    variance = (64 / 9 + 16 / 9 + 16) / 4
    assert fidelity.spread == pytest.approx(np.sqrt(variance))
    assert fidelity.error == pytest.approx(np.sqrt(0.5))
    assert fidelity.r_squared == pytest.approx(1 - 0.5 / variance)


def test_samples_that_have_seen_what_is_left_out_count_less():
    # Of two samples, one predicts the observation 0 exactly, the other is off by one standard
    # deviation: densities 1 to exp(-1/2), weights 1 to exp(1/2).
    mean, sd = average_left_out(np.zeros(1), np.array([[0.0], [1.0]]), np.ones((2, 1)))
    share = np.exp(0.5) / (1 + np.exp(0.5))
    assert mean == pytest.approx([share])
    assert sd**2 == pytest.approx([1 + share * (1 - share)])


def test_remoteness_by_hand():
    trials = np.array([[0.0, 0.0], [1.0, 0.0]])
    optima = np.array([[0.0, 0.3], [0.9, 0.0], [0.5, 0.0]])
    # 0.3 / 0.1 = 3 along the second input; 0.1 / 0.5 = 0.2 and 0.5 / 0.5 = 1 along the first.
    remoteness = measure_remoteness(optima, trials, [0.5, 0.1])
    assert remoteness.distance == pytest.approx(1)
    assert remoteness.share_remote == pytest.approx(1 / 3)


def test_doubts_are_sentences():
    fidelity = Fidelity(0.3, 0.1, 0.042, 0.05, 0.001, 0.4, 0.002)
    assert list_doubts(fidelity, Remoteness(1.5, 0.6)) == (
        "the surrogate explains 30% of the spread of the trials (leave-one-out error 0.042, spread "
        "0.05): scores may not be smooth in the hyperparameters, or noise is large",
        "a few trials are far from what all others predict (p = 0.001): scores may jump somewhere, "
        "where the surrogate is smooth",
        "60% of the simulated optima lie more than a length scale from every trial: the search has "
        "not explored where they are",
        "errors grow with the predicted score (rank correlation 0.40, p = 0.002): the noise is not "
        "the same everywhere, as the surrogate takes it to be",
    )
    exact = Fidelity(0.999, 0.001, 0.001, 0.05, 0.001, 0.4, 0.002)
    assert list_doubts(exact, Remoteness(0.1, 0.0)) == ()


# A real search


def test_a_real_search_of_four_encoders(shared_data):
    """Random search on SST-5; filters or hidden units make sense for two encoders of four."""
    with (shared_data / "hpo_histories" / "sst5.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["train_size"] == "8543"][::5]
    space = {
        "lr": LogUniform(1e-6, 0.1),
        "dropout": Uniform(0, 0.4),
        "size": Integers(64, 512),
        "encoder": Choices(["boe", "cnn", "linear", "lstm"]),
    }
    trials = []
    for row in rows:
        params = {"lr": float(row["lr"]), "dropout": float(row["dropout"])}
        params["encoder"] = row["encoder"]
        if row["hidden_or_filters"]:
            params["size"] = int(float(row["hidden_or_filters"]))
        trials.append(Trial(params, float(row["best_validation_accuracy"])))
    surrogate = fit_surrogate(space, trials, seed=0)
    assert surrogate.process.inputs.absences == {"size": ("encoder", ("boe", "linear"))}
    assert (surrogate.n_trials, surrogate.n_dropped) == (68, 12)
    assert surrogate.fidelity.r_squared > 0.8
    assert surrogate.chain.n_effective > 100
