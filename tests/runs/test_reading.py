"""Every format gives the same runs."""

import csv
import io
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outperform.errors import InvalidScores
from outperform.runs import read_runs
from outperform.runs.columns import REPLICATE, TASK, normalise

NAMES = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1)
RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "algorithm": NAMES,
            "dataset": st.sampled_from(["cifar", "mnist, small", 'the "best"', "two\nlines"]),
            "seed": st.integers(),
            "reward": st.none() | st.floats(allow_nan=False),
            "valid": st.none() | st.floats(allow_nan=False),
        }
    ),
    min_size=1,
)


def write_delimited(path, records, delimiter):
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(records[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(records)
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    return path


def write_jsonl(path, records):
    path.write_text("\n".join(map(json.dumps, records)) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reading")


@given(RECORDS)
@settings(deadline=None)
def test_every_text_format_gives_the_same_runs(folder, assert_same, records):
    expected = read_runs(records)
    assert expected.metric == "reward"
    sources = [
        write_delimited(folder / "runs.csv", records, ","),
        write_delimited(folder / "runs.tsv", records, "\t"),
        write_delimited(folder / "runs.txt", records, ";"),
        write_jsonl(folder / "runs.jsonl", records),
        {name: [record[name] for record in records] for name in records[0]},
    ]
    for source in sources:
        assert_same(read_runs(source, metric="reward"), expected, but=("source", "row"))


@given(RECORDS)
@settings(deadline=None)
def test_frames_and_parquet_give_the_same_runs(folder, assert_same, records):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    as_text = [record | {"seed": str(record["seed"])} for record in records]
    columns = {name: [record[name] for record in as_text] for name in as_text[0]}
    expected = read_runs(records)
    path = folder / "runs.parquet"
    parquet.write_table(pyarrow.table(columns), path)
    schema = {"reward": polars.Float64, "valid": polars.Float64}
    frames = [
        pandas.DataFrame(columns),
        pandas.DataFrame(columns).set_index("algorithm"),
        polars.DataFrame(columns, schema_overrides=schema),
        polars.LazyFrame(columns, schema_overrides=schema),
        pyarrow.table(columns),
        path,
    ]
    for frame in frames:
        assert_same(read_runs(frame), expected, but=("source", "row"))


SCORES = st.lists(st.floats(-1, 1), min_size=1)
PLAYERS = NAMES.filter(lambda name: normalise(name) not in (*TASK, *REPLICATE))


@given(st.dictionaries(PLAYERS, SCORES, min_size=1))
def test_a_dict_of_scores_numbers_its_replicates(scores):
    runs = read_runs(scores, metric="loss")
    assert runs.algorithms == tuple(scores)
    assert runs.goal == "minimize"
    for name, values in scores.items():
        assert runs.select(name).tolist() == values
    longest = max(map(len, scores.values()))
    assert runs.replicates == tuple(str(i) for i in range(longest))


def test_scores_by_seed():
    runs = read_runs({"a": {10: 0.1, 2: 0.2}, "b": {2: 0.3, 10: 0.4}})
    pairs = runs.pair("a", "b")
    assert pairs.replicates == ("2", "10")
    assert (pairs.a.tolist(), pairs.b.tolist()) == ([0.2, 0.1], [0.3, 0.4])
    assert (runs.metric, runs.goal) == ("score", "maximize")


def test_a_dict_with_a_column_of_seeds_is_wide():
    runs = read_runs({"seed": [7, 8], "a": np.array([0.1, 0.2]), "b": (0.3, 0.4)})
    assert runs.replicates == ("7", "8")
    assert runs.pair("a", "b").b.tolist() == [0.3, 0.4]


def test_wide_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [0.1, 0.2], "b": [0.3, 0.4]})
    assert read_runs(frame, wide=True, goal="maximize").replicates == ("0", "1")
    frame.index = pandas.Index([5, 6], name="seed")
    assert read_runs(frame, wide=True, goal="maximize").replicates == ("5", "6")


def test_seeds_that_pandas_made_floats_are_whole_numbers_again():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"model": ["a", "b"], "seed": [1.0, 2.0], "acc": [None, 0.5]})
    runs = read_runs(frame)
    assert runs.replicates == ("1", "2")
    assert math.isnan(runs.score[0])


