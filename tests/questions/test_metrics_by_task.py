"""Answers about tasks of different metrics: each goes the way of its own."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from outperform import audit, best_of_runs, compare_runs, plot, read_runs
from outperform.cli import main
from outperform.engines import InlineEngine
from outperform.errors import InvalidInput
from outperform.questions.simulate.answer import resample_error_rates
from outperform.questions.simulate.seeds import trace_run_seeds
from outperform.runner import run_fits
from outperform.store import open_store
from outperform.store.stored_runs import load_runs
from outperform.study.designs import Ideal
from outperform.study.pipelines import FunctionPipeline
from outperform.study.study import Study
from outperform.study.tasks import Task

N_SEEDS = 12


def make_rows(*, reverse=False):
    """`good` is better on both tasks: higher on iris, lower on houses."""
    rng = np.random.default_rng(3)
    about = {"iris": ("accuracy", 0.8, 0.05), "houses": ("rmse", 3.0, -0.5)}
    rows = [
        {
            "model": model,
            "task": task,
            "seed": seed,
            "metric": metric,
            "val": round(level + (model == "good") * gain + abs(gain) * rng.normal(0, 0.2), 4),
            "value": round(level + (model == "good") * gain + abs(gain) * rng.normal(0, 0.2), 4),
        }
        for seed in range(N_SEEDS)
        for model in ("good", "bad")
        for task, (metric, level, gain) in about.items()
    ]
    return rows[::-1] if reverse else rows


@pytest.fixture
def path(tmp_path):
    rows = make_rows()
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    file = tmp_path / "runs.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("a", ["good", "bad"])
@pytest.mark.parametrize("paired", [False, True])
def test_the_better_one_wins_on_every_task_whatever_comes_first(reverse, a, paired):
    b = {"good": "bad", "bad": "good"}[a]
    result = compare_runs(make_rows(reverse=reverse), a, b, paired=paired)
    assert result.winner_name == "good"
    by_task = {each.task: (each.metric, each.goal, each.winner_name) for each in result.comparisons}
    assert by_task == {
        "iris": ("accuracy", "maximize", "good"),
        "houses": ("rmse", "minimize", "good"),
    }
    for task, (metric, goal, _) in by_task.items():
        alone = compare_runs(make_rows(reverse=reverse), a, b, task=task, paired=paired)
        assert (alone.metric, alone.goal, alone.winner_name) == (metric, goal, "good")
    assert not any("usually is to" in caveat for caveat in result.caveats)


def test_each_task_is_judged_as_if_it_stood_alone():
    rows = make_rows()
    for task, metric in (("iris", "accuracy"), ("houses", "rmse")):
        alone = [
            {"model": r["model"], "seed": r["seed"], metric: r["value"]}
            for r in rows
            if r["task"] == task
        ]
        single, mixed = compare_runs(alone, "good", "bad"), compare_runs(rows, "good", "bad")
        (found,) = (each for each in mixed.comparisons if each.task == task)
        assert found.to_dict() | {"task": "", "caveats": []} == single.to_dict() | {"caveats": []}


def scale(**by_task):
    """Multiply the scores of good, and those of bad, on each task."""
    return [
        row | {"value": row["value"] * by_task[row["task"]][row["model"] == "bad"]}
        for row in make_rows()
    ]


def test_shares_are_looked_at_where_they_are():
    """An rmse of 60 beside one of 0.5 is no mixture of per cent and fractions."""
    rows = scale(iris=(1, 100), houses=(0.2, 20))
    assert compare_runs(rows, "good", "bad", task="houses").winner_name == "good"
    with pytest.raises(ValueError, match="--accept scale"):
        compare_runs(rows, "good", "bad", task="iris")
    large = read_runs(scale(iris=(1, 1), houses=(1000, 1000)))
    assert best_of_runs(large, "good", n=3, task="houses").value > 1000


def test_the_command_says_the_metric_of_every_task(path):
    shown = CliRunner().invoke(main, ["compare", str(path), "good", "bad"])
    assert shown.exit_code == 0
    assert "good outperforms bad on both tasks" in shown.stdout
    assert "each task by its own metric; 95% intervals" in shown.stdout
    assert "accuracy ↑" in shown.stdout
    assert "rmse ↓" in shown.stdout
    words = ["compare", str(path), "bad", "good", "--on", "houses", "--json"]
    alone = json.loads(CliRunner().invoke(main, words).stdout)
    assert (alone["metric"], alone["goal"], alone["winner_name"]) == ("rmse", "minimize", "good")


def test_a_figure_names_no_metric_that_is_not_of_all():
    ax = plot(compare_runs(make_rows(), "good", "bad"))
    assert "the metric of each task" in " ".join(ax.get_xlabel().split())
    one = plot(compare_runs(make_rows(), "good", "bad", task="houses"), view="probability")
    assert "rmse (lower is better)" in " ".join(one.get_xlabel().split())


@pytest.mark.parametrize("name", ["margin", "equivalence"])
def test_one_margin_is_in_the_unit_of_one_metric(name):
    with pytest.raises(InvalidInput) as caught:
        compare_runs(make_rows(), "good", "bad", **{name: 0.1})
    assert str(caught.value) == (
        f"{name} is 0.1, which cannot be in the unit of each of 2 metrics (accuracy, rmse). Ask "
        f"about the tasks one by one with --on TASK (task= in Python), or leave out --{name}."
    )
    compare_runs(make_rows(), "good", "bad", task="houses", **{name: 0.1})


def test_tasks_that_nobody_was_scored_on_are_named_without_a_metric_of_others():
    rows = make_rows() + [
        {"model": m, "task": t, "seed": s, "metric": metric, "val": "", "value": ""}
        for m in ("good", "bad")
        for s in range(N_SEEDS)
        for t, metric in (("wine", "auc"), ("cars", "mae"))
    ]
    caveats = compare_runs(rows, "good", "bad").caveats
    assert "nothing is said of wine, cars, where no score was measured" in caveats
    without = [row for row in rows if row["task"] != "cars"]
    assert "nothing is said of wine, where no auc was measured" in (
        compare_runs(without, "good", "bad").caveats
    )


def test_the_best_of_several_is_the_best_by_the_metric_of_the_task():
    runs = read_runs(make_rows())
    low = best_of_runs(runs, "good", n=6, task="houses")
    assert (low.metric, low.goal, low.validation_goal) == ("rmse", "minimize", "minimize")
    assert low.curve.value[5] < low.curve.value[0]
    high = best_of_runs(runs, "good", "bad", n=6, task="iris")
    assert (high.a.metric, high.a.goal, high.a.validation_goal) == (
        "accuracy",
        "maximize",
        "maximize",
    )
    assert high.probability.value > 0.5
    assert best_of_runs(runs, "good", "bad", n=6, task="houses").probability.value > 0.5


def test_an_audit_goes_the_way_of_its_task():
    runs = read_runs(make_rows())
    assert audit(runs, "good", "bad", task="houses").comparison.winner_name == "good"
    alone = audit(runs, "good", task="houses")
    assert (alone.metric, alone.goal) == ("rmse", "minimize")
    assert audit(runs, "good", task="iris").goal == "maximize"


def test_simulated_seeds_are_of_the_metric_of_their_task():
    runs, rng = read_runs(make_rows()), np.random.default_rng(0)
    assert trace_run_seeds(runs, "good", task="houses", n_draws=100, rng=rng).metric == "rmse"


@pytest.mark.parametrize(("task", "metric"), [("iris", "accuracy"), ("houses", "rmse")])
def test_simulations_go_the_way_of_their_task(task, metric):
    rows = [row | {"value": row["value"] ** 9} for row in make_rows()]  # skewed
    alone = [
        {"model": r["model"], "seed": r["seed"], metric: r["value"]}
        for r in rows
        if r["task"] == task
    ]
    settings = {"n_pairs": [5], "rules": ["average"], "n_draws": 100}
    found, known = (
        resample_error_rates(
            read_runs(each), "good", "bad", task=name, rng=np.random.default_rng(1), **settings
        )
        for each, name in ((rows, task), (alone, None))
    )
    assert found.to_dict()["curves"] == known.to_dict()["curves"]


def fit(params, split, seeds, task):
    return {"valid": 0.5, "test": seeds["init"] / 2**32}


def test_a_store_gives_every_task_its_own_metric(tmp_path):
    """Studies have one metric today; their stores say it of every task."""
    pipelines = tuple(FunctionPipeline(name, fit, {}, ("init",)) for name in "ab")
    tasks = tuple(Task(name, metric="accuracy") for name in ("toy", "other"))
    with open_store(tmp_path / "study.db") as store:
        with InlineEngine() as engine:
            run_fits(Study(pipelines, tasks, (Ideal(6),)), store, engine)
        assert load_runs(store).task_metrics == {}
        study = store.get_meta("study")
        study["tasks"]["other"] = {"metric": "rmse", "goal": "minimize"}
        store.set_meta("study", study)
        runs = load_runs(store)
    assert {t: (runs.metric_on(t), runs.goal_on(t)) for t in runs.tasks} == {
        "toy": ("accuracy", "maximize"),
        "other": ("rmse", "minimize"),
    }
