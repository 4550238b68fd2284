"""What differs between the runs of two algorithms besides, by what a column says of them."""

import numpy as np
import pytest

from outperform import compare_runs, rank_runs, read_runs
from outperform.errors import InvalidScores

N = 12
ASKED = (
    "{} differs between runs of the same seed in the dict ({}): they were not tested on the same "
    "examples, so they are no pairs. Test all on the same, or pass --unpaired; if they are pairs "
    'all the same, pass --accept examples (from Python: read_runs(..., accept="examples")).'
)


def make_runs(column, of_a, of_b, **options):
    scores = np.random.default_rng(0).normal(0.9, 0.01, 2 * N).round(4)
    table = {
        "algorithm": ["a"] * N + ["b"] * N,
        "seed": [*range(N)] * 2,
        column: [*of_a, *of_b],
        "accuracy": scores,
    }
    return read_runs(table, **options)


def compare(runs, **options):
    return compare_runs(runs, "a", "b", **options)


def find_notes(runs, words, **options):
    answers = compare(runs, **options), rank_runs(runs, **options)
    return [[each for each in answer.caveats if words in each] for answer in answers]


@pytest.mark.parametrize("answer", [compare, rank_runs])
@pytest.mark.parametrize("column", ["n_test", "test_size", "Test Examples", "params.n_eval"])
def test_sizes_that_differ_are_asked_about(column, answer):
    with pytest.raises(InvalidScores) as caught:
        answer(make_runs(column, [500] * N, [1000] * N))
    assert str(caught.value) == ASKED.format(column, "500, 1000")


@pytest.mark.parametrize("answer", [compare, rank_runs])
def test_one_other_fold_is_enough(answer):
    folds = [i % 3 for i in range(N)]
    with pytest.raises(InvalidScores) as caught:
        answer(make_runs("fold", folds, [*folds[:-1], 0]))
    assert str(caught.value) == ASKED.format("fold", "0, 1, 2")


def test_an_answer_is_kept():
    runs = make_runs("n_test", [500] * N, [1000] * N, accept="examples")
    said = "n_test differs between runs of the same seed in the dict (500, 1000), which was "
    said += "accepted as right"
    assert find_notes(runs, "n_test") == [[said], [said]]


@pytest.mark.parametrize(
    ("column", "of_b"),
    [
        ("n_test", [500 + i for i in range(N)]),
        ("n_test", [f"{500 + i}.0" for i in range(N)]),
        ("n_test", [""] * N),
        ("n_tested", [7] * N),
        ("n_train", [7] * N),
    ],
    ids=["the same", "the same numbers", "not known", "another word", "trained on"],
)
def test_nothing_else_is_asked_about(column, of_b):
    runs = make_runs(column, [500 + i for i in range(N)], of_b)
    assert find_notes(runs, column) == [[], []]


def test_names_may_hold_it():
    runs = make_runs("test_set", ["clean"] * N, ["noisy"] * N, algorithm="algorithm,test_set")
    assert not [note for note in compare_runs(runs, "a,clean", "b,noisy").caveats if "same" in note]


def test_unpaired_runs_have_test_sets_of_their_own():
    said = "test_set differs by algorithm (clean, noisy): they were not tested on the same "
    said += "examples, and what differs may be the examples"
    runs = make_runs("test_set", ["clean"] * N, ["noisy"] * N)
    assert find_notes(runs, "same examples", paired=False) == [[said], [said]]
    runs = make_runs("fold", range(N), range(1, N + 1))
    assert find_notes(runs, "same examples", paired=False) == [[], []]


@pytest.mark.parametrize("column", ["epochs", "n_train", "Train Size", "params.max_steps"])
def test_unequal_training_is_noted_with_its_amounts(column):
    said = f"{column} is 500 for a and 1,000 for b: they are compared as they were trained, not "
    said += "trained alike"
    runs = make_runs(column, [500] * N, [1000] * N)
    assert find_notes(runs, "trained") == [[said], [said]]
    assert find_notes(runs, "trained", paired=False) == [[said], [said]]


def test_training_is_that_of_each_task():
    table = {
        "algorithm": [*"abc"] * 2 * N,
        "task": (["iris"] * 3 + ["wine"] * 3) * N,
        "seed": np.repeat(np.arange(N), 6),
        "n_train": [75, 75, 75, 90, 45, 90] * N,
        "accuracy": np.random.default_rng(0).normal(0.9, 0.01, 6 * N).round(4),
    }
    said = "n_train is 90 for a, c and 45 for b on wine: they are compared as they were trained, "
    said += "not trained alike"
    ranking = rank_runs(read_runs(table))
    assert [each for each in ranking.caveats if "trained" in each] == [said]
    assert not [each for each in compare_runs(table, "a", "c").caveats if "trained" in each]


@pytest.mark.parametrize(
    ("column", "of_a", "of_b"),
    [
        ("epochs", [10] * N, [10] * N),
        ("epochs", [*range(N)], [*range(5, N + 5)]),
        ("epochs", [10] * N, [""] * N),
        ("checkpoint", ["a.ckpt"] * N, ["b.ckpt"] * N),
        ("train_loss", [0.5] * N, [0.25] * N),
    ],
    ids=["the same", "stopped early", "not known", "no amount", "another word"],
)
def test_other_training_is_not(column, of_a, of_b):
    assert find_notes(make_runs(column, of_a, of_b), "trained") == [[], []]
