"""Pairs told apart by several columns: they may come in groups, or be settings of a search.

Four seeds of ten folds are forty pairs on paper. Where the luck of a seed is in all of its folds,
they are four: the sign test then tells equals apart in up to half of all studies.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import fdtrc

from outperform.runs.arrays import FloatArray, IntArray
from outperform.runs.settings import names_setting
from outperform.runs.suspicions import Suspicion

_CHANCE_NESTED = 0.01  # of differences that do not come in groups
_ROUNDING = 1e-12


def find_nesting(
    columns: Sequence[str], labels: Sequence[str], differences: FloatArray
) -> Iterator[Suspicion]:
    """Find out whether pairs differ in a setting, or whether differences cluster by a column.

    Parameters
    ----------
    columns
        Those that the labels are joined from, with commas.
    labels, differences : shape (n_pairs,)
        Of the pairs.

    Examples
    --------
    >>> labels = [f"{seed},{fold}" for seed in range(3) for fold in range(4)]
    >>> differences = np.repeat([1.0, 2.0, 3.0], 4) + 0.1 * np.tile([1, -1, 2, -2], 3)
    >>> [found.doubt for found in find_nesting(["seed", "fold"], labels, differences)]
    ['nested']
    """
    if settings := [name for name in columns if names_setting(name)]:
        yield Suspicion(
            "settings",
            f"pairs differ in {' and '.join(settings)}",
            "they are settings of a search, not replicates of one",
            "Keep the rows of one setting, or make it part of the name with --algorithm "
            f"model,{settings[0]}; if a setting is what should vary",
        )
    levels = [label.split(",") for label in labels] if len(columns) > 1 else []
    if any(len(each) != len(columns) for each in levels):
        return
    for name, values in zip(columns, zip(*levels, strict=True), strict=False):
        group = np.unique(values, return_inverse=True)[1]
        if _test_groups(group, differences) < _CHANCE_NESTED:
            n_groups = int(group.max()) + 1
            yield Suspicion(
                "nested",
                f"the differences of pairs with the same {name} resemble one another",
                f"these are {n_groups} independent pairs, not {len(labels)}",
                f"Average over {_name_others(columns, name)} first, one row for each {name}; if "
                "they are independent all the same",
            )
            return


def _name_others(columns: Sequence[str], name: str) -> str:
    return " and ".join(column for column in columns if column != name)


def _test_groups(group: IntArray, values: FloatArray) -> float:
    """P-value of the one-way analysis of variance; 1 where there are no groups."""
    counts = np.bincount(group)
    n_groups, n = counts.size, values.size
    if not 1 < n_groups < n:
        return 1.0
    means = np.bincount(group, weights=values) / counts
    within = float(((values - means[group]) ** 2).sum())
    between = float((counts * (means - values.mean()) ** 2).sum())
    if within <= (_ROUNDING * np.abs(values).max()) ** 2:
        return 0.0 if between > within else 1.0
    statistic = (between / (n_groups - 1)) / (within / (n - n_groups))
    return float(fdtrc(n_groups - 1, n - n_groups, statistic))
