"""Rows that are no runs: points of learning curves, answers to test examples."""

import pytest

from outperform import compare, compare_runs, read_runs
from outperform.errors import InvalidInput, UnreadableRuns

N_SEEDS, N_EPOCHS = 6, 10
# Validation peaks at epoch 6 of every run, the test score at 3.
CURVES = [
    {
        "model": model,
        "seed": seed,
        "epoch": epoch,
        "val_acc": round(0.9 - 0.01 * abs(epoch - 6), 4),
        "test_acc": round(0.8 - 0.01 * abs(epoch - 3) + seed / 1000 + (model == "a") / 100, 4),
    }
    for model in "ab"
    for seed in range(N_SEEDS)
    for epoch in range(1, N_EPOCHS + 1)
]
OWN = "if every row is a run of its own, call the column run."
TAKE = (
    "which row to take: --at last, --at best-validation or --at N for epoch N (from Python: "
    f'at="last"); {OWN}'
)


KINDS = ("csv", "jsonl", "parquet", "pandas", "polars", "records", "dict")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("replicate", [None, "seed,epoch", "epoch,seed"])
def test_points_of_a_learning_curve_are_no_runs(shape, kind, replicate):
    source, called, _ = shape(CURVES, kind)
    with pytest.raises(UnreadableRuns) as caught:
        read_runs(source, replicate=replicate)
    assert str(caught.value) == (
        f"'a' has 10 rows with seed '0' in {called} that differ in epoch (1, 2, 3 and 7 more): "
        f"they are points of a learning curve, not runs. Say {TAKE}"
    )


@pytest.mark.parametrize("replicate", [None, "epoch"])
def test_curves_without_seeds_ask_for_them(replicate):
    records = [{k: v for k, v in r.items() if k not in ("seed", "val_acc")} for r in CURVES]
    with pytest.raises(UnreadableRuns) as caught:
        read_runs(records, replicate=replicate)
    assert str(caught.value) == (
        "'a' has 60 rows in the list of records that differ in epoch (1, 2, 3 and 7 more): they "
        "are points of a learning curve, not runs. Name the column that tells runs apart with "
        "--replicate, and say which row to take: --at last or --at N for epoch N (from Python: "
        f'at="last"); {OWN}'
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("at", "epoch", "note"),
    [
        ("last", 10, "of every run the row of its last epoch (10) was taken"),
        (
            "best-validation",
            6,
            "of every run the row with the best val_acc was taken, of its learning curve no other",
        ),
        (4, 4, "of every run the row at epoch 4 was taken, of its learning curve no other"),
        ("4", 4, "of every run the row at epoch 4 was taken, of its learning curve no other"),
    ],
)
def test_one_row_of_every_run_is_chosen(shape, kind, at, epoch, note):
    source, *_ = shape(CURVES, kind)
    for replicate in (None, "seed,epoch"):
        runs = read_runs(source, at=at, replicate=replicate)
        expected = [r["test_acc"] for r in CURVES if r["model"] == "a" and r["epoch"] == epoch]
        assert runs.pair("a", "b").a.tolist() == expected
        assert (runs.notes, runs.replicate_columns) == ((note,), ("seed",))


def test_the_first_of_equally_good_rows_is_chosen_and_losses_go_down():
    records = [
        {"model": m, "seed": s, "step": step, "val_loss": loss, "accuracy": step / 10}
        for m in "ab"
        for s in range(2)
        for step, loss in ((3, 0.2), (1, 0.2), (2, 0.5), (4, None))
    ]
    runs = read_runs(records, at="best-validation")
    assert runs.score.tolist() == [0.1] * 4


def test_a_run_without_the_step_is_incomplete():
    records = [r for r in CURVES if not (r["model"] == "a" and r["seed"] == 2 and r["epoch"] > 7)]
    runs = read_runs(records, at=10)
    with pytest.raises(InvalidInput) as caught:
        runs.pair("a", "b")
    assert str(caught.value) == (
        "1 of 6 runs of 'a' are incomplete in the list of records: 1 no epoch 10 (row 27). "
        "Complete them, or pass --drop-incomplete to leave them out."
    )
    assert len(runs.pair("a", "b", drop_incomplete=True).a) == 5
    assert read_runs(records, at="last").notes == (
        "of every run the row of its last epoch was taken, although runs end at different ones "
        "(7 to 10)",
    )


