"""The best of many, exactly."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from outperform.errors import InvalidInput
from outperform.stats import (
    best_of_distribution,
    chance_needed,
    chance_to_reach,
    clopper_pearson_interval,
    luck_of_best,
)

# METHODS, section 5: table 1 of Møllersen and Holsbø (2023).
TABLE = [
    (1000, 3000, 0.85, 0.8707, 0.002197),
    (1000, 3000, 0.90, 0.9173, 0.001817),
    (1000, 3000, 0.95, 0.9624, 0.001277),
    (100, 3000, 0.90, 0.9135, 0.002250),
    (500, 3000, 0.90, 0.9163, 0.001923),
    (1000, 1000, 0.90, 0.9294, 0.003007),
    (1000, 10000, 0.90, 0.9096, 0.001022),
]
chances = st.integers(1, 99).map(lambda percent: percent / 100)


def all_z(best):
    return np.arange(best.n + 1)


# By hand


def test_two_coins_by_hand():
    # Failures of two flips: 0, 1, 2 with 1/4, 1/2, 1/4. P(best has 0) = 1 - (3/4)² = 7/16,
    # P(best has at most 1) = 1 - (1/4)² = 15/16.
    best = best_of_distribution(2, 2, 0.5)
    assert best.cdf([-1, 0, 1, 2, 3]) == pytest.approx([0, 7 / 16, 15 / 16, 1, 1])
    assert best.pmf([-1, 0, 1, 2, 3]) == pytest.approx([0, 7 / 16, 8 / 16, 1 / 16, 0])
    assert best.mean == pytest.approx(1 - (8 / 16 + 2 / 16) / 2)
    assert best.sd == pytest.approx(math.sqrt(8 / 16 + 4 / 16 - (10 / 16) ** 2) / 2)


def test_different_chances_by_hand():
    # One trial: both fail with 0.5 · 0.2.
    best = best_of_distribution(2, 1, [0.5, 0.8])
    assert best.cdf(0) == pytest.approx(0.9)


@pytest.mark.parametrize(("p", "z"), [(1.0, 0), (0.0, 7)])
def test_the_certain_is_certain(p, z):
    best = best_of_distribution(3, 7, p)
    assert (best.mean, best.sd, best.upper(), best.lower()) == (1 - z / 7, 0, 1 - z / 7, 1 - z / 7)
    assert best.pmf(all_z(best)).tolist() == [float(k == z) for k in range(8)]


def test_fractions_of_a_failure_are_rounded_down():
    best = best_of_distribution(10, 20, 0.5)
    assert best.cdf(4.9) == best.cdf(4)


# Reference


@pytest.mark.parametrize(("m", "n", "p", "mean", "sd"), TABLE)
def test_table_1(m, n, p, mean, sd):
    best = best_of_distribution(m, n, p)
    assert round(best.mean, 4) == mean
    assert round(best.sd, 6) == sd


def test_the_papers_further_numbers():
    best = best_of_distribution(1000, 3000, 0.9)
    alone = clopper_pearson_interval(2700, 3000)
    assert (round(alone.low, 4), round(alone.high, 4)) == (0.8887, 0.9105)
    assert best.fewest(0.025) == 236
    assert round(best.upper(0.05), 4) == 0.9213
    exceeds = chance_to_reach(best.upper(0.05), 3000, alone.high, strictly=True)
    assert round(exceeds, 4) == 0.0161
    assert round(chance_to_reach(best.upper(0.05), 3000, alone.high), 4) == 0.0190
    assert round(chance_to_reach(best.mean, 3000, alone.high), 4) == 0.0996


def test_coin_flips_of_the_paper():
    # 20 flips, 1,000 guessers: some p̂ of at least .9.
    assert round(float(best_of_distribution(1000, 20, 0.5).cdf(2)), 2) == 0.18


def test_both_tails_match_r(reference):
    for case in reference("extremes"):
        best = best_of_distribution(case["m"], case["n"], case["p"])
        assert best.cdf(case["z"]) == pytest.approx(case["cdf"], rel=1e-10, abs=0)
        survival = np.exp(best._log_survival_at(case["z"]))
        assert survival == pytest.approx(case["survival"], rel=1e-8, abs=1e-290)


def test_different_chances_match_scipy():
    p = np.linspace(0.7, 0.95, 37)
    best = best_of_distribution(p.size, 400, p)
    survival = binom.sf(all_z(best)[:, None], 400, 1 - p)
    assert best.cdf(all_z(best)) == pytest.approx(1 - survival.prod(axis=1), abs=1e-13)


# Property


@given(st.integers(1, 50), st.integers(1, 60), chances)
def test_probabilities_add_up(m, n, p):
    best = best_of_distribution(m, n, p)
    mass = best.pmf(all_z(best))
    assert mass.sum() == pytest.approx(1)
    assert (mass >= 0).all()
    assert best.mean == pytest.approx(mass @ (1 - all_z(best) / n))
    assert best.sd == pytest.approx(math.sqrt(mass @ (1 - all_z(best) / n - best.mean) ** 2))


@given(st.integers(1, 50), st.integers(1, 300), chances)
def test_one_p_for_all_is_that_p_for_each(m, n, p):
    together, each = best_of_distribution(m, n, p), best_of_distribution(m, n, [p] * m)
    assert each.cdf(all_z(each)) == pytest.approx(together.cdf(all_z(each)), rel=1e-9)


@given(st.lists(chances, min_size=2, max_size=8), st.integers(1, 400))
def test_one_more_never_makes_the_best_worse(p, n):
    fewer, more = best_of_distribution(len(p) - 1, n, p[1:]), best_of_distribution(len(p), n, p)
    assert (more.cdf(all_z(more)) >= fewer.cdf(all_z(more)) - 1e-13).all()


@given(st.integers(1, 500), st.integers(1, 300), chances, st.sampled_from([0.5, 0.05, 1e-6]))
def test_the_upper_bound_is_the_first_that_reaches_its_level(m, n, p, alpha):
    best = best_of_distribution(m, n, p)
    z = best.fewest(alpha / 2)
    assert best.upper(alpha) == (n - z) / n
    assert best.cdf(z) >= alpha / 2 > best.cdf(z - 1)
    assert best.interval(1 - alpha).high == pytest.approx(best.upper(alpha), abs=1 / n)


@given(st.integers(1, 400), st.integers(0, 400), st.floats(0.01, 0.99))
def test_what_is_needed_gives_the_power(n, z, power):
    accuracy = max(0.0, 1 - z / n)
    if accuracy > 0:
        needed = chance_needed(accuracy, n, power)
        assert chance_to_reach(accuracy, n, needed) == pytest.approx(power, abs=1e-9)


def test_a_million_of_a_million_neither_overflow_nor_vanish():
    best = best_of_distribution(10**6, 10**6, 0.9)
    assert np.isfinite([best.mean, best.sd]).all()
    assert 0.9 < best.mean < best.upper(1e-12) < 0.91


# Calibration


@pytest.mark.slow
def test_the_best_is_beyond_its_bounds_as_often_as_they_say():
    rng = np.random.default_rng(8128)
    p = rng.uniform(0.8, 0.9, 40)
    best = best_of_distribution(40, 500, p)
    tops = rng.binomial(500, p, size=(20_000, 40)).max(axis=1) / 500
    expected = float(best.cdf(best.fewest(0.025)))
    hits = int((tops >= best.upper(0.05) - 1e-12).sum())
    assert binomtest(hits, tops.size, expected).pvalue > 0.001
    assert tops.mean() == pytest.approx(best.mean, abs=4 * best.sd / math.sqrt(tops.size))
    assert tops.std() == pytest.approx(best.sd, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.02, 0.1])
def test_luck_is_what_winners_lose_on_fresh_examples(spread):
    rng = np.random.default_rng(28)
    p = 0.9 - spread * np.linspace(0, 1, 30)
    shown = rng.binomial(1000, p, size=(40_000, 30)) + rng.random((40_000, 30)) * 0.5
    winners = shown.argmax(axis=1)
    luck = np.floor(shown.max(axis=1)) / 1000 - p[winners]
    assert luck_of_best(1000, p) == pytest.approx(luck.mean(), abs=1e-4)


def test_those_who_tie_share_the_honour():
    # Both right: 0.45, worth 0.7 on average; only one: 0.05 · 0.5 + 0.45 · 0.9; none: 0.05 · 0.7.
    # That is 0.78, and the best shows 0.95.
    assert luck_of_best(1, [0.5, 0.9]) == pytest.approx(0.95 - 0.78, abs=1e-12)


def test_extremes_keep_their_digits():
    best = best_of_distribution(10**9, 10**7, 1e-9)
    assert best.upper(0.05) == 4e-7
    assert best_of_distribution(1, 10**7, 1e-9).mean == pytest.approx(1e-9, rel=1e-12, abs=0)
    for z in (-1, 0, 7):
        chance, mass = best.cdf(z), best.pmf(z)
        assert isinstance(chance, float)
        assert isinstance(mass, float)
        assert str(chance) == str(mass) == "0.0"


# Negative control


def test_the_best_of_more_is_told_from_the_best_of_fewer():
    assert best_of_distribution(1001, 3000, 0.9).mean > best_of_distribution(1000, 3000, 0.9).mean


def test_luck_vanishes_where_there_is_no_choice():
    assert luck_of_best(1000, [0.9]) == pytest.approx(0, abs=1e-12)
    assert luck_of_best(1000, [0.9, 0.1]) == pytest.approx(0, abs=1e-12)


# Refusals


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 10, 0.5), "m is 0. Pass a whole number not less than 1."),
        ((10, 0, 0.5), "n is 0. Pass a whole number not less than 1."),
        ((10, 1.5, 0.5), "n is 1.5. Pass a whole number not less than 1."),
        ((10, 10, 90), "p is 90. Pass probabilities between 0 and 1 (90% is 0.9)."),
        ((10, 10, -0.1), "p is -0.1. Pass probabilities between 0 and 1."),
        ((3, 10, [0.5, 0.6]), "m is 3, but p has 2 values. Pass one p for all, or one for each."),
    ],
)
def test_nonsense_is_refused(arguments, message):
    with pytest.raises(InvalidInput) as caught:
        best_of_distribution(*arguments)
    assert str(caught.value) == message


def test_more_than_everything_cannot_be_reached():
    with pytest.raises(InvalidInput) as caught:
        chance_needed(1.0, 10, 0.5, strictly=True)
    assert str(caught.value) == "no accuracy on 10 trials is above 1. Ask for a lower accuracy."
    assert chance_to_reach(1.0, 10, 0.9, strictly=True) == 0
    with pytest.raises(InvalidInput) as caught:
        chance_to_reach(91.0, 10, 0.9)
    assert str(caught.value) == "accuracy is 91. Pass a value between 0 and 1."
