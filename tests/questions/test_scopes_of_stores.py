"""A store knows what its study redraws, and how large its splits are."""

import json
import re
from dataclasses import replace

import pytest

from outperform.engines import InlineEngine
from outperform.errors import InvalidInput
from outperform.questions.compare.answer import compare_runs
from outperform.runner import run_fits
from outperform.runs.scope import Resplit
from outperform.store import open_store
from outperform.store.stored_runs import load_runs
from outperform.study.datasets import Dataset
from outperform.study.designs import FixHopt, Ideal
from outperform.study.pipelines import FunctionPipeline
from outperform.study.splits import FixedSplit, HoldOut
from outperform.study.study import Study
from outperform.study.study_file import read_study
from outperform.study.tasks import Task
from tests.command_line import call

STUDY = """
[[task]]
data = "iris"
metric = "accuracy"
split = SPLIT
[[pipeline]]
name = "svm"
estimator = "sklearn.svm.SVC"
[[pipeline]]
name = "knn"
estimator = "sklearn.neighbors.KNeighborsClassifier"
[pipeline.fixed]
n_neighbors = 60
[[design]]
kind = "ideal"
replicates = 8
"""
OPTION = (
    "every run divides the same dataset anew: more runs make it surer which is better on this "
    "dataset, and say nothing about other data like it; for these, add --train-size and "
    "--test-size (train_size and test_size in Python)"
)


def do(study, store):
    with InlineEngine() as engine:
        run_fits(study, store, engine)
    return load_runs(store)


@pytest.fixture
def run_iris(tmp_path):
    """Run SVC and KNN on iris with a split; the path of the store."""

    def run_study(split, learner="svm.SVC"):
        file = tmp_path / "study.toml"
        file.write_text(STUDY.replace("SPLIT", split).replace("svm.SVC", learner))
        with open_store(tmp_path / "study.db") as store:
            do(read_study(str(file)), store)
        return tmp_path / "study.db"

    return run_study


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "study.db") as opened:
        yield opened


def compare_json(path, *words):
    result = call("compare", path, "svm", "knn", "--json", *words)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_store_answers_for_data_like_these(run_iris):
    path = run_iris('{kind = "hold-out", test = 0.2, valid = 0.2}')
    found = compare_json(path)
    assert found["scope"]["varied"] == ["splits of this dataset", "seeds"]
    # 150 examples: 30 test, and final fits train on the other 120.
    told = compare_json(path, "--train-size", 120, "--test-size", 30)
    assert found["population"] is not None
    assert found["population"] == told["population"]
    text = call("compare", path, "svm", "knn").stdout.splitlines()
    assert "add --train-size" not in text[1]
    assert OPTION not in found["caveats"]


def test_a_fixed_split_tells_of_that_split_only(run_iris):
    parts = {"train": range(0, 150, 3), "valid": range(1, 150, 3), "test": range(2, 150, 3)}
    listed = ", ".join(f"{name} = {list(positions)}" for name, positions in parts.items())
    path = run_iris(f'{{kind = "fixed", {listed}}}', "tree.ExtraTreeClassifier")
    found = compare_json(path, "--accept", "constant")
    assert found["population"] is None
    assert found["scope"] == {"varied": ["seeds"], "about": "this split of this dataset"}
    second = call("compare", path, "svm", "knn", "--accept", "constant").stdout.splitlines()[1]
    assert second == "Seeds varied, so this is about this split of this dataset."
    sizes = ("--accept", "constant", "--train-size", 90, "--test-size", 30)
    refused = call("compare", path, "svm", "knn", *sizes)
    assert refused.exit_code == 2
    assert " ".join(refused.stderr.split()) == (
        "Error: all runs on 'iris' share one split, so sizes cannot make them tell of other data "
        "like these. Leave out --train-size and --test-size, or let the study redraw the split."
    )


def test_folds_are_folds(run_iris):
    found = compare_json(run_iris('{kind = "cross-validation", n_folds = 4}'))
    assert found["scope"]["varied"] == ["folds of this dataset", "seeds"]
    assert found["population"] is not None


def test_the_gate_and_the_audit_of_a_store_know_both_scopes(run_iris):
    path = run_iris('{kind = "hold-out", stratified = true}')
    here = call("compare", path, "svm", "knn", "--scope", "dataset", "--gate", "better")
    assert here.exit_code == 0, here.output
    beyond = call("compare", path, "svm", "knn", "--gate", "better")
    assert beyond.exit_code == 3
    assert "Gate undecided: the claim is that svm outperforms knn, here and" in beyond.stderr
    audit = call("audit", path, "svm", "knn", "--draws", 50).stdout.splitlines()
    assert audit[0].startswith(
        "Fragile: svm outperforms knn on this sample of iris; for other data like it that is not "
        "shown (p = 0.074), but hiding 1 of 8 pairs is enough to undo the first."
    )
    assert audit[1] == "Splits of this dataset and seeds varied, so this is about this dataset."
    plan = json.loads(call("plan", path, "svm", "knn", "--json").stdout)
    assert plan["resplits"]["test_to_train"] == pytest.approx(30 / 120)


