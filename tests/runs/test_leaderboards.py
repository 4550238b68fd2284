"""Leaderboards and predictions, as people have them in files."""

import numpy as np
import pytest

from outperform.errors import OutperformError
from outperform.runs.leaderboards import read_leaderboard, read_predictions, standardise


@pytest.fixture
def write(tmp_path):
    def save(text, name="board.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return save


def refusal(function, *arguments, **options):
    with pytest.raises(OutperformError) as caught:
        function(*arguments, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("team,score\nred,0.9\nblue,0.8\n", ("red", "blue")),
        ("Rank,TeamName,Score\n1,red,0.9\n2,blue,0.8\n", ("red", "blue")),
        ("rank,score\n1,0.9\n2,0.8\n", ("rank 1", "rank 2")),
        ("score\n0.9\n0.8\n", ("entry 1", "entry 2")),
        ("model;accuracy;seconds\nred;0.9;5\nblue;0.8;6\n", ("red", "blue")),
    ],
)
def test_names_and_scores_are_recognised(write, text, entries):
    board = read_leaderboard(write(text))
    assert board.entries == entries
    assert board.scores.tolist() == [0.9, 0.8]
    assert board.goal == "maximize"


def test_columns_can_be_named(write):
    path = write("who,public,private\nred,0.9,0.7\nblue,0.8,0.6\n")
    board = read_leaderboard(path, metric="private", entry="who")
    assert (board.entries, board.scores.tolist()) == (("red", "blue"), [0.7, 0.6])


def test_scores_become_shares_of_one(write):
    percent = standardise(read_leaderboard(write("score\n90\n80\n")), percent=True)
    assert (percent.metric, percent.scores.tolist()) == ("accuracy", [0.9, 0.8])
    errors = standardise(read_leaderboard(write("test error\n0.1\n0.25\n")))
    assert (errors.metric, errors.scores.tolist()) == ("accuracy (1 − test error)", [0.9, 0.75])
    area = standardise(read_leaderboard(write("roc_auc\n0.9\n0.8\n")), is_auc=True)
    assert area.metric == "roc_auc"
    named = standardise(read_leaderboard(write("top-1 accuracy\n0.9\n0.8\n")))
    assert named.metric == "top-1 accuracy"


RISING = ("0.08", "0.09", "0.1", "0.12", "0.15")


@pytest.mark.parametrize("header", ["Rank,TeamName,Score", "rank,team,accuracy", "id,team,score"])
def test_scores_that_rise_from_the_best_to_the_worst_are_no_accuracies(write, header):
    rows = [f"{place},t{place},{score}" for place, score in enumerate(RISING, 1)]
    message = refusal(read_leaderboard, write("\n".join([header, *rows])))
    assert message.startswith(
        "the scores of board.csv rise from 0.08 of the first entry to 0.15 of the last, as if "
        "lower were better. Name the column by its metric, such as error or log loss; if higher "
    )


@pytest.mark.parametrize(
    ("header", "order"),
    [
        ("rank,team,error", (0, 1, 2, 3, 4)),
        ("id,team,accuracy", (0, 1, 2, 3, 4)),  # sorted, of what is an accuracy
        ("rank,team,score", (4, 3, 2, 1, 0)),
        ("rank,team,score", (0, 1, 3, 2, 4)),
    ],
)
def test_other_orders_are_read(write, header, order):
    rows = [f"{place},t{place},{RISING[each]}" for place, each in enumerate(order, 1)]
    assert len(read_leaderboard(write("\n".join([header, *rows]))).entries) == 5


@pytest.mark.parametrize("percent", [True, False])
def test_shares_among_per_cent_are_refused(write, percent):
    board = read_leaderboard(write("score\n0.912\n90.5\n89.1\n0.88\n"))
    assert refusal(standardise, board, percent=percent) == (
        "2 of 4 scores look like shares of 1, the others like per cent. Give all in one unit."
    )


