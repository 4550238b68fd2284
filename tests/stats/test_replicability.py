"""On how many tasks there is a difference."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, combine_pvalues

from outperform.errors import InvalidInput
from outperform.stats import holm, partial_conjunction

METHODS = ["bonferroni", "fisher"]
methods = st.sampled_from(METHODS)
pvalues_of = st.lists(st.integers(1, 200).map(lambda p: (p / 200) ** 3), min_size=1, max_size=12)

# By hand


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


# References


@pytest.mark.parametrize("method", METHODS)
def test_partial_conjunction_matches_r(method, reference):
    for case in reference("pvalue_corrections"):
        found = partial_conjunction(case["pvalues"], method=method)
        assert found.pvalues == pytest.approx(case["conjunction"][method], rel=1e-10)


@given(pvalues_of)
def test_fisher_matches_scipy(pvalues):
    ordered = sorted(pvalues)
    expected = [combine_pvalues(ordered[u:]).pvalue for u in range(len(ordered))]
    assert partial_conjunction(pvalues, method="fisher").pvalues == pytest.approx(
        expected, rel=1e-9
    )


# Properties


@given(pvalues_of)
def test_by_bonferroni_they_are_as_many_as_holm_names(pvalues):
    found = partial_conjunction(pvalues)
    assert found.n_better == np.count_nonzero(found.better)
    assert found.holm_pvalues.tolist() == holm(pvalues).tolist()


@given(pvalues_of, methods, st.randoms())
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


# Calibration


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


# Refusals


@pytest.mark.parametrize(
    ("pvalues", "options", "message"),
    [
        (
            [0.1, np.nan],
            {},
            "pvalues has 1 value(s) that are no p-value (first: nan, at 1). "
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
