"""Runs made of columns that are known for what they are."""

import numpy as np

from outperform.runs import make_runs, read_runs

ALGORITHM = ["new", "old", "new", "old", "new", "old"]
TASK = ["iris", "iris", "iris", "iris", "digits", "digits"]
REPLICATE = [10, 10, 2, 2, 2, 2]
SCORE = [0.91, 0.89, 0.9, float("nan"), 0.7, 0.8]
VALIDATION = [0.9, 0.9, 0.8, 0.85, 0.7, 0.75]


def test_it_makes_what_the_reader_of_files_would(assert_same):
    made = make_runs(
        ALGORITHM,
        TASK,
        REPLICATE,
        SCORE,
        metric="accuracy",
        goal="maximize",
        source="the list of records",
        validation=VALIDATION,
    )
    columns = zip(ALGORITHM, TASK, REPLICATE, SCORE, VALIDATION, strict=True)
    names = ("algorithm", "task", "replicate", "accuracy", "validation")
    read = read_runs([dict(zip(names, values, strict=True)) for values in columns])
    assert_same(made, read, but=("others",))


def test_replicates_are_in_the_order_of_their_numbers():
    about = {"metric": "loss", "goal": "minimize", "source": "x.db"}
    runs = make_runs(["a", "a", "b", "b"], ["t"] * 4, [11, 3, 3, 11], [1.5, 1.0, 2.0, 2.5], **about)
    pairs = runs.pair("a", "b")
    assert tuple(pairs.replicates) == ("3", "11")
    np.testing.assert_array_equal(pairs.a, [1.0, 1.5])
    np.testing.assert_array_equal(pairs.b, [2.0, 2.5])


def test_a_notebook_shows_what_runs_are_there():
    runs = read_runs({"new": [0.91, 0.93], "old": [0.90, 0.88]}, metric="accuracy")
    assert repr(runs) == "<Runs: 4 runs of 2 algorithms (maximize accuracy, from the dict)>"
