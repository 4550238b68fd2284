"""What is not runs is refused, with what is wrong and what to do."""

import gzip
import sys

import numpy as np
import pytest

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
    "negative errors": (
        "algorithm,seed,test_mse\na,0,-0.2\na,1,0.1\nb,0,-0.3\nb,1,0\n",
        {},
        InvalidScores,
        "test_mse is negative in rows 2, 4 (-0.2), which it cannot be, and lower is better. If it "
        "stands for a run that failed, leave it empty; if its sign was turned, as scikit-learn "
        "does, call it 'neg_test_mse' or pass --maximize; if it is another metric, give it another "
        "name.",
    ),
    "negative shares": (
        "algorithm,seed,MNLI acc\na,0,0.8\na,1,-1\nb,0,0.7\nb,1,0\n",
        {},
        InvalidScores,
        "MNLI acc is negative in row 3 (-1), which it cannot be, and higher is better. If it "
        "stands for a run that failed, leave it empty; if its sign was turned, as scikit-learn "
        "does, call it 'neg_MNLI acc' or pass --minimize; if it is another metric, give it another "
        "name.",
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
    "compressed": (
        gzip.compress(LONG.encode()),
        {},
        UnreadableRuns,
        "runs.csv is compressed. Unpack it first: gunzip.",
    ),
    "workbook": (
        b"PK\3\4\x14\0\6\0",
        {},
        UnreadableRuns,
        "runs.csv is an Excel workbook or a zip archive. Save its sheet as CSV, or unpack it.",
    ),
    "ragged": (
        LONG + "a,1,2\nb,1\n",
        {},
        UnreadableRuns,
        "row 3 of runs.csv has 2 fields, the header has 3. Complete the row, or put quotes around "
        "text that holds ','.",
    ),
    "title": (
        "# all runs\n" + LONG + "a,1,2\n",
        {},
        UnreadableRuns,
        "row 2 of runs.csv has 3 fields, the header has 1. Remove what stands before the row of "
        "column names.",
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
    "summaries only": (
        LONG + "a,mean,0.5\nb,Std,0.1\n",
        {},
        UnreadableRuns,
        "every row of runs.csv sums up runs, and none is a run. Give one row per run, or compare "
        "published means with --summary (from Python: compare_published).",
    ),
    "percent": (
        LONG + "a,1,91.2%\n",
        {},
        InvalidScores,
        "column 'score' of runs.csv holds '91.2%' where a number should be (row 2). Write it "
        "without the percent sign: 91.2.",
    ),
    "decimal comma": (
        'algorithm,seed,score\na,1,"0,912"\n',
        {},
        InvalidScores,
        "column 'score' of runs.csv holds '0,912' where a number should be (row 2). Write decimals "
        "with a point, not a comma: 0.912.",
    ),
    "decimal commas beside points": (
        "algorithm;seed;score\na;1;0,912\na;2;0.913\n",
        {},
        InvalidScores,
        "column 'score' of runs.csv holds '0,912' where a number should be (row 2). Write decimals "
        "with a point, not a comma: 0.912.",
    ),
    "thousands beside whole numbers": (
        "algorithm;seed;score\na;1;987\na;2;1,312\n",
        {},
        InvalidScores,
        "column 'score' of runs.csv holds '1,312' where a number should be (row 3). Write it as "
        "1.312 if the comma is a decimal one, as 1312 if not.",
    ),
    "decimal comma and per cent": (
        "algorithm;seed;score\na;1;94,29%\n",
        {},
        InvalidScores,
        "column 'score' of runs.csv holds '94,29%' where a number should be (row 2). Write it "
        "without the percent sign, and decimals with a point, not a comma: 94.29.",
    ),
    "thousands": (
        'algorithm,seed,score\na,1,"1,312.6"\n',
        {},
        InvalidScores,
        "column 'score' of runs.csv holds '1,312.6' where a number should be (row 2). Write it "
        "without commas: 1312.6.",
    ),
    "thousands, or a decimal comma": (
        'algorithm,seed,score\na,1,"1,312"\n',
        {},
        InvalidScores,
        "column 'score' of runs.csv holds '1,312' where a number should be (row 2). Write it as "
        "1.312 if the comma is a decimal one, as 1312 if not.",
    ),
    "a title of a spreadsheet": (
        "Results of March,,\n,,\nmodel,seed,accuracy\na,1,0.9\n",
        {},
        UnknownColumn,
        "no column of runs.csv looks like a score (it has: Results of March). Remove what stands "
        "before the row of column names.",
    ),
    "means in a long table": (
        "method,dataset,mean,std,n\na,t,93.1,0.4,5\nb,t,92.2,0.5,5\na,u,88.1,0.4,5\nb,u,87.9,1,5\n",
        {},
        UnknownColumn,
        "no column of runs.csv looks like a score (it has: method, dataset, mean, std, n). If it "
        "holds means with their deviations, not runs, compare two of them with `outperform compare "
        "--summary TABLE A B`; else name the score with --metric.",
    ),
    "a chart of Weights & Biases": (
        '"Step","a-1 - test/acc","a-1 - test/acc__MIN","a-1 - test/acc__MAX"\n0,0.9,0.9,0.9\n',
        {},
        UnknownColumn,
        "runs.csv seems to be a chart of Weights & Biases, with a column per run and a row per "
        "step. Export the table of runs instead; or write a row per run, with the columns model, "
        "seed and the score.",
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
        "column 'algorithm' of runs.csv is empty in rows 2, 4. Give every run its algorithm, "
        "also where one cell stands for those below it; remove rows that are no runs.",
    ),
    "unknown column": (
        LONG + "a,1,2\n",
        {"replicate": "sede"},
        UnknownColumn,
        "no column 'sede' in runs.csv. Did you mean 'seed'? It has: algorithm, seed, score.",
    ),
    "a task for a column": (
        "model,dataset,seed,accuracy\na,iris,1,0.5\nb,wine,1,0.5\n",
        {"task": "wine"},
        UnknownColumn,
        "no column 'wine' in runs.csv: it is a value of column 'dataset'. Pass --task 'dataset', "
        "and look at one task with --on 'wine' (from Python: compare_runs(..., task='wine')).",
    ),
    "an algorithm for a column": (
        "model,dataset,seed,accuracy\na,iris,1,0.5\nb,wine,1,0.5\n",
        {"algorithm": ["b"]},
        UnknownColumn,
        "no column 'b' in runs.csv: it is a value of column 'model'. Pass --algorithm 'model', and "
        "name the algorithms after the file.",
    ),
    "a seed for a column": (  # other columns hold a 1 too
        "n,model,seed,accuracy\n1,a,1,0.5\n2,b,1,0.5\n",
        {"replicate": "seed,1"},
        UnknownColumn,
        "no column '1' in runs.csv: it is a value of column 'seed'. Pass --replicate 'seed', and "
        "remove the other rows of the file if only this should count.",
    ),
    "several metrics": (
        "algorithm,seed,accuracy,auc\na,1,2,3\n",
        {},
        UnknownColumn,
        "columns accuracy, auc of runs.csv may all be the score. Name the one that is with "
        "--metric 'accuracy'.",
    ),
    "several metrics, but no algorithm": (
        "seed,accuracy,auc\n1,2,3\n",
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
    "a column per task": (
        "model,seed,MNLI,QQP\na,0,0.92,0.93\nb,0,0.9,0.89\na,1,0.92,0.93\nb,1,0.9,0.89\n",
        {},
        UnknownColumn,
        "no column of runs.csv looks like a score (it has: model, seed, MNLI, QQP). Name it with "
        "--metric; if each of MNLI, QQP is a task, give one row per run and task instead, with a "
        "column for the task and one for the score (pandas: melt).",
    ),
    "validation only": (
        "seed,val_loss,val_acc\n1,0.5,0.6\n",
        {},
        UnknownColumn,
        "runs.csv has scores of validation or training data (val_loss, val_acc), but no column "
        "looks like the score to report. Name it with --metric; --metric 'val_loss' reports those.",
    ),
    "training only": (
        "model,seed,train_acc\na,1,0.5\n",
        {},
        UnknownColumn,
        "runs.csv has scores of validation or training data (train_acc), but no column looks like "
        "the score to report. Name it with --metric; --metric 'train_acc' reports those.",
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
        "runs.csv holds means with their deviations (93.1 ± 0.3), not runs. Compare two of "
        "them with `outperform compare --summary TABLE A B` (from Python: "
        "compare_published_table).",
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
    "wide with differences": (
        "seed,a,b,Diff\n1,3,2,1\n",
        {"wide": True, "goal": "maximize"},
        UnreadableRuns,
        "column 'Diff' of runs.csv seems to sum up others, so it is no algorithm. Name the columns "
        "that are with --algorithm A,B.",
    ),
    "wide with ranks": (
        "dataset,a,b,Rank\nx,0.3,0.2,1\ny,0.2,0.3,2\n",
        {"wide": True, "rows": "tasks", "goal": "maximize"},
        UnreadableRuns,
        "column 'Rank' of runs.csv seems to sum up others, so it is no algorithm. Name the columns "
        "that are with --algorithm A,B.",
    ),
    "wide with the best": (
        "seed,a,b,best\n1,3,2,3\n",
        {"wide": True, "goal": "maximize"},
        UnreadableRuns,
        "column 'best' of runs.csv seems to sum up others, so it is no algorithm. Name the columns "
        "that are with --algorithm A,B.",
    ),
    "wide with means": (
        "seed,a,b,mean\n1,3,2,2.5\n",
        {"wide": True, "goal": "maximize"},
        UnreadableRuns,
        "column 'mean' of runs.csv seems to sum up others, so it is no algorithm. Name the columns "
        "that are with --algorithm A,B.",
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


def test_the_largest_of_a_run_may_be_its_score(write):
    runs = read_runs(write("algorithm,seed,reward__MAX\na,1,0.9\nb,1,0.8\n"), goal="maximize")
    assert runs.metric == "reward__MAX"


def test_a_study_file_is_refused_with_the_store_to_name(tmp_path):
    (tmp_path / "wine.toml").write_text('name = "wine"\n')
    with pytest.raises(UnreadableRuns) as caught:
        read_runs(tmp_path / "wine.toml")
    assert str(caught.value) == (
        "wine.toml is a study file, and holds no runs. "
        "Pass the store that `outperform run` makes of it, such as wine.db."
    )


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
    "lists that differ in length": (
        {"a": [[1], [2, 3]]},
        InvalidScores,
        "the scores of 'a' have shape (2, '?'). Give one number per run, shape (n_runs,).",
    ),
    "complex numbers": (
        {"a": np.array([1j])},
        InvalidScores,
        "column 'score' of the dict holds '1j' where a number should be (row 1). Leave it empty if "
        "the run is missing, or choose other columns with --metric (in a wide table with "
        "--algorithm).",
    ),
    "columns of unequal length": (
        {"seed": [1, 2], "a": [1, 2, 3]},
        UnreadableRuns,
        "the columns of the dict differ in length (seed: 2, a: 3). Give all the same length.",
    ),
    "truth values": (
        {"a": [True, False]},
        InvalidScores,
        "column 'score' of the dict holds 'True' where a number should be (rows 1, 2). Give the "
        "mean over the test examples of every run, with its seed; if each row is a run that "
        "succeeds or fails, write 1 and 0.",
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
        (
            '{"score": ' * 100_000,
            "row 1 of runs.jsonl is not valid JSON: an integer is too long, or objects are nested "
            f"too deeply. Put one object on each line, {HINT}",
        ),
        (
            '{"seed": ' + "1" * 5000 + "}",
            "row 1 of runs.jsonl is not valid JSON: an integer is too long, or objects are nested "
            f"too deeply. Put one object on each line, {HINT}",
        ),
    ],
)
def test_wrong_json_lines_are_refused(write, content, message):
    with pytest.raises(UnreadableRuns) as caught:
        read_runs(write(content, "runs.jsonl"))
    assert str(caught.value) == message


@pytest.mark.parametrize("content", ["{}", "[]", "[{}]", "{}\n{}"])
def test_json_without_names_is_refused(write, content):
    with pytest.raises(UnreadableRuns) as caught:
        read_runs(write(content, "runs.json"))
    assert str(caught.value) == ("runs.json names no columns. Start it with a row of column names.")


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
        "reading runs.parquet needs pyarrow. Run: pip install 'outperform[arrow]'."
    )


def test_broken_parquet_is_refused(write):
    pytest.importorskip("pyarrow")
    with pytest.raises(UnreadableRuns) as caught:
        read_runs(write(b"PAR1 and then nothing", "runs.parquet"))
    assert str(caught.value) == (
        "runs.parquet is not a valid Parquet file. Give a CSV, TSV, JSON Lines or Parquet file."
    )


def test_only_the_missing_value_of_pandas_is_missing_not_its_spelling(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"algorithm": ["a", "a"], "accuracy": [0.5, pandas.NA]})
    assert np.isnan(read_runs(frame).score).tolist() == [False, True]
    path = tmp_path / "runs.csv"
    path.write_text("algorithm,accuracy\na,0.5\na,<NA>\n")
    with pytest.raises(InvalidScores, match="holds '<NA>' where a number should be"):
        read_runs(path)


MAY_BE_NEGATIVE = (
    *("adjusted accuracy", "bertscore", "correlation", "elbo", "kappa", "log error", "log_mse"),
    *("loglik", "loss", "mcc", "r2", "reward", "score", "ssim"),
)


@pytest.mark.parametrize(
    "metric", ["accuracy", "auc", "error rate", "f1", "macro_f1", "ndcg@10", "test_error", "wer"]
)
def test_what_cannot_be_negative_is_refused(metric):
    table = {"algorithm": ["a", "a"], "seed": [0, 1], metric: [0.2, -1]}
    with pytest.raises(InvalidScores, match="is negative in row 2"):
        read_runs(table)
    assert np.isnan(read_runs(table | {"failed": [0, 1]}).score).tolist() == [False, True]


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        ("neg_mse", {}),
        ("mse", {"goal": "maximize"}),
        ("accuracy", {"goal": "minimize"}),
        ("neg_error", {}),
        ("f1_gain", {"goal": "maximize", "metric": "f1_gain"}),
        *((name, {}) for name in MAY_BE_NEGATIVE),
    ],
)
def test_what_may_be_negative_is_read(metric, options):
    table = {"algorithm": ["a", "a"], "seed": [0, 1], metric: [-0.2, -0.1]}
    assert read_runs(table, **options).score.tolist() == [-0.2, -0.1]
