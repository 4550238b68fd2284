"""The best of many that resemble a reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from outperform.errors import InvalidInput
from outperform.stats import (
    best_of_agreeing,
    best_of_correlated,
    best_of_distribution,
    chance_of_best,
    feasible_range,
)
from outperform.stats.best_of_dependent import condition_on_reference, cumulate_given


def all_z(best):
    return np.arange(best.n + 1)


# By hand


def test_agreement_by_hand():
    # Two trials, the reference is right at one. With agreement 1 all are right there and wrong
    # at the other: always one failure.
    best = best_of_agreeing(5, 2, 1, 1.0)
    assert best.pmf([0, 1, 2]) == pytest.approx([0, 1, 0])


def test_correlation_by_hand():
    # One trial, p = ½, ρ = ½: right with ¾ where the reference is, else with ¼. Both of two fail
    # with ½ · (¼² + ¾²) = 5/16.
    best = best_of_correlated(2, 1, 0.5, 0.5)
    assert best.cdf(0) == pytest.approx(11 / 16)


def test_odds_bound_what_is_feasible():
    # odds of the reference 9, ρ² = ¼: odds from 9/4 to 36.
    assert feasible_range(0.5, 0.9) == pytest.approx((9 / 13, 36 / 37))
    assert feasible_range(-0.5, 0.9) == pytest.approx((1 / 37, 4 / 13))
    assert feasible_range(0, 0.9) == (0, 1)


# Reference


def test_the_papers_upper_bound():
    best = best_of_agreeing(1000, 3000, 2700, 0.95)
    assert best.fewest(0.025) == 244
    assert round(best.upper(0.05), 4) == 0.9187


def test_agreement_as_large_as_the_accuracy_is_independence():
    # "Setting p_dep = 0.9 there is practically no difference": there is none at all.
    dependent, alone = (
        best_of_agreeing(1000, 3000, 2700, 0.9),
        best_of_distribution(1000, 3000, 0.9),
    )
    assert dependent.mean == pytest.approx(alone.mean, abs=1e-14)
    assert dependent.cdf(all_z(alone)) == pytest.approx(alone.cdf(all_z(alone)), abs=1e-13)


def test_two_parts_match_scipy():
    z = np.arange(0, 61)
    shares = binom.pmf(np.arange(41), 40, 0.3)
    expected = [shares @ binom.cdf(k - np.arange(41), 20, 0.45) for k in z]
    assert cumulate_given(z, (40, 20), (0.7, 0.55)) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("rho", [0.3, 0.8])
def test_mixture_matches_a_sum_over_every_reference(rho):
    n, p, m = 150, 0.8, 20
    right, wrong = (float(x[0]) for x in condition_on_reference(np.array([p]), rho, p))
    best = best_of_correlated(m, n, p, rho)
    expected = np.zeros(n + 1)
    for k in range(n + 1):
        where_right = binom.pmf(np.arange(k + 1), k, 1 - right)
        where_wrong = binom.pmf(np.arange(n - k + 1), n - k, 1 - wrong)
        one = np.cumsum(np.convolve(where_right, where_wrong))
        expected += binom.pmf(k, n, p) * (1 - np.maximum(1 - one, 0) ** m)
    assert best.cdf(all_z(best)) == pytest.approx(expected, abs=1e-12)


# Property


@settings(max_examples=30)
@given(st.integers(2, 80), st.floats(0.1, 0.9), st.floats(-0.3, 0.9))
def test_one_alone_does_not_feel_dependence(n, p, rho):
    low, high = feasible_range(rho, p)
    if low <= p <= high:
        one, alone = best_of_correlated(1, n, p, rho), best_of_distribution(1, n, p)
        assert one.cdf(all_z(one)) == pytest.approx(alone.cdf(all_z(one)), abs=1e-11)


@settings(max_examples=30)
@given(st.integers(2, 200), st.integers(2, 120), st.floats(0.5, 0.9), st.floats(0.0, 0.95))
def test_dependence_lies_between_one_and_independence(m, n, p, rho):
    dependent = best_of_correlated(m, n, p, rho).mean
    one, alone = (best_of_distribution(k, n, p).mean for k in (1, m))
    assert one - 1e-10 <= dependent <= alone + 1e-10


@settings(max_examples=30)
@given(st.integers(1, 100), st.integers(2, 100), st.floats(0.2, 0.9), st.floats(0.0, 0.9))
def test_one_chance_is_that_of_the_distribution(m, n, p, rho):
    z = n // 4
    best = best_of_correlated(m, n, p, rho)
    assert chance_of_best(m, n, p, z, correlation=rho) == pytest.approx(
        float(best.cdf(z)), abs=1e-10
    )


@pytest.mark.parametrize("rho", [0.05, 0.5, 0.9])
def test_leaving_out_neighbours_of_the_reference_changes_nothing(rho, monkeypatch):
    thinned = best_of_correlated(1000, 20_000, 0.9, rho)
    monkeypatch.setattr("outperform.stats.best_of_dependent._STEPS_PER_WIDTH", 1e12)
    full = best_of_correlated(1000, 20_000, 0.9, rho)
    z = np.arange(full.first, full.first + full.log_survival.size)
    assert thinned.cdf(z) == pytest.approx(full.cdf(z), abs=1e-12)


# Calibration


@pytest.mark.slow
def test_simulated_references_and_followers_agree_with_it():
    rng, n, m, p = np.random.default_rng(496), 200, 25, np.array([0.8] * 15 + [0.75] * 10)
    right, wrong = condition_on_reference(p, 0.6, 0.8)
    best = best_of_correlated(m, n, p, 0.6, reference=0.8)
    tops = []
    for _ in range(20_000):
        k = rng.binomial(n, 0.8)
        tops.append((rng.binomial(k, right) + rng.binomial(n - k, wrong)).max())
    z = best.fewest(0.1)
    hits = int((np.array(tops) >= n - z).sum())
    assert binomtest(hits, len(tops), float(best.cdf(z))).pvalue > 0.001
    assert np.mean(tops) / n == pytest.approx(best.mean, abs=4 * best.sd / len(tops) ** 0.5)


# Negative control


def test_agreement_is_noticed():
    means = [best_of_agreeing(1000, 3000, 2700, a).mean for a in (0.9, 0.91, 0.95, 0.99)]
    assert means == sorted(means, reverse=True)
    assert means[0] - means[-1] > 0.005


# Refusals


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: best_of_correlated(10, 100, 0.5, 0.9, reference=0.9),
            "success with probability 0.5 cannot correlate by 0.9 with a reference that succeeds "
            "with probability 0.9. Pass a p from 0.8794 to 0.9174, or a correlation nearer to 0.",
        ),
        (
            lambda: best_of_correlated(10, 100, 0.5, 1.2),
            "correlation is 1.2. Pass a value between -1 and 1.",
        ),
        (
            lambda: best_of_correlated(10, 100, 0.5, 0.2, reference=1.0),
            "reference is 1. Pass a value between 0 and 1.",
        ),
        (
            lambda: best_of_agreeing(10, 100, 90, 0.5),
            "agreement is 0.5. Pass a value from 0.8889 to 1: with a reference that is right at 90 "
            "of 100 trials, others cannot be as good otherwise.",
        ),
        (
            lambda: best_of_agreeing(10, 100, 100, 0.9),
            "the reference is right at 100 of 100 trials. Pass an n_right below n: a reference "
            "that never fails tells nothing apart.",
        ),
    ],
)
def test_the_infeasible_is_refused(call, message):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert str(caught.value) == message
