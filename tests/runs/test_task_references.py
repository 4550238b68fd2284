"""What other columns say of tasks: families, and scores of references."""

import pytest

from outperform import join_runs, read_runs
from outperform.errors import InvalidInput, UnknownColumn, UnknownName, UnreadableRuns
from outperform.runs import make_runs
from outperform.runs.task_references import (
    check_references,
    check_ways,
    read_references,
    take_references,
)

KINDS = ("csv", "jsonl", "parquet", "pandas", "polars", "records", "dict")
ROWS = [
    {"model": m, "task": t, "seed": s, "Family": f, "low": low, "high": 9, "score": 0.5}
    for s in range(2)
    for m in "ab"
    for t, f, low in (("x1", "x", 1), ("x2", "x", 2), ("y", "y", 3))
]


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_has_one_value_on_every_task(shape, kind):
    runs = read_runs(shape(ROWS, kind)[0])
    assert runs.task_values("family") == {"x1": "x", "x2": "x", "y": "y"}
    assert take_references(runs, "low", "high") == {"x1": (1, 9), "x2": (2, 9), "y": (3, 9)}


def refuse(call, error):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def test_what_differs_within_a_task_is_refused():
    rows = [row | {"Family": "z" if row["seed"] and row["task"] == "y" else "x"} for row in ROWS]
    assert refuse(lambda: read_runs(rows).task_values("Family"), UnreadableRuns) == (
        "column 'Family' has 2 values in task 'y' of the list of records (x, z). Give all rows of "
        "a task the same, or name another column."
    )
    some = [row | {"Family": "" if row["seed"] else "x"} for row in ROWS]
    assert refuse(lambda: read_runs(some).task_values("Family"), UnreadableRuns) == (
        "column 'Family' has 2 values in task 'x1' of the list of records (x, (empty)). Give all "
        "rows of a task the same, or name another column."
    )


def test_a_task_without_a_value_is_refused():
    rows = [row | {"Family": None if row["task"] == "x2" else "x"} for row in ROWS]
    assert refuse(lambda: read_runs(rows).task_values("family"), UnreadableRuns) == (
        "column 'Family' is empty in task 'x2' of the list of records (rows 2, 5, 8, 11). Give "
        "every task its Family."
    )


def test_an_unknown_column_is_refused_with_near_names():
    assert refuse(lambda: read_runs(ROWS).task_values("famly"), UnknownColumn) == (
        "no column 'famly' in the list of records. Did you mean 'Family'? It has: model, task, "
        "seed, Family, low, high, score."
    )
    about = {"metric": "accuracy", "goal": "maximize", "source": "study.db"}
    stored = make_runs(["a"], ["x"], [0], [0.5], **about)
    assert refuse(lambda: stored.task_values("family"), UnknownColumn) == (
        "no column 'family' in study.db, which knows nothing else of its tasks. Give a file of "
        "runs that has such a column."
    )


def test_values_of_files_that_were_joined(write):
    parts = [
        read_runs(write(f"task,model,seed,kind,accuracy\n{t},a,0,{k},0.5\n", f"{t}.csv"))
        for t, k in (("x", "image"), ("y", "text"))
    ]
    assert join_runs(*parts).task_values("kind") == {"x": "image", "y": "text"}


def test_rows_that_were_left_out_do_not_count():
    rows = [{**row, "metric": "auc"} for row in ROWS] + [
        {**row, "metric": "loss", "Family": "other"} for row in ROWS
    ]
    assert read_runs(rows, metric="auc").task_values("family")["y"] == "y"


# References


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.csv", "task,baseline,target\npong,-20.7,14.6\nqbert,163.9,13455\n"),
        ("r.tsv", "Dataset\tLow\tHigh\npong\t-20.7\t14.6\nqbert\t163.9\t13455\n"),
        ("r.csv", "benchmark;random;human\npong;-20.7;14.6\nqbert;163.9;13455\n"),
        (
            "r.json",
            '[{"task": "pong", "baseline": -20.7, "target": 14.6}, '
            '{"task": "qbert", "baseline": 163.9, "target": 13455}]',
        ),
    ],
)
def test_references_are_read_by_task(write, name, content):
    references = read_references(write(content, name))
    assert references == {"pong": (-20.7, 14.6), "qbert": (163.9, 13455)}


