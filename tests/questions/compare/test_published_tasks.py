"""Comparing two methods by a published table of several datasets."""

import json

import pytest
from scipy.stats import ttest_ind_from_stats

from outperform import (
    PublishedTasks,
    PublishedTasksTried,
    compare_published_table,
    decide_gate,
)
from outperform.errors import InvalidInput, InvalidScores, UnknownDirection

TABLE = {
    "Method": ["new", "old"],
    "won": ["95.1 ± 0.2", "94.2 ± 0.3"],
    "far": ["78.4 ± 0.6", "76.1 ± 0.5"],
    "open": ["97.0 ± 0.1", "96.9 ± 0.2"],
    "lost": ["91.0 ± 0.3", "92.2 ± 0.4"],
}


def on_table(table=None, **options):
    options = {"goal": "maximize"} | options
    return compare_published_table(TABLE if table is None else table, "new", "old", **options)


def test_a_table_tells_on_how_many_datasets_and_on_which():
    result = on_table(n=5)
    assert isinstance(result, PublishedTasks)
    assert str(result) == (
        "new is better than old on at least 2 of 4 datasets, old on at least 1, if scores are "
        "normal (5 runs each; Welch's t with Holm's correction)."
    )
    assert result.n_tasks_better == {"a": 2, "b": 1}
    assert result.better["a"].tasks == ("won", "far")
    assert result.better["b"].tasks == ("lost",)
    assert (result.winner, result.verdict) == (None, "not significant")
    # Of four p-values the smallest is multiplied by 4, the next by 3.
    reference = [
        ttest_ind_from_stats(*a, 5, *b, 5, equal_var=False).pvalue
        for a, b in (((95.1, 0.2), (94.2, 0.3)), ((78.4, 0.6), (76.1, 0.5)))
    ]
    assert result.better["a"].pvalues[:2] == pytest.approx([3 * reference[0], 4 * reference[1]])
    assert [row[-1] for row in result.tables[0].rows] == ["new", "new", "–", "old"]
    answer = json.loads(json.dumps(result.to_dict()))
    assert answer["n_tasks_better"] == {"a": 2, "b": 1}
    assert [task["task"] for task in answer["tasks"]] == ["won", "far", "open", "lost"]


def test_without_the_number_of_runs_three_are_tried():
    result = on_table()
    assert isinstance(result, PublishedTasksTried)
    assert result.n_tried == (3, 5, 10)
    assert result.hangs_on_n
    for n, answer in zip(result.n_tried, result.answers, strict=True):
        assert answer.to_dict() == on_table(n=n).to_dict()
    counts = [answer.n_tasks_better for answer in result.answers]
    assert counts == [{"a": 1, "b": 0}, {"a": 2, "b": 1}, {"a": 2, "b": 1}]
    assert str(result) == (
        "It depends on the number of runs, which the table does not say: with n = 3, 5 or 10, new "
        "is better than old on at least 1, 2 or 2 of 4 datasets and old is better than new on at "
        "least 0, 1 or 1 of 4 datasets, if scores are normal."
    )
    assert result.tables[0].header[-3:] == ["n = 3", "n = 5", "n = 10"]
    assert result.to_dict()["hangs_on_n"] is True


def test_where_it_does_not_hang_on_the_number_of_runs_that_is_said():
    clear = {"Method": ["new", "old"], "x": ["95 ± 0.1", "90 ± 0.1"], "y": ["9 ± 0.1", "5 ± 0.1"]}
    assert str(on_table(clear)) == (
        "new is better than old on both datasets, whether n is 3, 5 or 10, if scores are normal."
    )
    unclear = {"Method": ["new", "old"], "x": ["9 ± 5", "9 ± 5"], "y": ["9 ± 5", "8 ± 5"]}
    assert str(on_table(unclear)) == (
        "No difference shown between new and old on any of 2 datasets, whether n is 3, 5 or 10, if "
        "scores are normal."
    )


def test_lower_may_be_better_and_the_loser_be_named_first():
    result = on_table(n=5, goal=None, metric="error")
    assert result.n_tasks_better == {"a": 1, "b": 2}
    assert str(result).startswith("old is better than new on at least 2 of 4 datasets, new on at ")


def test_what_is_left_if_they_are_standard_errors_is_said():
    # With ± 0.1 as standard errors of 5 runs the standard deviations are 0.22, and 5 apart.
    clear = {"Method": ["new", "old"], "x": ["95 ± 0.1", "90 ± 0.1"], "y": ["9 ± 1", "7 ± 1"]}
    result = on_table(clear, n=5)
    assert result.n_tasks_better == {"a": 2, "b": 0}
    assert result.caveats[1] == (
        "papers often print standard errors, or intervals, without saying so: look up what ± is, "
        "and multiply a standard error by √n first; were all of them standard errors, only new on "
        "at least 1 of the datasets would be better"
    )
    assert on_table(n=3).caveats[1].endswith("standard errors, nothing would be shown")
    assert "on at least 0 or 1 of" not in on_table(clear).caveats[1]