@pytest.mark.parametrize(
    ("neighbors", "beyond"),
    [
        (35, r"that is not shown \(p = 0\.13\), and no number of splits of it shows a difference "),
        (60, r"too, were this the only look \(p = 0\.0049\)\.$"),
    ],
)
def test_what_is_decided_is_decided_on_this_dataset(tmp_path, neighbors, beyond):
    text = STUDY.replace("SPLIT", '{kind = "hold-out", test = 0.5, valid = 0}')
    text = text.replace("= 60", f"= {neighbors}").replace("replicates = 8", "replicates = 40")
    (tmp_path / "study.toml").write_text(text)
    words = ("--engine", "inline", "--until-decided", "svm", "knn")
    result = call("run", tmp_path / "study.toml", *words)
    assert result.exit_code == 0, result.output
    (decided,) = [line for line in result.stdout.splitlines() if line.startswith("Decided")]
    start = (
        r"Decided for svm on this dataset after \d+ of the 40 replicates that the study allows; "
    )
    assert re.match(start + "for other data like it " + beyond, decided), decided


def score(params, split, seeds):
    return {"valid": 0.5, "test": (seeds.get("split", 0) + seeds["init"]) / 2**33}


def make_study(*sources, data=None, splitter=None, design=None):
    pipelines = tuple(FunctionPipeline(name, score, {}, sources) for name in ("a", "b"))
    tasks = (Task("toy", metric="accuracy", data=data, splitter=splitter),)
    return Study(pipelines, tasks, (design or Ideal(6),))


def test_pipelines_that_divide_data_themselves_have_unknown_sizes(store):
    runs = do(make_study("split", "init"), store)
    assert runs.varied == ("splits of this dataset", "seeds")
    assert not runs.resplits
    assert OPTION in compare_runs(runs, "a", "b").caveats
    told = compare_runs(runs, "a", "b", train_size=80, test_size=20)
    assert told.population is not None


def test_seeds_alone_are_about_one_split(store):
    runs = do(make_study("init"), store)
    assert (runs.varied, runs.fixed_splits) == (("seeds",), ("toy",))


@pytest.mark.parametrize(
    ("vary", "varied", "fixed"),
    [
        (("init",), ("seeds",), ("toy",)),
        (("split",), ("splits of this dataset",), ()),
        (("split", "init"), ("splits of this dataset", "seeds"), ()),
        ((), ("splits of this dataset", "seeds"), ()),
    ],
)
def test_a_design_redraws_what_it_says(store, vary, varied, fixed):
    runs = do(make_study("split", "init", data="iris", design=FixHopt(6, vary)), store)
    assert (runs.varied, runs.fixed_splits) == (varied, fixed)
    assert bool(runs.resplits) == (not fixed)


def test_sizes_that_were_never_measured_are_a_caveat_with_the_option(store):
    do(make_study("split", "init", data="iris"), store)
    old = store.get_meta("study")
    store.set_meta("study", {**old, "sizes": {}})
    runs = load_runs(store)
    assert runs.varied == ("splits of this dataset", "seeds")
    assert OPTION in compare_runs(runs, "a", "b").caveats
    # The next run of the study measures what is missing.
    runs = do(make_study("split", "init", data="iris"), store)
    assert runs.resplits["toy"].n_train + runs.resplits["toy"].n_test == 150


class Loader:
    """Data that count how often they are loaded."""

    fingerprint = "toy"

    def __init__(self, n=50):
        self.n, self.n_loads = n, 0

    def __call__(self):
        self.n_loads += 1
        return Dataset([[float(i)] for i in range(self.n)], [i % 2 for i in range(self.n)])


def load_with(loader, splitter=None, n=6):
    study = make_study("split", "init", splitter=splitter or HoldOut(), design=Ideal(n))
    task = replace(study.tasks[0], data=loader)
    return replace(study, tasks=(task,))


def test_sizes_need_no_further_loading_and_stay_known(store):
    loader = Loader()
    runs = do(load_with(loader), store)
    assert runs.resplits == {"toy": Resplit(40, 10)}
    n_loads = loader.n_loads
    assert n_loads == 2  # by the coordinator for its checks, and by the only worker
    # More replicates: nothing is measured again, and what is known is kept.
    runs = do(load_with(loader, n=8), store)
    assert runs.resplits == {"toy": Resplit(40, 10)}
    assert loader.n_loads == n_loads + 1
    # Another split is another size.
    runs = do(load_with(Loader(), HoldOut(test=5)), store)
    assert runs.resplits == {"toy": Resplit(45, 5)}


def test_a_task_with_a_fixed_split_is_told_apart_from_others(store):
    study = make_study("split", "init", data="iris")
    fixed = FixedSplit(range(100), range(100, 120), range(120, 150))
    task = Task("fixed", metric="accuracy", data="iris", splitter=fixed)
    pipelines = tuple(FunctionPipeline(n, told, {}, ("split", "init")) for n in ("a", "b"))
    runs = do(replace(study, pipelines=pipelines, tasks=(*study.tasks, task)), store)
    result = compare_runs(runs, "a", "b")
    first, second = (next(c for c in result.comparisons if c.task == t) for t in ("toy", "fixed"))
    assert first.scope.varied == ("splits of this dataset", "seeds")
    assert first.population is not None
    assert second.scope == replace(
        second.scope, varied=("seeds",), about="this split of this dataset"
    )
    assert second.population is None
    with pytest.raises(InvalidInput, match="all runs on 'fixed' share one split"):
        compare_runs(runs, "a", "b", train_size=100, test_size=30)


def told(params, split, seeds, task):
    return score(params, split, seeds)
