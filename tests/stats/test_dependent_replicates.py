"""Differences for data or searches like these, from replicates that share one of them."""

import json
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.stats import binomtest

from outperform.errors import InvalidInput, OutperformError, TooFewRuns, UnpairedScores
from outperform.stats import (
    combine_designs,
    coverage_after_one_search,
    mean_difference,
    nadeau_bengio_test,
    paired_t_test,
    required_resplits,
    resampled_difference,
    resampled_power,
    resplit_floor,
)
from outperform.stats.dependent_replicates import cautious_alpha

SIZES = {"n_train": 90, "n_test": 10}

scores = st.floats(-100, 100).map(lambda x: round(x, 3))
pairs = st.lists(st.tuples(scores, scores), min_size=2, max_size=9)
sizes = st.integers(1, 10_000)
effects = st.floats(-5, 5)
levels = st.floats(0.001, 0.5)


def difference(a, b, **options):
    return resampled_difference(a, b, **SIZES, **options)


# By hand


def test_difference_by_hand():
    # Differences 1, 2, 3: mean 2, sd 1, variance of the mean 1·(1/3 + 10/90) = 4/9, so t = 3.
    # With 2 degrees of freedom P(|T| > t) = 1 - t/√(2 + t²), and the quantile of 97.5% is
    # .95·√(2/(4·.975·.025)).
    result = difference([2, 4, 6], [1, 2, 3])
    assert result.value == pytest.approx(2)
    assert result.deviation == pytest.approx(1)
    assert result.standard_error == pytest.approx(2 / 3)
    assert (result.n_replicates, result.df) == (3, 2)
    assert result.pvalue == pytest.approx(1 - 3 / math.sqrt(11), rel=1e-12)
    half_width = 0.95 * math.sqrt(2 / (4 * 0.975 * 0.025)) * 2 / 3
    assert result.interval.low == pytest.approx(2 - half_width, rel=1e-12)
    assert result.interval.high == pytest.approx(2 + half_width, rel=1e-12)
    assert (result.interval.confidence_level, result.interval.method) == (0.95, "nadeau-bengio")
    assert not result.shown
    assert difference([2, 4, 6], [1, 2, 3], confidence_level=0.9).shown  # p = .0955
    assert not difference([2, 4, 6], [1, 2, 3], confidence_level=0.91).shown


def test_floor_by_hand():
    # √(10/90) = 1/3, and 1.96 standard errors are 5% two-sided.
    assert resplit_floor(3, **SIZES) == pytest.approx(1.959963984540054)
    assert resplit_floor(3, **SIZES, alpha=0.01) == pytest.approx(2.5758293035489004)
    assert resplit_floor(0, **SIZES) == 0


def test_power_by_hand():
    # Infinitely many: a normal variable of mean 1/(1/3) = 3 against 1.96: Φ(1.04).
    assert resampled_power(math.inf, 1, **SIZES) == pytest.approx(
        0.5 * math.erfc(-(3 - 1.959963984540054) / math.sqrt(2)), rel=1e-12
    )
    # Between equals a is found better in half of alpha.
    for n_replicates in (2, 10, math.inf):
        assert resampled_power(n_replicates, 0, **SIZES) == pytest.approx(0.025, rel=1e-9)


def test_required_resplits_by_hand():
    # With infinitely many, power 95% needs a mean of 1.96 + 1.645 = 3.605 standard errors, each
    # 1/3: an effect of 1.2016. A bit less is never enough, a bit more at some time is.
    assert required_resplits(1.2016, **SIZES) is None
    assert required_resplits(1.21, **SIZES) > 100
    assert required_resplits(0, **SIZES) is None
    assert required_resplits(-9, **SIZES) is None
    assert required_resplits(1e6, **SIZES) == 2


