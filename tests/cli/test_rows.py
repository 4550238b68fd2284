"""What a row is, asked and answered on the command line."""

import json

import numpy as np
import pytest

from tests.command_line import call

SEED = np.random.default_rng(9)


def refused(*words: object) -> str:
    """The whole message of a refusal, on one line."""
    result = call(*words)
    assert result.exit_code == 2
    return " ".join(result.stderr.split())


@pytest.fixture
def write(tmp_path):
    def write_rows(header, rows, name="runs.csv"):
        path = tmp_path / name
        path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
        return path

    return write_rows


def scores(n=12, mean=0.9):
    return SEED.normal(mean, 0.01, n).round(6).tolist()


def test_one_point_of_every_curve_is_compared(write):
    rows = [
        (m, s, e, 0.9 - 0.01 * abs(e - 3), round(SEED.normal(0.9, 0.01), 6))
        for m in "ab"
        for s in range(8)
        for e in range(1, 6)
    ]
    path = write("model,seed,epoch,val_acc,test_acc", rows)
    for words in ((), ("--replicate", "seed,epoch")):
        message = refused("compare", path, "a", "b", *words)
        assert message == (
            "Error: 'a' has 5 rows with seed '0' in runs.csv that differ in epoch (1, 2, 3 and 2 "
            "more): they are points of a learning curve, not runs. Say which row to take: --at "
            'last, --at best-validation or --at N for epoch N (from Python: at="last"); if every '
            "row is a run of its own, call the column run."
        )
        for at, epoch in (("last", 5), ("best-validation", 3), ("2", 2)):
            result = call("compare", path, "a", "b", "--json", "--at", at, *words)
            answer = json.loads(result.stdout)
            mean = np.mean([row[4] for row in rows if row[0] == "a" and row[2] == epoch])
            assert (answer["n_pairs"], answer["mean_a"]) == (8, pytest.approx(mean))
    assert refused("compare", path, "a", "b", "--at", "first") == (
        'Error: at is \'first\'. Pass "last", "best-validation" or the number of a step.'
    )
    audited = call("audit", path, "a", "b", "--at", "last", "--draws", 20)
    assert audited.exit_code == 0
    assert call("best-of", path, "a", "--at", "last").exit_code == 0


def test_runs_that_did_not_finish_are_named_and_left_out_when_asked(write):
    states = ["finished"] * 10 + ["crashed", "killed"]
    rows = [
        (m, s, score, states[s] if m == "a" else "finished")
        for m in "ab"
        for s, score in enumerate(scores())
    ]
    path = write("model,seed,accuracy,State", rows)
    assert refused("compare", path, "a", "b") == (
        "Error: 2 of 12 runs of 'a' are incomplete in runs.csv: 1 killed (row 13), 1 crashed (row "
        "12). Complete them, or pass --drop-incomplete to leave them out."
    )
    result = call("compare", path, "a", "b", "--drop-incomplete")
    assert "2 incomplete runs were left out" in " ".join(result.stdout.split())


def test_one_metric_at_a_time(write):
    rows = [
        (m, s, metric, round(SEED.normal(0.9, 0.01), 6))
        for m in "ab"
        for s in range(8)
        for metric in ("accuracy", "loss")
    ]
    path = write("model,seed,metric,value", rows)
    assert refused("compare", path, "a", "b") == (
        "Error: runs.csv holds 2 metrics (accuracy: 16 rows, loss: 16 rows). Keep one with "
        "--metric 'accuracy' (from Python: metric='accuracy'), or make each a task of its own with "
        "--task metric."
    )
    answer = json.loads(call("compare", path, "a", "b", "--json", "--metric", "loss").stdout)
    assert (answer["metric"], answer["goal"], answer["n_pairs"]) == ("loss", "minimize", 8)


@pytest.mark.parametrize(
    ("doubt", "a", "b"),
    [
        ("scale", scores(), [100 * score for score in scores()]),
        ("outlier", [*scores(11), 1e13], scores()),
        ("constant", [0.9] * 12, scores()),
        ("sorted", sorted(scores()), sorted(scores())),
        ("repeated", scores(6) * 2, scores()),
        ("binary", [0, 1, 1] * 10, SEED.permutation([0, 0, 1] * 10).tolist()),
    ],
)
def test_a_question_is_answered_by_the_option_that_it_names(write, doubt, a, b):
    rows = [(m, s, score) for m, some in (("a", a), ("b", b)) for s, score in enumerate(some)]
    path = write("model,seed,accuracy", rows)
    assert f"pass --accept {doubt} (from Python: read_runs(..., accept=" in refused(
        "compare", path, "a", "b"
    )
    answered = call("compare", path, "a", "b", "--accept", doubt, "--json")
    assert answered.exit_code == 0
    caveats = json.loads(answered.stdout)["caveats"]
    expected = "have the same score" if doubt == "constant" else "which was accepted as right"
    assert any(expected in caveat for caveat in caveats)
    assert call("audit", path, "a", "b", "--accept", doubt, "--draws", 20).exit_code == 0


def test_what_joined_files_say_of_rows_is_joined(write):
    rows = [(s, score, "FINISHED") for s, score in enumerate(scores())]
    write(
        "seed,accuracy,status",
        [(*row[:2], "FAILED") if row[0] == 3 else row for row in rows],
        "a.csv",
    )
    path = write("seed,accuracy", [row[:2] for row in rows], "b.csv")
    assert refused("compare", path, "a", "b", "--with", path.with_name("a.csv")) == (
        "Error: 1 of 12 runs of 'a' are incomplete in b.csv, a.csv: 1 FAILED (row 5). Complete "
        "them, or pass --drop-incomplete to leave them out."
    )


STUDY = """
[[task]]
metric = "accuracy"
[[pipeline]]
name = "fixed"
function = "fixed_training:fit_fixed"
sources = ["init"]
[[pipeline]]
name = "varied"
function = "fixed_training:fit_varied"
sources = ["init"]
[[design]]
kind = "ideal"
replicates = 4
"""
TRAINING = """
def fit_fixed(params, split, seeds):
    return {"test": 0.5}
def fit_varied(params, split, seeds):
    return {"test": seeds["init"] / 2**32}
"""


def test_a_store_is_asked_the_same(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "fixed_training.py").write_text(TRAINING)
    path = tmp_path / "study.db"
    ran = call("run", tmp_path / "study.toml", "--store", path, "--workers", 1)
    assert ran.exit_code == 0, ran.output
    message = refused("compare", path, "fixed", "varied")
    assert "all 4 runs of 'fixed' have the same score 0.5 in task" in message
    assert message.endswith(
        'pass --accept constant (from Python: read_runs(..., accept="constant")).'
    )
    assert call("compare", path, "fixed", "varied", "--accept", "constant").exit_code == 0
