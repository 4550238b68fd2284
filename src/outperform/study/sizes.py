"""How large the sets are that a dataset is divided into anew for every replicate."""

import numpy as np

from outperform.runs.scope import FOLDS, SPLITS, Resplit
from outperform.study.datasets import Dataset
from outperform.study.feasibility import split_dataset
from outperform.study.fixed_splits import FixedSplit
from outperform.study.pipelines import Pipeline
from outperform.study.split import IntArray
from outperform.study.splits import CrossValidation, Splitter
from outperform.study.tasks import Task


def name_division(task: Task, pipelines: tuple[Pipeline, ...]) -> str | None:
    """What another seed of `split` gives: splits or folds of this dataset; None if the same.

    Without data, pipelines divide their own by that seed, if they honour it.
    """
    if task.data is None and not any("split" in pipeline.sources for pipeline in pipelines):
        return None
    if task.data is not None and isinstance(task.splitter, FixedSplit):
        return None
    return FOLDS if isinstance(task.splitter, CrossValidation) else SPLITS


def measure_resplit(splitter: Splitter, dataset: Dataset, *, seed: int) -> Resplit:
    """Sizes of the sets that final fits train and are tested on, in examples or in groups.

    Final fits train on validation data too, and what a bootstrap draws twice counts once. How many
    examples it never draws depends on the seed a little: one split stands for all.

    Examples
    --------
    >>> from outperform.study.splits import HoldOut
    >>> measure_resplit(HoldOut(), Dataset(np.zeros((50, 1)), np.zeros(50)), seed=0)
    Resplit(n_train=40, n_test=10)
    """
    split = split_dataset(splitter, dataset, seed=seed, fold=0)
    return Resplit(_count_units(split.refit().train, dataset), _count_units(split.test, dataset))


def _count_units(examples: IntArray, dataset: Dataset) -> int:
    units = examples if dataset.groups is None else np.asarray(dataset.groups)[examples]
    return len(np.unique(units))
