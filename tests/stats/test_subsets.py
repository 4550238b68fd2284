"""What subsets of the runs conclude: random ones, and those picked for their scores."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, brunnermunzel, hypergeom, t, ttest_ind, ttest_rel

from outperform.errors import InvalidInput, TooFewRuns, UnpairedScores
from outperform.stats import (
    VerdictRule,
    brunner_munzel,
    cohens_d,
    count_rejections,
    count_verdicts,
    paired_t_test,
    pick_best_against_worst,
    pick_best_pairs,
    verdict_size,
    welch_t_test,
)

rules = st.builds(
    VerdictRule,
    confidence_level=st.sampled_from([0.7, 0.9, 0.95]),
    gamma=st.sampled_from([0.5, 0.75]),
    interval=st.sampled_from(["percentile", "wilson", "exact"]),
)


def draw(n_a=12, n_b=12, shift=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(shift, 1, n_a), rng.normal(0, 1, n_b)


# By hand


def test_verdicts_by_hand():
    # Of 7 wins and a loss, 6 are all wins with chance 7/28 and 7 with 1/8; 7 of 8 are too few.
    shares = count_verdicts((7, 0, 1), [5, 6, 7, 8], rule=VerdictRule())
    assert shares.share_a == pytest.approx([0, 1 / 4, 1 / 8, 0])
    assert shares.share_b.tolist() == [0, 0, 0, 0]
    assert shares.share_neither == pytest.approx([1, 3 / 4, 7 / 8, 1])
    assert shares.error.tolist() == [0, 0, 0, 0]
    assert shares.rule == "verdict"


def test_ties_are_no_evidence_by_hand():
    # Without ties all six are wins, else too few pairs are untied: C(6, 6) / C(8, 6) = 1/28.
    assert count_verdicts((6, 2, 0), [6], rule=VerdictRule()).share_a == pytest.approx([1 / 28])


def test_all_runs_conclude_what_all_runs_conclude():
    a, b = draw(shift=3)
    (shares,) = count_rejections(
        a, b, [12], tests=[paired_t_test], n_resamples=50, rng=np.random.default_rng(0)
    )
    assert (shares.share_a.tolist(), shares.share_b.tolist()) == ([1], [0])
    assert shares.rule == "paired t"


def test_monte_carlo_error_by_hand():
    a, b = draw(shift=3)
    (shares,) = count_rejections(
        a, b, [12], tests=[paired_t_test], n_resamples=98, rng=np.random.default_rng(0)
    )
    # 99 of 100, never 0: √(.99 · .01 / 98).
    assert shares.error == pytest.approx([np.sqrt(0.99 * 0.01 / 98)])


# Reference: every subset


@settings(max_examples=40)
@given(st.tuples(*[st.integers(0, 4)] * 3), rules)
def test_verdicts_match_every_subset(counts, rule):
    wins, ties, losses = counts
    outcomes = [1] * wins + [0] * ties + [-1] * losses
    if not outcomes:
        return
    sizes = range(1, len(outcomes) + 1)
    shares = count_verdicts(counts, list(sizes), rule=rule)
    for place, n in enumerate(sizes):
        drawn = [np.array(x) for x in combinations(outcomes, n)]
        ahead = [rule.holds(int((x > 0).sum()), int((x == 0).sum()), n) for x in drawn]
        behind = [rule.holds(int((x < 0).sum()), int((x == 0).sum()), n) for x in drawn]
        assert shares.share_a[place] == pytest.approx(np.mean(ahead))
        assert shares.share_b[place] == pytest.approx(np.mean(behind))


def test_verdicts_match_scipy_without_ties():
    rule = VerdictRule()
    sizes = [6, 10, 25, 60]
    shares = count_verdicts((60, 0, 40), sizes, rule=rule)
    for place, n in enumerate(sizes):
        (needed,) = rule.fewest_wins(n, range(1))
        assert shares.share_a[place] == pytest.approx(hypergeom.sf(needed - 1, 100, 60, n))
        assert shares.share_b[place] == pytest.approx(hypergeom.sf(needed - 1, 100, 40, n))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (paired_t_test, ttest_rel),
        (welch_t_test, lambda x, y: ttest_ind(x, y, equal_var=False)),
        (brunner_munzel, lambda x, y: brunnermunzel(y, x)),
    ],
)
def test_tests_match_scipy_on_every_subset_of_pairs(ours, theirs):
    a, b = draw(9, 9, shift=0.4, seed=2)
    n_a = n_b = 0
    for chosen in map(list, combinations(range(9), 6)):
        with np.errstate(all="ignore"):
            result = theirs(a[chosen], b[chosen])
        n_a += result.pvalue <= 0.2 and result.statistic > 0
        n_b += result.pvalue <= 0.2 and result.statistic < 0
    (shares,) = count_rejections(
        a, b, [6], tests=[ours], alpha=0.2, n_resamples=20_000, rng=np.random.default_rng(5)
    )
    assert 0 < n_a < comb(9, 6)
    assert abs(shares.share_a[0] - n_a / comb(9, 6)) < 4 * shares.error[0]
    assert abs(shares.share_b[0] - n_b / comb(9, 6)) < 4 * shares.error[0]


# Properties


@given(st.tuples(*[st.integers(0, 30)] * 3).filter(any), rules)
def test_swapping_sides_swaps_shares(counts, rule):
    sizes = [1, sum(counts)]
    one, other = (count_verdicts(c, sizes, rule=rule) for c in (counts, counts[::-1]))
    assert one.share_a == pytest.approx(other.share_b, abs=1e-12)
    total = one.share_a + one.share_b + one.share_neither
    assert total == pytest.approx(np.ones(2))


def test_the_same_generator_repeats_and_another_differs():
    a, b = draw(20, 20, shift=0.5)

    def shares(seed):
        rng = np.random.default_rng(seed)
        return count_rejections(a, b, [8], tests=[welch_t_test], n_resamples=500, rng=rng)[0]

    assert shares(1).share_a.tolist() == shares(1).share_a.tolist()
    assert shares(1).share_a.tolist() != shares(2).share_a.tolist()


def test_blocks_do_not_change_what_is_estimated(monkeypatch):
    from outperform.stats import subsets

    a, b = draw(15, 15, shift=0.7)

    def shares():
        rng = np.random.default_rng(1)
        return count_rejections(a, b, [7], tests=[paired_t_test], n_resamples=4000, rng=rng)[0]

    whole = shares()
    monkeypatch.setattr(subsets, "_BLOCK", 50)
    parts = shares()
    assert abs(whole.share_a[0] - parts.share_a[0]) < 6 * whole.error[0]


# Calibration


@pytest.mark.slow
def test_random_subsets_of_equals_conclude_as_often_as_the_level_says():
    """Of an endless supply of equal pairs, subsets of n conclude with the size of the verdict."""
    shares = count_verdicts((10_000, 0, 10_000), [10, 29], rule=VerdictRule())
    size = [verdict_size(10), verdict_size(29)]
    assert shares.share_a + shares.share_b == pytest.approx(size, rel=0.01)
    rng = np.random.default_rng(6)
    a, b = rng.normal(size=(2, 5000))
    found = count_rejections(
        a - a.mean(),
        b - b.mean(),
        [10],
        tests=[welch_t_test],
        paired=False,
        n_resamples=4000,
        rng=rng,
    )[0]
    n_found = round(4000 * float(found.share_a[0] + found.share_b[0]))
    assert binomtest(n_found, 4000, 0.05).pvalue > 0.001


# Negative control


def test_pairs_must_be_drawn_together():
    """Scores that share their noise: drawn apart, the difference drowns in it."""
    rng = np.random.default_rng(2)
    noise = rng.normal(0, 10, 40)
    a, b = noise + rng.normal(1, 1, 40), noise + rng.normal(0, 1, 40)
    options = {"tests": [welch_t_test], "n_resamples": 400}
    together = count_rejections(a, b, [20], tests=[paired_t_test], n_resamples=400, rng=rng)[0]
    apart = count_rejections(a, b, [20], paired=False, rng=rng, **options)[0]
    assert together.share_a[0] > 0.8
    assert apart.share_a[0] < 0.2


@pytest.mark.parametrize("sizes", [[1], [13]])
def test_impossible_subsets_are_refused(sizes):
    a, b = draw()
    with pytest.raises(InvalidInput) as caught:
        count_rejections(a, b, sizes, tests=[paired_t_test], rng=np.random.default_rng(0))
    assert str(caught.value) == (
        f"a subset of {sizes[0]} cannot be taken from 12 runs. Pass sizes from 2 to 12."
    )


def test_unequal_samples_are_not_paired():
    with pytest.raises(UnpairedScores):
        count_rejections(
            range(5), range(6), [3], tests=[paired_t_test], rng=np.random.default_rng(0)
        )


def test_negative_counts_are_refused():
    with pytest.raises(InvalidInput) as caught:
        count_verdicts((3, -1, 2), [2], rule=VerdictRule())
    assert str(caught.value) == "ties is -1. Pass a whole number not less than 0."


def test_bad_scores_are_refused(refuses):
    rng = np.random.default_rng(0)
    refuses(lambda a, b: count_rejections(a, b, [3], tests=[welch_t_test], rng=rng))


def test_results_are_plain():
    values = count_verdicts((7, 0, 1), [6], rule=VerdictRule()).to_dict()
    assert values == {
        "rule": "verdict",
        "sizes": [6],
        "share_a": [pytest.approx(0.25)],
        "share_b": [0.0],
        "error": [0.0],
    }


samples = st.lists(st.integers(-50, 50).map(lambda x: x / 10), min_size=3, max_size=20)

# Picked runs: by hand


def test_best_against_worst_of_one_sample_by_hand():
    picked = pick_best_against_worst([4, 1, 3, 2, 5], [4, 1, 3, 2, 5])
    # {5, 4} - {1, 2} = 3 with variances ½; {5, 4, 3} - {1, 2, 3} = 2 with 1; then 1 with 5/3.
    assert picked.sizes.tolist() == [2, 3, 4]
    assert picked.difference.tolist() == [3, 2, 1]
    assert picked.effect_size == pytest.approx([3 / np.sqrt(0.5), 2, 1 / np.sqrt(5 / 3)])


def test_best_pairs_by_hand():
    # Differences 4, 0, 2, -1: the best two are rows 0 and 2, the best three rows 0, 2 and 1.
    picked = pick_best_pairs([5, 1, 4, 2], [1, 1, 2, 3])
    assert picked.difference.tolist() == [3, 2]
    # √(½ + ½)/√2 pooled: variances of (5, 4) and (1, 2).
    assert picked.effect_size[0] == pytest.approx(3 / np.sqrt(0.5))


def test_gap_by_hand():
    # Two values one apart: mean ± t(1)·(1/√2)/√2.
    picked = pick_best_against_worst([11, 10, 0], [1, 0, 20], confidence_level=0.9)
    assert picked.sizes.tolist() == [2]
    assert picked.gap[0] == pytest.approx(10 - 2 * t.ppf(0.95, 1) / 2)
    assert picked.confidence_level == 0.9


def test_samples_of_different_sizes_can_be_picked_from_up_to_the_smaller():
    assert pick_best_against_worst(range(4), range(7)).sizes.tolist() == [2, 3, 4]
    assert pick_best_against_worst(range(4), range(4)).sizes.tolist() == [2, 3]


def test_equal_scores_show_nothing():
    picked = pick_best_against_worst([1.1] * 5, [1.1] * 5)
    assert (picked.difference == 0).all()
    assert (picked.effect_size == 0).all()
    assert (picked.t_pvalue == 1).all()
    assert (picked.rank_pvalue == 1).all()
    assert picked.largest_significant(0.05) == 0


def test_scores_that_do_not_vary_but_differ_are_infinitely_apart():
    picked = pick_best_against_worst([2] * 4, [1] * 4)
    assert (picked.effect_size == np.inf).all()
    assert (picked.t_pvalue == 0).all()


# Picked runs: reference: scipy, one number of runs at a time


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(4)
    return rng.normal(0.9, 0.01, 30), rng.normal(0.905, 0.02, 25)


def test_best_against_worst_matches_scipy(scores):
    a, b = scores
    picked = pick_best_against_worst(a, b)
    assert picked.sizes.tolist() == list(range(2, 26))
    for place, n in enumerate(picked.sizes):
        best, worst = np.sort(a)[-n:], np.sort(b)[:n]
        welch = ttest_ind(best, worst, equal_var=False, alternative="greater")
        assert picked.t_pvalue[place] == pytest.approx(welch.pvalue, rel=1e-6)
        assert picked.effect_size[place] == pytest.approx(cohens_d(best, worst))
        ends = [t.interval(0.999, n - 1, x.mean(), x.std(ddof=1) / n**0.5) for x in (best, worst)]
        assert picked.gap[place] == pytest.approx(ends[0][0] - ends[1][1])
        if best.min() < worst.max():  # scipy divides by 0 where they are separated
            ranks = brunnermunzel(worst, best, alternative="less")
            assert picked.rank_pvalue[place] == pytest.approx(ranks.pvalue, rel=1e-9)


def test_best_pairs_match_scipy(scores):
    a, b = scores[0][:25], scores[1]
    picked = pick_best_pairs(a, b)
    order = np.argsort(b - a)
    for place, n in enumerate(picked.sizes):
        chosen = order[:n]
        paired = ttest_rel(a[chosen], b[chosen], alternative="greater")
        assert picked.t_pvalue[place] == pytest.approx(paired.pvalue, rel=1e-6)
        assert picked.difference[place] == pytest.approx((a - b)[chosen].mean())


def test_a_hundred_seeds_of_one_network(shared_data):
    """Best and worst 80 of 100 runs differ beyond doubt, as Gundersen et al. (2023) found."""
    from outperform.runs import read_runs

    path = shared_data / "bert_100_seeds" / "runs.csv"
    scores = read_runs(path, metric="MNLI dev acc.").select("runs")
    picked = pick_best_against_worst(scores, scores)
    assert picked.sizes[[0, -1]].tolist() == [2, 99]
    at_80 = picked.sizes == 80
    assert picked.t_pvalue[at_80] < 1e-3
    assert picked.rank_pvalue[at_80] < 1e-3
    assert 0.5 < picked.effect_size[at_80] < 1
    assert picked.largest_significant(1e-3) >= 80


# Picked runs: properties


@given(samples)
def test_the_more_are_picked_the_less_best_and_worst_differ(scores):
    picked = pick_best_against_worst(scores, scores)
    assert (np.diff(picked.difference) <= 1e-12).all()
    assert (picked.difference >= 0).all()


@given(samples, st.floats(0.1, 100), st.floats(-1e3, 1e3))
def test_units_do_not_matter(scores, factor, shift):
    picked = pick_best_against_worst(scores, scores)
    moved = pick_best_against_worst(
        np.multiply(scores, factor) + shift, np.multiply(scores, factor) + shift
    )
    assert moved.difference == pytest.approx(picked.difference * factor, rel=1e-6, abs=1e-9)
    assert moved.rank_pvalue == pytest.approx(picked.rank_pvalue)


@given(samples)
def test_sizes_may_be_chosen(scores):
    every = pick_best_against_worst(scores, scores)
    some = pick_best_against_worst(scores, scores, sizes=[2, len(scores) - 1])
    assert some.t_pvalue.tolist() == every.t_pvalue[[0, -1]].tolist()


# Picked runs: calibration


@pytest.mark.slow
def test_unpicked_halves_differ_as_often_as_the_level_says():
    """Best and worst of random scores differ always; a random order instead, at the level."""
    rng = np.random.default_rng(12)
    n_found = 0
    for _ in range(1000):
        first, second = rng.normal(size=(2, 20))
        # All runs of both: nothing is picked.
        n_found += pick_best_against_worst(first, second, sizes=[20]).t_pvalue[0] <= 0.05
    assert binomtest(n_found, 1000, 0.05).pvalue > 0.001


# Picked runs: negative control


def test_picking_finds_what_is_not_there():
    """The same scores are found to differ from themselves: what the picking is to show."""
    scores = np.random.default_rng(3).normal(size=50)
    assert pick_best_against_worst(scores, scores, sizes=[50]).t_pvalue[0] == pytest.approx(0.5)
    assert pick_best_against_worst(scores, scores).largest_significant(1e-3) > 25


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([1, 2], "a subset of 1 cannot be taken from 5 runs. Pass sizes from 2 to 5."),
        ([2, 6], "a subset of 6 cannot be taken from 5 runs. Pass sizes from 2 to 5."),
        ([2.5], "sizes is [2.5]. Pass a sequence of whole numbers."),
        ([], "sizes is []. Pass a sequence of whole numbers."),
    ],
)
@pytest.mark.parametrize("pick", [pick_best_against_worst, pick_best_pairs])
def test_sizes_that_make_no_sense_are_refused(pick, sizes, message):
    with pytest.raises(InvalidInput) as caught:
        pick(range(5), range(5), sizes=sizes)
    assert str(caught.value) == message


def test_two_runs_leave_nothing_to_pick_from():
    with pytest.raises(TooFewRuns) as caught:
        pick_best_against_worst([1, 2], [1, 2, 3])
    assert str(caught.value) == "a has 2 scores. At least 3 are needed."


@pytest.mark.parametrize("pick", [pick_best_against_worst, pick_best_pairs])
def test_picking_from_bad_scores_is_refused(refuses, pick):
    refuses(pick)


def test_picked_runs_are_plain():
    values = pick_best_against_worst(range(5), range(5)).to_dict()
    assert values["sizes"] == [2, 3, 4]
    assert all(type(x) is float for x in values["gap"])
