"""Tables whose rows name their metric: one at a time, or one per task."""

import numpy as np
import pytest

from outperform import compare_runs, read_runs
from outperform.errors import UnknownDirection, UnknownName, UnreadableRuns

SEED = np.random.default_rng(6)
ROWS = [
    {"model": m, "task": t, "seed": s, "metric": metric, "value": round(SEED.normal(1, 0.1), 6)}
    for m in "ab"
    for t, metrics in (("x", ("accuracy", "Log Loss")), ("y", ("accuracy",)))
    for s in range(5)
    for metric in metrics
]
KINDS = ("csv", "jsonl", "parquet", "pandas", "polars", "records", "dict")


def scores(metric, task):
    return [r["value"] for r in ROWS if (r["model"], r["task"], r["metric"]) == ("a", task, metric)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_metric_that_is_named_is_read(shape, kind):
    source, called, first = shape(ROWS, kind)
    runs = read_runs(source, metric="accuracy")
    assert (runs.metric, runs.goal, runs.notes) == ("accuracy", "maximize", ())
    assert runs.select("a", "y").tolist() == scores("accuracy", "y")
    assert runs.row[0] == first
    loss = read_runs(source, metric="log loss")
    assert (loss.metric, loss.goal, loss.tasks) == ("Log Loss", "minimize", ("x",))
    assert loss.select("a").tolist() == scores("Log Loss", "x")
    assert loss.notes == ("nothing is said of y, where no Log Loss was measured",)
    with pytest.raises(UnreadableRuns) as caught:
        read_runs(source)
    assert str(caught.value) == (
        f"task 'x' of {called} holds 2 metrics (accuracy: 10 rows, Log Loss: 10 rows). Keep one "
        "with --metric 'accuracy' (from Python: metric='accuracy'), or make each a task of its own "
        "with --task task,metric."
    )
    with pytest.raises(UnknownName) as caught:
        read_runs(source, metric="acuracy")
    assert str(caught.value) == (
        f"no row of {called} is of the metric 'acuracy'. Did you mean 'accuracy'? It has: "
        "accuracy, Log Loss."
    )


@pytest.mark.parametrize("column", ["metric", "Metric_Name", "measure"])
def test_the_only_metric_is_used(column):
    rows = [
        {"model": r["model"], "seed": r["seed"], column: "rmse", "score": r["value"]} for r in ROWS
    ]
    runs = read_runs(rows[:5])
    assert (runs.metric, runs.goal) == ("rmse", "minimize")
    unknown = [row | {column: "goodness"} for row in rows]
    with pytest.raises(UnknownDirection, match="'goodness'"):
        read_runs(unknown)
    assert read_runs(unknown, goal="maximize").metric == "goodness"


def test_a_metric_that_is_a_hyperparameter_does_not_hinder():
    rows = [
        {"model": m, "seed": s, "metric": "cosine", "accuracy": 0.5} for m in "ab" for s in range(3)
    ]
    assert (read_runs(rows).metric, len(read_runs(rows))) == ("accuracy", 6)


def test_a_comparison_names_the_tasks_without_the_metric():
    result = compare_runs(read_runs(ROWS, metric="Log Loss"), "a", "b")
    assert result.task == "x"
    assert "nothing is said of y, where no Log Loss was measured" in result.caveats


@pytest.mark.parametrize("n_tasks", [2, 3])
def test_tasks_without_scores_are_named_the_others_answered(n_tasks):
    rows = [
        {"model": m, "task": t, "seed": s, "auc": None if t == "y" else SEED.random()}
        for m in "ab"
        for t in ("x", "y", "z")[:n_tasks]
        for s in range(5)
    ]
    result = compare_runs(rows, "a", "b")
    tasks = [c.task for c in getattr(result, "comparisons", (result,))]
    assert tasks == ["x", "z"][: n_tasks - 1]
    assert "nothing is said of y, where no auc was measured" in result.caveats


def test_scores_that_one_algorithm_alone_lacks_are_missing():
    rows = [
        {"model": m, "task": t, "seed": s, "auc": None if (t, m) == ("y", "b") else SEED.random()}
        for m in "ab"
        for t in "xy"
        for s in range(5)
    ]
    with pytest.raises(ValueError, match="'b' has 5 of 5 scores missing or infinite in task 'y'"):
        compare_runs(rows, "a", "b")
    failed = [row | {"status": "failed" if row["task"] == "y" else "ok"} for row in rows]
    with pytest.raises(ValueError, match="5 of 5 runs of 'a' are incomplete in task 'y'"):
        compare_runs(failed, "a", "b")


def test_a_metric_of_no_task_is_refused_as_before():
    rows = [{"model": m, "task": "x", "seed": s, "auc": None} for m in "ab" for s in range(5)]
    with pytest.raises(ValueError, match="5 of 5 scores missing"):
        compare_runs(rows, "a", "b")