def test_a_diverged_last_row_is_missing_not_replaced():
    records = [dict(r) for r in CURVES]
    records[9]["test_acc"] = None
    with pytest.raises(InvalidInput, match=r"1 of 6 scores missing or infinite .*\(row 10\)"):
        read_runs(records, at="last").pair("a", "b")


def test_curves_of_several_folds_and_settings_stay_apart():
    records = [
        {
            "model": m,
            "seed": s,
            "fold": f,
            "lr": lr,
            "epoch": e,
            "accuracy": 0.1 * s + 0.01 * f + lr,
        }
        for m in "ab"
        for s in range(2)
        for f in range(3)
        for lr in (0.001, 0.002)
        for e in range(4)
    ]
    records = [r for r in records if r["epoch"] < 3 or r["fold"] or r["lr"] > 0.001]
    runs = read_runs(records, at="last")
    assert len(runs) == 2 * 2 * 3 * 2  # although one of them ends an epoch before the others
    # A schedule makes no settings of its steps.
    scheduled = [r | {"lr": 1 / (1 + r["epoch"])} for r in CURVES]
    with pytest.raises(UnreadableRuns, match="points of a learning curve"):
        read_runs(scheduled)
    assert len(read_runs(scheduled, at="last")) == 12


def test_steps_within_epochs_are_ordered_by_both():
    records = [
        {"model": m, "seed": s, "step": step, "epoch": epoch, "accuracy": epoch + step / 10}
        for m in "ab"
        for s in range(2)
        for step in range(3)
        for epoch in range(2)
    ]
    assert set(read_runs(records, at="last").score) == {1.2}
    assert set(read_runs(records, at=0).score) == {0.2}


@pytest.mark.parametrize("column", ["timestamp", "_timestamp", "time"])
def test_times_that_alone_tell_rows_apart_make_a_curve(column):
    times = [1.5, 2.5] if column == "time" else ["2024-01-02T03:04", "2024-01-02T03:05"]
    records = [
        {"model": m, "seed": s, column: t, "accuracy": float(i)}
        for m in "ab"
        for s in range(2)
        for i, t in enumerate(times)
    ]
    with pytest.raises(UnreadableRuns, match=rf"that differ in {column} .*: they are points of a"):
        read_runs(records)
    assert read_runs(records, at="last").score.tolist() == [1.0] * 4
    # A time that every run has is none of a curve, nor where something else differs.
    assert len(read_runs(records[::2])) == 4
    assert len(read_runs([r | {"lr": r["accuracy"]} for r in records])) == 8


HARMLESS = {
    "the epoch at which each run stopped": [
        {"model": m, "seed": s, "epoch": 10 + s, "accuracy": 0.5} for m in "ab" for s in range(3)
    ],
    "as many epochs for all, and no seeds": [
        {"model": m, "epoch": 90, "accuracy": 0.5} for m in "ab" for s in range(3)
    ],
    "a hyperparameter of that name": [
        {"model": m, "seed": s, "params.step": s, "accuracy": 0.5} for m in "ab" for s in range(3)
    ],
    "one example for all": [
        {"model": m, "seed": s, "sample": "all", "accuracy": 0.5} for m in "ab" for s in range(3)
    ],
    "a task that is a question": [
        {"model": m, "seed": s, "question": q, "accuracy": 0.5}
        for m in "ab"
        for s in range(3)
        for q in "xy"
    ],
}


@pytest.mark.parametrize("records", HARMLESS.values(), ids=HARMLESS.keys())
def test_harmless_columns_are_read_as_before(records):
    task = "question" if "question" in records[0] else None
    runs = read_runs(records, task=task)
    assert len(runs) == len(records)
    assert runs.notes == ()
    assert runs.incomplete is None


WRONG_AT = {
    "a word": ("first", 'at is \'first\'. Pass "last", "best-validation" or the number of a step.'),
    "a truth value": (
        True,
        'at is True. Pass "last", "best-validation" or the number of a step.',
    ),
    "no steps": (
        "last",
        "no column of the list of records says at which step a row was measured. Leave out --at, "
        "or call the column epoch, step or iteration.",
    ),
}


@pytest.mark.parametrize(("at", "message"), WRONG_AT.values(), ids=WRONG_AT.keys())
def test_what_cannot_be_chosen_is_refused(at, message):
    records = [{"model": m, "seed": s, "accuracy": 0.5} for m in "ab" for s in range(3)]
    with pytest.raises(InvalidInput) as caught:
        read_runs(records, at=at)
    assert str(caught.value) == message


