"""What picked runs would show, for every number of runs picked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, brunnermunzel, t, ttest_ind, ttest_rel

from outperform.errors import InvalidInput, TooFewRuns
from outperform.stats import cohens_d, pick_best_against_worst, pick_best_pairs

samples = st.lists(st.integers(-50, 50).map(lambda x: x / 10), min_size=3, max_size=20)

# By hand


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


# Reference: scipy, one number of runs at a time


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


def test_a_hundred_seeds_of_one_network_as_in_the_paper(shared_data):
    """Best and worst 80 of 100 runs of one network differ beyond doubt, as the paper found."""
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


# Properties


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


# Calibration


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


# Negative control


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
    assert str(caught.value) == "a has 2 score(s). At least 3 are needed."


@pytest.mark.parametrize("pick", [pick_best_against_worst, pick_best_pairs])
def test_bad_scores_are_refused(refuses, pick):
    refuses(pick)


def test_results_are_plain():
    values = pick_best_against_worst(range(5), range(5)).to_dict()
    assert values["sizes"] == [2, 3, 4]
    assert all(type(x) is float for x in values["gap"])
