"""What a lead is worth among equals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from outperform.errors import InvalidInput
from outperform.stats import area_gap_of_best, chance_of_area_lead, chance_of_lead, gap_of_best


def test_leads_of_two_coins_by_hand():
    # Failures of two flips: 0, 1, 2 with 1/4, 1/2, 1/4. A lead of 2: one has 0, the other 2.
    assert chance_of_lead(2, 2, 0.5, 2) == pytest.approx(2 / 16)
    # A lead of at least 1: not equal, 1 - (1 + 4 + 1) / 16.
    assert chance_of_lead(2, 2, 0.5, 1) == pytest.approx(10 / 16)
    assert chance_of_lead(2, 2, 0.5, 0) == 1


def test_gap_of_two_coins_by_hand():
    # The best of two lags by 2 with 1/16, by 1 with 4/16.
    assert gap_of_best(2, 2, 0.5, confidence_level=0.9) == 1
    assert gap_of_best(2, 2, 0.5, confidence_level=0.95) == 2
    assert gap_of_best(2, 2, 0.5, confidence_level=0.6) == 0


def test_gap_approaches_guptas_table():
    # Gupta (1956): d = 1.645 · √2 for two normals, 3.417 for ten at 95%.
    assert area_gap_of_best(2) == pytest.approx(2.326, abs=5e-4)
    assert area_gap_of_best(10) == pytest.approx(3.417, abs=2e-3)
    sd = np.sqrt(10**6 * 0.9 * 0.1)
    assert gap_of_best(10, 10**6, 0.9) / sd == pytest.approx(3.417, rel=0.005)


@given(st.integers(2, 50), st.integers(1, 60), st.integers(1, 99), st.integers(0, 10))
def test_larger_leads_are_rarer(m, n, percent, lead):
    p = percent / 100
    assert chance_of_lead(m, n, p, lead + 1) <= chance_of_lead(m, n, p, lead) + 1e-12


@given(st.integers(2, 200), st.integers(2, 300), st.floats(0.5, 0.95))
def test_dependence_narrows_the_gap(m, n, p):
    assert gap_of_best(m, n, p, correlation=0.9) <= gap_of_best(m, n, p, correlation=0.1) + 1


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_the_truly_best_is_in_the_set_as_often_as_it_says(rho):
    rng, n, m, p = np.random.default_rng(6), 400, 30, 0.85
    right = p + rho * (1 - p)
    wrong = p - rho * p
    k = round(n * p)
    failures = n - rng.binomial(k, right, (20_000, m)) - rng.binomial(n - k, wrong, (20_000, m))
    gap = gap_of_best(m, n, p, correlation=rho)
    lags = failures[:, 0] - failures.min(axis=1)
    assert (lags <= gap).mean() >= 0.95 - 0.005
    assert (lags <= gap - 1).mean() < 0.95 + 0.005  # no larger than it needs to be
    ordered = np.sort(failures, axis=1)
    hits = int((ordered[:, 1] - ordered[:, 0] >= 3).sum())
    expected = chance_of_lead(m, n, p, 3, correlation=rho)
    assert binomtest(hits, 20_000, expected).pvalue > 0.001


@pytest.mark.slow
def test_leads_of_normals():
    rng = np.random.default_rng(33)
    ordered = np.sort(rng.normal(size=(40_000, 12)), axis=1)
    hits = int((ordered[:, -1] - ordered[:, -2] >= 0.7).sum())
    assert binomtest(hits, 40_000, chance_of_area_lead(12, 0.7)).pvalue > 0.001


def test_a_lead_is_noticed():
    assert chance_of_lead(1000, 3000, 0.9, 30) < 0.001 < chance_of_lead(1000, 3000, 0.9, 10)


def test_one_has_no_second():
    with pytest.raises(InvalidInput) as caught:
        chance_of_lead(1, 10, 0.5, 1)
    assert str(caught.value) == "m is 1, which has no second. Pass an m of at least 2."
    with pytest.raises(InvalidInput) as caught:
        chance_of_lead(2, 10, 0.5, -1)
    assert str(caught.value) == "lead is -1. Pass a whole number not less than 0."
