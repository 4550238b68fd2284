"""Average ranks, Friedman's and Nemenyi's tests, and the range of k normal variables."""

import collections
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erfc, erfcinv
from scipy.stats import binomtest, friedmanchisquare, rankdata, studentized_range
from scipy.stats import chi2 as chi2_distribution
from scipy.stats import f as f_distribution

from outperform.errors import InvalidInput
from outperform.stats import average_ranks, friedman, nemenyi
from outperform.stats.task_ranks import exceed_range, range_quantile

# Quantiles of the studentized range at 0.05, for 2, 3 and 4, infinite degrees of freedom.
RANGES = {2: 2.7718, 3: 3.3145, 4: 3.6332}
# Table 6 of Demšar (2006). Of the two 0.975 of the 13th task he ranks the former higher, by digits
# that he does not print: one is added here.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


@st.composite
def tables(draw):
    """Whole scores of 2 to 8 tasks and 2 to 5 competitors, with many ties."""
    k = draw(st.integers(2, 5))
    row = st.lists(st.integers(0, 6).map(float), min_size=k, max_size=k)
    return np.array(draw(st.lists(row, min_size=2, max_size=8)))


def statistics(test):
    """All numbers of a Friedman test."""
    return [*test.corrected.to_dict().values(), *test.uncorrected.to_dict().values()]


# By hand


def test_the_best_has_rank_1_and_ties_share():
    assert average_ranks([[0.7, 0.9, 0.8]]).tolist() == [3, 1, 2]
    assert average_ranks([[5, 5, 7, 5]]).tolist() == [3, 3, 1, 3]
    assert average_ranks([[5, 5, 7, 5], [1, 2, 3, 4]]).tolist() == [3.5, 3, 1.5, 2]


def test_friedman_by_hand():
    # Rank sums 4, 5, 9 of 3 tasks, mean 6: squares 4 + 1 + 9 = 14. chi2 = 12 * 14 / (3 * 3 * 4),
    # F = 2 * 14/3 / (6 - 14/3) = 7.
    test = friedman([[9, 8, 7], [9, 8, 7], [8, 9, 7]])
    assert test.ranks == pytest.approx([4 / 3, 5 / 3, 3])
    assert test.n_tasks == 3
    assert test.corrected == test.uncorrected
    assert test.corrected.chi2 == pytest.approx(14 / 3, rel=1e-12)
    assert test.corrected.f == pytest.approx(7, rel=1e-12)
    # chi-square with 2 degrees of freedom: exp(-x/2); F with 2 and 4: (1 + x/2)^-2.
    assert test.corrected.chi2_pvalue == pytest.approx(math.exp(-7 / 3), rel=1e-12)
    assert test.corrected.f_pvalue == pytest.approx(4.5**-2, rel=1e-12)


def test_friedman_with_ties_by_hand():
    # Ranks 1.5 1.5 3 twice: sums 3 3 6, squares about 4 are 1 + 1 + 4 = 6. chi2 = 12 * 6 / (2 * 12)
    # = 3, over 1 - 2 * 6 / (2 * 3 * 8) = 3/4: 4, which is full agreement.
    test = friedman([[2, 2, 1], [5, 5, 0]])
    assert test.uncorrected.chi2 == pytest.approx(3, rel=1e-12)
    assert test.uncorrected.f == pytest.approx(3, rel=1e-12)
    assert (test.corrected.chi2, test.corrected.f) == (4, math.inf)
    assert test.corrected.f_pvalue == pytest.approx(1 / 6, rel=1e-12)


def test_full_agreement_is_as_rare_as_it_is_by_chance():
    # 3 competitors, 3 tasks: the second and third agree with the first in one of 6 orders each.
    test = friedman([[3, 2, 1]] * 3)
    assert (test.corrected.chi2, test.corrected.f) == (6, math.inf)
    assert test.corrected.f_pvalue == pytest.approx(1 / 36, rel=1e-12)
    assert test.corrected.chi2_pvalue == pytest.approx(math.exp(-3), rel=1e-12)  # above 1/36


def test_where_all_are_tied_nothing_differs():
    test = friedman(np.ones((4, 3)))
    assert statistics(test) == [0, 1, 0, 1] * 2
    assert (nemenyi(np.ones((4, 3))).pvalues == 1).all()


