"""The best of n from a table of runs."""

import json

import numpy as np
import pytest

from outperform.errors import InvalidInput, InvalidScores, TooFewRuns, UnknownName
from outperform.questions.best_of import answer
from outperform.questions.best_of.answer import trace_spreads
from outperform.questions.best_of.result import BestOf, BestOfComparison, BestOfEach
from outperform.runs import join_runs, read_runs
from outperform.stats import expected_best_of


def best_of_runs(runs, *names, **options):
    """Call it with fewer resamples than usual, because one is as good a test as another."""
    return answer.best_of_runs(runs, *names, **{"n_resamples": 1000} | options)


def make_records(
    n_runs=100, *, correlation=0.9, mean=0.6, sd=0.02, name="net", seed=0, validation="validation"
):
    """Runs of one algorithm, as records."""
    rng = np.random.default_rng(seed)
    chosen = rng.normal(size=n_runs)
    test = correlation * chosen + np.sqrt(1 - correlation**2) * rng.normal(size=n_runs)
    return [
        {"algorithm": name, "seed": i, validation: 0.7 + sd * v, "accuracy": mean + sd * t}
        for i, (v, t) in enumerate(zip(chosen, test, strict=True))
    ]


def two_algorithms(**options):
    """One that is good but never better, one that a search makes better."""
    steady = make_records(name="steady", mean=0.62, sd=0.004, seed=1, **options)
    return [*steady, *make_records(name="wild", mean=0.58, sd=0.03, seed=2, **options)]


def test_one_algorithm():
    records = make_records()
    found = best_of_runs(records, "net", n=5)
    assert isinstance(found, BestOf)
    validation, test = ([r[k] for r in records] for k in ("validation", "accuracy"))
    assert found.value == expected_best_of(5, validation, test)
    assert found.value in found.interval
    assert (found.n_runs, found.mean) == (100, pytest.approx(np.mean(test)))
    assert found.best_single == test[int(np.argmax(validation))]
    assert found.correlation == pytest.approx(0.9, abs=0.05)
    assert found.at(5).value == found.value
    assert found.curve.n.tolist() == list(range(1, 101))
    assert found.caveats == ()
    assert str(found) == (
        f"The best of 5 runs of net chosen by validation is expected to reach accuracy "
        f"{found.value:.4g} [{found.interval.low:.4g}, {found.interval.high:.4g}]; one run, "
        f"{found.mean:.4g} ± {found.sd:.2g} (100 runs)."
    )


def test_the_only_algorithm_need_not_be_named_and_all_are_told_apart():
    assert isinstance(best_of_runs(make_records()), BestOf)
    each = best_of_runs(two_algorithms(), n=20)
    assert isinstance(each, BestOfEach)
    assert [found.algorithm for found in each.results] == ["steady", "wild"]
    assert [found.algorithm for found in each.ranked] == ["wild", "steady"]
    assert str(each).startswith(
        "With a budget of 20, most is to be expected of wild: accuracy 0.6296 ["
    )


def test_two_algorithms_cross():
    result = best_of_runs(two_algorithms(), "steady", "wild", n=2)
    assert isinstance(result, BestOfComparison)
    assert result.difference.value == pytest.approx(result.a.value - result.b.value)
    assert (result.winner, result.leader_after.algorithm) == ("a", "wild")
    # 0.62 + 0.9·0.004·Boo_n = 0.58 + 0.9·0.03·Boo_n where Boo_n(N(0, 1)) = 1.71: n = 14.
    assert 10 <= result.crossing.n <= 20
    assert result.crossing.share > 0.95
    assert result.crossing.low <= result.crossing.n <= result.crossing.high
    assert best_of_runs(two_algorithms(n_runs=400), "steady", "wild", n=40).winner == "b"
    assert str(result).startswith(
        "With a budget of 2, steady is better: steady is expected to reach 0.62"
    )


def test_names_swapped_are_the_mirror_image():
    one = best_of_runs(two_algorithms(), "steady", "wild", n=3)
    other = best_of_runs(two_algorithms(), "wild", "steady", n=3)
    assert other.difference.value == pytest.approx(-one.difference.value)
    assert other.probability.value == pytest.approx(1 - one.probability.value)
    assert other.crossing.n == one.crossing.n
    assert other.leader_after.algorithm == one.leader_after.algorithm