REFUSED = {
    "no task": (
        "game,baseline,target\npong,0,1\n",
        UnknownColumn,
        "r.csv has no column task (it has: game, baseline, target). Give it one row per task, with "
        "the columns task, baseline and target (or dataset or benchmark for task).",
    ),
    "no target": (
        "task,baseline,best\npong,0,1\n",
        UnknownColumn,
        "r.csv has no column target (it has: task, baseline, best). Give it one row per task, with "
        "the columns task, baseline and target (or high or human for target).",
    ),
    "two baselines": (
        "task,baseline,random,target\npong,0,0,1\n",
        UnknownColumn,
        "columns baseline, random of r.csv may all be the baseline. Keep one of them.",
    ),
    "a task twice": (
        "task,baseline,target\npong,0,1\nqbert,0,1\npong,0,2\n",
        UnreadableRuns,
        "r.csv has task 'pong' more than once (rows 2, 4). Keep one row per task.",
    ),
    "nothing between": (
        "task,baseline,target\npong,0.5,0.5\n",
        InvalidInput,
        "baseline and target of task 'pong' in r.csv are both 0.5, so nothing lies between them. "
        "Give two different scores, or leave the task out of the runs.",
    ),
    "a missing one": (
        "task,baseline,target\npong,0,NaN\n",
        InvalidInput,
        "the target of task 'pong' in r.csv is missing. Give both as finite numbers.",
    ),
    "an infinite one": (
        "task,baseline,target\npong,-inf,1\n",
        InvalidInput,
        "the baseline of task 'pong' in r.csv is -inf. Give both as finite numbers.",
    ),
}


@pytest.mark.parametrize(("content", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_references_that_make_no_sense_are_refused(write, content, error, message):
    assert refuse(lambda: read_references(write(content, "r.csv")), error) == message


def test_a_task_without_references_is_named():
    references = {"pong": (0.0, 1.0), "qbert": (1.0, 3.0)}
    assert [*check_references(references, ["qbert", "pong"])] == ["qbert", "pong"]
    assert check_references(references, ["qbert"]) == {"qbert": (1.0, 3.0)}
    assert refuse(lambda: check_references(references, ["Pong", "qbert"]), UnknownName) == (
        "1 of 2 tasks have no baseline and target: 'Pong'. Add a row for each, spelled alike "
        "(there are: pong, qbert)."
    )


def test_a_target_that_is_worse_than_its_baseline_is_refused():
    rows = [
        {"model": "a", "task": t, "seed": 0, "metric": m, "score": 1.0}
        for t, m in (("iris", "accuracy"), ("houses", "rmse"))
    ]
    runs = read_runs(rows)
    check_ways({"iris": (0.1, 0.9), "houses": (5, 1)}, runs)
    for wrong in ({"iris": (0.9, 0.1), "houses": (5, 1)}, {"iris": (0.1, 0.9), "houses": (1, 5)}):
        with pytest.raises(InvalidInput, match="is worse than its baseline"):
            check_ways(wrong, runs)
    assert refuse(lambda: check_ways({"iris": (0, 1), "houses": (1, 5)}, runs), InvalidInput) == (
        "the target 5 of task 'houses' is worse than its baseline 1, as rmse is to minimize. Swap "
        "the two, or say which way is better (--maximize, --minimize, a column direction)."
    )


def test_columns_of_text_are_no_references():
    assert refuse(lambda: take_references(read_runs(ROWS), "family", "high"), UnreadableRuns) == (
        "column 'family' of the list of records holds 'x' on task 'x1', where a number should be. "
        "Name the columns with the scores of a baseline and of a target."
    )
    same = [row | {"low": 9} for row in ROWS]
    with pytest.raises(InvalidInput, match="are both 9"):
        take_references(read_runs(same), "low", "high")


def test_references_in_another_unit_than_scores_are_refused():
    def read(score, metric):
        return read_runs([{"model": "a", "task": "iris", "seed": 0, metric: score}])

    assert refuse(lambda: check_ways({"iris": (10, 95)}, read(0.9, "accuracy")), InvalidInput) == (
        "baseline 10 and target 95 of task 'iris' look like per cent, and its scores, up to 0.9, "
        "like fractions. Give both in one unit."
    )
    with pytest.raises(InvalidInput, match="look like fractions, and its scores, up to 90"):
        check_ways({"iris": (0.1, 0.95)}, read(90, "accuracy"))
    check_ways({"iris": (0.1, 0.95)}, read(0.9, "accuracy"))
    check_ways({"iris": (5, 0.2)}, read(0.9, "error"))  # per cent, of which there are few
    check_ways({"iris": (0, 29.6)}, read(0.9, "score"))  # of a game