def test_nemenyi_of_two_by_hand():
    # Gap 1 of average ranks, standard deviation of a rank sqrt(2 * 3 / (12 * 4)): erfc(sqrt(2)).
    test = nemenyi([[2, 1]] * 4)
    assert test.ranks.tolist() == [1, 2]
    expected = math.erfc(math.sqrt(2))
    assert test.pvalues == pytest.approx(np.array([[1, expected], [expected, 1]]), rel=1e-12)
    assert test.critical_difference == pytest.approx(1.959964 / 2, rel=1e-6)


# References


def test_demsars_example():
    test = friedman(DEMSAR)
    assert test.ranks.round(3).tolist() == [3.143, 2.000, 2.893, 1.964]
    assert (round(test.uncorrected.chi2, 2), round(test.uncorrected.f, 2)) == (9.28, 3.69)
    assert (round(test.corrected.chi2, 2), round(test.corrected.f, 2)) == (10.23, 4.19)
    assert round(nemenyi(DEMSAR).critical_difference, 2) == 1.25
    assert not (nemenyi(DEMSAR).pvalues <= 0.05).any()
    # At 0.10 the critical difference is 1.12, and the first differs from the second and fourth.
    test = nemenyi(DEMSAR, alpha=0.10)
    assert round(test.critical_difference, 2) == 1.12
    assert np.argwhere(test.pvalues <= 0.10).tolist() == [[0, 1], [0, 3], [1, 0], [3, 0]]


def test_friedman_matches_r(reference):
    for case in reference("task_ranks")["friedman"]:
        test = friedman(case["scores"])
        assert test.ranks == pytest.approx(case["ranks"], rel=1e-12)
        assert test.corrected.chi2 == pytest.approx(case["chi2"], rel=1e-10)
        assert test.corrected.chi2_pvalue == pytest.approx(case["pvalue"], rel=1e-10)


@given(tables().filter(lambda scores: scores.shape[1] > 2 and (np.ptp(scores, axis=1) > 0).any()))
def test_ranks_and_chi_square_match_scipy(scores):
    assert average_ranks(scores) == pytest.approx(rankdata(-scores, axis=1).mean(axis=0))
    expected = friedmanchisquare(*scores.T).statistic
    assert friedman(scores).corrected.chi2 == pytest.approx(expected, rel=1e-9, abs=1e-9)


# Properties


@given(tables())
def test_f_is_that_of_iman_and_davenport(scores):
    n_tasks, k = scores.shape
    test = friedman(scores)
    for found in (test.corrected, test.uncorrected):
        rest = n_tasks * (k - 1) - found.chi2
        if rest > 1e-9:
            assert found.f == pytest.approx((n_tasks - 1) * found.chi2 / rest, rel=1e-9)
        else:
            assert found.f == math.inf
    assert test.corrected.chi2 >= test.uncorrected.chi2
    assert test.corrected.f_pvalue <= test.uncorrected.f_pvalue


@settings(max_examples=40)
@given(tables(), st.randoms())
def test_only_the_order_within_tasks_counts(scores, random):
    n_tasks, k = scores.shape
    ranks, test, pairs = average_ranks(scores), friedman(scores), nemenyi(scores)
    assert ranks.sum() == pytest.approx(k * (k + 1) / 2)
    # Other units in each task, and the tasks in another order.
    moved = (scores * np.arange(1, n_tasks + 1)[:, None] / 10 + 0.3)[::-1]
    assert average_ranks(moved) == pytest.approx(ranks)
    assert statistics(friedman(moved)) == pytest.approx(statistics(test))
    # Lower is better.
    assert average_ranks(-scores) == pytest.approx(k + 1 - ranks)
    assert statistics(friedman(-scores)) == pytest.approx(statistics(test))
    # Competitors in another order.
    order = random.sample(range(k), k)
    assert average_ranks(scores[:, order]) == pytest.approx(ranks[order])
    shuffled = nemenyi(scores[:, order]).pvalues
    assert shuffled == pytest.approx(pairs.pvalues[np.ix_(order, order)])


@settings(max_examples=40)
@given(tables(), st.sampled_from([0.01, 0.05, 0.3]))
def test_pairs_differ_exactly_from_the_critical_difference_on(scores, alpha):
    test = nemenyi(scores, alpha=alpha)
    gaps = abs(test.ranks[:, None] - test.ranks)
    assert ((gaps >= test.critical_difference) == (test.pvalues <= alpha)).all()
    assert (test.pvalues == test.pvalues.T).all()
    assert (np.diag(test.pvalues) == 1).all()


