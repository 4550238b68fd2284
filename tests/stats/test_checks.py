"""A tie is a tie: scores that differ by no more than rounding, in every statistic the same way."""

from functools import partial
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.stats import binomtest

from outperform.stats import (
    Criteria,
    VerdictRule,
    best_of_probability,
    best_of_weights,
    brunner_munzel,
    cohens_d,
    count_rejections,
    decide,
    equivalence_test,
    estimate_best_of,
    expected_best_of,
    grow_brunner_munzel,
    hide_runs_to_show,
    hide_runs_to_undo,
    mean_difference,
    nadeau_bengio_test,
    outperforming_interval,
    paired_d,
    paired_t_test,
    pick_best_against_worst,
    pick_best_pairs,
    probability_of_outperforming,
    rank_correlation,
    sign_flip_test,
    welch_t_test,
    wilcoxon_test,
)
from outperform.stats.checks import find_differing, merge_pairs, merge_stored, merge_ties
from outperform.stats.decision_rules import RULES, permutation_critical_value
from outperform.stats.outperforming import PairedMethod, count_wins

NOISE = 99.99999999999997  # 100 but for two units in the last place


def atari_like():
    """100 pairs, 41 of them tied at 100; of the others A wins 38."""
    rng = np.random.default_rng(41)
    b = rng.uniform(20, 90, size=100)
    a = b + np.where(np.arange(100) < 38, 1, -1) * rng.uniform(0.5, 9, size=100)
    a[59:] = b[59:] = 100.0
    return a, b


EXACT = atari_like()
NOISY_A = np.where(EXACT[0] == 100, NOISE, EXACT[0]), EXACT[1]
NOISY_B = EXACT[0], np.where(EXACT[1] == 100, NOISE, EXACT[1])


def rng():
    return np.random.default_rng(0)


def in_rows(function, a, b):
    return function(np.tile(a, (2, 1)), np.tile(b, (2, 1)))


def decide_all(a, b):
    critical = permutation_critical_value(a.size, rng=rng(), n_resamples=999)
    rules = partial(decide, rules=RULES, criteria=Criteria(sd=20.0), critical=critical)
    return in_rows(rules, a, b)


STATISTICS = {
    "probability": probability_of_outperforming,
    "probability, strict": partial(probability_of_outperforming, ties="strict"),
    "probability, unpaired": partial(probability_of_outperforming, paired=False),
    **{
        f"interval, {method}": partial(outperforming_interval, method=method)
        for method in get_args(PairedMethod)
    },
    "interval, unpaired": partial(outperforming_interval, paired=False, method="brunner-munzel"),
    "interval, bootstrap": partial(outperforming_interval, paired=False, method="bootstrap"),
    "wins": count_wins,
    "brunner-munzel": brunner_munzel,
    "brunner-munzel, rows": partial(in_rows, brunner_munzel),
    "brunner-munzel, permutation": partial(brunner_munzel, method="permutation", n_resamples=999),
    "brunner-munzel, growing": lambda a, b: [
        found.test.to_dict()
        for found in grow_brunner_munzel(np.tile(a[::-1], (2, 1)), np.tile(b[::-1], (2, 1)), [60])
    ],
    "wilcoxon": wilcoxon_test,
    "sign flip": partial(sign_flip_test, n_resamples=999),
    "paired t": paired_t_test,
    "paired t, rows": partial(in_rows, paired_t_test),
    "welch": welch_t_test,
    "welch, rows": partial(in_rows, welch_t_test),
    "nadeau-bengio": partial(nadeau_bengio_test, n_train=90, n_test=10),
    "equivalence": partial(equivalence_test, margin=1.0),
    "mean difference": mean_difference,
    "mean difference, unpaired": partial(mean_difference, paired=False),
    "cohen's d": cohens_d,
    "paired d": paired_d,
    "rank correlation": rank_correlation,
    "hidden to show": partial(hide_runs_to_show, rule=VerdictRule()),
    "hidden to undo": partial(hide_runs_to_undo, rule=VerdictRule()),
    "picked runs": lambda a, b: pick_best_against_worst(a, b).to_dict(),
    "picked pairs": lambda a, b: pick_best_pairs(a, b).to_dict(),
    "subsets": lambda a, b: [
        shares.to_dict()
        for shares in count_rejections(
            a, b, [50], tests=[paired_t_test, brunner_munzel], n_resamples=99, rng=rng()
        )
    ],
    "rules": lambda a, b: {rule: found.tolist() for rule, found in decide_all(a, b).for_a.items()},
    "best of 5": lambda a, b: expected_best_of(5, np.append(a, b)),
    "weights of the best of 5": lambda a, b: best_of_weights(5, np.append(a, b)).tolist(),
    "which best of 5": lambda a, b: best_of_probability(
        5, (a, None), (b, None), n_resamples=99, rng=rng()
    ),
}


