"""Aggregates and performance profiles, with intervals by the two-level bootstrap."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, norm
from scipy.stats import t as student

from outperform.errors import InvalidInput
from outperform.stats import (
    aggregate_scores,
    interquartile_mean,
    optimality_gap,
    performance_profiles,
)

SUMMARIES = ("mean", "median", "interquartile_mean", "optimality_gap")
# Scores of 4 tasks, 2 competitors and 6 runs.
SCORES = np.array(
    [
        [[0.31, 0.52, 0.44, 0.61, 0.29, 0.48], [0.55, 0.41, 0.66, 0.58, 0.47, 0.73]],
        [[0.92, 1.18, 0.85, 1.04, 1.31, 0.97], [0.88, 1.02, 1.25, 0.79, 1.11, 0.95]],
        [[0.12, 0.05, 0.21, 0.17, 0.02, 0.09], [0.35, 0.08, 0.27, 0.19, 0.41, 0.15]],
        [[0.71, 0.78, 0.66, 0.93, 0.83, 0.59], [0.64, 0.87, 0.75, 0.81, 0.69, 0.98]],
    ]
)
# rliable 1.2.0 (numpy 2.4.6, np.random.seed(0)): get_interval_estimates of aggregate_mean,
# aggregate_median, aggregate_iqm and aggregate_optimality_gap; fixed with 50,000 resamples,
# sampled (task_bootstrap=True) with 20,000.
RLIABLE_ESTIMATES = [
    [0.5866666666666667, 0.5958333333333333, 0.5891666666666666, 0.4354166666666667],
    [0.6495833333333334, 0.6783333333333333, 0.6625, 0.3662500000000001],
]
RLIABLE_ENDS = {
    "fixed": [
        [[0.5412, 0.5325, 0.5308, 0.3996], [0.6342, 0.6592, 0.6542, 0.4717]],
        [[0.6008, 0.6167, 0.6092, 0.3242], [0.6992, 0.7417, 0.725, 0.4079]],
    ],
    "sampled": [
        [[0.2567, 0.1192, 0.1417, 0.1317], [0.9271, 1.0233, 0.9592, 0.7433]],
        [[0.3708, 0.2592, 0.3, 0.1221], [0.9188, 0.975, 0.9308, 0.6292]],
    ],
}


def aggregate(scores, seed=0, n_resamples=200, **options):
    return aggregate_scores(
        scores, n_resamples=n_resamples, rng=np.random.default_rng(seed), **options
    )


def numbers(result):
    found = [getattr(result, summary) for summary in SUMMARIES]
    return np.array([[x.estimate, x.low, x.high] for x in found])


@st.composite
def tables(draw):
    """Scores of 2 to 5 tasks, 1 to 3 competitors, and 2 to 6 replicates, as many or not."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_tasks, k, n = draw(st.integers(2, 5)), draw(st.integers(1, 3)), draw(st.integers(2, 6))
    sizes = rng.integers(2, 7, size=n_tasks) if draw(st.booleans()) else [n] * n_tasks
    return [rng.normal(0.8, 0.4, size=(k, size)).round(1) for size in sizes]


# By hand


def test_estimates_by_hand():
    # Means of tasks 2, 5 and 20. Of 1 3 | 4 6 | 10 30, one run is left out at either end:
    # 3 4 6 10. Short of 5: 4, 2 and 1 of six runs.
    result = aggregate([[[1, 3]], [[4, 6]], [[10, 30]]], target=5)
    found = [getattr(result, s).estimate[0] for s in SUMMARIES]
    assert found == pytest.approx([9, 5, 23 / 4, 7 / 6], rel=1e-12)
    assert (result.n_tasks, result.n_families, result.n_resamples) == (3, 3, 200)


def test_tasks_weigh_the_same_however_many_replicates_they_have():
    # Runs of the first task weigh 1/2, of the second 1/4. A quarter of all weight is 1/2: the 0,
    # and 6 and 8. Left are 2 with 1/2, 4 and 5 with 1/4 each.
    result = aggregate([[[0, 2]], [[4, 5, 6, 8]]], target=4)
    found = [getattr(result, s).estimate[0] for s in SUMMARIES]
    assert found == pytest.approx([(1 + 5.75) / 2, 3.375, 2 / 2 + 4 / 4 + 5 / 4, 1.5])


