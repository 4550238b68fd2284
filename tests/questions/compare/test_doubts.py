"""Caveats: what a comparison says of its own weaknesses."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest

from outperform import compare, compare_runs, read_runs
from outperform.questions.compare.named_tests import apply_test
from outperform.stats import (
    clopper_pearson_interval,
    verdict_size,
)
from tests.questions.compare.scores import doubts, wins


def test_29_wins_of_29_carry_a_caveat():
    comparison = compare(*wins(29, 0), interval="percentile")
    assert (comparison.interval.low, comparison.interval.high) == (1, 1)
    assert comparison.caveats[0] == (
        "every comparison was won by the same side, so the percentile interval collapses to a "
        "point: its true chance to win may be as low as 0.88 (Clopper–Pearson)"
    )


def test_an_interval_that_does_not_collapse_needs_no_caveat():
    assert not compare(*wins(29, 0)).caveats


def test_separated_runs_say_where_their_interval_is_from():
    comparison = compare(np.arange(12) + 20.0, np.arange(12.0), paired=False)
    assert comparison.interval.low == clopper_pearson_interval(12, 12).low
    assert "the interval is that of 12 independent pairs (Clopper–Pearson)" in doubts(comparison)


def test_unpaired_separation_is_as_sure_as_its_disjoint_pairs():
    comparison = compare(np.arange(7.0) + 20, np.arange(12.0), paired=False)
    low = clopper_pearson_interval(7, 7).low
    assert "the interval is that of 7 independent pairs (Clopper–Pearson)" in doubts(comparison)
    assert comparison.interval.low == low


def test_few_unpaired_runs_are_too_few_for_an_interval_not_for_a_test():
    comparison = compare([6, 7, 8, 9, 10], [1, 2, 3, 4, 5], paired=False)
    assert comparison.verdict == "not significant"
    assert comparison.caveats[0] == (
        "5 runs are too few for an interval at α = 0.05, whoever wins: at least 6 of each are "
        "needed; the test brunner-munzel-permutation is exact with any number"
    )
    name, rng = "brunner-munzel-permutation", np.random.default_rng(0)
    exact = apply_test(*comparison.higher, name, paired=False, rng=rng)
    assert exact.pvalue == pytest.approx(2 / 252)


def test_false_alarms_are_counted_with_the_ties_there_are():
    a, b = [1.0] * 6 + [0.0, 0.0], [0.0] * 6 + [0.0, 1.0]  # 6 wins, 1 tie, 1 loss
    assert "with 8 pairs, 1 of them tied, the percentile interval finds a difference between " in (
        doubts(compare(a, b, interval="percentile"))
    )
    assert compare(a, b, interval="percentile").false_alarms == pytest.approx(2 * 8 / 128)
    assert compare(a, b).false_alarms == pytest.approx(2 / 128)
    assert compare(a, b, ties="strict").false_alarms == pytest.approx(0.05)  # not known


def test_few_unpaired_runs_of_equals_are_rarely_found_to_differ():
    # Of all 924 ways to deal 12 ranks to two sixes, that is counted exactly: 6.
    ranks = np.arange(12.0)
    splits = [list(chosen) for chosen in combinations(range(12), 6)]
    found = [compare(ranks[s], np.delete(ranks, s), paired=False) for s in splits]
    assert sum(each.winner is not None for each in found) == 6
    assert not any("between equals" in doubts(each) for each in found)


def test_few_unpaired_runs_are_too_few_for_the_bootstrap_and_say_so():
    a, b = np.arange(6) + 10.0, np.arange(6.0) + 5.5
    said = (
        "with 6 runs the bootstrap interval is too narrow: between equals it finds a difference "
        "more often than it says (10% instead of 5% at 6 runs against 50); interval "
        "brunner-munzel does not"
    )
    assert said in compare(a, b, paired=False, interval="bootstrap").caveats
    assert "between equals" not in doubts(compare(a, b, paired=False))
    many = compare(np.arange(10) + 10.0, np.arange(10) + 4.5, paired=False, interval="bootstrap")
    assert "between equals" not in doubts(many)


def test_percentiles_are_doubted_where_few_are_lost():
    # They cover 87% at P = 0.9 with 20 pairs (tests/stats/test_intervals.py), 95% at 0.85.
    said = "percentile intervals are too short where so few are lost (P = 0.90 with 20 runs)"
    assert said in doubts(compare(*wins(18, 2), interval="percentile"))
    assert "too short" not in doubts(compare(*wins(17, 3), interval="percentile"))
    assert "too short" not in doubts(compare(*wins(18, 2), interval="wilson"))
    assert "too short" not in doubts(compare(*wins(2, 2), interval="percentile"))


def test_a_liberal_interval_says_how_often_it_errs():
    comparison = compare(*wins(6, 1), interval="percentile")
    assert comparison.winner == "a"
    assert "finds a difference between equals 12.5% of the time, not 5.0%" in doubts(comparison)
    exact = compare(*wins(6, 1))
    assert exact.winner is None
    assert "between equals" not in doubts(exact)


@pytest.mark.parametrize("n", range(6, 61))
def test_no_caveat_takes_a_verdict_back(n):
    """What an exact test would not confirm is not concluded in the first place."""
    for n_wins in range(n + 1):
        assert "between equals" not in doubts(compare(*wins(n_wins, n - n_wins)))


def test_ties_make_the_false_alarms_of_fewer_pairs():
    # Of 10 pairs 3 are tied, so 6 of 7 decide: 2·8/2⁷ between equals, not the 2% of 10 untied.
    comparison = compare(*wins(6, 1, 3), interval="percentile")
    assert comparison.winner == "a"
    assert comparison.false_alarms == 0.125
    assert (
        "with 10 pairs, 3 of them tied, the percentile interval finds a difference between equals "
        "12.5% of the time, not 5.0%"
    ) in doubts(comparison)
    assert compare(*wins(9, 1)).false_alarms == verdict_size(10) == pytest.approx(22 / 1024)


def test_a_winner_with_the_worse_mean_is_doubted():
    base = np.arange(30) / 1000
    won_by_little = base + np.repeat([0.001, -0.3], [25, 5])
    for first, second in ((won_by_little, base), (base, won_by_little)):
        assert "has the better mean, although" in doubts(compare(first, second))
    loss = compare(-won_by_little, -base, goal="minimize")
    assert (
        "B has the better mean, although A wins more often, for it loses by more than it wins by: "
        "the verdict counts wins, whatever their size"
    ) in loss.caveats
    assert "better mean" not in doubts(compare(*wins(25, 4)))


@pytest.mark.slow
@pytest.mark.parametrize("n", [6, 12, 25])
def test_equals_differ_by_wins_or_means_no_more_often_than_is_said(n):
    n_studies, rng = 2000, np.random.default_rng(5)
    results = [compare(*rng.normal(size=(2, n))) for _ in range(n_studies)]
    named = sum(result.winner is not None or "better mean" in str(result) for result in results)
    assert binomtest(named, n_studies, 0.075, alternative="greater").pvalue > 0.001
    # Negative control: wins alone keep alpha.
    won = sum(result.winner is not None for result in results)
    assert binomtest(won, n_studies, 0.05, alternative="greater").pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("paired", [True, False])
def test_a_few_diverging_runs_make_wins_and_means_two_chances_indeed(paired):
    """They rule the means and hardly touch the wins: 8.7 and 9.0%, within the 10% of the caveat."""
    size, rng = (8000, 2, 200), np.random.default_rng(6)
    scores = np.where(rng.random(size) < 0.05, 0.1, rng.normal(0.8, 0.01, size))
    results = [compare(*study, paired=paired) for study in scores]
    named = sum(result.winner is not None or "better mean" in str(result) for result in results)
    assert binomtest(named, size[0], 0.1, alternative="greater").pvalue > 0.001
    # Negative control: it is more than holds of normal scores.
    assert binomtest(named, size[0], 0.075, alternative="greater").pvalue < 0.05


def test_differences_that_do_not_vary_show_no_equivalence():
    """Not even by rounding: 0.9 - 0.8 and 0.3 - 0.2 differ by it."""
    said = "differences that do not vary, or of which some are missing, tell nothing of others"
    for a, b in (([0.9, 0.3, 0.5], [0.8, 0.2, 0.4]), ([0.9] * 10, [0.9] * 10)):
        result = compare(a, b, equivalence=0.5)
        assert not result.tests[0].equivalent
        assert said in doubts(result)
        assert "ruled out" not in result.advice
    varying = compare([0.9, 0.3, 0.5], [0.8, 0.21, 0.4], equivalence=0.5)
    assert varying.tests[0].equivalent
    assert said not in doubts(varying)


def test_means_that_differ_where_wins_do_not_are_mentioned():
    base = np.arange(30) / 1000
    comparison = compare(base + np.repeat([0.3, -0.001], [16, 14]), base)
    assert comparison.winner is None
    assert "interval of the mean difference excludes 0, in favour of A" in doubts(comparison)
    assert "equals do by one of them in up to 10.0% of studies" in doubts(comparison)
    assert str(comparison).startswith(
        "A has the better mean, but is not shown to beat B more often: P(A > B) = 0.533"
    )
    assert "excludes 0" not in doubts(compare(*wins(16, 14)))


def test_only_the_interval_of_the_probability_may_be_looked_at_often():
    assert "hold for one look only" in doubts(compare(*wins(16, 14), interval="anytime"))
    assert "hold for one look only" not in doubts(compare(*wins(16, 14)))


def test_zeros_far_from_all_other_scores_may_stand_for_failures():
    rng = np.random.default_rng(0)
    others = rng.normal(0.8, 0.01, 8)
    failed = compare(np.append(others, [0.0] * 4), rng.normal(0.7, 0.01, 12))
    assert "4 of 12 runs of A have the score 0, far from all others: if they have failed" in (
        doubts(failed)
    )
    rewards = np.append(rng.uniform(0, 100, 8), [0.0] * 4)
    for measured in (rewards, others, np.append(others[:3], [0.0] * 4), np.arange(9) / 100):
        assert "the score 0" not in doubts(
            compare(measured, measured + rng.normal(size=measured.size))
        )


def test_coarse_metrics_and_unused_seeds_are_pointed_out():
    assert "10 of 30 pairs are tied" in doubts(compare(*wins(15, 5, 10)))
    constant = compare(np.full(8, 0.9), np.linspace(0.5, 0.8, 8))
    assert "all 8 runs of A have the same score 0.9: does the seed reach" in doubts(constant)


def test_wins_by_rounding_error_are_ties():
    result = compare([0.1 + 0.2] * 8, [0.3] * 8)
    assert (result.n_ties, result.probability) == (8, 0.5)
    assert "all 8 scores of A and B are the same" in doubts(result)
    assert "all 8 runs of A have the same score 0.3" in doubts(
        compare([0.3, 0.1 + 0.2] * 4, [1] * 8)
    )


def test_who_wins_nothing_for_want_of_runs_does_not_win_by_the_luck_of_a_search():
    # a has won the 12 pairs that it has, and would win no more if the 8 it lacks had gone badly.
    scores, how = np.arange(20.0), {"wide": True, "goal": "maximize"}
    gappy = read_runs({"a": np.where(scores < 8, np.nan, scores + 1), "b": scores}, **how)
    complete = read_runs({"a": scores[:12] + 1, "b": scores[:12]}, **how)
    luck = "a wins with what one search found"
    for runs, winner in ((complete, "a"), (gappy, None)):
        after_one = replace(runs, one_search=True)
        comparison = compare_runs(after_one, "a", "b", drop_incomplete=True)
        assert (comparison.winner, comparison.n_pairs) == (winner, 12)
        assert (luck in doubts(comparison)) == (winner is not None)


def test_fractions_beside_per_cent_carry_a_caveat():
    a, b = np.array([91.2, 90.1, 92.3, 91.4]), np.array([0.905, 0.911, 0.908, 0.902])
    assert compare(a, b).caveats[-1] == (
        "scores of A lie between 90.1 and 92.3, those of B between 0.902 and 0.911: if these are "
        "fractions and per cent, give both in one unit, as otherwise only the units differ"
    )
    assert not any("per cent" in caveat for caveat in compare(a, 100 * b).caveats)
