"""The best of many that resemble a reference: its lead, and what all are worth by its score."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import binom, binomtest, rankdata

from outperform.errors import InvalidInput
from outperform.stats import (
    area_deviation,
    area_gap_of_best,
    best_area_distribution,
    best_of_agreeing,
    best_of_correlated,
    best_of_distribution,
    chance_of_area_lead,
    chance_of_best,
    chance_of_lead,
    clopper_pearson_interval,
    common_area,
    common_area_interval,
    common_chance,
    common_chance_interval,
    feasible_range,
    gap_of_best,
    luck_of_best_area,
    miss_of_alike,
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


# Leads


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


# Common scores


def test_one_is_worth_what_it_shows():
    assert common_chance(1, 20, 5) == pytest.approx(0.75, abs=1e-6)
    assert common_chance(7, 20, 0) == 1
    assert common_chance(7, 20, 20) == 0


def test_few_distributions_are_worked_out(monkeypatch):
    asked = []

    def count(m, n, p, correlation):
        asked.append(p)
        return best_of_correlated(m, n, p, correlation)

    monkeypatch.setattr("outperform.stats.best_of_dependent.best_of_correlated", count)
    common_chance(3587, 11072, 979)
    assert len(asked) <= 8


def test_perfection_bounds_by_hand():
    # z = 0: the limit solves 1 - (1 - p^n)^m = α/2.
    found = common_chance_interval(3, 10, 0)
    assert 1 - (1 - found.low**10) ** 3 == pytest.approx(0.025)
    assert found.high == 1
    assert common_chance_interval(3, 10, 10).low == 0


@pytest.mark.parametrize("z", [0, 3, 150, 299, 300])
def test_interval_of_one_is_clopper_and_pearsons(z):
    found, expected = common_chance_interval(1, 300, z), clopper_pearson_interval(300 - z, 300)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


@settings(max_examples=25)
@given(st.integers(2, 3000), st.integers(20, 5000), st.floats(0.05, 0.95))
def test_estimate_inverts_the_expectation(m, n, share):
    z = round(n * share)
    p = common_chance(m, n, z)
    assert best_of_distribution(m, n, p).mean == pytest.approx(1 - z / n, abs=1e-6)


@pytest.mark.parametrize("rho", [0.3, 0.8])
def test_correlated_estimate_and_bounds_invert_the_distribution(rho):
    p, found = common_chance(50, 800, 100, correlation=rho), None
    assert best_of_correlated(50, 800, p, rho).mean == pytest.approx(0.875, abs=1e-6)
    found = common_chance_interval(50, 800, 100, correlation=rho)
    assert best_of_correlated(50, 800, found.low, rho).cdf(100) == pytest.approx(0.025, abs=1e-4)
    assert best_of_correlated(50, 800, found.high, rho).cdf(99) == pytest.approx(0.975, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("m", "n", "rho"), [(40, 300, 0.0), (1000, 300, 0.0), (40, 80, 0.5)])
def test_sober_estimates_have_less_bias_and_intervals_cover(m, n, rho):
    rng, p, n_boards = np.random.default_rng(m), 0.85, 3000
    right, wrong = p + rho * (1 - p), p - rho * p
    k = rng.binomial(n, p, (n_boards, 1))
    shown = rng.binomial(k, right, (n_boards, m)) + rng.binomial(n - k, wrong, (n_boards, m))
    failures, counts = np.unique(n - shown.max(axis=1), return_counts=True)
    sober = np.array([common_chance(m, n, int(z), correlation=rho) for z in failures])
    naive_bias = float(counts @ (1 - failures / n)) / n_boards - p
    assert abs(counts @ sober / n_boards - p) < 0.05 * naive_bias
    covers = [p in common_chance_interval(m, n, int(z), correlation=rho) for z in failures]
    assert counts @ covers / n_boards >= 0.95 - 0.01


def test_the_naive_interval_does_not_cover():
    # Negative control: without correction, the top's own interval excludes the truth.
    best = best_of_distribution(1000, 3000, 0.9)
    top = round(3000 * best.mean)
    assert 0.9 not in clopper_pearson_interval(top, 3000)
    assert 0.9 in common_chance_interval(1000, 3000, 3000 - top)


# Areas


def test_deviation_of_no_skill_is_that_of_the_rank_sum():
    assert area_deviation(0.5, 30, 70) == pytest.approx(np.sqrt(101 / (12 * 30 * 70)))


def simulate_areas(rng, area, n_positives, n_negatives, size):
    distance = np.sqrt(2) * ndtri(area)
    scores = rng.normal(size=(size, n_positives + n_negatives))
    scores[:, :n_positives] += distance
    ranks = rankdata(scores, axis=1)[:, :n_positives].sum(axis=1)
    return (ranks - n_positives * (n_positives + 1) / 2) / (n_positives * n_negatives)


@pytest.mark.slow
def test_simulated_areas_vary_as_the_binormal_model_says():
    rng = np.random.default_rng(3)
    areas = simulate_areas(rng, 0.9, 60, 140, 20_000)
    assert areas.std() == pytest.approx(area_deviation(0.9, 60, 140), rel=0.02)
    tops = areas.reshape(-1, 20).max(axis=1)
    best = best_area_distribution(20, 0.9, 60, 140)
    one = best_area_distribution(1, 0.9, 60, 140)
    assert (one.mean, one.sd) == pytest.approx((0.9, area_deviation(0.9, 60, 140)), rel=1e-4)
    assert tops.mean() == pytest.approx(best.mean, abs=0.001)
    assert (tops <= best.upper(0.1)).mean() == pytest.approx(0.95, abs=0.02)
    assert (tops <= best.lower(0.1)).mean() == pytest.approx(0.05, abs=0.02)
    sober = [common_area(20, top, 60, 140) for top in tops[:100]]
    assert abs(np.mean(sober) - 0.9) < 0.2 * (tops.mean() - 0.9)


def test_area_of_the_melanoma_challenge():
    # Møllersen and Holsbø (2023): an AUC of 0.9352 on 7,687 images has the upper bound 0.9490.
    # They say neither how many were melanomas (2% of the training images) nor what model that is:
    # ours says the same for 255 of them, and 0.9528 for 2%.
    assert best_area_distribution(1, 0.9352, 255, 7432).upper(0.05) == pytest.approx(
        0.949, abs=2e-4
    )
    assert best_area_distribution(1, 0.9352, 154, 7533).upper(0.05) == pytest.approx(
        0.9528, abs=2e-4
    )


@settings(max_examples=10)
@given(st.integers(1, 500), st.floats(0.6, 0.98), st.sampled_from([0.0, 0.5, 0.9]))
def test_area_estimate_inverts_the_expectation(m, area, rho):
    sober = common_area(m, area, 150, 400, correlation=rho)
    best = best_area_distribution(m, sober, 150, 400, correlation=rho)
    assert sober <= area + 1e-6
    if sober > 0.5:
        assert best.mean == pytest.approx(area, abs=1e-5)
        assert best.lower() < best.mean < best.upper()
        assert float(best.cdf(best.upper(0.05))) == pytest.approx(0.975, abs=1e-6)


def test_area_bounds_invert_the_distribution():
    found = common_area_interval(50, 0.9, 150, 400, correlation=0.5)
    for area, below in ((found.low, 0.975), (found.high, 0.025)):
        best = best_area_distribution(50, area, 150, 400, correlation=0.5)
        assert float(best.cdf(0.9)) == pytest.approx(below, abs=1e-4)


def test_dependence_brings_the_best_area_back():
    means = [best_area_distribution(100, 0.9, 50, 50, correlation=r).mean for r in (0, 0.5, 0.95)]
    assert means[0] > means[1] > means[2] > 0.9


@pytest.mark.slow
def test_luck_of_areas_is_what_winners_lose():
    rng = np.random.default_rng(5)
    areas, deviations = np.array([0.9, 0.89, 0.85, 0.9]), np.array([0.03, 0.04, 0.03, 0.02])
    middles = np.arccos((1 - 2 * areas) * np.exp(2 * deviations**2)) / 2
    shown = np.sin(middles + deviations * rng.normal(size=(200_000, 4))) ** 2
    luck = (shown.max(axis=1) - areas[shown.argmax(axis=1)]).mean()
    assert luck_of_best_area(areas, deviations) == pytest.approx(luck, abs=2e-4)


def test_areas_are_refused_where_they_make_no_sense():
    with pytest.raises(InvalidInput) as caught:
        best_area_distribution(10, 0.9, 10, 10, correlation=1.0)
    assert str(caught.value) == "correlation is 1. Pass a value between -1 and 1."
    with pytest.raises(InvalidInput) as caught:
        area_deviation(0.9, 0, 10)
    assert str(caught.value) == "n_positives is 0. Pass a whole number not less than 1."


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.8, 0.99])
def test_one_alone_is_alike_to_nobody(correlation):
    # ρZ + √(1 - ρ²)·M is normal for m = 1, whatever ρ.
    assert miss_of_alike(1, correlation) == pytest.approx(0.05, abs=1e-9)
    assert miss_of_alike(1, correlation, confidence_level=0.8) == pytest.approx(0.2, abs=1e-9)


@pytest.mark.parametrize("m", [2, 20, 500])
@pytest.mark.parametrize("correlation", [0.2, 0.5, 0.8])
def test_alike_entries_are_missed_as_often_as_exact_distributions_say(m, correlation):
    n, p = 20_000, 0.9
    alone, alike = best_of_distribution(m, n, p), best_of_correlated(m, n, p, correlation)
    z = np.arange(n // 20, n // 5)
    surprising = (alone.cdf(z) <= 0.025) | (1 - alone.cdf(z - 1) <= 0.025)
    exact = float(alike.pmf(z)[surprising].sum())
    assert miss_of_alike(m, correlation) == pytest.approx(exact, rel=0.1, abs=0.005)
    # Negative control: independent ones are missed less often.
    assert float(alone.pmf(z)[surprising].sum()) <= 0.05 < exact


def test_alike_entries_are_missed_more_often_the_more_of_them_there_are():
    rates = [[miss_of_alike(m, rho) for m in (2, 10, 100, 10_000)] for rho in (0.2, 0.5, 0.9)]
    assert (np.diff(rates, axis=0) > 0).all()
    assert (np.diff(rates, axis=1) > 0).all()
    with pytest.raises(InvalidInput) as caught:
        miss_of_alike(5, 1.0)
    assert str(caught.value) == "correlation is 1.0. Pass a value from 0 up to below 1."
