"""Runs that were not tested on the same examples, by what a column says of them."""

import numpy as np
import pytest

from outperform import compare_runs, rank_runs, read_runs

N = 12
SAID = "{} differs between runs of the same seed ({}): they were not tested on the same examples, "
SAID += "so they are no pairs, and what differs may be the examples"


def make_runs(column, of_a, of_b, **options):
    scores = np.random.default_rng(0).normal(0.9, 0.01, 2 * N).round(4)
    table = {
        "algorithm": ["a"] * N + ["b"] * N,
        "seed": [*range(N)] * 2,
        column: [*of_a, *of_b],
        "accuracy": scores,
    }
    return read_runs(table, **options)


def find_notes(runs, **options):
    answers = compare_runs(runs, "a", "b", **options), rank_runs(runs, **options)
    return [[each for each in answer.caveats if "same examples" in each] for answer in answers]


@pytest.mark.parametrize("column", ["n_test", "test_size", "Test Examples", "params.n_eval"])
def test_sizes_that_differ_are_noted(column):
    notes = find_notes(make_runs(column, [500] * N, [1000] * N))
    assert notes == [[SAID.format(column, "500, 1000")]] * 2


def test_one_other_fold_is_enough():
    folds = [i % 3 for i in range(N)]
    notes = find_notes(make_runs("fold", folds, [*folds[:-1], 0]))
    assert notes == [[SAID.format("fold", "0, 1, 2")]] * 2


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
def test_nothing_else_is_noted(column, of_b):
    runs = make_runs(column, [500 + i for i in range(N)], of_b)
    assert find_notes(runs) == [[], []]


def test_names_may_hold_it():
    runs = make_runs("test_set", ["clean"] * N, ["noisy"] * N, algorithm="algorithm,test_set")
    assert not [note for note in compare_runs(runs, "a,clean", "b,noisy").caveats if "same" in note]


def test_unpaired_runs_have_test_sets_of_their_own():
    said = "test_set differs by algorithm (clean, noisy): they were not tested on the same "
    said += "examples, and what differs may be the examples"
    runs = make_runs("test_set", ["clean"] * N, ["noisy"] * N)
    assert find_notes(runs, paired=False) == [[said], [said]]
    runs = make_runs("fold", range(N), range(1, N + 1))
    assert find_notes(runs, paired=False) == [[], []]
