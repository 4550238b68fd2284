"""Standard deviations with robust intervals, and their ratios."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, shapiro
from scipy.stats import t as student_t

from outperform.errors import InvalidInput, TooFewRuns
from outperform.stats.variances import (
    binomial_deviation,
    count_far_above,
    deviation,
    deviation_ratio,
    normality_pvalue,
)

# A grid keeps rounding errors of sums out of the way.
samples = st.lists(st.integers(-50, 50).map(lambda i: i / 4), min_size=2, max_size=40)
varying = samples.filter(lambda values: len(set(values)) > 1)
factors = st.floats(1e-3, 1e3)


def bounds(estimate):
    return estimate.interval.low, estimate.interval.high


# By hand


def test_deviation_by_hand():
    # Median and mean 0: Σx² = 10, s² = 2.5, kurtosis 5·(16+1+1+16)/10² = 1.7; at the level where
    # z = 1, c = 5/4 and the error 5/4·√((1.7 - 2/5)/4).
    level = math.erf(1 / math.sqrt(2))
    estimate = deviation([-2, -1, 0, 1, 2], confidence_level=level)
    assert estimate.value == pytest.approx(math.sqrt(2.5))
    error = 1.25 * math.sqrt(1.3 / 4)
    low, high = (math.sqrt(1.25 * 2.5 * math.exp(sign * error)) for sign in (-1, 1))
    assert bounds(estimate) == pytest.approx((low, high))
    assert (estimate.interval.method, estimate.interval.confidence_level) == ("bonett", level)


def test_ratio_by_hand():
    # Equal sizes: the corrections cancel; equal kurtoses: the error is √2 times that of one.
    level = math.erf(1 / math.sqrt(2))
    estimate = deviation_ratio([-6, -3, 0, 3, 6], [-2, -1, 0, 1, 2], confidence_level=level)
    reach = math.exp(1.25 * math.sqrt(2 * 1.3 / 4) / 2)
    assert estimate.value == pytest.approx(3)
    assert bounds(estimate) == pytest.approx((3 / reach, 3 * reach))


def test_ratio_of_unequal_sizes_by_hand():
    # At z = 1: c = 5/4 and 10/9; ten values ±1 have kurtosis 1, so the error 10/9·√(0.3/9).
    level = math.erf(1 / math.sqrt(2))
    estimate = deviation_ratio([-2, -1, 0, 1, 2], [-1, 1] * 5, confidence_level=level)
    assert estimate.value == pytest.approx(math.sqrt(2.5 / (10 / 9)))
    middle = estimate.value * math.sqrt((5 / 4) / (10 / 9))
    error = math.hypot(1.25 * math.sqrt(1.3 / 4), 10 / 9 * math.sqrt(0.3 / 9))
    reach = math.exp(error / 2)
    assert bounds(estimate) == pytest.approx((middle / reach, middle * reach))


@pytest.mark.parametrize(("n", "method"), [(5, "chi-square"), (7, "bonett")])
def test_a_level_beyond_what_the_correction_bears_takes_values_as_normal(n, method):
    # Here z = 5: n - z must be positive for the correction n/(n - z).
    level = math.erf(5 / math.sqrt(2))
    assert deviation(range(n), confidence_level=level).interval.method == method
    ratio = deviation_ratio(range(n), range(n), confidence_level=level)
    assert ratio.interval.method == {"chi-square": "f"}.get(method, method)
    assert 0 < ratio.interval.low < 1 < ratio.interval.high


def test_two_values_are_taken_as_normal():
    # One degree of freedom: (x₁ - x₂)²/(2σ²) is the square of a standard normal.
    estimate = deviation([0, math.sqrt(2)])
    assert estimate.value == pytest.approx(1)
    assert bounds(estimate) == pytest.approx((1 / 2.241402728, 1 / 0.031337982))
    assert estimate.interval.method == "chi-square"


@pytest.mark.parametrize("values", [[0.1] * 3, [0.1] * 30, [1e140, 1e140]])
def test_equal_values_deviate_by_exactly_nothing(values):
    estimate = deviation(values)
    assert (estimate.value, *bounds(estimate)) == (0, 0, 0)
    share = deviation_ratio(values, [1, 2, 3, 4, 5])
    assert (share.value, *bounds(share)) == (0, 0, 0)


@pytest.mark.parametrize(("accuracy", "n", "sd"), [(0.5, 100, 0.05), (0.9, 9, 0.1), (1, 7, 0)])
def test_binomial_by_hand(accuracy, n, sd):
    assert binomial_deviation(accuracy, n) == pytest.approx(sd)
    assert binomial_deviation(1 - accuracy, n) == pytest.approx(sd)


@pytest.mark.parametrize("values", [[0.3], [0.3, 0.9], [0.3] * 50])
def test_nothing_speaks_against_the_normality_of_too_little(values):
    assert normality_pvalue(values) == 1


# Reference


def test_deviations_match_r(reference):
    for case in reference("variances")["deviations"]:
        estimate = deviation(case["values"], confidence_level=case["confidence_level"])
        assert estimate.value == pytest.approx(case["sd"], rel=1e-9)
        assert bounds(estimate) == pytest.approx(tuple(case["interval"]), rel=1e-8)
        assert normality_pvalue(case["values"]) == pytest.approx(case["shapiro"], rel=1e-3)


def test_ratios_of_few_values_match_r(reference):
    for case in reference("variances")["ratios"]:
        estimate = deviation_ratio(case["a"], case["b"])
        assert estimate.value == pytest.approx(case["ratio"], rel=1e-9)
        assert bounds(estimate) == pytest.approx(tuple(case["interval"]), rel=1e-8)
        assert estimate.interval.method == "f"


def test_normality_of_many_values_warns_of_nothing():
    values = np.random.default_rng(0).normal(size=6000)
    with pytest.warns(UserWarning, match="N > 5000"):
        expected = shapiro(values).pvalue
    assert normality_pvalue(values) == pytest.approx(expected, rel=1e-6)


# Properties


@given(varying, factors, st.floats(0.5, 0.999))
def test_deviation_follows_the_unit(values, factor, level):
    estimate = deviation(values, confidence_level=level)
    scaled = deviation(np.multiply(values, -factor) + 7, confidence_level=level)
    assert scaled.value == pytest.approx(factor * estimate.value, rel=1e-6)
    assert bounds(scaled) == pytest.approx(tuple(factor * x for x in bounds(estimate)), rel=1e-6)


@given(varying, st.floats(0.5, 0.999))
def test_interval_holds_the_estimate_and_grows_with_the_level(values, level):
    estimate = deviation(values, confidence_level=level)
    assert estimate.value == pytest.approx(np.std(values, ddof=1))
    if level > 0.8 or estimate.interval.method == "bonett":  # the chi-square one is lopsided
        assert estimate.value in estimate.interval
    inner = deviation(values, confidence_level=level / 2)
    if inner.interval.method == estimate.interval.method:
        assert inner.interval.low >= estimate.interval.low
        assert inner.interval.high <= estimate.interval.high


@given(varying, varying)
def test_ratios_invert(a, b):
    ratio, inverse = deviation_ratio(a, b), deviation_ratio(b, a)
    assert ratio.value == pytest.approx(1 / inverse.value)
    assert bounds(ratio) == pytest.approx((1 / inverse.interval.high, 1 / inverse.interval.low))
    assert deviation_ratio(a, a).value == 1


@given(varying, st.randoms())
def test_the_order_of_values_does_not_matter(values, random):
    shuffled = random.sample(values, len(values))
    assert bounds(deviation(shuffled)) == pytest.approx(bounds(deviation(values)))
    assert normality_pvalue(shuffled) == pytest.approx(normality_pvalue(values))


@pytest.mark.parametrize("scale", [1e-200, 1e140])
def test_values_of_any_magnitude_are_fine(scale):
    values = [0.1, 0.4, 0.2, 0.9, 0.3, 0.5]
    estimate, plain = deviation(np.multiply(values, scale)), deviation(values)
    assert estimate.value == pytest.approx(scale * plain.value)
    assert bounds(estimate) == pytest.approx(tuple(scale * x for x in bounds(plain)))
    assert normality_pvalue(np.multiply(values, scale)) == pytest.approx(normality_pvalue(values))


# Calibration


def coverage(draw, truth, interval, n_studies=4000):
    return sum(truth in interval(draw()) for _ in range(n_studies)) / n_studies


def chi_square_interval(values):
    squares = np.var(values, ddof=1) * (values.size - 1)
    low, high = (math.sqrt(squares / chi2.ppf(p, values.size - 1)) for p in (0.975, 0.025))
    return type(deviation([1, 2]).interval)(low, high, 0.95, "chi-square")


@pytest.mark.slow
@pytest.mark.parametrize(("n", "most"), [(10, 0.97), (20, 0.96), (200, 0.96)])
def test_interval_covers_the_deviation_of_normal_values(n, most):
    rng = np.random.default_rng(n)
    found = coverage(lambda: rng.normal(size=n), 1, lambda x: deviation(x).interval)
    assert 0.935 < found < most


@pytest.mark.slow
def test_interval_covers_the_deviation_of_skewed_values():
    rng = np.random.default_rng(4)
    found = coverage(lambda: rng.gamma(4, size=200), 2, lambda x: deviation(x).interval)
    assert 0.925 < found < 0.96


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(20, 200), (50, 50), (200, 200)])
def test_interval_covers_the_ratio_of_different_distributions(sizes):
    rng = np.random.default_rng(sum(sizes))
    found = coverage(
        lambda: (rng.normal(0, 3, sizes[0]), rng.gamma(4, size=sizes[1])),
        3 / 2,
        lambda pair: deviation_ratio(*pair).interval,
    )
    assert 0.925 < found < 0.97


@pytest.mark.slow
def test_normal_values_are_found_abnormal_as_often_as_claimed():
    rng = np.random.default_rng(9)
    pvalues = [normality_pvalue(rng.normal(size=30)) for _ in range(4000)]
    assert 0.038 < np.mean(np.array(pvalues) <= 0.05) < 0.062
    assert np.mean([normality_pvalue(rng.exponential(size=30)) <= 0.05 for _ in range(200)]) > 0.8


# Negative control


@pytest.mark.slow
def test_the_interval_for_normal_values_fails_with_heavy_tails():
    for interval, least, most in [
        (chi_square_interval, 0.7, 0.85),
        (lambda x: deviation(x).interval, 0.92, 0.96),
    ]:
        rng = np.random.default_rng(7)
        found = coverage(lambda rng=rng: rng.laplace(size=200), math.sqrt(2), interval)
        assert least < found < most


# Far above


def test_far_above_is_three_ranges_beyond_the_quartile():
    # Quartiles 2.25 and 4.75: the fence is at 12.25.
    assert count_far_above([1, 2, 3, 4, 5, 12.2]) == 0
    assert count_far_above([1, 2, 3, 4, 5, 12.3]) == 1
    assert count_far_above([-90, 1, 2, 3, 4, 5, 6, 40, 40]) == 2
    assert count_far_above([1, 1, 1, 1, 9]) == 0  # no range to measure by


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=30), st.integers(1, 9))
def test_far_above_moves_and_stretches_with_the_values(values, scale):
    assert count_far_above(scale * np.array(values) - 3) == count_far_above(values)


def test_far_above_tells_heavy_tails_from_light_ones():
    rng = np.random.default_rng(0)
    light, heavy = rng.normal(size=(300, 100)), rng.standard_t(2, size=(300, 100))
    assert sum(map(count_far_above, light)) == 0
    # Quartile 0.816, range 1.633.
    expected = 300 * 100 * student_t(2).sf(0.8164966 * 7)
    assert sum(map(count_far_above, heavy)) == pytest.approx(expected, rel=0.15)


# What is refused


@pytest.mark.parametrize("function", [deviation, normality_pvalue, count_far_above])
def test_bad_values_are_refused(function, bad_scores):
    values, error, names = bad_scores
    with pytest.raises(error, match=names):
        function(values)


def test_bad_values_of_ratios_are_refused(refuses):
    refuses(deviation_ratio)


def test_impossible_arguments_are_refused():
    with pytest.raises(TooFewRuns, match=r"^values has 1 score\. At least 2 are needed\.$"):
        deviation([0.3])
    with pytest.raises(InvalidInput, match=r"^confidence_level is 95\. "):
        deviation([1, 2], confidence_level=95)
    with pytest.raises(InvalidInput) as caught:
        deviation_ratio([1, 2, 3], [0.5] * 4)
    assert str(caught.value) == (
        "all 4 values of b are 0.5, so their deviation is 0. Divide by the deviation of values "
        "that vary."
    )
    with pytest.raises(InvalidInput, match=r"^accuracy is 90\. Pass a share between 0 and 1\.$"):
        binomial_deviation(90, 100)
    with pytest.raises(InvalidInput, match=r"^n is 0\. "):
        binomial_deviation(0.9, 0)
