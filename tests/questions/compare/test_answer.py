"""Verdicts: right when they should be, and kind where others are silently wrong."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from outperform import Comparison, TaskComparisons, compare, compare_runs, read_runs
from outperform.errors import InvalidInput, InvalidScores, TooFewRuns, UnknownName, UnpairedScores
from outperform.stats import (
    anytime_interval,
    exact_interval,
    verdict_power,
    verdict_size,
)


def wins(n_wins: int, n_losses: int, n_ties: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores in which A wins, loses and ties so many pairs, no two pairs alike."""
    base = np.arange(n_wins + n_losses + n_ties) / 100
    shift = np.repeat([0.001, -0.001, 0.0], [n_wins, n_losses, n_ties])
    return base + shift, base


def doubts(comparison: Comparison) -> str:
    return " | ".join(comparison.caveats)


# By hand: P(W ≥ 21 of 29) = .012 and P(W ≥ 20) = .031, of which the sign test allows .025.
@pytest.mark.parametrize(
    ("n_wins", "verdict", "winner"),
    [
        (29, "significant and meaningful", "a"),
        (21, "significant and meaningful", "a"),
        (20, "not significant", None),
        (15, "not significant", None),
        (9, "not significant", None),
        (8, "significant and meaningful", "b"),
        (0, "significant and meaningful", "b"),
    ],
)
def test_verdict_on_29_pairs(n_wins, verdict, winner):
    comparison = compare(*wins(n_wins, 29 - n_wins))
    assert (comparison.verdict, comparison.winner) == (verdict, winner)
    assert comparison.probability == n_wins / 29
    assert comparison.n_pairs == 29


def test_many_pairs_can_show_that_a_difference_is_too_small_to_matter():
    comparison = compare(*wins(600, 400))
    assert comparison.verdict == "significant, not meaningful"
    assert str(comparison) == (
        "A is better than B, but by too little to matter: P(A > B) = 0.6 [0.569, 0.631], "
        "significant, not meaningful (1000 pairs, γ = 0.75 ruled out)."
    )


def test_verdict_is_symmetric():
    a, b = wins(21, 8)
    forward, backward = compare(a, b), compare(b, a)
    assert (forward.winner, backward.winner) == ("a", "b")
    assert [each.tables[0].rows[2][0] for each in (forward, backward)] == [
        "difference",
        "difference, A − B",
    ]
    assert forward.verdict == backward.verdict
    assert forward.interval.low == pytest.approx(1 - backward.interval.high)


