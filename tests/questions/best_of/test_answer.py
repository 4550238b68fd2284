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
from tests.questions.best_of.runs import best_of_runs, make_records, two_algorithms


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


def test_intervals_are_the_jackknifes_unless_told():
    assert best_of_runs(make_records()).interval.method == "jackknife"


def test_the_mean_run_is_not_chosen_and_equal_scores_have_no_deviation():
    found = best_of_runs([{**r, "accuracy": 0.6} for r in make_records()], n=1)
    assert str(found) == (
        "The mean run of net is expected to reach accuracy 0.6 [0.6, 0.6]; one run, 0.6 ± 0 (100 "
        "runs)."
    )


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
