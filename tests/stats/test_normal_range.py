"""The range of k normal variables."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erfc, erfcinv
from scipy.stats import binomtest, studentized_range

from outperform.stats.task_ranks import exceed_range, range_quantile


def test_two_differ_like_one_normal_variable():
    # By hand: the difference of two is N(0, 2), so that P(range > q) = erfc(q / 2), at any depth.
    widths = np.linspace(0, 40, 81)
    assert exceed_range(widths, 2) == pytest.approx(erfc(widths / 2), rel=1e-12)
    assert range_quantile(0.05, 2) == pytest.approx(2 * erfcinv(0.05), rel=1e-12)


def test_of_three_the_mean_range_is_known():
    # By hand: E(range of 3) = 3 / sqrt(pi), and a mean is the integral of the tail.
    tail = exceed_range(np.linspace(0, 15, 3001), 3)
    area = 0.005 * (tail.sum() - (tail[0] + tail[-1]) / 2)
    assert area == pytest.approx(3 / math.sqrt(math.pi), rel=1e-6)


@pytest.mark.parametrize(
    ("k", "published"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)]
)
def test_quantiles_are_those_of_demsar(k, published):
    # His table divides by sqrt(2), and has 2.343 where 2.3437 is right.
    assert range_quantile(0.05, k) / math.sqrt(2) == pytest.approx(published, abs=0.001)


def test_matches_r(reference):
    # ptukey itself is good to about 6 digits.
    for case in reference("task_ranks")["ranges"]:
        assert exceed_range(case["q"], case["k"]) == pytest.approx(case["tail"], rel=1e-6)
        for quantile in case["quantiles"]:
            found = range_quantile(quantile["alpha"], case["k"])
            assert found == pytest.approx(quantile["q"], rel=1e-6)


@pytest.mark.parametrize("k", [2, 3, 10, 200, 100_000])
def test_matches_scipy(k):
    widths = np.array([0.1, 1, 3, 5, 7])
    assert exceed_range(widths, k) == pytest.approx(
        studentized_range.sf(widths, k, math.inf), rel=1e-9
    )


@settings(max_examples=40)
@given(st.floats(0, 30), st.integers(2, 1000), st.floats(1e-6, 0.999))
def test_wider_is_rarer_and_more_reach_further(width, k, alpha):
    tail = exceed_range([width, width + 0.1], k)
    assert 0 <= tail[1] <= tail[0] + 1e-12
    assert tail[0] <= 1
    assert tail[0] <= exceed_range(width, k + 1) + 1e-12
    assert exceed_range(range_quantile(alpha, k), k) == pytest.approx(alpha, rel=1e-9)


@pytest.mark.parametrize("k", [2, 3, 1000])
def test_widths_of_rounding_are_exceeded_for_sure(k):
    # Chances of being beyond the lowest and beyond the width differ in their last bits, if at all.
    widths = np.concatenate([np.geomspace(1e-300, 1e-13, 300), np.linspace(1e-16, 4e-16, 300)])
    assert exceed_range(widths, k) == pytest.approx(1, abs=1e-12)


def test_shape_is_kept_and_blocks_make_no_difference():
    widths = np.linspace(0, 8, 3000).reshape(3, 5, 200)
    tail = exceed_range(widths, 4)
    assert tail.shape == (3, 5, 200)
    assert (tail[0, 0, 0], exceed_range(widths[2, 1, 7], 4)) == (1, tail[2, 1, 7])
    assert (np.diff(tail.ravel()) <= 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 8])
def test_ranges_of_draws_exceed_it_as_often_as_it_says(k):
    ranges = np.ptp(np.random.default_rng(k).normal(size=(100_000, k)), axis=1)
    hits = np.count_nonzero(ranges > range_quantile(0.05, k))
    assert binomtest(hits, 100_000, 0.05).pvalue > 0.001


def test_the_check_of_draws_can_fail():
    # Negative control: as if only two had been compared.
    ranges = np.ptp(np.random.default_rng(3).normal(size=(2000, 3)), axis=1)
    hits = np.count_nonzero(ranges > range_quantile(0.05, 2))
    assert binomtest(hits, 2000, 0.05).pvalue < 0.001
