"""Pairs that several columns tell apart, and that are fewer than they seem, or no replicates.

- nested: they come in groups. Four seeds of ten folds are forty pairs on paper; where the luck of a
  seed is in all of its folds, they are four, and the sign test tells equals apart in up to half of
  all studies;
- settings: a hyperparameter tells pairs apart.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from outperform.runs.columns import read_name
from outperform.runs.labels import FloatArray, IntArray
from outperform.runs.suspicions import Suspicion

CHANCE_NESTED = 0.01  # of differences that do not come in groups
_ROUNDING = 1e-12


def find_nesting(
    columns: Sequence[str],
    labels: Sequence[str],
    differences: FloatArray,
    *,
    chance: float = CHANCE_NESTED,
) -> Iterator[Suspicion]:
    """Find out whether pairs differ in a setting, or whether differences cluster by a column.

    Labels of the pairs are joined from these columns, with commas; `chance` is that of asking about
    differences that do not cluster.

    Examples
    --------
    >>> labels = [f"{seed},{fold}" for seed in range(3) for fold in range(4)]
    >>> differences = np.repeat([1.0, 2.0, 3.0], 4) + 0.1 * np.tile([1, -1, 2, -2], 3)
    >>> [each.doubt for each in find_nesting(["seed", "fold"], labels, differences)]
    ['nested']
    """
    if settings := [name for name in columns if read_name(name).kind == "setting"]:
        yield Suspicion(
            "settings",
            f"pairs differ in {' and '.join(settings)}",
            "they are settings of a search, not replicates of one",
            "Keep the rows of one setting, or make it part of the name with --algorithm "
            f"model,{settings[0]}; if a setting is what should vary",
        )
    if len(columns) < 2:
        return
    levels = [label.split(",") for label in labels]
    if any(len(each) != len(columns) for each in levels):
        return
    for name, values in zip(columns, zip(*levels, strict=True), strict=False):
        group = np.unique(values, return_inverse=True)[1]
        if compare_groups(group, differences) < chance:
            others = " and ".join(column for column in columns if column != name)
            yield Suspicion(
                "nested",
                f"the differences of pairs with the same {name} resemble one another",
                f"these are {group.max() + 1} independent pairs, not {len(labels)}",
                f"Average over {others} first, one row for each {name}; if "
                "they are independent all the same",
            )
            return


def compare_groups(group: IntArray, values: FloatArray) -> float:
    """P-value of the one-way analysis of variance; 1 where there are no groups.

    Groups are numbered from 0; numbers may be missing.
    """
    from scipy.special import fdtrc  # takes a tenth of a second, and few tables have groups

    counts = np.bincount(group)
    n_groups, n = np.count_nonzero(counts), values.size
    if not 1 < n_groups < n:
        return 1.0
    means = (np.bincount(group, weights=values) / np.maximum(counts, 1))[group]
    within = float(((values - means) ** 2).sum())
    between = float(((means - values.mean()) ** 2).sum())
    if within <= (_ROUNDING * np.abs(values).max()) ** 2:
        return 0.0 if between > within else 1.0
    statistic = (between / (n_groups - 1)) / (within / (n - n_groups))
    return float(fdtrc(n_groups - 1, n - n_groups, statistic))