def test_equals_do_not_differ():
    """Negative control."""
    records = [*make_records(name="a", seed=3), *make_records(name="b", seed=4)]
    result = best_of_runs(records, "a", "b")
    assert result.winner is None
    assert 0.5 in result.probability.interval


def test_lower_may_be_better():
    records = two_algorithms()
    losses = [
        {"algorithm": r["algorithm"], "validation": -r["validation"], "loss": -r["accuracy"]}
        for r in records
    ]
    up, down = (best_of_runs(table, "steady", "wild", n=3) for table in (records, losses))
    assert (up.a.goal, down.a.goal) == ("maximize", "minimize")
    assert down.difference.value == pytest.approx(-up.difference.value)
    assert down.probability.value == pytest.approx(up.probability.value)
    assert down.winner == up.winner
    assert (down.crossing.n, down.leader_after.algorithm) == (up.crossing.n, "wild")
    ranked = best_of_runs(losses, n=40).ranked
    assert [found.algorithm for found in ranked] == ["wild", "steady"]


def test_shares_may_be_in_per_cent_and_other_scores_anything():
    in_per_cent = [{**r, "accuracy": 100 * r["accuracy"]} for r in make_records()]
    in_per_cent[3]["accuracy"] = 0  # failed
    assert best_of_runs(in_per_cent).value > 50
    rewards = [{"seed": r["seed"], "reward": 300 * r["accuracy"] - 100} for r in make_records()]
    assert best_of_runs(rewards).value > 1


@pytest.mark.parametrize(("factor", "highest"), [(1, 1), (100, 100)])
def test_intervals_of_shares_end_where_shares_do(factor, highest):
    accuracies = [{"accuracy": factor * score} for score in (0.99, 0.97, 1.0, 0.9)]
    found = best_of_runs(accuracies, n=2)
    assert found.interval.high == found.at(2).interval.high == highest
    rewards = [{"reward": r["accuracy"]} for r in accuracies]
    assert best_of_runs(rewards, n=2).interval.high > highest


def test_a_loss_may_choose_what_an_accuracy_reports():
    records = make_records()
    by_loss = [{**r, "val_loss": -r.pop("validation")} for r in make_records()]
    found = best_of_runs(read_runs(by_loss, validation="val_loss", metric="accuracy"))
    assert (found.chosen_by, found.goal, found.validation_goal) == (
        "val_loss",
        "maximize",
        "minimize",
    )
    same = best_of_runs(records)
    assert found.value == pytest.approx(same.value)
    assert found.correlation == pytest.approx(same.correlation)
    assert found.best_single == same.best_single


def test_several_budgets_and_budgets_beyond_the_runs():
    found = best_of_runs(make_records(40), n=[5, 7, 200])
    assert (found.n, found.asked, found.shown) == (5, (5, 7, 200), (1, 2, 5, 7, 10, 200))
    assert found.curve.n[-1] == 200
    assert found.caveats[0] == (
        "n = 200 is more than the 40 runs at hand: none of them shows how good the best of so many "
        "can be, and the estimate is too low"
    )


def test_curves_of_many_runs_are_thinned():
    found = best_of_runs(make_records(1000), n_resamples=50)
    assert found.curve.n[:100].tolist() == list(range(1, 101))
    assert found.curve.n[-1] == 1000
    assert found.curve.n.size < 170
    assert [round(found.at(n).value, 1) for n in found.shown] == [0.6] * 8  # each has a value


def test_the_same_runs_give_the_same_numbers_and_another_seed_others():
    records = make_records()
    first, again = (best_of_runs(records, interval="percentile").interval for _ in range(2))
    other = best_of_runs(records, interval="percentile", rng=np.random.default_rng(1)).interval
    assert first == again
    assert first != other