@given(st.integers(6, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_swapping_the_sides_swaps_the_winner(case):
    n, n_wins = case
    forward, backward = compare(*wins(n_wins, n - n_wins)), compare(*wins(n - n_wins, n_wins))
    assert forward.verdict == backward.verdict
    assert {forward.winner, backward.winner} in ({None}, {"a", "b"})


def test_exact_power_and_size_are_those_of_the_verdict():
    from scipy.stats import binom

    for n in (5, 6, 7, 12, 29):
        outcomes = [compare(*wins(k, n - k)) for k in range(n + 1)]
        found = [c.winner == "a" and c.verdict.endswith("and meaningful") for c in outcomes]
        differs = [c.winner is not None for c in outcomes]
        power = binom.pmf(np.arange(n + 1), n, 0.8) @ found
        size = binom.pmf(np.arange(n + 1), n, 0.5) @ differs
        assert verdict_power(n, 0.8) == pytest.approx(power, abs=1e-12)
        assert verdict_size(n) == pytest.approx(size, abs=1e-12)


def test_a_metric_that_goes_down_is_not_ranked_upside_down():
    a, b = wins(25, 4)
    losses = compare(-a, -b, goal="minimize")
    assert losses.winner == "a"
    assert losses.probability == 25 / 29
    assert losses.difference.value < 0  # the metric keeps its own sign
    assert losses.effect_size > 0


def test_strict_intervals_of_both_sides_leave_out_the_ties():
    a, b = [1.0] * 4 + [0.0] * 6, [0.0] * 8 + [1.0] * 2  # 4 wins, 4 ties, 2 losses
    result = compare(a, b, ties="strict")
    assert result.interval == exact_interval(4, 0, 10)
    assert result.reverse == exact_interval(2, 0, 10)


@pytest.mark.parametrize("interval", ["percentile", "wilson", "exact", "anytime"])
@pytest.mark.parametrize("level", [0.5, 0.78125, 0.95, 1 - 1e-12])
@given(counts=st.lists(st.integers(0, 40), min_size=3, max_size=3), ties=st.booleans())
def test_names_never_change_a_verdict(interval, level, counts, ties):
    won, tied, lost = counts[0] + 1, counts[1], counts[2] + 1
    a = np.repeat([1.0, 0.0, 0.0], [won, tied, lost])
    b = np.repeat([0.0, 0.0, 1.0], [won, tied, lost])
    options = {
        "interval": interval,
        "confidence_level": level,
        "ties": "half" if ties else "strict",
    }
    forward, backward = compare(a, b, **options), compare(b, a, **options)
    assert forward.verdict == backward.verdict
    assert (forward.winner, backward.winner) in {("a", "b"), ("b", "a"), (None, None)}
    if forward.winner == "b":
        assert forward.reverse == backward.interval


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_handful_of_wins_is_never_significant(n):
    comparison = compare(*wins(n, 0))
    assert comparison.winner is None
    assert comparison.verdict == "not significant"
    assert f"{n} pairs cannot be significant at α = 0.05, whoever wins: at least 6" in doubts(
        comparison
    )


def test_ties_are_no_evidence_for_anyone():
    comparison = compare(*wins(3, 0, 3), interval="percentile")
    assert comparison.interval.low > 0.5  # the bootstrap has never seen a loss
    assert comparison.winner is None
    assert "3 untied pairs cannot be significant" in doubts(comparison)


def test_six_wins_of_six_are_significant():
    assert compare(*wins(6, 0)).winner == "a"


@pytest.mark.parametrize(
    ("numbers", "runs"),
    [
        ((2, 0), "2 pairs, too few to tell"),
        ((4, 0, 20), "24 pairs, too few of them untied"),
        ((0, 0, 20), "20 pairs, all tied"),
        ((15, 14), "29 pairs"),
    ],
)
def test_the_sentence_says_where_runs_are_too_few(numbers, runs):
    assert f", not significant ({runs}, γ = 0.75)." in str(compare(*wins(*numbers)))


def test_small_differences_are_said_where_they_are():
    result = compare_runs(table(digits=wins(600, 400)), "new", "old")
    assert str(result).startswith("new is better than old on digits, but by too little to matter: ")


def test_all_ties_are_no_difference():
    comparison = compare(*wins(0, 0, 10))
    assert comparison.probability == 0.5
    assert comparison.verdict == "not significant"
    assert comparison.caveats[0] == (
        f"all {comparison.n_pairs} scores of A and B are the same: these are the same runs under "
        "two names, or the same algorithm"
    )


@pytest.mark.parametrize("paired", [True, False])
def test_strict_ties_do_not_make_the_other_side_win(paired):
    comparison = compare(np.full(10, 0.5), np.full(10, 0.5), ties="strict", paired=paired)
    assert comparison.probability == 0
    assert comparison.winner is None


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_one_nan_is_refused_not_ignored(paired, bad):
    a, b = wins(20, 9)
    a[[3, 7]] = bad
    with pytest.raises(
        InvalidScores, match=r"scores_a has 2 score\(s\) that are NaN or infinite, at "
    ):
        compare(a, b, paired=paired)


def test_a_row_of_29_runs_is_not_one_run_of_29_tasks():
    a, b = wins(20, 9)
    with pytest.raises(InvalidScores) as caught:
        compare(a[None, :], b[None, :])
    assert str(caught.value) == (
        "scores_a has shape (1, 29), but one score per run is needed, shape (n_runs,). If its 29 "
        "values are runs of one task, pass scores_a.ravel(); several tasks are compared one at a "
        "time."
    )


def test_unequal_lengths_cannot_be_paired():
    with pytest.raises(UnpairedScores) as caught:
        compare([1.0, 2, 3], [1.0, 2])
    assert str(caught.value) == (
        "cannot pair 3 scores of a with 2 of b. Pass the runs that share their seeds, in the same "
        "order, or paired=False if the runs are independent."
    )


def test_one_run_only():
    with pytest.raises(TooFewRuns) as caught:
        compare([0.9], [0.8])
    assert str(caught.value) == (
        "there are 1 run(s) of A and 1 of B, and one run says nothing about the next. Run both "
        "with several seeds; 29 are a good start."
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"gamma": 75},
            "gamma is 75. Pass a value from 0.5 up to, not including, 1 (75% is 0.75).",
        ),
        ({"goal": "max"}, "goal is 'max'. Choose one of 'maximize', 'minimize'."),
        ({"ties": "none"}, "ties is 'none'. Choose one of 'half', 'strict'."),
        (
            {"gamma": "0.75"},
            "gamma is '0.75'. Pass a number.",
        ),
        ({"confidence_level": "95%"}, "confidence_level is '95%'. Pass a number."),
        ({"paired": "no"}, "paired is 'no'. Pass True or False."),
        (
            {"paired": False, "interval": "bootstrap", "rng": 3},
            "rng is 3, not a numpy.random.Generator. Pass rng=np.random.default_rng(seed).",
        ),
        (
            {"interval": "brunner-munzel"},
            "interval 'brunner-munzel' is not made for paired scores. Choose one of 'exact', "
            "'percentile', 'wilson', 'anytime'.",
        ),
    ],
)
def test_wrong_options_list_the_right_ones(options, message):
    with pytest.raises(InvalidInput) as caught:
        compare(*wins(5, 5), **options)
    assert str(caught.value) == message


