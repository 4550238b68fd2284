"""Every format gives the same runs, and what is not runs is refused with help."""

import csv
import io
import json
import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outperform.errors import (
    InvalidInput,
    InvalidScores,
    MissingExtra,
    OutperformError,
    UnknownColumn,
    UnknownDirection,
    UnknownName,
    UnreadableRuns,
)
from outperform.runs import read_runs
from outperform.runs.columns import REPLICATE, TASK, normalise

NAMES = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1)
RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "algorithm": NAMES,
            "dataset": st.sampled_from(["cifar", "mnist, small", 'the "best"', "two\nlines"]),
            "seed": st.integers(),
            "accuracy": st.none() | st.floats(allow_nan=False),
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
    assert expected.metric == "accuracy"
    sources = [
        write_delimited(folder / "runs.csv", records, ","),
        write_delimited(folder / "runs.tsv", records, "\t"),
        write_delimited(folder / "runs.txt", records, ";"),
        write_jsonl(folder / "runs.jsonl", records),
        {name: [record[name] for record in records] for name in records[0]},
    ]
    for source in sources:
        assert_same(read_runs(source, metric="accuracy"), expected, but=("source", "row"))


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
    schema = {"accuracy": polars.Float64, "valid": polars.Float64}
    frames = [
        pandas.DataFrame(columns),
        pandas.DataFrame(columns).set_index("algorithm"),
        polars.DataFrame(columns, schema_overrides=schema),
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
        ("val_loss,val_acc,test_acc", ""),  # no telling which one chooses
        ("val_size,test_acc", ""),
        ("valley_acc_gap,test_acc", ""),
    ],
)
def test_columns_that_begin_like_validation_hold_it_and_never_the_score(write, columns, validation):
    numbers = ",".join(["0.5"] * len(columns.split(",")))
    runs = read_runs(write(f"{columns}\n{numbers}\n"))
    assert (runs.metric, runs.validation_metric) == ("test_acc", validation)


def test_validation_scores_may_be_reported_by_name(write):
    runs = read_runs(write("model,val_acc\na,0.25\n"), metric="val_acc")
    assert (runs.metric, runs.validation_metric) == ("val_acc", "")


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


