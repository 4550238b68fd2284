"""Tasks of different metrics and directions, as the rows of a table say."""

import pytest

from outperform import join_runs, read_runs
from outperform.errors import InvalidInput, UnknownDirection, UnknownName, UnreadableRuns

KINDS = ("csv", "jsonl", "parquet", "pandas", "polars", "records", "dict")
ROWS = [
    {"model": m, "dataset": t, "seed": s, "metric": metric, "score": 0.5 + s / 10}
    for m in "ab"
    for s in range(3)
    for t, metric in (("iris", "accuracy"), ("houses", "RMSE"))
]


def alter(**columns):
    """Rows in which columns depend on the task: one value for iris, another for houses."""
    places = ("iris", "houses")
    return [
        {k: v for k, v in row.items() if columns.get(k, v) is not None}
        | {k: v[places.index(row["dataset"])] for k, v in columns.items() if v is not None}
        for row in ROWS
    ]


def measures(runs):
    return {task: (runs.metric_on(task), runs.goal_on(task)) for task in runs.tasks}


def refuse(rows, error, **options):
    with pytest.raises(error) as caught:
        read_runs(rows, **options)
    return str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("turn", [1, -1])
def test_every_task_has_its_metric(shape, kind, turn):
    runs = read_runs(shape(ROWS[::turn], kind)[0])
    assert measures(runs) == {"iris": ("accuracy", "maximize"), "houses": ("RMSE", "minimize")}
    assert runs.goal is None
    assert len(runs) == 12
    assert sorted(runs.select("a", "houses")) == [0.5, 0.6, 0.7]


def test_a_table_says_what_its_tasks_are_measured_by():
    runs = read_runs(ROWS)
    assert runs.metric == "accuracy, RMSE"
    assert str(runs) == (
        "12 runs of 2 algorithms on 2 tasks (maximize accuracy on 1, minimize RMSE on 1, from the "
        "list of records)"
    )
    assert hash(runs) == hash(read_runs(ROWS))
    assert runs != read_runs(alter(metric=("RMSE", "accuracy")))


def test_one_metric_for_all_tasks_is_that_of_each():
    runs = read_runs(alter(metric=("auc", "auc")))
    assert (runs.metric, runs.goal, runs.task_metrics) == ("auc", "maximize", {})
    assert measures(runs) == dict.fromkeys(("iris", "houses"), ("auc", "maximize"))
    assert (runs.metric_on(), runs.goal_on()) == ("auc", "maximize")
    assert read_runs(alter(metric=("auc", "accuracy"))).goal == "maximize"


def test_a_task_must_be_named_where_it_matters():
    runs = read_runs(ROWS)
    with pytest.raises(UnknownName, match="has 2 tasks and none was named"):
        runs.goal_on()
    with pytest.raises(UnknownName, match="Did you mean 'houses'"):
        runs.metric_on("house")


def test_one_metric_may_still_be_asked_for():
    runs = read_runs(ROWS, metric="rmse")
    assert measures(runs) == {"houses": ("RMSE", "minimize")}
    assert runs.notes == ("nothing is said of iris, where no RMSE was measured",)


def test_metrics_that_differ_in_case_are_one():
    rows = [row | {"metric": "Acc" if row["seed"] else "acc"} for row in ROWS]
    runs = read_runs(rows)
    assert (runs.metric, len(runs)) == ("acc", 12)
    assert len(read_runs(rows, metric="ACC")) == 12


def test_two_metrics_on_one_task_are_refused_or_made_tasks():
    rows = ROWS + [row | {"metric": "mae"} for row in ROWS[1::2] if row["seed"]]
    assert refuse(rows, UnreadableRuns) == (
        "task 'houses' of the list of records holds 2 metrics (RMSE: 6 rows, mae: 4 rows). Keep "
        "one with --metric 'RMSE' (from Python: metric='RMSE'), or make each a task of its own "
        "with --task dataset,metric."
    )
    runs = read_runs(rows, task="dataset,metric")
    assert measures(runs) == {
        "iris,accuracy": ("accuracy", "maximize"),
        "houses,RMSE": ("RMSE", "minimize"),
        "houses,mae": ("mae", "minimize"),
    }
    assert len(runs.select("a", "houses,mae")) == 2
    without = alter(dataset=None)
    assert refuse(without, UnreadableRuns) == (
        "the list of records holds 2 metrics (accuracy: 6 rows, RMSE: 6 rows). Keep one with "
        "--metric 'accuracy' (from Python: metric='accuracy'), or make each a task of its own with "
        "--task metric."
    )
    assert measures(read_runs(without, task="metric"))["RMSE"] == ("RMSE", "minimize")