@pytest.mark.parametrize("missing", ["", "nan", "NaN", "NA", "n/a", "null", "None", "  "])
@pytest.mark.parametrize("other", ["0.5", '"0.5"'])  # with quotes the csv module reads
def test_missing_scores_are_not_text(write, missing, other):
    runs = read_runs(write(f"algorithm,seed,score\na,1,{missing}\na,2,{other}\n"))
    assert math.isnan(runs.score[0])
    assert runs.score[1] == 0.5


@pytest.mark.parametrize("text", ["1_000", "٠.٥", "0x1p-1", "1,5", "true"])
def test_what_only_some_languages_call_a_number_is_text(text):
    with pytest.raises(InvalidScores):
        read_runs([{"algorithm": "a", "score": text}])


def test_rows_are_lines_of_the_file(write):
    text = '\n\nalgorithm,seed,score\n\n,,\n"a\nb",1,0.5\nc,1,0.25\n\n'
    runs = read_runs(write(text))
    assert runs.algorithms == ("a\nb", "c")
    assert runs.row.tolist() == [6, 8]
    assert read_runs(write("algorithm,seed,score\na,1,2\nb,1,2\n")).row.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("text", "wide"),
    [
        ("accuracy\n0.5\n\n0.25\n", False),
        ("accuracy,lr\n0.5,1\n,\n0.25,1\n", False),
        ("accuracy\n0.5\n \t\n0.25\n", True),
    ],
)
def test_blank_rows_are_no_runs_where_nothing_labels_rows(write, text, wide):
    runs = read_runs(write(text), wide=wide, metric="accuracy")
    assert (runs.score.tolist(), runs.row.tolist()) == ([0.5, 0.25], [2, 4])


def test_a_first_column_without_a_name_is_kept_in_its_place(write):
    text = "\n\talgorithm\tseed\tscore\n0\ta\t1\t0.5\n"  # as pandas writes its index
    runs = read_runs(write(text, "runs.tsv"))
    assert (runs.algorithms, runs.score.tolist()) == (("a",), [0.5])


@pytest.mark.parametrize("line", ["sep=;", "SEP=;\r", '"sep=;"', "\ufeffsep=;", "\nsep=;"])
def test_a_line_that_tells_excel_the_delimiter_is_no_header(write, line):
    runs = read_runs(write(f"{line}\nalgorithm;a,b,c,d;score\na;1;0.5\nb;1;0.25\n"))
    assert (runs.algorithms, runs.score.tolist()) == (("a", "b"), [0.5, 0.25])
    assert runs.row[0] == line.count("\n") + 3


def test_rows_that_sum_up_others_are_left_out_of_many(write):
    rows = "".join(f"a,s{i},0.5\n" for i in range(10_001))
    runs = read_runs(write(f"algorithm,seed,score\n{rows}all,Mean,0.5\n"))
    assert (len(runs), runs.algorithms) == (10_001, ("a",))
    assert runs.notes == ("row 10003 sums up other rows (Mean) and was left out: it is no run",)


@pytest.mark.parametrize("label", ["ensemble", "All", "OOF", "best", "overall"])
def test_what_is_made_of_numbered_runs_is_no_run(write, label):
    runs = read_runs(write(f"model,fold,score\na,1,0.5\na,2,0.6\na,{label},0.7\n"))
    assert runs.score.tolist() == [0.5, 0.6]
    assert runs.notes == (f"row 4 sums up other rows ({label}) and was left out: it is no run",)
    named = read_runs(write(f"model,run,score\na,last,0.5\na,swa,0.6\na,{label},0.7\n"))
    assert (len(named), named.notes) == (3, ())


def test_a_mean_over_the_folds_of_each_seed_is_no_run(write):
    rows = [f"a,{seed},{fold},0.5" for seed in (0, 1) for fold in (0, 1, "mean")]
    path = write("\n".join(["model,seed,fold,score", *rows]))
    assert len(read_runs(path, replicate="seed,fold")) == 4