LONG = "algorithm,seed,score\n"
REFUSED_FILES = {
    "empty": ("", {}, UnreadableRuns, "runs.csv is empty. Give it a header and one row per run."),
    "header only": (LONG, {}, UnreadableRuns, "runs.csv holds no runs. Add one row per run."),
    "blank rows only": (
        LONG + "\n,,\n",
        {},
        UnreadableRuns,
        "runs.csv holds no runs. Add one row per run.",
    ),
    "binary": (
        b"\x89PNG\r\n\0\1",
        {},
        UnreadableRuns,
        "runs.csv is not text. Give a CSV, TSV, JSON Lines or Parquet file.",
    ),
    "encoding": (
        (LONG + "é,1,2\n").encode("latin1"),
        {},
        UnreadableRuns,
        "runs.csv is not UTF-8 text: byte 0xe9 in row 2. Save it as UTF-8.",
    ),
    "utf-16": (
        LONG.encode("utf-16"),
        {},
        UnreadableRuns,
        "runs.csv is not UTF-8 text: byte 0xff in row 1. Save it as UTF-8.",
    ),
    "ragged": (
        LONG + "a,1,2\nb,1\n",
        {},
        UnreadableRuns,
        "row 3 of runs.csv has 2 fields, the header has 3. Complete the row, or put quotes around "
        "text that holds ','.",
    ),
    "open quote": (
        LONG + '"a,1,2\n',
        {},
        UnreadableRuns,
        "row 2 of runs.csv is not regular: unexpected end of data. Check its quotes.",
    ),
    "two columns of one name": (
        "algorithm,seed,seed\na,1,2\n",
        {},
        UnreadableRuns,
        "runs.csv has more than one column named seed. Give every column a name of its own.",
    ),
    "no names": (
        ",,\na,1,2\n",
        {},
        UnreadableRuns,
        "runs.csv names no columns. Start it with a row of column names.",
    ),
    "text": (
        LONG + "a,1,2\na,2,diverged\na,3,oom\n",
        {},
        InvalidScores,
        "column 'score' of runs.csv holds 'diverged' where a number should be (rows 3, 4). Leave "
        "it empty if the run is missing, or choose other columns with --metric (in a wide table "
        "with --algorithm).",
    ),
    "percent": (
        LONG + "a,1,91.2%\n",
        {},
        InvalidScores,
        "column 'score' of runs.csv holds '91.2%' where a number should be (row 2). Write it "
        "without the percent sign: 91.2.",
    ),
    "decimal comma": (
        "algorithm;seed;score\na;1;0,912\n",
        {},
        InvalidScores,
        "column 'score' of runs.csv holds '0,912' where a number should be (row 2). Write decimals "
        "with a point, not a comma: 0.912.",
    ),
    "mean and deviation": (
        LONG + "a,1,0.9±0.1\n",
        {},
        InvalidScores,
        "column 'score' of runs.csv holds '0.9±0.1' where a number should be (row 2). Give one "
        "number per run, or compare published means with --summary (from Python: "
        "compare_published).",
    ),
    "no algorithm in a row": (
        LONG + ",1,2\na,1,2\n,2,3\n",
        {},
        UnreadableRuns,
        "column 'algorithm' of runs.csv is empty in rows 2, 4. Give every run its algorithm, or "
        "remove those rows.",
    ),
    "unknown column": (
        LONG + "a,1,2\n",
        {"replicate": "sede"},
        UnknownColumn,
        "no column 'sede' in runs.csv. Did you mean 'seed'? It has: algorithm, seed, score.",
    ),
    "several metrics": (
        "algorithm,seed,accuracy,auc\na,1,2,3\n",
        {},
        UnknownColumn,
        "columns accuracy, auc of runs.csv may all be the score. Name the one that is with "
        "--metric 'accuracy', or add --wide if each column is an algorithm.",
    ),
    "several algorithms": (
        "model,framework,score\na,b,2\n",
        {},
        UnknownColumn,
        "columns model, framework of runs.csv may all be the algorithm. Name the one that is with "
        "--algorithm model, or join them with --algorithm model,framework.",
    ),
    "no score": (
        "algorithm,seed,notes\na,1,x\n",
        {},
        UnknownColumn,
        "no column of runs.csv looks like a score (it has: algorithm, seed, notes). Name it with "
        "--metric.",
    ),
    "validation only": (
        "seed,val_loss,val_acc\n1,0.5,0.6\n",
        {},
        UnknownColumn,
        "runs.csv has validation scores (val_loss, val_acc), but no column looks like the score to "
        "report. Name it with --metric; --metric 'val_loss' reports validation scores.",
    ),
    "wide read as long": (
        "seed,resnet,vgg\n1,2,3\n",
        {},
        UnreadableRuns,
        "runs.csv looks wide: columns resnet, vgg hold numbers, and none names an algorithm. Add "
        "--wide if each column is an algorithm (from Python: wide=True), or name the column of "
        "algorithms with --algorithm.",
    ),
    "no header": (
        "a,1,0.91\nb,1,0.92\n",
        {},
        UnreadableRuns,
        "the first row of runs.csv holds a number (0.91) where names of columns should be. Start "
        "it with such a row: algorithm,seed,accuracy.",
    ),
    "a published table": (
        "method,cifar10\na,93.1 ± 0.3\nb,92.5 ± 0.4\n",
        {},
        UnreadableRuns,
        "runs.csv holds means with their deviations (93.1 ± 0.3), not runs. Compare them with "
        "--summary A=MEAN±SD,N B=MEAN±SD,N (from Python: compare_published).",
    ),
    "long read as wide": (
        LONG + "a,1,2\n",
        {"wide": True, "goal": "maximize"},
        UnreadableRuns,
        "runs.csv looks long: column 'algorithm' names algorithms and column 'score' holds scores. "
        "Leave out --wide.",
    ),
    "transposed, read as long": (
        "model,0,1,2\nresnet,1,2,3\nvgg,4,5,6\n",
        {},
        UnreadableRuns,
        "each row of runs.csv seems to be an algorithm (resnet, vgg). Transpose it, so that each "
        "column is an algorithm, and add --wide.",
    ),
    "transposed, read as wide": (
        "name,seed0,seed1\nresnet,1,2\nvgg,4,5\n",
        {"wide": True, "goal": "maximize"},
        UnreadableRuns,
        "each row of runs.csv seems to be an algorithm (resnet, vgg). Transpose it, so that each "
        "column is an algorithm, and add --wide.",
    ),
    "transposed, with algorithms named": (
        "seed,0,1\nresnet,1,2\nvgg,4,5\n",
        {"wide": True, "goal": "maximize", "algorithm": ("resnet", "vgg")},
        UnreadableRuns,
        "each row of runs.csv seems to be an algorithm (resnet, vgg). Transpose it, so that each "
        "column is an algorithm, and add --wide.",
    ),
    "wide without a direction": (
        "seed,a,b\n1,2,3\n",
        {"wide": True},
        UnknownDirection,
        "nothing says whether higher numbers are better: their columns are named after algorithms, "
        "not after a metric. Pass --metric NAME, --maximize or --minimize "
        '(from Python: metric=NAME, goal="maximize" or goal="minimize").',
    ),
    "wide with text": (
        "seed,a,b,notes\n1,2,3,x\n",
        {"wide": True, "goal": "maximize"},
        UnreadableRuns,
        "column 'notes' of runs.csv holds text, so it is no algorithm. Name the columns that are "
        "with --algorithm A,B; if it labels the rows, say so with --replicate 'notes' or "
        "--task 'notes'.",
    ),
    "wide without algorithms": (
        "seed,task\n1,2\n",
        {"wide": True, "goal": "maximize"},
        UnreadableRuns,
        "no column of runs.csv is left to be an algorithm. Give each algorithm a column of scores.",
    ),
    "wide with an unknown algorithm": (
        "seed,resnet,vgg\n1,2,3\n",
        {"wide": True, "goal": "maximize", "algorithm": ("resnt", "vgg")},
        UnknownName,
        "no algorithm 'resnt' in runs.csv. Did you mean 'resnet'? It has: seed, resnet, vgg.",
    ),
    "rows of another kind": (
        "seed,a,b\n1,2,3\n",
        {"wide": True, "goal": "maximize", "rows": "seeds"},
        InvalidInput,
        'rows cannot be \'seeds\'. Pass "replicates" or "tasks".',
    ),
}


