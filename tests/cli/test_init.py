"""The command `outperform init`, as a person meets it."""

import subprocess
import sys

import pytest
from sklearn.neural_network import MLPClassifier

from outperform.store import open_store
from outperform.store.stored_runs import load_runs
from outperform.study.study_file import parse_study_file
from tests.command_line import call


def test_it_says_what_it_wrote_and_what_to_do_next(tmp_path):
    folder = tmp_path / "new" / "study"
    result = call("init", folder)
    assert result.stdout.splitlines() == [
        f"Wrote {folder}/study.toml",
        f"Wrote {folder}/train.py",
        "",
        f"Next: cd {folder} && outperform check study.toml",
    ]


def test_in_this_folder_there_is_nowhere_to_go(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call("init").stdout.splitlines()[-1] == "Next: outperform check study.toml"


@pytest.mark.parametrize("name", ["study.toml", "train.py"])
def test_nothing_is_overwritten(tmp_path, name):
    (tmp_path / name).write_text("mine")
    result = call("init", tmp_path)
    assert result.exit_code == 2
    assert f"{tmp_path / name} is there already, and init overwrites nothing." in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    result = call("init", tmp_path / "file" / "study")
    assert result.exit_code == 2
    assert "cannot make the folder" in result.stderr


@pytest.mark.parametrize(
    ("command", "limit", "file"),
    [("init", 100, "study.toml"), ("init", 0, "study.toml"), ("demo", 1000, "network.py")],
)
def test_where_there_is_no_room_nothing_is_left_behind(command, limit, file, tmp_path):
    place = tmp_path / "new"
    # A limit of the size of files does what a full disk does, wherever these tests run.
    words = [sys.executable, "-m", "outperform", command, str(place)]
    bounds = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))"
    program = f"import os; {bounds}; os.execv({words[0]!r}, {words!r})"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr == (
        f"Error: cannot write '{place / file}': File too large.\n"
        "Make room there and check who may write, or name another folder.\n"
    )
    assert list(place.iterdir()) == []


def test_the_study_runs_as_it_is(tmp_path, monkeypatch):
    call("init", tmp_path)
    study = (tmp_path / "study.toml").read_text()
    assert study.count("\nreplicates = 8\n") == 1
    # But for fewer replicates: each starts a Python with scikit-learn.
    (tmp_path / "study.toml").write_text(study.replace("\nreplicates = 8\n", "\nreplicates = 2\n"))
    monkeypatch.chdir(tmp_path)
    result = call("run", "study.toml", "--workers", 1)
    assert result.exit_code == 0, result.stderr
    assert "10 fits done now, 0 were recorded before, 0 failed" in result.stdout
    with open_store(tmp_path / "study.db") as store:
        runs = load_runs(store)
        fits = list(store.measurements())
    assert set(runs.algorithms) == {"knn", "mine"}
    # All scores of a good digit reader, and a final fit per replicate with a seed of its own.
    final = [fit for fit in fits if fit.pipeline == "mine" and fit.refit]
    assert len({fit.seeds["init"] for fit in final}) == 2
    assert min(fit.scores["test"] for fit in final) > 0.8
    # Trials have both scores, so that searches have curves on test data too.
    trials = [fit for fit in fits if fit.pipeline == "mine" and not fit.refit]
    assert {tuple(fit.scores) for fit in trials} == {("valid", "test")}
    assert {tuple(fit.scores) for fit in final} == {("test",)}


def test_the_script_takes_the_split_of_the_study(tmp_path):
    call("init", tmp_path)
    study = parse_study_file((tmp_path / "study.toml").read_text(), folder=tmp_path).study
    data = study.tasks[0].data()
    split = study.tasks[0].splitter.split(len(data.labels), seed=7)
    scores = study.pipeline("mine").fit({"rate": 0.01}, split, {"split": 7, "init": 3}, data)
    model = MLPClassifier(32, learning_rate_init=0.01, random_state=3)
    for _epoch in range(20):
        model.partial_fit(
            data.features[split.train] / 16, data.labels[split.train], classes=range(10)
        )
    for name in ("valid", "test"):
        rows = getattr(split, name)
        assert scores[name] == model.score(data.features[rows] / 16, data.labels[rows])
