"""Holm, Bonferroni, Benjamini and Hochberg."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binomtest, false_discovery_control

from outperform.errors import InvalidInput
from outperform.stats import benjamini_hochberg, bonferroni, friedman, holm, paired_t_test

CORRECTIONS = [holm, bonferroni, benjamini_hochberg]
pvalues_of = st.lists(st.integers(0, 100).map(lambda percent: percent / 100), min_size=1)
corrections = pytest.mark.parametrize("correct", CORRECTIONS)

# By hand


@pytest.mark.parametrize(
    ("correct", "expected"),
    [
        (bonferroni, [0.16, 0.04, 1.0, 0.12]),
        # Sorted .01 .03 .04 .5: times 4 3 2 1 are .04 .09 .08 .5, and .08 may not be below .09.
        (holm, [0.09, 0.04, 0.5, 0.09]),
        # Times 4/1 4/2 4/3 4/4: .04 .06 .0533 .5, and .06 may not be above .0533.
        (benjamini_hochberg, [0.16 / 3, 0.04, 0.5, 0.16 / 3]),
    ],
)
def test_by_hand_each_in_the_place_of_its_own(correct, expected):
    adjusted = correct([0.04, 0.01, 0.5, 0.03])
    assert adjusted == pytest.approx(expected, rel=1e-12)


@corrections
def test_a_single_test_needs_no_correction(correct):
    assert correct([0.03]) == pytest.approx([0.03])


# References


@corrections
def test_corrections_match_r(correct, reference):
    for case in reference("pvalue_corrections"):
        assert correct(case["pvalues"]) == pytest.approx(case[correct.__name__], rel=1e-12)


@given(pvalues_of)
def test_benjamini_hochberg_matches_scipy(pvalues):
    assert benjamini_hochberg(pvalues) == pytest.approx(false_discovery_control(pvalues), rel=1e-12)


@given(pvalues_of.filter(lambda pvalues: len(pvalues) <= 7))
def test_holm_is_the_closure_of_bonferroni(pvalues):
    # A test is rejected where Bonferroni rejects every set of tests that holds it.
    n = len(pvalues)
    sets = [s for size in range(1, n + 1) for s in itertools.combinations(range(n), size)]
    level = {s: min(1, len(s) * min(pvalues[i] for i in s)) for s in sets}
    closed = [max(level[s] for s in sets if i in s) for i in range(n)]
    assert holm(pvalues) == pytest.approx(closed, rel=1e-12)


# Properties


@example([0.03, 0.04])
@given(pvalues_of)
def test_corrections_keep_order_and_are_ordered(pvalues):
    by_holm, by_bonferroni, by_rate = (correct(pvalues) for correct in CORRECTIONS)
    assert (by_rate <= by_holm + 1e-12).all()
    assert (by_holm <= by_bonferroni + 1e-12).all()
    for adjusted in (by_holm, by_bonferroni, by_rate):
        assert follows_its_pvalues(pvalues, adjusted)


def follows_its_pvalues(pvalues, adjusted):
    """Whether none is below its p-value or above 1, and they are in the order of p-values."""
    in_order = adjusted[np.argsort(pvalues, kind="stable")]
    within = (adjusted >= np.array(pvalues) - 1e-12).all() and (adjusted <= 1).all()
    return bool(within and (np.diff(in_order) >= -1e-12).all())


def test_the_check_of_order_can_fail():
    # Negative control: corrections left in sorted order, given to the wrong tests.
    pvalues = [0.5, 0.001, 0.04]
    assert follows_its_pvalues(pvalues, holm(pvalues))
    assert not follows_its_pvalues(pvalues, np.sort(holm(pvalues)))


@corrections
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_families_lie_along_any_axis(correct, axis):
    pvalues = np.random.default_rng(4).uniform(size=(3, 4, 5))
    alone = np.apply_along_axis(correct, axis, pvalues)
    assert correct(pvalues, axis=axis) == pytest.approx(alone, rel=1e-12)


@corrections
def test_what_is_passed_in_is_left_alone(correct):
    pvalues = np.array([0.04, 0.01, 0.5])
    correct(pvalues)
    assert pvalues.tolist() == [0.04, 0.01, 0.5]


# Calibration


@pytest.mark.slow
@pytest.mark.parametrize("correct", [holm, bonferroni])
def test_any_false_rejection_is_as_rare_as_promised(correct):
    # Of 10 independent tests, all without a difference: 1 - (1 - .05/10)^10.
    pvalues = np.random.default_rng(1).uniform(size=(40_000, 10))
    hits = (correct(pvalues) <= 0.05).any(axis=1).sum()
    assert binomtest(hits, 40_000, 1 - 0.995**10).pvalue > 0.001


@pytest.mark.slow
def test_holm_uses_its_level_where_some_differ():
    # 8 of 10 differ beyond doubt, so that 2 are left: 1 - (1 - .05/2)^2.
    pvalues = np.random.default_rng(2).uniform(size=(40_000, 10))
    pvalues[:, :8] *= 1e-9
    hits = (holm(pvalues)[:, 8:] <= 0.05).any(axis=1).sum()
    assert binomtest(hits, 40_000, 1 - 0.975**2).pvalue > 0.001


def share_of_false_rejections(adjusted, n_differing):
    """Mean share of rejections that are false, and its standard error."""
    rejected = adjusted <= 0.05
    shares = rejected[:, n_differing:].sum(axis=1) / np.maximum(1, rejected.sum(axis=1))
    return shares.mean(), shares.std() / np.sqrt(len(shares))


@pytest.mark.slow
def test_benjamini_hochberg_errs_in_the_share_promised():
    # For independent tests the rate is alpha times the share without a difference: .05 * 12 / 20.
    pvalues = np.random.default_rng(3).uniform(size=(40_000, 20))
    pvalues[:, :8] **= 6
    mean, error = share_of_false_rejections(benjamini_hochberg(pvalues), 8)
    assert abs(mean - 0.03) < 4 * error
    # Negative control: uncorrected, the same share is far off.
    mean, error = share_of_false_rejections(pvalues, 8)
    assert mean - 0.03 > 20 * error


def test_the_check_of_false_rejections_can_fail():
    # Negative control: without a correction, 1 - .95^10 = 40% of families hold one.
    pvalues = np.random.default_rng(1).uniform(size=(2000, 10))
    hits = (pvalues <= 0.05).any(axis=1).sum()
    assert binomtest(hits, 2000, 1 - 0.995**10).pvalue < 0.001


def test_a_flat_level_is_not_holms():
    # Negative control: each pair of 8 competitors at alpha / 7, as if one of them were a baseline.
    # One is bad, so that a test of all at once finds a difference, and protects no pair of equals.
    scores = np.random.default_rng(4).normal(size=(1000, 20, 8))
    scores[..., 7] -= 3
    first, second = np.triu_indices(8, 1)
    columns = np.moveaxis(scores, -1, 1)
    pvalues = paired_t_test(columns[:, first], columns[:, second]).pvalue
    assert (friedman(scores).corrected.f_pvalue <= 0.05).mean() > 0.99
    equals = second < 7
    flat = (pvalues[:, equals] <= 0.05 / 7).any(axis=1).sum()
    assert binomtest(flat, 1000, 0.05, alternative="greater").pvalue < 1e-6
    stepwise = (holm(pvalues)[:, equals] <= 0.05).any(axis=1).sum()
    assert binomtest(stepwise, 1000, 0.05, alternative="greater").pvalue > 0.001


# Refusals


@corrections
@pytest.mark.parametrize(
    ("pvalues", "axis", "message"),
    [
        (
            [[0.1, 0.2], [np.nan, 1.5]],
            -1,
            "pvalues has 2 value(s) that are no p-value (first: nan, at 1, 0). "
            "Pass numbers from 0 to 1, and leave out tests that were not done.",
        ),
        (
            [0.1, -0.1],
            -1,
            "pvalues has 1 value(s) that are no p-value (first: -0.1, at 1). "
            "Pass numbers from 0 to 1, and leave out tests that were not done.",
        ),
        ([], -1, "pvalues has shape (0,). Pass a sequence with one p-value per test."),
        (0.05, -1, "pvalues has shape (). Pass a sequence with one p-value per test."),
        (
            [0.1, 0.2],
            1,
            "axis is 1, but pvalues has 1 dimension(s). Pass an axis from -1 to 0.",
        ),
    ],
)
def test_what_is_no_family_of_pvalues_is_refused(correct, pvalues, axis, message):
    with pytest.raises(InvalidInput) as caught:
        correct(pvalues, axis=axis)
    assert str(caught.value) == message
