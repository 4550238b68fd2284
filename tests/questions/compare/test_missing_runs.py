"""Runs that are left out must not make a winner."""

import numpy as np
import pytest

from outperform import compare_runs, read_runs
from outperform.questions.compare.gate import decide_gate


def rows(pruned, n=30, seed=3, shift=0.0):
    """Two samples of one algorithm; of `a`, the runs with the lowest scores are pruned."""
    rng = np.random.default_rng(seed)
    scores = {"a": rng.normal(shift, 1, n), "b": rng.normal(0, 1, n)}
    worst = np.argsort(scores["a"])[:pruned]
    return [
        {
            "model": name,
            "seed": k,
            "accuracy": 0.5 + value / 10,
            "state": "PRUNED" if name == "a" and k in worst else "COMPLETE",
        }
        for name in "ab"
        for k, value in enumerate(scores[name])
    ]


@pytest.mark.parametrize("paired", [True, False])
def test_a_pruner_makes_no_winner(paired):
    options = {"drop_incomplete": True, "paired": paired}
    result = compare_runs(rows(30, n=60), "a", "b", **options)
    assert (result.winner, result.verdict, result.size) == (None, "not significant", None)
    assert "too many missing to tell" in str(result)
    assert "a would win, but not if the runs that it lacks had gone badly" in result.caveats[0]
    assert any("flatters a" in caveat for caveat in result.caveats)
    # No number of further pairs makes up for those that are missing.
    assert result.advice == (
        "complete the runs that are missing: the others do not decide without them."
    )


def test_a_pruner_makes_no_better_mean():
    """Four of 30 runs are pruned: wins tell nothing, and means would tell equals apart."""
    results = [compare_runs(rows(4, seed=s), "a", "b", drop_incomplete=True) for s in range(20)]
    flattered = [result for result in results if result.of_runs_left.better_mean == "a"]
    assert flattered
    for result in flattered:
        assert (result.better_mean, result.favoured) == (None, None)
        assert str(result).startswith("No difference shown between a and b: ")
        assert result.caveats[0] == (
            "a would have the better mean, but not if the runs that it lacks had gone badly: "
            "complete them, or compare on replicates that were fixed before any run failed"
        )


def test_a_gate_for_not_being_worse_lets_nobody_pass_that_lacks_runs():
    """Worse by just the margin, with 8 of 30 runs pruned: 32 of 100 passed, and 3 with all runs."""
    options = {"drop_incomplete": True, "margin": 0.05}
    pruned = [compare_runs(rows(8, seed=s, shift=-0.5), "a", "b", **options) for s in range(20)]
    assert any(result.of_runs_left.gain.low > -0.05 for result in pruned)
    assert {decide_gate(result, "not-worse").outcome for result in pruned} == {"undecided"}
    # What its rival lacks is in nobody's way, but for a refutation.
    other = compare_runs(rows(8, shift=-4.0), "b", "a", **options)
    assert decide_gate(other, "not-worse").outcome == "shown"
    worse = compare_runs(rows(8, shift=4.0), "b", "a", **options)
    assert worse.of_runs_left.gain.high < -0.05
    assert decide_gate(worse, "not-worse").outcome == "undecided"


def test_who_lacks_runs_is_not_to_be_reported_as_alike():
    options = {"drop_incomplete": True, "equivalence": 0.2}
    whole = compare_runs(rows(0), "a", "b", **options)
    assert whole.advice.startswith("the two are alike: report that a difference of 0.2 or more")
    pruned = compare_runs(rows(4), "a", "b", **options)
    test = pruned.tests[-1]
    # The interval of the runs that are left rules it out, and they are not all.
    assert max(-test.interval.low, test.interval.high) < 0.2
    assert (test.equivalent, pruned.to_dict()["tests"][-1]["pvalue"]) == (False, None)
    assert dict(pruned.tables[0].rows)["equivalence"] == (
        "a difference of ±0.2 or more is not ruled out"
    )
    assert pruned.advice == (
        "complete the runs that are missing: without them, nothing is ruled out."
    )


def test_a_better_mean_of_who_lacks_nothing_stays():
    """`b` is better by its mean alone, and all that is missing is missing of `a`."""
    rng = np.random.default_rng(0)
    records = [
        {"model": name, "seed": k, "accuracy": value, "state": "FAILED" if gap else "COMPLETE"}
        for k in range(20)
        for name, value, gap in (
            ("a", 0.5 + rng.normal(0, 0.001), k == 0),
            ("b", 0.5 + (0.2 + 0.01 * k if k % 3 == 0 else rng.normal(0, 0.001)), False),
        )
    ]
    result = compare_runs(records, "a", "b", drop_incomplete=True)
    assert (result.winner, result.better_mean) == (None, "b")
    assert str(result).startswith("b has the better mean, but is not shown to beat a more often")


@pytest.mark.parametrize("paired", [True, False])
def test_one_failed_run_does_not_undo_a_clear_verdict(paired):
    result = compare_runs(rows(1, shift=3.0), "a", "b", drop_incomplete=True, paired=paired)
    assert result.winner == "a"
    assert "missing to tell" not in str(result)


def test_runs_that_the_loser_lacks_change_nothing():
    result = compare_runs(rows(5, shift=-4.0), "a", "b", drop_incomplete=True)
    assert result.winner == "b"