def test_scores_that_differ_by_rounding_are_tied():
    assert average_ranks([[0.1 + 0.2, 0.3, 0.5]]).tolist() == [2.5, 2.5, 1]
    stored = np.array([[1, np.nextafter(np.float32(1), np.float32(2)), 2], [3, 2, 1]], np.float32)
    assert average_ranks(stored[:1]).tolist() == [2.5, 2.5, 1]
    assert average_ranks(stored.astype(float)[:1]).tolist() == [3, 2, 1]
    # What is tied in a task is up to this task alone.
    assert average_ranks([[0.1 + 0.2 - 0.3, 0], [1e20, 2e20]]).tolist() == [1.5, 1.5]


def test_leading_axes_are_as_many_tables():
    scores = np.random.default_rng(9).integers(0, 5, size=(3, 2, 6, 4))
    ranks, test, pairs = average_ranks(scores), friedman(scores), nemenyi(scores)
    for place in np.ndindex(3, 2):
        assert ranks[place].tolist() == average_ranks(scores[place]).tolist()
        alone = friedman(scores[place])
        assert [values[place] for values in statistics_of_arrays(test)] == statistics(alone)
        assert pairs.pvalues[place] == pytest.approx(nemenyi(scores[place]).pvalues, rel=1e-12)


def test_no_tables_give_no_tests():
    scores = np.empty((0, 6, 4))
    assert average_ranks(scores).shape == (0, 4)
    assert friedman(scores).corrected.f_pvalue.shape == (0,)
    assert nemenyi(scores).pvalues.shape == (0, 4, 4)


def statistics_of_arrays(test):
    parts = (test.corrected, test.uncorrected)
    return [getattr(p, name) for p in parts for name in ("chi2", "chi2_pvalue", "f", "f_pvalue")]


def test_json():
    found = friedman([[3, 2, 1]] * 2).to_dict()
    assert list(found) == ["ranks", "corrected", "uncorrected", "n_tasks"]
    assert found["corrected"]["f"] is None  # infinite
    assert found["ranks"] == [1, 2, 3]
    assert list(nemenyi([[3, 2, 1]] * 2).to_dict()) == [
        "ranks",
        "pvalues",
        "critical_difference",
        "alpha",
        "n_tasks",
    ]


# Calibration


def draw_equals(n_studies, n_tasks, k, seed):
    return np.random.default_rng(seed).normal(size=(n_studies, n_tasks, k))


@settings(max_examples=40)
@given(tables().filter(lambda scores: scores.shape[0] <= 3 and scores.shape[1] <= 3))
def test_no_pvalue_is_below_the_chance_to_agree(scores):
    # All orders of each task, exactly: as much agreement is never rarer than the smallest p-value.
    n_tasks, k = scores.shape
    orders = [list(itertools.permutations(row)) for row in scores]
    agreement = friedman(np.array(list(itertools.product(*orders)))).corrected.chi2
    test = friedman(scores).corrected
    exact = np.mean(agreement >= test.chi2 - 1e-9)
    lowest = math.factorial(k) ** -(n_tasks - 1)
    assert exact >= lowest - 1e-12
    assert min(test.chi2_pvalue, test.f_pvalue) >= lowest - 1e-12


def measure_sizes(n_tasks, k):
    """Exact chances to find a difference between equals at 0.05: by F, chi-square and Nemenyi."""
    # Sums of ranks after each task, with their chances; sorted, since competitors are alike.
    chances = {(0,) * k: 1.0}
    orders = list(itertools.permutations(range(1, k + 1)))
    for _ in range(n_tasks):
        after = collections.Counter()
        for (sums, chance), order in itertools.product(chances.items(), orders):
            after[tuple(sorted(map(sum, zip(sums, order, strict=True))))] += chance / len(orders)
        chances = after
    found = [find_differences(np.array(sums) / n_tasks, n_tasks) for sums in chances]
    return np.array(list(chances.values())) @ np.array(found)