def test_tasks_that_sum_up_others_are_left_out(write):
    rows = [f"{m},{t},{s},0.5" for m in "ab" for t in ("iris", "wine", "Average") for s in (1, 2)]
    text = "\n".join(["model,task,seed,score", *rows])
    runs = read_runs(write(text))
    assert (runs.tasks, len(runs)) == (("iris", "wine"), 8)
    assert runs.notes == (
        "rows 6, 7, 12, 13 sum up other rows (Average) and were left out: they are no runs",
    )
    for other in ("Avg.", "Avg. rank", "mean_score", "#Wins", "Rank (↓)", "Geometric mean"):
        assert read_runs(write(text.replace("Average", other))).tasks == ("iris", "wine")
    for other in ("sum", "max", "averages", "rank2", "mean-field"):  # tasks of their own
        assert len(read_runs(write(text.replace("Average", other))).tasks) == 3
    two = "\n".join(line for line in text.splitlines() if "wine" not in line)
    assert read_runs(write(two)).tasks == ("iris", "Average")  # which nothing is the average of


def test_a_column_of_names_is_recognised_where_nothing_else_is(write):
    text = "Model_Name,dataset_name,seed,score\na,iris,1,0.5\n"
    runs = read_runs(write(text))
    assert (runs.algorithms, runs.tasks) == (("a",), ("iris",))
    text = "model,model_name,seed,score\na,A,1,0.5\n"
    assert read_runs(write(text)).algorithms == ("a",)


def test_names_are_recognised_in_any_case_after_a_byte_order_mark(write):
    runs = read_runs(write("\ufeffMethod , DATASET,Split,Test\nx,d,3,1\n"), goal="maximize")
    assert (runs.algorithms, runs.tasks, runs.replicates) == (("x",), ("d",), ("3",))
    assert runs.metric == "Test"


def test_columns_can_be_named(write):
    path = write("who,where,rep,part,Quality,acc\nx,d,3,1,0.5,9\nx,d,3,2,0.25,9\n")
    runs = read_runs(
        path, algorithm="who", task="WHERE", replicate="rep,part", metric="quality", goal="maximize"
    )
    assert (runs.tasks, runs.replicates, runs.metric) == (("d",), ("3,1", "3,2"), "Quality")
    assert runs.replicate_columns == ("rep", "part")
    assert read_runs(path, algorithm=["who", "where"]).algorithms == ("x,d",)


def test_validation_scores_are_kept(write):
    runs = read_runs(write("model,seed,val,score\na,1,0.25,0.5\na,2,,0.5\n"))
    np.testing.assert_array_equal(runs.validation, [0.25, math.nan])
    assert read_runs(write("model,val,score\na,5-fold,0.5\n")).validation is None
    named = read_runs(write("model,dev acc,acc\na,0.25,0.5\n"), validation="dev acc")
    assert named.metric == "acc"
    assert named.validation is not None


@pytest.mark.parametrize(
    ("columns", "validation"),
    [
        ("val_acc,test_acc", "val_acc"),
        ("val/acc,test_acc", "val/acc"),
        ("test_acc,Validation Accuracy", "Validation Accuracy"),
        ("valid_accuracy,test_acc", "valid_accuracy"),
        ("dev-f1,test_acc", "dev-f1"),
        ("val_loss,test_acc", "val_loss"),
        ("val_acc,valid,test_acc", "valid"),
        ("metrics.val_acc,test_acc", "metrics.val_acc"),
        ("val_loss,val_acc,test_acc", "val_acc"),  # the metric of the score
        ("metrics.val_loss,metrics.val_acc,test_acc", "metrics.val_acc"),
        ("val_loss,val_f1,test_acc", ""),  # no telling which one chooses
        ("train_acc,Training Loss,train/f1,metrics.train.acc,test_acc", ""),
        ("val_size,test_acc", ""),
        ("valley_acc_gap,test_acc", ""),
        ("best_val_acc,test_acc", "best_val_acc"),
        ("best val/acc,min_val_loss,test_acc", "best val/acc"),
        ("loss_val,acc_val,test_acc", "acc_val"),
        ("accuracy (val),test_acc", "accuracy (val)"),
        ("acc_train,final_train_acc,mean_train_score,test_acc", ""),
        ("f1_std_dev,test_acc", ""),
    ],
)
def test_columns_that_say_validation_hold_it_and_never_the_score(write, columns, validation):
    numbers = ",".join(["0.5"] * len(columns.split(",")))
    runs = read_runs(write(f"{columns}\n{numbers}\n"))
    assert (runs.metric, runs.validation_metric) == ("test_acc", validation)