def test_scores_with_seeds_are_paired_by_seed():
    a = {0: 0.9, 1: 0.5, 2: 0.7, 3: 0.6, 4: 0.65, 5: 0.8, 6: 0.85}
    b = {seed: a[seed] - 0.01 for seed in reversed(a)}
    assert compare(a, b).probability == 1
    assert compare(list(a.values()), list(b.values())).probability < 1


def test_seeds_that_do_not_match_are_refused():
    with pytest.raises(
        UnpairedScores, match=r"2 seed.s. have a score of A or of B only .first: 1, 2."
    ):
        compare({0: 0.5, 1: 0.6}, {0: 0.5, 2: 0.6})
    assert not compare({0: 0.5, 1: 0.6}, {0: 0.5, 2: 0.6}, paired=False).paired


def test_seeds_of_one_side_only_are_refused():
    with pytest.raises(UnpairedScores) as caught:
        compare([0.5, 0.6], {0: 0.5, 1: 0.6})
    assert str(caught.value) == (
        "the scores of B come with their seeds, those of A do not. Pass two dicts of {seed: "
        "score}, or two plain sequences in the same order."
    )


@pytest.mark.parametrize("name", [1, None, ["new"]])
def test_a_name_that_is_no_text_is_unknown(name):
    with pytest.raises(UnknownName, match=r"no algorithm .* It has: new, old"):
        compare_runs({"new": [1, 2], "old": [2, 1]}, name, "old")


def test_pandas_series_are_paired_by_index():
    pandas = pytest.importorskip("pandas")
    a = pandas.Series([0.9, 0.5, 0.7], index=[0, 1, 2])
    assert compare(a, (a - 0.01)[::-1]).probability == 1
    with pytest.raises(UnpairedScores, match="have a score of A or of B only"):
        compare(a, a.set_axis([5, 6, 7]))
    assert compare([0.9, 0.5, 0.7], a).probability == 0.5  # a list has no index to match


def test_unpaired_runs_are_compared_all_with_all():
    comparison = compare([3.0, 4, 5, 6, 7, 8, 9], [1.0, 2, 3, 4, 5, 6], paired=False)
    # By hand, wins + ties/2 of each of 3…9 against 1…6: 2.5 3.5 4.5 5.5 6 6 6 = 34 of 42.
    assert comparison.probability == pytest.approx(34 / 42)
    assert comparison.n_pairs == 42
    assert comparison.interval.method == "brunner-munzel"


def test_bootstrap_repeats_with_its_seed_only():
    a, b = np.random.default_rng(0).normal(size=(2, 20))
    results = [
        compare(a, b, paired=False, interval="bootstrap", rng=np.random.default_rng(seed)).interval
        for seed in (1, 1, 2)
    ]
    assert results[0] == results[1] != results[2]


def test_results_are_frozen_and_speak_json():
    comparison = compare(*wins(21, 8))
    with pytest.raises(AttributeError):
        comparison.gamma = 0.6  # type: ignore[misc]
    result = json.loads(json.dumps(comparison.to_dict()))
    assert result["verdict"] == "significant and meaningful"
    assert result["interval"]["low"] == exact_interval(21, 0, 29).low
    assert (result["winner"], result["winner_name"]) == ("a", "A")
    assert result["size"] == "not ruled out"
    assert result["scope"] == {"varied": ["runs"], "about": "this dataset"}
    assert result["population"] is None
    assert result["n_pairs"] == 29


