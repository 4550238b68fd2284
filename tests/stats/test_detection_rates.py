"""Exact detection rates of rules, for normal scores."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from outperform.errors import InvalidInput
from outperform.stats import (
    Criteria,
    NormalScores,
    decide,
    detection_rate,
    difference_of_probability,
    verdict_power,
)
from outperform.stats.decision_rules import EXACT_RULES

rules = st.sampled_from(EXACT_RULES)
sizes = st.integers(2, 60)
probabilities = st.integers(40, 100).map(lambda percent: percent / 100)
scores = st.builds(NormalScores, st.floats(0.2, 2), st.floats(0, 2))


def draw(rng, n_draws, n, probability, scores):
    """Scores of both as the model says, drawn here anew."""
    shift = min(norm.ppf(probability) * math.sqrt(2), 1e6)
    a, b = (
        scores.bias * rng.standard_normal((n_draws, 1))
        + scores.spread * rng.standard_normal((n_draws, n))
        for _ in range(2)
    )
    return a + shift, b


# By hand


def test_single_points_by_hand():
    # Two equal scores differ by N(0, 2): P(Z > 1.9952/√2) = P(Z > 1.41082) = .07914.
    # At P = .75, μ_A - μ_B = .67449·√2 = .95387: P(Z > (1.9952 - .95387)/√2 = .73634) = .23077.
    found = detection_rate("single-point", 50, [0.5, 0.75])
    assert found == pytest.approx([0.07914, 0.23077], abs=1e-5)


def test_average_by_hand():
    # At P = .9, μ_A - μ_B = 1.28155·√2 = 1.81239; the error with 50 runs is √(2/50) = .2:
    # P(Z > (1.9952 - 1.81239)/.2 = .91405) = .18035.
    assert detection_rate("average", 50, 0.9) == pytest.approx(0.18035, abs=1e-4)


def test_oracle_errs_alike_at_both_ends_by_hand():
    # Half of .95387 in units of .2: P(Z > 2.38468) = .00855.
    found = detection_rate("oracle", 50, [0.5, 0.75])
    assert found == pytest.approx([0.00855, 1 - 0.00855], abs=1e-5)


def test_bias_widens_the_error_by_hand():
    # √(2(1/50 + .5²)) = .73485: P(Z > 1.9952/.73485 = 2.71512) = .003313.
    biased = NormalScores(1.0, 0.5)
    assert detection_rate("average", 50, 0.5, scores=biased) == pytest.approx(0.003313, abs=1e-6)


def test_difference_by_hand():
    # Φ(1) = .841345
    found = difference_of_probability([0.5, norm.cdf(1), 1.0])
    assert found == pytest.approx([0, math.sqrt(2), math.inf])


# Reference


def test_t_tests_match_r(reference):
    for case in reference("detection"):
        options = {"criteria": Criteria(alpha=case["alpha"])}
        for rule, expected in (("paired-t", case["paired"]), ("welch-t", case["welch"])):
            found = detection_rate(rule, case["n"], case["probability"], **options)
            assert found == pytest.approx(expected, rel=1e-7), (rule, case)


@settings(max_examples=40)
@given(sizes, probabilities, st.sampled_from([0.6, 0.75, 0.9]), st.sampled_from([0.05, 0.01]))
def test_verdict_without_bias_is_its_power(n, probability, gamma, alpha):
    found = detection_rate("verdict", n, probability, criteria=Criteria(gamma, alpha))
    assert found == pytest.approx(verdict_power(n, probability, gamma=gamma, alpha=alpha))


def test_single_points_err_as_often_as_the_paper_says():
    # Bouthillier et al. (2021), figure 6: about 10% and 75%; METHODS: 8-10%.
    wrong, right = detection_rate("single-point", 50, [0.5, 0.75])
    assert 0.07 < wrong < 0.1
    assert 0.7 < 1 - right < 0.8


# Properties


@settings(max_examples=60)
@given(rules, sizes, scores)
def test_rates_grow_with_the_advantage_from_0_to_1(rule, n, spread):
    found = detection_rate(rule, n, np.linspace(0, 1, 21), scores=spread)
    assert (np.diff(found) >= -1e-12).all()
    assert (found >= 0).all()
    assert (found <= 1).all()


@settings(max_examples=60)
@given(rules, sizes, probabilities)
def test_no_bias_is_ideal(rule, n, probability):
    found = detection_rate(rule, n, probability, scores=NormalScores(1.0, 0.0))
    nearly = detection_rate(rule, n, probability, scores=NormalScores(1.0, 1e-7))
    assert found == pytest.approx(detection_rate(rule, n, probability), abs=0)
    assert found == pytest.approx(nearly, abs=1e-5)


@settings(max_examples=60)
@given(rules, sizes, probabilities, scores, st.floats(0.001, 1000))
def test_the_unit_of_scores_does_not_matter(rule, n, probability, spread, unit):
    ours = detection_rate(rule, n, probability, scores=spread)
    scaled = detection_rate(rule, n, probability, scores=spread, criteria=Criteria(sd=unit))
    assert ours == pytest.approx(scaled, rel=1e-6, abs=1e-12)


@settings(max_examples=40)
@given(st.sampled_from(["paired-t", "welch-t", "oracle", "verdict"]), sizes, st.floats(0, 1))
def test_between_equals_a_bias_favours_neither(rule, n, bias):
    # With a bias as large as it likes, A and B are still exchangeable.
    found = detection_rate(rule, n, 0.5, scores=NormalScores(1.0, bias))
    assert found <= 0.5 + 1e-9


def test_a_bias_makes_false_positives_that_more_runs_do_not_remove():
    biased = NormalScores(1.0, 0.5)
    rates = [detection_rate("paired-t", n, 0.5, scores=biased) for n in (10, 50, 250, 1000)]
    assert all(few < many for few, many in pairwise(rates))
    assert rates[-1] > 0.4


# Calibration


@pytest.mark.slow
@pytest.mark.parametrize("scores", [NormalScores(), NormalScores(0.8, 0.5)], ids=str)
@pytest.mark.parametrize("n", [3, 8, 30])
@pytest.mark.parametrize("probability", [0.5, 0.75, 0.9])
def test_simulated_decisions_are_as_frequent_as_computed(n, probability, scores):
    rng = np.random.default_rng(n)
    n_draws = 20_000
    a, b = draw(rng, n_draws, n, probability, scores)
    found = decide(a, b, EXACT_RULES, Criteria()).for_a
    for rule in EXACT_RULES:
        rate = float(detection_rate(rule, n, probability, scores=scores))
        assert binomtest(int(found[rule].sum()), n_draws, rate).pvalue > 1e-4, rule


# Negative controls


def test_simulated_decisions_betray_a_wrong_rate():
    rng = np.random.default_rng(0)
    a, b = draw(rng, 20_000, 20, 0.75, NormalScores(1.0, 0.5))
    for rule in EXACT_RULES:
        hits = int(decide(a, b, [rule], Criteria()).for_a[rule].sum())
        ideal = float(detection_rate(rule, 20, 0.75))
        assert binomtest(hits, 20_000, ideal).pvalue < 1e-4, rule


def test_papers_false_positives_with_a_bias_are_not_reproduced(shared_data):
    # The paper says about 5%; its public constants give three times as much on average.
    from outperform.runs.case_studies import read_case_studies

    cases = read_case_studies(shared_data / "variance_constants" / "stats.json")
    biases = [case.find_bias("all", 50)[0] / case.sd for case in cases]
    rates = [float(detection_rate("verdict", 50, 0.5, scores=NormalScores(1, b))) for b in biases]
    assert np.mean(rates) == pytest.approx(0.156, abs=0.001)
    assert min(rates) > 0.04


# Refusals


def test_what_has_to_be_simulated_is_refused():
    with pytest.raises(InvalidInput, match="rule is 'wilcoxon'"):
        detection_rate("wilcoxon", 50, 0.5)


@pytest.mark.parametrize("probability", [-0.1, 1.1, math.nan])
def test_impossible_probabilities_are_refused(probability):
    with pytest.raises(InvalidInput) as caught:
        detection_rate("average", 50, [0.5, probability])
    assert str(caught.value) == f"P(A>B) is {probability:g}. Pass values from 0 to 1."


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: NormalScores(0.0),
            "the standard deviation of scores is 0. Pass a positive number.",
        ),
        (
            lambda: NormalScores(math.nan),
            "the standard deviation of scores is nan. Pass a positive number.",
        ),
        (
            lambda: NormalScores(1.0, -0.5),
            "the standard deviation of the bias is -0.5. "
            "Pass 0, for no bias, or a positive number.",
        ),
    ],
)
def test_impossible_spreads_are_refused(make, message):
    with pytest.raises(InvalidInput) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.parametrize(("rule", "n"), [("paired-t", 1), ("welch-t", 1), ("average", 0)])
def test_too_few_pairs_are_refused(rule, n):
    with pytest.raises(InvalidInput, match="n_pairs"):
        detection_rate(rule, n, 0.5)