def test_doubts_about_single_datasets_carry_their_names():
    table = {**TABLE, "flat": ["99.9 ± 0.0", "99.8 ± 0.1"], "Average": ["1 ± 1", "1 ± 1"]}
    caveats = on_table(table, n=5).caveats
    assert caveats[0].startswith("from a published table: the scores are taken as normal")
    assert "Average was left out: an average over datasets is none of them" in caveats
    assert (
        "flat: the standard deviation of new is 0, which training with several seeds rarely gives"
    ) in caveats
    turned = "'loss' usually is to minimize, but was told to maximize"
    assert [on_table(metric="loss", n=n).caveats[-1] for n in (5, None)] == [turned, turned]


def test_a_gate_on_a_table_asks_for_every_dataset():
    assert decide_gate(on_table(n=5)).outcome == "refuted"
    clear = {"Method": ["new", "old"], "x": ["95 ± 0.1", "90 ± 0.1"], "y": ["9 ± 0.1", "5 ± 0.1"]}
    gate = decide_gate(on_table(clear, n=5))
    assert (gate.outcome, gate.claim) == ("shown", "new outperforms old on all of 2 tasks")
    with pytest.raises(InvalidInput) as caught:
        decide_gate(on_table())
    assert str(caught.value) == (
        "a gate cannot depend on a number of runs that nobody knows. Pass it with --n."
    )


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n": 1}, InvalidInput, "n is 1. Pass a whole number not less than 2."),
        (
            {"goal": None},
            UnknownDirection,
            "the dict does not say whether higher is better. Pass --maximize or --minimize, or the "
            "metric with --metric NAME (from Python: goal= or metric=).",
        ),
        (
            {"goal": None, "metric": "foo"},
            UnknownDirection,
            "nothing says whether a higher 'foo' is better. Pass --maximize or --minimize (from "
            'Python: goal="maximize" or goal="minimize").',
        ),
        (
            {"table": {**TABLE, "flat": ["99 ± 0", "98 ± 0"]}},
            InvalidInput,
            "both standard deviations on 'flat' are 0 in the dict. Write them with more digits, or "
            "leave out that dataset.",
        ),
        (
            {
                "table": [
                    {"method": m, "dataset": d, "mean": 1, "sd": 1, "n": 5}
                    for m in ("new", "old")
                    for d in "xy"
                ],
                "n": 5,
            },
            InvalidInput,
            "the list of records says the number of runs itself. Leave out --n.",
        ),
    ],
)
def test_tables_that_tell_nothing_are_refused(options, error, message):
    with pytest.raises(error) as caught:
        on_table(**options)
    assert str(caught.value) == message


def test_a_table_with_a_row_of_fractions_and_one_of_per_cent_is_refused():
    table = {"method": ["new", "old"], "cifar": ["95.1 ± 0.2", "0.942 ± 0.003"]}
    table |= {"svhn": ["97.0 ± 0.1", "0.969 ± 0.002"]}
    with pytest.raises(InvalidScores, match=r"95\.1 for 'new' and 0\.942 for 'old'"):
        compare_published_table(table, "new", "old", metric="accuracy", n=5)


@pytest.mark.parametrize("name", ["svhn error", "FID ↓", "boston (rmse)"])
def test_columns_that_are_better_the_other_way_are_refused(name):
    cells = {
        "method": ["new", "old"],
        "cifar": ["95.1 ± 0.2", "94.2 ± 0.3"],
        name: ["3 ± 1", "4 ± 1"],
    }
    with pytest.raises(UnknownDirection) as caught:
        compare_published_table(cells, "new", "old", metric="accuracy")
    assert str(caught.value) == (
        f"higher is better on all datasets of the dict, but not by the name of {name}. Compare on "
        "these apart, in a table of their own; if they are datasets, rename them."
    )


def test_the_column_of_means_says_which_way_is_better_whatever_they_are_called():
    table = {
        "method": ["new", "old"] * 2,
        "dataset": ["a", "a", "b", "b"],
        "loss": [0.2, 0.3, 0.1, 0.4],
        "std": [0.01] * 4,
    }
    for metric in (None, "accuracy"):
        result = compare_published_table(table, "new", "old", n=5, metric=metric)
        assert (result.metric, result.goal) == ("loss", "minimize")
        assert str(result).startswith("new is better than old on both")
