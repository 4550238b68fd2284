"""The best of n where runs are missing: as bad as the worst of both, or left out."""

import numpy as np
import pytest

from outperform.runs import read_runs
from tests.questions.best_of.runs import best_of_runs


def make_pruned(rng, n_pruned, *, n_runs=40, goal="maximize"):
    """Runs of two equals; the worst of a have failed."""
    sign = 1 if goal == "maximize" else -1
    scores = {name: rng.normal(5, 1, n_runs) for name in "ab"}
    scores["a"][np.argsort(sign * scores["a"])[:n_pruned]] = np.nan
    return read_runs(
        [
            {"algorithm": name, "seed": i, "score": score}
            for name, own in scores.items()
            for i, score in enumerate(own)
        ],
        goal=goal,
    )


def test_missing_runs_as_bad_as_the_worst_lower_the_best():
    scores = [0.9, 0.8, 0.7, None]
    records = [{"algorithm": "net", "seed": i, "score": x} for i, x in enumerate(scores)]
    found = best_of_runs(read_runs(records, goal="maximize"), n=1, drop_incomplete=True)
    assert found.value == pytest.approx(0.8)
    assert any(each.endswith("the best of 1 is expected to reach 0.775") for each in found.caveats)


def test_intervals_of_two_hold_with_missing_runs_as_the_worst_of_both():
    scores = {"a": [None, None, 0.81, 0.93, 0.85, 0.9, 0.89, 0.8], "b": [0.72, 0.61, 0.5, 0.67]}
    records = [
        {"algorithm": name, "seed": i, "score": x}
        for name, own in scores.items()
        for i, x in enumerate(own)
    ]
    found = best_of_runs(read_runs(records, goal="maximize"), "a", "b", n=1, drop_incomplete=True)
    records[0]["score"] = records[1]["score"] = 0.5
    whole = best_of_runs(read_runs(records, goal="maximize"), "a", "b", n=1)
    assert found.difference.value == pytest.approx(0.86333 - 0.625, abs=1e-4)
    assert found.difference.interval.low == pytest.approx(whole.difference.interval.low)
    assert found.probability.interval.low == whole.probability.interval.low
    assert found.caveats[-1].startswith("intervals of the difference, and of the chance, hold")
    assert not any("intervals of the difference" in each for each in whole.caveats)


@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_missing_runs_only_widen_intervals(goal):
    rng = np.random.default_rng(1)
    for n_pruned in (0, 1, 9, 25):
        runs = make_pruned(rng, n_pruned, goal=goal)
        taken = {"drop_incomplete": True, "n_resamples": 50}
        found = best_of_runs(runs, "a", "b", **taken)
        left = make_runs_left(runs)
        alone = best_of_runs(left, "a", "b", **taken)
        assert (found.curve.low <= alone.curve.low).all()
        assert (found.curve.high >= alone.curve.high).all()
        assert (found.curve.value == alone.curve.value).all()
        assert (found.difference == alone.difference) == (n_pruned == 0)


def test_runs_that_were_never_recorded_are_missing_too():
    runs = make_pruned(np.random.default_rng(1), 9)
    left = [
        {"algorithm": runs.algorithms[runs.algorithm[i]], "seed": int(i) % 40, "score": x}
        for i, x in enumerate(runs.score)
        if np.isfinite(x)
    ]
    taken = {"drop_incomplete": True, "n_resamples": 50}
    failed = best_of_runs(runs, "a", "b", **taken)
    found = best_of_runs(read_runs(left, goal="maximize"), "a", "b", n_resamples=50)
    assert found.difference == failed.difference
    assert found.caveats[0] == (
        "a lacks a complete run for 9 of 40 seeds, b for 0: if those went badly, leaving them out "
        "flatters a"
    )


def make_runs_left(runs):
    records = [
        {"algorithm": runs.algorithms[runs.algorithm[i]], "seed": int(i), "score": runs.score[i]}
        for i in np.flatnonzero(np.isfinite(runs.score))
    ]
    return read_runs(records, goal=runs.goal)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 5])
def test_equals_of_which_one_lacks_its_worst_runs_are_rarely_told_apart(n):
    rng, winners, without = np.random.default_rng(3), 0, 0
    for _ in range(200):
        runs = make_pruned(rng, 20)
        taken = {"n": n, "drop_incomplete": True, "n_resamples": 20}
        winners += best_of_runs(runs, "a", "b", **taken).winner == "a"
        without += best_of_runs(make_runs_left(runs), "a", "b", **taken).winner == "a"
    assert winners <= 10
    assert without > 30  # as long as nobody knows what is missing
