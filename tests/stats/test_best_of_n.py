"""Boo_n: the expected best of n."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform.errors import InvalidInput, InvalidScores, TooFewRuns
from outperform.stats import best_of_weights, expected_best_of, gaussian_best_of

scores = st.integers(0, 5).map(float)
runs = st.lists(st.tuples(scores, scores), min_size=2, max_size=6).map(np.transpose)
ESTIMATORS = ["v", "u", "gaussian"]


def choose_each(validation, test, draws):
    """Mean test score of the best on validation over all draws of runs, ties equally likely."""
    means = []
    for draw in draws:
        top = max(validation[i] for i in draw)
        means.append(np.mean([test[i] for i in draw if validation[i] == top]))
    return np.mean(means)


# By hand


def test_equation_7_by_hand():
    # Three runs, n = 2: weights (1, 3, 5)/9.
    assert expected_best_of(2, [3, 1, 2], [0.9, 0.3, 0.6]) == pytest.approx(
        (1 * 0.3 + 3 * 0.6 + 5 * 0.9) / 9
    )


def test_without_replacement_by_hand():
    # Of the three pairs of runs, the second is the best of one and the third of two.
    assert expected_best_of(2, [1, 2, 3], [0.3, 0.6, 0.9], estimator="u") == pytest.approx(0.8)


def test_one_candidate_is_the_mean_and_all_without_replacement_the_best():
    validation, test = [1, 2, 3], [0.2, 0.9, 0.4]
    for estimator in ESTIMATORS:
        assert expected_best_of(1, validation, test, estimator=estimator) == pytest.approx(0.5)
    assert expected_best_of(3, validation, test, estimator="u") == pytest.approx(0.4)


def test_ties_share_their_weight():
    assert best_of_weights(2, [1, 2, 2]).tolist() == pytest.approx([1 / 9, 4 / 9, 4 / 9])
    assert best_of_weights(2, [1, 2, 2], estimator="u").tolist() == pytest.approx([0, 0.5, 0.5])
    # The standard deviation of these is 1e-17, but for rounding.
    for estimator in ("v", "gaussian"):
        found = expected_best_of(5, [0.1, 0.1, 0.1], [1, 2, 6], estimator=estimator)
        assert found == pytest.approx(3)


def test_lower_validation_may_be_better_and_test_keeps_its_sign():
    assert expected_best_of(2, [0.1, 0.2], [0.5, 0.9], goal="minimize") == pytest.approx(0.6)
    # Two errors, the lower one chosen: weights 3/4 and 1/4.
    assert expected_best_of(2, [0.1, 0.2], goal="minimize") == pytest.approx(0.125)
    # μ - σ·Boo_2(N(0, 1)), with s = √2 and Boo_2 = 1/√π.
    lower = expected_best_of(2, [1, 3], estimator="gaussian", goal="minimize")
    assert lower == pytest.approx(2 - np.sqrt(2 / np.pi))


@pytest.mark.parametrize(("n", "value"), [(1, 0), (2, 1 / np.pi**0.5), (3, 1.5 / np.pi**0.5)])
def test_constants_by_hand(n, value):
    assert gaussian_best_of(n) == pytest.approx(value, rel=1e-14, abs=1e-15)


def test_one_normal_is_zero_to_the_last_bit():
    # On any processor: the sign of a rest of 3e-18 would depend on the order of its sums.
    assert str(gaussian_best_of(1)) == "0.0"


def test_many_n_at_once():
    found = expected_best_of([[1, 2], [3, 4]], [1, 2, 3, 4])
    assert found.shape == (2, 2)
    assert found[1, 0] == expected_best_of(3, [1, 2, 3, 4])
    assert isinstance(expected_best_of(np.int64(3), [1, 2]), float)


# Reference


def test_constants_of_the_paper():
    assert gaussian_best_of([5, 10]).round(3).tolist() == [1.163, 1.539]


def test_constants_match_r(reference):
    for case in reference("best_of_n")["constants"]:
        assert gaussian_best_of(int(case["n"])) == pytest.approx(case["value"], abs=1e-10)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_estimators_match_r(reference, estimator):
    for case in reference("best_of_n")["cases"]:
        arguments = int(case["n"]), case["validation"], case["test"]
        found = expected_best_of(*arguments, estimator=estimator)
        assert found == pytest.approx(case[estimator], rel=1e-9)


@pytest.mark.parametrize(
    ("name", "n_runs", "values"),
    # Bajgar et al. (2018) give 61.3%, 63.3% and 63.5% for random hyperparameters (their figure
    # 2b, drawn from a smoothed pool). The runs give 61.26%, 63.08% and 63.49%: the middle one
    # disagrees. Their other numbers: see test_numbers_of_bajgar.
    [
        ("asreader_cbtcn_randomhp", 197, {1: 0.6126, 5: 0.6308, 20: 0.6349}),
        ("asreader_cbtcn_fixed", 370, {1: 0.6316, 5: 0.6333, 20: 0.6335}),
        ("resnet_cifar100", 74, {1: 0.6845, 5: 0.6857, 20: 0.6848}),
    ],
)
def test_values_of_the_papers_runs(shared_data, name, n_runs, values):
    path = shared_data / "boon_runs" / f"derived_{name}.csv"
    table = np.genfromtxt(path, delimiter=",", names=True)
    assert len(table) == n_runs
    for n, value in values.items():
        found = expected_best_of(n, table["valid_acc"], table["test_acc"])
        assert found == pytest.approx(value, abs=5e-5)


# Properties


@given(runs, st.integers(1, 4))
def test_equation_7_is_the_mean_over_all_draws_with_replacement(sample, n):
    draws = product(range(sample.shape[1]), repeat=n)
    assert expected_best_of(n, *sample) == pytest.approx(choose_each(*sample, draws))


@given(runs, st.data())
def test_without_replacement_is_the_mean_over_all_subsets(sample, data):
    n = data.draw(st.integers(1, sample.shape[1]))
    draws = combinations(range(sample.shape[1]), n)
    found = expected_best_of(n, *sample, estimator="u")
    assert found == pytest.approx(choose_each(*sample, draws))


@given(runs, st.integers(1, 40), st.sampled_from(ESTIMATORS), st.randoms())
def test_neither_order_nor_scale_nor_sign_matter(sample, n, estimator, random):
    n = min(n, sample.shape[1])
    places = list(range(sample.shape[1]))
    random.shuffle(places)
    validation, test = sample
    expected = expected_best_of(n, validation, test, estimator=estimator)
    shuffled = expected_best_of(n, validation[places], test[places], estimator=estimator)
    assert shuffled == pytest.approx(expected, abs=1e-12)
    turned = expected_best_of(n, -validation, 3 - 2 * test, estimator=estimator, goal="minimize")
    assert turned == pytest.approx(3 - 2 * expected, abs=1e-12)


@given(runs, st.integers(1, 10**6), st.sampled_from(["v", "u"]))
def test_weights_are_chances_and_give_the_value(sample, n, estimator):
    validation, test = sample
    n = min(n, test.size) if estimator == "u" else n
    weights = best_of_weights(n, validation, estimator=estimator)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1)
    assert weights @ test == pytest.approx(expected_best_of(n, *sample, estimator=estimator))


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=30))
def test_more_candidates_are_never_worse_where_the_same_score_chooses(values):
    for estimator in ("v", "u"):
        curve = expected_best_of(range(1, len(values) + 1), values, estimator=estimator)
        assert (np.diff(curve) >= -1e-12).all()
        assert curve[-1] <= max(values) + 1e-12


@pytest.mark.parametrize("estimator", ["v", "u"])
def test_a_million_runs_and_candidates_neither_overflow_nor_lose_digits(estimator):
    # Ranks 1 … m as scores: E[max] of n without replacement is n(m + 1)/(n + 1) exactly, and with
    # replacement within 1 of it.
    m = 1_000_000
    ranks = np.arange(1, m + 1)
    for n in (1, 7, 1000, m):
        found = expected_best_of(n, ranks, estimator=estimator)
        exact = n * (m + 1) / (n + 1)
        assert found == pytest.approx(exact, rel=1e-9 if estimator == "u" else 1e-6)


# Calibration


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 10, 20])
def test_the_estimator_without_replacement_has_no_bias_and_the_other_has(n):
    rng = np.random.default_rng(31)
    truth = gaussian_best_of(n) / 2  # ρσ = 1/2
    samples = rng.normal(size=(4000, 20))
    tests = samples / 2 + rng.normal(size=samples.shape)
    found = {
        estimator: np.array(
            [
                expected_best_of(n, v, t, estimator=estimator)
                for v, t in zip(samples, tests, strict=True)
            ]
        )
        for estimator in ESTIMATORS
    }
    errors = {name: values.std() / np.sqrt(len(values)) for name, values in found.items()}
    assert abs(found["u"].mean() - truth) < 4 * errors["u"]
    # Negative control: eq. 7 is low, the more so the nearer n is to the number of runs.
    assert truth - found["v"].mean() > (4 if n > 2 else 1) * errors["v"]
    # s and the correlation are biased slightly, so is their product.
    assert found["gaussian"].mean() == pytest.approx(truth, rel=0.03)
    assert found["gaussian"].std() < found["u"].std()


# Refusals


def test_bad_scores_are_refused(refuses):
    refuses(lambda validation, test: expected_best_of(2, validation, test))


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (
            (4, [1, 2, 3]),
            {"estimator": "u"},
            InvalidInput,
            "n is 4, but there are 3 runs: estimator 'u' draws n of them without replacement. "
            "Pass an n up to 3, add runs, or use estimator 'v'.",
        ),
        ((0, [1, 2]), {}, InvalidInput, "n is 0. Pass a whole number not less than 1."),
        (([3, 0, 2], [1, 2]), {}, InvalidInput, "n is 0. Pass a whole number not less than 1."),
        ((2.5, [1, 2]), {}, InvalidInput, "n is 2.5. Pass a whole number not less than 1."),
        (([], [1, 2]), {}, InvalidInput, "there is no n. Pass at least one number of candidates."),
        ((2, [1]), {}, TooFewRuns, "validation has 1 score. At least 2 are needed."),
        (
            (2, [1, 2, 3], [1, 2]),
            {},
            InvalidScores,
            "there are 3 validation scores and 2 test scores. Pass one of each per run, in the "
            "same order.",
        ),
        (
            (2, [1, 2]),
            {"estimator": "w"},
            InvalidInput,
            "estimator is 'w'. Choose one of 'v', 'u', 'gaussian'.",
        ),
        (
            (2, [1, 2]),
            {"goal": "up"},
            InvalidInput,
            "goal is 'up'. Choose one of 'maximize', 'minimize'.",
        ),
        (
            (2, [1, float("nan")]),
            {},
            InvalidScores,
            "validation has 1 score that is NaN or infinite, at position 1 (first: nan). "
            "Find out why these runs failed; to leave them out, remove them, and their partners if "
            "paired.",
        ),
    ],
)
def test_refusals_say_what_to_do(arguments, options, error, message):
    with pytest.raises(error) as caught:
        expected_best_of(*arguments, **options)
    assert str(caught.value) == message


def test_weights_of_a_model_are_refused():
    with pytest.raises(InvalidInput) as caught:
        best_of_weights(2, [1, 2], estimator="gaussian")
    assert str(caught.value) == "estimator is 'gaussian'. Choose one of 'v', 'u'."
