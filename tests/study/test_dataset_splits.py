"""Splits that are impossible for some seed are found before the first fit."""

import numpy as np
import pytest

from outperform.errors import InvalidInput
from outperform.study.datasets import Dataset
from outperform.study.splits import CrossValidation, FixedSplit, HoldOut, OutOfBootstrap
from outperform.study.tasks import check_feasible, is_spacious, split_dataset


def make_dataset(*sizes: int) -> Dataset:
    """A dataset with a class of each size."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return Dataset(np.zeros((len(labels), 1)), labels)


@pytest.fixture
def asked(monkeypatch):
    """Seeds and folds of the splits that are drawn."""
    drawn = []

    def split(splitter, dataset, *, seed, fold):
        drawn.append((seed, fold))
        return split_dataset(splitter, dataset, seed=seed, fold=fold)

    monkeypatch.setattr("outperform.study.tasks.split_dataset", split)
    return drawn


DRAWS = [(seed, 0) for seed in range(50)]


@pytest.mark.parametrize(
    "splitter",
    [
        HoldOut(stratified=True),
        FixedSplit([0, 1], [2], [3]),
        OutOfBootstrap(),
        OutOfBootstrap(stratified=True),
    ],
)
def test_one_split_stands_for_all_where_seeds_cannot_matter(splitter, asked):
    check_feasible(splitter, make_dataset(200, 300), DRAWS)
    assert len(asked) == 1


def test_every_fold_is_tried(asked):
    draws = {(seed, fold) for seed in range(5) for fold in range(3)}
    check_feasible(CrossValidation(3), make_dataset(10, 20), draws)
    assert sorted(fold for _, fold in asked) == [0, 1, 2]


def test_a_small_class_is_tried_with_every_seed(asked):
    check_feasible(OutOfBootstrap(stratified=True), make_dataset(30, 300), DRAWS)
    assert asked == DRAWS


def test_the_one_seed_that_leaves_too_few_is_found():
    dataset = make_dataset(9, 300)
    splitter = OutOfBootstrap(stratified=True)

    def fails(seed: int) -> bool:
        try:
            split_dataset(splitter, dataset, seed=seed, fold=0)
        except InvalidInput:
            return True
        return False

    failing = [seed for seed in range(2000) if fails(seed)]
    assert 0 < len(failing) < 200
    good = [seed for seed in range(2000) if seed not in failing]
    check_feasible(splitter, dataset, [(seed, 0) for seed in good])
    with pytest.raises(InvalidInput, match=r"class 0 has 9 examples: \d never drawn"):
        check_feasible(splitter, dataset, [*((seed, 0) for seed in good), (failing[-1], 0)])


@pytest.mark.parametrize("size", [200, 500, 1000])
def test_spacious_datasets_leave_room_indeed(size):
    # How many of the class are never drawn, in many more bootstraps than most studies draw.
    rng = np.random.default_rng(size)
    undrawn = min(size - len(np.unique(rng.integers(size, size=size))) for _ in range(5_000))
    test = next(
        n
        for n in range(size, 0, -1)
        if is_spacious(OutOfBootstrap(valid=0, test=n), make_dataset(size), 5_000)
    )
    assert 0 < test < undrawn
    assert not is_spacious(OutOfBootstrap(valid=0, test=test + 1), make_dataset(size), 5_000)
