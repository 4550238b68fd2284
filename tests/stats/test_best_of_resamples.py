"""How sure Boo_n is: bootstrap and jackknife, and differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from outperform.errors import InvalidInput, UnpairedScores
from outperform.stats import estimate_best_of, expected_best_of, gaussian_best_of

ESTIMATORS = ["v", "u", "gaussian"]


def draw(n_runs, *, correlation=0.5, seed=0, decimals=8):
    rng = np.random.default_rng(seed)
    validation = rng.normal(size=n_runs)
    test = correlation * validation + np.sqrt(1 - correlation**2) * rng.normal(size=n_runs)
    return validation.round(decimals), test


# By hand


def test_two_runs_have_three_resamples():
    # 0 and 1, n = 2: the best of two is 0, 3/4 or 1 with chance 1/4, 1/2, 1/4.
    found = estimate_best_of(2, [0, 1], n_resamples=40_000, rng=np.random.default_rng(0))
    values, counts = np.unique(found.resampled, return_counts=True)
    assert values.tolist() == [0, 0.75, 1]
    assert counts / 40_000 == pytest.approx([0.25, 0.5, 0.25], abs=0.01)


def test_the_jackknife_of_a_mean_is_its_standard_error():
    found = estimate_best_of(1, [1, 2, 4, 9], n_resamples=2, rng=np.random.default_rng(0))
    assert found.error[0] == pytest.approx(np.std([1, 2, 4, 9], ddof=1) / 2)
    assert found.df[0] == 3
    # t(0.975; 3) = 3.182446
    interval = found.at(1, method="jackknife").interval
    assert interval.high - interval.low == pytest.approx(2 * 3.182446305284 * found.error[0])


# Reference


def test_bootstrap_and_jackknife_match_r(reference):
    rng = np.random.default_rng(5)
    for case in reference("best_of_n")["cases"]:
        found = estimate_best_of(
            int(case["n"]), case["validation"], case["test"], n_resamples=40_000, rng=rng
        )
        assert found.error[0] == pytest.approx(case["error"], rel=1e-9)
        # R drew 20,000 resamples: means differ by a few standard errors at most.
        error = case["sd"] * np.sqrt(1 / 20_000 + 1 / 40_000)
        assert found.resampled.mean() == pytest.approx(case["mean"], abs=4 * error)
        assert found.resampled.std() == pytest.approx(case["sd"], rel=0.03)
        low, high = found.bounds(confidence_level=0.9, method="percentile")
        # Quantiles of few runs are lumps; those of many are not.
        if len(case["test"]) > 6:
            assert (low[0], high[0]) == pytest.approx((case["low"], case["high"]), abs=10 * error)


def test_resamples_match_a_loop_that_calls_the_estimator():
    validation, test = draw(12, decimals=1)  # tied
    for estimator in ESTIMATORS:
        found = estimate_best_of(
            [1, 4, 12], validation, test, estimator=estimator, rng=np.random.default_rng(1)
        )
        rng, loop = np.random.default_rng(2), []
        for _ in range(4000):
            rows = rng.integers(12, size=12)
            loop.append(
                expected_best_of([1, 4, 12], validation[rows], test[rows], estimator=estimator)
            )
        theirs = np.array(loop)
        error = theirs.std(axis=0) * np.sqrt(1 / 4000 + 1 / 10_000)
        assert (np.abs(found.resampled.mean(axis=0) - theirs.mean(axis=0)) < 4 * error).all()
        assert found.resampled.std(axis=0) == pytest.approx(theirs.std(axis=0), rel=0.05)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=12),
    st.integers(1, 20),
    st.sampled_from(["v", "gaussian"]),
)
def test_the_jackknife_leaves_out_one_run_at_a_time(sample, n, estimator):
    validation, test = np.transpose(sample) / 10
    rng = np.random.default_rng(0)
    found = estimate_best_of(n, validation, test, estimator=estimator, n_resamples=1, rng=rng)
    left = [
        expected_best_of(n, np.delete(validation, i), np.delete(test, i), estimator=estimator)
        for i in range(validation.size)
    ]
    error = np.sqrt((validation.size - 1) * np.var(left))
    assert found.error[0] == pytest.approx(error, abs=1e-9)


def test_the_mean_over_resamples_without_replacement_is_equation_7():
    # Drawing m with replacement and n of these without is drawing n with replacement.
    validation, test = draw(15)
    found = estimate_best_of(
        [5, 15], validation, test, estimator="u", n_resamples=40_000, rng=np.random.default_rng(3)
    )
    exact = expected_best_of([5, 15], validation, test)
    assert found.resampled.mean(axis=0) == pytest.approx(exact, abs=0.02)


# Properties


@given(st.lists(st.integers(0, 4), min_size=2, max_size=12), st.sampled_from(ESTIMATORS))
def test_intervals_move_and_stretch_with_the_scores(scores, estimator):
    n, values = [1, 2], np.array(scores) / 10

    def bounds(test, method):
        rng = np.random.default_rng(0)
        found = estimate_best_of(n, values, test, estimator=estimator, n_resamples=50, rng=rng)
        return np.array(found.bounds(method=method))

    for method in ("percentile", "jackknife"):
        low, high = bounds(values, method)
        assert (low <= high).all()
        assert bounds(2 * values + 1, method) == pytest.approx(2 * np.array([low, high]) + 1)


def test_the_same_seed_repeats_and_another_differs():
    validation, test = draw(20)
    first, again, other = (
        estimate_best_of(5, validation, test, n_resamples=100, rng=np.random.default_rng(seed))
        for seed in (0, 0, 1)
    )
    assert (first.resampled == again.resampled).all()
    assert (first.resampled != other.resampled).any()


def test_blocks_change_nothing(monkeypatch):
    validation, test = draw(20, decimals=1)
    whole = estimate_best_of([1, 5], validation, test, n_resamples=99, rng=np.random.default_rng(0))
    monkeypatch.setattr("outperform.stats.best_of_n._BLOCK", 150)
    parts = estimate_best_of([1, 5], validation, test, n_resamples=99, rng=np.random.default_rng(0))
    assert parts.resampled == pytest.approx(whole.resampled, abs=1e-14)
    assert parts.error == pytest.approx(whole.error)


def test_a_difference_has_the_difference_of_both():
    rng = np.random.default_rng(0)
    a, b = (
        estimate_best_of([1, 5], *draw(30, seed=seed), n_resamples=500, rng=rng) for seed in (1, 2)
    )
    found = a.minus(b)
    assert found.value == pytest.approx(a.value - b.value)
    assert found.resampled == pytest.approx(a.resampled - b.resampled)
    assert found.error == pytest.approx(np.hypot(a.error, b.error))
    assert (found.df > 29).all()
    assert (found.df <= 58 + 1e-9).all()


# Calibration. The shares are those of docs/statistics.md and of the caveats.


def count_hits(n_runs, n, *, method, correlation, seed, n_studies=600):
    truth = correlation * gaussian_best_of(n)
    rng, hits = np.random.default_rng(seed), 0
    for study in range(n_studies):
        scores = draw(n_runs, correlation=correlation, seed=1000 * seed + study)
        found = estimate_best_of(n, *scores, n_resamples=500, rng=rng)
        hits += truth in found.at(n, method=method).interval
    return hits


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.5, 1.0])
@pytest.mark.parametrize("method", ["percentile", "jackknife"])
def test_intervals_cover_where_runs_are_many(method, correlation):
    hits = count_hits(200, 5, method=method, correlation=correlation, seed=1)
    assert binomtest(hits, 600, 0.94).pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "n_runs", "n", "share"),
    [("percentile", 20, 5, 0.80), ("percentile", 20, 10, 0.65), ("jackknife", 20, 5, 0.89)],
)
def test_intervals_cover_too_little_where_runs_are_few(method, n_runs, n, share):
    """Negative control: chosen and reported on one score, as the caveat says."""
    hits = count_hits(n_runs, n, method=method, correlation=1.0, seed=2)
    assert binomtest(hits, 600, share).pvalue > 0.001
    assert binomtest(hits, 600, 0.95).pvalue < 0.001


@pytest.mark.slow
def test_heavy_tails_make_intervals_cover_less():
    """Negative control: as the page on statistics says."""
    rng = np.random.default_rng(21)
    truth = rng.standard_t(3, size=(1_000_000, 5)).max(axis=1).mean()
    hits = 0
    for scores in rng.standard_t(3, size=(1000, 20)):
        found = estimate_best_of(5, scores, n_resamples=1, rng=rng)
        hits += truth in found.at(5, method="jackknife").interval
    assert binomtest(hits, 1000, 0.77).pvalue > 0.001


@pytest.mark.slow
def test_the_difference_of_equals_is_significant_as_seldom_as_it_should_be():
    rng, hits = np.random.default_rng(7), 0
    for study in range(600):
        a, b = (
            estimate_best_of(5, *draw(100, seed=9000 + 2 * study + side), n_resamples=500, rng=rng)
            for side in (0, 1)
        )
        hits += 0 in a.minus(b).at(5).interval
    assert binomtest(hits, 600, 0.95).pvalue > 0.001


# Refusals


def test_bad_scores_are_refused(refuses):
    rng = np.random.default_rng(0)
    refuses(lambda validation, test: estimate_best_of(2, validation, test, rng=rng))


def test_refusals_say_what_to_do():
    rng = np.random.default_rng(0)
    undrawn = estimate_best_of(2, [1, 2], n_resamples=0, rng=rng)
    assert undrawn.bounds()[0] < undrawn.value
    with pytest.raises(InvalidInput) as caught:
        undrawn.bounds(method="percentile")
    assert str(caught.value) == "n_resamples is 0. Pass a whole number not less than 1."
    found = estimate_best_of(2, [1, 2], n_resamples=2, rng=rng)
    with pytest.raises(InvalidInput) as caught:
        found.bounds(method="bca")
    assert str(caught.value) == "interval is 'bca'. Choose one of 'jackknife', 'percentile'."
    with pytest.raises(UnpairedScores) as caught:
        found.minus(estimate_best_of(1, [1, 2], n_resamples=2, rng=rng))
    assert str(caught.value) == (
        "the two were not estimated for the same n with as many resamples. Estimate both with the "
        "same n and n_resamples."
    )
