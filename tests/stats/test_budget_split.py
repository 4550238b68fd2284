"""Splits of a budget between searches and replicates, and the cheapest repetitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, nct, norm, t, ttest_1samp

from outperform.errors import InvalidInput, TooFewRuns
from outperform.stats import (
    Variation,
    best_split,
    cheapest_repetitions,
    effective_scores,
    repeated_means,
    scores_of_one_repetition,
    smallest_shown_probability,
)
from outperform.stats.verdicts import smallest_detectable_probability

SHARES = st.floats(0, 1)


def test_error_by_hand():
    # 2·(0.25/4 + 0.75/(4·3)) = 2·(1/16 + 1/16) = 0.25, and 0.11 of squared bias makes 0.36.
    assert Variation(0.25, 2.0, 0.11).mean_error(4, 3) == pytest.approx(0.6)
    assert effective_scores(4, 3, 0.25) == 8


def test_split_by_hand():
    # 12 fits, searches of 2 trials, ρ = ½, mean squared errors ½/R + ½/(R·k):
    # 1 × (2 + 10): 0.55; 2 × (2 + 4): 0.3125; 3 × (2 + 2): 0.25; 4 × (2 + 1): 0.25, as 3 × 2.
    # Both cost 12: the one with fewer searches comes first.
    split = best_split(12, 0.5, search_cost=2)
    assert (split.n_searches, split.n_replicates, split.cost) == (3, 2, 12)


def test_only_one_of_two_may_be_chosen():
    assert best_split(100, 0.5, search_cost=9, n_replicates=1).n_searches == 10
    assert best_split(100, 0.5, search_cost=9, n_searches=1).n_replicates == 91


@pytest.mark.parametrize(("correlation", "trials"), [(0.05, 20), (0.1, 50), (0.3, 200)])
def test_reference_cochrans_optimum(correlation, trials):
    # Cochran (1977, chapter 10): k = √(T·(1 − ρ)/ρ), where numbers need not be whole.
    optimum = math.sqrt(trials * (1 - correlation) / correlation)
    split = best_split(500_000, correlation, search_cost=trials)
    assert split.n_replicates == pytest.approx(optimum, rel=0.06)


def draw_scores(rng, n_draws, n_searches, k, correlation):
    """Draw scores of variance 1 of which those of one search share their luck."""
    luck = rng.normal(scale=math.sqrt(correlation), size=(n_draws, n_searches, 1))
    rest = rng.normal(scale=math.sqrt(1 - correlation), size=(n_draws, n_searches, k))
    return luck + rest


@pytest.mark.parametrize(("n_searches", "k", "correlation"), [(1, 20, 0.3), (5, 4, 0.6), (8, 1, 1)])
def test_reference_monte_carlo_of_the_hierarchical_model(n_searches, k, correlation):
    scores = draw_scores(np.random.default_rng(1), 40_000, n_searches, k, correlation)
    variance = scores.mean(axis=(1, 2)).var()
    # A variance of 40,000 normal means has a relative standard error of √(2/40,000) = 0.7%.
    assert variance == pytest.approx(
        Variation(correlation).mean_error(n_searches, k) ** 2, rel=0.03
    )


@given(correlation=SHARES, trials=st.integers(0, 60), budget=st.integers(61, 800))
def test_no_other_split_is_better(correlation, trials, budget):
    split = best_split(budget, correlation, search_cost=trials)
    assert split.cost == split.n_searches * (trials + split.n_replicates) <= budget
    error = Variation(correlation).mean_error
    best = error(split.n_searches, split.n_replicates)
    for n_searches in range(1, budget // (trials + 1) + 1):
        for k in {1, 2, budget // n_searches - trials, (budget // n_searches - trials) // 2}:
            if k >= 1 and n_searches * (trials + k) <= budget:
                assert best <= error(n_searches, k) * (1 + 1e-9)


@given(
    correlation=SHARES,
    trials=st.integers(1, 50),
    budget=st.integers(60, 5000),
    more=st.integers(0, 5000),
)
def test_a_larger_budget_is_never_worse(correlation, trials, budget, more):
    errors = [
        Variation(correlation).mean_error(split.n_searches, split.n_replicates)
        for split in (
            best_split(each, correlation, search_cost=trials) for each in (budget, budget + more)
        )
    ]
    assert errors[1] <= errors[0] * (1 + 1e-9)


def test_without_luck_of_the_search_one_is_enough():
    split = best_split(2000, 0.0, search_cost=50)
    assert (split.n_searches, split.n_replicates) == (1, 1950)


def test_where_all_is_luck_of_the_search_only_searches_matter():
    split = best_split(2000, 1.0, search_cost=50)
    assert (split.n_searches, split.n_replicates) == (39, 1)
    # The 47 fits that three searches leave would buy nothing.
    assert best_split(200, 1.0, search_cost=50).cost == 153


def test_costs_may_be_seconds():
    in_fits = best_split(2000, 0.1, search_cost=50)
    in_seconds = best_split(200, 0.1, search_cost=5, fit_cost=0.1)
    assert in_seconds.n_searches == in_fits.n_searches
    assert in_seconds.n_replicates == in_fits.n_replicates
    assert in_seconds.cost == pytest.approx(in_fits.cost / 10)


def is_found(a, b, alpha):
    """Test the means of searches, each counted once, as scipy does."""
    test = ttest_1samp((a - b).mean(axis=2), 0, axis=1)
    return (test.pvalue < alpha) & (test.statistic > 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_searches", "k", "correlation"), [(3, 10, 0.1), (6, 5, 0.4), (20, 1, 0.5)]
)
def test_the_power_is_as_it_says(n_searches, k, correlation):
    rng, n_draws = np.random.default_rng(7), 20_000
    shown = smallest_shown_probability(n_searches, k, correlation, alpha=0.05, beta=0.2)
    a, b = (draw_scores(rng, n_draws, n_searches, k, correlation) for _ in "ab")
    equals = int(is_found(a, b, 0.05).sum())
    assert binomtest(equals, n_draws, 0.025).pvalue > 0.001
    better = a + math.sqrt(2) * norm.ppf(shown)
    found = int(is_found(better, b, 0.05).sum())
    assert binomtest(found, n_draws, 0.8).pvalue > 0.001


@pytest.mark.slow
def test_the_check_of_power_fails_where_luck_is_ignored():
    rng, n_draws = np.random.default_rng(7), 20_000
    a, b = (draw_scores(rng, n_draws, 5, 30, 0.3) for _ in "ab")
    alone = (n_draws, 5 * 30, 1)  # every run as if it had a search of its own
    assert is_found(a.reshape(alone), b.reshape(alone), 0.05).mean() > 0.2


def test_the_power_is_that_of_the_noncentral_t():
    for n_searches in (2, 5, 30):
        shift = math.sqrt(n_searches) * norm.ppf(smallest_shown_probability(n_searches, 1, 0.0))
        if n_searches > 2:  # whose chance is 1, but for rounding
            df = n_searches - 1
            assert nct.sf(t.ppf(0.975, df), df, shift) == pytest.approx(0.95, abs=1e-6)
    assert smallest_shown_probability(2, 1, 0.0) > 0.999999


@pytest.mark.slow
def test_a_pilot_is_best_planned_with_what_rho_is_expected_to_be():
    rng, rho, n_pilots = np.random.default_rng(0), 0.1, 300

    def spend(correlation):
        split = best_split(1000, correlation, search_cost=50)
        return Variation(rho).mean_error(split.n_searches, split.n_replicates) ** 2

    pilots = [repeated_means(scores) for scores in draw_scores(rng, n_pilots, 10, 5, rho)]
    expected = np.mean([spend(pilot.expected_correlation) for pilot in pilots])
    estimated = np.mean([spend(max(0, pilot.correlation.value)) for pilot in pilots])
    assert expected < 1.15 * spend(rho) < 2 * spend(rho) < estimated


def test_nothing_below_one_half_is_ever_shown():
    assert smallest_shown_probability(40, 10, 0.2, beta=0.999) == 0.5
    assert smallest_shown_probability(40, 10, 0.2, beta=0.5) > 0.5


def test_replicates_never_show_more_than_a_few_searches():
    # ρ = 0.25: a search is worth 1/ρ = 4 runs at most, so twice the shift of one run each.
    one, many = (norm.ppf(smallest_shown_probability(20, k, 0.25)) for k in (1, 100_000))
    assert one / many == pytest.approx(2, rel=1e-4)


def test_t_finds_a_little_more_than_wins():
    # The sign test uses less of normal scores than their mean does.
    by_t = smallest_shown_probability(30, 1, 0)
    assert by_t < smallest_detectable_probability(30, gamma=0.5) < by_t + 0.1


@given(
    n_searches=st.integers(2, 30),
    k=st.integers(2, 50),
    shares=st.tuples(st.floats(0, 0.99), st.floats(0, 0.99)),
)
def test_more_luck_of_searches_shows_less(n_searches, k, shares):
    low, high = (smallest_shown_probability(n_searches, k, each) for each in sorted(shares))
    assert low <= high + 1e-12


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (-5, "budget is -5. Pass a positive number."),
        (50, "the budget is 50, and 1 search with 1 replicate cost 51. Pass a larger budg"),
    ],
)
def test_a_budget_below_one_search_is_refused(budget, message):
    with pytest.raises(InvalidInput) as caught:
        best_split(budget, 0.1, search_cost=50)
    assert str(caught.value).startswith(message)


def test_what_is_no_variation_is_refused():
    with pytest.raises(InvalidInput, match=r"the correlation is 1.5. Pass a value from 0 to 1"):
        Variation(1.5)
    with pytest.raises(InvalidInput, match=r"the squared bias is -1.0"):
        Variation(0.5, 1.0, -1.0)
    with pytest.raises(TooFewRuns, match=r"one search does not tell how searches vary"):
        smallest_shown_probability(1, 100, 0.1)


parts = st.floats(0, 4).map(lambda x: round(x, 2))


def search_all(shared, within, allowed, overhead):
    """The lowest cost of all numbers up to 300, by trying them."""
    m, k = np.arange(1, 301)[:, None], np.arange(1, 301)[None, :]
    good = (shared + within / k) / m <= allowed * (1 + 1e-9)
    return float(np.where(good, m * (overhead + k), math.inf).min())


@given(parts, parts, st.floats(0.05, 4), st.sampled_from([0, 1, 5, 20, 200]))
def test_nothing_is_cheaper(shared, within, allowed, overhead):
    n, k, cost = map(float, cheapest_repetitions(shared, within, allowed, overhead=overhead))
    assert (shared + within / k) / n <= allowed * (1 + 1e-9)
    assert cost == n * (overhead + k)
    # Whole numbers near the best real ones are tried, which is nearly always all that there is.
    assert cost <= 1.02 * search_all(shared, within, allowed, overhead)


def test_by_hand():
    # √(16·9/1) = 12 scores are best; (1 + 9/9)/4 = 0.5 costs 4·25, (1 + 9/18)/3 costs 3·34.
    assert [*map(float, cheapest_repetitions(1, 9, 0.5, overhead=16))] == [4, 9, 100]


def test_many_at_once():
    cost = cheapest_repetitions([[0.0], [1.0]], 9.0, [2.0, 0.5], overhead=16).cost
    assert cost.tolist() == [[21, 34], [25, 100]]


def test_what_cannot_be_reached_costs_infinitely_much():
    for allowed in (0.0, -1.0):
        assert {*map(float, cheapest_repetitions(1, 1, allowed, overhead=3))} == {math.inf}
    assert scores_of_one_repetition([1.0, 0.2], 1.0, 1.0).tolist() == [math.inf, 2]


def test_without_an_overhead_single_scores_are_best():
    assert [*map(float, cheapest_repetitions(1.0, 1.0, 0.5, overhead=0))] == [4, 1, 4]


def test_nothing_shared_needs_one_repetition_and_all_shared_single_scores():
    assert float(cheapest_repetitions(0.0, 1.0, 0.01, overhead=5).n_repetitions) == 1
    assert [*map(float, cheapest_repetitions(1.0, 0.0, 0.1, overhead=5))] == [10, 1, 60]


def test_refusals():
    with pytest.raises(InvalidInput) as caught:
        cheapest_repetitions(-1.0, 1.0, 1.0, overhead=5)
    assert str(caught.value) == (
        "a variance or the overhead is below 0. Pass variances and costs of 0 or more."
    )