def test_scores_without_a_name_of_their_own_have_the_metric_of_the_row():
    """They would all be taken for something to maximize."""
    renamed = [{("test_score" if k == "score" else k): v for k, v in row.items()} for row in ROWS]
    assert measures(read_runs(renamed))["houses"] == ("RMSE", "minimize")
    distances = [row | {"metric": "cosine"} for row in renamed]
    assert read_runs(distances).metric == "test_score"


def test_an_unknown_metric_needs_a_direction():
    rows = alter(metric=("goodness", "rmse"))
    assert refuse(rows, UnknownDirection) == (
        "nothing says whether a higher 'goodness' is better (task 'iris' of the list of records). "
        "Add a column direction that says maximize or minimize in every row; --maximize or "
        "--minimize (from Python: goal=) will do if it holds for all tasks."
    )
    assert measures(read_runs(rows, goal="minimize"))["iris"] == ("goodness", "minimize")
    told = alter(metric=("goodness", "rmse"), direction=("up", "down"))
    assert measures(read_runs(told)) == {
        "iris": ("goodness", "maximize"),
        "houses": ("rmse", "minimize"),
    }


@pytest.mark.parametrize("column", ["goal", "Direction"])
@pytest.mark.parametrize(
    ("up", "down"),
    [
        ("maximize", "minimize"),
        ("Maximise", "MINIMISE"),
        ("higher", " lower "),
        ("Higher is better", "lower_is_better"),
        ("UP", "down"),
    ],
)
def test_a_column_says_which_way_is_better(column, up, down):
    runs = read_runs(alter(metric=None, **{column: (up, down)}))
    assert measures(runs) == {"iris": ("score", "maximize"), "houses": ("score", "minimize")}
    turned = read_runs(alter(metric=None, **{column: (down, up)}))
    assert measures(turned)["iris"] == ("score", "minimize")
    assert read_runs(alter(metric=None, **{column: (down, down)})).goal == "minimize"


def test_a_goal_that_is_no_direction_does_not_hinder():
    assert measures(read_runs(alter(goal=("door", "window"))))["houses"] == ("RMSE", "minimize")


REFUSED = {
    "a direction against the name": (
        {"direction": ("up", "up")},
        {},
        "'RMSE' in task 'houses' of the list of records is to maximize by its column of directions "
        "and minimize by its name. Let all say the same: mend the column, leave out the option, or "
        "give the metric the name of what it is (neg_rmse for an rmse that was turned round).",
    ),
    "an option against the name": (
        {},
        {"goal": "maximize"},
        "'RMSE' in task 'houses' of the list of records is to minimize by its name and maximize by "
        "--maximize. Let all say the same: mend the column, leave out the option, or give the "
        "metric the name of what it is (neg_rmse for an rmse that was turned round).",
    ),
    "an option against the column": (
        {"metric": None, "direction": ("up", "up")},
        {"goal": "minimize"},
        "'score' in task 'iris' of the list of records is to maximize by its column of "
        "directions and minimize by --minimize. Let all say the same: mend the column, leave out "
        "the option, or give the metric the name of what it is (neg_rmse for an rmse that was "
        "turned round).",
    ),
    "a word that is none": (
        {"direction": ("up", "dwn")},
        {},
        "column 'direction' of the list of records holds 'dwn' (rows 2, 4, 6, 8, 10 and 1 more), "
        "which says no direction. Write maximize or minimize; if the column says something else, "
        "give it another name.",
    ),
    "no word": (
        {"direction": ("up", "")},
        {},
        "column 'direction' of the list of records holds '' (rows 2, 4, 6, 8, 10 and 1 more), "
        "which says no direction. Write maximize or minimize; if the column says something else, "
        "give it another name.",
    ),
    "two columns": (
        {"direction": ("up", "down"), "goal": ("up", "down")},
        {},
        "columns goal, direction of the list of records both say which way is better. Keep one of "
        "them.",
    ),
}


@pytest.mark.parametrize(("columns", "options", "message"), REFUSED.values(), ids=REFUSED)
def test_directions_that_contradict_are_refused(columns, options, message):
    assert refuse(alter(**columns), (UnknownDirection, UnreadableRuns), **options) == message


def test_a_task_that_goes_both_ways_is_refused():
    rows = [row | {"direction": "down" if row["seed"] else "up"} for row in alter(metric=None)]
    assert refuse(rows, UnreadableRuns) == (
        "scores of task 'iris' of the list of records are to maximize in 2 rows and to minimize in "
        "4 rows. Give all rows of a task one direction."
    )


