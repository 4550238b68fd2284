"""What means of repetitions are worth against means of independent scores."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2, f_oneway, ttest_ind, ttest_rel

from outperform.errors import InvalidInput
from outperform.stats import assess_design, repeated_means

TABLE = [[1.0, 2.0, 3.0], [3.0, 4.0, 5.0], [1.0, 3.0, 5.0]]
IDEAL = [1.0, 2.0, 3.0, 4.0, 5.0]


def assess(scores=TABLE, ideal=IDEAL, partners=None, *, seed=0, **options):
    return assess_design(scores, ideal, partners, rng=np.random.default_rng(seed), **options)


def draw(rng, *, shared=0.3, bias=0.0, n_repetitions=20, k=20, n=50):
    """Scores of variance 1: repetition r has the search of independent score r, and its score."""
    effects = rng.normal(0, math.sqrt(shared), max(n_repetitions, n))
    noise = rng.normal(0, math.sqrt(1 - shared), (max(n_repetitions, n), k))
    whole = effects[:, None] + noise
    table, ideal = bias + whole[:n_repetitions], whole[:n, 0]
    return table, ideal, [r if r < n else -1 for r in range(n_repetitions)]


# By hand


def test_by_hand():
    # Means 2, 4, 3: variance 1. Within (1 + 1 + 4) / 3 = 2. Shared 1 - 2/3, V = 7/3, ρ = 1/7.
    found = assess()
    assert (found.n_repetitions, found.n_scores, found.mean) == (3, 3, 3)
    assert (found.mean_variance.value, found.within_variance.value) == (1, 2)
    assert found.shared_variance == pytest.approx(1 / 3)
    assert found.variance.value == pytest.approx(7 / 3)
    assert found.correlation.value == pytest.approx(1 / 7)
    # Means of k scores: 1/3 + 2/k.
    assert found.standard_error.values == pytest.approx([(1 / 3 + 2 / k) ** 0.5 for k in (1, 2, 3)])
    # No bias; ideal scores have the variance 2.5.
    assert found.bias.value == found.squared_bias == 0
    assert found.mse.values == pytest.approx([1 / 3 + 2 / k for k in (1, 2, 3)])
    assert found.equivalent.values == pytest.approx([2.5 / (1 / 3 + 2 / k) for k in (1, 2, 3)])


def test_bias_counts_without_what_chance_adds_to_its_square():
    found = assess(np.array(TABLE) + 10)
    # Means of variance 1 of three, and scores of variance 2.5 of five: 1/3 + 1/2.
    assert found.bias.value == 10
    assert found.bias.error == pytest.approx(math.sqrt(1 / 3 + 1 / 2))
    assert found.squared_bias == pytest.approx(100 - 5 / 6)
    assert found.mse.values[2] == pytest.approx(1 + 100 - 5 / 6)


def test_where_no_bias_is_seen_none_is_drawn():
    # The p-value of no bias is 1, so its square is 0 in every draw.
    found = assess()
    assert found.mse.low == pytest.approx(found.standard_error.low**2)
    assert found.mse.high == pytest.approx(found.standard_error.high**2)


def test_what_reaches_the_precision_of_ideal_scores():
    # 2.5 / 2 is allowed: 1/3 + 2/k is below that from k = 3 on, at 10 + 3 for 2 · 11.
    reach = assess(overhead=10, n_ideal=2).reach
    assert (reach.cost_ideal, reach.n_scores_alone, reach.cost_alone) == (22, 3, 13)
    assert (reach.n_repetitions, reach.n_scores, reach.cost) == (1, 3, 13)
    assert reach.ratio.value == 13 / 22
    # 2.5 / 10 is less than the 1/3 that a repetition shares: two are needed, 1/6 + 2/(2·12);
    # three would cost 45.
    reach = assess(overhead=10, n_ideal=10).reach
    assert (reach.n_scores_alone, reach.cost_alone) == (math.inf, math.inf)
    assert (reach.n_repetitions, reach.n_scores, reach.cost) == (2, 12, 44)
    assert reach.ratio.interval.low < reach.ratio.value < reach.ratio.interval.high


def test_a_bias_that_is_too_large_is_never_made_up_for():
    reach = assess(np.array(TABLE) + 10, overhead=10).reach
    assert (reach.n_repetitions, reach.cost, reach.ratio.value) == (math.inf,) * 3


# Reference


def test_linked_bias_is_the_paired_t_test_where_all_are_linked():
    rng = np.random.default_rng(1)
    table, ideal, partners = draw(rng, n_repetitions=12, n=12)
    bias = assess(table, ideal, partners).bias
    expected = ttest_rel(table.mean(axis=1), ideal)
    assert bias.value / bias.error == pytest.approx(expected.statistic)
    assert bias.df == pytest.approx(11)
    low, high = expected.confidence_interval(0.95)
    assert (bias.interval.low, bias.interval.high) == pytest.approx((low, high))


def test_unlinked_bias_is_welchs():
    rng = np.random.default_rng(1)
    table, ideal, _ = draw(rng, n_repetitions=12)
    bias = assess(table, ideal).bias
    expected = ttest_ind(table.mean(axis=1), ideal, equal_var=False)
    assert bias.value / bias.error == pytest.approx(expected.statistic)
    assert bias.df == pytest.approx(expected.df)


def test_correlation_is_that_of_one_way_anova():
    table, ideal, _ = draw(np.random.default_rng(2), k=7)
    ratio = f_oneway(*table).statistic
    assert assess(table, ideal).correlation.value == pytest.approx((ratio - 1) / (ratio + 6))


def test_variances_have_chi_square_intervals():
    table, ideal, _ = draw(np.random.default_rng(2), n_repetitions=9, k=7)
    found = assess(table, ideal)
    for estimate, df in ((found.mean_variance, 8), (found.within_variance, 54)):
        ends = estimate.value * df / chi2.ppf([0.975, 0.025], df)
        assert (estimate.interval.low, estimate.interval.high) == pytest.approx(tuple(ends))
    # What is drawn of the last standard error is the same, but for the draws.
    drawn = found.standard_error.at(7, 0.95).interval
    exact = found.mean_variance.interval
    assert (drawn.low**2, drawn.high**2) == pytest.approx((exact.low, exact.high), rel=0.1)


# Properties

tables = st.integers(2, 5).flatmap(
    lambda k: st.lists(
        st.lists(st.integers(-50, 50), min_size=k, max_size=k), min_size=2, max_size=6
    )
)


@settings(max_examples=40)
@given(tables.filter(lambda rows: np.ptp(rows) > 0))
def test_equation_7_holds_for_every_number_of_scores(rows):
    found = assess(rows)
    k, rho, variance = found.n_scores, found.correlation.value, found.variance.value
    sizes = np.arange(1, k + 1)
    expected = variance / sizes + (sizes - 1) / sizes * rho * variance
    assert found.standard_error.values**2 == pytest.approx(expected, abs=1e-9 * variance)
    assert (np.diff(found.mse.values) <= 1e-9).all()
    for curve in (found.standard_error, found.mse, found.equivalent):
        assert (curve.low <= curve.high).all()


@pytest.mark.parametrize(("factor", "shift"), [(-1.0, 0.0), (100.0, -7.0)])
def test_worth_has_no_unit(factor, shift):
    table, ideal, partners = draw(np.random.default_rng(4), bias=0.2)
    first = assess(table, ideal, partners, overhead=30)
    second = assess(table * factor + shift, ideal * factor + shift, partners, overhead=30)
    assert second.equivalent.values == pytest.approx(first.equivalent.values)
    assert second.equivalent.high == pytest.approx(first.equivalent.high)
    assert second.bias.value == pytest.approx(first.bias.value * factor)
    assert second.reach.cost == first.reach.cost


def test_the_same_seed_gives_the_same_intervals_and_another_nearly():
    table, ideal, partners = draw(np.random.default_rng(5))
    first, again, other = (
        assess(table, ideal, partners, seed=seed).mse.at(20, 0.95).interval for seed in (0, 0, 1)
    )
    assert first == again != other
    assert other.high == pytest.approx(first.high, rel=0.1)


def test_scores_that_are_copies_are_worth_one():
    # The mean of copies is the copy: no number of them is better than one.
    rng = np.random.default_rng(6)
    ideal = rng.normal(size=40)
    found = assess(np.repeat(ideal[:20, None], 10, axis=1), ideal, range(20))
    assert found.correlation.value == 1
    assert found.correlation.interval.low == 1
    assert found.within_variance.value == 0
    assert found.equivalent.values == pytest.approx([found.equivalent.values[0]] * 10)
    assert 1 in found.equivalent.at(10, 0.95).interval


def test_a_link_makes_the_bias_surer():
    table, ideal, partners = draw(np.random.default_rng(7), shared=0.8, n=20)
    assert assess(table, ideal, partners).bias.error < 0.7 * assess(table, ideal).bias.error


def test_a_single_link_is_no_link():
    table, ideal, _ = draw(np.random.default_rng(7))
    assert assess(table, ideal, [0] + [-1] * 19).bias == assess(table, ideal).bias


# Calibration


@pytest.mark.slow
@pytest.mark.parametrize(("shared", "bias"), [(0.3, 0.0), (0.5, 0.4)])
def test_intervals_hold_the_truth_as_often_as_they_say(shared, bias):
    rng, k, n_studies = np.random.default_rng(496), 10, 200
    mse = shared + (1 - shared) / k + bias**2
    truths = {
        "bias": bias,
        "variance": 1.0,
        "correlation": shared,
        "mean_variance": shared + (1 - shared) / k,
        "mse": mse,
        "equivalent": 1 / mse,
    }
    hits = dict.fromkeys(truths, 0)
    for _ in range(n_studies):
        found = assess(*draw(rng, shared=shared, bias=bias, k=k))
        for name, truth in truths.items():
            part = getattr(found, name)
            estimate = part.at(k, 0.95) if name in ("mse", "equivalent") else part
            hits[name] += truth in estimate.interval
    exact = ("bias", "variance", "correlation", "mean_variance")
    assert all(binomtest(hits[name], n_studies, 0.95).pvalue > 0.001 for name in exact), hits
    # The others may hold it more often, since shared searches make ratios surer than they say.
    assert min(hits.values()) > 0.9 * n_studies, hits


@pytest.mark.slow
def test_intervals_of_the_fits_needed_hold_the_truth():
    # Allowed is 0.1: two repetitions of 3 scores or so; (0.1 + 0.9/k)/m.
    rng, n_studies = np.random.default_rng(28), 150
    truth = assess_truth(shared=0.1, overhead=50)
    intervals = [
        assess(*draw(rng, shared=0.1, k=10), overhead=50).reach.ratio.interval
        for _ in range(n_studies)
    ]
    hits = sum(each.low <= truth <= each.high for each in intervals)
    assert hits > 0.9 * n_studies


def assess_truth(*, shared, overhead):
    """Enumerate: share of the cost of ten independent scores that reaches their precision."""
    costs = [
        m * (overhead + k)
        for m in range(1, 20)
        for k in range(1, 2000)
        if (shared + (1 - shared) / k) / m <= 0.1
    ]
    return min(costs) / (10 * (overhead + 1))


# Negative control


def test_independent_scores_are_worth_their_number():
    table, ideal, _ = draw(np.random.default_rng(8), shared=0.0, n_repetitions=300, n=3000, k=10)
    found = assess(table, ideal, overhead=100)
    assert abs(found.correlation.value) < 0.03
    assert found.equivalent.values == pytest.approx(np.arange(1, 11), rel=0.15)
    # One repetition of about ten scores does what ten with a search each do.
    assert found.reach.ratio.value == pytest.approx(110 / 1010, rel=0.1)
    shared = assess(*draw(np.random.default_rng(8), shared=0.5, n_repetitions=300, n=3000))
    assert shared.equivalent.values[-1] < 2.2


# Refusals


@pytest.mark.parametrize(
    ("scores", "ideal", "message"),
    [
        (
            [[1, 2]],
            IDEAL,
            "scores have the shape (1, 2). Pass two or more repetitions, a row each.",
        ),
        ([[1], [2]], IDEAL, "scores has 1 score. At least 2 are needed."),
        (
            [[2, 2], [2, 2]],
            IDEAL,
            "all scores of all repetitions are 2. Pass repetitions that vary, or scores that do.",
        ),
        (TABLE, [1], "ideal has 1 score. At least 2 are needed."),
        (TABLE, [3, 3, 3], "all 3 independent scores are 3. Compare with scores that vary."),
    ],
)
def test_refusals(scores, ideal, message):
    with pytest.raises(InvalidInput) as caught:
        assess(scores, ideal)
    assert str(caught.value) == message


def test_agrees_with_repeated_means():
    table, ideal, _ = draw(np.random.default_rng(9))
    found, means = assess(table, ideal), repeated_means(table)
    assert found.correlation == means.correlation
    assert found.mean_variance.value == pytest.approx(means.mean_variance)
    assert found.shared_variance == pytest.approx(means.shared_variance)
