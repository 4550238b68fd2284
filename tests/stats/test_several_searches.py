"""The difference of two sides tuned anew, by the means of several searches of each."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, nct, t, ttest_1samp, ttest_rel

from outperform.errors import InvalidScores, OutperformError, TooFewRuns, UnpairedScores
from outperform.stats import difference_over_searches, required_searches

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
    assert mirrored.pvalue == pytest.approx(result.pvalue, rel=1e-6, abs=1e-12)
    if abs(result.pvalue - (1 - level)) > 1e-6:
        assert result.shown == (0 not in result.interval)


def test_means_that_always_differ_by_the_same_tell_nothing_of_other_searches():
    result = difference_over_searches([[0.3, 0.1], [0.9]], [[0.2, 0.0], [0.8]])
    assert result.value == pytest.approx(0.1)
    assert (result.pvalue, result.shown) == (1.0, False)
    assert (result.interval.low, result.interval.high) == (-math.inf, math.inf)


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
