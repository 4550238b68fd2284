"""The difference of two sides tuned anew, by the means of several searches of each."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, nct, t, ttest_1samp, ttest_rel

from outperform.errors import InvalidScores, OutperformError, TooFewRuns, UnpairedScores
from outperform.stats import (
    difference_over_searches,
    equivalence_over_searches,
    equivalence_test,
    required_searches,
)

scores = st.floats(-100, 100).map(lambda x: round(x, 3))
searches = st.lists(
    st.lists(st.tuples(scores, scores), min_size=1, max_size=4), min_size=2, max_size=6
)


def split_pairs(rows):
    return [[a for a, _ in row] for row in rows], [[b for _, b in row] for row in rows]


def test_difference_by_hand():
    # Means of a: 2, 3, 5; of b: 1, 1, 2. Differences 1, 2, 3: mean 2, sd 1, error 1/√3, t = 2√3.
    # With 2 degrees of freedom P(|T| > t) = 1 - t/√(2 + t²), and the quantile of 97.5% is
    # .95·√(2/(4·.975·.025)).
    result = difference_over_searches([[1, 3], [3], [4, 5, 6]], [[0, 2], [1], [1, 2, 3]])
    assert result.value == pytest.approx(2)
    assert (result.n_searches, result.n_pairs) == (3, 6)
    assert result.pvalue == pytest.approx(1 - 2 * math.sqrt(3 / 14), rel=1e-12)
    reach = 0.95 * math.sqrt(2 / (4 * 0.975 * 0.025)) / math.sqrt(3)
    assert result.interval.low == pytest.approx(2 - reach, rel=1e-12)
    assert result.interval.high == pytest.approx(2 + reach, rel=1e-12)
    assert not result.shown  # p = .074
    again = difference_over_searches(
        [[1, 3], [3], [4, 5, 6]], [[0, 2], [1], [1, 2, 3]], confidence_level=0.9
    )
    assert again.shown


def test_it_is_the_paired_t_test_of_means():
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 7, 5))
    result = difference_over_searches(a, b, confidence_level=0.9)
    reference = ttest_rel(a.mean(axis=1), b.mean(axis=1))
    assert result.pvalue == pytest.approx(reference.pvalue, rel=1e-10)
    low, high = reference.confidence_interval(0.9)
    assert (result.interval.low, result.interval.high) == pytest.approx((low, high), rel=1e-10)


@given(rows=searches, level=st.floats(0.01, 0.99))
def test_sides_mirror_and_the_interval_agrees_with_the_test(rows, level):
    a, b = split_pairs(rows)
    result = difference_over_searches(a, b, confidence_level=level)
    mirrored = difference_over_searches(b, a, confidence_level=level)
    assert mirrored.value == pytest.approx(-result.value, abs=1e-9)
    assert mirrored.pvalue == pytest.approx(result.pvalue, rel=1e-6, abs=1e-12, nan_ok=True)
    if result.is_open or abs(result.pvalue - (1 - level)) > 1e-6:
        assert result.shown == (0 not in result.interval)


def test_means_that_always_differ_by_the_same_tell_nothing_of_other_searches():
    result = difference_over_searches([[0.3, 0.1], [0.9]], [[0.2, 0.0], [0.8]])
    assert result.value == pytest.approx(0.1)
    assert math.isnan(result.pvalue)
    assert not result.shown
    assert (result.interval.low, result.interval.high) == (-math.inf, math.inf)
    assert result.evidence == "means differ by the same after every search"
    assert result.to_dict()["pvalue"] is None


def test_complete_searches_show_nothing_where_others_are_not():
    a, b = [[5.0], [5.1], [5.3]], [[0.0], [0.1], [0.0]]
    assert difference_over_searches(a, b).shown
    result = difference_over_searches(a, b, n_incomplete=2)
    assert result.value == difference_over_searches(a, b).value
    assert (result.n_searches, result.n_incomplete, result.n_planned) == (3, 2, 5)
    assert result.is_open
    assert not result.shown
    assert result.evidence == "2 of 5 searches incomplete"
    assert required_searches(result) is None
    one = difference_over_searches([[3.0, 5.0]], [[1.0, 1.0]], n_incomplete=1)
    assert (one.value, one.n_pairs, one.is_open) == (3.0, 2, True)
    none = difference_over_searches([], [], n_incomplete=2)
    assert math.isnan(none.value)
    with pytest.raises(OutperformError, match="n_incomplete is -1"):
        difference_over_searches(a, b, n_incomplete=-1)


@pytest.mark.parametrize(
    ("a", "b", "error", "message"),
    [
        ([[1, 2]], [[2, 3]], TooFewRuns, "each has 1 search, and"),
        ([[1], [2]], [[1]], UnpairedScores, "2"),
        ([[1, 2], [2]], [[1], [1]], UnpairedScores, "2"),
        ([[1], [math.nan]], [[1], [2]], InvalidScores, "nan"),
    ],
)
def test_what_is_no_search_of_both_is_refused(a, b, error, message):
    with pytest.raises(error) as caught:
        difference_over_searches(a, b)
    assert message in str(caught.value).lower()


def test_a_level_beyond_one_is_refused():
    with pytest.raises(OutperformError, match="confidence_level is 95"):
        difference_over_searches([[1], [2]], [[1], [3]], confidence_level=95)


@pytest.mark.slow
@pytest.mark.parametrize("n_searches", [2, 3, 5, 20])
@pytest.mark.parametrize("shared", [0.0, 0.3])
def test_equals_tuned_anew_are_told_apart_as_often_as_it_says(n_searches, shared):
    rng, n_studies, k = np.random.default_rng(11), 3000, 8
    luck = math.sqrt(shared) * rng.normal(size=(2, n_studies, n_searches, 1))
    rest = math.sqrt(1 - shared) * rng.normal(size=(2, n_studies, n_searches, k))
    a, b = luck + rest
    shown = sum(difference_over_searches(*study).shown for study in zip(a, b, strict=True))
    assert binomtest(shown, n_studies, 0.05).pvalue > 0.001
    # Negative control: all pairs as independent ones err far more often where searches have luck.
    pairs = ttest_1samp((a - b).reshape(n_studies, -1), 0, axis=1).pvalue < 0.05
    assert (pairs.mean() > 0.2) == (shared > 0)


@pytest.mark.parametrize(("shift", "level"), [(0.5, 0.95), (1.0, 0.99), (3.0, 0.9)])
def test_required_searches_are_the_fewest_with_that_power(shift, level):
    gains = shift + np.array([-1.0, 0.0, 1.0, -1.0, 1.0])
    shown = difference_over_searches(gains[:, None], np.zeros((5, 1)), confidence_level=level)
    needed = required_searches(shown, beta=0.1)

    def power(n):
        effect = gains.mean() / gains.std(ddof=1)
        return nct.sf(t.ppf((1 + level) / 2, n - 1), n - 1, effect * math.sqrt(n))

    assert power(needed) >= 0.9
    assert needed == 2 or power(needed - 1) < 0.9
    assert required_searches(shown, beta=0.01) > needed


def test_no_number_of_searches_shows_what_does_not_differ_or_vary():
    none = difference_over_searches([[1.0], [-1.0]], [[0.0], [0.0]])
    assert required_searches(none) is None
    constant = difference_over_searches([[1.0], [1.0]], [[0.0], [0.0]])
    assert required_searches(constant) is None


def test_equivalence_by_hand():
    # Differences of means -1, 0, 1, as above: mean 0, error 1/√3. Within ±3: t = 3√3 with 2 degrees
    # of freedom, whose upper tail is (1 - t/√(2 + t²))/2.
    difference = difference_over_searches([[1.0], [2.0], [3.0]], [[2.0], [2.0], [2.0]])
    test = equivalence_over_searches(difference, margin=3)
    assert test.pvalue == pytest.approx((1 - math.sqrt(27 / 29)) / 2, rel=1e-12)
    assert test.equivalent
    assert test.name == "equivalence over searches"
    assert not equivalence_over_searches(difference, margin=1).equivalent


def test_equivalence_is_the_larger_of_two_one_sided_t_tests_of_means():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 6, 4))
    test = equivalence_over_searches(difference_over_searches(a, b), margin=0.8)
    gains = a.mean(axis=1) - b.mean(axis=1)
    below = ttest_1samp(gains, 0.8, alternative="less").pvalue
    above = ttest_1samp(gains, -0.8, alternative="greater").pvalue
    assert test.pvalue == pytest.approx(max(below, above), rel=1e-10)
    of_means = equivalence_test(a.mean(axis=1), b.mean(axis=1), margin=0.8)
    assert test.interval.low == pytest.approx(of_means.interval.low, rel=1e-10)


@given(rows=searches, level=st.floats(0.51, 0.99), margin=st.floats(0.01, 100))
def test_equivalence_agrees_with_its_interval_whichever_side_is_first(rows, level, margin):
    a, b = split_pairs(rows)
    tests = [
        equivalence_over_searches(
            difference_over_searches(*sides, confidence_level=level), margin=margin
        )
        for sides in ((a, b), (b, a))
    ]
    assert tests[1].pvalue == pytest.approx(tests[0].pvalue, rel=1e-6, abs=1e-12, nan_ok=True)
    if abs(tests[0].pvalue - (1 - level)) > 1e-6:
        interval = tests[0].interval
        assert tests[0].equivalent == (-margin < interval.low and interval.high < margin)


def test_searches_that_tell_nothing_rule_out_nothing():
    constant = difference_over_searches([[0.3], [0.9]], [[0.2], [0.8]])
    missing = difference_over_searches([[1.0], [1.1]], [[1.1], [1.0]], n_incomplete=1)
    for difference in (constant, missing):
        test = equivalence_over_searches(difference, margin=50)
        assert not test.equivalent
        assert str(test) == "a difference of ±50 or more is not ruled out"
        assert test.to_dict()["pvalue"] is None


@pytest.mark.slow
@pytest.mark.parametrize("n_searches", [2, 3, 5, 20])
@pytest.mark.parametrize("shared", [0.0, 0.3])
def test_means_at_the_margin_are_called_equivalent_as_often_as_it_says(n_searches, shared):
    """The margin is so large that the other of the two tests always rejects."""
    rng, n_studies, k, margin = np.random.default_rng(12), 3000, 8, 1000.0
    luck = math.sqrt(shared) * rng.normal(size=(2, n_studies, n_searches, 1))
    rest = math.sqrt(1 - shared) * rng.normal(size=(2, n_studies, n_searches, k))
    a, b = luck + rest
    differences = (difference_over_searches(x + margin, y) for x, y in zip(a, b, strict=True))
    called = sum(equivalence_over_searches(each, margin=margin).equivalent for each in differences)
    assert binomtest(called, n_studies, 0.05).pvalue > 0.001
    # Negative control: all pairs as independent ones call far too many equivalent.
    pairs = ttest_1samp((a - b).reshape(n_studies, -1), 0, axis=1, alternative="less").pvalue < 0.05
    assert (pairs.mean() > 0.1) == (shared > 0)
