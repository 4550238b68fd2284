"""Verdicts: right when they should be, and kind where others are silently wrong."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from outperform import Comparison, compare, compare_runs
from outperform.errors import InvalidInput, InvalidScores, TooFewRuns, UnknownName, UnpairedScores
from outperform.stats import (
    exact_interval,
    verdict_power,
    verdict_size,
)
from tests.questions.compare.scores import doubts, table, wins


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
    with pytest.raises(InvalidScores, match=r"scores_a has 2 scores that are NaN or infinite, at "):
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
        "A has 1 run and B has 1 run, and one run says nothing about the next. Run both "
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
        UnpairedScores, match=r"2 seeds have a score of A or of B only .first: 1, 2."
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
    assert "2 incomplete runs were left out" in doubts(result)


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