def test_validation_scores_may_be_reported_by_name(write):
    runs = read_runs(write("model,val_acc\na,0.25\n"), metric="val_acc")
    assert (runs.metric, runs.validation_metric) == ("val_acc", "")


@pytest.mark.parametrize("name", ["best_val_test_acc", "test_acc_best_val", "best_test_acc"])
def test_test_scores_that_validation_chose_are_scores(write, name):
    assert read_runs(write(f"{name},acc_val\n0.5,0.25\n")).metric == name


def test_a_column_of_text_is_not_the_score_if_another_can_be(write):
    assert read_runs(write("model,result,accuracy\na,ok,0.5\n")).metric == "accuracy"


def test_without_algorithms_a_file_is_one_algorithm(write):
    runs = read_runs(write("run,valid_acc,test_acc\n0,0.25,0.5\n", "asreader.csv"))
    assert (runs.algorithms, runs.metric) == (("asreader",), "test_acc")
    assert runs.validation is not None
    assert read_runs([{"seed": 1, "loss": 2}]).algorithms == ("runs",)


def test_wide_rows_are_replicates_or_tasks(write):
    path = write("dataset,resnet,vgg\ncifar,0.5,0.25\nmnist,0.75,\n")
    runs = read_runs(path, wide=True, metric="accuracy", rows="tasks")
    assert (runs.tasks, runs.replicates) == (("cifar", "mnist"), None)
    assert runs.select("resnet", "mnist").tolist() == [0.75]
    assert runs.row.tolist() == [2, 3, 2, 3]
    path = write("resnet,vgg\n0.5,0.25\n0.75,1\n")
    assert read_runs(path, wide=True, goal="minimize", rows="tasks").tasks == ("row 2", "row 3")
    assert read_runs(path, wide=True, goal="minimize").replicates == ("0", "1")


def test_other_columns_of_a_wide_table_do_not_hinder(write):
    path = write(",seed,fold,resnet,vgg,notes\n0,1,1,0.5,0.25,fine\n1,2,1,0.75,1,\n")
    runs = read_runs(path, wide=True, goal="maximize", algorithm=("resnet", "vgg"))
    assert (runs.algorithms, runs.replicates) == (("resnet", "vgg"), ("1", "2"))
    assert runs.spare_columns == ("fold",)
    assert read_runs(path, wide=True, goal="maximize", algorithm="vgg, resnet").algorithms == (
        "vgg",
        "resnet",
    )


@pytest.mark.parametrize("name", ["Unnamed: 0", "trial", "#"])
def test_a_column_that_counts_rows_is_no_algorithm(write, name):
    rows = [f"{i},{0.5 + i * i % 7 / 10},{0.4 + i * i % 5 / 10}" for i in range(1, 7)]
    path = write("\n".join([f"{name},resnet,vgg", *rows]))
    options = {"wide": True, "goal": "maximize"}
    assert read_runs(path, **options).algorithms == ("resnet", "vgg")
    assert read_runs(path, algorithm=f"{name},vgg", **options).algorithms == (name, "vgg")
    path = write("\n".join([f"{name},resnet,vgg", *rows[:3], "9,0.5,0.5", *rows[4:]]))
    assert read_runs(path, **options).algorithms == (name, "resnet", "vgg")


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("n", [150, 569]),
        ("#classes", [3, 2]),
        ("test_size", [30, 114]),
        ("time", [12.5, 80.1]),
        ("lr", [0.01, 0.001]),
        ("p-value", [0.03, ""]),
    ],
)
def test_a_column_that_describes_rows_is_no_algorithm(write, name, cells):
    rows = [f"iris,{cells[0]},0.95,0.96,0.94", f"cancer,{cells[1]},0.94,0.97,0.93"]
    text = "\n".join([f"dataset,{name},C,resnet,vgg", *rows])
    options = {"wide": True, "goal": "maximize", "rows": "tasks"}
    runs = read_runs(write(text), **options)
    assert runs.algorithms == ("C", "resnet", "vgg")
    assert runs.notes == (
        f"{name} is left out, as it seems to describe rows: name all columns that are algorithms "
        "with --algorithm if not",
    )
    named = read_runs(write(text), algorithm=(name, "C", "vgg"), **options)
    assert (named.algorithms, named.notes) == ((name, "C", "vgg"), ())