def test_the_best_validation_score_is_the_best_by_the_metric_of_its_task():
    rows = [
        row | {"epoch": e, "val_score": 1.0 + e, "score": float(e)} for row in ROWS for e in (0, 1)
    ]
    runs = read_runs(rows, at="best-validation")
    assert runs.select("a", "iris").tolist() == [1, 1, 1]
    assert runs.select("a", "houses").tolist() == [0, 0, 0]


def test_files_of_different_tasks_may_have_different_metrics(write):
    parts = [
        read_runs(write(f"task,model,seed,{m}\n{t},a,0,0.5\n{t},b,0,0.6\n", f"{t}.csv"))
        for t, m in (("iris", "accuracy"), ("houses", "rmse"))
    ]
    joined = join_runs(*parts)
    assert measures(joined) == {"iris": ("accuracy", "maximize"), "houses": ("rmse", "minimize")}
    again = join_runs(joined, read_runs(write("task,model,seed,rmse\nhouses,c,0,0.4\n")))
    assert measures(again) == measures(joined)
    with pytest.raises(InvalidInput) as caught:
        join_runs(joined, read_runs(write("task,model,seed,mae\nhouses,c,0,0.4\n")))
    assert str(caught.value) == (
        "iris.csv, houses.csv holds rmse on 'houses' and runs.csv mae, which cannot be compared. "
        "Join runs of one metric; if the two are the same, give both columns one name."
    )


def score_tasks(iris, houses, name="score", **columns):
    """Rows without metrics, in which the scores of a seed are these on iris and on houses."""
    rows = alter(metric=None, score=None, **columns)
    return [r | {name: (iris if r["dataset"] == "iris" else houses)[r["seed"]]} for r in rows]


@pytest.mark.parametrize("task", ["boston_rmse", "WMT TER", "librispeech (WER)"])
def test_bare_scores_on_tasks_called_errors_need_a_direction(task):
    rows = score_tasks((0.91, 0.92, 0.9), (0.3, 0.4, 0.35))
    rows = [row | {"dataset": row["dataset"].replace("houses", task)} for row in rows]
    assert refuse(rows, UnknownDirection) == (
        "nothing says that a higher 'score' of the list of records is better, and by their names "
        f'not on {task}. Pass --maximize (from Python: goal="maximize") if higher is better on '
        "all tasks; if not, add a column direction that says maximize or minimize in every row, or "
        "a column metric."
    )
    assert read_runs(rows, goal="maximize").goal == "maximize"


def test_bare_scores_of_other_scales_need_a_direction():
    rows = score_tasks((0.91, 0.92, 1), (118, 121.5, None))
    assert refuse(rows, UnknownDirection) == (
        "'score' of the list of records lies between 0.91 and 1 on 'iris' and between 118 and "
        "121.5 on 'houses': nothing says that higher is better on both, as for an accuracy, and "
        'not lower on one, as for an error. Pass --maximize (from Python: goal="maximize") if '
        "higher is better on all tasks; if not, add a column direction that says maximize or "
        "minimize in every row, or a column metric."
    )
    assert read_runs(rows, goal="maximize").goal == "maximize"
    told = score_tasks((0.91, 0.92, 1), (118, 121.5, 120), direction=("up", "down"))
    assert read_runs(told).goal_on("houses") == "minimize"


@pytest.mark.parametrize(
    ("iris", "houses", "name"),
    [
        ((0.91, 0.92, 0.93), (0.5, 1.5, 2.5), "score"),
        ((0, 0, 0), (2000, 2500, 2600), "score"),  # of games, in some of which few score at all
        ((-3.5, 0.5, 0.7), (200, 250, 260), "score"),
        ((0.91, 0.92, 0.93), (200, 250, 260), "reward"),
        ((91, 92, 93), (200, 250, 260), "score"),
        ((0.91, 0.92, 0.93), (None, None, None), "score"),
    ],
    ids=["overlapping", "games", "negative", "named", "per cent", "missing"],
)
def test_other_bare_scores_are_higher_the_better(iris, houses, name):
    assert read_runs(score_tasks(iris, houses, name)).goal == "maximize"


def test_tasks_called_after_metrics_that_are_better_the_other_way_are_noted(write):
    text = "model,task,value\nours,PSNR,33\nours,LPIPS,0.03\nnerf,PSNR,31\nnerf,LPIPS,0.08\n"
    assert read_runs(write(text), goal="maximize").notes == (
        "higher is taken as better on LPIPS, which the name denies: if these are metrics, name "
        "them in a column metric, one row for each, with --task metric",
    )
    by_metric = write(text.replace("task", "metric"), "metrics.csv")
    assert read_runs(by_metric, task="metric").notes == ()