def plain(result):
    return result.to_dict() if hasattr(result, "to_dict") else result


# By hand


def test_rounding_is_merged_and_nothing_else_by_hand():
    a, b = np.array([0.1 + 0.2, 0.5, 0.7]), np.array([0.3, 0.5 + 1e-9, 0.7])
    merged_a, merged_b = merge_ties(a, b)
    assert merged_a[0] == merged_b[0]
    assert merged_a[1:].tolist() == a[1:].tolist()
    assert merged_b[1:].tolist() == b[1:].tolist()
    merged_a, merged_b = merge_pairs(a, b)
    assert (merged_a == merged_b).tolist() == [True, False, True]
    assert find_differing(np.array([0.3, 0.1 + 0.2, 0.5, 0.5])).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("a", "b", "tied"),
    [
        ([0.1 + 0.2 - 0.3, 1.0, 2.0], [0.0, 3.0, 1.5], True),  # 6e-17 among scores near 1
        ([0.0, 1.0, 2.0], [-5e-17, 3.0, 1.5], True),
        ([1e-20, 3e-20, 5e-20], [2e-20, 4e-20, 6e-20], False),  # all are small
        ([1e-13, 1.0, 2.0], [2e-13, 3.0, 1.5], False),  # small, but no rounding of 1
        ([1e-5, 1.0, 2.0], [1e-5 * (1 + 1e-9), 3.0, 1.5], False),
        ([0.7, 1.0, 1e13], [0.700001, 3.0, 1.5], False),  # one diverged, and ties no others
        ([-NOISE, 1.0, 2.0], [-100.0, 3.0, 1.5], True),
        ([0.0, 0.0, 0.0], [1e-300, 0.0, 0.0], False),  # nothing else to measure it by
    ],
)
def test_near_zero_the_median_score_says_what_rounding_is(a, b, tied):
    a, b = np.array(a), np.array(b)
    for first, second in (merge_pairs(a, b), merge_ties(a, b)):
        assert (first[0] == second[0]) == tied
        assert (first[1:] == second[1:]).tolist() == (a[1:] == b[1:]).tolist()


def test_ties_are_transitive_within_and_between_samples():
    steps = 1.0 + np.arange(4) * 9e-13
    (merged,) = merge_ties(steps)
    assert len(set(merged)) == 1
    first, second = merge_ties(steps[::2], steps[1::2])
    assert len({*first, *second}) == 1


def test_rows_are_merged_each_by_itself():
    a = np.array([[0.1 + 0.2, 1.0], [0.5, 1.0]])
    first, second = merge_ties(a, np.array([0.3, 2.0]))
    assert first[0, 0] == second[0, 0] != first[1, 0] == 0.5
    assert second[1].tolist() == [0.3, 2.0]


def test_arrays_without_near_ties_are_given_back():
    a, b = np.array([1.0, 2.0, 2.0]), np.array([2.0, 3.0, 3.0])
    assert all(new is old for new, old in zip(merge_ties(a, b), (a, b), strict=True))
    assert all(new is old for new, old in zip(merge_pairs(a, b), (a, b), strict=True))
    assert merge_ties(np.empty(0))[0].size == 0
    assert merge_pairs(np.empty(0), np.empty(0))[0].size == 0


def test_what_is_stored_in_few_bits_is_compared_in_as_few_by_hand():
    hundred = np.float32(100)
    stored = np.array([hundred, np.nextafter(hundred, np.float32(0)), 99.999], np.float32)
    (merged,) = merge_stored([stored.astype(float)], [stored.dtype])
    assert merged[0] == merged[1] != merged[2]
    # Beside 64 bits, 0.1 of 32 bits is 0.1, also where nothing but the number tells of the 32.
    tenth = np.array([0.1], np.float32).astype(float)
    for dtype in (np.float32, float):
        first, second = merge_stored([tenth, np.array([0.1])], [np.dtype(dtype)])
        assert first == second
    # Scores of which one needs 64 bits are of 64; 0.5 and whole numbers are of as many as others.
    for other in ([0.1, tenth[0]], [0.5, 0.5 + 1e-9], [2e7 + 1, 2e7 + 2], [tenth[0], 1e39]):
        column = np.array(other)
        assert merge_stored([column, np.array([0.1])], [np.dtype(float)])[0] is column