def test_the_best_on_validation_needs_validation_scores():
    records = [{k: v for k, v in r.items() if k != "val_acc"} for r in CURVES]
    with pytest.raises(InvalidInput) as caught:
        read_runs(records, at="best-validation")
    assert str(caught.value) == (
        "no column is recognised as validation scores, by which the best row of a run is chosen. "
        "Name their column with --validation where the command has it, call it validation, or pass "
        "--at last."
    )


def test_a_step_that_is_none_is_named():
    records = [dict(r) for r in CURVES]
    records[3]["epoch"] = "final"
    with pytest.raises(UnreadableRuns) as caught:
        read_runs(records, at="last")
    assert str(caught.value) == (
        "column 'epoch' of the list of records holds 'final' where a step should be (row 4). Give "
        "every row its step, or remove those rows."
    )


@pytest.mark.parametrize("kind", ["csv", "dict", "pandas"])
def test_rows_of_a_wide_table_may_be_points_of_a_curve(shape, kind):
    records = [{"epoch": e, "seed": s, "a": e + s, "b": e - s} for s in range(2) for e in range(3)]
    source, called, _ = shape(records, kind)
    with pytest.raises(UnreadableRuns) as caught:
        read_runs(source, wide=True, goal="maximize")
    assert caught.value.problem == (
        f"there are 3 rows with seed '0' in {called} that differ in epoch (0, 1, 2): they are "
        "points of a learning curve, not runs"
    )
    runs = read_runs(source, wide=True, goal="maximize", at="last")
    assert (runs.algorithms, runs.replicates) == (("a", "b"), ("0", "1"))
    assert runs.pair("a", "b").b.tolist() == [2, 1]


def test_an_algorithm_may_be_called_like_a_step_or_an_example(write):
    path = write("seed,prompt,step\n1,0.5,0.25\n2,0.25,0.5\n")
    assert read_runs(path, wide=True, goal="maximize").algorithms == ("prompt", "step")
    runs = read_runs({"prompt": [0.5, 0.25], "sample": [0.25, 0.5]})
    assert runs.algorithms == ("prompt", "sample")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("replicate", [None, "seed,example_id"])
def test_answers_to_test_examples_are_no_runs(shape, kind, replicate):
    records = [
        {"model": m, "seed": s, "example_id": f"q{e}", "score": (e * s) % 2}
        for m in "ab"
        for s in range(2)
        for e in range(30)
    ]
    source, called, _ = shape(records, kind)
    with pytest.raises(UnreadableRuns) as caught:
        read_runs(source, replicate=replicate)
    assert str(caught.value) == (
        f"'a' has 30 rows with seed '0' in {called} that differ in example_id (q0, q1, q2 and 27 "
        "more): they are answers to test examples, not runs. Give the mean over the examples of "
        "every run, with its seed (comparing given models example by example is coming); " + OWN
    )


@pytest.mark.parametrize("name", ["question", "instance", "prompt_id", "Sample", "example"])
def test_examples_have_many_names(name):
    records = [{"model": m, name: e, "score": 0.5} for m in "ab" for e in range(3)]
    with pytest.raises(UnreadableRuns) as caught:
        compare_runs(records, "a", "b")
    assert caught.value.problem == (
        f"'a' has 3 rows in the list of records that differ in {name} (0, 1, 2): they are answers "
        "to test examples, not runs"
    )


@pytest.mark.parametrize(
    "step", ["Epochs", "train_step", "it", "ckpt", "timesteps_total", "training_iteration"]
)
def test_steps_by_other_names_are_no_replicates(step):
    records = [{k: v for k, v in r.items() if k != "epoch"} | {step: r["epoch"]} for r in CURVES]
    with pytest.raises(UnreadableRuns, match=f"differ in {step} .*points of a learning curve"):
        read_runs(records, replicate=f"seed,{step}")
    assert read_runs(records, at="last").score.size == 2 * N_SEEDS


@pytest.mark.parametrize("metric", ["time", "steps"])
def test_what_was_asked_for_is_a_score_and_no_step(metric):
    records = [{"model": m, metric: 10 + i} for i in range(5) for m in "ab"]
    assert read_runs(records, metric=metric, goal="minimize").score.size == 10