def test_per_cent_and_shares_are_told_apart(write):
    assert refusal(standardise, read_leaderboard(write("score\n0.9\n0.8\n")), percent=True) == (
        "the scores are said to be per cent, but go only up to 0.9. Leave out --percent: they look "
        "like shares of 1."
    )
    assert refusal(standardise, read_leaderboard(write("error\n5.1\n6\n"))) == (
        "the errors go up to 6, so they look like per cent. Divide them by 100 (on the command "
        "line: --percent)."
    )
    assert refusal(standardise, read_leaderboard(write("error\n-5\n0.2\n"))) == (
        "the errors go from -5 to 0.2. Pass shares of 1, between 0 and 1."
    )
    small = standardise(read_leaderboard(write("error\n0.21\n0.25\n")), percent=True)
    assert small.scores.tolist() == [0.9979, 0.9975]


def test_scores_of_other_kinds_are_refused(write):
    assert refusal(standardise, read_leaderboard(write("auc\n0.9\n0.8\n"))) == (
        "the scores are called 'auc', but nothing says how many examples are positive. Say how "
        "many (--positives N, from Python n_positives); if they are accuracies after all, rename "
        "the column."
    )
    for name in ("f1", "rmse"):
        assert refusal(standardise, read_leaderboard(write(f"{name}\n0.9\n0.8\n"))) == (
            f"the scores are called {name!r}, and only accuracies, errors and AUC follow from the "
            "size of the test set. Give the entries' predictions instead; if they are accuracies, "
            "rename the column."
        )


def test_boards_that_cannot_be_read_are_refused(write):
    assert refusal(read_leaderboard, write("team,members\nred,3\n")) == (
        "no column of board.csv looks like a score (it has: team, members). Name it with --metric."
    )
    assert refusal(read_leaderboard, write("team,score\nred,0.9\nblue,\n")) == (
        "column 'score' of board.csv has no score in row 3. Remove the entries that were never "
        "scored."
    )


def test_scores_of_several_test_sets_are_no_leaderboard(write):
    text = "model,task,split,accuracy\nred,a,0,0.9\nblue,a,0,0.8\n"
    assert read_leaderboard(write(text)).entries == ("red", "blue")
    remedy = "Keep the rows of one; for runs of several algorithms ask `outperform rank`."
    assert refusal(read_leaderboard, write(text + "red,b,0,0.7\n")) == (
        "the scores of board.csv come from several test sets: column 'task' holds a, b. " + remedy
    )
    assert refusal(read_leaderboard, write(text + "red,a,1,0.7\n")) == (
        "the scores of board.csv come from several test sets: column 'split' holds 0, 1. " + remedy
    )


def test_predictions_are_numbers_or_text(write):
    text = "Example ID,label,a,b\n1,0,0.2,0.1\n2,1,0.9,0.4\n"
    for name in ("id", "example_id", "Example ID", "Unnamed: 0"):
        assert [*read_predictions(write(text.replace("Example ID", name)))[0]] == ["a", "b"]
    numbers, labels = read_predictions(write(text.replace("Example ID", "index")))
    assert list(numbers) == ["a", "b"]
    assert labels.tolist() == [0, 1]
    assert numbers["b"].tolist() == [0.1, 0.4]
    text, labels = read_predictions(write("truth,a,b\ncat,cat,dog\ndog,dog,dog\n"))
    assert labels.tolist() == ["cat", "dog"]
    assert text["b"].tolist() == ["dog", "dog"]
    mixed, labels = read_predictions(write("kind,a\ncat,0.1\ndog,0.9\n"), label="kind")
    assert labels.dtype.kind == "U"
    assert np.issubdtype(mixed["a"].dtype, np.floating)


def test_predictions_that_cannot_be_read_are_refused(write):
    assert refusal(read_predictions, write("a,b\n1,0\n0,1\n")) == (
        "no column of board.csv is called label (it has: a, b). Name the column with the true "
        "classes: --label COLUMN."
    )
    assert refusal(read_predictions, write("label,truth,a\n1,0,1\n0,1,1\n")) == (
        "columns label, truth of board.csv may all be the labels. Name the column with the true "
        "classes: --label COLUMN."
    )
    assert refusal(read_predictions, write("label,a,b\n1,yes,1\n0,no,0\n")) == (
        "the labels of board.csv are numbers, but a holds text. Spell predictions as the labels "
        "are."
    )
