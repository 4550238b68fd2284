"""Tests about means: t, sign-flip, Nadeau–Bengio, equivalence."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.stats import binomtest

from outperform.errors import InvalidInput, TooFewRuns, UnpairedScores
from outperform.stats import (
    equivalence_test,
    nadeau_bengio_test,
    paired_t_test,
    sign_flip_test,
    welch_t_test,
)

ALTERNATIVES = ["two-sided", "greater", "less"]
MIRRORED = {"two-sided": "two-sided", "greater": "less", "less": "greater"}


def nadeau_bengio(a, b, **options):
    return nadeau_bengio_test(a, b, n_train=90, n_test=10, **options)


def equivalence(a, b, **options):
    return equivalence_test(a, b, margin=1.0, **options)


PAIRED = {
    "paired t": paired_t_test,
    "nadeau-bengio": nadeau_bengio,
    "sign-flip": sign_flip_test,
}
TESTS = PAIRED | {"welch": welch_t_test}

scores = st.floats(-100, 100).map(lambda x: round(x, 3))
pairs = st.lists(st.tuples(scores, scores), min_size=2, max_size=9)
alternatives = st.sampled_from(ALTERNATIVES)


# By hand


@pytest.mark.parametrize(
    ("function", "a", "b", "statistic", "greater"),
    [
        # With 2 degrees of freedom P(T > t) = ½ - t/(2√(2 + t²)).
        # Differences 1, 2, 3: mean 2, sd 1, t = 2/(1/√3) = √12.
        ("paired t", [2, 4, 6], [1, 2, 3], math.sqrt(12), 1 / 2 - math.sqrt(12 / 14) / 2),
        # The same with variance 1·(1/3 + 10/90) = 4/9: t = 3.
        ("nadeau-bengio", [2, 4, 6], [1, 2, 3], 3, 1 / 2 - 3 / math.sqrt(11) / 2),
        # Variance 2 in both, means 4 and 2: t = 2/√(2/2 + 2/2) = √2, df = 2²/(1 + 1) = 2.
        ("welch", [3, 5], [1, 3], math.sqrt(2), 1 / 2 - 1 / math.sqrt(8)),
        # Eight sign patterns, only all plus has a mean of 2.
        ("sign-flip", [2, 4, 6], [1, 2, 3], 2, 1 / 8),
    ],
)
def test_statistics_by_hand(function, a, b, statistic, greater):
    test = TESTS[function](a, b, alternative="greater")
    assert test.statistic == pytest.approx(statistic, rel=1e-12)
    assert test.pvalue == pytest.approx(greater, rel=1e-12)
    assert test.alternative == "greater"
    assert test.name
    assert TESTS[function](a, b).pvalue == pytest.approx(2 * greater, rel=1e-12)
    assert TESTS[function](a, b).alternative == "two-sided"
    less = 1 if function == "sign-flip" else 1 - greater
    assert TESTS[function](a, b, alternative="less").pvalue == pytest.approx(less, rel=1e-12)


@pytest.mark.parametrize("function", TESTS)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_identical_scores_are_no_evidence(function, alternative):
    same = [0.1, 0.7, 0.1] if function != "welch" else [0.1, 0.1, 0.1]
    test = TESTS[function](same, same, alternative=alternative)
    assert (test.statistic, test.pvalue) == (0, 1)


@pytest.mark.parametrize("function", ["paired t", "welch"])
@pytest.mark.parametrize(
    ("alternative", "up", "down"), [("two-sided", 0, 0), ("greater", 0, 1), ("less", 1, 0)]
)
@pytest.mark.parametrize("unit", [1, 0.1])  # the mean of three times .1 is not .1 in floats
def test_a_constant_difference_is_certain(function, alternative, up, down, unit):
    a, b = [2 * unit] * 3, [unit] * 3
    assert TESTS[function](a, b, alternative=alternative).pvalue == up
    assert TESTS[function](a, b, alternative=alternative).statistic > 0
    assert TESTS[function](b, a, alternative=alternative).pvalue == down
    assert TESTS[function](b, a, alternative=alternative).statistic < 0


def test_welch_works_with_one_side_constant():
    # se² = 2/2 + 0 and all the degrees of freedom are a's: 1, where P(T > t) = ½ - atan(t)/π.
    test = welch_t_test([3, 5], [1, 1, 1, 1], alternative="greater")
    assert test.statistic == pytest.approx(3)
    assert test.pvalue == pytest.approx(0.5 - math.atan(3) / math.pi)


@pytest.mark.parametrize(
    ("alternative", "pvalue"),
    # .1 + .2 - .3 is zero in the reals and 5.6e-17 in floats. Of the sums ±.1 ±.2 ±.3 five of
    # eight are >= 0, five <= 0.
    [("two-sided", 1), ("greater", 5 / 8), ("less", 5 / 8)],
)
def test_sign_flip_is_not_fooled_by_rounding(alternative, pvalue):
    for differences in itertools.permutations([0.1, 0.2, -0.3]):
        assert sign_flip_test(differences, [0, 0, 0], alternative=alternative).pvalue == pvalue


@pytest.mark.parametrize("unit", [1, 1e-9, 1e9])
def test_sign_flip_is_not_fooled_by_rounding_at_any_scale(unit):
    # ±.1 ±.2 ±.3 ± a millionth is at least a millionth in 8 of 16 cases.
    differences = unit * np.array([0.1, 0.2, -0.3, 1e-6])
    assert sign_flip_test(differences, np.zeros(4), alternative="greater").pvalue == 8 / 16


def test_equivalence_by_hand():
    # Differences -1, 0, 1: sd 1, se 1/√3; to ±2 it is t = √12 with 2 degrees of freedom.
    test = equivalence_test([0, 2, 4], [1, 2, 3], margin=2)
    assert test.pvalue == pytest.approx(1 / 2 - math.sqrt(12 / 14) / 2, rel=1e-12)
    assert test.equivalent
    # The 95% quantile there is (2q - 1)·√(2 / (4q(1 - q))) = .9·√(2/.19).
    half_width = 0.9 * math.sqrt(2 / 0.19) / math.sqrt(3)
    assert test.interval.low == pytest.approx(-half_width)
    assert test.interval.high == pytest.approx(half_width)
    assert test.interval.confidence_level == pytest.approx(0.9)
    assert (test.margin, test.confidence_level) == (2, 0.95)
    assert test.name
    assert not equivalence_test([0, 2, 4], [1, 2, 3], margin=1.68).equivalent
    assert equivalence_test([0, 2, 4], [1, 2, 3], margin=1.69).equivalent
    assert not equivalence_test([0, 2, 4], [1, 2, 3], margin=1.69, confidence_level=0.96).equivalent


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("shift", [0, 0.5, -2])
def test_equivalence_without_spread_is_not_shown(paired, shift):
    """Three runs that all succeed do so by chance: 64% of studies, if 95 and 90% of runs do."""
    constant = equivalence_test([1 + shift] * 3, [1] * 3, margin=1, paired=paired)
    assert math.isnan(constant.pvalue)
    assert not constant.equivalent
    assert (constant.interval.low, constant.interval.high) == (-math.inf, math.inf)
    assert str(constant) == "a difference of ±1 or more is not ruled out"


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 5, 10, 20])
def test_runs_that_succeed_or_fail_are_rarely_called_equivalent_at_the_margin(n):
    rng, n_studies = np.random.default_rng(44), 1000
    a, b = (rng.binomial(1, chance, (n_studies, n)) for chance in (0.95, 0.9))
    pairs = [*zip(a, b, strict=True)]
    called = sum(equivalence_test(x, y, margin=0.05).equivalent for x, y in pairs)
    assert binomtest(called, n_studies, 0.05, alternative="greater").pvalue > 0.001
    # Negative control: all agree so often, which was taken for certainty.
    assert n == 20 or np.mean([np.ptp(x - y) == 0 for x, y in pairs]) > 0.15


# Reference


@pytest.mark.parametrize(("function", "kind"), [(paired_t_test, "paired"), (welch_t_test, "welch")])
def test_t_tests_match_r(reference, function, kind):
    for case in reference("mean_tests")[kind]:
        for alternative in ALTERNATIVES:
            test = function(case["a"], case["b"], alternative=alternative)
            assert test.statistic == pytest.approx(case["statistic"], rel=1e-9)
            assert test.pvalue == pytest.approx(case[alternative.replace("-", "_")], rel=1e-8)


@pytest.mark.parametrize("kind", ["paired", "welch"])
def test_equivalence_matches_r(reference, kind):
    for case in reference("mean_tests")[kind]:
        test = equivalence_test(
            case["a"], case["b"], margin=case["margin"], paired=kind == "paired"
        )
        assert test.pvalue == pytest.approx(case["equivalence"], rel=1e-8)
        assert (test.interval.low, test.interval.high) == pytest.approx(
            case["interval90"], rel=1e-9, abs=1e-9
        )


@given(pairs, st.integers(1, 10_000), alternatives)
def test_nadeau_bengio_is_a_shrunken_t(differences, n_test, alternative):
    a, b = np.transpose(differences)
    test = nadeau_bengio_test(a, b, n_train=1000, n_test=n_test, alternative=alternative)
    if np.ptp(a - b) < 1e-3:
        return
    shrunk = scipy_stats.ttest_rel(a, b).statistic / math.sqrt(1 + len(a) * n_test / 1000)
    assert test.statistic == pytest.approx(shrunk, rel=1e-6, abs=1e-9)
    tail = {
        "two-sided": 2 * scipy_stats.t.sf(abs(shrunk), len(a) - 1),
        "greater": scipy_stats.t.sf(shrunk, len(a) - 1),
        "less": scipy_stats.t.cdf(shrunk, len(a) - 1),
    }
    assert test.pvalue == pytest.approx(tail[alternative], rel=1e-6)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9), alternatives)
def test_sign_flip_is_the_share_of_all_signs(differences, alternative):
    d = np.array(differences)
    sums = np.array(list(itertools.product([-1, 1], repeat=len(d)))) @ d
    share = {
        "two-sided": np.mean(abs(sums) >= abs(d.sum())),
        "greater": np.mean(sums >= d.sum()),
        "less": np.mean(sums <= d.sum()),
    }
    # Tenths, so that equal sums differ by rounding.
    test = sign_flip_test(d / 10, np.zeros(len(d)), alternative=alternative)
    assert test.statistic == pytest.approx(d.mean() / 10, abs=1e-12)
    if d.any():
        assert test.pvalue == pytest.approx(share[alternative], rel=1e-12)


def test_randomly_flipped_signs_are_near_the_exact_answer():
    d = np.random.default_rng(3).normal(0.4, size=16)
    exact = sign_flip_test(d, np.zeros(16), n_resamples=2**16 - 1).pvalue
    rng = np.random.default_rng(4)
    random = sign_flip_test(d, np.zeros(16), n_resamples=2**16 - 2, rng=rng).pvalue
    count = random * (2**16 - 1) - 1
    assert count == pytest.approx(round(count), abs=1e-6)
    assert binomtest(round(count), 2**16 - 2, exact).pvalue > 0.001


# Properties


@pytest.mark.parametrize("function", TESTS)
@given(sample=pairs, alternative=alternatives)
def test_tests_swap_shuffle_and_ignore_units(function, sample, alternative):
    a, b = np.transpose(sample)
    test = TESTS[function](a, b, alternative=alternative)
    swapped = TESTS[function](b, a, alternative=MIRRORED[alternative])
    shuffled = TESTS[function](a[::-1], b[::-1], alternative=alternative)
    doubled = TESTS[function](4 * a, 4 * b, alternative=alternative)
    assert 0 <= test.pvalue <= 1
    assert swapped.statistic == pytest.approx(-test.statistic, rel=1e-6, abs=1e-9)
    for other in (swapped, shuffled, doubled):
        assert other.pvalue == pytest.approx(test.pvalue, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("function", [paired_t_test, welch_t_test])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_t_tests_over_leading_axes_are_the_loop(function, alternative):
    rng = np.random.default_rng(6)
    a, b = rng.normal(0.4, size=(3, 1, 7)), rng.normal(size=(4, 7))
    a[0, 0] = b[0] = 1.0  # identical there, p = 1
    a[1, 0] = 2.0  # a constant difference there, p = 0
    together = function(a, b, alternative=alternative)
    assert together.statistic.shape == together.pvalue.shape == (3, 4)
    for i, j in np.ndindex(3, 4):
        alone = function(a[i, 0], b[j], alternative=alternative)
        assert together.statistic[i, j] == pytest.approx(alone.statistic, rel=1e-12)
        assert together.pvalue[i, j] == pytest.approx(alone.pvalue, rel=1e-12)
        assert isinstance(alone.pvalue, float)
    first = function(a[:, 0].T, b[3][:, None], axis=0, alternative=alternative)
    assert first.pvalue == pytest.approx(together.pvalue[:, 3], rel=1e-12)


def test_welch_takes_unequal_lengths_over_leading_axes():
    a, b = np.random.default_rng(1).normal(size=(2, 5, 1)), np.arange(8.0) % 3
    together = welch_t_test(np.repeat(a, 6, axis=2) * np.arange(6), b)
    assert together.pvalue.shape == (2, 5)


@given(st.lists(st.tuples(scores, scores), min_size=2, max_size=9), st.booleans())
def test_equivalence_says_whether_the_interval_is_within_the_margin(sample, paired):
    a, b = np.transpose(sample)
    margin = 40.0
    test = equivalence_test(a, b, margin=margin, paired=paired)
    if math.isnan(test.pvalue):
        assert np.ptp(a - b if paired else np.sign([np.ptp(a), np.ptp(b)])) < 1e-9
        assert not test.equivalent
        return
    assert 0 <= test.pvalue <= 1
    inside = -margin < test.interval.low and test.interval.high < margin
    near = min(abs(test.interval.low + margin), abs(test.interval.high - margin)) < 1e-6
    assert near or test.equivalent == inside
    swapped = equivalence_test(b, a, margin=margin, paired=paired)
    assert swapped.pvalue == pytest.approx(test.pvalue, rel=1e-6, abs=1e-12)
    assert swapped.interval.low == pytest.approx(-test.interval.high, rel=1e-6, abs=1e-9)
    wider = equivalence_test(a, b, margin=2 * margin, paired=paired)
    assert wider.pvalue <= test.pvalue + 1e-12


def test_sign_flip_draws_only_where_signs_do_not_fit():
    d = np.arange(1.0, 6.0)  # 32 sign patterns
    assert sign_flip_test(d, np.zeros(5), n_resamples=31).pvalue == 2 / 32
    drawn = sign_flip_test(d, np.zeros(5), n_resamples=30).pvalue * 31
    assert drawn == pytest.approx(round(drawn))


def test_sign_flip_without_a_generator_repeats():
    a, b = np.random.default_rng(3).normal(0.2, size=(2, 40))
    seeded = sign_flip_test(a, b, rng=np.random.default_rng(0))
    assert sign_flip_test(a, b) == sign_flip_test(a, b) == seeded


SPREAD_A, SPREAD_B = np.array([1.0, 2, 4, 8]), np.array([0.0, 3, 1, 2])


@pytest.mark.parametrize("unit", [1e-300, 1e-170, 1e-100, 1e100, 1e148])
@pytest.mark.parametrize("function", [paired_t_test, welch_t_test, nadeau_bengio])
def test_units_however_small_or_large_change_no_pvalue(function, unit):
    expected = function(SPREAD_A, SPREAD_B)
    found = function(unit * SPREAD_A, unit * SPREAD_B)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)


def test_samples_of_one_value_do_not_differ_by_rounding():
    assert np.mean([0.1] * 3) != np.mean([0.1] * 7)
    assert welch_t_test([0.1] * 3, [0.1] * 7).pvalue == 1


@pytest.mark.parametrize("outlier", [10, 1e8, 1e13, 1e14])
def test_one_huge_difference_hides_no_other(outlier):
    scores = [outlier, 1, 2, 3, 4, 5, 6]
    assert sign_flip_test(scores, np.zeros(7)).pvalue == 2 / 2**7
    scores[1] *= -1  # the signs of 1, of 2, and of both at once go further or as far
    assert sign_flip_test(scores, np.zeros(7)).pvalue == 2 * 2 / 2**7


def test_sums_that_are_equal_but_for_rounding_are_as_extreme():
    # In tenths 1 + 2 - 3 + 6 = 6. As far goes -1 - 2 + 3 + 6 = 6; further go 1 - 2 + 3 + 6 = 8,
    # 1 + 2 + 3 + 6 = 12 and -1 + 2 + 3 + 6 = 10: five, and their mirror images.
    for offset in (0, 0.7, 1000, 1e6):
        b = np.array([0.1, 0.2, 0.3, 0.4]) + offset
        a = b + np.array([0.1, 0.2, -0.3, 0.6])
        assert sign_flip_test(a, b).pvalue == 10 / 16, offset


def test_infinite_statistics_are_null_in_json():
    one, many = paired_t_test([2, 3], [1, 2]), paired_t_test([[2, 3], [1, 3]], [[1, 2], [1, 2]])
    assert (one.statistic, one.to_dict()["statistic"]) == (math.inf, None)
    assert many.to_dict()["statistic"] == [None, pytest.approx(1)]
    json.dumps([one.to_dict(), many.to_dict()], allow_nan=False)


def test_many_tests_are_one_sentence():
    a, b = np.array([[1.0, 2, 4], [5, 5, 6]]), np.array([[1.0, 2, 3], [1, 2, 1]])
    smallest = welch_t_test(a[1], b[1]).pvalue
    assert str(welch_t_test(a, b)) == f"welch t: 2 tests, smallest p = {smallest:.2g} (two-sided)"
    assert str(welch_t_test(a[:0], b[:0])) == "welch t: 0 tests, smallest p = 1 (two-sided)"


def test_random_signs_repeat_with_their_seed_and_never_give_zero():
    def pvalue(seed, shift):
        rng = np.random.default_rng(seed)
        a, b = np.arange(40.0) % 7 + shift, np.arange(40.0) % 5
        return sign_flip_test(a, b, n_resamples=999, rng=rng).pvalue

    assert pvalue(1, 0) == pvalue(1, 0)
    assert pvalue(1, 0) != pvalue(2, 0)
    assert pvalue(1, 100) == 1 / 1000


# Calibration


@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_paired_t_test_has_its_level(alpha):
    rng = np.random.default_rng(28)
    shared = rng.normal(size=(20_000, 6))
    a, b = rng.normal(shared, 2), rng.normal(shared)
    hits = int((paired_t_test(a, b).pvalue <= alpha).sum())
    assert binomtest(hits, 20_000, alpha).pvalue > 0.001


def test_welch_keeps_its_level_where_student_does_not():
    rng = np.random.default_rng(496)
    a, b = rng.normal(0, 3, size=(20_000, 8)), rng.normal(size=(20_000, 24))
    hits = int((welch_t_test(a, b).pvalue <= 0.05).sum())
    # An approximation: 5% within half a point here.
    assert binomtest(hits, 20_000, 0.055, alternative="greater").pvalue > 0.001
    assert binomtest(hits, 20_000, 0.045, alternative="less").pvalue > 0.001
    student = int((scipy_stats.ttest_ind(a, b, axis=1).pvalue <= 0.05).sum())
    assert student > 4 * hits  # negative control


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_sign_flip_has_exactly_its_level(alternative):
    magnitudes = np.random.default_rng(2).exponential(size=8)
    flips = np.array(list(itertools.product([-1, 1], repeat=8))) * magnitudes
    pvalues = [sign_flip_test(d, np.zeros(8), alternative=alternative).pvalue for d in flips]
    n_distinct = 128 if alternative == "two-sided" else 256
    # Each of 1/n, 2/n, ..., 1 as often as the other: P(p <= α) = α at all of them.
    expected = np.repeat(np.arange(1, n_distinct + 1) / n_distinct, 256 // n_distinct)
    assert np.sort(pvalues) == pytest.approx(expected, rel=1e-12)


def test_sign_flip_level_check_can_fail():
    # Negative control: flipping is only fair for symmetric differences.
    rng = np.random.default_rng(6)
    hits = sum(
        sign_flip_test(d, np.zeros(8), alternative="less").pvalue <= 0.05
        for d in rng.exponential(size=(1000, 8)) - 1
    )
    assert binomtest(hits, 1000, 0.05).pvalue < 0.001


def overlapping_splits(n_studies, n_examples=100, n_test=10, n_splits=15):
    """Score differences between equals, averaged over test sets drawn from the same examples."""
    rng = np.random.default_rng(1729)
    examples = rng.normal(size=(n_studies, n_examples))
    order = rng.random((n_studies, n_splits, n_examples)).argsort(axis=-1)[..., :n_test]
    return np.take_along_axis(examples[:, None, :], order, axis=-1).mean(axis=-1)


@pytest.mark.slow
def test_nadeau_bengio_has_its_level_under_its_own_assumption():
    # Differences of equal correlation n_test/(n_train + n_test): then the test is exact.
    rng = np.random.default_rng(28)
    common, own = rng.normal(size=(8000, 1)), rng.normal(size=(8000, 15))
    differences = math.sqrt(0.1) * common + math.sqrt(0.9) * own
    hits = sum(nadeau_bengio(d, np.zeros(15)).pvalue <= 0.05 for d in differences)
    assert binomtest(hits, 8000, 0.05).pvalue > 0.001


@pytest.mark.slow
def test_nadeau_bengio_stays_near_its_level_where_student_does_not():
    differences = overlapping_splits(4000)
    zeros = np.zeros(differences.shape[1])
    corrected = sum(nadeau_bengio(d, zeros).pvalue <= 0.05 for d in differences)
    # Test sets share n_test/n examples on average only: measured, 6.5%.
    assert binomtest(corrected, 4000, 0.07, alternative="greater").pvalue > 0.001
    assert binomtest(corrected, 4000, 0.05, alternative="less").pvalue > 0.001
    naive = int((paired_t_test(differences, zeros).pvalue <= 0.05).sum())
    assert naive > 3 * corrected  # negative control: measured, 22.5%


@pytest.mark.slow
@pytest.mark.parametrize("paired", [True, False])
def test_equivalence_is_rarely_claimed_at_the_margin(paired):
    rng = np.random.default_rng(33)
    a, b = rng.normal(1, size=(4000, 20)), rng.normal(size=(4000, 20))
    # The true difference is the margin; the other bound is 2 away, far enough not to matter.
    hits = sum(
        equivalence_test(x, y, margin=1, paired=paired).equivalent
        for x, y in zip(a, b, strict=True)
    )
    assert binomtest(hits, 4000, 0.05).pvalue > 0.001


def test_no_difference_found_is_not_equivalence():
    # Negative control: a wide true difference is never equivalent, and few noisy runs are
    # neither different nor equivalent.
    rng = np.random.default_rng(5)
    far = rng.normal(3, size=(200, 20)), rng.normal(size=(200, 20))
    assert not any(equivalence(x, y).equivalent for x, y in zip(*far, strict=True))
    noisy = [0.0, 3.0, -2.0, 1.5], [0.3, -2.0, 3.0, 0.5]
    assert paired_t_test(*noisy).pvalue > 0.5
    assert not equivalence(*noisy).equivalent


# Refusals


@pytest.mark.parametrize("function", [*TESTS.values(), equivalence])
def test_bad_scores_are_refused(function, bad_scores, refuses):
    vectorised = function in (paired_t_test, welch_t_test)
    if vectorised and np.ndim(bad_scores[0]) == 2:  # a leading axis, not a mistake
        assert function(bad_scores[0], bad_scores[0]).pvalue.shape == (1,)
    else:
        refuses(function)


@pytest.mark.parametrize("function", [*PAIRED.values(), equivalence])
def test_scores_that_cannot_be_paired_are_refused(function):
    with pytest.raises(UnpairedScores, match=r"\b29\b.*\b30\b"):
        function(np.arange(29), np.arange(30))


@pytest.mark.parametrize("function", [paired_t_test, welch_t_test, nadeau_bengio, equivalence])
def test_one_run_has_no_spread(function):
    with pytest.raises(TooFewRuns):
        function([1], [2])


@pytest.mark.parametrize("function", TESTS.values())
def test_unknown_alternatives_are_refused(function):
    with pytest.raises(InvalidInput, match=r"two-sided.*greater.*less"):
        function([1, 2, 4], [3, 4, 7], alternative="up")


@pytest.mark.parametrize("n_resamples", [0, -1, 2.5])
def test_impossible_numbers_of_resamples_are_refused(n_resamples):
    with pytest.raises(InvalidInput, match="n_resamples"):
        sign_flip_test([1, 2, 4], [3, 4, 7], n_resamples=n_resamples)


@pytest.mark.parametrize("margin", [0, -1, math.nan, math.inf])
def test_impossible_margins_are_refused(margin):
    with pytest.raises(InvalidInput, match="margin"):
        equivalence_test([1, 2, 4], [3, 4, 7], margin=margin)


@pytest.mark.parametrize("level", [0, 1, 95, math.nan])
def test_impossible_confidence_is_refused(level):
    with pytest.raises(InvalidInput, match="confidence_level"):
        equivalence([1, 2, 4], [3, 4, 7], confidence_level=level)


@pytest.mark.parametrize(("n_train", "n_test"), [(0, 10), (90, 0), (-1, 10), (90, math.nan)])
def test_impossible_split_sizes_are_refused(n_train, n_test):
    with pytest.raises(InvalidInput, match="n_t"):
        nadeau_bengio_test([1, 2, 4], [3, 4, 7], n_train=n_train, n_test=n_test)


def test_sign_flips_of_thousands_of_pairs():
    a, b = np.random.default_rng(7).normal(size=(2, 3_000))
    near = paired_t_test(a, b).pvalue
    assert sign_flip_test(a, b, rng=np.random.default_rng(0)).pvalue == pytest.approx(
        near, abs=0.03
    )
