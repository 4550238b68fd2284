"""Tests and P(A > B) from a published mean, standard deviation and n."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2, norm, ttest_ind_from_stats

from outperform.errors import InvalidInput, OutperformError
from outperform.stats import Summary, probability_from_summary, welch_from_summary, welch_t_test

ALTERNATIVES = ["two-sided", "greater", "less"]
summaries = st.builds(Summary, mean=st.floats(-3, 3), sd=st.floats(0.5, 2), n=st.integers(2, 50))


# By hand


@pytest.mark.parametrize(
    ("alternative", "pvalue"),
    [
        # Variance 2 and n = 2 in both, means 2 apart: t = √2, 2 degrees of freedom, where
        # P(T > t) = ½ - t/(2√(2 + t²)).
        ("greater", 1 / 2 - 1 / math.sqrt(8)),
        ("less", 1 / 2 + 1 / math.sqrt(8)),
        ("two-sided", 1 - 1 / math.sqrt(2)),
    ],
)
def test_welch_by_hand(alternative, pvalue):
    a, b = Summary(4, math.sqrt(2), 2), Summary(2, math.sqrt(2), 2)
    test = welch_from_summary(a, b, alternative=alternative)
    assert test.statistic == pytest.approx(math.sqrt(2), rel=1e-12)
    assert test.pvalue == pytest.approx(pvalue, rel=1e-12)
    assert test.alternative == alternative


@pytest.mark.parametrize(
    ("difference", "sd_a", "sd_b", "probability"),
    [(0, 1, 2, 0.5), (5, 3, 4, 0.841344746068543), (-5, 3, 4, 0.158655253931457)],
)
def test_probability_by_hand(difference, sd_a, sd_b, probability):
    # 5/√(3² + 4²) = 1
    estimate = probability_from_summary(Summary(difference, sd_a, 9), Summary(0, sd_b, 9))
    assert estimate.value == pytest.approx(probability, rel=1e-12)


def test_interval_between_equals_by_hand():
    # At noncentrality 0 and no difference, P(T <= 0) = ½, and P(T' <= 0) = Φ(-ncp) at any df:
    # the bounds are ncp = ±z, divided by √M = √(2s²/(2s²/n)) = √n.
    interval = probability_from_summary(Summary(1, 2, 16), Summary(1, 2, 16)).interval
    assert interval.high == pytest.approx(norm.cdf(1.959963984540054 / 4), rel=1e-9)
    assert interval.low == pytest.approx(norm.cdf(-1.959963984540054 / 4), rel=1e-9)
    assert interval.confidence_level == 0.95


# Reference


def test_summaries_match_r(reference):
    for case in reference("summaries"):
        (mean_a, sd_a, n_a), (mean_b, sd_b, n_b) = case["a"], case["b"]
        a, b = Summary(mean_a, sd_a, n_a), Summary(mean_b, sd_b, n_b)
        for alternative in ALTERNATIVES:
            test = welch_from_summary(a, b, alternative=alternative)
            assert test.statistic == pytest.approx(case["statistic"], rel=1e-9)
            assert test.pvalue == pytest.approx(case[alternative.replace("-", "_")], rel=1e-9)
        estimate = probability_from_summary(a, b, confidence_level=case["confidence_level"])
        assert estimate.value == pytest.approx(case["probability"], rel=1e-9)
        bounds = (estimate.interval.low, estimate.interval.high)
        assert bounds == pytest.approx((case["low"], case["high"]), rel=1e-6)


@given(summaries, summaries, st.sampled_from(ALTERNATIVES))
def test_welch_matches_scipy(a, b, alternative):
    expected = ttest_ind_from_stats(
        a.mean, a.sd, a.n, b.mean, b.sd, b.n, equal_var=False, alternative=alternative
    )
    test = welch_from_summary(a, b, alternative=alternative)
    assert test.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-12)
    assert test.pvalue == pytest.approx(expected.pvalue, rel=1e-7)


# Properties


@given(st.lists(st.floats(-9, 9), min_size=2, max_size=8), st.sampled_from(ALTERNATIVES))
def test_summary_says_what_the_scores_say(scores, alternative):
    a, b = np.round(scores, 3), np.array([1.0, -2.0, 4.0])
    of_a, of_b = (Summary(x.mean(), x.std(ddof=1), len(x)) for x in (a, b))
    from_summary = welch_from_summary(of_a, of_b, alternative=alternative)
    from_scores = welch_t_test(a, b, alternative=alternative)
    assert from_summary.statistic == pytest.approx(from_scores.statistic, rel=1e-9, abs=1e-12)
    assert from_summary.pvalue == pytest.approx(from_scores.pvalue, rel=1e-9)


@given(summaries, summaries, st.sampled_from([0.5, 0.9, 0.95]))
def test_probability_mirrors_and_is_inside_its_interval(a, b, level):
    estimate = probability_from_summary(a, b, confidence_level=level)
    swapped = probability_from_summary(b, a, confidence_level=level)
    assert swapped.value == pytest.approx(1 - estimate.value, abs=1e-12)
    mirrored = swapped.interval.mirrored()
    interval = estimate.interval
    assert (mirrored.low, mirrored.high) == pytest.approx((interval.low, interval.high), abs=1e-6)
    assert 0 <= interval.low <= estimate.value <= interval.high <= 1
    wider = probability_from_summary(a, b, confidence_level=0.99).interval
    assert wider.low <= interval.low + 1e-9
    assert interval.high <= wider.high + 1e-9


@given(summaries, summaries)
def test_bounds_are_the_noncentralities_at_which_the_result_is_extreme(a, b):
    variances = np.array([a.sd**2, b.sd**2])
    sizes = np.array([a.n, b.n])
    root_m = math.sqrt(variances.sum() / (variances / sizes).sum())
    df = variances.sum() ** 2 / (variances**2 / (sizes - 1)).sum()
    seen = (a.mean - b.mean) / math.sqrt(variances.sum()) * root_m
    interval = probability_from_summary(a, b, confidence_level=0.9).interval
    # P(T' <= t) = E Φ(t√(V/ν) - ncp) over V ~ χ²(ν), at 10,000 quantiles of V: scipy's nct is NaN
    # at some noncentralities and cannot serve.
    scale = np.sqrt(chi2.ppf((np.arange(10_000) + 0.5) / 10_000, df) / df)
    for bound, tail in [(interval.low, 0.95), (interval.high, 0.05)]:
        if 1e-9 < bound < 1 - 1e-9:  # beyond, ppf loses digits
            ncp = norm.ppf(bound) * root_m
            assert norm.cdf(seen * scale - ncp).mean() == pytest.approx(tail, abs=1e-4)


@pytest.mark.parametrize("unit", [1e-200, 1e-90, 1e148])
def test_units_however_small_or_large_change_nothing(unit):
    def scale(summary):
        return Summary(unit * summary.mean, unit * summary.sd, summary.n)

    a, b = Summary(0.8, 0.1, 10), Summary(0.7, 0.2, 5)
    welch, scaled = welch_from_summary(a, b), welch_from_summary(scale(a), scale(b))
    assert scaled.pvalue == pytest.approx(welch.pvalue, rel=1e-9)
    chance, scaled = probability_from_summary(a, b), probability_from_summary(scale(a), scale(b))
    assert scaled.interval.low == pytest.approx(chance.interval.low, rel=1e-9)
    assert scaled.interval.high == pytest.approx(chance.interval.high, rel=1e-9)


def test_huge_effects_stay_probabilities():
    estimate = probability_from_summary(Summary(90, 0.1, 5), Summary(10, 0.1, 5))
    assert estimate.value == 1
    assert 0.99 < estimate.interval.low <= estimate.interval.high <= 1


# Calibration


def covered(sd_a, n_a, sd_b, n_b, level, n_studies=1000):
    rng = np.random.default_rng(8128)
    truth = norm.cdf(1 / math.hypot(sd_a, sd_b))
    a, b = rng.normal(1, sd_a, size=(n_studies, n_a)), rng.normal(0, sd_b, size=(n_studies, n_b))
    return sum(
        truth
        in probability_from_summary(
            Summary(x.mean(), x.std(ddof=1), n_a),
            Summary(y.mean(), y.std(ddof=1), n_b),
            confidence_level=level,
        ).interval
        for x, y in zip(a, b, strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sd_a", "n_a", "sd_b", "n_b"), [(1, 10, 1, 10), (1, 5, 2, 5), (2, 10, 0.5, 20)]
)
def test_probability_interval_covers_about_what_it_claims(sd_a, n_a, sd_b, n_b):
    # An approximation: within 1.5 points of 90% here; docs/calibration.md has more studies.
    hits = covered(sd_a, n_a, sd_b, n_b, 0.9)
    assert binomtest(hits, 1000, 0.885, alternative="less").pvalue > 0.001
    assert binomtest(hits, 1000, 0.915, alternative="greater").pvalue > 0.001


@pytest.mark.slow
def test_coverage_check_can_fail():
    # Negative control: an 80% interval does not pass for a 90% one.
    hits = covered(1, 10, 1, 10, 0.8)
    assert binomtest(hits, 1000, 0.885, alternative="less").pvalue < 0.001


# Refusals


@pytest.mark.parametrize(
    "bad",
    [
        (math.nan, 1, 5),
        (math.inf, 1, 5),
        (1, -1, 5),
        (1, math.nan, 5),
        (1, 1, 0),
        (1, 1, 2.5),
        (-1e200, 1, 5),
        (1, 1e200, 5),
    ],
)
@pytest.mark.parametrize("function", [welch_from_summary, probability_from_summary])
def test_impossible_summaries_are_refused(function, bad):
    with pytest.raises(OutperformError):
        function(Summary(*bad), Summary(0, 1, 5))
    with pytest.raises(OutperformError):
        function(Summary(0, 1, 5), Summary(*bad))


@pytest.mark.parametrize("function", [welch_from_summary, probability_from_summary])
def test_one_run_has_no_spread(function):
    with pytest.raises(InvalidInput):
        function(Summary(1, 1, 1), Summary(0, 1, 5))


def test_identical_summaries_without_spread_are_no_evidence():
    test = welch_from_summary(Summary(1, 0, 5), Summary(1, 0, 5))
    assert (test.statistic, test.pvalue) == (0, 1)


def test_unknown_words_are_refused():
    with pytest.raises(InvalidInput, match=r"two-sided.*greater.*less"):
        welch_from_summary(Summary(1, 1, 5), Summary(0, 1, 5), alternative="up")


@pytest.mark.parametrize("level", [0, 1, 95, math.nan])
def test_impossible_confidence_is_refused(level):
    with pytest.raises(InvalidInput, match="confidence_level"):
        probability_from_summary(Summary(1, 1, 5), Summary(0, 1, 5), confidence_level=level)
