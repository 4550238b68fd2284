"""The command `outperform sota`, as a person meets it."""

import json

import numpy as np
import pytest
from click.testing import CliRunner, Result

from outperform.cli import main


def call(*words: object) -> Result:
    return CliRunner().invoke(main, ["sota", *(str(word) for word in words)])


@pytest.fixture
def board(tmp_path):
    path = tmp_path / "board.csv"
    path.write_text("team,score\nred,0.912\nblue,0.905\ngreen,0.9\ngrey,0.85\n")
    return path


@pytest.fixture
def predictions(tmp_path):
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 200)
    columns = [labels, *(labels + rng.normal(0, sd, 200) for sd in (0.8, 0.8, 3))]
    path = tmp_path / "predictions.csv"
    np.savetxt(path, np.column_stack(columns), delimiter=",", header="label,a,b,c", comments="")
    return path


def test_the_papers_example():
    result = call("--classifiers", 1000, "--test-size", 3000, "--accuracy", 0.9)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == (
        "The best of 1,000 classifiers of accuracy 0.9 shows 0.9173 on 3,000 examples (95% "
        "between 0.9143 and 0.9213); one of true accuracy 0.9105 shows as much with a chance of "
        "10.0%."
    )
    text = " ".join(result.stdout.split())
    assert "expected best 0.9173 ± 0.001817" in text
    assert "95% of one alone 0.8887 to 0.9105" in text
    assert "at least the expected best 9.96% at least 0.9213 1.90% more than 0.9213 1.61%" in text
    assert "with a chance of 80%, its true accuracy must be 0.9213" in text


def test_json_has_the_numbers():
    answer = json.loads(
        call(
            "--classifiers",
            1000,
            "--test-size",
            3000,
            "--accuracy",
            0.9,
            "--agreement",
            0.95,
            "--json",
        ).stdout
    )
    assert answer["interval"]["high"] == pytest.approx(0.91867, abs=1e-5)
    assert answer["n_classifiers"] == 1000


def test_a_leaderboard(board):
    result = call(board, "--test-size", 1000)
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    assert text.startswith("The best accuracy of 4 entries, 0.9120, is partly luck: a sober ")
    assert "top score 0.912 (red)" in text
    assert "may be the truly best 3 of 4, at 95% confidence: scores from" in text
    assert "Next: report both sober estimates" in text
    answer = json.loads(call(board, "--test-size", 1000, "--dependence", 0.5, "--json").stdout)
    assert answer["indistinguishable"] == ["red", "blue", "green"]
    assert answer["dependence"] == 0.5


def test_a_leaderboard_of_which_only_the_top_is_shown(board):
    result = call(board, "--test-size", 200, "--classifiers", 1000)
    text = " ".join(result.stdout.split())
    assert text.startswith("The best accuracy of 1,000 entries, 0.9120, ")
    assert "at least 4 entries cannot be told from the best." in text
    assert "may be the truly best 4 of 4 shown, at 95% confidence" in text
    assert "of the lead over the median" not in text  # of the top it says nothing


def test_per_cent_is_asked_for(tmp_path):
    path = tmp_path / "board.csv"
    path.write_text("team,score\nred,91.2\nblue,90.5\n")
    result = call(path, "--test-size", 1000)
    assert result.exit_code == 2
    assert result.stderr == (
        "Error: the scores go up to 91.2, so they look like per cent.\nDivide them by 100 (on the "
        "command line: --percent).\n"
    )
    assert "0.9120" in call(path, "--test-size", 1000, "--percent").stdout


def test_predictions_with_their_winners(predictions):
    result = call("--predictions", predictions, "--metric", "auc")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert " of 3 with AUC 0." in lines[0]
    assert lines[4].split()[:2] == ["entry", "AUC"]
    assert lines[7].split()[-1] == "no"
    answer = json.loads(call("--predictions", predictions, "--metric", "roc_auc", "--json").stdout)
    assert sum(entry["win_share"] for entry in answer["entries"]) == pytest.approx(1)


def test_figures_are_written(board, predictions, tmp_path):
    for number, words in enumerate(
        [
            ("--classifiers", 10, "--test-size", 100, "--accuracy", 0.9),
            (board, "--test-size", 1000),
            ("--predictions", predictions, "--metric", "auc"),
        ]
    ):
        path = tmp_path / f"{number}.svg"
        assert call(*words, "--plot", path).exit_code == 0
        assert path.read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--classifiers", 10),
            "Error: there is no leaderboard, and too little is said of the classifiers.\n"
            "Give a leaderboard file, or add --test-size 3000 --accuracy 0.9.\n",
        ),
        (
            ("BOARD",),
            "Error: nothing says how many examples the scores of BOARD come from.\n"
            "Add --test-size N: luck depends on it.\n",
        ),
        (
            ("BOARD", "--test-size", 100, "--agreement", 0.9),
            "Error: a leaderboard is given, where --agreement says nothing.\n"
            "Leave out --agreement.\n",
        ),
        (
            ("BOARD", "--test-size", 100, "--classifiers", 3),
            "Error: 4 scores are given, of 3 entries.\n"
            "Say how many took part, those without a score here included.\n",
        ),
        (
            ("BOARD", "--predictions", "FILE"),
            "Error: a leaderboard and predictions are given.\nGive one: predictions say more.\n",
        ),
        (
            ("--predictions", "FILE", "--dependence", 0.5, "--metric", "auc"),
            "Error: predictions are given, where --dependence says nothing.\n"
            "Leave out --dependence.\n",
        ),
        (
            ("--predictions", "FILE", "--metric", "auc", "--test-size", 7),
            "Error: the test size is 7, but FILE has 200 examples.\n"
            "Leave out --test-size: the rows are counted.\n",
        ),
        (
            ("--predictions", "FILE"),
            "Error: 'a' predicts VALUE, which is no label (labels: 0, 1).\n"
            "Predict classes, spelled as the labels are; scores of how likely a class is are for "
            "the metric auc.\n",
        ),
        (
            ("--classifiers", 10, "--test-size", 100, "--accuracy", 0.9, "--dependence", 1.5),
            "Error: correlation is 1.5.\nPass a value between -1 and 1.\n",
        ),
        (
            ("BOARD", "--test-size", 100, "--metric", "scroe"),
            "Error: no column 'scroe' in board.csv.\nDid you mean 'score'? It has: team, score.\n",
        ),
        (
            ("BOARD", "--test-size", 100, "--plot", "figure.gif"),
            "Error: cannot save a figure as 'figure.gif'.\nEnd the path in .pdf, .png, .svg.\n",
        ),
    ],
)
def test_refusals(board, predictions, words, message):
    first = predictions.read_text().splitlines()[1].split(",")[1]
    names = {"BOARD": board, "FILE": predictions, "VALUE": f"{float(first):g}"}
    result = call(*(names.get(word, word) for word in words))
    assert result.exit_code == 2
    for name, value in names.items():
        message = message.replace(name, str(value))
    assert result.stderr == message
