"""Brunner–Munzel's test, of whole samples and of growing ones."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.stats import binomtest, brunnermunzel

from outperform.errors import InvalidInput, OutperformError, TooFewRuns
from outperform.stats import brunner_munzel, grow_brunner_munzel, wilcoxon_test

ALTERNATIVES = ["two-sided", "greater", "less"]
MIRRORED = {"two-sided": "two-sided", "greater": "less", "less": "greater"}
# Pain scores of Brunner and Munzel (2000): the second treatment scores higher.
PAIN_X = [1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 1, 1]
PAIN_Y = [3, 3, 4, 3, 1, 2, 3, 1, 1, 5, 4]
whole = st.integers(-4, 4).map(float)
sample = st.lists(whole, min_size=2, max_size=9)
few = st.lists(whole, min_size=2, max_size=6)
alternatives = st.sampled_from(ALTERNATIVES)


def all_splits(scores, n_a):
    """Every way to call n_a of the scores a and the rest b."""
    scores = np.asarray(scores)
    chosen = np.array(list(itertools.combinations(range(len(scores)), n_a)))
    rest = np.array([np.setdiff1d(np.arange(len(scores)), c) for c in chosen])
    return scores[chosen], scores[rest]


def survival(statistics):
    """Share of statistics at least as large as each; equal up to rounding counts as equal."""
    return (statistics[None, :] >= statistics[:, None] - 1e-9).mean(axis=1)


# Brunner–Munzel by hand


@pytest.mark.parametrize(
    ("alternative", "pvalue"),
    [
        # a = 2, 4 and b = 1, 3: P = 3/4, se² = 1/8, 2 degrees of freedom (see
        # test_outperforming), so t = 1/√2 and P(T > t) = ½ - t/(2√(2 + t²)) = (1 - 1/√5)/2.
        ("two-sided", 1 - 1 / math.sqrt(5)),
        ("greater", (1 - 1 / math.sqrt(5)) / 2),
        ("less", (1 + 1 / math.sqrt(5)) / 2),
    ],
)
def test_brunner_munzel_by_hand(alternative, pvalue):
    test = brunner_munzel([2, 4], [1, 3], alternative=alternative)
    assert test.statistic == pytest.approx(1 / math.sqrt(2), rel=1e-12)
    assert test.pvalue == pytest.approx(pvalue, rel=1e-12)
    assert test.alternative == alternative
    assert test.name


@pytest.mark.parametrize(("n_a", "n_b"), [(2, 2), (3, 3), (5, 5), (4, 9), (29, 29)])
def test_complete_separation_has_the_variance_of_one_adjacent_swap(n_a, n_b):
    # After one swap one placement in each group differs by 1: S = 1/n in both, so
    # se² = 2/(n_a n_b)², t = ½/se = n_a n_b/√8 and df = 4/(1/(n_a - 1) + 1/(n_b - 1)).
    a, b = np.arange(n_b, n_b + n_a), np.arange(n_b)
    df = 4 / (1 / (n_a - 1) + 1 / (n_b - 1))
    test = brunner_munzel(a, b)
    assert test.statistic == pytest.approx(n_a * n_b / math.sqrt(8), rel=1e-9)
    assert test.pvalue == pytest.approx(2 * scipy_stats.t.sf(test.statistic, df), rel=1e-6)
    worse = brunner_munzel(b, a)
    assert (worse.statistic, worse.pvalue) == pytest.approx((-test.statistic, test.pvalue))
    assert brunner_munzel(a, b, alternative="greater").pvalue == pytest.approx(test.pvalue / 2)
    assert brunner_munzel(a, b, alternative="less").pvalue == pytest.approx(1 - test.pvalue / 2)


def test_one_tie_is_not_complete_separation():
    # Placements 6½, 7, 7 and 0 (six times), ½: n·S = ¼ in both, so t = (20½ - 10½)/√½ as usual.
    a, b = [1, 2, 2], [0, 0, 0, 0, 0, 0, 1]
    assert brunner_munzel(a, b).statistic == pytest.approx(10 * math.sqrt(2), rel=1e-9)
    assert brunner_munzel(b, a).statistic == pytest.approx(-10 * math.sqrt(2), rel=1e-9)


def test_complete_separation_is_the_most_significant_of_all_splits():
    a, b = all_splits(np.arange(8), 4)
    pvalues = brunner_munzel(a, b, alternative="greater").pvalue
    assert np.isfinite(pvalues).all()
    assert np.argmin(pvalues) == len(a) - 1  # the last split is 4, 5, 6, 7
    assert np.sum(pvalues == pvalues.min()) == 1


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("method", ["t", "permutation"])
@pytest.mark.parametrize(("n_a", "n_b"), [(3, 3), (2, 5)])
def test_all_ties_are_no_evidence(alternative, method, n_a, n_b):
    test = brunner_munzel([1.5] * n_a, [1.5] * n_b, alternative=alternative, method=method)
    assert (test.statistic, test.pvalue) == (0, 1)


@pytest.mark.parametrize(
    ("a", "b", "alternative", "pvalue"),
    [
        # 20 splits; only the one seen and its mirror image separate the groups.
        ([4, 5, 6], [1, 2, 3], "two-sided", 2 / 20),
        ([4, 5, 6], [1, 2, 3], "greater", 1 / 20),
        ([4, 5, 6], [1, 2, 3], "less", 20 / 20),
        # Two of each value: a = b in value, statistic 0, and |t| >= 0 everywhere.
        ([1, 2], [1, 2], "two-sided", 1.0),
        # 6 splits of 1, 1, 2, 2: one has {2, 2}, four {1, 2}, one {1, 1}.
        ([2, 2], [1, 1], "greater", 1 / 6),
        ([1, 2], [1, 2], "greater", 5 / 6),
    ],
)
def test_permuted_brunner_munzel_by_hand(a, b, alternative, pvalue):
    test = brunner_munzel(a, b, alternative=alternative, method="permutation")
    assert test.pvalue == pytest.approx(pvalue, rel=1e-12)


# Brunner–Munzel against references


def test_brunner_munzel_matches_the_published_example():
    test = brunner_munzel(PAIN_Y, PAIN_X)
    assert test.statistic == pytest.approx(3.1375, abs=5e-5)
    assert test.pvalue == pytest.approx(0.005786, abs=5e-7)


def test_brunner_munzel_over_all_splits_gives_the_published_permuted_pvalue():
    # 4,457,400 splits, but scores are 1 to 5: what counts is how many of each are in y, and
    # there are C(14, i)·C(3, j)·... ways to choose them.
    values, counts = np.unique(PAIN_X + PAIN_Y, return_counts=True)
    chosen = np.array(list(itertools.product(*(range(count + 1) for count in counts))))
    chosen = chosen[chosen.sum(axis=1) == len(PAIN_Y)]
    ways = [math.prod(map(math.comb, counts.tolist(), row)) for row in chosen.tolist()]
    assert sum(ways) == math.comb(25, 11)
    y = np.array([np.repeat(values, row) for row in chosen])
    x = np.array([np.repeat(values, counts - row) for row in chosen])
    extreme = abs(brunner_munzel(y, x).statistic) >= 3.1375 - 5e-5
    assert np.average(extreme, weights=ways) == pytest.approx(0.008038, abs=5e-7)


def test_randomly_permuted_brunner_munzel_is_near_the_exact_one():
    rng = np.random.default_rng(10)
    n_resamples = 20_000
    test = brunner_munzel(PAIN_Y, PAIN_X, method="permutation", n_resamples=n_resamples, rng=rng)
    count = test.pvalue * (n_resamples + 1) - 1
    assert count == pytest.approx(round(count), abs=1e-6)
    assert scipy_stats.binomtest(round(count), n_resamples, 0.008038).pvalue > 0.001


@given(sample, sample, alternatives)
def test_brunner_munzel_matches_scipy(a, b, alternative):
    if min(a) > max(b) or min(b) > max(a) or len({*a, *b}) == 1:
        return  # where scipy says NaN
    expected = scipy_stats.brunnermunzel(a, b, alternative=alternative)
    test = brunner_munzel(a, b, alternative=alternative)
    assert test.statistic == pytest.approx(-expected.statistic, rel=1e-9, abs=1e-9)
    assert test.pvalue == pytest.approx(expected.pvalue, rel=1e-7)


def test_small_pvalues_keep_their_digits():
    a, b = np.arange(60.0), np.arange(60.0) - 45.5
    test = brunner_munzel(a, b, alternative="greater")
    assert 0 < test.pvalue < 1e-15
    expected = scipy_stats.brunnermunzel(a, b).pvalue  # twice the smaller tail
    assert brunner_munzel(a, b).pvalue == pytest.approx(expected, rel=1e-6)
    assert 2 * test.pvalue == pytest.approx(expected, rel=1e-6)


# Brunner–Munzel properties


@given(few, few, alternatives, st.sampled_from(["t", "permutation"]))
def test_brunner_munzel_swaps_scales_and_shuffles(a, b, alternative, method):
    rng = np.random.default_rng(0)
    options = {"method": method, "n_resamples": math.comb(len(a) + len(b), len(a)) - 1}
    test = brunner_munzel(a, b, alternative=alternative, **options)
    swapped = brunner_munzel(b, a, alternative=MIRRORED[alternative], **options)
    cubed = brunner_munzel(np.array(a) ** 3, np.array(b) ** 3, alternative=alternative, **options)
    shuffled = brunner_munzel(
        rng.permutation(a), rng.permutation(b), alternative=alternative, **options
    )
    assert 0 <= test.pvalue <= 1
    assert swapped.statistic == pytest.approx(-test.statistic, abs=1e-9)
    for other in (swapped, cubed, shuffled):
        assert other.pvalue == pytest.approx(test.pvalue, rel=1e-9, abs=1e-12)
    assert cubed.statistic == pytest.approx(test.statistic, abs=1e-9)


@given(sample, sample)
def test_one_sided_pvalues_of_the_t_version_add_up(a, b):
    two, greater, less = (brunner_munzel(a, b, alternative=word).pvalue for word in ALTERNATIVES)
    if len({*a, *b}) > 1:
        assert greater + less == pytest.approx(1)
        assert two == pytest.approx(2 * min(greater, less), rel=1e-9)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("method", ["t", "permutation"])
def test_brunner_munzel_over_leading_axes_is_the_loop(alternative, method):
    rng = np.random.default_rng(6)
    # Coarse scores, so that ties, separation and all ties are among them; and some without ties.
    a, b = rng.integers(0, 3, size=(40, 1, 4)) * 1.0, rng.integers(0, 3, size=(5, 3)) * 1.0
    a[0], b[0], b[1] = 9.0, 9.0, 1.0
    a[1], b[2] = [0.1, 1.2, 2.3, 3.4], [0.5, 1.5, 2.0]
    options = {"alternative": alternative, "method": method}
    together = brunner_munzel(a, b, **options)
    assert together.statistic.shape == together.pvalue.shape == (40, 5)
    for i, j in np.ndindex(40, 5):
        alone = brunner_munzel(a[i, 0], b[j], **options)
        assert together.statistic[i, j] == pytest.approx(alone.statistic, rel=1e-9, abs=1e-12)
        assert together.pvalue[i, j] == pytest.approx(alone.pvalue, rel=1e-9)
        assert isinstance(alone.pvalue, float)
    for axis in (0, 1):  # the same two samples per test, with the runs along another axis
        last = np.broadcast_to(a, (40, 5, 4)), np.broadcast_to(b, (40, 5, 3))
        turned = brunner_munzel(*(np.moveaxis(x, -1, axis) for x in last), axis=axis, **options)
        assert turned.pvalue == pytest.approx(together.pvalue, rel=1e-9)


@given(st.lists(whole, min_size=4, max_size=7), st.integers(2, 5), st.sampled_from(ALTERNATIVES))
def test_permuted_brunner_munzel_is_the_share_of_all_splits(scores, n_a, alternative):
    n_a = min(n_a, len(scores) - 2)
    statistics = brunner_munzel(*all_splits(scores, n_a)).statistic
    extreme = {"two-sided": abs(statistics), "greater": statistics, "less": -statistics}
    test = brunner_munzel(scores[:n_a], scores[n_a:], alternative=alternative, method="permutation")
    assert test.statistic == pytest.approx(statistics[0], abs=1e-12)
    assert test.pvalue == pytest.approx(survival(extreme[alternative])[0], rel=1e-9)


def test_enumeration_starts_where_the_splits_fit():
    a, b = [1, 4, 5, 9], [2, 3, 0, 6]  # 70 splits
    exact = brunner_munzel(a, b, method="permutation", n_resamples=69)
    assert exact.pvalue * 70 == pytest.approx(round(exact.pvalue * 70), abs=1e-9)
    assert exact == brunner_munzel(a, b, method="permutation", n_resamples=10**6)
    random = brunner_munzel(
        a, b, method="permutation", n_resamples=68, rng=np.random.default_rng(0)
    )
    assert random.pvalue * 69 == pytest.approx(round(random.pvalue * 69), abs=1e-9)


def test_random_permutation_repeats_with_its_seed_and_never_says_zero():
    def pvalue(seed, shift):
        rng = np.random.default_rng(seed)
        a, b = np.arange(30.0) + shift, np.arange(30.0)
        return brunner_munzel(a, b, method="permutation", n_resamples=999, rng=rng).pvalue

    assert pvalue(1, 3.5) == pvalue(1, 3.5)
    assert pvalue(1, 3.5) != pvalue(2, 3.5)
    assert pvalue(1, 100) == 1 / 1000  # (1 + 0) / (1 + 999)


def test_random_permutation_without_a_generator_repeats():
    a, b = np.random.default_rng(3).normal(size=(2, 30))
    seeded = brunner_munzel(a, b, method="permutation", rng=np.random.default_rng(0))
    assert brunner_munzel(a, b, method="permutation") == seeded
    assert brunner_munzel(a, b, method="permutation") == seeded


@pytest.mark.parametrize("rng", [0, np.random.RandomState(0)])
def test_what_is_no_generator_is_refused(rng):
    with pytest.raises(InvalidInput, match=r"rng is .*, not a numpy\.random\.Generator"):
        brunner_munzel([1, 2, 3], [2, 3, 4], method="permutation", rng=rng)


@pytest.mark.parametrize("axis", [None, 0.5, 2, -3])
def test_what_is_no_axis_is_refused(axis):
    with pytest.raises(InvalidInput, match=f"axis is {axis}, but a has 2 dimension"):
        brunner_munzel(np.ones((3, 4)), np.ones((3, 4)), axis=axis)


@pytest.mark.parametrize("method", ["t", "permutation"])
def test_no_samples_are_no_tests(method):
    test = brunner_munzel(np.ones((0, 4, 5)), np.ones((4, 6)), method=method)
    assert (test.statistic.shape, test.pvalue.shape) == ((0, 4), (0, 4))


@pytest.mark.parametrize("n", [99_999, 999_999])
def test_many_tied_scores_lose_no_digit(n):
    separated = brunner_munzel(np.full(n, 2.0), np.full(n + 2, 1.0))
    assert separated.statistic == pytest.approx(0.5 * n * (n + 2) / math.sqrt(2))
    assert separated.pvalue == 0
    # One of a ties with one of b: each sample has one count that is 1/2 less than the others.
    touching = brunner_munzel(np.r_[np.full(n - 1, 2.0), 1.0], np.r_[np.full(n + 1, 0.0), 1.0])
    effect = 0.5 - 0.5 / (n * (n + 2))
    assert touching.statistic == pytest.approx(effect * n * (n + 2) * math.sqrt(2))


def test_millions_of_scores_overflow_nothing():
    b = np.arange(2_200_000.0)
    a = b + 5 / 8 * b.size + 0.5  # the sum of its squared counts is above 2**63
    assert brunner_munzel(a, b).statistic == pytest.approx(
        -scipy_stats.brunnermunzel(a, b).statistic, rel=1e-9
    )


# Brunner–Munzel calibration: under the null all splits of the ranks are equally likely, so that
# for few runs the true level is a count, not a simulation.


@pytest.mark.parametrize(("n_a", "n_b"), [(4, 4), (3, 6), (5, 5)])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_permuted_brunner_munzel_has_exactly_its_level(n_a, n_b, alternative):
    a, b = all_splits(np.arange(n_a + n_b), n_a)
    options = {"alternative": alternative, "method": "permutation"}
    pvalues = np.array([brunner_munzel(x, y, **options).pvalue for x, y in zip(a, b, strict=True)])
    assert survival(-pvalues) == pytest.approx(pvalues, rel=1e-9)  # P(p <= p_i) = p_i


@pytest.mark.parametrize(("n", "alpha", "times"), [(5, 1e-3, 7), (7, 1e-3, 3)])
def test_t_version_is_far_too_liberal_where_the_permuted_one_is_not(n, alpha, times):
    a, b = all_splits(np.arange(2 * n), n)
    rejected = brunner_munzel(a, b).pvalue <= alpha
    assert rejected.mean() > times * alpha
    suspects = zip(a[rejected][:20], b[rejected][:20], strict=True)
    permuted = [brunner_munzel(x, y, method="permutation").pvalue for x, y in suspects]
    assert (np.array(permuted) > alpha).sum() >= 2


@pytest.mark.slow
@pytest.mark.parametrize(("n_a", "n_b", "sd"), [(25, 25, 1), (25, 25, 3), (20, 60, 3)])
def test_brunner_munzel_keeps_its_level_also_with_unequal_spread(n_a, n_b, sd):
    rng = np.random.default_rng(496)
    a, b = rng.normal(0, sd, size=(20_000, n_a)), rng.normal(size=(20_000, n_b))
    hits = int((brunner_munzel(a, b).pvalue <= 0.05).sum())
    # An approximation: between 4.5 and 6% here.
    assert scipy_stats.binomtest(hits, 20_000, 0.06, alternative="greater").pvalue > 0.001
    assert scipy_stats.binomtest(hits, 20_000, 0.045, alternative="less").pvalue > 0.001


def test_mann_whitney_does_not_keep_it():
    # Negative control: the same simulation catches a test that assumes equal spread.
    rng = np.random.default_rng(496)
    a, b = rng.normal(0, 3, size=(2000, 20)), rng.normal(size=(2000, 60))
    rejected = scipy_stats.mannwhitneyu(a, b, axis=1, method="asymptotic").pvalue <= 0.05
    assert (
        scipy_stats.binomtest(int(rejected.sum()), 2000, 0.06, alternative="greater").pvalue < 0.001
    )


@pytest.mark.parametrize("method", ["t", "permutation"])
def test_bad_scores_are_refused_by_brunner_munzel(method, bad_scores, refuses):
    if np.ndim(bad_scores[0]) == 2:  # leading axes are welcome here
        assert brunner_munzel(*bad_scores[:1] * 2, method=method).pvalue.shape == (1,)
    else:
        refuses(lambda a, b: brunner_munzel(a, b, method=method))


def test_a_nan_in_one_row_is_found():
    a = np.arange(12.0).reshape(3, 4)
    a[2, 1] = math.nan
    with pytest.raises(InvalidInput, match=r"2, 1"):
        brunner_munzel(a, np.arange(4))


def test_one_run_has_no_spread():
    with pytest.raises(TooFewRuns):
        brunner_munzel([1], [1, 2, 3])
    with pytest.raises(TooFewRuns):
        brunner_munzel([1, 2, 3], [1])


def test_axes_that_do_not_broadcast_are_refused():
    with pytest.raises(InvalidInput, match=r"\(2, 4\).*\(3, 4\)"):
        brunner_munzel(np.ones((2, 4)), np.ones((3, 4)))


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: brunner_munzel([1, 2], [3, 4], method="exact"), "t.*permutation"),
        (lambda: brunner_munzel([1, 2], [3, 4], alternative="up"), "two-sided.*greater.*less"),
        (
            lambda: brunner_munzel([1, 2], [3, 4], alternative="up", method="permutation"),
            "two-sided.*greater.*less",
        ),
        (lambda: wilcoxon_test([1, 2], [3, 4], alternative="up"), "two-sided.*greater.*less"),
        (lambda: brunner_munzel([1, 2], [3, 4], method="permutation", n_resamples=0), "n_res"),
    ],
)
def test_unknown_words_are_refused(call, names):
    with pytest.raises(InvalidInput, match=names):
        call()


def test_large_samples_do_not_overflow():
    a, b = np.random.default_rng(5).normal(size=(2, 100_000))
    expected = scipy_stats.brunnermunzel(a, b)
    assert brunner_munzel(a, b).pvalue == pytest.approx(expected.pvalue, rel=1e-9)


seeds = st.integers(0, 2**32 - 1)


def draw(seed, n_samples=40, n=12, decimals=1):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n_samples, n)).round(decimals)
    return a, b


# Growing samples: by hand


def test_two_against_two_by_hand():
    # a = 1, 4 beats 0 and 2 of b = 2, 3; b beats 1 and 1. p̂ = 2/4, so the statistic is 0.
    (found,) = grow_brunner_munzel(np.array([[1.0, 4.0]]), np.array([[2.0, 3.0]]), [2])
    assert found.n == 2
    assert found.test.statistic == pytest.approx([0])
    assert found.test.pvalue == pytest.approx([1])


# Growing samples: reference


def test_every_size_matches_scipy():
    a, b = draw(0, n_samples=5, n=15, decimals=9)
    for found in grow_brunner_munzel(a, b, range(6, 16)):
        for row in range(5):
            expected = brunnermunzel(a[row, : found.n], b[row, : found.n])
            assert found.test.pvalue[row] == pytest.approx(expected.pvalue, rel=1e-9)
            assert found.test.statistic[row] == pytest.approx(-expected.statistic, rel=1e-9)


# Growing samples: properties


@settings(max_examples=40)
@given(seeds, st.integers(0, 2), st.sets(st.integers(2, 12), min_size=1))
def test_every_size_matches_the_test_of_that_size_with_ties_too(seed, decimals, sizes):
    a, b = draw(seed, decimals=decimals)
    found = list(grow_brunner_munzel(a, b, sizes))
    assert [each.n for each in found] == sorted(sizes)
    for each in found:
        expected = brunner_munzel(a[:, : each.n], b[:, : each.n])
        np.testing.assert_allclose(each.test.statistic, expected.statistic, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(each.test.pvalue, expected.pvalue, rtol=1e-9)


@given(seeds)
def test_swapping_turns_the_sign(seed):
    a, b = draw(seed)
    for one, other in zip(
        grow_brunner_munzel(a, b, [5, 12]), grow_brunner_munzel(b, a, [5, 12]), strict=True
    ):
        np.testing.assert_allclose(one.test.statistic, -other.test.statistic, atol=1e-12)


def test_blocks_do_not_matter(monkeypatch):
    a, b = draw(1, n_samples=50)
    (whole,) = grow_brunner_munzel(a, b, [12])
    monkeypatch.setattr("outperform.stats.rank_tests._SAMPLES_AT_ONCE", 7)
    (parts,) = grow_brunner_munzel(a, b, [12])
    assert np.array_equal(whole.test.pvalue, parts.test.pvalue)


# Growing samples: calibration


@pytest.mark.slow
def test_level_is_near_alpha_in_large_samples():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 20_000, 40))
    (found,) = grow_brunner_munzel(a, b, [40])
    assert binomtest(int((found.test.pvalue <= 0.05).sum()), 20_000, 0.0515).pvalue > 0.001


# Growing samples: negative control


def test_small_samples_do_not_keep_a_small_level():
    rng = np.random.default_rng(6)
    a, b = rng.normal(size=(2, 20_000, 5))
    (found,) = grow_brunner_munzel(a, b, [5])
    assert (found.test.pvalue <= 0.001).mean() > 0.01


# Growing samples: refusals


def test_samples_of_different_sizes_are_refused():
    with pytest.raises(OutperformError, match="cannot pair 4 scores of a with 5 of b"):
        list(grow_brunner_munzel(np.zeros((3, 4)), np.zeros((3, 5)), [4]))


@pytest.mark.parametrize("sizes", [[], [1], [2, 6]])
def test_sizes_beyond_the_samples_are_refused(sizes):
    with pytest.raises(OutperformError, match="sizes"):
        list(grow_brunner_munzel(np.zeros((3, 5)), np.zeros((3, 5)), sizes))