@pytest.mark.parametrize("unit", [1, 0.1, 1e9])
@pytest.mark.parametrize("shift", [-1, 0, 1])
def test_differences_that_do_not_vary_show_nothing(unit, shift):
    # Three equal differences do not tell how others would vary: with few test examples equals
    # have them often. The scores differ, so that the differences are equal but for rounding.
    b = np.array([0.3, 0.7, 0.8]) * unit
    a = b + shift * unit / 10
    result = difference(a, b)
    assert result.value == pytest.approx(shift * unit / 10)
    assert (result.deviation, result.standard_error, result.pvalue) == (0, math.inf, 1)
    assert (result.interval.low, result.interval.high) == (-math.inf, math.inf)
    assert not result.shown
    for alternative in ("two-sided", "greater", "less"):
        test = nadeau_bengio_test(a, b, **SIZES, alternative=alternative)
        assert (test.statistic, test.pvalue) == (0, 1)
    plain = result.to_dict()
    assert plain["interval"]["low"] is plain["interval"]["high"] is plain["standard_error"] is None
    json.dumps(plain, allow_nan=False)


def test_differences_that_hardly_vary_still_do():
    assert difference([1, 1 + 1e-9, 1], [0, 0, 0]).shown


def test_results_are_plain_values():
    result = difference([2, 4, 6], [1, 2, 3])
    plain = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert plain["value"] == 2
    assert plain["interval"]["low"] == result.interval.low
    assert plain["pvalue"] == result.pvalue
    assert plain["shown"] is False
    assert (plain["n_replicates"], plain["df"]) == (3, 2)
    assert str(result) == "2 [-0.868, 4.87]"


# Reference: scipy.stats, whose distributions are not those that are used


@given(pairs, sizes, sizes, st.floats(0.5, 0.999))
def test_difference_is_a_widened_paired_t(sample, n_train, n_test, level):
    a, b = np.transpose(sample)
    assume(np.ptp(a - b) > 1e-3)
    result = resampled_difference(a, b, n_train=n_train, n_test=n_test, confidence_level=level)
    widened = math.sqrt(1 + len(a) * n_test / n_train)
    test = scipy_stats.ttest_rel(a, b)
    shrunk = test.statistic / widened
    assert result.pvalue == pytest.approx(2 * scipy_stats.t.sf(abs(shrunk), len(a) - 1), rel=1e-6)
    error = scipy_stats.sem(a - b) * widened
    low, high = scipy_stats.t.interval(level, len(a) - 1, np.mean(a - b), error)
    assert (result.interval.low, result.interval.high) == pytest.approx((low, high), abs=1e-6)


@given(st.integers(2, 200), st.floats(0, 4), sizes, levels)
def test_power_is_a_noncentral_t(n_replicates, effect, n_test, alpha):
    power = resampled_power(n_replicates, effect, n_train=1000, n_test=n_test, alpha=alpha)
    noncentrality = effect / math.sqrt(1 / n_replicates + n_test / 1000)
    critical = scipy_stats.t.isf(alpha / 2, n_replicates - 1)
    expected = scipy_stats.nct.sf(critical, n_replicates - 1, noncentrality)
    assert power == pytest.approx(expected, rel=1e-6, abs=1e-9)


# Properties


