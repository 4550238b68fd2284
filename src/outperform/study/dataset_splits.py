"""A dataset under a splitter: whether it can be split at all, and how large the sets are."""

from collections.abc import Collection, Sequence
from math import log

import numpy as np

from outperform.errors import InvalidInput
from outperform.runs.scope import FOLDS, SPLITS, Resplit
from outperform.study.datasets import Dataset
from outperform.study.import_paths import refuse_failures
from outperform.study.pipelines import Pipeline
from outperform.study.split_units import IntArray, make_units
from outperform.study.splits import (
    CrossValidation,
    FixedSplit,
    HoldOut,
    OutOfBootstrap,
    Split,
    Splitter,
)
from outperform.study.tasks import Task

_CHANCE = 1e-9  # that a study goes unchecked in which a bootstrap leaves too few examples


def check_feasible(
    splitter: Splitter, dataset: Dataset, draws: Collection[tuple[int, int]]
) -> None:
    """Refuse a split that is impossible with any of these seeds and folds.

    The seed decides which examples are in a set, not how many; so one split of each fold stands
    for all. Only a bootstrap may happen to leave too few examples undrawn: where that is likely at
    all, every split is drawn.
    """
    fixed_sizes = isinstance(splitter, FixedSplit | HoldOut | CrossValidation)
    if fixed_sizes or is_spacious(splitter, dataset, len(draws)):
        draws = {fold: (seed, fold) for seed, fold in draws}.values()
    for seed, fold in draws:
        split_dataset(splitter, dataset, seed=seed, fold=fold)


def split_dataset(splitter: Splitter, dataset: Dataset, *, seed: int, fold: int) -> Split:
    """Split a dataset by its labels and groups."""
    with refuse_failures(f"the splitter {type(splitter).__name__}", "Mend it"):
        return splitter.split(
            dataset.n_examples, seed=seed, fold=fold, labels=dataset.labels, groups=dataset.groups
        )


def is_spacious(splitter: Splitter, dataset: Dataset, n_draws: int) -> bool:
    """Whether none of so many bootstraps leaves too few examples, but for a chance of 1e-9.

    Each of d draws changes the number of examples never drawn, n·(1 - 1/n)^d on average, by one at
    most. So it falls short of its mean by t with a chance of exp(-2t²/d) at most (McDiarmid).
    """
    if not isinstance(splitter, OutOfBootstrap):
        return False
    units = make_units(
        dataset.n_examples,
        stratified=splitter.stratified,
        labels=dataset.labels,
        groups=dataset.groups,
    )
    counts, sizes = splitter.count_draws(units), units.sizes
    shortfall = np.sqrt(counts * log(n_draws * len(sizes) / _CHANCE) / 2)
    left = np.floor(sizes * (1 - 1 / sizes) ** counts - shortfall).astype(np.int64)
    left -= 1  # as shares are rounded
    pool = [stratum[: max(n, 0)] for stratum, n in zip(units.strata, left, strict=True)]
    try:
        splitter.take_undrawn(pool, units)
    except InvalidInput:
        return False
    return True


def name_division(task: Task, pipelines: Sequence[Pipeline]) -> str | None:
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
