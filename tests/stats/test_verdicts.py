"""The verdict: sample sizes, exact power, and how often it finds a winner among equals."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from outperform.errors import InvalidInput, TooFewRuns
from outperform.stats import (
    VerdictRule,
    noether_sample_size,
    outperforming_interval,
    required_pairs,
    smallest_detectable_probability,
    verdict_power,
    verdict_size,
)
from outperform.stats.verdicts import wins_needed

INTERVALS = ["percentile", "wilson", "exact"]
n_pairs = st.integers(1, 40)
intervals = st.sampled_from(INTERVALS)
probabilities = st.integers(0, 100).map(lambda percent: percent / 100)


def verdict_table(n, interval="exact", alpha=0.05, gamma=0.75):
    """For each number of wins: is a significantly better, is it also meaningful, is b better?

    From scores, not counts: a wins the first pairs and loses the others.
    """

    def bounds(wins, method):
        a = np.where(np.arange(n) < wins, 1.0, -1.0)
        return outperforming_interval(a, np.zeros(n), method=method, confidence_level=1 - alpha)

    rows = []
    for wins in range(n + 1):
        found = bounds(wins, interval)
        # [0, 0] and [1, 1] say nothing about significance, so Clopper–Pearson must agree there.
        judge = bounds(wins, "exact") if wins in (0, n) else found
        a_better = judge.low > 0.5 and found.low > 0.5
        b_better = judge.high < 0.5 and found.high < 0.5
        rows.append((a_better, a_better and found.high > gamma, b_better))
    return np.array(rows).T


def exact_power(n, probability, **options):
    return binom.pmf(np.arange(n + 1), n, probability)[verdict_table(n, **options)[1]].sum()


# By hand


@pytest.mark.parametrize(
    ("gamma", "n"),
    # (2·1.644854/(√6(γ - ½)))² = 1.803716/(γ - ½)²
    [(0.75, 29), (0.6, 181), (0.7, 46), (0.8, 21), (0.9, 12)],
)
def test_noether_by_hand(gamma, n):
    assert noether_sample_size(gamma, 0.05, 0.05) == noether_sample_size(gamma) == n


def test_noether_uses_alpha_and_beta():
    # (1.644854 + 1.281552)² / (6/16) = 22.84; (2.326348 + .841621)² / (6/16) = 26.76
    assert noether_sample_size(0.75, 0.05, 0.1) == noether_sample_size(0.75, 0.1, 0.05) == 23
    assert noether_sample_size(0.75, 0.01, 0.2) == noether_sample_size(0.75, 0.2, 0.01) == 27


@pytest.mark.parametrize("probability", [0.3, 0.5, 0.75, 0.9, 1.0])
def test_power_of_few_pairs_by_hand(probability):
    # 6 wins of 6: Clopper–Pearson's .025^(1/6) = .54 > ½. 5 or more of 6: 7/64 > .025. So all six
    # must be won; and of five, .025^(1/5) = .48 is too low.
    assert verdict_power(6, probability) == pytest.approx(probability**6, rel=1e-12)
    assert all(verdict_power(n, probability) == 0 for n in (1, 2, 3, 4, 5))
    # At α = .1 five suffice: .05^(1/5) = .549.
    assert verdict_power(5, probability, alpha=0.1) == pytest.approx(probability**5, rel=1e-12)


@pytest.mark.parametrize(("n", "size"), [(1, 0), (5, 0), (6, 2 / 64)])
@pytest.mark.parametrize("interval", INTERVALS)
def test_size_of_few_pairs_by_hand(n, size, interval):
    assert verdict_size(n, interval=interval) == pytest.approx(size, rel=1e-12)


def test_a_lower_bound_of_one_half_is_not_above_it():
    # 6 of 7: P(W >= 6) = 8/128 = α/2, so Clopper–Pearson's bound is ½ exactly; only 7 of 7 counts.
    assert verdict_size(7, alpha=1 / 8, interval="exact") == pytest.approx(2 / 128)


def test_tails_that_equal_their_level_decide_as_the_interval_does():
    for n, share in itertools.product(range(5, 16), (0.6, 0.7, 0.75, 0.8)):
        alpha = 2 * binom.cdf(n // 2, n, round(share * n) / n)  # the lower bound is just one half
        rule = VerdictRule(1 - alpha)
        wins = next(w for w in range(n + 2) if w > n or rule.holds(w, 0, n))
        expected = binom.sf(wins - 1, n, 0.7)
        assert verdict_power(n, 0.7, gamma=0.5, alpha=alpha) == pytest.approx(expected), (n, share)


@pytest.mark.parametrize(("wins", "n"), [(31, 39), (58, 67), (63, 69), (18, 20), (21, 22)])
def test_rounding_of_gamma_times_n_does_not_decide(wins, n):
    # 31 / 39 · 39 is less than 31 in floats, and (18 / 20 less a bit) · 20 is 18.
    for gamma in (wins / n, np.nextafter(wins / n, 0), np.nextafter(wins / n, 1)):
        rule = VerdictRule(gamma=gamma)
        needed = next(w for w in range(n + 2) if w > n or rule.holds(w, 0, n))
        expected = binom.sf(needed - 1, n, 0.9)
        assert verdict_power(n, 0.9, gamma=gamma) == pytest.approx(expected)


def test_smallest_detectable_probability_by_hand():
    # Six pairs must all be won: p^6 = .95.
    assert smallest_detectable_probability(6) == pytest.approx(0.95 ** (1 / 6), abs=1e-6)
    assert smallest_detectable_probability(6, beta=0.2) == pytest.approx(0.8 ** (1 / 6), abs=1e-6)


def test_noether_takes_any_error_rates():
    # Φ⁻¹(10⁻¹⁷) = -8.4938: ((8.4938 + 1.6449) / (√6 / 4))² = 274.11.
    assert noether_sample_size(0.75, 1e-17, 0.05) == 275
    assert noether_sample_size(0.75, 0.05, 1e-17) == 275
    assert noether_sample_size(0.75, 0.9, 0.9) == 1  # chance alone has that power


def test_types_are_plain():
    assert type(noether_sample_size(0.75, 0.05, 0.05)) is int
    assert type(required_pairs()) is int
    assert type(verdict_power(29, 0.75)) is float
    assert type(verdict_size(29)) is float
    assert type(smallest_detectable_probability(29)) is float


# Reference


def test_power_and_size_match_r(reference):
    for case in reference("power"):
        options = {"alpha": case["alpha"], "interval": case["interval"]}
        power = verdict_power(case["n"], case["probability"], gamma=case["gamma"], **options)
        assert power == pytest.approx(case["power"], rel=1e-9, abs=1e-12), case
        assert verdict_size(case["n"], **options) == pytest.approx(case["size"], rel=1e-9), case


@pytest.mark.parametrize("interval", INTERVALS)
def test_required_pairs_is_where_power_stays_enough(interval):
    needed = required_pairs(interval=interval)
    powers = [verdict_power(n, 0.75, interval=interval) for n in range(1, 3 * needed)]
    short = [n for n, power in enumerate(powers, start=1) if power < 0.95]
    assert needed == max(short) + 1


@pytest.mark.parametrize("interval", INTERVALS)
def test_the_wins_needed_are_found_far_from_where_wilson_wants_them(interval):
    # The percentile interval wants up to twelve fewer here.
    rule = VerdictRule(confidence_level=1 - 1e-9, gamma=0.95, interval=interval)
    n = np.array([30, 40, 100, 300, 500])
    needed = wins_needed(n, 0.95, 1e-9, interval)
    assert needed.tolist() == [next(rule.fewest_wins(each, range(1))) for each in n.tolist()]


@pytest.mark.parametrize(("n", "k", "alpha"), [(39, 31, 0.1), (67, 58, 0.05), (29, 20, 0.05)])
@pytest.mark.parametrize("interval", INTERVALS)
def test_a_gamma_that_is_a_share_of_the_pairs_is_not_lost_to_rounding(interval, n, k, alpha):
    # 31 / 39 * 39 is a little less than 31: k pairs of n are gamma itself, not more.
    rule = VerdictRule(confidence_level=1 - alpha, gamma=k / n, interval=interval)
    needed = wins_needed(np.array([n]), k / n, alpha, interval)
    assert needed.tolist() == [next(rule.fewest_wins(n, range(1)))]


# Properties


@settings(max_examples=60)
@given(
    n_pairs,
    probabilities,
    intervals,
    st.sampled_from([0.01, 0.05, 0.2]),
    st.sampled_from([0.6, 0.75, 0.9]),
)
def test_power_counts_the_verdicts_of_every_number_of_wins(n, probability, interval, alpha, gamma):
    options = {"interval": interval, "alpha": alpha, "gamma": gamma}
    expected = exact_power(n, probability, **options)
    assert verdict_power(n, probability, **options) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@settings(max_examples=60)
@given(n_pairs, intervals, st.sampled_from([0.01, 0.05, 0.2]))
def test_size_counts_winners_on_both_sides(n, interval, alpha):
    a_better, _, b_better = verdict_table(n, interval, alpha)
    expected = binom.pmf(np.arange(n + 1), n, 0.5)[a_better | b_better].sum()
    size = verdict_size(n, alpha=alpha, interval=interval)
    assert size == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(n_pairs, probabilities, probabilities, intervals)
def test_power_grows_with_the_probability(n, one, other, interval):
    low, high = sorted([one, other])
    weak, strong = (verdict_power(n, p, interval=interval) for p in (low, high))
    assert 0 <= weak <= strong + 1e-12 <= 1 + 1e-9


@given(st.floats(0.55, 0.95), st.floats(0.01, 0.4), st.floats(0.01, 0.4))
def test_noether_falls_with_every_concession(gamma, alpha, beta):
    n = noether_sample_size(gamma, alpha, beta)
    assert n >= noether_sample_size(gamma + 0.02, alpha, beta)
    assert n >= noether_sample_size(gamma, alpha + 0.05, beta)
    assert n >= noether_sample_size(gamma, alpha, beta + 0.05)


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize(
    ("gamma", "alpha", "beta", "probability"),
    [
        (0.75, 0.05, 0.2, None),
        (0.75, 0.05, 0.05, 0.85),
        (0.6, 0.1, 0.1, 0.7),
        (0.9, 0.01, 0.1, 0.95),
        (0.55, 0.05, 0.05, None),
        (0.95, 0.05, 0.05, None),
        (0.75, 0.05, 0.02, 0.78),
        pytest.param(0.75, 0.05, 0.03, None, marks=pytest.mark.slow),
    ],
)
def test_required_pairs_is_the_smallest_that_holds(interval, gamma, alpha, beta, probability):
    needed = required_pairs(gamma, alpha, beta, probability=probability, interval=interval)
    options = {"gamma": gamma, "alpha": alpha, "interval": interval}
    truth = gamma if probability is None else probability
    assert verdict_power(needed - 1, truth, **options) < 1 - beta
    later = range(needed, needed + 1000)
    assert all(verdict_power(n, truth, **options) >= 1 - beta for n in later)


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("n", [6, 10, 29, 100])
def test_smallest_detectable_probability_has_just_the_power(n, interval):
    smallest = smallest_detectable_probability(n, interval=interval)
    assert verdict_power(n, smallest, interval=interval) == pytest.approx(0.95, abs=1e-4)
    assert verdict_power(n, smallest + 1e-3, interval=interval) >= 0.95


def test_more_pairs_detect_less_down_to_gamma():
    smallest = [smallest_detectable_probability(n) for n in (6, 12, 29, 50)]
    assert smallest == sorted(smallest, reverse=True)
    # Being meaningful takes the upper end above γ only, so the limit is reached from below.
    assert 0.74 < smallest_detectable_probability(10_000) < 0.75


# Calibration


@pytest.mark.slow
@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("probability", [0.5, 0.75, 0.85])
def test_simulated_verdicts_are_as_frequent_as_the_power_says(interval, probability):
    rng = np.random.default_rng(28)
    n, n_studies = 29, 5000
    a_better, meaningful, b_better = verdict_table(n, interval)
    wins = (rng.random((n_studies, n)) < probability).sum(axis=1)
    power = verdict_power(n, probability, interval=interval)
    assert binomtest(int(meaningful[wins].sum()), n_studies, power).pvalue > 0.001
    if probability == 0.5:
        hits = int((a_better | b_better)[wins].sum())
        assert binomtest(hits, n_studies, verdict_size(n, interval=interval)).pvalue > 0.001


@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.002])
def test_the_exact_verdict_keeps_its_level_at_every_n(alpha):
    assert all(verdict_size(n, alpha=alpha) <= alpha for n in range(1, 200))


def test_published_sizes_of_the_exact_verdict():
    # METHODS.md §3: 54 pairs (percentile 51), power .7125 at 29 (.834).
    assert (required_pairs(), required_pairs(interval="percentile")) == (54, 51)
    assert verdict_power(29, 0.75) == pytest.approx(0.7125, abs=5e-5)
    assert verdict_power(29, 0.75, interval="percentile") == pytest.approx(0.834, abs=5e-4)


# Negative controls


def test_percentile_verdict_does_not_keep_its_level_at_every_n():
    # METHODS.md §3: at 44% of the sizes from 6 to 30; 12.5% at 7, 6.1% at 29; at α = .002 up to
    # six times α.
    sizes = {n: verdict_size(n, interval="percentile") for n in range(6, 31)}
    assert sum(size > 0.05 for size in sizes.values()) == round(0.44 * 25)
    assert (sizes[7], round(sizes[29], 3)) == (0.125, 0.061)
    assert verdict_size(11, alpha=0.002, interval="percentile") > 5 * 0.002


def test_noether_is_not_enough_for_the_paired_verdict():
    assert verdict_power(noether_sample_size(0.75, 0.05, 0.05), 0.75) < 0.9
    assert required_pairs() > noether_sample_size(0.75, 0.05, 0.05)


def test_first_n_with_the_power_may_lose_it_again():
    # Power is a saw: the first N that reaches .8 is followed by one that does not.
    powers = [verdict_power(n, 0.75) for n in range(1, 60)]
    first = next(n for n, power in enumerate(powers, start=1) if power >= 0.8)
    assert required_pairs(beta=0.2) > first


# Refusals


@pytest.mark.parametrize("beta", [0.01, 0.02])
def test_power_that_cannot_be_reached_is_refused(beta):
    # At P = γ the upper end is above γ with chance 1 - α/2 = .975 at most, in the long run.
    with pytest.raises(InvalidInput, match="beta"):
        required_pairs(0.75, 0.05, beta)


def test_gamma_next_to_one_is_refused_for_what_it_is():
    with pytest.raises(InvalidInput) as caught:
        required_pairs(0.9999)
    assert caught.value.problem == (
        "with gamma = 0.9999, alpha/2 = 0.025 and P(A>B) = 0.9999 it takes more than 300,000 pairs "
        "until the power is sure to stay above 0.95"
    )


def test_power_below_gamma_cannot_be_reached():
    with pytest.raises(InvalidInput):
        required_pairs(0.75, 0.05, 0.05, probability=0.7)


def test_wilson_says_how_many_pairs_it_needs():
    # z² = 15.1 at α = 10⁻⁴: 15 wins of 15 are too few, though ½¹⁵ is below α / 2.
    with pytest.raises(TooFewRuns, match="At least 16 pairs are needed"):
        smallest_detectable_probability(15, alpha=1e-4, interval="wilson")
    assert smallest_detectable_probability(16, alpha=1e-4, interval="wilson") < 1


@pytest.mark.parametrize("n", [1, 5])
def test_too_few_pairs_detect_nothing(n):
    with pytest.raises(InvalidInput):
        smallest_detectable_probability(n)


@pytest.mark.parametrize("bad", [-0.1, 0, 1, 1.5, math.nan])
def test_impossible_error_rates_are_refused(bad):
    for call in (
        lambda: noether_sample_size(0.75, bad, 0.05),
        lambda: required_pairs(0.75, bad, 0.05),
        lambda: verdict_power(29, 0.75, alpha=bad),
        lambda: verdict_size(29, alpha=bad),
        lambda: smallest_detectable_probability(29, alpha=bad),
    ):
        with pytest.raises(InvalidInput, match="alpha"):
            call()
    for call in (
        lambda: noether_sample_size(0.75, 0.05, bad),
        lambda: required_pairs(0.75, 0.05, bad),
        lambda: smallest_detectable_probability(29, beta=bad),
    ):
        with pytest.raises(InvalidInput, match="beta"):
            call()


@pytest.mark.parametrize("function", [noether_sample_size, required_pairs])
def test_no_number_of_runs_shows_no_difference(function):
    with pytest.raises(InvalidInput, match=r"0\.5"):
        function(0.5, 0.05, 0.05)


@pytest.mark.parametrize("gamma", [0.4, 1.1, math.nan])
def test_impossible_gammas_are_refused(gamma):
    for call in (
        lambda: noether_sample_size(gamma, 0.05, 0.05),
        lambda: required_pairs(gamma),
        lambda: verdict_power(29, 0.75, gamma=gamma),
        lambda: smallest_detectable_probability(29, gamma=gamma),
    ):
        with pytest.raises(InvalidInput, match="gamma"):
            call()


@pytest.mark.parametrize("n", [0, -3, 2.5])
def test_impossible_numbers_of_pairs_are_refused(n):
    for call in (
        lambda: verdict_power(n, 0.75),
        lambda: verdict_size(n),
        lambda: smallest_detectable_probability(n),
    ):
        with pytest.raises(InvalidInput, match="n_pairs"):
            call()


@pytest.mark.parametrize("probability", [-0.1, 1.1, math.nan])
def test_impossible_probabilities_are_refused(probability):
    with pytest.raises(InvalidInput, match="probability"):
        verdict_power(29, probability)
    with pytest.raises(InvalidInput, match="probability"):
        required_pairs(probability=probability)


def test_unknown_intervals_are_refused():
    for call in (
        lambda: verdict_power(29, 0.75, interval="magic"),
        lambda: verdict_size(29, interval="magic"),
        lambda: required_pairs(interval="magic"),
        lambda: smallest_detectable_probability(29, interval="magic"),
    ):
        with pytest.raises(InvalidInput, match=r"exact.*percentile.*wilson"):
            call()


def wins_among_equals(n_untied):
    wins = np.arange(n_untied + 1)
    return wins, binom.pmf(wins, n_untied, 0.5)


# Winners among equals


def test_size_by_hand():
    # Of 8 pairs 1 is tied; of the other 7, all must be won, since 2 · (7 + 1) / 2⁷ is .125. For
    # the bootstrap 6 wins of them are enough and 5 are not.
    exact, percentile = VerdictRule(), VerdictRule(interval="percentile")
    assert (exact.holds(7, 1, 8), exact.holds(6, 1, 8)) == (True, False)
    assert exact.size(8, 1) == pytest.approx(2 / 128)
    assert (percentile.holds(6, 1, 8), percentile.holds(5, 1, 8)) == (True, False)
    assert percentile.size(8, 1) == pytest.approx(2 * 8 / 128)
    for rule in (exact, percentile):
        assert rule.size(8, 3) == rule.size(8, 8) == 0  # 5 untied pairs are never enough


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("n", [5, 6, 29, 100])
def test_size_without_ties_is_that_of_the_verdict(n, interval):
    expected = verdict_size(n, interval=interval)
    assert VerdictRule(interval=interval).size(n, 0) == pytest.approx(expected, rel=1e-12)


@given(st.integers(1, 30), st.integers(0, 30), st.sampled_from([*INTERVALS, "anytime"]))
def test_size_adds_up_every_outcome_that_has_a_winner(n, ties, interval):
    ties, rule = min(ties, n), VerdictRule(interval=interval)
    wins, chance = wins_among_equals(n - ties)
    won = [rule.holds(w, ties, n) or rule.holds(n - ties - w, ties, n) for w in wins.tolist()]
    assert rule.size(n, ties) == pytest.approx(chance @ won, abs=1e-12)


@pytest.mark.slow
def test_simulated_equals_differ_as_often():
    rng, rule, n, ties = np.random.default_rng(29), VerdictRule(), 20, 5
    wins = rng.integers(0, 2, size=(20_000, n - ties)).sum(axis=1).tolist()
    hits = sum(rule.holds(w, ties, n) or rule.holds(n - ties - w, ties, n) for w in wins)
    assert binomtest(hits, 20_000, rule.size(n, ties)).pvalue > 0.001


def test_percentile_verdict_breaks_its_level_with_ties_too_and_the_exact_one_keeps_it():
    percentile, exact = VerdictRule(interval="percentile"), VerdictRule()
    assert max(percentile.size(n, 2) for n in range(8, 40)) > 0.1
    assert max(exact.size(n, ties) for n in range(6, 40) for ties in range(n)) <= 0.05


def test_impossible_numbers_are_refused():
    with pytest.raises(InvalidInput, match="n is 0"):
        VerdictRule().size(0, 0)


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("gamma", [0.5, 0.75])
def test_power_with_ties_counts_every_outcome(interval, gamma):
    """By hand, from the rule itself: n = 14, a pair is tied with 0.4, and else won with 0.9."""
    n, tied, won, power = 14, 0.4, 0.6 * 0.9, 0.0
    rule = VerdictRule(0.95, gamma, interval)
    for ties in range(n + 1):
        for wins in range(n - ties + 1):
            ways = math.comb(n, ties) * math.comb(n - ties, wins)
            if rule.holds(wins, ties, n):
                power += ways * tied**ties * won**wins * 0.06 ** (n - ties - wins)
    options = {"gamma": gamma, "interval": interval, "tie_share": 0.4}
    assert verdict_power(n, 0.2 + won, **options) == pytest.approx(power, rel=1e-9)
    # Negative control: without ties it is another one.
    assert abs(verdict_power(n, 0.2 + won, **options | {"tie_share": 0.0}) - power) > 0.02


@pytest.mark.parametrize(
    ("probability", "tie_share", "gamma"),
    [(0.75, 0.2, 0.75), (0.75, 0.4, 0.75), (0.7, 0.5, 0.5), (0.6, 0.75, 0.5), (0.8, 0.3, 0.75)],
)
def test_required_pairs_with_ties_keep_the_power(probability, tie_share, gamma):
    options = {"gamma": gamma, "tie_share": tie_share}
    n = required_pairs(probability=probability, **options)
    powers = [verdict_power(m, probability, **options) for m in range(n - 1, n + 30)]
    assert powers[0] < 0.95 <= min(powers[1:])
    assert n < required_pairs(gamma, probability=probability)
    smallest = smallest_detectable_probability(n, **options)
    assert smallest == pytest.approx(probability, abs=0.01)
    assert verdict_power(n, smallest, **options) == pytest.approx(0.95, abs=1e-4)
    assert verdict_size(n, tie_share=tie_share) <= 0.05


def test_few_untied_pairs_show_nothing():
    with pytest.raises(TooFewRuns) as caught:
        smallest_detectable_probability(10, tie_share=0.6)
    assert str(caught.value) == (
        "10 pairs show no difference with power 0.95 where 60% are tied, not even if all others "
        "are won. Plan for more pairs."
    )
    with pytest.raises(InvalidInput) as caught:
        verdict_power(20, 0.9, tie_share=0.4)
    assert str(caught.value) == (
        "probability is 0.9 with tie_share = 0.4. Pass a value from 0.2 to 0.8."
    )
