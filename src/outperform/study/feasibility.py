"""Whether a task can be split at all, found out before the first fit."""

from collections.abc import Collection
from math import log

import numpy as np

from outperform.errors import InvalidInput
from outperform.study.datasets import Dataset
from outperform.study.fixed_splits import FixedSplit
from outperform.study.split import Split, make_units
from outperform.study.splits import CrossValidation, HoldOut, OutOfBootstrap, Splitter

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