def measured_on(*parts, column="split"):
    """Of every run, a score on each part of the data."""
    return [
        {"model": model, "seed": seed, column: part, "accuracy": 0.8 + seed / 100}
        for model in "ab"
        for seed in range(6)
        for part in parts
    ]


@pytest.mark.parametrize("replicate", [None, "seed,split"])
@pytest.mark.parametrize(
    ("parts", "listed"), [(("Train", "Test"), "Test, Train"), (("train",), "train")]
)
def test_scores_on_training_data_are_no_runs(parts, listed, replicate):
    with pytest.raises(UnreadableRuns) as caught:
        read_runs(measured_on(*parts), replicate=replicate)
    assert str(caught.value) == (
        f"column 'split' of the list of records says on which data a score was measured ({listed})"
        ": only test scores tell which is better. Keep the rows of test data; if the column says "
        "something else, call it run."
    )


@pytest.mark.parametrize("parts", [("test",), ("val",), ("north", "train")])
def test_scores_on_one_part_of_the_data_are_runs(parts):
    replicate = "seed,split" if len(parts) > 1 else None
    assert read_runs(measured_on(*parts), replicate=replicate).score.size == 12 * len(parts)


@pytest.mark.parametrize("column", ["qid", "sample_idx", "sentence_id"])
def test_examples_by_other_names_are_no_runs(column):
    with pytest.raises(UnreadableRuns, match="answers to test examples"):
        read_runs(measured_on("1", "2", "3", column=column), replicate=f"seed,{column}")


@pytest.mark.parametrize("column", ["split", "eval_on"])
def test_scores_on_validation_data_alone_are_noted(column):
    said = (
        f"column {column!r} says that scores are of validation data (val): what was tuned or "
        "stopped by them looks better than it is"
    )
    assert read_runs(measured_on("val", column=column)).notes == (said,)
    assert read_runs(measured_on("test", column=column)).notes == ()
    with pytest.raises(UnreadableRuns, match="only test scores tell which is better"):
        read_runs(measured_on("val", "test", column=column))


METRICS = ("accuracy", "f1", "recall", "auc")


def test_metrics_are_no_replicates(write):
    scores = {name: dict.fromkeys(METRICS, 0.9) for name in "ab"}
    path = write("metric,a,b\n" + "".join(f"{name},0.9,0.8\n" for name in METRICS))
    message = r"are metrics \(.*Give one row per run with its seed"
    with pytest.raises(UnreadableRuns, match=message):
        read_runs(scores)
    with pytest.raises(UnreadableRuns, match=message):
        read_runs(path, wide=True, goal="maximize", replicate="metric")
    with pytest.raises(UnreadableRuns, match=message):
        compare(scores["a"], scores["b"])
    tasks = read_runs(path, wide=True, goal="maximize", task="metric", rows="tasks").tasks
    assert tasks == METRICS


def test_text_before_the_algorithms_of_a_wide_table_labels_rows(write):
    path = write(",a,b\nmnist,0.9,0.8\nsvhn,0.7,0.6\nAvg.,0.8,0.7\n")
    runs = read_runs(path, wide=True, goal="maximize", rows="tasks")
    assert runs.tasks == ("mnist", "svhn")
    runs = read_runs(path, wide=True, goal="maximize")
    assert (runs.replicate_columns, len(runs)) == (("row",), 4)
    assert runs.notes[0] == (
        "rows (mnist, svhn, Avg.) are taken for replicates; if they are tasks, pass --rows tasks"
    )
    seeded = write(",seed,a,b\nmnist,1,0.9,0.8\nsvhn,2,0.7,0.6\n")
    assert read_runs(seeded, wide=True, goal="maximize").replicates == ("1", "2")


def test_other_algorithms_of_a_wide_table_are_no_settings(write):
    rows = "".join(f"{i},0.9{i},0.8{i},0.8{9 - i}\n" for i in (3, 1, 4, 2, 5))
    path = write(f"seed,a,b,C\n{rows}")
    runs = read_runs(path, wide=True, metric="accuracy", algorithm=("a", "b"))
    assert not any("differ in C" in each for each in compare_runs(runs, "a", "b").caveats)
    rates = write("seed,a,b,C\n" + rows.replace(",0.8", ",0.0"))
    runs = read_runs(rates, wide=True, metric="accuracy", algorithm="a")
    assert runs.others.names == ("seed", "b", "C")