def test_columns_of_scores_are_algorithms_whatever_they_are_called(write):
    rows = ["iris,0.99,0.6,0.95,0.94", "cancer,0.98,0.5,0.94,0.93"]
    text = "\n".join(["dataset,C,K,resnet,vgg", *rows])
    runs = read_runs(write(text), wide=True, goal="maximize", rows="tasks")
    assert (runs.algorithms, runs.notes) == (("C", "K", "resnet", "vgg"), ())


def test_a_quoted_header_and_old_newlines_are_read(write):
    runs = read_runs(write('"algorithm","seed","top-1, acc"\ra,1,0.5\rb,1,0.25\r'))
    assert (runs.algorithms, runs.metric) == (("a", "b"), "top-1, acc")
    assert read_runs(write('algorithm,"a, b",loss\nx,1,2\n'), replicate="a, b").replicates == ("1",)


@pytest.mark.parametrize(
    ("model", "seed", "score"),
    [
        ("params.model", "params.seed", "metrics.accuracy"),  # MLflow
        ("config.model", "config.seed", "test/acc"),  # Weights & Biases
        ("config/model", "config/seed", "summary/accuracy"),
        ("params_model", "user_attrs_seed", "value"),  # Optuna
    ],
)
def test_columns_that_trackers_export_are_recognised(write, model, seed, score):
    path = write(f"{model},{seed},{score},State\na,1,0.9,finished\nb,1,0.8,finished\n")
    runs = read_runs(path, goal="maximize" if score == "value" else None)
    assert runs.algorithms == ("a", "b")
    assert runs.replicate_columns == (seed,)
    assert (runs.metric, runs.goal) == (score, "maximize")


def test_a_column_of_its_own_goes_before_an_exported_one(write):
    runs = read_runs(write("model,config.model,seed,params.seed,score\na,x,1,7,0.9\nb,x,1,7,0.8\n"))
    assert runs.algorithms == ("a", "b")
    assert runs.replicate_columns == ("seed",)


@pytest.mark.parametrize("indent", [None, 2])
def test_one_json_object_holds_columns_or_one_run(write, indent):
    columns = {"resnet": [0.5, 0.25], "vgg": [0.25, 0.75]}
    path = write(json.dumps(columns, indent=indent), "runs.json")
    assert read_runs(path, wide=True, metric="acc").select("vgg").tolist() == [0.25, 0.75]
    path = write(json.dumps({"model": "a", "eval_acc": 0.5}, indent=indent), "runs.json")
    assert read_runs(path).score.tolist() == [0.5]


def test_nested_records_are_read_like_an_export(write):
    nested = [
        {"config": {"model": model, "seed": seed}, "metrics": {"test": {"accuracy": score}}}
        for model, seed, score in (("a", 1, 0.9), ("a", 2, 0.8), ("b", 1, 0.7))
    ]
    path = write("\n".join(json.dumps(record) for record in nested), "runs.jsonl")
    for source in (nested, path):
        runs = read_runs(source)
        assert runs.select("a").tolist() == [0.9, 0.8]
        assert (runs.metric, runs.replicate_columns) == ("metrics.test.accuracy", ("config.seed",))