def find_differences(ranks, n_tasks):
    """Whether these average ranks differ at 0.05, by the formulas as they are published."""
    k = len(ranks)
    chi2 = 12 * n_tasks / (k * (k + 1)) * (np.square(ranks).sum() - k * (k + 1) ** 2 / 4)
    rest = n_tasks * (k - 1) - chi2
    f = (n_tasks - 1) * chi2 / rest if rest > 1e-9 else math.inf
    # By chance tasks agree fully in (k!)^-(N - 1): where that is above 0.05, nothing is found.
    possible = math.factorial(k) ** -(n_tasks - 1) <= 0.05
    by_f = f_distribution.sf(f, k - 1, (k - 1) * (n_tasks - 1)) <= 0.05 and possible
    by_chi2 = chi2_distribution.sf(chi2, k - 1) <= 0.05 and possible
    by_range = np.ptp(ranks) / math.sqrt(k * (k + 1) / (12 * n_tasks)) >= RANGES[k]
    return by_f, by_chi2, by_range


@pytest.mark.parametrize(
    ("n_tasks", "k", "percents"),
    [
        # As docs/statistics.md has them.
        (7, 2, [12.5, 1.6, 1.6]),
        (3, 3, [19.4, 2.8, 2.8]),
        (4, 3, [6.9, 6.9, 4.2]),
        (10, 3, [4.6, 4.6, 4.6]),
        (30, 3, [5.5, 5.5, 4.3]),
        (5, 4, [6.7, 3.4, 3.7]),
        (10, 4, [5.3, 4.5, 5.2]),
    ],
)
def test_sizes_are_as_documented(n_tasks, k, percents):
    assert (100 * measure_sizes(n_tasks, k)).round(1).tolist() == percents


@pytest.mark.slow
@pytest.mark.parametrize(("n_tasks", "k"), [(3, 3), (30, 3), (5, 4), (10, 4)])
def test_equals_are_found_to_differ_as_often_as_computed(n_tasks, k):
    scores = draw_equals(10_000, n_tasks, k, seed=11)
    test, pairs = friedman(scores).corrected, nemenyi(scores)
    found = [test.f_pvalue, test.chi2_pvalue, pairs.pvalues.min(axis=(1, 2))]
    for pvalues, size in zip(found, measure_sizes(n_tasks, k), strict=True):
        assert binomtest(np.count_nonzero(pvalues <= 0.05), 10_000, size).pvalue > 0.001


@pytest.mark.slow
def test_many_equals_are_found_to_differ_as_often_as_promised():
    scores = draw_equals(20_000, 20, 10, seed=12)
    hits = np.count_nonzero(friedman(scores).corrected.f_pvalue <= 0.05)
    assert binomtest(hits, 20_000, 0.05).pvalue > 0.001
    hits = np.count_nonzero(nemenyi(scores[:2000]).pvalues.min(axis=(1, 2)) <= 0.05)
    assert binomtest(hits, 2000, 0.05, alternative="greater").pvalue > 0.001


def test_one_task_counted_three_times_errs_too_often():
    # Negative control of the checks above: tasks are the units, and copies are none.
    scores = np.repeat(draw_equals(1000, 10, 4, seed=13), 3, axis=1)
    assert np.mean(friedman(scores).corrected.f_pvalue <= 0.05) > 0.2
    hits = (nemenyi(scores).pvalues <= 0.05).any(axis=(1, 2)).sum()
    assert binomtest(hits, 1000, 0.05, alternative="greater").pvalue < 0.001


def test_pairs_without_a_correction_err_too_often():
    # Negative control: each pair tested as if there were no other.
    ranks = average_ranks(draw_equals(1000, 10, 4, seed=14))
    gaps = np.ptp(ranks, axis=1) / math.sqrt(4 * 5 / (12 * 10))
    hits = np.count_nonzero(exceed_range(gaps, 2) <= 0.05)
    assert binomtest(hits, 1000, 0.05, alternative="greater").pvalue < 0.001


# Refusals


@pytest.mark.parametrize("function", [average_ranks, friedman, nemenyi])
@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (
            [0.1, 0.2, 0.3],
            "scores has shape (3,). Pass one row per task and one column per competitor, shape "
            "(n_tasks, n_competitors).",
        ),
        ([[0.1], [0.2]], "scores has 1 score. At least 2 are needed."),
        (
            [[0.1, np.nan], [0.2, 0.3]],
            "scores has 1 score that is NaN or infinite, at position (0, 1) (first: nan). "
            "Find out why these runs failed; to leave them out, remove them, and their partners "
            "if paired.",
        ),
    ],
)
def test_what_is_no_table_is_refused(function, scores, message):
    with pytest.raises(InvalidInput) as caught:
        function(scores)
    assert str(caught.value) == message


