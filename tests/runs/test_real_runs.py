"""Files that other people wrote."""

import pytest

from outperform.errors import UnknownColumn
from outperform.runs import read_runs


def test_a_spreadsheet_with_a_byte_order_mark_and_blank_rows(shared_data):
    runs = read_runs(shared_data / "bert_100_seeds" / "runs.csv", metric="MNLI dev acc.")
    assert (runs.goal, runs.algorithms, len(runs)) == ("maximize", ("runs",), 100)
    scores = runs.select("runs")
    assert scores[0] == 0.8456444
    assert len(scores) == 100
    # The authors' own summary stands in the last rows.
    assert runs.notes == (
        "rows 102, 103, 104, 105 sum up other rows (Mean, Maximum, Minimum, Standard deviation) "
        "and were left out: they are no runs",
    )


def test_a_spreadsheet_read_as_wide(shared_data):
    path = shared_data / "bert_100_seeds" / "runs.csv"
    columns = ("Lexical (entailed)", "Lexical (nonent)")
    pairs = read_runs(path, wide=True, goal="maximize", algorithm=columns).pair(*columns)
    assert len(pairs.a) == 100
    first = pairs.replicates.index("Run 0")
    assert (pairs.a[first], pairs.b[first]) == (0.9614, 0.39)
    assert len(read_runs(path, wide=True, goal="maximize").algorithms) == 38


@pytest.mark.parametrize(("kind", "n_runs"), [("fixed", 370), ("randomhp", 197), ("bigvalid", 55)])
def test_runs_with_validation_scores(shared_data, kind, n_runs):
    name = f"derived_asreader_cbtcn_{kind}"
    runs = read_runs(shared_data / "boon_runs" / f"{name}.csv")
    assert (runs.metric, runs.algorithms, len(runs)) == ("test_acc", (name,), n_runs)
    assert runs.validation is not None
    assert len(runs.replicates or ()) == n_runs


def test_a_choice_of_metrics_is_left_to_the_user(shared_data):
    path = shared_data / "boon_runs" / "derived_resnet_cifar100.csv"
    with pytest.raises(UnknownColumn) as caught:
        read_runs(path)
    assert caught.value.problem == (
        "columns test_acc, best_test_acc of derived_resnet_cifar100.csv may all be the score"
    )
    assert len(read_runs(path, metric="test_acc")) == 74


def test_a_leaderboard(shared_data):
    runs = read_runs(shared_data / "kaggle_obesity" / "private.csv")
    assert (len(runs), runs.replicates, runs.select("private").max()) == (3587, None, 0.91157)


def test_a_search_history(shared_data):
    path = shared_data / "hpo_histories" / "sst5.csv"
    with pytest.raises(UnknownColumn) as caught:
        read_runs(path, algorithm="encoder")
    assert str(caught.value) == (
        "sst5.csv has scores of validation or training data (best_validation_accuracy), but no "
        "column looks like the score to report. Name it with --metric; --metric "
        "'best_validation_accuracy' reports those."
    )
    runs = read_runs(path, algorithm="encoder", metric="best_validation_accuracy")
    assert (runs.metric, len(runs)) == ("best_validation_accuracy", 1600)


def test_a_table_of_something_else(shared_data):
    with pytest.raises(UnknownColumn) as caught:
        read_runs(shared_data / "variance_constants" / "fig1_stds_by_source.csv")
    assert str(caught.value) == (
        "no column of fig1_stds_by_source.csv looks like a score (it has: task, source, std). "
        "Name it with --metric."
    )
