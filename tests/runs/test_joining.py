"""Several files as one table."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from outperform.errors import DuplicateRuns, InvalidInput, TooFewRuns
from outperform.runs import join_runs, read_runs
from outperform.runs.scope import Resplit

FIRST = "run,valid_acc,test_acc\n0,0.6,0.5\n1,0.7,0.6\n10,0.8,0.7\n"
SECOND = "run,valid_acc,test_acc\n0,0.5,0.4\n2,0.4,0.3\n10,0.3,0.2\n"


@pytest.fixture
def two_files(write):
    return read_runs(write(FIRST, "fixed.csv")), read_runs(write(SECOND, "random.csv"))


def test_one_file_per_algorithm(two_files):
    runs = join_runs(*two_files)
    assert str(runs) == ("6 runs of 2 algorithms (maximize test_acc, from fixed.csv, random.csv)")
    assert runs.algorithms == ("fixed", "random")
    assert runs.select("fixed").tolist() == [0.5, 0.6, 0.7]
    assert runs.select("random").tolist() == [0.4, 0.3, 0.2]
    assert runs.validation.tolist() == [0.6, 0.7, 0.8, 0.5, 0.4, 0.3]
    assert runs.validation_metric == "valid_acc"


def test_runs_with_the_same_replicate_are_pairs(two_files):
    runs = join_runs(*two_files)
    assert runs.replicates == ("0", "1", "2", "10")  # in the order of one file
    pairs = runs.pair("fixed", "random", drop_incomplete=True)
    assert (pairs.replicates, pairs.a.tolist(), pairs.b.tolist()) == (
        ("0", "10"),
        [0.5, 0.7],
        [0.4, 0.2],
    )


def test_joining_is_reading_one_file(write, assert_same):
    rows = [
        f"{name},{task},{seed},{place / 7}\n"
        for place, (name, task, seed) in enumerate(product("ab", "st", range(3)))
    ]
    header = "algorithm,task,seed,score\n"
    whole = read_runs(write(header + "".join(rows)))
    parts = [read_runs(write(header + "".join(rows[i : i + 3]))) for i in range(0, 12, 3)]
    # Lines are those of each file.
    assert_same(join_runs(*parts), whole, but=("row", "source"))


def test_a_metric_may_be_spelled_in_upper_and_lower_case(write):
    first = read_runs(write("run,Val_Acc,accuracy\n0,0.6,0.5\n1,0.7,0.6\n", "a.csv"))
    other = read_runs(write("Run,val_acc,Accuracy\n0,0.6,0.4\n1,0.7,0.3\n", "b.csv"))
    runs = join_runs(first, other)
    assert (runs.metric, runs.validation_metric) == ("accuracy", "Val_Acc")
    assert runs.pair("a", "b").b.tolist() == [0.4, 0.3]


def test_tasks_that_two_files_spell_differently_are_named(write):
    files = [
        read_runs(write(f"dataset,seed,score\n{task},0,0.5\n{task},1,0.6\n", f"{name}.csv"))
        for name, task in (("a", "CIFAR10"), ("b", "cifar10"))
    ]
    note = "'CIFAR10' and 'cifar10' count as two tasks: if they are the same, give both one name"
    runs = join_runs(*files)
    assert runs.notes == (note,)
    with pytest.raises(TooFewRuns) as caught:
        runs.pair("a", "b", "CIFAR10")
    assert str(caught.value) == (
        f"'b' has no run in task 'CIFAR10' of a.csv, b.csv. {note}; else add its runs, or compare "
        "on a task that both have: --on TASK (task= in Python)."
    )


def test_a_table_alone_stays_as_it_is(two_files):
    assert join_runs(two_files[0]) is two_files[0]


def test_validation_scores_that_one_file_lacks_are_missing(two_files, write):
    other = read_runs(write("run,test_acc\n0,0.9\n", "plain.csv"))
    validation = join_runs(two_files[0], other).validation
    np.testing.assert_array_equal(validation, [0.6, 0.7, 0.8, np.nan])


def test_replicates_that_one_file_lacks_are_given_up_and_said(two_files, write):
    runs = join_runs(two_files[0], read_runs(write("test_acc\n0.9\n0.8\n", "plain.csv")))
    assert runs.replicates is None
    assert runs.notes == (
        "plain.csv does not say which replicate a run is of, so no runs are paired by replicate",
    )


def test_files_of_one_algorithm_may_hold_other_seeds(write):
    parts = [
        read_runs(write(f"algorithm,seed,score\na,{seed},0.5\n", f"{seed}.csv")) for seed in (0, 1)
    ]
    assert join_runs(*parts).select("a").tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("second", "error", "message"),
    [
        (
            "run,accuracy\n0,0.4\n",
            InvalidInput,
            "fixed.csv holds test_acc and other.csv accuracy, which cannot be compared. Join runs "
            "of one metric; if the two are the same, give both columns one name.",
        ),
        (
            "algorithm,run,test_acc\nfixed,1,0.4\n",
            DuplicateRuns,
            "'fixed' has runs with replicate '1' in both fixed.csv and other.csv. Leave out one of "
            "the files, or call the algorithms by different names.",
        ),
        (
            "algorithm,test_acc\nfixed,0.4\n",
            DuplicateRuns,
            "'fixed' has runs in both fixed.csv and other.csv. Leave out one of the files, or call "
            "the algorithms by different names.",
        ),
        (
            "run,val,test_acc\n1,0.3,0.4\n",
            InvalidInput,
            "the validation scores are valid_acc in fixed.csv and val in other.csv. Give both "
            "columns one name if they are the same metric.",
        ),
        (
            "task,run,test_acc\ncifar,1,0.4\n",
            InvalidInput,
            "other.csv has a column of tasks (cifar) and fixed.csv has none. Add a column to "
            "fixed.csv that names the task of every run.",
        ),
    ],
)
def test_what_cannot_be_joined_is_refused(two_files, write, second, error, message):
    with pytest.raises(error) as caught:
        join_runs(two_files[0], read_runs(write(second, "other.csv")))
    assert str(caught.value) == message


def test_different_goals_are_refused():
    first = read_runs({"a": [1, 2]}, metric="size", goal="maximize")
    second = read_runs({"b": [1, 2]}, metric="size", goal="minimize")
    with pytest.raises(InvalidInput) as caught:
        join_runs(first, second)
    assert str(caught.value) == (
        "size is to maximize in the dict and to minimize in the dict. Read both with the same goal."
    )


def test_nothing_to_join_is_refused():
    with pytest.raises(InvalidInput) as caught:
        join_runs()
    assert str(caught.value) == "there are no runs to join. Pass at least one table."


def test_joined_runs_know_only_what_all_of_them_know():
    def read(name, **known):
        return replace(read_runs({name: [0.9, 0.8, 0.7]}), **known)

    splits = {"varied": ("splits of this dataset",), "resplits": {"": Resplit(80, 20)}}
    alike = join_runs(read("a", **splits), read("b", **splits))
    assert (alike.varied, alike.resplits) == (splits["varied"], splits["resplits"])
    for other in ({}, splits | {"resplits": {"": Resplit(50, 50)}}):
        joined = join_runs(read("a", **splits), read("b", **other))
        assert not joined.resplits
        assert joined.varied[0] == "splits of this dataset"
    fixed = {"varied": ("seeds",), "fixed_splits": ("",)}
    assert join_runs(read("a", **fixed), read("b", **fixed)).fixed_splits == ("",)
    assert join_runs(read("a", **fixed), read("b")).fixed_splits == ()


def test_seeds_and_folds_are_no_pairs(write):
    rows = "0,0.9\n1,0.8\n"
    seeds = read_runs(write(f"seed,accuracy\n{rows}", "resnet.csv"))
    folds = read_runs(write(f"fold,accuracy\n{rows}", "vgg.csv"))
    joined = join_runs(seeds, folds)
    assert joined.replicates is None
    assert joined.notes == (
        "runs are told apart by seed in resnet.csv and by fold in vgg.csv, so they are no pairs; "
        "give both columns one name if they are the same",
    )
    for name in ("seed", "run", "params.seed"):  # which may be the same
        others = read_runs(write(f"{name},accuracy\n{rows}", "vgg.csv"))
        assert join_runs(seeds, others).replicates == ("0", "1")


def test_validation_scores_are_not_joined_with_others(write):
    val, test = (
        read_runs(write(f"model,seed,accuracy{more}\n", f"{name}.csv"))
        for name, more in (
            ("val", ",split\na,0,0.9,val\na,1,0.8,val"),
            ("test", "\nb,0,0.9\nb,1,0.8"),
        )
    )
    for files in ((val, test), (test, val)):
        with pytest.raises(InvalidInput) as caught:
            join_runs(*files)
        assert str(caught.value) == (
            "scores of val.csv are of validation data, and nothing says so of those of test.csv. "
            "Join scores on the same data; if all are of validation data, say so in both."
        )
    other = read_runs(write("model,seed,accuracy,split\nb,0,0.9,val\nb,1,0.7,val\n", "b.csv"))
    assert len(join_runs(val, other)) == 4
