"""Variance of crossed designs, and of repetitions whose scores share something, with intervals."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binomtest, chi2, f

from outperform.errors import InvalidInput, InvalidScores, TooFewRuns
from outperform.stats import repeated_means
from outperform.stats.variance_sources import variance_components
from outperform.stats.variances import deviation

# A grid keeps rounding errors of sums out of the way.
tables = st.lists(st.integers(2, 4), min_size=1, max_size=3).flatmap(
    lambda shape: arrays(np.float64, tuple(shape), elements=st.integers(-20, 20).map(float))
)
factors = st.floats(1e-3, 1e3)


def components(table, **options):
    names = [str(axis) for axis in range(np.ndim(table))]
    found = variance_components(table, names, **options)
    return {"×".join(c.names): c.variance for c in found.components} | {"all": found.total}


def variances(table):
    return {name: found.value for name, found in components(table).items() if name != "all"}


def bounds(estimate):
    return estimate.interval.low, estimate.interval.high


def draw_table(shape, truth, draw):
    """Scores with effects of these variances; `draw` gives values of variance 1."""
    table = np.zeros(shape)
    for names, variance in truth.items():
        size = [n if str(axis) in names else 1 for axis, n in enumerate(shape)]
        table = table + math.sqrt(variance) * draw(size)
    return table


# By hand


def test_components_by_hand():
    # Rows differ by 4, columns by 1, the last cell by 2 more: effects ±5/2, ±1, ±1/2, so that the
    # mean squares are 25, 4 and 1, and σ² = (25 - 1)/2, (4 - 1)/2 and 1.
    found = variance_components([[1, 2], [5, 8]], ["split", "init"])
    assert [component.names for component in found.components] == [
        ("split",),
        ("init",),
        ("split", "init"),
    ]
    assert [component.mean_square for component in found.components] == [25, 4, 1]
    assert [component.variance.value for component in found.components] == [12, 1.5, 1]
    assert [component.share for component in found.components] == [12 / 14.5, 1.5 / 14.5, 1 / 14.5]
    assert found.total.value == 14.5
    assert [component.df for component in found.components] == [1, 1, 1]
    assert found.to_dict()["components"][2] == {
        "names": ["split", "init"],
        "df": 1,
        "mean_square": 1,
        "variance": found.components[2].variance.to_dict(),
        "share": 1 / 14.5,
    }
    assert found.to_dict()["levels"] == [2, 2]


def test_negative_components_are_reported_and_have_no_share():
    # No main effects at all: mean squares 0, 0 and 4.
    found = variance_components([[1, -1], [-1, 1]], ["split", "init"])
    assert [component.variance.value for component in found.components] == [-2, -2, 4]
    assert [component.share for component in found.components] == [0, 0, 1]
    assert found.total.value == 0


def test_one_factor_is_the_plain_variance():
    (only,) = variance_components([1, 2, 3, 6], ["split"]).components
    assert (only.variance.value, only.share, only.df) == (pytest.approx(14 / 3), 1, 3)


def test_equal_scores_have_no_components():
    found = variance_components(np.full((3, 4, 2), 0.1), ["a", "b", "c"])
    assert {component.variance.value for component in found.components} == {0}
    assert {component.share for component in found.components} == {0}


def test_the_interval_of_one_factor_is_the_exact_one_of_a_variance():
    # Σ(x - 3)² = 14 with 3 degrees of freedom.
    found = components([1, 2, 3, 6], confidence_level=0.9)
    expected = (14 / chi2.ppf(0.95, 3), 14 / chi2.ppf(0.05, 3))
    assert bounds(found["0"]) == pytest.approx(expected)
    assert bounds(found["all"]) == pytest.approx(expected)


def test_a_main_effect_is_above_nothing_where_the_f_test_finds_it():
    # Rows ±r, columns none, an interaction of mean square 1: MS_rows / MS_interaction = 4·r².
    interaction = np.array([[1, -1, 0], [-1, 1, 0]]) * math.sqrt(0.5)
    quantile = f.ppf(0.975, 1, 2)
    for factor, found in [(0.999, False), (1.001, True)]:
        rows = math.sqrt(factor * quantile / 6) * np.array([[1.0], [-1.0]])
        split = components(rows + interaction)["0"]
        assert (split.interval.low > 0) == found


# Reference


def test_mean_squares_match_r_aov(reference):
    for case in reference("variances")["tables"]:
        names = ["x", "y", "z"][: len(case["levels"])]
        found = variance_components(np.reshape(case["scores"], case["levels"]), names).components
        assert [":".join(component.names) for component in found] == case["names"]
        assert [component.df for component in found] == case["df"]
        squares = [component.mean_square for component in found]
        assert squares == pytest.approx(case["mean_squares"], rel=1e-9)


def test_intervals_match_those_of_ting_written_in_r(reference):
    for case in reference("variances")["tables"]:
        found = components(np.reshape(case["scores"], case["levels"]))
        expected = [*case["intervals"], case["total"]]
        for estimate, interval in zip(found.values(), expected, strict=True):
            assert bounds(estimate) == pytest.approx(tuple(interval), rel=1e-8, abs=1e-12)


# Properties


@given(tables)
def test_sums_of_squares_and_shares_add_up(table):
    names = [str(axis) for axis in range(table.ndim)]
    found = variance_components(table, names)
    squares = math.fsum(c.mean_square * c.df for c in found.components)
    assert squares == pytest.approx(np.square(table - table.mean()).sum(), abs=1e-9)
    assert len(found.components) == 2**table.ndim - 1
    shares = math.fsum(component.share for component in found.components)
    assert shares == pytest.approx(1 if np.ptp(table) else 0)
    assert all(component.share >= 0 for component in found.components)


@given(tables, st.randoms())
def test_components_follow_the_axes_and_ignore_the_order_of_levels(table, random):
    for axis, n_levels in enumerate(table.shape):
        table = table.take(random.sample(range(n_levels), n_levels), axis=axis)
    order = random.sample(range(table.ndim), table.ndim)
    moved = variance_components(table.transpose(order), [str(axis) for axis in order]).components
    expected = {frozenset(names.split("×")): value for names, value in variances(table).items()}
    assert {frozenset(c.names): c.variance.value for c in moved} == pytest.approx(
        expected, abs=1e-9
    )


@given(tables, factors)
def test_components_follow_the_square_of_the_unit(table, factor):
    expected = {names: factor**2 * value for names, value in variances(table).items()}
    assert variances(factor * table + 3) == pytest.approx(expected, abs=1e-9 * factor**2 + 1e-12)


@given(tables)
def test_components_add_up_to_the_total(table):
    found = components(table)
    total = found.pop("all")
    added = math.fsum(each.value for each in found.values())
    assert total.value == pytest.approx(added, abs=1e-9)


# By Ting's formula alone, the lower bound of a component of this table rises with the level.
@example(table=np.array([[[16.0, 0], [0, 12]], [[-6, 4], [8, -10]]]), level=0.5)
@given(tables, st.floats(0.5, 0.99))
def test_intervals_hold_the_estimate_and_grow_with_the_level(table, level):
    narrow, wide = (components(table, confidence_level=c) for c in (level, (1 + level) / 2))
    for name, estimate in narrow.items():
        slack = 1e-9 * (1 + abs(estimate.value))
        low, high = bounds(estimate)
        assert low - slack <= max(0, estimate.value) <= high + slack
        assert wide[name].interval.low <= low + slack
        assert wide[name].interval.high >= high - slack


# A mean square of this table is 0, and by rounding not quite 0 in the other unit.
@example(
    table=np.array(
        [
            [[0.0, 0, 0, 0], [0, 0, 0, -9]],
            [[0, 0, 2, 0], [0, 0, -15, -3]],
            [[0, -2, 0, 18], [0, 20, 0, 0]],
            [[0, -20, 0, -1], [6, 19, -10, -11]],
        ]
    ),
    factor=7.778404246168577,
)
@given(tables, factors)
def test_intervals_follow_the_square_of_the_unit(table, factor):
    plain, scaled = components(table), components(factor * table)
    for name, estimate in plain.items():
        expected = tuple(factor**2 * bound for bound in bounds(estimate))
        assert bounds(scaled[name]) == pytest.approx(expected, rel=1e-6, abs=1e-9 * factor**2)


# Calibration


@pytest.mark.slow
def test_components_are_estimated_without_bias():
    rng = np.random.default_rng(2)
    shape, truth = (4, 3, 5), {"0": 4.0, "1": 1.0, "2": 0.0, "0×1": 0.5, "0×1×2": 0.25}
    found = {name: [] for name in variances(np.zeros(shape))}
    for _ in range(4000):
        table = np.zeros(shape)
        for names, variance in truth.items():
            size = [n if str(axis) in names else 1 for axis, n in enumerate(shape)]
            table = table + rng.normal(0, math.sqrt(variance), size)
        for names, variance in variances(table).items():
            found[names].append(variance)
    for names, estimates in found.items():
        error = np.std(estimates) / math.sqrt(len(estimates))
        assert abs(np.mean(estimates) - truth.get(names, 0)) < 4 * error, names


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "truth"),
    [
        ((5, 8), {"0": 4.0, "1": 1.0, "0×1": 0.5}),
        ((10, 10), {"0": 1.0, "1": 0.01, "0×1": 1.0}),
        ((4, 4, 4), {"0": 0.1, "1": 0.1, "2": 0.1, "0×1": 1.0, "0×2": 0.1, "0×1×2": 0.25}),
        ((4, 4, 4), {"0×1×2": 1.0}),
    ],
)
def test_intervals_cover_the_truth_as_often_as_they_claim(shape, truth):
    rng = np.random.default_rng(len(truth))
    everything = truth | {"all": sum(truth.values())}
    hits: dict[str, int] = {}
    n_studies = 2000
    for _ in range(n_studies):
        for name, found in components(draw_table(shape, truth, rng.standard_normal)).items():
            hits[name] = hits.get(name, 0) + (everything.get(name, 0.0) in found.interval)
    for name, n_hits in hits.items():
        assert binomtest(n_hits, n_studies, 0.95, alternative="less").pvalue > 0.001, name
        assert n_hits < n_studies  # nor is everything covered
    # One mean square alone is exact.
    highest = "×".join(map(str, range(len(shape))))
    assert binomtest(hits[highest], n_studies, 0.95).pvalue > 0.001


# Negative control


@pytest.mark.slow
def test_intervals_for_normal_effects_fail_with_heavy_tails():
    rng = np.random.default_rng(11)
    truth = {"0": 1.0, "1": 1.0, "0×1": 1.0}
    hits = [
        1.0 in components(draw_table((10, 10), truth, heavy))["0"].interval
        for heavy in [lambda size: rng.laplace(size=size) / math.sqrt(2)]
        for _ in range(1000)
    ]
    assert np.mean(hits) < 0.92


def test_one_source_at_a_time_misses_what_the_crossed_design_finds():
    # A pure interaction: each factor alone, the other at its first level, seems to do all of it.
    table = np.array([[1.0, -1.0], [-1.0, 1.0]])
    alone = [deviation(table[:, 0]).value ** 2, deviation(table[0]).value ** 2]
    assert alone == pytest.approx([2, 2])
    assert max(variances(table), key=variances(table).__getitem__) == "0×1"


# What is refused


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"], ["a", "a"]])
def test_every_axis_has_a_name_of_its_own(names):
    with pytest.raises(InvalidScores) as caught:
        variance_components(np.zeros((2, 3)), names)
    assert str(caught.value) == (
        f"scores has 2 axes of lengths (2, 3), and the names are {str(names)[1:-1]}. Pass one axis "
        "per factor and a name of its own for each."
    )


def test_every_factor_has_two_levels_and_every_cell_a_score():
    with pytest.raises(TooFewRuns, match=r"^'b' has 1 level\. At least 2 are needed\.$"):
        variance_components(np.zeros((2, 1)), ["a", "b"])
    with pytest.raises(InvalidScores, match=r"\(0, 1\)"):
        variance_components([[1, math.nan], [2, 3]], ["a", "b"])


def test_components_of_many_factors():
    table = np.random.default_rng(3).normal(size=(2,) * 6)
    found = variances(table)
    names = ["×".join(set_) for size in range(1, 7) for set_ in combinations("012345", size)]
    assert list(found) == names


@pytest.mark.parametrize("level", [0, 1, 95])
def test_impossible_levels_are_refused(level):
    with pytest.raises(InvalidInput, match="confidence_level"):
        variance_components([[1, 2], [5, 6]], ["a", "b"], confidence_level=level)


repeated = st.integers(2, 6).flatmap(
    lambda k: st.lists(st.lists(st.integers(-50, 50), min_size=k, max_size=k), min_size=2)
)
varying = repeated.filter(lambda rows: any(len(set(row)) > 1 for row in rows))


def draw(rng, *, shared, n_repetitions, k):
    """Scores of variance 1 within a repetition."""
    return rng.normal(0, shared, (n_repetitions, 1)) + rng.normal(size=(n_repetitions, k))


# Means of repetitions


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
        ([[1], [2]], "scores has 1 score. At least 2 are needed."),
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
