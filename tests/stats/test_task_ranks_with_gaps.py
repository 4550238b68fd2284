"""Ranks over tasks with gaps."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from outperform.errors import InvalidInput
from outperform.stats import friedman, skillings_mack

NAN = math.nan


def measure(scores, seed=0, n_resamples=100):
    return skillings_mack(scores, n_resamples=n_resamples, rng=np.random.default_rng(seed))


@st.composite
def tables(draw, gaps=True):
    """Whole scores of 2 to 8 tasks and 2 to 5 competitors; the first two have no gaps."""
    k = draw(st.integers(2, 5))
    score = st.integers(0, 9).map(float)
    rest = st.lists(score | st.just(NAN) if gaps else score, min_size=k - 2, max_size=k - 2)
    row = st.tuples(st.lists(score, min_size=2, max_size=2), rest).map(lambda x: x[0] + x[1])
    return np.array(draw(st.lists(row, min_size=2, max_size=8)))


# By hand


def test_statistic_by_hand():
    # In units of sqrt(12 / (n + 1)): sqrt(3) for ranks -1 0 1 of three, 2 for ranks ± 1/2 of two.
    # Sums: a -sqrt(3) - 1, b 1, c sqrt(3). Pairs ab twice, ac and bc once: with c left out, the
    # covariance is [[3, -2], [-2, 3]], its inverse [[3, 2], [2, 3]] / 5.
    test = measure([[3, 2, 1], [2, 1, NAN], [NAN, NAN, 7]])
    a, b = -math.sqrt(3) - 1, 1
    assert test.statistic == pytest.approx((3 * a * a + 4 * a * b + 3 * b * b) / 5, rel=1e-12)
    assert (test.df, test.n_tasks, test.n_dropped) == (2, 2, 1)
    assert test.chi2_pvalue == pytest.approx(math.exp(-test.statistic / 2), rel=1e-12)


def test_permutation_pvalue_by_hand():
    # All four tasks agree on two competitors: chance 2 / 2^4 of either order.
    test = measure([[2, 1, NAN]] * 4, n_resamples=20_000)
    assert (test.statistic, test.df) == (pytest.approx(4), 1)
    assert test.permutation_pvalue == pytest.approx(1 / 8, abs=0.01)


def test_competitors_without_a_common_task_are_compared_in_their_groups():
    # Each pair is Friedman's test of two: 2 tasks that agree have chi-square 2.
    apart = measure([[2, 1, NAN, NAN], [2, 1, NAN, NAN], [NAN, NAN, 1, 2], [NAN, NAN, 1, 2]])
    assert (apart.statistic, apart.df) == (pytest.approx(4), 2)


def test_where_all_are_tied_nothing_differs():
    test = measure([[1, 1, NAN], [2, 2, 2], [3, NAN, 3]])
    assert (test.statistic, test.chi2_pvalue, test.permutation_pvalue) == (0, 1, 1)


# References


def test_matches_r_and_the_published_example(reference):
    cases = reference("skillings_mack")["cases"]
    for case in cases:
        test = measure(case["scores"])
        assert test.statistic == pytest.approx(case["statistic"], rel=1e-10)
        assert test.df == case["df"]
        assert test.chi2_pvalue == pytest.approx(case["pvalue"], rel=1e-9)
    # Skillings and Mack (1981), as in Hollander and Wolfe: assembly times of 4 methods.
    assert round(measure(cases[0]["scores"]).statistic, 2) == 15.49


@given(tables(gaps=False))
def test_without_gaps_it_is_friedmans_test(scores):
    expected = friedman(scores).uncorrected.chi2
    assert measure(scores).statistic == pytest.approx(expected, rel=1e-9, abs=1e-9)


# Properties


@settings(max_examples=40)
@given(tables(), st.randoms())
def test_only_the_order_within_tasks_counts(scores, random):
    n_tasks, k = scores.shape
    test = measure(scores)
    order = random.sample(range(k), k)
    moved = (scores * np.arange(1, n_tasks + 1)[:, None] / 10 + 0.3)[::-1, order]
    for same in (moved, -scores, np.vstack([scores, np.full(k, NAN)])):
        again = measure(same)
        assert again.statistic == pytest.approx(test.statistic, rel=1e-9, abs=1e-9)
        assert again.df == test.df
    assert test.statistic >= 0
    assert 0 < test.permutation_pvalue <= 1


def test_scores_that_differ_by_rounding_are_tied():
    tied = measure([[0.3, 0.3, 0.5], [1, 2, NAN]])
    assert measure([[0.1 + 0.2, 0.3, 0.5], [1, 2, NAN]]).statistic == tied.statistic


def test_the_same_seed_repeats_and_another_differs():
    scores = np.random.default_rng(1).normal(size=(8, 4))
    pvalues = [measure(scores, seed, 1000).permutation_pvalue for seed in (1, 1, 2)]
    assert pvalues[0] == pvalues[1] != pvalues[2]


# Calibration


def test_permutation_pvalue_is_that_of_all_permutations():
    scores = np.array([[3, 1, 2], [5, NAN, 4], [NAN, 1, 2], [2, 2, 1]])
    rows = [
        [fill(row, values) for values in itertools.permutations(row[~np.isnan(row)])]
        for row in scores
    ]
    observed = measure(scores).statistic
    all_of_them = [measure(np.array(table)).statistic for table in itertools.product(*rows)]
    exact = np.mean(np.array(all_of_them) >= observed - 1e-9)
    found = measure(scores, n_resamples=20_000).permutation_pvalue
    assert found == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 20_000))


def fill(row, values):
    filled = row.copy()
    filled[~np.isnan(row)] = values
    return filled


def draw_gaps(n_studies, seed, n_tasks=8, k=4):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n_studies, n_tasks, k))
    scores[rng.random(scores.shape) < 0.3] = NAN
    return scores


@pytest.mark.slow
def test_equals_are_found_to_differ_as_often_as_promised():
    tests = [measure(scores, i, 199) for i, scores in enumerate(draw_gaps(1000, seed=2))]
    hits = sum(test.permutation_pvalue <= 0.05 for test in tests)
    assert binomtest(hits, 1000, 0.05).pvalue > 0.001
    hits = sum(test.chi2_pvalue <= 0.05 for test in tests)
    assert binomtest(hits, 1000, 0.05, alternative="greater").pvalue > 0.001


def test_gaps_where_a_score_is_bad_make_equals_differ():
    # Negative control: one competitor hides its scores below the median, which are no random gaps.
    scores = np.random.default_rng(3).normal(size=(200, 20, 4))
    scores[:, :, 0][scores[:, :, 0] < 0] = NAN
    hits = sum(measure(table, i).chi2_pvalue <= 0.05 for i, table in enumerate(scores))
    assert binomtest(hits, 200, 0.05, alternative="greater").pvalue < 0.001


def test_a_difference_is_found():
    scores = draw_gaps(1, seed=4, n_tasks=30)[0]
    scores[:, 3] += 2
    test = measure(scores, n_resamples=1000)
    assert max(test.chi2_pvalue, test.permutation_pvalue) < 0.01
    # Never 0: what was observed is one of the permutations.
    assert measure(np.tile(np.arange(9.0), (20, 1))).permutation_pvalue == pytest.approx(1 / 101)


# Refusals


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (
            [1, 2, 3],
            "scores has shape (3,). Pass one row per task and one column for each of two "
            "competitors or more.",
        ),
        (
            [[1, 2, 3], [1, NAN, NAN]],
            "scores has 1 task with two scores or more. At least 2 are needed.",
        ),
        (
            [[1, math.inf], [1, 2]],
            "scores has 1 score that is NaN or infinite, at position (0, 1) (first: inf). "
            "Find out why these runs failed; to leave them out, remove them, and their partners "
            "if paired.",
        ),
    ],
)
def test_what_is_no_table_is_refused(scores, message):
    with pytest.raises(InvalidInput) as caught:
        measure(scores)
    assert str(caught.value) == message
