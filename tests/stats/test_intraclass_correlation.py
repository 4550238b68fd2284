"""Means of repetitions whose scores share something: how much they vary."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from outperform.errors import InvalidInput
from outperform.stats import repeated_means

tables = st.integers(2, 6).flatmap(
    lambda k: st.lists(st.lists(st.integers(-50, 50), min_size=k, max_size=k), min_size=2)
)
varying = tables.filter(lambda rows: any(len(set(row)) > 1 for row in rows))


def draw(rng, *, shared, n_repetitions, k):
    """Scores of variance 1 within a repetition."""
    return rng.normal(0, shared, (n_repetitions, 1)) + rng.normal(size=(n_repetitions, k))


def test_by_hand():
    # Means 2, 4, 3: variance 1. Within: (1 + 1 + 4) / 3 = 2. Shared: 1 - 2/3, of V = 7/3.
    found = repeated_means([[1, 2, 3], [3, 4, 5], [1, 3, 5]])
    assert (found.n_repetitions, found.n_scores, found.mean) == (3, 3, 3)
    assert (found.mean_variance, found.within_variance) == (1, 2)
    assert found.shared_variance == pytest.approx(1 / 3)
    assert found.correlation.value == pytest.approx(1 / 7)
    assert found.mean_error == pytest.approx(np.sqrt(1 / 3))


def test_matches_r(reference):
    for case in reference("repetitions")["cases"]:
        found = repeated_means(case["scores"], confidence_level=case["confidence_level"])
        interval = found.correlation.interval
        assert found.within_variance == pytest.approx(case["within"])
        assert found.shared_variance == pytest.approx(max(0, case["shared"]), abs=1e-12)
        assert found.correlation.value == pytest.approx(case["correlation"])
        assert (interval.low, interval.high) == pytest.approx(tuple(case["interval"]))


@given(varying)
def test_equation_7_holds(rows):
    found = repeated_means(rows)
    k, rho = found.n_scores, found.correlation.value
    # The variance of a score, without bias: within a repetition and between them.
    variance = found.within_variance * (k - 1) / k + found.mean_variance
    expected = variance / k + (k - 1) / k * rho * variance
    assert found.mean_variance == pytest.approx(expected, abs=1e-9 * variance)


@given(varying, st.integers(-100, 100), st.sampled_from([-2.0, 0.5, 8.0]))
def test_correlation_has_no_unit(rows, shift, factor):
    first, second = repeated_means(rows), repeated_means(np.array(rows) * factor + shift)
    assert second.correlation.value == pytest.approx(first.correlation.value, abs=1e-9)
    assert second.shared_variance == pytest.approx(first.shared_variance * factor**2, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("shared", [0.3, 1.0])
def test_interval_covers_the_correlation_as_often_as_it_claims(shared):
    rng = np.random.default_rng(42)
    truth, n_studies = shared**2 / (1 + shared**2), 1000
    intervals = [
        repeated_means(
            draw(rng, shared=shared, n_repetitions=6, k=5), confidence_level=0.9
        ).correlation.interval
        for _ in range(n_studies)
    ]
    hits = sum(each.low <= truth <= each.high for each in intervals)
    assert binomtest(hits, n_studies, 0.9).pvalue > 0.001


def test_what_is_not_shared_is_not_found():
    rng = np.random.default_rng(3)
    alone = repeated_means(draw(rng, shared=0, n_repetitions=200, k=20)).correlation
    shared = repeated_means(draw(rng, shared=1, n_repetitions=200, k=20)).correlation
    assert alone.interval.low < 0 < alone.interval.high < 0.05
    assert shared.interval.low > 0.4


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[1, 2]], "scores have the shape (1, 2). Pass two or more repetitions, a row each."),
        ([1, 2], "scores have the shape (2,). Pass two or more repetitions, a row each."),
        ([[1], [2]], "scores has 1 score(s). At least 2 are needed."),
        (
            [[1, 1], [2, 2]],
            "scores of one repetition are all the same. Redraw what they depend on.",
        ),
    ],
)
def test_refusals(scores, message):
    with pytest.raises(InvalidInput) as caught:
        repeated_means(scores)
    assert str(caught.value) == message


def test_expected_correlation_is_the_mean_of_its_confidence_distribution():
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(6, 1)) / 2 + rng.normal(size=(6, 4))
    means = repeated_means(scores)
    # A mean square is σ²·χ²/df, so that ratio/F is what the true ratio may be.
    ratio = 4 * means.mean_variance / means.within_variance
    true = ratio / rng.f(5, 18, size=200_000)
    expected = np.clip((true - 1) / (true + 3), 0, 1).mean()
    assert means.expected_correlation == pytest.approx(expected, abs=0.003)


def test_two_repetitions_that_agree_do_not_promise_that_all_do():
    # Means 2 and 2.5, each with a standard error of 0.58: nothing shared is seen, nor ruled out.
    means = repeated_means([[1.0, 2.0, 3.0], [1.5, 2.5, 3.5]])
    assert means.correlation.value < 0 < 0.9 < means.correlation.interval.high
    assert 0.1 < means.expected_correlation < 0.5
