"""Every doubt about a best of n, and where there is none."""

import numpy as np
import pytest

from outperform.runs import read_runs
from tests.questions.best_of.runs import best_of_runs, make_records


def test_scores_that_choose_and_are_reported_are_said_to_flatter():
    (caveat,) = best_of_runs({"a": np.linspace(0.5, 0.6, 100)}, "a").caveats
    assert caveat == (
        "runs are chosen and reported by the same score: the best of them looks better than it "
        "will be on other data; if there are validation scores, name their column (--validation, "
        "or validation= of read_runs)"
    )


def test_validation_scores_that_are_a_copy_are_said_to_flatter():
    scores = np.linspace(0.5, 0.6, 100).tolist()
    rows = [{"model": "a", "val_acc": score, "test_acc": score} for score in scores]
    (caveat,) = best_of_runs(rows, "a").caveats
    assert caveat.startswith("val_acc and test_acc are the same in every run: if one is a copy,")
    rows[0]["val_acc"] = 0.51
    assert not best_of_runs(rows, "a").caveats


@pytest.mark.parametrize(
    ("n", "interval", "covered"),
    [
        (2, "percentile", "89–91% of the time; interval jackknife: 92–94%"),
        (5, "percentile", "80–90% of the time; interval jackknife: 88–92%"),
        (10, "percentile", "63–87% of the time; interval jackknife: 79–89%"),
        (20, "jackknife", "71–86% of the time"),
    ],
)
def test_narrow_intervals_are_named(n, interval, covered):
    caveats = best_of_runs(make_records(20), n=n, interval=interval, estimator="u").caveats
    assert (
        f"with n = {n} of 20 runs the interval is too narrow: in simulations of normal scores, "
        f"95% intervals held the truth {covered}; with heavy tails, less often"
    ) in caveats


@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_runs_far_better_than_the_others_are_named(goal):
    far = 0.95 if goal == "maximize" else 0.05
    records = make_records()
    records[7]["accuracy"] = far
    (caveat,) = best_of_runs(read_runs(records, goal=goal)).caveats[:1]
    assert caveat == (
        "1 of 100 runs are far better than the others (more than 3 interquartile ranges beyond the "
        "quartile): the best of n depends on such luck, and intervals hold the truth less often "
        "than they say"
    )
    records[7]["accuracy"] = 1 - far  # far worse: no luck
    caveats = best_of_runs(read_runs(records, goal=goal)).caveats
    assert not any("far better" in doubt for doubt in caveats)


def test_a_chance_without_exception_is_doubted():
    records = [*make_records(name="a", mean=0.9, sd=0.001), *make_records(name="b", mean=0.5)]
    result = best_of_runs(records, "a", "b")
    assert result.probability.interval.low == pytest.approx(1)
    assert result.caveats == (
        "the same side wins in every resample, so the interval of the chance collapses to a point: "
        "more runs may show exceptions",
    )


def test_bias_and_few_runs_are_named():
    caveats = best_of_runs(make_records(9), n=5).caveats
    assert (
        "n = 5 is more than half of the 9 runs, where the estimator v is too low; u is without bias"
    ) in caveats
    assert "9 runs say little: train more than 10" in caveats
    assert not any(
        "too low" in doubt for doubt in best_of_runs(make_records(9), estimator="u").caveats
    )


def test_weak_and_negative_correlations_are_named():
    (weak,) = best_of_runs(make_records(correlation=0.1)).caveats
    assert weak.startswith("validation and test scores correlate by 0.")
    assert weak.endswith(
        "only: choosing by validation is little better than choosing at random, so more candidates "
        "hardly help"
    )
    (neither,) = best_of_runs(make_records(correlation=-0.1)).caveats
    assert "choosing by validation is little better than choosing at random" in neither
    (negative,) = best_of_runs(make_records(correlation=-0.8)).caveats
    assert negative.endswith("runs that are better on validation tend to be worse on test")


def test_ties_are_named():
    records = [{**r, "validation": round(r["validation"], 2)} for r in make_records()]
    (caveat,) = best_of_runs(records).caveats
    n = len({r["validation"] for r in records})
    assert caveat == (
        f"the 100 runs have {n} different values of validation: of tied runs, any is equally "
        "likely to be chosen"
    )
    constant = best_of_runs([{**r, "validation": 1} for r in records])
    assert constant.caveats == ("all runs of net have the same validation: nothing is chosen",)
    assert constant.value == pytest.approx(constant.mean)
    assert np.isnan(constant.correlation)


def test_scores_that_are_not_normal_are_named():
    records = [
        {"validation": r["validation"], "reward": np.exp(40 * r["accuracy"])}
        for r in make_records()
    ]
    (caveat,) = best_of_runs(records, estimator="gaussian").caveats
    assert caveat.startswith("the scores are not normal (Shapiro–Wilk p = ")
    assert best_of_runs(make_records(), estimator="gaussian").caveats == ()


def test_failed_runs_are_counted_and_goals_doubted():
    records = make_records()
    records[3]["accuracy"] = float("nan")
    found = best_of_runs(read_runs(records, goal="minimize"), drop_incomplete=True)
    assert found.n_runs == 99
    missing, told = found.caveats[-2:]
    assert missing.startswith(
        "1 incomplete run was left out: a candidate that fails is part of the budget too; with "
        "each as bad as the worst of the others, the best of 5 is expected to reach "
    )
    assert float(missing.split()[-1]) > found.value
    assert told == "'accuracy' usually is to maximize, but was told to minimize"


def test_doubts_about_one_of_two_name_it():
    records = [*make_records(name="a"), *make_records(name="b", correlation=0.1)]
    (caveat,) = best_of_runs(records, "a", "b").caveats
    assert caveat.startswith("b: validation and test scores correlate by ")