@pytest.mark.parametrize("estimator", ["v", "u", "gaussian"])
@pytest.mark.parametrize("interval", ["percentile", "jackknife"])
def test_estimators_and_intervals(estimator, interval):
    result = best_of_runs(
        two_algorithms(), "steady", "wild", estimator=estimator, interval=interval
    )
    assert result.a.estimator == estimator
    assert result.difference.interval.method == result.a.interval.method == interval
    assert result.a.value in result.a.interval


@pytest.mark.parametrize("names", [(), ("wild",), ("steady", "wild")])
def test_results_are_json(names):
    result = best_of_runs(two_algorithms(), *names)
    answer = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert answer["n"] == 5


def test_spreads_of_whole_experiments():
    found = best_of_runs(make_records(60))
    spreads = trace_spreads(found, rng=np.random.default_rng(0))
    assert (spreads.n_runs[0], spreads.n_runs[-1]) == (1, 60)
    assert spreads.best_single.mean[0] == pytest.approx(found.mean)
    assert spreads.best_of.mean[-1] == pytest.approx(found.value, abs=0.002)


# Caveats


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


def test_intervals_are_the_jackknifes_unless_told():
    assert best_of_runs(make_records()).interval.method == "jackknife"


def test_the_mean_run_is_not_chosen_and_equal_scores_have_no_deviation():
    found = best_of_runs([{**r, "accuracy": 0.6} for r in make_records()], n=1)
    assert str(found) == (
        "The mean run of net is expected to reach accuracy 0.6 [0.6, 0.6]; one run, 0.6 ± 0 (100 "
        "runs)."
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


# What is missing


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


def test_doubts_about_one_of_two_name_it():
    records = [*make_records(name="a"), *make_records(name="b", correlation=0.1)]
    (caveat,) = best_of_runs(records, "a", "b").caveats
    assert caveat.startswith("b: validation and test scores correlate by ")


# Refusals


def with_score(name, value, row=2):
    records = make_records(10)
    records[row][name] = value
    return records


@pytest.mark.parametrize(
    ("runs", "options", "error", "message"),
    [
        (
            with_score("accuracy", float("nan")),
            {},
            InvalidScores,
            "'net' has 1 of 10 scores missing or infinite in the list of records (row 3). Complete "
            "them, or pass --drop-incomplete to leave them out.",
        ),
        (
            with_score("validation", float("inf")),
            {},
            InvalidScores,
            "'net' has 1 of 10 validation scores missing or infinite in the list of records (row "
            "3). Complete them, or pass --drop-incomplete to leave them out.",
        ),
        (
            make_records(1),
            {},
            TooFewRuns,
            "'net' has 1 run in the list of records: too few to say anything about the best of "
            "several. Train it with several seeds, many more than the candidates you would choose "
            "from.",
        ),
        (
            make_records(10),
            {"n": 11, "estimator": "u"},
            InvalidInput,
            "n is 11, but there are 10 runs: estimator 'u' draws n of them without replacement. "
            "Pass an n up to 10, add runs, or use estimator 'v'.",
        ),
        (
            make_records(10),
            {"n": 2.5},
            InvalidInput,
            "n is 2.5. Pass a whole number not less than 1.",
        ),
        (
            with_score("accuracy", 161.5),
            {},
            InvalidScores,
            "values of accuracy go from 0.579496 to 161.5. Pass shares between 0 and 1, or per "
            "cent; if it is another metric, rename it.",
        ),
        (
            with_score("accuracy", 61.5),
            {},
            InvalidScores,
            "9 of 10 values of accuracy are fractions, and others go up to 61.5. Give all of them "
            "as fractions, or all in per cent.",
        ),
        (
            [{**r, "val_f1": 40 * r["seed"] - 1} for r in make_records(4, validation="notes")],
            {},
            InvalidScores,
            "values of val_f1 go from -1 to 119. Pass shares between 0 and 1, or per cent; if it "
            "is another metric, rename it.",
        ),
        (
            make_records(10),
            {"a": "net", "b": "net"},
            InvalidInput,
            "cannot compare 'net' with itself. Name two algorithms, or one.",
        ),
        (
            make_records(10),
            {"b": "net"},
            InvalidInput,
            "b is 'net', but a is not named. Name one algorithm as a, or both.",
        ),
        (
            make_records(10),
            {"a": "nett"},
            UnknownName,
            "no algorithm 'nett' in the list of records. Did you mean 'net'? It has: net.",
        ),
        (
            [{**r, "task": "st"[i % 2]} for i, r in enumerate(make_records(10))],
            {},
            UnknownName,
            "the list of records has 2 tasks and none was named. Name one with --on (task in "
            "Python): s, t.",
        ),
    ],
)
def test_bad_input_is_refused_with_the_reason(runs, options, error, message):
    with pytest.raises(error) as caught:
        best_of_runs(runs, **options)
    assert str(caught.value) == message


def test_one_chosen_by_validation_and_one_by_test_are_not_compared():
    plain = [{k: v for k, v in r.items() if k != "validation"} for r in make_records(name="plain")]
    runs = join_runs(read_runs(make_records()), read_runs(plain))
    with pytest.raises(InvalidInput) as caught:
        best_of_runs(runs, "net", "plain")
    assert str(caught.value) == (
        "'net' has validation scores in the list of records and 'plain' has none: one would be "
        "chosen by validation and the other by the score that is reported. Add the validation "
        "scores, or leave them out of both."
    )


# Real data


def test_numbers_of_bajgar(shared_data):
    """What Bajgar et al. (2018) say of their runs, and where the runs say something else."""
    folder = shared_data / "boon_runs"
    fixed, random, resnet = (
        best_of_runs(read_runs(folder / f"derived_{name}.csv", metric="test_acc"), n=[5, 20])
        for name in ("asreader_cbtcn_fixed", "asreader_cbtcn_randomhp", "resnet_cifar100")
    )
    assert (round(fixed.mean, 4), round(fixed.sd, 4)) == (0.6316, 0.0094)
    assert (round(random.mean, 4), round(random.sd, 4)) == (0.6126, 0.0248)
    # Spearman's correlation, as in section 4.
    assert (round(fixed.correlation, 2), round(random.correlation, 2)) == (0.18, 0.83)
    # ResNet: 0.10, mean 68.41% and sd 0.67% in the text, which speaks of 74 and of 75 runs.
    assert (resnet.n_runs, round(resnet.correlation, 2)) == (74, 0.16)
    assert (round(resnet.mean, 4), round(resnet.sd, 4)) == (0.6845, 0.0063)
    # Random hyperparameters: 63.3% of 5 and 63.5% of 20 in the text.
    assert (round(random.value, 4), round(random.at(20).value, 4)) == (0.6308, 0.6349)


def test_fixed_hyperparameters_are_better_for_small_budgets_only(shared_data):
    folder = shared_data / "boon_runs"
    names = [f"derived_asreader_cbtcn_{kind}" for kind in ("fixed", "randomhp")]
    runs = join_runs(*(read_runs(folder / f"{name}.csv") for name in names))
    assert best_of_runs(runs, *names, n=1).winner == "a"
    result = best_of_runs(runs, *names, n=5)
    assert result.winner is None
    assert (result.crossing.n, result.leader_after.algorithm) == (10, names[1])


def test_resamples_are_drawn_only_where_they_are_used():
    scores = np.random.default_rng(0).normal(size=(2, 50))
    rng = np.random.default_rng(1)
    before = rng.bit_generator.state
    answer.best_of_runs({"a": scores[0]}, "a", rng=rng)
    assert rng.bit_generator.state == before
    answer.best_of_runs({"a": scores[0], "b": scores[1]}, "a", "b", n_resamples=10, rng=rng)
    assert rng.bit_generator.state != before


@pytest.mark.parametrize("n_resamples", [20_001, 10**15])
def test_resamples_that_nobody_would_wait_for_are_refused(n_resamples):
    with pytest.raises(InvalidInput) as caught:
        answer.best_of_runs({"a": [1.0, 2.0], "b": [1.0, 3.0]}, "a", "b", n_resamples=n_resamples)
    assert str(caught.value) == (
        f"{n_resamples:,} resamples of 2 runs are too many to draw: at 10,000 of one, 20,000 of "
        "the other are the most. Lower --draws (from Python: n_resamples), keep a part of the "
        "runs, or ask about one algorithm by the jackknife, which draws nothing."
    )