@given(pairs, sizes, sizes, st.floats(0.5, 0.999))
def test_zero_is_outside_exactly_where_the_difference_is_shown(sample, n_train, n_test, level):
    a, b = np.transpose(sample)
    options = {"n_train": n_train, "n_test": n_test, "confidence_level": level}
    result = resampled_difference(a, b, **options)
    assert 0 <= result.pvalue <= 1
    near = min(abs(result.interval.low), abs(result.interval.high)) < 1e-9
    assert near or result.shown == (0 not in result.interval) == (result.pvalue < 1 - level)
    test = nadeau_bengio_test(a, b, n_train=n_train, n_test=n_test)
    assert test.pvalue == pytest.approx(result.pvalue, rel=1e-12)
    swapped = resampled_difference(b, a, **options)
    assert swapped.value == pytest.approx(-result.value, abs=1e-9)
    assert swapped.pvalue == pytest.approx(result.pvalue, rel=1e-6, abs=1e-12)
    assert swapped.interval.low == pytest.approx(-result.interval.high, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("unit", [1e-300, 1e-100, 1e100, 1e148])
def test_units_however_small_or_large_change_no_pvalue(unit):
    a, b = np.array([1.0, 2, 4, 8]), np.array([0.0, 3, 1, 2])
    result = difference(unit * a, unit * b)
    assert result.pvalue == pytest.approx(difference(a, b).pvalue, rel=1e-9)
    assert result.value == pytest.approx(unit * difference(a, b).value, rel=1e-9)


def test_the_interval_is_students_where_hardly_anything_is_tested_and_wider_otherwise():
    a, b = [1.0, 2, 4, 8], [0.0, 3, 1, 2]
    student = mean_difference(a, b).interval
    without = resampled_difference(a, b, n_train=1e12, n_test=1).interval
    assert (without.low, without.high) == pytest.approx((student.low, student.high))
    widths = [
        resampled_difference(a, b, n_train=100, n_test=n).standard_error for n in (1, 10, 25, 100)
    ]
    assert widths == sorted(widths)
    assert widths[0] > mean_difference(a, b).error


@given(st.integers(2, 10_000), sizes, levels)
def test_no_number_of_resplits_shows_less_than_the_floor(n_replicates, n_test, alpha):
    # Half the differences above and half below a mean just under what can be shown.
    spread = np.resize([1.0, -1.0], 2 * n_replicates)
    options = {"n_train": 1000, "n_test": n_test}
    floor = resplit_floor(spread.std(ddof=1), **options, alpha=alpha)
    below = resampled_difference(
        spread + 0.999 * floor, 0 * spread, **options, confidence_level=1 - alpha
    )
    assert not below.shown


def test_a_difference_above_the_floor_is_shown_by_enough_resplits():
    spread = np.resize([1.0, -1.0], 100_000)
    floor = resplit_floor(1.0, **SIZES)
    assert difference(spread + 1.01 * floor, 0 * spread).shown
    assert not difference(spread[:100] + 1.01 * floor, np.zeros(100)).shown


@given(st.integers(2, 300), effects, effects, sizes)
def test_power_grows_with_resplits_and_effect_up_to_its_limit(n_replicates, one, other, n_test):
    options = {"n_train": 1000, "n_test": n_test}
    smaller, larger = sorted((one, other))
    few = resampled_power(n_replicates, larger, **options)
    assert resampled_power(n_replicates, smaller, **options) <= few + 1e-9
    if larger > 0:
        more = resampled_power(2 * n_replicates, larger, **options)
        assert few <= more + 1e-9
        assert more <= resampled_power(math.inf, larger, **options) + 1e-9


@given(st.floats(0.5, 5), sizes, levels, levels)
def test_required_resplits_are_the_fewest(effect, n_test, alpha, beta):
    options = {"n_train": 1000, "n_test": n_test, "alpha": alpha}
    n_replicates = required_resplits(effect, **options, beta=beta)
    if n_replicates is None:
        assert resampled_power(math.inf, effect, **options) < 1 - beta
        return
    assert resampled_power(n_replicates, effect, **options) >= 1 - beta
    if n_replicates > 2:
        assert resampled_power(n_replicates - 1, effect, **options) < 1 - beta


# Calibration, under the assumption of the correction: all pairs of replicates correlate by
# n_test/(n_train + n_test). calibration/resplits.py does the same with learners that train.


def correlated_differences(rng, n_studies, n_replicates, mean=0.0):
    """Differences around `mean` that vary by 1 within a study, and correlate by 1/10."""
    common = rng.normal(size=(n_studies, 1)) / 3  # variance 1/9 beside 1: ρ = 1/10
    return mean + common + rng.normal(size=(n_studies, n_replicates))


@pytest.mark.slow
@pytest.mark.parametrize("n_replicates", [2, 10, 50])
def test_size_coverage_and_power_are_exact(n_replicates):
    rng = np.random.default_rng(496)
    n_studies, mean = 6000, 0.8
    zeros = np.zeros(n_replicates)
    equals = correlated_differences(rng, n_studies, n_replicates)
    false_alarms = sum(difference(d, zeros).shown for d in equals)
    assert binomtest(false_alarms, n_studies, 0.05).pvalue > 0.001
    results = [
        difference(d, zeros) for d in correlated_differences(rng, n_studies, n_replicates, mean)
    ]
    covered = sum(mean in result.interval for result in results)
    assert binomtest(covered, n_studies, 0.95).pvalue > 0.001
    power = resampled_power(n_replicates, mean, **SIZES)
    shown = sum(result.shown and result.value > 0 for result in results)
    assert binomtest(shown, n_studies, power).pvalue > 0.001


@pytest.mark.slow
def test_replicates_taken_as_independent_show_what_is_not_there():
    # Negative control: at 50 replicates the variance of the mean is 1/50 + 1/9, 6.56 times what
    # independent ones have, so |T| only needs to pass 2.01/√6.56 = .785: 43.6% of t with 49.
    rng = np.random.default_rng(28)
    differences = correlated_differences(rng, 4000, 50)
    false_alarms = int((paired_t_test(differences, np.zeros(50)).pvalue < 0.05).sum())
    assert binomtest(false_alarms, 4000, 0.436).pvalue > 0.001


# Refusals


def test_bad_scores_are_refused(bad_scores, refuses):
    refuses(difference)


def test_scores_that_cannot_be_compared_are_refused():
    with pytest.raises(UnpairedScores, match=r"\b3\b.*\b2\b"):
        difference([1, 2, 3], [1, 2])
    with pytest.raises(TooFewRuns, match="At least 2"):
        difference([1], [2])


SIZED = {
    "difference": lambda **options: resampled_difference([1, 2, 4], [3, 4, 7], **options),
    "test": lambda **options: nadeau_bengio_test([1, 2, 4], [3, 4, 7], **options),
    "floor": lambda **options: resplit_floor(1, **options),
    "power": lambda **options: resampled_power(10, 1, **options),
    "required": lambda **options: required_resplits(1, **options),
}


@pytest.mark.parametrize("function", SIZED)
@pytest.mark.parametrize(
    ("n_train", "n_test", "message"),
    [
        (0, 10, "n_train is 0. Pass a positive number."),
        (90, -1, "n_test is -1. Pass a positive number."),
        (90, math.nan, "n_test is nan. Pass a positive number."),
        ("90", 10, "n_train is '90'. Pass a number."),
        (math.inf, 10, "n_train is infinite. Pass the number of examples of each split."),
    ],
)
def test_impossible_sizes_are_refused(function, n_train, n_test, message):
    with pytest.raises(InvalidInput) as caught:
        SIZED[function](n_train=n_train, n_test=n_test)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: difference([1, 2], [3, 4], confidence_level=95),
            "confidence_level is 95. Pass a value between 0 and 1 (95% is 0.95).",
        ),
        (
            lambda: resplit_floor(-1, **SIZES),
            "deviation is -1. Pass 0 or a positive number in the unit of the scores.",
        ),
        (
            lambda: resplit_floor(math.nan, **SIZES),
            "deviation is nan. Pass 0 or a positive number in the unit of the scores.",
        ),
        (
            lambda: resampled_power(1, 1, **SIZES),
            "n_replicates is 1. Pass a whole number not less than 2.",
        ),
        (
            lambda: resampled_power(2.5, 1, **SIZES),
            "n_replicates is 2.5. Pass a whole number not less than 2.",
        ),
        (
            lambda: resampled_power(9, math.inf, **SIZES),
            "effect_in_sd is inf. Pass a finite number.",
        ),
        (
            lambda: resampled_power(9, 1, **SIZES, alpha=0),
            "alpha is 0. Pass a value between 0 and 1.",
        ),
        (lambda: required_resplits(1, **SIZES, beta=1), "beta is 1. Pass a value between 0 and 1."),
    ],
)
def test_impossible_arguments_are_refused(call, message):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert str(caught.value) == message


