"""Rows that belong together, numbered without sorting where that can be avoided."""

import numpy as np

from outperform.runs.arrays import BoolArray, FloatArray, IntArray
from outperform.runs.labels import Labels

_SPARSE = 8  # possible groups per row, from which on numbering those that exist pays


def group_rows(*parts: Labels | None) -> IntArray:
    """Number the groups of rows that share all labels.

    Examples
    --------
    >>> from outperform.runs.labels import label_rows
    >>> group_rows(label_rows(["a", "a", "b"]), label_rows(["1", "2", "1"])).tolist()
    [0, 1, 2]
    """
    first, *others = (part for part in parts if part is not None)
    group = first.codes
    for each in others:
        group = split_groups(group, each)
    return group


def split_groups(group: IntArray, labels: Labels) -> IntArray:
    """Number groups anew, such that all rows of one share their label too."""
    n_groups = (int(group.max(initial=0)) + 1) * len(labels.names)
    split: IntArray = group * len(labels.names) + labels.codes
    if n_groups > _SPARSE * len(group):
        split = np.unique(split, return_inverse=True)[1]
    return split


def differ_within(group: IntArray, labels: Labels) -> BoolArray:
    """Rows whose label is not that of the last row of their group; none where all are alike."""
    if len(labels.names) == 1 or not len(group):
        return np.zeros(len(group), dtype=bool)
    last = np.empty(group.max() + 1, dtype=np.int64)
    last[group] = labels.codes  # of repeated indices the last assignment wins
    differs: BoolArray = last[group] != labels.codes
    return differs


def largest_within(group: IntArray, values: FloatArray) -> FloatArray:
    """Give each row the largest value of its group."""
    largest = np.full(group.max() + 1, -np.inf)
    np.maximum.at(largest, group, values)
    return largest[group]
