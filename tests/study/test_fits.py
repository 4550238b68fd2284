"""The key of a fit: the hash of all it depends on, and of nothing else."""

import os
import subprocess
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform.errors import InvalidInput, UnknownName
from outperform.study.command_pipeline import CommandPipeline
from outperform.study.fingerprints import fingerprint
from outperform.study.fits import Draw, Fit, gather_fingerprints
from outperform.study.spaces import Choices, Integers, LogUniform, Uniform
from outperform.study.splits import CrossValidation, FixedSplit, HoldOut
from outperform.study.tasks import Task

FIT = Fit("svm", "digits", {"C": 0.1, "kernel": "rbf"}, {"split": 1, "init": 2}, 0, False)
FINGERPRINTS = {"pipeline svm": "p1", "task digits": "t1", "pipeline net": "p1", "task iris": "t1"}
KEY = "8ebbefd8c55e23e475470ab17f9114d1"

CHANGES = {
    "pipeline": {"pipeline": "net"},
    "task": {"task": "iris"},
    "value": {"params": {"C": 0.1000000001, "kernel": "rbf"}},
    "type of a value": {"params": {"C": "0.1", "kernel": "rbf"}},
    "one param less": {"params": {"C": 0.1}},
    "names swapped": {"params": {"C": "rbf", "kernel": 0.1}},
    "seed": {"seeds": {"split": 1, "init": 3}},
    "seeds swapped": {"seeds": {"split": 2, "init": 1}},
    "one seed less": {"seeds": {"split": 1}},
    "fold": {"fold": 1},
    "refit": {"refit": True},
}


def test_the_key_is_known():
    """A changed key makes every store anew: change it only on purpose."""
    assert FIT.key(FINGERPRINTS) == KEY


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_any_ingredient_changes_the_key(change):
    assert replace(FIT, **change).key(FINGERPRINTS) != KEY


def test_all_changes_have_keys_of_their_own():
    keys = {replace(FIT, **change).key(FINGERPRINTS) for change in CHANGES.values()}
    assert len(keys) == len(CHANGES)


@pytest.mark.parametrize("name", ["pipeline svm", "task digits"])
def test_changed_code_or_data_change_the_key(name):
    assert FIT.key(FINGERPRINTS | {name: "other"}) != KEY
    assert FIT.key(FINGERPRINTS | {"pipeline net": "other"}) == KEY


@given(st.permutations(["C", "kernel", "x", "y"]), st.permutations(["split", "init", "order"]))
def test_the_order_of_dictionaries_is_nothing(params, seeds):
    def key_of(params, seeds):
        values = {name: sum(map(ord, name)) for name in (*params, *seeds)}
        fit = replace(
            FIT, params={n: values[n] for n in params}, seeds={n: values[n] for n in seeds}
        )
        return fit.key(FINGERPRINTS)

    assert key_of(params, seeds) == key_of(sorted(params), sorted(seeds))


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False),
)
def test_floats_are_told_apart_to_the_last_bit(one, other):
    keys = [replace(FIT, params={"C": value}).key(FINGERPRINTS) for value in (one, other)]
    assert (keys[0] == keys[1]) == (repr(one) == repr(other))


def test_numbers_of_numpy_are_numbers():
    plain = replace(FIT, params={"C": 0.1, "n": 3, "on": True})
    numpy = replace(FIT, params={"C": np.float64(0.1), "n": np.int64(3), "on": np.True_})
    assert numpy.key(FINGERPRINTS) == plain.key(FINGERPRINTS)
    one, true = (replace(FIT, params={"n": value}).key(FINGERPRINTS) for value in (1, True))
    assert one != true


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, [1], np.float32("nan")])
def test_values_without_one_way_to_write_them_are_refused(value):
    with pytest.raises(InvalidInput) as caught:
        replace(FIT, params={"C": value}).key(FINGERPRINTS)
    assert str(caught.value) == (
        f"hyperparameter 'C' is {value!r}. Pass a finite number, a text, or true or false."
    )


def test_a_missing_fingerprint_is_named():
    with pytest.raises(UnknownName) as caught:
        FIT.key({"pipeline svm": "p1"})
    assert str(caught.value) == (
        "there is no fingerprint of task 'digits'. Gather those of all pipelines and tasks of the "
        "study."
    )


