"""Holm, Bonferroni, Benjamini and Hochberg; and on how many tasks there is a difference."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binomtest, combine_pvalues, false_discovery_control

from outperform.errors import InvalidInput
from outperform.stats import (
    benjamini_hochberg,
    bonferroni,
    friedman,
    holm,
    paired_t_test,
    partial_conjunction,
)

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
            "pvalues has 2 values that are no p-value (first: nan, at 1, 0). "
            "Pass numbers from 0 to 1, and leave out tests that were not done.",
        ),
        (
            [0.1, -0.1],
            -1,
            "pvalues has 1 value that is no p-value (first: -0.1, at 1). "
            "Pass numbers from 0 to 1, and leave out tests that were not done.",
        ),
        ([], -1, "pvalues has shape (0,). Pass a sequence with one p-value per test."),
        (0.05, -1, "pvalues has shape (). Pass a sequence with one p-value per test."),
        (
            [0.1, 0.2],
            1,
            "axis is 1, but pvalues has 1 dimension. Pass an axis from -1 to 0.",
        ),
    ],
)
def test_what_is_no_family_of_pvalues_is_refused(correct, pvalues, axis, message):
    with pytest.raises(InvalidInput) as caught:
        correct(pvalues, axis=axis)
    assert str(caught.value) == message


METHODS = ["bonferroni", "fisher"]
methods = st.sampled_from(METHODS)
pvalues_of_tasks = st.lists(
    st.integers(1, 200).map(lambda p: (p / 200) ** 3), min_size=1, max_size=12
)

# Partial conjunctions: by hand


def test_bonferroni_by_hand():
    # Sorted .001 .011 .02 .3: times 4 3 2 1.
    found = partial_conjunction([0.3, 0.001, 0.02, 0.011])
    assert found.pvalues == pytest.approx([0.004, 0.033, 0.04, 0.3], rel=1e-12)
    assert found.n_better == 3
    assert found.better.tolist() == [False, True, True, True]
    assert found.holm_pvalues == pytest.approx([0.3, 0.004, 0.04, 0.033], rel=1e-12)
    assert (found.method, found.alpha) == ("bonferroni", 0.05)


def test_fisher_by_hand():
    # P(chi2 with 4 degrees of freedom > x) = exp(-x/2) (1 + x/2); x/2 = -ln(.1 * .2) for both.
    found = partial_conjunction([0.2, 0.1], method="fisher")
    assert found.pvalues == pytest.approx([0.02 * (1 - math.log(0.02)), 0.2], rel=1e-12)
    assert (found.n_better, found.better.tolist()) == (0, [False, False])


def test_one_u_that_fails_ends_it():
    # .03 .04: better on at least one 2 * .03 = .06, on both .04. Both is more than one.
    found = partial_conjunction([0.03, 0.04])
    assert found.pvalues == pytest.approx([0.06, 0.04])
    assert found.n_better == 0


def test_fisher_finds_what_no_task_shows_alone():
    # On three: .08 and .09 together, .0072 (1 - ln .0072) = .043. On four: .09.
    found = partial_conjunction([0.06, 0.07, 0.08, 0.09], method="fisher")
    assert found.pvalues[2:] == pytest.approx([0.0072 * (1 - math.log(0.0072)), 0.09], rel=1e-12)
    assert found.n_better == 3
    assert not found.better.any()


# Partial conjunctions: references


@pytest.mark.parametrize("method", METHODS)
def test_partial_conjunction_matches_r(method, reference):
    for case in reference("pvalue_corrections"):
        found = partial_conjunction(case["pvalues"], method=method)
        assert found.pvalues == pytest.approx(case["conjunction"][method], rel=1e-10)


@given(pvalues_of_tasks)
def test_fisher_matches_scipy(pvalues):
    ordered = sorted(pvalues)
    expected = [combine_pvalues(ordered[u:]).pvalue for u in range(len(ordered))]
    assert partial_conjunction(pvalues, method="fisher").pvalues == pytest.approx(
        expected, rel=1e-9
    )


# Partial conjunctions: properties


@given(pvalues_of_tasks)
def test_by_bonferroni_they_are_as_many_as_holm_names(pvalues):
    found = partial_conjunction(pvalues)
    assert found.n_better == np.count_nonzero(found.better)
    assert found.holm_pvalues.tolist() == holm(pvalues).tolist()


@given(pvalues_of_tasks, methods, st.randoms())
def test_order_of_tasks_does_not_matter_and_less_doubt_never_harms(pvalues, method, random):
    found = partial_conjunction(pvalues, method=method)
    shuffled = random.sample(pvalues, len(pvalues))
    assert partial_conjunction(shuffled, method=method).pvalues.tolist() == found.pvalues.tolist()
    surer = partial_conjunction(np.array(pvalues) / 2, method=method)
    assert surer.n_better >= found.n_better
    # A last task with p = 1 adds nothing to what is shown.
    assert partial_conjunction([*pvalues, 1.0], method=method).n_better <= found.n_better


@pytest.mark.parametrize("method", METHODS)
def test_leading_axes_are_as_many_families(method):
    pvalues = np.random.default_rng(5).uniform(size=(6, 2, 4)) ** 4
    found = partial_conjunction(pvalues, method=method)
    for place in np.ndindex(6, 2):
        alone = partial_conjunction(pvalues[place], method=method)
        assert found.n_better[place] == alone.n_better
        assert found.pvalues[place].tolist() == alone.pvalues.tolist()
        assert found.better[place].tolist() == alone.better.tolist()


def test_json():
    assert partial_conjunction([0.01, 0.9]).to_dict() == {
        "pvalues": [0.02, 0.9],
        "n_better": 1,
        "holm_pvalues": [0.02, 0.9],
        "better": [True, False],
        "method": "bonferroni",
        "alpha": 0.05,
    }


# Partial conjunctions: calibration


def claim_too_many(pvalues, method, n_better):
    """Number of families in which more tasks are claimed than there are."""
    return np.count_nonzero(partial_conjunction(pvalues, method=method).n_better > n_better)


@pytest.mark.slow
@pytest.mark.parametrize("n_better", [0, 2, 4])
@pytest.mark.parametrize("method", METHODS)
def test_too_many_tasks_are_claimed_as_rarely_as_promised(method, n_better):
    # Where the tasks that differ do so beyond doubt, Fisher uses up its level, and Bonferroni but
    # for the chance that several of the others have small p-values at once.
    n_others = 5 - n_better
    pvalues = np.random.default_rng(n_better).uniform(size=(40_000, 5))
    pvalues[:, :n_better] *= 1e-12
    hits = claim_too_many(pvalues, method, n_better)
    exact = 0.05 if method == "fisher" else 1 - (1 - 0.05 / n_others) ** n_others
    assert binomtest(hits, 40_000, exact).pvalue > 0.001


@pytest.mark.slow
def test_bonferroni_holds_however_tasks_depend():
    common = np.random.default_rng(7).uniform(size=(40_000, 1)) ** np.ones(5)
    assert claim_too_many(common, "bonferroni", 0) <= 0.05 * 40_000


def test_fisher_needs_independent_tasks():
    # Negative control: five copies of one task. It claims some where x = -10 ln p exceeds 18.3.
    common = np.random.default_rng(7).uniform(size=(2000, 1)) ** np.ones(5)
    hits = claim_too_many(common, "fisher", 0)
    assert binomtest(hits, 2000, 0.05).pvalue < 0.001
    assert binomtest(hits, 2000, math.exp(-1.8307)).pvalue > 0.001


def test_claiming_each_u_by_itself_errs_too_often():
    # Negative control: the largest u with p <= alpha, though a smaller one fails.
    pvalues = np.random.default_rng(8).uniform(size=(20_000, 2))
    claimed = (partial_conjunction(pvalues).pvalues <= 0.05).any(axis=1).sum()
    assert claimed > claim_too_many(pvalues, "bonferroni", 0)


# Partial conjunctions: refusals


@pytest.mark.parametrize(
    ("pvalues", "options", "message"),
    [
        (
            [0.1, np.nan],
            {},
            "pvalues has 1 value that is no p-value (first: nan, at 1). "
            "Pass numbers from 0 to 1, and leave out tests that were not done.",
        ),
        (
            [0.1],
            {"method": "stouffer"},
            "method is 'stouffer'. Choose one of 'bonferroni', 'fisher'.",
        ),
        ([0.1], {"alpha": 5}, "alpha is 5. Pass a value between 0 and 1 (5% is 0.05)."),
        ([], {}, "pvalues has shape (0,). Pass a sequence with one p-value per test."),
    ],
)
def test_nonsense_is_refused(pvalues, options, message):
    with pytest.raises(InvalidInput) as caught:
        partial_conjunction(pvalues, **options)
    assert str(caught.value) == message