def test_the_overlap_is_what_the_sizes_gave():
    result = resampled_difference([0.8, 0.9, 0.7], [0.7, 0.7, 0.6], n_train=800, n_test=200)
    assert result.overlap == pytest.approx(0.25)
    constant = resampled_difference([0.8, 0.9], [0.7, 0.8], n_train=800, n_test=200)
    assert math.isnan(constant.overlap)


several = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20)


# Combined differences


def test_by_hand():
    combined = combine_designs([1, 2, 3], [0, 2, 4])
    assert (combined.value, combined.sd_fixed, combined.sd_redrawn) == (2, 1, 2)
    reach = 4.302652729911275 * 1.5 / math.sqrt(3)  # Student's t with 2 degrees of freedom
    assert combined.interval.low == pytest.approx(2 - reach)
    assert combined.interval.high == pytest.approx(2 + reach)
    ends = {"low": combined.interval.low, "high": combined.interval.high}
    spreads = {"sd": 1.5, "sd_fixed": 1, "sd_simulated": 2}
    assert combined.to_dict() == {"difference": 2, **ends, **spreads}


def test_equal_spreads_give_the_paired_t_interval():
    rng = np.random.default_rng(0)
    fixed = rng.normal(0.2, 1, 12)
    combined = combine_designs(fixed, fixed[::-1] + 7, confidence_level=0.9)
    reference = scipy_stats.ttest_1samp(fixed, 0).confidence_interval(0.9)
    assert (combined.interval.low, combined.interval.high) == pytest.approx(tuple(reference))
    own = mean_difference(fixed, np.zeros(12), confidence_level=0.9)
    assert combined.value == pytest.approx(own.value)