def test_coarse_scores_that_lie_close_do_not_all_become_one():
    stored = np.arange(0.7, 0.75, 0.0005).astype(np.float16)  # every value that 16 bits have
    (merged,) = merge_stored([stored.astype(float)], [stored.dtype])
    assert np.ptp(merged) > 0.045
    assert np.abs(merged - stored).max() <= 2 * np.finfo(np.float16).eps * 0.75
    missing = merge_stored([np.array([np.nan, 1.0, np.inf, 1.0])], [stored.dtype])[0]
    assert missing.tolist()[1:] == [1.0, np.inf, 1.0]
    assert np.isnan(missing[0])


# Reference: the same scores, tied to the last bit, and scipy


@pytest.mark.parametrize("noisy", [NOISY_A, NOISY_B], ids=["noise in a", "noise in b"])
@pytest.mark.parametrize("name", STATISTICS)
def test_every_statistic_takes_rounding_as_ties(name, noisy):
    statistic = STATISTICS[name]
    for order in (slice(None), slice(None, None, -1)):
        result, expected = statistic(*noisy[order]), statistic(*EXACT[order])
        np.testing.assert_equal(plain(result), plain(expected))


def test_rank_tests_of_noisy_scores_match_scipy_on_tied_ones():
    a, b = EXACT
    theirs = scipy_stats.brunnermunzel(a, b)
    assert brunner_munzel(*NOISY_A).pvalue == pytest.approx(theirs.pvalue, rel=1e-9)
    theirs = scipy_stats.wilcoxon(a, b, correction=False, method="approx")
    assert wilcoxon_test(*NOISY_A).pvalue == pytest.approx(theirs.pvalue, rel=1e-9)
    theirs = scipy_stats.mannwhitneyu(a, b).statistic / 100**2
    assert probability_of_outperforming(*NOISY_A, paired=False) == pytest.approx(theirs, rel=1e-12)


def test_wilcoxon_ties_differences_that_rounding_tells_apart():
    # Differences of ±0.1 at different heights: in floats 0.3 - 0.2 < 0.2 - 0.1 < 1.1 - 1.
    a = [0.3, 0.2, 1.1, 5.0, 0.7, 0.9, 0.5]
    b = [0.2, 0.1, 1.0, 5.1, 0.4, 0.5, 0.5]
    whole = [1, 1, 1, -1, 3, 4, 0]
    expected = wilcoxon_test(whole, np.zeros(7))
    assert wilcoxon_test(a, b).statistic == expected.statistic
    assert wilcoxon_test(a, b).pvalue == expected.pvalue


# Properties

scores = st.lists(st.integers(-8, 8), min_size=2, max_size=10).map(lambda x: np.array(x, float))
ulps = st.lists(st.integers(-3, 3), min_size=10, max_size=10)


def nudge(values, steps):
    """Move each value by some units in the last place; 0 has none to move by."""
    return values + np.where(values == 0, 0, np.array(steps[: values.size]) * np.spacing(values))


def codes(values):
    return np.unique(values, return_inverse=True)[1].tolist()


@given(scores, ulps, st.floats(1e-100, 1e100))
def test_ties_keep_under_scaling(values, steps, factor):
    (merged,) = merge_ties(nudge(values, steps) * factor)
    assert codes(merged) == codes(values)


@given(scores, ulps, st.integers(-7, 1000))
def test_ties_keep_under_shifting_by_what_floats_represent(values, steps, shift):
    above = values - values.min() + 8  # from where no shift leads to 0, where scores have no size
    (merged,) = merge_ties(nudge(above, steps) + shift)
    assert codes(merged) == codes(values)


@given(scores, scores, ulps, st.integers(0, 99))
def test_merging_knows_no_order_and_no_sides(a, b, steps, seed):
    noisy = nudge(a, steps)
    first, second = merge_ties(noisy, b)
    swapped_second, swapped_first = merge_ties(b, noisy)
    assert np.array_equal(first, swapped_first)
    assert np.array_equal(second, swapped_second)
    order = np.random.default_rng(seed).permutation(a.size)
    assert np.array_equal(merge_ties(noisy[order], b)[0], first[order])
    # Once merged, nothing is left to merge.
    again = merge_ties(first, second)
    assert np.array_equal(again[0], first)
    assert np.array_equal(again[1], second)


