"""Where commands get their runs from, whatever the file is called."""

import json
import shutil

import numpy as np
import pytest

import outperform as op
from outperform.errors import UnreadableRuns
from outperform.runs import read_runs as read_table
from outperform.store import is_store
from tests.command_line import call

STUDY = """
[[task]]
metric = "accuracy"
[[pipeline]]
name = "a"
function = "stored_training:fit"
sources = ["init"]
[[pipeline]]
name = "b"
function = "stored_training:fit"
sources = ["init"]
[[design]]
kind = "ideal"
replicates = 4
[[design]]
kind = "variance"
replicates = 4
"""
TRAINING = "def fit(params, split, seeds):\n    return {'test': seeds['init'] / 2**32}\n"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    (folder / "study.toml").write_text(STUDY)
    (folder / "stored_training.py").write_text(TRAINING)
    path = folder / "study.sqlite3"
    assert call("run", folder / "study.toml", "--store", path, "--workers", 1).exit_code == 0
    return path


@pytest.mark.parametrize("name", ["study.sqlite3", "study.db", "study", "study.csv"])
def test_a_store_is_one_whatever_its_name(store, name):
    path = store.parent / "elsewhere" / name
    path.parent.mkdir(exist_ok=True)
    shutil.copy(store, path)
    compared = call("compare", path, "a", "b")
    assert compared.exit_code == 0
    assert "(4 pairs, " in compared.output
    audited = call("audit", path, "a", "b", "--draws", 20)
    assert audited.stdout.startswith("Undecided: no difference shown between a and b")
    assert call("decompose", path).exit_code == 0
    assert call("status", path).exit_code == 0


def test_a_table_is_one_whatever_its_name(tmp_path):
    path = tmp_path / "runs.db"
    path.write_text("algorithm,seed,accuracy\na,1,0.5\na,2,0.6\nb,1,0.4\nb,2,0.7\n")
    assert not is_store(str(path))
    assert call("compare", path, "a", "b").exit_code == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.db", "there is no store '{}'. Make it with `outperform run`."),
        ("none.SQLITE3", "there is no store '{}'. Make it with `outperform run`."),
        ("none.csv", "there is no file {}. Check the path."),
    ],
)
def test_what_is_not_there_goes_by_its_suffix(tmp_path, name, message):
    result = call("compare", tmp_path / name, "a", "b")
    assert result.exit_code == 2
    assert message.format(tmp_path / name) in result.stderr.replace("\n", " ")


def test_python_reads_a_store_wherever_it_reads_a_table(store):
    runs = op.read_runs(store, accept="constant")
    assert str(runs) == f"8 runs of 2 algorithms on 1 task (maximize accuracy, from {store})"
    assert runs.accepted == ("constant",)
    assert op.read_runs(f"sqlite:///{store}").algorithms == ("a", "b")
    of_runs = op.compare_runs(runs, "a", "b")
    assert op.compare_runs(str(store), "a", "b").to_dict() == of_runs.to_dict()
    assert op.audit(store, "a", "b", rng=np.random.default_rng(0)).verdict == "undecided"
    printed = json.loads(call("decompose", store, "--json").stdout)
    assert op.decompose(store).to_dict() == printed


def test_reading_a_store_as_a_table_says_how_to(store):
    with pytest.raises(UnreadableRuns) as caught:
        read_table(store)
    assert str(caught.value) == (
        "study.sqlite3 is a database, such as the store of a study. Read a store with "
        "outperform.read_runs."
    )


@pytest.mark.parametrize("words", ["compare {} a b", "audit {} a b --draws 50", "simulate {} a b"])
def test_wide_files_of_one_algorithm_each_may_be_joined(tmp_path, words):
    for name, scores in (("a", "1 2 4 5 6"), ("b", "2 1 3 5 7")):
        (tmp_path / f"{name}.csv").write_text("\n".join([name, *scores.split()]))
    filled = words.format(tmp_path / "a.csv").split()
    result = call(*filled, "--with", tmp_path / "b.csv", "--wide", "--maximize")
    assert result.exit_code == 0, result.output
