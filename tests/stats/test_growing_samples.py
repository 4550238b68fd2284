"""Brunner and Munzel's test of growing samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, brunnermunzel

from outperform.errors import OutperformError
from outperform.stats import brunner_munzel, grow_brunner_munzel

seeds = st.integers(0, 2**32 - 1)


def draw(seed, n_samples=40, n=12, decimals=1):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n_samples, n)).round(decimals)
    return a, b


# By hand


def test_two_against_two_by_hand():
    # a = 1, 4 beats 0 and 2 of b = 2, 3; b beats 1 and 1. p̂ = 2/4, so the statistic is 0.
    (found,) = grow_brunner_munzel(np.array([[1.0, 4.0]]), np.array([[2.0, 3.0]]), [2])
    assert found.n == 2
    assert found.test.statistic == pytest.approx([0])
    assert found.test.pvalue == pytest.approx([1])


# Reference


def test_every_size_matches_scipy():
    a, b = draw(0, n_samples=5, n=15, decimals=9)
    for found in grow_brunner_munzel(a, b, range(6, 16)):
        for row in range(5):
            expected = brunnermunzel(a[row, : found.n], b[row, : found.n])
            assert found.test.pvalue[row] == pytest.approx(expected.pvalue, rel=1e-9)
            assert found.test.statistic[row] == pytest.approx(-expected.statistic, rel=1e-9)


# Properties


@settings(max_examples=40)
@given(seeds, st.integers(0, 2), st.sets(st.integers(2, 12), min_size=1))
def test_every_size_matches_the_test_of_that_size_with_ties_too(seed, decimals, sizes):
    a, b = draw(seed, decimals=decimals)
    found = list(grow_brunner_munzel(a, b, sizes))
    assert [each.n for each in found] == sorted(sizes)
    for each in found:
        expected = brunner_munzel(a[:, : each.n], b[:, : each.n])
        np.testing.assert_allclose(each.test.statistic, expected.statistic, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(each.test.pvalue, expected.pvalue, rtol=1e-9)


@given(seeds)
def test_swapping_turns_the_sign(seed):
    a, b = draw(seed)
    for one, other in zip(
        grow_brunner_munzel(a, b, [5, 12]), grow_brunner_munzel(b, a, [5, 12]), strict=True
    ):
        np.testing.assert_allclose(one.test.statistic, -other.test.statistic, atol=1e-12)


def test_blocks_do_not_matter(monkeypatch):
    a, b = draw(1, n_samples=50)
    (whole,) = grow_brunner_munzel(a, b, [12])
    monkeypatch.setattr("outperform.stats.rank_tests._SAMPLES_AT_ONCE", 7)
    (parts,) = grow_brunner_munzel(a, b, [12])
    assert np.array_equal(whole.test.pvalue, parts.test.pvalue)


# Calibration


@pytest.mark.slow
def test_level_is_near_alpha_in_large_samples():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 20_000, 40))
    (found,) = grow_brunner_munzel(a, b, [40])
    assert binomtest(int((found.test.pvalue <= 0.05).sum()), 20_000, 0.0515).pvalue > 0.001


# Negative control


def test_small_samples_do_not_keep_a_small_level():
    rng = np.random.default_rng(6)
    a, b = rng.normal(size=(2, 20_000, 5))
    (found,) = grow_brunner_munzel(a, b, [5])
    assert (found.test.pvalue <= 0.001).mean() > 0.01


# Refusals


def test_samples_of_different_sizes_are_refused():
    with pytest.raises(OutperformError, match="cannot pair 4 scores of a with 5 of b"):
        list(grow_brunner_munzel(np.zeros((3, 4)), np.zeros((3, 5)), [4]))


@pytest.mark.parametrize("sizes", [[], [1], [2, 6]])
def test_sizes_beyond_the_samples_are_refused(sizes):
    with pytest.raises(OutperformError, match="sizes"):
        list(grow_brunner_munzel(np.zeros((3, 5)), np.zeros((3, 5)), sizes))
