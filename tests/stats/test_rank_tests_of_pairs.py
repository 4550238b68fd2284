"""Wilcoxon's signed rank test."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from outperform.errors import InvalidScores, UnpairedScores
from outperform.stats import wilcoxon_pvalues, wilcoxon_test

ALTERNATIVES = ["two-sided", "greater", "less"]
MIRRORED = {"two-sided": "two-sided", "greater": "less", "less": "greater"}
whole = st.integers(-4, 4).map(float)
alternatives = st.sampled_from(ALTERNATIVES)


def survival(statistics):
    """Share of statistics at least as large as each; equal up to rounding counts as equal."""
    return (statistics[None, :] >= statistics[:, None] - 1e-9).mean(axis=1)


# Wilcoxon by hand


@pytest.mark.parametrize(
    ("a", "b", "alternative", "statistic", "pvalue"),
    [
        # Differences 1, 2, 3: all plus is one of 8 sign patterns.
        ([2, 4, 6], [1, 2, 3], "greater", 6, 1 / 8),
        ([2, 4, 6], [1, 2, 3], "two-sided", 6, 2 / 8),
        ([2, 4, 6], [1, 2, 3], "less", 6, 1.0),
        # -1, 2, 3: W+ = 5; only 5 and 6 are as large.
        ([0, 4, 6], [1, 2, 3], "greater", 5, 2 / 8),
        ([0, 4, 6], [1, 2, 3], "less", 5, 7 / 8),
        # Tied ranks: differences 1, 1, -1 have rank 2 each; W+ is 0, 2, 4, 6 in 1, 3, 3, 1 of 8.
        ([1, 1, 0], [0, 0, 1], "greater", 4, 4 / 8),
        ([1, 1, 0], [0, 0, 1], "two-sided", 4, 1.0),
        # The zero is dropped before ranking: 1, 2 remain.
        ([5, 2, 4], [5, 1, 2], "greater", 3, 1 / 4),
        ([5, 2, 4], [5, 1, 2], "two-sided", 3, 2 / 4),
        ([1, 2, 3], [1, 2, 3], "two-sided", 0, 1.0),
        ([1, 2, 3], [1, 2, 3], "greater", 0, 1.0),
        ([2], [1], "greater", 1, 1 / 2),
    ],
)
def test_wilcoxon_by_hand(a, b, alternative, statistic, pvalue):
    test = wilcoxon_test(a, b, alternative=alternative)
    assert test.statistic == pytest.approx(statistic, abs=1e-12)
    assert test.pvalue == pytest.approx(pvalue, rel=1e-12)
    assert test.alternative == alternative
    assert test.name


def test_wilcoxon_is_exact_up_to_50_differences_and_normal_beyond():
    def pvalue(n, n_zeros):
        differences = np.r_[np.zeros(n_zeros), 1 : n + 1]
        return wilcoxon_test(differences, np.zeros(n + n_zeros), alternative="greater").pvalue

    assert pvalue(50, 0) == pytest.approx(2.0**-50, rel=1e-9)
    assert pvalue(50, 7) == pytest.approx(2.0**-50, rel=1e-9)
    # All positive: z = n(n+1)/4 / √(n(n+1)(2n+1)/24), no continuity correction.
    z = 51 * 52 / 4 / math.sqrt(51 * 52 * 103 / 24)
    assert pvalue(51, 0) == pytest.approx(math.erfc(z / math.sqrt(2)) / 2, rel=1e-9)


# Wilcoxon against references


def test_wilcoxon_matches_r(reference):
    for case in reference("rank_tests")["wilcoxon"]:
        for alternative in ALTERNATIVES:
            test = wilcoxon_test(case["a"], case["b"], alternative=alternative)
            assert test.statistic == case["statistic"]
            expected = case[alternative.replace("-", "_")]
            assert test.pvalue == pytest.approx(expected, rel=1e-9), (len(case["a"]), alternative)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=10), alternatives)
def test_wilcoxon_is_the_share_of_all_signs(differences, alternative):
    test = wilcoxon_test(differences, np.zeros(len(differences)), alternative=alternative)
    kept = np.array([d for d in differences if d])
    if not kept.size:
        assert (test.statistic, test.pvalue) == (0, 1)
        return
    ranks = scipy_stats.rankdata(abs(kept))
    assert test.statistic == pytest.approx(ranks[kept > 0].sum(), abs=1e-12)
    patterns = np.array(list(itertools.product([0, 1], repeat=len(kept))))
    centred = patterns @ ranks - ranks.sum() / 2
    seen = test.statistic - ranks.sum() / 2
    share = {
        "two-sided": np.mean(abs(centred) >= abs(seen) - 1e-9),
        "greater": np.mean(centred >= seen - 1e-9),
        "less": np.mean(centred <= seen + 1e-9),
    }
    assert test.pvalue == pytest.approx(share[alternative], rel=1e-12)


# Wilcoxon properties


@example([(3, 2), (1, 2), (9, 0)])
@given(st.lists(st.tuples(st.integers(0, 9000), st.integers(0, 9)), min_size=1, max_size=12))
def test_tenths_are_as_tied_as_whole_numbers(pairs):
    # .3 - .2 and .2 - .1 differ in floats only.
    a, b = np.transpose(pairs)
    whole, tenths = wilcoxon_test(a, b), wilcoxon_test(a / 10, b / 10)
    assert tenths.statistic == whole.statistic
    assert tenths.pvalue == pytest.approx(whole.pvalue, rel=1e-12)


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=80), alternatives)
def test_wilcoxon_swaps_scales_and_shuffles(differences, alternative):
    d = np.array(differences, dtype=float)
    b = np.arange(len(d)) % 5
    test = wilcoxon_test(b + d, b, alternative=alternative)
    assert 0 <= test.pvalue <= 1
    swapped = wilcoxon_test(b, b + d, alternative=MIRRORED[alternative])
    kept = np.count_nonzero(d)
    assert swapped.statistic + test.statistic == kept * (kept + 1) / 2
    # An odd increasing function of the differences keeps signs and ranks.
    cubed = wilcoxon_test(d**3, np.zeros(len(d)), alternative=alternative)
    backwards = wilcoxon_test((b + d)[::-1], b[::-1], alternative=alternative)
    for other in (swapped, cubed, backwards):
        assert other.pvalue == pytest.approx(test.pvalue, rel=1e-9)
    assert cubed.statistic == backwards.statistic == test.statistic


# Wilcoxon calibration


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("magnitudes", [range(1, 11), [1, 1, 2, 2, 2, 3, 4, 4, 5, 5]])
def test_wilcoxon_has_exactly_its_level(magnitudes, alternative):
    signs = np.array(list(itertools.product([-1, 1], repeat=10)))
    pvalues = np.array(
        [wilcoxon_test(d, np.zeros(10), alternative=alternative).pvalue for d in signs * magnitudes]
    )
    assert survival(-pvalues) == pytest.approx(pvalues, rel=1e-9)  # P(p <= p_i) = p_i


@pytest.mark.slow
def test_wilcoxon_keeps_its_level_beyond_50():
    rng = np.random.default_rng(6)
    differences = rng.standard_t(3, size=(5000, 60))
    hits = sum(wilcoxon_test(d, np.zeros(60)).pvalue <= 0.05 for d in differences)
    assert scipy_stats.binomtest(hits, 5000, 0.05).pvalue > 0.001


def test_wilcoxon_level_check_can_fail():
    # Negative control: skewed differences of mean zero break its assumption of symmetry.
    rng = np.random.default_rng(6)
    differences = rng.exponential(size=(400, 60)) - 1
    hits = sum(wilcoxon_test(d, np.zeros(60)).pvalue <= 0.05 for d in differences)
    assert scipy_stats.binomtest(hits, 400, 0.05).pvalue < 0.001


# Refusals


def test_bad_scores_are_refused_by_wilcoxon(refuses):
    refuses(wilcoxon_test)


def test_wilcoxon_refuses_what_cannot_be_paired():
    with pytest.raises(UnpairedScores, match=r"\b29\b.*\b30\b"):
        wilcoxon_test(np.arange(29), np.arange(30))


def test_one_diverged_run_does_not_tie_all_others():
    b = np.random.default_rng(6).normal(size=30)
    a, b = np.append(b + 0.01, 1e12), np.append(b, 1.0)
    # By hand: all 31 signs agree, so p = 2 / 2**31.
    assert wilcoxon_test(a, b).pvalue == pytest.approx(2 / 2**31)


# Many at once


def test_many_by_hand():
    # 1, 2, 3, 4 all plus: 2 of 16. One minus of rank 1: W+ = 9 or 10, or as low: 4 of 16. No
    # difference at all: 1. Ranks 1.5, 1.5, 3.5, 3.5: 2 of 16. Two zeros leave 1, 2: 2 of 4.
    differences = [[1, 2, 3, 4], [-1, 2, 3, 4], [0, 0, 0, 0], [1, 1, 2, 2], [0, 1, 0, 2]]
    expected = [2 / 16, 4 / 16, 1, 2 / 16, 2 / 4]
    assert wilcoxon_pvalues(differences, np.zeros((5, 4))) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("n", "exact"), [(12, True), (50, True), (51, False), (80, False)])
def test_many_match_scipy(n, exact):
    rng = np.random.default_rng(n)
    a, b = rng.normal(0.3, size=(20, n)), rng.normal(size=(20, n))
    method = "exact" if exact else "asymptotic"
    theirs = scipy_stats.wilcoxon(a, b, method=method, correction=False, axis=-1).pvalue
    assert wilcoxon_pvalues(a, b) == pytest.approx(theirs, rel=1e-9)


def test_many_match_r(reference):
    for case in reference("rank_tests")["wilcoxon"]:
        found = wilcoxon_pvalues([case["a"], case["b"]], [case["b"], case["a"]])
        assert found == pytest.approx([case["two_sided"]] * 2, rel=1e-9)


@given(
    st.integers(1, 60).flatmap(
        lambda n: st.lists(st.lists(st.integers(-90, 90), min_size=n, max_size=n), min_size=1)
    )
)
def test_many_are_as_many_single_tests(rows):
    # Some rows with ties and zeros, some without; tenths, which are tied but for rounding.
    d, b = np.array(rows) / 10, np.arange(len(rows[0])) / 10
    single = [wilcoxon_test(b + each, b).pvalue for each in d]
    assert wilcoxon_pvalues(b + d, b) == pytest.approx(single, rel=1e-9)
    assert wilcoxon_pvalues(b + d[0], b) == pytest.approx(single[0], rel=1e-9)


def test_many_keep_their_leading_axes_and_do_not_know_of_one_another():
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=(3, 4, 9)).round(1), rng.normal(size=(4, 9)).round(1)
    found = wilcoxon_pvalues(a, b)
    assert found.shape == (3, 4)
    assert wilcoxon_pvalues(a[1:2], b).tolist() == found[1:2].tolist()
    order = rng.permutation(9)
    assert wilcoxon_pvalues(a[..., order], b[..., order]) == pytest.approx(found, rel=1e-9)
    assert wilcoxon_pvalues(b, a) == pytest.approx(found, rel=1e-9)


@pytest.mark.slow
# Of 2^8 signs 10 have a sum up to 3 or from 33 on; of 2^30, 4.97% one up to 137 or from 328 on.
@pytest.mark.parametrize(("n", "exact"), [(8, 10 / 256), (30, 0.04971), (60, 0.05)])
def test_many_keep_their_level(n, exact):
    differences = np.random.default_rng(n).standard_t(3, size=(20_000, n))
    hits = int((wilcoxon_pvalues(differences, np.zeros(n)) <= 0.05).sum())
    assert scipy_stats.binomtest(hits, 20_000, exact).pvalue > 0.001


def test_many_level_check_can_fail():
    # Negative control: skewed differences of mean zero.
    differences = np.random.default_rng(6).exponential(size=(2000, 60)) - 1
    hits = int((wilcoxon_pvalues(differences, np.zeros(60)) <= 0.05).sum())
    assert scipy_stats.binomtest(hits, 2000, 0.05).pvalue < 0.001


def test_many_refuse_what_cannot_be_paired():
    with pytest.raises(UnpairedScores, match=r"\b29\b.*\b30\b"):
        wilcoxon_pvalues(np.ones((2, 29)), np.ones((2, 30)))
    with pytest.raises(InvalidScores, match=r"at position \(1, 2\)"):
        wilcoxon_pvalues([[1, 2, 3], [1, 2, np.nan]], np.ones((2, 3)))
    with pytest.raises(InvalidScores, match="leading axes"):
        wilcoxon_pvalues(np.ones((2, 3)), np.ones((4, 3)))