@pytest.mark.parametrize(
    ("content", "options", "kind", "message"), REFUSED_FILES.values(), ids=REFUSED_FILES.keys()
)
def test_a_file_that_cannot_be_understood_is_refused(write, content, options, kind, message):
    with pytest.raises(OutperformError) as caught:
        read_runs(write(content), **options)
    assert type(caught.value) is kind
    assert str(caught.value) == message


HINT = 'as in {"algorithm": "a", "seed": 1, "score": 0.9}.'
REFUSED_SOURCES = {
    "no file": ("nowhere.csv", UnreadableRuns, "there is no file nowhere.csv. Check the path."),
    "array": (
        np.zeros((2, 29)),
        InvalidScores,
        "an array of shape (2, 29) does not say which scores are whose. Pass a dict: "
        '{"a": scores_a, "b": scores_b}.',
    ),
    "number": (
        3,
        UnreadableRuns,
        "cannot read runs from a value of type int. Pass a path, a dict, a list of dicts or a data "
        "frame.",
    ),
    "numbers": (
        [1, 2],
        UnreadableRuns,
        "row 1 of the list of records is a value of type int, not an object with named values. "
        f"Give one per run, {HINT}",
    ),
    "nothing": (
        [],
        UnreadableRuns,
        "the list of records names no columns. Start it with a row of column names.",
    ),
    "empty dict": ({}, UnreadableRuns, "the dict is empty. Give it scores by algorithm."),
    "one number": (
        {"a": 1},
        InvalidScores,
        "'a' of the dict holds a value of type int, not scores. Give a sequence of scores, one per "
        "run, or a dict of scores by seed.",
    ),
    "two dimensions": (
        {"a": np.zeros((1, 29))},
        InvalidScores,
        "the scores of 'a' have shape (1, 29). Give one number per run, shape (n_runs,).",
    ),
    "columns of unequal length": (
        {"seed": [1, 2], "a": [1, 2, 3]},
        UnreadableRuns,
        "the columns of the dict differ in length (seed: 2, a: 3). Give all the same length.",
    ),
    "truth values": (
        {"a": [True, False]},
        InvalidScores,
        "column 'score' of the dict holds 'True' where a number should be (rows 1, 2). Leave it "
        "empty if the run is missing, or choose other columns with --metric (in a wide table with "
        "--algorithm).",
    ),
}


