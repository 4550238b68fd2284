"""Whether A outperforms B on several tasks, on how many, and on average."""

import json
from dataclasses import replace
from itertools import product
from math import comb

import numpy as np
import pytest
from scipy.stats import binomtest

from outperform import Comparison, TaskComparisons, compare_runs, read_runs
from outperform.stats import anytime_interval
from tests.questions.compare.scores import doubts, table, wins


def test_one_task_gives_a_comparison():
    comparison = compare_runs(table(digits=wins(25, 4)), "new", "old")
    assert isinstance(comparison, Comparison)
    assert str(comparison).startswith("new outperforms old on digits: P(new > old) = 0.862 [0.683")


def test_the_overall_verdict_holds_on_every_task():
    runs = table(a=wins(25, 4), b=wins(24, 5), c=wins(600, 400))
    result = compare_runs(runs, "new", "old")
    assert isinstance(result, TaskComparisons)
    assert (result.winner, result.verdict) == ("a", "significant, not meaningful")
    assert str(result) == (
        "new is better than old on all 3 tasks, but by too little to matter on 1: significant, not "
        "meaningful; P(new > old) = 0.763 [0.68, 0.834] on average over these tasks."
    )
    assert result.n_tasks_better == {"a": 3, "b": 0}
    assert [task["task"] for task in result.to_dict()["tasks"]] == ["a", "b", "c"]


def test_tasks_that_disagree_have_no_winner():
    result = compare_runs(table(a=wins(25, 4), b=wins(4, 25), c=wins(15, 14)), "new", "old")
    assert (result.winner, result.verdict) == (None, "not significant")
    assert str(result) == (
        "new is better than old on at least 1 of 3 tasks, old on at least 1; P(new > old) = 0.506 "
        "[0.396, 0.615] on average over these tasks."
    )


def test_sentences_of_two_tasks():
    both = compare_runs(table(a=wins(4, 25), b=wins(5, 24)), "new", "old")
    assert str(both) == (
        "old outperforms new on both tasks: significant and meaningful; P(old > new) = 0.845 "
        "[0.726, 0.927] on average over these tasks."
    )
    none = compare_runs(table(a=wins(14, 15), b=wins(15, 14)), "new", "old")
    assert str(none) == (
        "No difference shown between new and old on any of 2 tasks; P(new > old) = 0.5 [0.366, "
        "0.634] on average over these tasks."
    )


def test_the_sentence_and_the_table_agree_on_what_is_shown():
    one = compare_runs(table(a=wins(6, 0), b=wins(3, 3), c=wins(2, 4), d=wins(3, 3)), "new", "old")
    assert one.comparisons[0].winner == "a"
    assert str(one).startswith(
        "No difference shown between new and old on any of 4 tasks, allowing for their number; "
    )
    everywhere = compare_runs(table(a=wins(6, 0), b=wins(6, 0), c=wins(6, 0)), "new", "old")
    assert everywhere.better["a"].tasks == ("a", "b", "c")
    assert min(everywhere.better["a"].pvalues) > 0.05
    assert everywhere.tables[0].note.endswith("at most 0.05, or one wins on all")


def test_tasks_are_counted_by_exact_sign_tests_and_named_by_holm():
    runs = table(a=wins(25, 4), b=wins(21, 8), c=wins(5, 24, 3), d=wins(15, 14), e=wins(0, 0, 9))
    result = compare_runs(runs, "new", "old")
    one_sided = [binomtest(25, 29).pvalue / 2, binomtest(21, 29).pvalue / 2]
    assert [c.pvalues["a"] for c in result.comparisons][:2] == pytest.approx(one_sided)
    assert result.comparisons[2].pvalues["b"] == pytest.approx(binomtest(24, 29).pvalue / 2)
    assert result.comparisons[4].pvalues == {"a": 1, "b": 1}
    # 21 of 29 is significant by itself (p = 0.024), not beside four others: 4 × 0.024 = 0.096.
    assert [c.winner for c in result.comparisons] == ["a", "a", "b", None, None]
    assert result.n_tasks_better == {"a": 1, "b": 1}
    assert (result.better["a"].tasks, result.better["b"].tasks) == (("a",), ("c",))
    assert result.better["a"].pvalues[:2] == pytest.approx([10 * one_sided[0], 8 * one_sided[1]])
    assert [row[-1] for row in result.tables[0].rows] == ["<.001", "0.096", "0.003", "1", "1"]
    answer = json.loads(json.dumps(result.to_dict()))
    assert answer["n_tasks_better"] == {"a": 1, "b": 1}
    assert answer["better"]["b"]["tasks"] == ["c"]
    assert answer["average"]["probability"] == pytest.approx(
        np.mean([25 / 29, 21 / 29, 6.5 / 32, 15 / 29, 0.5])
    )


def test_tasks_of_which_none_can_be_named_may_be_better_on_average():
    few = {f"t{i}": wins(3, 0) for i in range(9)}
    result = compare_runs(table(**few), "new", "old")
    assert str(result) == (
        "new is better than old on average over these 9 tasks, P(new > old) = 1 [0.872, 1], but on "
        "none that could be named."
    )
    assert (result.winner, result.n_tasks_better) == (None, {"a": 0, "b": 0})
    assert result.caveats == (
        "3 pairs of one task cannot be significant at α = 0.05, whoever wins: at least 6 are "
        "needed",
    )
    two_of_three = table(a=wins(0, 6), b=wins(0, 6), c=wins(2, 4))
    assert str(compare_runs(two_of_three, "new", "old")).startswith(
        "old is better than new on average over these 3 tasks, P(old > new) = 0.889 [0.653, 0.986]"
    )
    # With the third won too, each verdict allows the claim alone.
    three = compare_runs(table(a=wins(6, 0), b=wins(6, 0), c=wins(6, 0)), "new", "old")
    assert (three.winner, three.n_tasks_better) == ("a", {"a": 3, "b": 0})