def test_with_nothing_left_out_nothing_is_asked():
    records = [row | {"state": "COMPLETE"} for row in rows(0, shift=1.5)]
    result = compare_runs(read_runs(records), "a", "b")
    assert result.withstands_gaps
    assert result.winner == "a"


def on_tasks(pruned, seed):
    records = [
        row | {"task": f"t{task}"} for task in range(4) for row in rows(pruned, seed=[seed, task])
    ]
    return compare_runs(records, "a", "b", drop_incomplete=True)


def test_a_pruner_is_not_better_on_average_over_tasks():
    """Of equals, 8 of 30 runs pruned: 64 of 100 were, and 26 with 4 pruned."""
    results = [on_tasks(8, seed) for seed in range(10)]
    assert {str(result).partition(" on any")[0] for result in results} == {
        "No difference shown between a and b"
    }
    averages = [
        (result.average, type(result)(tuple(c.of_runs_left for c in result.comparisons)).average)
        for result in results
    ]
    assert any(naive.interval.low > 0.5 for _, naive in averages)
    for average, naive in averages:
        assert average.probability == naive.probability
        assert average.interval.low < min(0.5, naive.interval.low)
        assert average.interval.high == naive.interval.high
    assert "P(A>B), verdict and p take missing runs for the worst" in results[0].tables[0].note


@pytest.mark.parametrize("paired", [True, False])
def test_tasks_are_named_by_what_withstands_gaps_at_their_level(paired):
    """That a side wins whatever is missing is known at its own level, not at one for all tasks."""
    result = compare_runs(rows(2, n=20, shift=3.0), "a", "b", drop_incomplete=True, paired=paired)
    assert result.winner == "a"
    assert result.pvalues["a"] > 2 * result.of_runs_left.pvalues["a"]


def test_gamma_is_shown_only_whatever_the_missing_runs_were():
    result = compare_runs(rows(8, n=60, shift=1.8), "a", "b", drop_incomplete=True)
    left = result.of_runs_left
    assert (left.size, result.winner, result.size) == ("shown", "a", "not ruled out")
    assert result.interval.low < 0.75 <= left.interval.low
    assert result.lacking == (8, 0)
    assert result.interval.high == left.interval.high
    assert result.reverse.high == pytest.approx(1 - result.interval.low)


def test_a_mean_shows_nothing_of_other_data_for_who_lacks_runs():
    sizes = {"train_size": 2000, "test_size": 20, "drop_incomplete": True}
    result = compare_runs(rows(1, shift=2.0), "a", "b", **sizes)
    assert result.of_runs_left.gain.low > 0
    assert (result.winner, result.holds_for_population) == ("a", False)
    assert "for other data like it that is not shown (runs are missing): P(a > b)" in str(result)
    assert result.to_dict()["population"]["pvalue"] is None
    assert dict(result.tables[0].rows)["  for data like these"].endswith(", runs are missing")
    assert result.advice == (
        "complete the runs that are missing: of other data, the others tell nothing."
    )
    # Only what it lacks itself is in its way.
    loser = compare_runs(rows(1, shift=-2.0), "a", "b", **sizes)
    assert (loser.winner, loser.holds_for_population) == ("b", True)


TESTS = ["wilcoxon", "paired-t", "sign-flip", "welch-t", "brunner-munzel", "nadeau-bengio"]


@pytest.mark.parametrize("name", TESTS)
def test_pvalues_hold_whatever_the_missing_runs_were(name):
    """Two of 40 runs pruned: means tell nothing, and ranks less than those of the runs left."""
    options = {"tests": [name], "drop_incomplete": True, "train_size": 2000, "test_size": 20}
    records = rows(2, n=40, shift=0.7)
    result = compare_runs(records, "a", "b", **options)
    gone = {row["seed"] for row in records if row["state"] == "PRUNED"}
    left = compare_runs([row for row in records if row["seed"] not in gone], "a", "b", **options)
    (test,), (naive,) = result.tests, left.tests
    assert naive.pvalue < 0.05
    assert (test.statistic, test.name) == (naive.statistic, naive.name)
    if name in ("wilcoxon", "brunner-munzel"):
        assert 2 * naive.pvalue < test.pvalue < 0.5
    else:
        assert test.pvalue > 0.1
    row = dict(result.tables[0].rows)[test.name]
    assert row == f"p = {test.pvalue:.2g} (two-sided, missing runs as the worst)"
    assert result.tables[0].title.endswith("; 95% intervals, of the 38 pairs that are left")
    # The same where lower is better; and what the loser lacks would have spoken for the winner.
    losses = [row | {"loss": 2 - row.pop("accuracy")} for row in map(dict, records)]
    assert compare_runs(losses, "a", "b", **options).tests[0].pvalue == pytest.approx(test.pvalue)
    records = rows(2, n=40, shift=-0.7)
    gone = {row["seed"] for row in records if row["state"] == "PRUNED"}
    left = compare_runs([row for row in records if row["seed"] not in gone], "a", "b", **options)
    lost = compare_runs(records, "a", "b", **options)
    assert (lost.tests, lost.lacking) == (left.tests, (2, 0))


@pytest.mark.slow
def test_pruned_equals_are_told_apart_no_more_often_than_alpha():
    """Negative control: without the check, pruning half of the runs makes a winner of equals."""
    results = [compare_runs(rows(15, seed=s), "a", "b", drop_incomplete=True) for s in range(200)]
    assert sum(result.favoured is not None for result in results) <= 10
    naive = sum(result.of_runs_left.winner is not None for result in results)
    assert naive > 50