def test_the_bootstrap_of_two_tasks_by_hand():
    # Two replicates, 0 and 1: a task's mean is 0, 1/2, 1/2 or 1, so that of two tasks is 0 with
    # chance 1/16, 1/4 with 4/16, 1/2 with 6/16.
    resampled = aggregate([[[0, 1]], [[1, 0]]], n_resamples=20_000).mean.resampled[:, 0]
    shares = [np.mean(resampled == value) for value in (0, 0.25, 0.5, 0.75, 1)]
    assert shares == pytest.approx(np.array([1, 4, 6, 4, 1]) / 16, abs=0.015)


def test_sampled_tasks_by_hand():
    # Replicates do not vary: of tasks 0, 1 and 2 a resample's mean is 0 with chance 1/27, and the
    # median 1 unless two or three are 0, or 2: 13/27.
    result = aggregate([[[x, x]] for x in (0, 1, 2)], tasks="sampled", n_resamples=20_000)
    assert np.mean(result.mean.resampled == 0) == pytest.approx(1 / 27, abs=0.006)
    assert np.mean(result.median.resampled == 1) == pytest.approx(13 / 27, abs=0.015)


def test_families_are_drawn_whole():
    # A family of two tasks with mean 0, another of one with 3: 0 0 0 0, 0 0 3 and 3 3.
    scores = [[[0, 0]], [[0, 0]], [[3, 3]]]
    result = aggregate(scores, tasks="sampled", families=["x", "x", "y"], n_resamples=4000)
    values, counts = np.unique(result.mean.resampled, return_counts=True)
    assert values.tolist() == [0, 1, 3]
    assert counts / 4000 == pytest.approx([0.25, 0.5, 0.25], abs=0.04)
    assert np.unique(result.median.resampled).tolist() == [0, 3]
    assert (result.n_tasks, result.n_families) == (3, 2)


def test_tails_are_those_of_expanded_percentiles():
    # 4 tasks of 6: sqrt(6/5) of Student's quantile with 20 degrees of freedom; 4 tasks: 3.
    for tasks, factor, df in (("fixed", 6 / 5, 20), ("sampled", 4 / 3, 3)):
        found = aggregate(SCORES, tasks=tasks).mean
        tail = norm.cdf(math.sqrt(factor) * student.ppf(0.025, df))
        assert found.tail == pytest.approx(tail, rel=1e-9)
        ends = np.quantile(found.resampled, [tail, 1 - tail], axis=0)
        assert np.array([found.low, found.high]) == pytest.approx(ends)


def test_profiles_by_hand():
    scores = [[[0.1 + 0.2, 0.5], [0.3, 0.3]], [[0.9, 0.9], [0.1, 0.4]]]
    found = performance_profiles(scores, [0, 0.3, 0.5, 1], rng=np.random.default_rng(0))
    # 0.1 + 0.2 is 0.3, and not above it.
    assert found.shares.estimate.tolist() == [[1, 0.75, 0.5, 0], [1, 0.25, 0, 0]]
    assert found.shares.low[:, [0, 3]].tolist() == [[1, 0], [1, 0]]
    # Tasks weigh the same: half of the first, a third of the second.
    uneven = performance_profiles([[[0, 1]], [[0, 0, 1]]], [0.5], rng=np.random.default_rng(0))
    assert uneven.shares.estimate[0, 0] == pytest.approx((1 / 2 + 1 / 3) / 2)


# References


@pytest.mark.parametrize("tasks", ["fixed", "sampled"])
@pytest.mark.parametrize("shared", [True, False])
def test_aggregates_match_rliable(tasks, shared):
    result = aggregate(SCORES, n_resamples=20_000, tasks=tasks, shared=shared)
    for i, summary in enumerate(SUMMARIES):
        found = getattr(result, summary)
        assert found.estimate == pytest.approx(np.array(RLIABLE_ESTIMATES)[:, i], rel=1e-12)
        # Plain percentiles, which it has; within Monte-Carlo errors of an end.
        ends = np.quantile(found.resampled, [0.025, 0.975], axis=0)
        slack = 0.05 * found.resampled.std()
        assert pytest.approx(np.array(RLIABLE_ENDS[tasks])[:, :, i], abs=slack) == ends.T


def test_profiles_match_rliable():
    # create_performance_profile of the same, 5,000 resamples.
    found = performance_profiles(SCORES, [0.1, 0.5, 0.9], rng=np.random.default_rng(0)).shares
    expected = [[0.875, 0.58333333, 0.25], [0.95833333, 0.66666667, 0.20833333]]
    assert found.estimate == pytest.approx(np.array(expected), abs=1e-8)
    low, high = np.quantile(found.resampled, [0.025, 0.975], axis=0)
    one_run = 1 / 24 + 1e-4
    assert low == pytest.approx(
        np.array([[0.7917, 0.5, 0.1667], [0.875, 0.5833, 0.0833]]), abs=one_run
    )
    assert high == pytest.approx(
        np.array([[0.9583, 0.6667, 0.3333], [1.0, 0.75, 0.3333]]), abs=one_run
    )