def test_tasks_by_name_and_on_average_are_two_chances():
    """Equals on two tasks with ten pairs are told apart by either in 6.7% of studies."""
    two = compare_runs(table(a=wins(8, 2), b=wins(8, 2)), "new", "old")
    assert str(two).startswith("new is better than old on average over these 2 tasks, ")
    two_chances = (
        "a task that can be named and the average over tasks are two chances to differ, and equals "
        "do by one of them in up to 10.0% of studies"
    )
    assert two.caveats[0] == two_chances
    for others in ((wins(10, 0), wins(10, 0)), (wins(10, 0), wins(5, 5)), (wins(5, 5), wins(6, 4))):
        result = compare_runs(table(a=others[0], b=others[1]), "new", "old")
        assert two_chances not in result.caveats
    # Five pairs a task are too few to name one.
    assert compare_runs(table(a=wins(5, 0), b=wins(5, 0)), "new", "old").caveats[0] != two_chances


def test_the_sentence_on_two_equal_tasks_errs_as_often_as_is_said():
    """Exactly, over all numbers of pairs won: 6.7%, within the 10% of the caveat."""
    n, claimed = 10, 0.0
    for first, second in product(range(n + 1), repeat=2):
        tasks = table(a=wins(first, n - first), b=wins(second, n - second))
        if not str(compare_runs(tasks, "new", "old")).startswith("No difference shown"):
            claimed += comb(n, first) * comb(n, second) / 4**n
    assert claimed == pytest.approx(0.067, abs=5e-4)


def test_many_small_wins_and_one_large_loss_are_both_said():
    base = np.arange(10) / 100
    tasks = {f"t{i}": (base + 0.001, base) for i in range(5)} | {"huge": (base - 9, base)}
    result = compare_runs(table(**tasks), "new", "old")
    assert str(result).startswith(
        "new is better than old on at least 5 of 6 tasks, old on at least 1; P(new > old) = 0.833 "
    )
    assert result.caveats[0].startswith(
        "old has the better mean over these tasks, although new wins more often"
    )
    lower = compare_runs(read_runs(table(**tasks), goal="minimize"), "new", "old")
    assert lower.caveats[0].startswith("new has the better mean over these tasks, although old ")


@pytest.mark.parametrize(
    ("options", "interval"),
    [({}, "exact"), ({"interval": "percentile"}, "exact"), ({"interval": "wilson"}, "exact"),
     ({"interval": "anytime"}, "anytime"), ({"paired": False}, "exact"),
     ({"paired": False, "interval": "bootstrap"}, "exact"), ({"ties": "strict"}, "exact")],
)  # fmt: skip
def test_only_tasks_with_a_verdict_are_counted_whatever_the_interval(options, interval):
    rng = np.random.default_rng(4)
    tasks = {
        f"t{i}": (rng.normal(shift, 1, 20).round(1), rng.normal(0, 1, 20).round(1))
        for i, shift in enumerate((3, 2, 1, 0.8, 0, -1, -2))
    }
    result = compare_runs(table(**tasks), "new", "old", **options)
    named = {c.task: c.winner for c in result.comparisons}
    for side, found in result.better.items():
        assert len(found.tasks) == found.n_tasks
        assert {named[task] for task in found.tasks} == {side}
    average = result.average
    assert average.probability == pytest.approx(
        np.mean([c.probability for c in result.comparisons])
    )
    assert average.interval.low < average.probability < average.interval.high
    assert average.interval.method == interval
    told = "are told by the exact interval" in doubts(result)
    assert told == (options.get("interval") in ("percentile", "wilson", "bootstrap"))


def test_looking_often_costs_the_average_its_width():
    tasks = table(a=wins(25, 4), b=wins(15, 14))
    once, often = (
        compare_runs(tasks, "new", "old", interval=interval).average.interval
        for interval in ("exact", "anytime")
    )
    assert often.low < once.low < once.high < often.high
    # Both intervals at half of α, averaged.
    each = [anytime_interval(k, 29, confidence_level=0.975).low for k in (25, 15)]
    assert often.low == pytest.approx(np.mean(each))


def test_data_like_these_are_told_apart_from_these_tasks():
    rng = np.random.default_rng(0)
    tasks = {
        name: (base + rng.normal(shift, 0.01, 20), base)
        for name, shift in (("far", 0.1), ("near", 0.01), ("none", 0.0))
        for base in [rng.normal(0.8, 0.02, 20)]
    }
    result = compare_runs(table(**tasks), "new", "old", train_size=800, test_size=200)
    holds = sum(bool(c.holds_for_population) for c in result.comparisons)
    assert holds == 1
    assert "of 3 tasks, for other data like these on 1, each task by itself; P(" in str(result)


def test_doubts_that_all_tasks_share_are_said_once():
    runs = read_runs(table(a=wins(25, 4), b=wins(4, 25)))
    result = compare_runs(replace(runs, notes=("it rained",)), "new", "old")
    assert [doubt for doubt in result.caveats if "it rained" in doubt] == ["it rained"]
    pair = table(a=wins(29, 0), b=wins(25, 4))
    alone = compare_runs(pair, "new", "old", interval="percentile")
    assert [doubt[:9] for doubt in alone.caveats if "won by the same side" in doubt] == [
        "a: every "
    ]
