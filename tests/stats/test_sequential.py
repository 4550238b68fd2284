"""Looking after every pair, by the anytime-valid interval."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from outperform.errors import InvalidInput
from outperform.stats import (
    anytime_interval,
    anytime_power,
    may_still_win,
    percentile_interval,
    second_look_level,
    smallest_conclusive,
)
from outperform.stats.sequential import decide_by_looking


def decide_by_interval(differences, gamma=0.75, alpha=0.05):
    """Look with the interval itself, pair by pair."""
    for n in range(1, len(differences) + 1):
        seen = np.array(differences[:n])
        wins = (seen > 0).sum() + (seen == 0).sum() / 2
        interval = anytime_interval(wins, n, confidence_level=1 - alpha)
        enough = np.count_nonzero(seen) >= smallest_conclusive(alpha)
        if enough and interval.low > 0.5:
            return interval.high > gamma
        if enough and interval.high < 0.5:
            return False
    return False


def look(differences, gamma=0.75, alpha=0.05):
    a = np.array([differences], dtype=float)
    return bool(decide_by_looking(a, np.zeros_like(a), gamma=gamma, alpha=alpha)[0])


# By hand


def test_wins_in_a_row_by_hand():
    # n wins of n: the mixture's likelihood is Γ(n+½)/(√π·n!) = C(2n, n)/4^n, against 2^-n at ½.
    # n = 7: 3432/16384 · .05 = .01047 > 2^-7 = .0078: decided. n = 6: .01128 < .0156: not yet.
    assert not look([1] * 6)
    assert look([1] * 7)
    assert not look([-1] * 7 + [1] * 50)  # B has won by then, and looking is over


@pytest.mark.parametrize("probability", [0.3, 0.5, 0.9, 1.0])
def test_power_of_seven_pairs_by_hand(probability):
    # All seven must be won.
    found = anytime_power(7, np.array(probability))
    assert found == pytest.approx(probability**7, rel=1e-12)
    assert anytime_power(6, np.array(probability)) == 0


# Reference


@settings(max_examples=150)
@given(
    st.integers(0, 2**32 - 1),
    st.floats(0, 1),
    st.sampled_from([0.0, 0.2]),
    st.sampled_from([0.6, 0.75, 0.9]),
    st.sampled_from([0.05, 0.2]),
)
def test_looking_agrees_with_the_interval_itself(seed, chance, share_of_ties, gamma, alpha):
    rng = np.random.default_rng(seed)
    differences = np.where(rng.random(60) < chance, 1.0, -1.0) * (rng.random(60) >= share_of_ties)
    assert look(differences, gamma, alpha) == decide_by_interval(differences, gamma, alpha)


@pytest.mark.parametrize("alpha", [0.05, 0.2, 0.9])
@pytest.mark.parametrize("gamma", [0.5, 0.75])
def test_power_counts_every_sequence_that_is_won(gamma, alpha):
    n = 14
    won = np.arange(2**n)[:, None] >> np.arange(n) & 1
    a = 2.0 * won - 1
    found = decide_by_looking(a, np.zeros_like(a), gamma=gamma, alpha=alpha)
    for chance in (0.3, 0.5, 0.8):
        likelihood = np.prod(np.where(won, chance, 1 - chance), axis=1)
        power = anytime_power(n, np.array(chance), gamma=gamma, alpha=alpha)
        assert power == pytest.approx(likelihood[found].sum(), rel=1e-12)


# Properties


@given(st.integers(1, 80), st.floats(0, 1), st.floats(0, 1))
def test_power_grows_with_probability_and_with_pairs(n, one, other):
    low, high = sorted([one, other])
    weak, strong = anytime_power(n, np.array([low, high]))
    assert 0 <= weak <= strong + 1e-12 <= 1 + 1e-9
    assert anytime_power(n + 1, np.array(low)) >= weak - 1e-12


def test_shape_is_kept():
    assert anytime_power(20, np.full((2, 3), 0.8)).shape == (2, 3)


# Calibration


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_equals_are_found_different_at_most_alpha_however_long_one_looks(alpha):
    for n in (10, 100, 1000):
        assert 2 * anytime_power(n, np.array(0.5), gamma=0.5, alpha=alpha) <= alpha


@pytest.mark.slow
@pytest.mark.parametrize("probability", [0.5, 0.75, 0.9])
def test_simulated_looking_is_as_frequent_as_computed(probability):
    rng = np.random.default_rng(3)
    a = np.where(rng.random((20_000, 40)) < probability, 1.0, -1.0)
    hits = decide_by_looking(a, np.zeros_like(a), gamma=0.75, alpha=0.05).sum()
    rate = float(anytime_power(40, np.array(probability)))
    assert binomtest(int(hits), 20_000, rate).pvalue > 0.001


# Negative controls


def test_looking_with_the_percentile_interval_breaks_its_level():
    rng = np.random.default_rng(4)
    wins = np.cumsum(rng.random((2000, 60)) < 0.5, axis=1)
    low = {(w, n): percentile_interval(w, 0, n).low for n in range(6, 61) for w in range(n + 1)}
    ever = [any(low[w[n - 1], n] > 0.5 for n in range(6, 61)) for w in wins]
    assert np.mean(ever) > 0.05  # in one direction alone
    assert anytime_power(60, np.array(0.5), gamma=0.5) < 0.025


# Refusals


def test_impossible_settings_are_refused():
    for options, word in (({"gamma": 0.3}, "gamma"), ({"alpha": 2}, "alpha")):
        with pytest.raises(InvalidInput, match=word):
            anytime_power(20, np.array(0.5), **options)
    for probability in (-0.1, 1.5, np.nan):
        with pytest.raises(InvalidInput, match="probability is"):
            anytime_power(20, np.array([0.5, probability]))
    with pytest.raises(InvalidInput, match="n_pairs is 0"):
        anytime_power(0, np.array(0.5))


# A second look


def false_alarms(n_first, n_all, alpha, level):
    """Chance that two sign tests, the second on more pairs, find a difference between equals."""
    first = np.arange(n_first + 1)
    stops = np.array([binomtest(int(w), n_first, 0.5).pvalue < alpha for w in first])
    later = np.array([binomtest(int(w), n_all, 0.5).pvalue < level for w in range(n_all + 1)])
    more = np.arange(n_all - n_first + 1)
    chance_more = binom.pmf(more, n_all - n_first, 0.5)
    second = np.array([chance_more @ later[w + more] for w in first])
    return float(binom.pmf(first, n_first, 0.5) @ np.where(stops, 1.0, second))


def test_a_first_look_that_could_find_nothing_leaves_all_by_hand():
    # Of five pairs none is ever significant; of six, all are, with 2/64 = .031: .019 is left.
    assert second_look_level(5, 30) == 0.05
    assert second_look_level(6, 50) < 0.025


@given(st.integers(1, 25), st.integers(1, 25), st.sampled_from([0.1, 0.05, 0.01]))
@settings(max_examples=40, deadline=None)
def test_both_looks_together_keep_the_level(n_first, n_more, alpha):
    level = second_look_level(n_first, n_first + n_more, alpha=alpha)
    if level is not None:
        assert level <= alpha
        assert false_alarms(n_first, n_first + n_more, alpha, level) <= alpha + 1e-12


@pytest.mark.parametrize(("n_first", "n_all"), [(20, 60), (29, 54), (30, 60), (9, 30)])
def test_the_level_is_the_most_that_is_left(n_first, n_all):
    level = second_look_level(n_first, n_all)
    pvalues = sorted({binomtest(w, n_all, 0.5).pvalue for w in range(n_all + 1)})
    more = next(p for p in pvalues if p > level)
    assert false_alarms(n_first, n_all, 0.05, more * (1 + 1e-9)) > 0.05


def test_looking_again_at_the_same_level_breaks_it():
    assert false_alarms(20, 60, 0.05, 0.05) > 0.06


@pytest.mark.slow
def test_simulated_equals_are_told_apart_as_often_as_two_looks_may():
    rng, n = np.random.default_rng(5), 20_000
    first = rng.binomial(20, 0.5, n)
    both = first + rng.binomial(40, 0.5, n)
    pvalues = [{w: binomtest(w, size, 0.5).pvalue for w in range(size + 1)} for size in (20, 60)]
    level = second_look_level(20, 60)
    hits = sum(
        pvalues[0][w] < 0.05 or pvalues[1][v] < level
        for w, v in zip(first.tolist(), both.tolist(), strict=True)
    )
    assert binomtest(hits, n, false_alarms(20, 60, 0.05, level)).pvalue > 0.001


def test_a_second_look_at_fewer_pairs_is_refused():
    with pytest.raises(InvalidInput, match="n_all is 20"):
        second_look_level(20, 20)


# Whether winning is still possible


def test_eleven_wins_in_a_row_after_a_loss_would_do_by_hand():
    # Before the data, the mixture gives n wins and a loss B(n + ½, 3⁄2) / B(½, ½), and equals
    # 2⁻ⁿ⁻¹: a ratio of 16.4 for n = 10 and of 28.7 for n = 11, where 1/α = 20 is needed.
    assert not may_still_win(0, 1, 10)
    assert may_still_win(0, 1, 11)
    assert not may_still_win(0, 1, 0)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 40), st.sampled_from([0.01, 0.05]))
def test_it_is_what_the_interval_says_after_winning_the_rest(wins, losses, n_left, alpha):
    n = wins + losses
    if n + n_left == 0:
        return
    interval = anytime_interval(wins + n_left, n + n_left, confidence_level=1 - alpha)
    assert may_still_win(wins, n, n_left, alpha=alpha) == (interval.low > 0.5)


@given(st.integers(0, 20), st.integers(1, 20), st.integers(0, 20))
def test_more_wins_never_make_winning_less_likely(wins, losses, n_left):
    n = wins + losses
    if may_still_win(wins, n, n_left):
        assert may_still_win(wins + 1, n + 1, n_left)
        assert may_still_win(wins, n, n_left + 1)


def test_impossible_numbers_are_refused():
    with pytest.raises(InvalidInput, match="n_left is -1"):
        may_still_win(1, 2, -1)
