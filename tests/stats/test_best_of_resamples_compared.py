"""Which of two best-of-n is better, and how much ways to report runs vary."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from outperform.errors import InvalidInput
from outperform.stats import (
    BestOfEstimates,
    best_of_probability,
    best_of_spreads,
    best_of_weights,
    expected_best_of,
    find_crossing,
    probability_of_outperforming,
)

scores = st.integers(0, 4).map(float)
samples = st.lists(st.tuples(scores, scores), min_size=2, max_size=5).map(np.transpose)


def chance(n, a, b, **options):
    options = {"n_resamples": 2, "rng": np.random.default_rng(0)} | options
    return best_of_probability(n, a, b, **options).value


# By hand


def test_the_chance_by_hand():
    # n = 2: A reports 0.5 or 0.9 with weights 1/4 and 3/4; B always reports less than 0.9.
    a, b = ([0.1, 0.2], [0.5, 0.9]), ([0.3, 0.4], [0.7, 0.6])
    assert chance(2, a, b) == 0.75
    assert chance(2, b, a) == 0.25
    assert chance(2, a, ([1, 2], [0.5, 0.9])) == 0.5  # ties count half


def test_lucky_resamples_by_hand():
    # Two runs each, one candidate: each side's mean weight on its better run is 0, ½ or 1 with
    # chance ¼, ½, ¼, and P(A>B) is (1 + x - y)/2 with x, y these weights.
    a = ([0, 1], [0, 1])
    rng = np.random.default_rng(0)
    found = best_of_probability(1, a, a, confidence_level=0.9, n_resamples=20_000, rng=rng)
    # P(x - y = -1) = 1/16 > 5%.
    assert (found.value, found.interval.low, found.interval.high) == (0.5, 0, 1)


# Reference


def test_one_candidate_each_is_mann_whitney():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 9, size=(2, 2, 30)).astype(float)
    expected = probability_of_outperforming(a[1], b[1], paired=False)
    assert chance(1, tuple(a), tuple(b)) == pytest.approx(expected)


def test_a_simulation_of_fresh_candidates_agrees():
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 9, size=(2, 2, 12)).astype(float)
    wins = []
    for _ in range(20_000):
        picked = []
        for validation, test in (a, b):
            rows = rng.integers(12, size=3)
            top = rows[validation[rows] == validation[rows].max()]
            picked.append(test[rng.choice(top)])
        wins.append((np.sign(picked[0] - picked[1]) + 1) / 2)
    assert chance(3, tuple(a), tuple(b)) == pytest.approx(np.mean(wins), abs=0.015)


def test_the_bootstrap_matches_a_loop():
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 9, size=(2, 2, 12)).astype(float)
    found = best_of_probability(3, tuple(a), tuple(b), estimator="u", rng=rng)
    loop = []
    for _ in range(2000):
        rows = [rng.integers(12, size=12) for _ in range(2)]
        loop.append(chance(3, tuple(a[:, rows[0]]), tuple(b[:, rows[1]]), estimator="u"))
    low, high = np.quantile(loop, [0.025, 0.975])
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=0.03)


# Properties


@given(samples, samples, st.integers(1, 6), st.sampled_from(["v", "u"]))
def test_the_chance_is_a_sum_over_all_pairs_of_runs(a, b, n, estimator):
    n = min(n, a.shape[1], b.shape[1])
    weights = [best_of_weights(n, side[0], estimator=estimator) for side in (a, b)]
    expected = sum(
        weights[0][i] * weights[1][j] * ((t > s) + 0.5 * (t == s))
        for (i, t), (j, s) in product(enumerate(a[1]), enumerate(b[1]))
    )
    found = chance(n, tuple(a), tuple(b), estimator=estimator)
    assert found == pytest.approx(expected)
    assert found + chance(n, tuple(b), tuple(a), estimator=estimator) == pytest.approx(1)


def test_the_same_seed_repeats_and_another_differs():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 2, 20))
    first, again, other = (
        best_of_probability(3, tuple(a), tuple(b), rng=np.random.default_rng(seed)).interval
        for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other


# Calibration


@pytest.mark.slow
@pytest.mark.parametrize(("n", "share"), [(1, 0.95), (5, 0.94)])
def test_the_interval_covers_one_half_between_equals(n, share):
    rng, hits = np.random.default_rng(8), 0
    for _ in range(500):
        sides = []
        for _ in range(2):
            validation = rng.normal(size=60)
            sides.append((validation, validation / 2 + rng.normal(size=60)))
        hits += 0.5 in best_of_probability(n, *sides, n_resamples=400, rng=rng).interval
    assert binomtest(hits, 500, share).pvalue > 0.001


@pytest.mark.slow
def test_the_interval_leaves_one_half_out_where_one_is_better():
    """Negative control."""
    rng, hits = np.random.default_rng(9), 0
    for _ in range(200):
        a, b = rng.normal(size=(2, 60))
        hits += (
            0.5
            in best_of_probability(5, (a + 0.7, None), (b, None), n_resamples=400, rng=rng).interval
        )
    assert hits < 40


# Crossings


def estimates(curve, resampled=None):
    """Estimates at n = 1, 2, … with given values."""
    value = np.asarray(curve, dtype=float)
    rows = value[None, :] if resampled is None else np.asarray(resampled, dtype=float)
    n = np.arange(1, value.size + 1)
    return BestOfEstimates(n, value, rows, np.ones(value.size), np.full(value.size, 9.0))


def test_a_crossing_by_hand():
    found = find_crossing(estimates([1, 1, -1, 1, -1, -1]))
    assert (found.n, found.sign) == (5, -1)


def test_the_crossing_is_as_sure_as_resamples_say():
    resampled = [[1, -1, -1], [1, 1, -1], [-1, -1, -1], [1, 1, 1]]
    found = find_crossing(estimates([1, -1, -1], resampled), confidence_level=0.99)
    assert (found.n, found.share) == (2, 0.5)
    assert (found.low, found.high) == pytest.approx((2, 3), abs=0.01)


@pytest.mark.parametrize("curve", [[1, 1, 1], [-1, -2, -3], [1, 1, 0], [0, 0, 0]])
def test_curves_that_do_not_cross(curve):
    assert find_crossing(estimates(curve)) is None


# Spreads


def test_the_best_single_run_is_the_best_of_all():
    rng = np.random.default_rng(0)
    validation, test = rng.integers(0, 9, size=(2, 40)).astype(float)
    sizes = [1, 2, 10, 40]
    found = best_of_spreads(sizes, 5, validation, test, goal="minimize", rng=rng)
    expected = expected_best_of(sizes, validation, test, goal="minimize")
    assert found.best_single.mean == pytest.approx(expected)
    assert found.n_runs.tolist() == sizes


def test_spreads_match_experiments_one_by_one():
    rng = np.random.default_rng(1)
    validation = rng.normal(size=50)
    test = validation + rng.normal(size=50)
    found = best_of_spreads([12], 5, validation, test, n_resamples=4000, rng=rng)
    rows = rng.integers(50, size=(4000, 12))
    each = {
        "best_single": [test[row[np.argmax(validation[row])]] for row in rows],
        "best_of": [expected_best_of(5, validation[row], test[row]) for row in rows],
        "average": test[rows].mean(axis=1),
    }
    for name, values in each.items():
        spread = getattr(found, name)
        error = 6 * np.std(values) / np.sqrt(4000)
        assert spread.mean[0] == pytest.approx(np.mean(values), abs=error)
        low, high = np.quantile(values, [0.025, 0.975])
        assert (spread.low[0], spread.high[0]) == pytest.approx((low, high), abs=0.2)


def test_the_best_single_run_varies_more_than_the_expected_best():
    # Figure 2 of Bajgar et al. (2018), in one number each.
    rng = np.random.default_rng(2)
    validation = rng.normal(size=200)
    found = best_of_spreads([50], 5, validation, 0.3 * validation + rng.normal(size=200), rng=rng)
    widths = {
        name: getattr(found, name).high - getattr(found, name).low
        for name in ("best_single", "best_of", "average")
    }
    assert widths["best_single"] > 2 * widths["best_of"] > 2 * widths["average"]


# Refusals


def test_bad_scores_are_refused(refuses):
    good = ([1.0, 2.0], [1.0, 2.0])
    rng = np.random.default_rng(0)
    refuses(lambda validation, test: best_of_probability(2, (validation, test), good, rng=rng))
    refuses(lambda validation, test: best_of_spreads([2], 2, validation, test, rng=rng))


@pytest.mark.parametrize(
    ("n", "options", "message"),
    [
        (
            3,
            {"estimator": "u"},
            "n is 3, but there are 2 runs: estimator 'u' draws n of them without replacement. "
            "Pass an n up to 2, add runs, or use estimator 'v'.",
        ),
        (2, {"estimator": "gaussian"}, "estimator is 'gaussian'. Choose one of 'v', 'u'."),
        (0, {}, "n is 0. Pass a whole number not less than 1."),
        (2, {"n_resamples": 0}, "n_resamples is 0. Pass a whole number not less than 1."),
        (
            2,
            {"confidence_level": 95},
            "confidence_level is 95. Pass a value between 0 and 1 (95% is 0.95).",
        ),
    ],
)
def test_refusals_say_what_to_do(n, options, message):
    with pytest.raises(InvalidInput) as caught:
        chance(n, ([1, 2, 3], None), ([1, 2], None), **options)
    assert str(caught.value) == message


def test_spreads_are_of_one_n():
    with pytest.raises(InvalidInput) as caught:
        best_of_spreads([2], [1, 2], [1, 2, 3], rng=np.random.default_rng(0))
    assert str(caught.value) == "n is [1, 2]. Pass one number of candidates."
