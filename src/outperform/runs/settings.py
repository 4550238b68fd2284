"""Columns that hold hyperparameters: runs that differ in one are no replicates of each other."""

import re
from collections.abc import Iterator
from functools import cache

import numpy as np

from outperform.runs.arrays import IntArray
from outperform.runs.columns import names_setting_of_tracker, normalise
from outperform.runs.numbers import parse_number
from outperform.runs.other_columns import OtherColumns
from outperform.wording import split_words

_SETTINGS = split_words(
    """
    activation alpha batch batch_size batchsize beta c clip criterion decay depth dim dropout
    dropout_rate embedding_size eps epsilon eta gamma hidden hidden_dim hidden_size hidden_units
    kernel l1 l2 label_smoothing lambda layers learning_rate loss_function lr max_depth
    max_features min_samples_leaf momentum n_estimators n_heads n_layers n_neighbors num_heads
    num_layers num_leaves optimiser optimizer patience reg reg_lambda regularization scheduler
    subsample temperature warmup warmup_steps wd weight_decay width
    """
)
_DRAWN = frozenset({"fold", "seed", "split"})
# Last words of what a tracker exports beside hyperparameters.
_NO_SETTING = split_words(
    """
    algorithm benchmark commit cuda dataset date device dir directory file folder framework gpu
    host hostname id index job log method model name node path pipeline port rank replicate run
    state status task time timestamp trial uuid version
    """
)
_MOST_SHOWN = 3


@cache
def names_setting(name: str) -> bool:
    """Whether a column is a hyperparameter by its name.

    Examples
    --------
    >>> [names_setting(name) for name in ("lr", "params.C", "config.seed", "accuracy")]
    [True, True, False, False]
    """
    plain = normalise(name).replace(" ", "_")
    if not names_setting_of_tracker(name):
        return plain in _SETTINGS
    words = re.split(r"[\W_]+", plain)
    return words[-1] not in _NO_SETTING and not _DRAWN & set(words)


def note_search(algorithm: str, columns: OtherColumns, rows: IntArray) -> Iterator[str]:
    """Say that the runs of an algorithm differ in hyperparameters.

    Parameters
    ----------
    columns
        Those that may be hyperparameters and others.
    rows
        Indices of the runs of the algorithm.
    """
    differing = []
    for name in filter(names_setting, columns.names):
        values = _distinct(columns, name, rows)
        if len(values) > 1 and not _labels_runs(values, len(rows)):
            differing.append(f"{name} ({len(values)} values)")
    if differing:
        shown = ", ".join(differing[:_MOST_SHOWN])
        more = len(differing) - _MOST_SHOWN
        yield (
            f"runs of {algorithm} differ in {shown}{f' and {more} more' if more > 0 else ''}: they "
            "are trials of a search, not replicates of one setting, unless each was tuned anew"
        )


def _distinct(columns: OtherColumns, name: str, rows: IntArray) -> list[str]:
    labels = columns.read(name)
    if labels is None:
        return []
    return [labels.names[code] for code in np.unique(labels.codes[rows]).tolist()]


def _labels_runs(values: list[str], n_runs: int) -> bool:
    """Whether the values are texts that name each run, rather than settings of it."""
    return len(values) == n_runs and any(parse_number(value) is None for value in values)
