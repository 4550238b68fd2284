"""Rules applied to many samples at once, and their exact rates for normal scores."""

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
    brunner_munzel,
    decide,
    detection_rate,
    difference_of_probability,
    outperforming_interval,
    permutation_critical_value,
    smallest_conclusive,
    verdict_power,
    wilcoxon_test,
)
from outperform.stats.decision_rules import (
    EXACT_RULES,
    RULES,
    critical_value,
    decide_by_signed_ranks,
)

seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def critical():
    return permutation_critical_value(12, rng=np.random.default_rng(0))


def draw(seed, n=12, n_samples=30, shift=0.8, decimals=1):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n_samples, n))
    return (a + shift).round(decimals), b.round(decimals)


# By hand


def test_thresholds_by_hand():
    a, b = np.array([[3.0, 1.0], [0.0, 6.0]]), np.zeros((2, 2))
    found = decide(a, b, ["single-point", "average"], Criteria(sd=1.0)).for_a
    assert found["single-point"].tolist() == [True, False]  # 3 and 0 against 1.9952
    assert found["average"].tolist() == [True, True]  # 2 and 3
    wider = decide(a, b, ["average"], Criteria(sd=1.5)).for_a["average"]
    assert wider.tolist() == [False, True]  # against 2.9928


def test_oracle_by_hand():
    # Half of Φ⁻¹(.75)·√2 = .9539 is .4769.
    a = np.array([[0.5, 0.45], [0.5, 0.46]])
    found = decide(a, np.zeros((2, 2)), ["oracle"], Criteria()).for_a["oracle"]
    assert found.tolist() == [False, True]


def test_wilcoxon_by_hand():
    # Six positive differences: p = 2/64. With the smallest one negative: p = 4/64 > .05.
    rows = np.array([[1.0, 2, 3, 4, 5, 6], [-1, 2, 3, 4, 5, 6], [-1, -2, -3, -4, -5, -6]])
    assert decide_by_signed_ranks(rows, 0.05).tolist() == [True, False, False]
    # Pairs without a difference are left out: five positive ones are not enough, six are.
    zeros = np.array([[0.0, 0, 1, 2, 3, 4, 5], [0, 6, 1, 2, 3, 4, 5]])
    assert decide_by_signed_ranks(zeros, 0.05).tolist() == [False, True]


def test_critical_value_by_hand():
    # p = (k + 1)/(9 + 1) with k of nine null values at least as large: p ≤ .2 takes k ≤ 1.
    null = np.arange(1.0, 10.0)
    assert 8 < critical_value(null, 0.2) < 8.001
    assert 9 < critical_value(null, 0.1) < 9.001
    assert critical_value(null, 0.05) == math.inf


# Reference


@settings(max_examples=25)
@given(seeds, st.floats(-1, 1.5), st.integers(0, 2), st.sampled_from([0.6, 0.75, 0.9]))
def test_verdict_is_that_of_compare(seed, shift, decimals, gamma):
    from outperform import compare

    a, b = draw(seed, shift=shift, decimals=decimals, n_samples=10)
    found = decide(a, b, ["verdict"], Criteria(gamma=gamma)).for_a["verdict"]
    for row in range(len(a)):
        result = compare(a[row], b[row], gamma=gamma)
        expected = result.winner == "a" and result.verdict == "significant and meaningful"
        assert found[row] == expected


@settings(max_examples=25)
@given(seeds, st.floats(-1, 1.5), st.integers(2, 60))
def test_wilcoxon_is_the_test_itself_without_ties(seed, shift, n):
    a, b = draw(seed, n=n, shift=shift, decimals=12, n_samples=10)
    found = decide(a, b, ["wilcoxon"], Criteria()).for_a["wilcoxon"]
    tests = [wilcoxon_test(x, y) for x, y in zip(a, b, strict=True)]
    ahead = [test.statistic > n * (n + 1) / 4 for test in tests]
    expected = [t.pvalue <= 0.05 and first for t, first in zip(tests, ahead, strict=True)]
    assert found.tolist() == expected


def test_permutation_is_the_test_itself_but_for_its_random_null(critical):
    a, b = draw(1, n_samples=200, decimals=12)
    found = decide(a, b, ["brunner-munzel-permutation"], Criteria(), critical=critical)
    test = brunner_munzel(
        a, b, method="permutation", n_resamples=99_999, rng=np.random.default_rng(9)
    )
    expected = (test.pvalue <= 0.05) & (test.statistic > 0)
    doubtful = np.abs(test.pvalue - 0.05) < 0.003
    assert (found.for_a["brunner-munzel-permutation"] == expected)[~doubtful].all()
    assert doubtful[found.borderline].all()


# Properties


@settings(max_examples=30)
@given(seeds)
def test_no_rule_declares_both_better(critical, seed):
    a, b = draw(seed, shift=0.0)
    there = decide(a, b, RULES, Criteria(), critical=critical).for_a
    back = decide(b, a, RULES, Criteria(), critical=critical).for_a
    for rule in RULES:
        assert not (there[rule] & back[rule]).any(), rule


@settings(max_examples=30)
@given(seeds, st.sampled_from([1.0, 8.0, 0.125]))
def test_the_unit_does_not_matter(critical, seed, unit):
    a, b = draw(seed)
    ours = decide(a, b, RULES, Criteria(), critical=critical).for_a
    other = decide(a * unit, b * unit, RULES, Criteria(sd=unit), critical=critical).for_a
    for rule in RULES:
        assert np.array_equal(ours[rule], other[rule]), rule