def test_only_seeds_that_matter_are_kept():
    pipeline = CommandPipeline("net", "train {seed.init} {seed.mine}", sources=("mine",))
    task = Task("mnist", metric="accuracy")
    seeds = {"hpo": 9, "split": 1, "init": 2, "order": 3, "dropout": 4, "mine": 5}
    make = partial(Draw(pipeline, task, 0, "random", 20).make_fit, {"lr": 0.1}, refit=True)
    fit = make(seeds.items(), 2)
    assert fit == Fit("net", "mnist", {"lr": 0.1}, {"split": 1, "init": 2, "mine": 5}, 2, True)
    fingerprints = gather_fingerprints([pipeline], [task])
    assert fingerprints == {"pipeline net": pipeline.fingerprint, "task mnist": task.fingerprint}
    key = fit.key(fingerprints)
    for idle in ("hpo", "order", "dropout"):
        same = make((seeds | {idle: 77}).items(), 2)
        assert same.key(fingerprints) == key
    for used in ("split", "init", "mine"):
        other = make((seeds | {used: 77}).items(), 2)
        assert other.key(fingerprints) != key


def test_repetitions_with_all_seeds_fixed_are_fits_of_their_own():
    pipeline, task = CommandPipeline("net", "train"), Task("mnist", metric="accuracy")
    draw = Draw(pipeline, task, 0, "random", 20)
    fits = [draw.make_fit({}, (("split", 1), ("noise", repeat)), 0) for repeat in range(3)]
    assert len({fit.key(gather_fingerprints([pipeline], [task])) for fit in fits}) == 3


def test_a_pipeline_and_a_task_may_share_a_name():
    pipeline, task = CommandPipeline("x", "train"), Task("x", metric="accuracy")
    assert len(gather_fingerprints([pipeline], [task])) == 2


def test_keys_of_real_studies_are_the_same_in_every_process():
    pytest.importorskip("sklearn")
    code = """
from sklearn.ensemble import RandomForestClassifier
from outperform.study.fits import Draw, gather_fingerprints
from outperform.study.pipelines import Pipeline
from outperform.study.tasks import Task
task = Task("digits", metric="accuracy", data="digits")
forest = RandomForestClassifier(class_weight={0: 1.0})
pipelines = [Pipeline("forest", forest), Pipeline("net", "train {seed.init}")]
for pipeline in pipelines:
    draw = Draw(pipeline, task, 0, "random", 20)
    fit = draw.make_fit({"max_depth": 3}, (("split", 1), ("init", 2)), 0)
    print(fit.key(gather_fingerprints(pipelines, [task])))
"""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert len(set(outputs.pop().split())) == 2


def test_fingerprints_of_tasks_and_spaces_never_change(tmp_path):
    """Stores are resumed by them, and they name our classes: none may move to another file."""
    given = (np.array([[0.5], [1.5]]), np.array(["no", "yes"]))
    (tmp_path / "a.csv").write_bytes(b"x,y\n1,0\n2,1\n")
    tasks = [
        Task("iris", "accuracy"),
        Task("iris", "accuracy", splitter=HoldOut(0.1, 0.3)),
        Task("iris", "accuracy", splitter=CrossValidation(4, stratified=True)),
        Task("iris", "accuracy", splitter=FixedSplit([0, 1], [], [2])),
        Task("given", "accuracy", data=given),
        Task("table", "accuracy", data=tmp_path / "a.csv"),
    ]
    assert [task.fingerprint for task in tasks] == [
        "d8adbce329c3cca0feab14b7eed827e6",
        "5fdb4d8d484394c3ddd3bdc48281ab99",
        "f03237cef973ab3844aa8bff838f21e7",
        "07975f101955fae274c06e414cdbe909",
        "f5b87b45a3e468de3758075c42ef639c",
        "7cc012398c26c187e475d21a9e9ecaae",
    ]
    ranges = {"lr": LogUniform(1e-4, 1e-1), "m": Uniform(0, 1), "n": Integers(1, 50, log=True)}
    space = fingerprint({**ranges, "c": Choices(["a", 3])})
    assert space == "63b01580028ce34c9a003ba79363d58f"