@given(several, several, st.floats(0.1, 10), st.floats(-100, 100))
def test_the_mean_of_redrawn_searches_does_not_matter(fixed, redrawn, scale, shift):
    one = combine_designs(fixed, redrawn)
    other = combine_designs(np.array(fixed) * scale, np.array(redrawn) * scale + shift)
    assert other.value == pytest.approx(one.value * scale, abs=1e-9)
    assert other.sd == pytest.approx(one.sd * scale, rel=1e-6, abs=1e-6)
    assert min(one.sd_fixed, one.sd_redrawn) <= one.sd <= max(one.sd_fixed, one.sd_redrawn)


def draw_studies(rng, n_studies, k, correlation):
    """Mean after one search and its interval, in studies whose true difference is 0."""
    luck = math.sqrt(correlation) * rng.standard_normal((n_studies, 1))
    fixed = luck + math.sqrt(1 - correlation) * rng.standard_normal((n_studies, k))
    return fixed, rng.standard_normal((n_studies, k))


@pytest.mark.parametrize(("k", "correlation"), [(10, 0.0), (50, 0.0), (50, 0.1), (20, 0.3)])
def test_it_covers_as_often_as_is_said(k, correlation):
    rng, n_studies = np.random.default_rng(3), 1500
    intervals = [
        combine_designs(*pair).interval
        for pair in zip(*draw_studies(rng, n_studies, k, correlation), strict=True)
    ]
    share = np.mean([0 in interval for interval in intervals])
    # What is said takes the standard deviation as known and the design's as unbiased.
    said = coverage_after_one_search(k, correlation)
    assert share == pytest.approx(said, abs=0.035)


def test_without_the_luck_of_a_search_nothing_is_lost():
    assert coverage_after_one_search(1000, 0.0) == pytest.approx(0.95, abs=1e-3)
    with_luck = [coverage_after_one_search(k, 0.1) for k in (2, 10, 50, 500)]
    assert with_luck == sorted(with_luck, reverse=True)
    assert with_luck[-1] < 0.25  # more pairs of one search only make it surer of itself


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: combine_designs([1], [1, 2]), "the differences of one search"),
        (lambda: combine_designs([1, 2], [1, math.nan]), "the differences of redrawn searches"),
        (lambda: combine_designs([1, 2], [1, 2], confidence_level=95), "confidence_level is 95"),
        (lambda: coverage_after_one_search(1, 0.1), "n_pairs is 1"),
        (lambda: coverage_after_one_search(10, -0.1), "correlation is -0.1"),
    ],
)
def test_nonsense_is_refused(call, message):
    with pytest.raises(OutperformError) as caught:
        call()
    assert message in str(caught.value)


def test_the_level_that_is_asked_for_is_a_fifth_and_less_below_the_usual_one():
    # z of 0.005 is 2.5758, times 2.5758/1.9600 is 3.3852: 2·Φ(-3.3852) = 0.00071.
    assert cautious_alpha(0.01) == pytest.approx(0.00071, abs=2e-6)
    assert [cautious_alpha(alpha) for alpha in (0.05, 0.1, 0.2)] == [0.01, 0.02, 0.04]
    # Nothing jumps where the two meet, nor is anything too small to compute with.
    assert cautious_alpha(math.nextafter(0.05, 0)) == pytest.approx(0.01, rel=1e-9)
    assert cautious_alpha(1e-300) == 1e-300


@given(levels, levels)
def test_a_stricter_level_asks_for_more(first, second):
    low, high = sorted((first, second))
    assert cautious_alpha(low) <= cautious_alpha(high) <= high / 5 * (1 + 1e-9)
