"""How large the sets are that a dataset is divided into anew for every replicate."""

import numpy as np

from outperform.runs.scope import FOLDS, SPLITS, Resplit
from outperform.study.feasibility import split_dataset
from outperform.study.fixed_splits import FixedSplit
from outperform.study.pipelines import Pipeline
from outperform.study.splits import CrossValidation, OutOfBootstrap, Splitter
from outperform.study.tables import Dataset
from outperform.study.tasks import Task
from outperform.study.units import IntArray, make_units


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

    Final fits train on validation data too. Of a bootstrap sample only its draws count: how many
    examples it leaves for validation depends on the seed, and fewer are the careful number.

    Examples
    --------
    >>> from outperform.study.splits import HoldOut
    >>> measure_resplit(HoldOut(), Dataset(np.zeros((50, 1)), np.zeros(50)), seed=0)
    Resplit(n_train=40, n_test=10)
    """
    split = split_dataset(splitter, dataset, seed=seed, fold=0)
    n_test = _count_units(split.test, dataset)
    if not isinstance(splitter, OutOfBootstrap):
        return Resplit(_count_units(split.refit().train, dataset), n_test)
    units = make_units(
        dataset.n_examples,
        stratified=splitter.stratified,
        labels=dataset.labels,
        groups=dataset.groups,
    )
    return Resplit(int(splitter.count_draws(units).sum()), n_test)


def _count_units(examples: IntArray, dataset: Dataset) -> int:
    if dataset.groups is None:
        return len(examples)
    return len(np.unique(np.asarray(dataset.groups)[examples]))
