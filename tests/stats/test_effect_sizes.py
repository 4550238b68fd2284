"""Cohen's d, its paired form, and the mean difference with its interval."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln
from scipy.stats import binomtest, spearmanr, ttest_ind, ttest_rel

from outperform.errors import InvalidInput, TooFewRuns, UnpairedScores
from outperform.stats import cohens_d, mean_difference, paired_d, rank_correlation

scores = st.floats(-100, 100).map(lambda x: round(x, 3))
pairs = st.lists(st.tuples(scores, scores), min_size=2, max_size=12)


# By hand


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([3, 5], [1, 3], math.sqrt(2)),  # 2 apart, variance 2 in both
        ([1, 3], [3, 5], -math.sqrt(2)),
        # Variances 1 with 2 and 8 with 1 degrees of freedom: pooled (2·1 + 1·8)/3.
        ([1, 2, 3], [-2, 2], 2 / math.sqrt(10 / 3)),
        ([1, 2, 3], [3, 2, 1], 0),
    ],
)
def test_cohens_d_by_hand(a, b, expected):
    assert cohens_d(a, b) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [([2, 4, 6], [1, 2, 3], 2), ([1, 2, 3], [2, 4, 6], -2), ([1, 0], [0, 1], 0)],
)
def test_paired_d_by_hand(a, b, expected):
    # Differences 1, 2, 3: mean 2, sd 1.
    assert paired_d(a, b) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_json_of_a_mean_difference_is_that_of_any_estimate():
    plain = mean_difference([3, 4, 5], [1, 1, 1]).to_dict()
    assert list(plain) == ["value", "interval"]


def test_mean_difference_by_hand():
    # With 2 degrees of freedom the quantile is (2q - 1)·√(2 / (4q(1 - q))): for 90%, .9·√(2/.19).
    quantile = 0.9 * math.sqrt(2 / 0.19)
    paired = mean_difference([2, 4, 6], [1, 2, 3], confidence_level=0.9)
    assert paired.value == pytest.approx(2)
    assert paired.interval.low == pytest.approx(2 - quantile / math.sqrt(3), rel=1e-9)
    assert paired.interval.high == pytest.approx(2 + quantile / math.sqrt(3), rel=1e-9)
    assert paired.interval.confidence_level == 0.9
    # Welch: se² = 2/2 + 2/2, df = 2.
    welch = mean_difference([3, 5], [1, 3], paired=False, confidence_level=0.9)
    assert welch.value == pytest.approx(2)
    assert welch.interval.low == pytest.approx(2 - quantile * math.sqrt(2), rel=1e-9)
    assert welch.interval.high == pytest.approx(2 + quantile * math.sqrt(2), rel=1e-9)


@pytest.mark.parametrize("paired", [True, False])
def test_mean_difference_without_spread_is_certain(paired):
    estimate = mean_difference([2, 2, 2], [1, 1, 1], paired=paired)
    assert (estimate.value, estimate.interval.low, estimate.interval.high) == (1, 1, 1)


@pytest.mark.parametrize("function", [cohens_d, paired_d])
@pytest.mark.parametrize("unit", [1, 0.1])  # the mean of three times .1 is not .1 in floats
def test_no_spread_is_no_effect_or_an_infinite_one(function, unit):
    one, two = [unit] * 3, [2 * unit] * 3
    assert function(one, one) == 0
    assert function(two, one) == math.inf
    assert function(one, two) == -math.inf


# Reference


@pytest.mark.parametrize("kind", ["paired", "welch"])
def test_mean_difference_matches_r(reference, kind):
    for case in reference("mean_tests")[kind]:
        estimate = mean_difference(case["a"], case["b"], paired=kind == "paired")
        expected = case["interval95"]
        assert estimate.value == pytest.approx(sum(expected) / 2, rel=1e-9, abs=1e-12)
        bounds = (estimate.interval.low, estimate.interval.high)
        assert bounds == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert estimate.interval.confidence_level == 0.95


@given(pairs)
def test_effect_sizes_are_rescaled_t_statistics(sample):
    a, b = np.transpose(sample)
    n = len(a)
    if np.ptp(a - b) > 1e-3:
        expected = ttest_rel(a, b).statistic / math.sqrt(n)
        assert paired_d(a, b) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    if np.ptp(a) > 1e-3 and np.ptp(b) > 1e-3:
        expected = ttest_ind(a, b).statistic * math.sqrt(2 / n)
        assert cohens_d(a, b) == pytest.approx(expected, rel=1e-6, abs=1e-9)


# Properties


def test_samples_of_one_value_do_not_differ_by_rounding():
    assert np.mean([0.1] * 3) != np.mean([0.1] * 7)
    assert cohens_d([0.1] * 3, [0.1] * 7) == 0
    assert mean_difference([0.1] * 3, [0.1] * 7, paired=False).value == 0


@pytest.mark.parametrize("unit", [1e-300, 1e-170, 1e148])
def test_units_however_small_or_large_change_no_effect(unit):
    a, b = np.array([1.0, 2, 4, 8]), np.array([0.0, 3, 1, 2])
    for function in (cohens_d, paired_d):
        assert function(unit * a, unit * b) == pytest.approx(function(a, b), rel=1e-9)
    for paired in (True, False):
        expected = mean_difference(a, b, paired=paired)
        found = mean_difference(unit * a, unit * b, paired=paired)
        assert found.interval.low / unit == pytest.approx(expected.interval.low, rel=1e-9)
        assert found.interval.high / unit == pytest.approx(expected.interval.high, rel=1e-9)
        assert found.df == pytest.approx(expected.df)


def test_confidence_next_to_one_gives_a_finite_interval():
    # t with 1 degree of freedom is Cauchy's: its quantile at tail u is cot(πu).
    level = 1 - 2**-53
    interval = mean_difference([1, 3], [0, 0], confidence_level=level).interval
    assert interval.high - 2 == pytest.approx(1 / math.tan(math.pi * 2**-54), rel=1e-9)


@pytest.mark.parametrize("function", [cohens_d, paired_d])
@given(sample=pairs, order=st.randoms(use_true_random=False))
def test_effect_sizes_swap_shuffle_and_ignore_units(function, sample, order):
    a, b = np.transpose(sample)
    effect = function(a, b)
    assert function(b, a) == pytest.approx(-effect, rel=1e-6, abs=1e-9)
    assert function(4 * a, 4 * b) == pytest.approx(effect, rel=1e-6, abs=1e-9)
    order.shuffle(sample)
    assert function(*np.transpose(sample)) == pytest.approx(effect, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("paired", [True, False])
@given(sample=pairs, level=st.floats(0.5, 0.99))
def test_mean_difference_is_inside_its_interval_and_mirrors(paired, sample, level):
    a, b = np.transpose(sample)
    estimate = mean_difference(a, b, paired=paired, confidence_level=level)
    interval = estimate.interval
    assert estimate.value == pytest.approx(a.mean() - b.mean(), abs=1e-9)
    assert interval.low - 1e-9 <= estimate.value <= interval.high + 1e-9
    assert interval.high - estimate.value == pytest.approx(estimate.value - interval.low, abs=1e-6)
    swapped = mean_difference(b, a, paired=paired, confidence_level=level).interval
    assert (-swapped.high, -swapped.low) == pytest.approx(
        (interval.low, interval.high), rel=1e-6, abs=1e-9
    )
    wider = mean_difference(a, b, paired=paired, confidence_level=(level + 1) / 2).interval
    assert wider.low <= interval.low + 1e-9
    assert wider.high >= interval.high - 1e-9


# Calibration


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "df", "scale"), [(cohens_d, 14, 1.0), (paired_d, 7, math.sqrt(2))]
)
def test_effect_sizes_are_as_biased_as_theory_says(function, df, scale):
    # Hedges (1981): E[d] = δ·√(ν/2)·Γ((ν - 1)/2)/Γ(ν/2).
    rng = np.random.default_rng(28)
    a, b = rng.normal(0.8, size=(20_000, 8)), rng.normal(size=(20_000, 8))
    effects = np.array([function(x, y) for x, y in zip(a, b, strict=True)])
    bias = math.sqrt(df / 2) * math.exp(gammaln((df - 1) / 2) - gammaln(df / 2))
    error = effects.mean() - 0.8 / scale * bias
    assert abs(error) < 3.3 * effects.std() / math.sqrt(len(effects))
    # Negative control: without the factor the same check fails.
    assert abs(effects.mean() - 0.8 / scale) > 3.3 * effects.std() / math.sqrt(len(effects))


@pytest.mark.slow
def test_mean_difference_covers_the_truth_as_often_as_it_claims():
    rng = np.random.default_rng(8128)
    shared = rng.normal(size=(4000, 10))
    a, b = shared + rng.normal(0.5, 0.3, size=(4000, 10)), shared + rng.normal(0, 0.1, (4000, 10))

    def covered(paired):
        return sum(
            0.5 in mean_difference(x, y, paired=paired, confidence_level=0.9).interval
            for x, y in zip(a, b, strict=True)
        )

    assert binomtest(covered(paired=True), 4000, 0.9).pvalue > 0.001
    # Negative control: ignoring the pairs is noticed, here as far too wide an interval.
    assert binomtest(covered(paired=False), 4000, 0.9).pvalue < 0.001


@pytest.mark.slow
def test_unpaired_mean_difference_covers_about_what_it_claims():
    rng = np.random.default_rng(496)
    a, b = rng.normal(0.5, 3, size=(4000, 8)), rng.normal(size=(4000, 24))
    covered = sum(
        0.5 in mean_difference(x, y, paired=False, confidence_level=0.9).interval
        for x, y in zip(a, b, strict=True)
    )
    # Welch's approximation: within a point here.
    assert binomtest(covered, 4000, 0.89, alternative="less").pvalue > 0.001
    assert binomtest(covered, 4000, 0.91, alternative="greater").pvalue > 0.001


# Refusals


@pytest.mark.parametrize("function", [cohens_d, paired_d, mean_difference])
def test_bad_scores_are_refused(function, refuses):
    refuses(function)


def test_bad_scores_are_refused_without_pairs(refuses):
    refuses(lambda a, b: mean_difference(a, b, paired=False))


@pytest.mark.parametrize("function", [paired_d, mean_difference])
def test_scores_that_cannot_be_paired_are_refused(function):
    with pytest.raises(UnpairedScores, match=r"\b29\b.*\b30\b"):
        function(np.arange(29), np.arange(30))


@pytest.mark.parametrize("function", [cohens_d, paired_d, mean_difference])
def test_one_run_has_no_spread(function):
    with pytest.raises(TooFewRuns):
        function([1], [2])


@pytest.mark.parametrize("level", [0, 1, 95, math.nan])
def test_impossible_confidence_is_refused(level):
    with pytest.raises(InvalidInput, match="confidence_level"):
        mean_difference([1, 2, 4], [3, 4, 7], confidence_level=level)


# Rank correlation


def test_rank_correlation_by_hand():
    # Ranks 1, 2, 3, 4 and 1, 3, 2, 4: 1 - 6·(0 + 1 + 1 + 0)/(4·15).
    assert rank_correlation([1, 2, 3, 4], [1, 3, 2, 9]) == pytest.approx(0.8)
    assert rank_correlation([1, 2, 3], [9, 4, 0]) == pytest.approx(-1)
    assert math.isnan(rank_correlation([1, 2, 3], [0.1, 0.1, 0.1]))


@given(pairs)
def test_rank_correlation_matches_scipy_and_ignores_scale(sample):
    a, b = (np.round(side) for side in np.transpose(sample))  # tied
    found = rank_correlation(a, b)
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        assert math.isnan(found)
        return
    assert found == pytest.approx(spearmanr(a, b).statistic)
    assert rank_correlation(b, np.exp(a / 100)) == pytest.approx(found)
    assert rank_correlation(-a, b) == pytest.approx(-found)


@pytest.mark.slow
def test_rank_correlation_of_independent_values_has_its_known_spread():
    # Of n untied independent pairs: mean 0, variance 1/(n - 1).
    rng = np.random.default_rng(10)
    found = [rank_correlation(*rng.normal(size=(2, 20))) for _ in range(4000)]
    assert np.mean(found) == pytest.approx(0, abs=0.015)
    assert np.var(found) == pytest.approx(1 / 19, rel=0.1)
    # Negative control: of dependent ones it has not.
    values = rng.normal(size=20)
    assert rank_correlation(values, values + rng.normal(size=20) / 10) > 0.8


def test_rank_correlation_refuses_bad_scores(refuses):
    refuses(rank_correlation)
