"""The estimate that takes its mean from one design and its spread from two."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from outperform.errors import OutperformError
from outperform.stats import combine_designs, coverage_after_one_search, mean_difference

scores = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20)


def test_by_hand():
    combined = combine_designs([1, 2, 3], [0, 2, 4])
    assert (combined.value, combined.sd_fixed, combined.sd_redrawn) == (2, 1, 2)
    reach = 4.302652729911275 * 1.5 / math.sqrt(3)  # Student's t with 2 degrees of freedom
    assert combined.interval.low == pytest.approx(2 - reach)
    assert combined.interval.high == pytest.approx(2 + reach)


def test_equal_spreads_give_the_paired_t_interval():
    rng = np.random.default_rng(0)
    fixed = rng.normal(0.2, 1, 12)
    combined = combine_designs(fixed, fixed[::-1] + 7, confidence_level=0.9)
    reference = scipy_stats.ttest_1samp(fixed, 0).confidence_interval(0.9)
    assert (combined.interval.low, combined.interval.high) == pytest.approx(tuple(reference))
    own = mean_difference(fixed, np.zeros(12), confidence_level=0.9)
    assert combined.value == pytest.approx(own.value)


@given(scores, scores, st.floats(0.1, 10), st.floats(-100, 100))
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