def table(**tasks: tuple[np.ndarray, np.ndarray]) -> list[dict[str, object]]:
    return [
        {"algorithm": name, "task": task, "seed": seed, "reward": score}
        for task, pair in tasks.items()
        for name, scores in zip(("new", "old"), pair, strict=True)
        for seed, score in enumerate(scores)
    ]


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


def test_one_task_can_be_picked():
    result = compare_runs(table(a=wins(25, 4), b=wins(4, 25)), "new", "old", task="b")
    assert isinstance(result, Comparison)
    assert result.winner == "b"


def test_tables_without_replicates_are_unpaired_and_say_so():
    rows = [{k: v for k, v in row.items() if k != "seed"} for row in table(a=wins(25, 4))]
    free, forced = (compare_runs(rows, "new", "old", paired=paired) for paired in (None, True))
    assert not free.paired
    assert "no replicate column, so runs were compared all with all" in doubts(free)
    assert forced.paired
    assert "runs were paired in the order of its rows" in doubts(forced)


def test_dropped_runs_are_counted():
    rows = table(a=wins(25, 4))[:-2]
    with pytest.raises(UnpairedScores):
        compare_runs(rows, "new", "old")
    result = compare_runs(rows, "new", "old", drop_incomplete=True)
    assert result.n_pairs == 27
    assert "2 incomplete run(s) were left out" in doubts(result)


def test_strict_ties_are_no_wins_of_anyone():
    result = compare(np.full(10, 0.5), np.full(10, 0.5), ties="strict")
    assert (result.probability, result.reverse_probability) == (0, 0)
    assert "won by the same side" not in doubts(result)


def test_series_in_a_dict_are_paired_by_index():
    pandas = pytest.importorskip("pandas")
    a = pandas.Series(np.arange(8.0), index=range(8))
    assert compare_runs({"new": a + 0.1, "old": a[::-1]}, "new", "old").probability == 1


def test_folds_are_not_independent_runs():
    rows = [row | {"fold": row["seed"]} for row in table(a=wins(25, 4))]
    for row in rows:
        del row["seed"]
    result = compare_runs(rows, "new", "old")
    assert result.scope.varied == ("folds of this dataset",)
    assert "folds share most of their training data" in doubts(result)
    assert "--train-size and --test-size" in doubts(result)
    assert "folds" not in doubts(compare_runs(table(a=wins(25, 4)), "new", "old"))


@pytest.mark.slow
def test_equals_are_told_apart_as_rarely_as_the_exact_size_says():
    from scipy.stats import binomtest

    rng = np.random.default_rng(11)
    n_studies = 4000
    found = sum(compare(*rng.normal(size=(2, 29))).winner is not None for _ in range(n_studies))
    assert binomtest(found, n_studies, verdict_size(29)).pvalue > 0.001


@pytest.mark.slow
def test_peeking_after_every_pair_breaks_the_level_but_not_with_the_anytime_interval():
    rng = np.random.default_rng(5)
    n_studies, alarms = 200, {"percentile": 0, "anytime": 0}
    for a, b in rng.normal(size=(n_studies, 2, 60)):
        for method in alarms:
            alarms[method] += any(
                compare(a[:n], b[:n], interval=method).winner for n in range(6, 61)
            )
    assert alarms["anytime"] / n_studies <= 0.05
    assert alarms["percentile"] / n_studies > 0.15  # the negative control


class LabelledArray:
    """As arrays of xarray are: with `reindex`, but no index of its own."""

    def __init__(self, scores):
        self.scores = scores

    def __array__(self, dtype=None, copy=None):
        return np.array(self.scores, dtype=dtype)

    def reindex(self):
        raise NotImplementedError


def test_labelled_arrays_are_paired_in_their_order():
    a, b = wins(5, 5)
    labelled = compare(LabelledArray(a), LabelledArray(b))
    assert labelled.probability == compare(a, b).probability


def test_a_chance_to_err_is_no_level_of_confidence():
    with pytest.raises(InvalidInput) as caught:
        compare([3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 6], confidence_level=0.05)
    assert str(caught.value) == (
        "confidence_level is 0.05: most intervals would miss the truth. Pass 0.95 for a chance to "
        "err of 0.05."
    )