@given(scores, ulps)
def test_merged_scores_are_tied_just_where_whole_numbers_are(values, steps):
    noisy = nudge(values, steps)
    first, second = merge_pairs(noisy, values)
    assert np.array_equal(first, second)
    assert np.abs(first - values).max() <= 1e-14
    wins, ties, n = count_wins(noisy, np.zeros(values.size))
    assert (wins, ties, n) == ((values > 0).sum(), (values == 0).sum(), values.size)


# Calibration


@pytest.mark.slow
def test_rounding_in_one_side_gives_it_no_advantage():
    # Equals on a coarse metric; all scores of one side end in the next float up.
    draw = np.random.default_rng(3)
    base = draw.integers(70, 80, size=(2, 600, 30)) / 100
    a, b = np.nextafter(base[0], 1), base[1]
    found = sum(brunner_munzel(a, b).pvalue <= 0.05)
    assert binomtest(int(found), 600, 0.05).pvalue > 0.001
    signs = sum(
        outperforming_interval(x, y, method="wilson").low > 0.5 for x, y in zip(a, b, strict=True)
    )
    assert signs <= 0.05 * 600


# Negative controls


def test_comparing_to_the_last_bit_turns_the_answer():
    a, b = NOISY_A
    wins, losses = np.count_nonzero(a > b), np.count_nonzero(a < b)
    assert (wins, losses) == (38, 62)
    assert binomtest(wins, 100).pvalue < 0.05  # for B
    assert count_wins(a, b) == (38, 41, 100)
    assert binomtest(38, 59).pvalue < 0.05  # for A


@pytest.mark.parametrize("by", [1e-9, -1e-9, 1e-11])
def test_what_is_more_than_rounding_is_no_tie(by):
    a, b = EXACT
    apart = np.where(a == 100, a * (1 + by), a)
    assert count_wins(apart, b)[1] == 0
    assert count_wins(apart, b)[0] == (79 if by > 0 else 38)
    unpaired = probability_of_outperforming(apart, b, paired=False)
    assert unpaired != probability_of_outperforming(a, b, paired=False)
    assert brunner_munzel(apart, b).pvalue != brunner_munzel(a, b).pvalue


def test_runs_tied_on_validation_but_for_rounding_share_their_chance():
    weights = best_of_weights(2, [0.3, 0.1 + 0.2, 0.1, 0.0])
    assert weights.tolist() == best_of_weights(2, [0.3, 0.3, 0.1, 0.0]).tolist()
    apart = best_of_weights(2, [0.3, 0.3 + 1e-9, 0.1, 0.0])
    assert apart[1] > apart[0]
    estimates = [estimate_best_of([3], [0.3, x, 0.1], [1, 2, 3], n_resamples=9, rng=rng()).value
                 for x in (0.3, 0.1 + 0.2)]  # fmt: skip
    assert estimates[0] == estimates[1]


def test_all_scores_equal_but_for_rounding_are_no_evidence():
    a, b = np.full(8, 0.1 + 0.2), np.full(8, 0.3)
    for test in (brunner_munzel, welch_t_test, paired_t_test, wilcoxon_test, sign_flip_test):
        assert test(a, b).pvalue == 1
    assert (cohens_d(a, b), paired_d(a, b), mean_difference(a, b).value) == (0, 0, 0)


def test_arrays_of_32_bits_are_tied_in_as_many():
    a, b = (scores.astype(np.float32) for scores in EXACT)
    noisy = np.where(a == 100, np.nextafter(np.float32(100), np.float32(0)), a)
    assert count_wins(noisy, b) == count_wins(a, b) == (38, 41, 100)
    assert brunner_munzel(noisy, b).pvalue == pytest.approx(brunner_munzel(a, b).pvalue, rel=1e-12)
    assert count_wins(noisy.tolist(), b.tolist()) == (38, 41, 100)
    # What is no rounding of 32 bits, and what 64 bits tell apart.
    assert count_wins(np.where(a == 100, np.float32(99.999), a), b)[1] == 0
    double = [np.append(x.astype(float), own) for x, own in ((noisy, 0.1), (b, 0.2))]
    assert count_wins(*double)[1] == 0