# Properties


@settings(max_examples=40)
@given(tables())
def test_estimates_are_those_of_the_functions_without_intervals(scores):
    result = aggregate(scores, n_resamples=100)
    means = np.array([table.mean(axis=1) for table in scores])
    assert result.mean.estimate == pytest.approx(means.mean(axis=0))
    assert result.median.estimate == pytest.approx(np.median(means, axis=0))
    gaps = np.mean([optimality_gap(table) for table in scores], axis=0)
    assert result.optimality_gap.estimate == pytest.approx(gaps, abs=1e-12)
    # Copies of runs until all tasks have as many, and quarters are whole.
    same = np.concatenate([np.repeat(t, 240 // t.shape[1], axis=1) for t in scores], axis=1)
    if len({table.shape[1] for table in scores}) > 1:
        expected = interquartile_mean(same)
    else:
        expected = interquartile_mean(np.concatenate(scores, axis=1))
    assert result.interquartile_mean.estimate == pytest.approx(expected)


@settings(max_examples=30)
@given(tables(), st.sampled_from(["fixed", "sampled"]), st.booleans())
def test_units_order_and_ends(scores, tasks, shared):
    options = {"tasks": tasks, "shared": shared, "n_resamples": 100}
    found = numbers(aggregate(scores, **options))
    estimate, low, high = np.moveaxis(found, 1, 0)
    assert (low <= high).all()
    moved = numbers(aggregate([2 * table - 1 for table in scores], **options, target=1))
    assert moved[:3] == pytest.approx(2 * found[:3] - 1)
    assert (moved[3] <= 2 * found[3] + 2).all()
    # Wider where more is asked for, around the same estimate.
    wide = numbers(aggregate(scores, **options, confidence_level=0.99))
    assert wide[:, 0] == pytest.approx(estimate)
    assert (wide[:, 1] <= low).all()
    assert (wide[:, 2] >= high).all()


@settings(max_examples=30)
@given(tables(), st.sampled_from(["fixed", "sampled"]))
def test_resampled_summaries_lie_within_the_scores(scores, tasks):
    result = aggregate(scores, tasks=tasks, n_resamples=100)
    pooled = np.concatenate(scores, axis=1)
    for resampled in (result.interquartile_mean.resampled, result.median.resampled):
        assert (resampled >= pooled.min(axis=1) - 1e-9).all()
        assert (resampled <= pooled.max(axis=1) + 1e-9).all()


def test_pairs_stay_pairs():
    # b is a and 0.1: their difference does not vary where replicates are drawn together.
    scores = SCORES.copy()
    scores[:, 1] = scores[:, 0] + 0.1
    for tasks in ("fixed", "sampled"):
        together = aggregate(scores, tasks=tasks).mean.minus(0)
        assert together.estimate == pytest.approx([0, 0.1])
        assert together.high - together.low == pytest.approx([0, 0], abs=1e-12)
        apart = aggregate(scores, tasks=tasks, shared=False).mean.minus(0)
        assert apart.low[1] < 0.09 < 0.11 < apart.high[1]
        assert (apart.low[0], apart.high[0]) == (0, 0)


def test_one_wild_run_does_not_move_the_interquartile_mean():
    scores = SCORES.copy()
    scores[1, 0, 4] = 1e15
    found, before = (aggregate(s).interquartile_mean for s in (scores, SCORES))
    assert found.estimate == pytest.approx(before.estimate, rel=1e-12)
    assert found.low == pytest.approx(before.low, rel=1e-12)
    assert found.high == pytest.approx(before.high, rel=1e-12)


def test_scores_that_do_not_vary_have_intervals_of_no_width():
    found = numbers(aggregate(np.full((3, 2, 5), 0.7)))
    assert found[:3] == pytest.approx(np.full((3, 3, 2), 0.7))
    assert found[3] == pytest.approx(np.full((3, 2), 0.3))


def test_the_same_seed_repeats_and_another_differs():
    found = [numbers(aggregate(SCORES, seed)) for seed in (1, 1, 2)]
    assert (found[0] == found[1]).all()
    assert (found[0] != found[2]).any()


def test_json():
    found = aggregate(SCORES).to_dict()
    assert list(found) == [
        *SUMMARIES,
        "tasks",
        "confidence_level",
        "n_tasks",
        "n_families",
        "n_resamples",
    ]
    assert list(found["mean"]) == ["estimate", "low", "high"]
    profiles = performance_profiles(SCORES, [0.5], rng=np.random.default_rng(0)).to_dict()
    assert list(profiles)[:2] == ["thresholds", "shares"]


# Calibration: 1,000 studies at once, each a column.


def count_covered(tasks, n_tasks, n, truth, *, as_if="sampled", n_studies=1000):
    rng = np.random.default_rng(n_tasks * n)
    means = rng.normal(0.6, 0.25, size=(n_tasks, n_studies, 1))
    if tasks == "fixed":
        means -= means.mean(axis=0) - 0.6
    scores = means + rng.normal(0, 0.15, size=(n_tasks, n_studies, n))
    found = aggregate(scores, tasks=as_if, n_resamples=500).mean
    return np.count_nonzero((found.low <= truth) & (truth <= found.high))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tasks", "n_tasks", "n"), [("fixed", 6, 5), ("fixed", 6, 10), ("sampled", 12, 5)]
)
def test_intervals_hold_the_mean_as_often_as_documented(tasks, n_tasks, n):
    hits = count_covered(tasks, n_tasks, n, 0.6, as_if=tasks, n_studies=400)
    # 93% or more, as docs/statistics.md has it; docs/calibration.md from many more studies.
    assert binomtest(hits, 400, 0.93, alternative="less").pvalue > 0.001


def test_fixed_tasks_say_nothing_about_others():
    # Negative control of the same check.
    hits = count_covered("sampled", 12, 5, 0.6, as_if="fixed", n_studies=200)
    assert binomtest(hits, 200, 0.93, alternative="less").pvalue < 0.001


def test_variants_of_a_task_are_no_tasks():
    # Negative control: four copies of each of five tasks, with families and without.
    tasks = np.random.default_rng(5).normal(0.6, 0.25, size=(5, 300, 1))
    scores = np.repeat(np.repeat(tasks, 4, axis=0), 3, axis=2)
    families = list(itertools.chain.from_iterable([i] * 4 for i in range(5)))
    covered = []
    for labels in (families, None):
        found = aggregate(scores, tasks="sampled", families=labels, n_resamples=400).mean
        covered.append(np.count_nonzero((found.low <= 0.6) & (found.high >= 0.6)))
    assert binomtest(covered[0], 300, 0.93, alternative="less").pvalue > 0.001
    assert binomtest(covered[1], 300, 0.93, alternative="less").pvalue < 0.001


# Refusals


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([], {}, "scores has 0 tasks. At least 1 is needed."),
        ([[[0.1], [0.2]]], {}, "scores[0] has 1 score. At least 2 are needed."),
        (
            [[[0.1, 0.2]], [[0.1, 0.2], [0.3, 0.4]]],
            {},
            "scores[1] has shape (2, 2), but should be (1, n_replicates). Pass one table per task, "
            "shape (n_competitors, n_replicates), with the same competitors in all of them.",
        ),
        (
            [[[0.1, 0.2]]],
            {"tasks": "sampled"},
            "scores has tasks of one task only. At least 2 are needed to resample tasks; pass "
            'tasks="fixed" to ask about these.',
        ),
        (
            [[[0.1, 0.2]]] * 2,
            {"families": ["x"]},
            "families has 1 label, but scores has 2 tasks. Pass the family of each task, in "
            "the order of the tasks.",
        ),
        ([[[0.1, 0.2]]], {"tasks": "both"}, "tasks is 'both'. Choose one of 'fixed', 'sampled'."),
        (
            [[[0.1, 0.2]]],
            {"target": math.inf},
            "target is inf. Pass the score that counts as solved.",
        ),
        (
            [[[0.1, math.nan]]],
            {},
            "scores[0] has 1 score that is NaN or infinite, at position (0, 1) (first: "
            "nan). Find out why these runs failed; to leave them out, remove them, and their "
            "partners if paired.",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(scores, options, message):
    with pytest.raises(InvalidInput) as caught:
        aggregate(scores, **options)
    assert str(caught.value) == message


def test_a_baseline_is_one_of_the_competitors():
    with pytest.raises(InvalidInput) as caught:
        aggregate(SCORES).mean.minus(2)
    assert str(caught.value) == "baseline is 2. Pass a whole number up to 1."
