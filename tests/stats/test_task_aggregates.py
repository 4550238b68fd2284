"""One number over many tasks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, trim_mean

from outperform.errors import InvalidInput
from outperform.stats import interquartile_mean, optimality_gap

AGGREGATES = [interquartile_mean, optimality_gap]
some_scores = st.lists(st.integers(-50, 50).map(lambda n: n / 20), min_size=1, max_size=30)
aggregates = pytest.mark.parametrize("aggregate", AGGREGATES)

# By hand


@pytest.mark.parametrize(
    ("scores", "mean"),
    [
        ([4], 4),
        ([1, 2, 9], 4),  # a quarter of 3 is no whole score
        ([100, 2, 1, 3], 2.5),
        ([-50, 1, 2, 3, 100], 2),  # 1 to 3 are left
        ([1, 2, 3, 4, 5, 6, 7, 80], 4.5),
    ],
)
def test_interquartile_mean_by_hand(scores, mean):
    assert interquartile_mean(scores) == pytest.approx(mean, rel=1e-12)


def test_optimality_gap_by_hand():
    # Short by 1/2, 0 and 0: what is above the target makes up for nothing.
    assert optimality_gap([0.5, 7, 1]) == pytest.approx(1 / 6, rel=1e-12)
    assert optimality_gap([0.5, 7, 1], target=3) == pytest.approx(4.5 / 3, rel=1e-12)
    assert optimality_gap([2, 3]) == 0


# References


@given(some_scores)
def test_interquartile_mean_matches_scipy(scores):
    assert interquartile_mean(scores) == pytest.approx(trim_mean(scores, 0.25), abs=1e-12)


@given(some_scores, st.integers(-2, 2).map(float))
def test_optimality_gap_is_as_published(scores, target):
    # Agarwal et al. (2021): the target minus the mean of scores that are cut off there.
    expected = target - np.mean(np.minimum(scores, target))
    assert optimality_gap(scores, target=target) == pytest.approx(expected, abs=1e-12)


# Properties


@given(some_scores, st.randoms())
def test_units_and_order(scores, random):
    mean, gap = interquartile_mean(scores), optimality_gap(scores)
    shuffled = random.sample(scores, len(scores))
    assert interquartile_mean(shuffled) == pytest.approx(mean, abs=1e-12)
    assert optimality_gap(shuffled) == pytest.approx(gap, abs=1e-12)
    scaled = 3 * np.array(scores) - 1
    assert interquartile_mean(scaled) == pytest.approx(3 * mean - 1, abs=1e-9)
    assert optimality_gap(scaled, target=2) == pytest.approx(3 * gap, abs=1e-9)
    assert min(scores) - 1e-12 <= mean <= max(scores) + 1e-12
    assert gap >= 0


@aggregates
@pytest.mark.parametrize("axis", [0, 1, -1, -3])
def test_any_axis(aggregate, axis):
    scores = np.random.default_rng(3).normal(size=(5, 6, 9))
    alone = np.apply_along_axis(aggregate, axis, scores)
    assert aggregate(scores, axis=axis) == pytest.approx(alone, rel=1e-12)


# Calibration: an interval of the known variance holds the truth as often as it says.


def count_holding(estimates, truth, variance, n):
    return np.count_nonzero(abs(estimates - truth) <= 1.959964 * math.sqrt(variance / n))


@pytest.mark.slow
def test_interquartile_mean_varies_as_theory_says():
    # Of normal scores, n times its variance is (1/2 - 2zφ(z) + z²/2) / (1/2)², z = .6745: 1.195.
    scores = np.random.default_rng(4).normal(size=(10_000, 400))
    hits = count_holding(interquartile_mean(scores), 0, 1.195, 400)
    assert binomtest(hits, 10_000, 0.95).pvalue > 0.001
    # Negative control: with the variance of the mean, it would not.
    hits = count_holding(interquartile_mean(scores), 0, 1, 400)
    assert binomtest(hits, 10_000, 0.95).pvalue < 0.001


@pytest.mark.slow
def test_optimality_gap_varies_as_theory_says():
    # Scores uniform on [0, 2]: the shortfall has mean 1/4, mean square 1/6, variance 5/48.
    scores = np.random.default_rng(5).uniform(0, 2, size=(10_000, 400))
    hits = count_holding(optimality_gap(scores), 1 / 4, 5 / 48, 400)
    assert binomtest(hits, 10_000, 0.95).pvalue > 0.001


def test_one_wild_task_moves_the_mean_and_not_these():
    # Negative control of both: the plain mean fails the same checks.
    scores = np.random.default_rng(6).uniform(0, 1, size=40)
    wild = np.append(scores, 1e6)
    assert interquartile_mean(wild) == pytest.approx(interquartile_mean(scores), abs=0.05)
    assert optimality_gap(wild) == pytest.approx(optimality_gap(scores), abs=0.05)
    assert np.mean(wild) > 1e4


# Refusals


@aggregates
def test_nan_is_refused(aggregate):
    with pytest.raises(InvalidInput) as caught:
        aggregate([0.1, math.nan])
    assert str(caught.value) == (
        "scores has 1 score that is NaN or infinite, at position 1 (first: nan). Find out "
        "why these runs failed; to leave them out, remove them, and their partners if paired."
    )


def test_a_target_is_a_number():
    with pytest.raises(InvalidInput) as caught:
        optimality_gap([0.1], target=math.inf)
    assert str(caught.value) == "target is inf. Pass the score that counts as solved."