@pytest.mark.parametrize("function", [friedman, nemenyi])
def test_one_task_is_too_few_to_test(function):
    with pytest.raises(InvalidInput) as caught:
        function([[0.1, 0.2, 0.3]])
    assert str(caught.value) == "scores has 1 task. At least 2 are needed."


def test_alpha_is_a_level():
    with pytest.raises(InvalidInput) as caught:
        nemenyi(DEMSAR, alpha=10)
    assert str(caught.value) == "alpha is 10. Pass a value between 0 and 1 (10% is 0.1)."


# The range of normal variables


def test_two_differ_like_one_normal_variable():
    # By hand: the difference of two is N(0, 2), so that P(range > q) = erfc(q / 2), at any depth.
    widths = np.linspace(0, 40, 81)
    assert exceed_range(widths, 2) == pytest.approx(erfc(widths / 2), rel=1e-12)
    assert range_quantile(0.05, 2) == pytest.approx(2 * erfcinv(0.05), rel=1e-12)


def test_of_three_the_mean_range_is_known():
    # By hand: E(range of 3) = 3 / sqrt(pi), and a mean is the integral of the tail.
    tail = exceed_range(np.linspace(0, 15, 3001), 3)
    area = 0.005 * (tail.sum() - (tail[0] + tail[-1]) / 2)
    assert area == pytest.approx(3 / math.sqrt(math.pi), rel=1e-6)


@pytest.mark.parametrize(
    ("k", "published"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)]
)
def test_quantiles_are_those_of_demsar(k, published):
    # His table divides by sqrt(2), and has 2.343 where 2.3437 is right.
    assert range_quantile(0.05, k) / math.sqrt(2) == pytest.approx(published, abs=0.001)


def test_matches_r(reference):
    # ptukey itself is good to about 6 digits.
    for case in reference("task_ranks")["ranges"]:
        assert exceed_range(case["q"], case["k"]) == pytest.approx(case["tail"], rel=1e-6)
        for quantile in case["quantiles"]:
            found = range_quantile(quantile["alpha"], case["k"])
            assert found == pytest.approx(quantile["q"], rel=1e-6)


@pytest.mark.parametrize("k", [2, 3, 10, 200, 100_000])
def test_matches_scipy(k):
    widths = np.array([0.1, 1, 3, 5, 7])
    assert exceed_range(widths, k) == pytest.approx(
        studentized_range.sf(widths, k, math.inf), rel=1e-9
    )


@settings(max_examples=40)
@given(st.floats(0, 30), st.integers(2, 1000), st.floats(1e-6, 0.999))
def test_wider_is_rarer_and_more_reach_further(width, k, alpha):
    tail = exceed_range([width, width + 0.1], k)
    assert 0 <= tail[1] <= tail[0] + 1e-12
    assert tail[0] <= 1
    assert tail[0] <= exceed_range(width, k + 1) + 1e-12
    assert exceed_range(range_quantile(alpha, k), k) == pytest.approx(alpha, rel=1e-9)


@pytest.mark.parametrize("k", [2, 3, 1000])
def test_widths_of_rounding_are_exceeded_for_sure(k):
    # Chances of being beyond the lowest and beyond the width differ in their last bits, if at all.
    widths = np.concatenate([np.geomspace(1e-300, 1e-13, 300), np.linspace(1e-16, 4e-16, 300)])
    assert exceed_range(widths, k) == pytest.approx(1, abs=1e-12)


def test_shape_is_kept_and_blocks_make_no_difference():
    widths = np.linspace(0, 8, 3000).reshape(3, 5, 200)
    tail = exceed_range(widths, 4)
    assert tail.shape == (3, 5, 200)
    assert (tail[0, 0, 0], exceed_range(widths[2, 1, 7], 4)) == (1, tail[2, 1, 7])
    assert (np.diff(tail.ravel()) <= 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 8])
def test_ranges_of_draws_exceed_it_as_often_as_it_says(k):
    ranges = np.ptp(np.random.default_rng(k).normal(size=(100_000, k)), axis=1)
    hits = np.count_nonzero(ranges > range_quantile(0.05, k))
    assert binomtest(hits, 100_000, 0.05).pvalue > 0.001


def test_the_check_of_draws_can_fail():
    # Negative control: as if only two had been compared.
    ranges = np.ptp(np.random.default_rng(3).normal(size=(2000, 3)), axis=1)
    hits = np.count_nonzero(ranges > range_quantile(0.05, 2))
    assert binomtest(hits, 2000, 0.05).pvalue < 0.001
