"""Sizes of the sets that final fits train and are tested on."""

import numpy as np
import pytest

from outperform.study.datasets import Dataset
from outperform.study.pipelines import FunctionPipeline
from outperform.study.splits import CrossValidation, FixedSplit, HoldOut, OutOfBootstrap
from outperform.study.tasks import Task, measure_resplit, name_division


def make_dataset(n, groups=None):
    return Dataset(np.zeros((n, 1)), np.arange(n) % 2, groups)


@pytest.mark.parametrize(
    ("splitter", "n_train", "n_test"),
    [
        (HoldOut(valid=0.1, test=0.3), 70, 30),  # final fits train on the 10 of validation too
        (HoldOut(valid=10, test=20, train=30), 40, 20),
        (CrossValidation(n_folds=5, valid=0.25), 80, 20),
        (CrossValidation(n_folds=4, valid=0, stratified=True), 75, 25),
    ],
)
def test_sizes_count_what_final_fits_train_on(splitter, n_train, n_test):
    sizes = measure_resplit(splitter, make_dataset(100), seed=3)
    assert (sizes.n_train, sizes.n_test) == (n_train, n_test)


@pytest.mark.parametrize("stratified", [False, True])
def test_what_a_bootstrap_draws_twice_counts_once(stratified):
    dataset = make_dataset(2000)
    sizes = measure_resplit(OutOfBootstrap(stratified=stratified), dataset, seed=0)
    # Of 2,000, some 2,000/e = 736 are never drawn; half of them test, the others train in the end.
    assert sizes.n_test == pytest.approx(368, abs=30)
    assert sizes.n_train + sizes.n_test == 2000
    alone = measure_resplit(OutOfBootstrap(valid=0, test=10), dataset, seed=0)
    assert (alone.n_train, alone.n_test) == (pytest.approx(1264, abs=60), 10)


@pytest.mark.parametrize("splitter", [OutOfBootstrap(), HoldOut(), CrossValidation()])
def test_groups_count_as_one(splitter):
    groups = np.arange(300) // 6  # 50 groups of 6
    sizes = measure_resplit(splitter, make_dataset(300, groups), seed=0)
    alone = measure_resplit(splitter, make_dataset(50), seed=0)
    assert sizes == alone


def test_what_another_seed_of_split_divides():
    def fit(params, split, seeds):
        return {"test": 0.5}

    blind = (FunctionPipeline("blind", fit, {}, ("init",)),)
    sees = (*blind, FunctionPipeline("sees", fit, {}, ("split",)))
    fixed = FixedSplit([0, 1], [2], [3])
    cases = [
        ("iris", OutOfBootstrap(), blind, "splits of this dataset"),
        ("iris", CrossValidation(), blind, "folds of this dataset"),
        ("iris", fixed, sees, None),
        (None, OutOfBootstrap(), sees, "splits of this dataset"),
        (None, OutOfBootstrap(), blind, None),
    ]
    for data, splitter, pipelines, expected in cases:
        task = Task("toy", metric="accuracy", data=data, splitter=splitter)
        assert name_division(task, pipelines) == expected