def test_the_same_seed_gives_the_same_critical_value():
    first, again, other = (
        permutation_critical_value(9, rng=np.random.default_rng(seed), n_resamples=999)
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert first.low <= first.value <= first.high


# Calibration


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 12])
def test_permutation_keeps_its_level(n):
    rng = np.random.default_rng(n)
    a, b = rng.exponential(size=(2, 40_000, n))
    critical = permutation_critical_value(n, rng=rng)
    found = decide(a, b, ["brunner-munzel-permutation"], Criteria(), critical=critical)
    hits = int(found.for_a["brunner-munzel-permutation"].sum())
    assert binomtest(hits, 40_000, 0.025, alternative="greater").pvalue > 0.001


@pytest.mark.slow
def test_wilcoxon_keeps_its_level_with_ties_and_zeros():
    rng = np.random.default_rng(2)
    differences = rng.integers(-3, 4, size=(40_000, 15)).astype(float)
    hits = int(decide_by_signed_ranks(differences, 0.05).sum())
    assert binomtest(hits, 40_000, 0.025, alternative="greater").pvalue > 0.001


# Negative controls


def test_the_t_approximation_does_not_keep_a_small_level():
    rng = np.random.default_rng(7)
    a, b = rng.normal(size=(2, 40_000, 6))
    strict = Criteria(alpha=0.001)
    critical = permutation_critical_value(6, 0.001, rng=rng)
    rules = ("brunner-munzel", "brunner-munzel-permutation")
    found = decide(a, b, rules, strict, critical=critical).for_a
    assert found["brunner-munzel"].mean() > 4 * 0.0005
    assert found["brunner-munzel-permutation"].mean() <= 0.001


def test_the_verdict_is_not_its_interval_alone():
    # Five wins of five: the percentile interval is [1, 1], but five pairs are no evidence.
    a, b = np.ones((1, 5)), np.zeros((1, 5))
    assert outperforming_interval(a[0], b[0], method="percentile").low > 0.5
    assert smallest_conclusive(0.05) == 6
    assert not decide(a, b, ["verdict"], Criteria()).for_a["verdict"].any()


# Refusals


def test_a_permutation_test_without_its_null_is_refused():
    with pytest.raises(InvalidInput) as caught:
        decide(np.ones((1, 5)), np.zeros((1, 5)), ["brunner-munzel-permutation"], Criteria())
    assert str(caught.value) == (
        "the rule 'brunner-munzel-permutation' has no critical value. "
        "Pass critical=permutation_critical_value(n, alpha, rng=rng)."
    )


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"gamma": 0.4}, "gamma"),
        ({"alpha": 0}, "alpha"),
        ({"sd": 0}, "standard deviation is 0"),
        ({"delta": math.nan}, "delta is nan"),
    ],
)
def test_impossible_criteria_are_refused(options, word):
    with pytest.raises(InvalidInput, match=word):
        Criteria(**options)


rules = st.sampled_from(EXACT_RULES)
sizes = st.integers(2, 60)
probabilities = st.integers(40, 100).map(lambda percent: percent / 100)
scores = st.builds(NormalScores, st.floats(0.2, 2), st.floats(0, 2))


def draw_normal(rng, n_draws, n, probability, scores):
    """Scores of both as the model says, drawn here anew."""
    shift = min(norm.ppf(probability) * math.sqrt(2), 1e6)
    a, b = (
        scores.bias * rng.standard_normal((n_draws, 1))
        + scores.spread * rng.standard_normal((n_draws, n))
        for _ in range(2)
    )
    return a + shift, b


# Exact rates: by hand


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


# Exact rates: reference


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


# Exact rates: properties


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


# Exact rates: calibration


@pytest.mark.slow
@pytest.mark.parametrize("scores", [NormalScores(), NormalScores(0.8, 0.5)], ids=str)
@pytest.mark.parametrize("n", [3, 8, 30])
@pytest.mark.parametrize("probability", [0.5, 0.75, 0.9])
def test_simulated_decisions_are_as_frequent_as_computed(n, probability, scores):
    rng = np.random.default_rng(n)
    n_draws = 20_000
    a, b = draw_normal(rng, n_draws, n, probability, scores)
    found = decide(a, b, EXACT_RULES, Criteria()).for_a
    for rule in EXACT_RULES:
        rate = float(detection_rate(rule, n, probability, scores=scores))
        assert binomtest(int(found[rule].sum()), n_draws, rate).pvalue > 1e-4, rule


# Exact rates: negative controls


def test_simulated_decisions_betray_a_wrong_rate():
    rng = np.random.default_rng(0)
    a, b = draw_normal(rng, 20_000, 20, 0.75, NormalScores(1.0, 0.5))
    for rule in EXACT_RULES:
        hits = int(decide(a, b, [rule], Criteria()).for_a[rule].sum())
        ideal = float(detection_rate(rule, 20, 0.75))
        assert binomtest(hits, 20_000, ideal).pvalue < 1e-4, rule


def test_published_false_positives_with_a_bias_are_not_reproduced(shared_data):
    # Bouthillier et al. (2021) say about 5%; their constants give three times as much on average.
    from outperform.runs.case_studies import read_case_studies

    cases = read_case_studies(shared_data / "variance_constants" / "stats.json")
    biases = [case.find_bias("all", 50)[0] / case.sd for case in cases]
    rates = [float(detection_rate("verdict", 50, 0.5, scores=NormalScores(1, b))) for b in biases]
    assert np.mean(rates) == pytest.approx(0.156, abs=0.001)
    assert min(rates) > 0.04


# Exact rates: refusals


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