@pytest.mark.parametrize(
    ("source", "kind", "message"), REFUSED_SOURCES.values(), ids=REFUSED_SOURCES.keys()
)
def test_an_object_that_holds_no_runs_is_refused(source, kind, message):
    with pytest.raises(OutperformError) as caught:
        read_runs(source)
    assert type(caught.value) is kind
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '{"algorithm": "a", "score": 1}\n\n{"algorithm": }\n',
            "row 3 of runs.jsonl is not valid JSON: Expecting value, column 15. Put one object on "
            f"each line, {HINT}",
        ),
        (
            '{"algorithm": "a", "score": 1}\n3\n',
            "row 2 of runs.jsonl is a value of type int, not an object with named values. Give one "
            f"per run, {HINT}",
        ),
    ],
)
def test_wrong_json_lines_are_refused(write, content, message):
    with pytest.raises(UnreadableRuns) as caught:
        read_runs(write(content, "runs.jsonl"))
    assert str(caught.value) == message


def test_an_array_of_json_objects_is_read(write):
    path = write('[{"algorithm": "a", "seed": 1, "score": 0.5}, {"algorithm": "b"}]', "runs.json")
    with pytest.raises(UnreadableRuns, match=r"column 'seed' of runs\.json is empty in row 2"):
        read_runs(path)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(UnreadableRuns) as caught:
        read_runs(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path} is a folder. Give a CSV, TSV, JSON Lines or Parquet file."
    )


def test_parquet_without_pyarrow_says_what_to_install(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra) as caught:
        read_runs(write(b"PAR1", "runs.parquet"))
    assert str(caught.value) == (
        "reading runs.parquet needs pyarrow. Run: pip install 'outperform[parquet]'."
    )


def test_broken_parquet_is_refused(write):
    pytest.importorskip("pyarrow")
    with pytest.raises(UnreadableRuns) as caught:
        read_runs(write(b"PAR1 and then nothing", "runs.parquet"))
    assert str(caught.value) == (
        "runs.parquet is not a valid Parquet file. Give a CSV, TSV, JSON Lines or Parquet file."
    )


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
    ],
)
def test_columns_that_trackers_export_are_recognised(write, model, seed, score):
    runs = read_runs(write(f"{model},{seed},{score},State\na,1,0.9,finished\nb,1,0.8,finished\n"))
    assert runs.algorithms == ("a", "b")
    assert runs.replicate_columns == (seed,)
    assert (runs.metric, runs.goal) == (score, "maximize")


def test_a_column_of_its_own_goes_before_an_exported_one(write):
    runs = read_runs(write("model,config.model,seed,params.seed,score\na,x,1,7,0.9\nb,x,1,7,0.8\n"))
    assert runs.algorithms == ("a", "b")
    assert runs.replicate_columns == ("seed",)


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
