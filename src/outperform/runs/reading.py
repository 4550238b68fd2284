"""Runs from anybody's table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from outperform.errors import UnreadableRuns
from outperform.runs.columns import ALGORITHM, REPLICATE, TASK, Wanted, kind_of, normalise
from outperform.runs.curves import At, check_at
from outperform.runs.formats import (
    UNNAMED,
    is_sequence,
    open_source,
    tabulate_columns,
    tabulate_scores,
)
from outperform.runs.long import Ways, read_long
from outperform.runs.metrics import Goal
from outperform.runs.suspicions import Doubt, check_doubts
from outperform.runs.table import Runs
from outperform.runs.wide import RowKind, read_wide


def read_runs(
    source: object,
    *,
    algorithm: str | Sequence[str] | None = None,
    task: str | Sequence[str] | None = None,
    replicate: str | Sequence[str] | None = None,
    metric: str | None = None,
    validation: str | None = None,
    goal: Goal | None = None,
    wide: bool = False,
    rows: RowKind = "replicates",
    at: At | None = None,
    accept: Doubt | Sequence[Doubt] = (),
) -> Runs:
    """Read a table of scores.

    Parameters
    ----------
    source
        A file (CSV, TSV, JSON Lines, Parquet), a pandas or polars data frame, a list of dicts,
        a dict of columns, or a dict of scores by algorithm: `{"a": [0.9, 0.8]}` or
        `{"a": {seed: 0.9}}`.
    algorithm, task, replicate
        Columns to use where their names are not recognised; several are joined, as in
        `"seed,fold"`. In a wide table, `algorithm` names the columns that are algorithms.
    metric
        The column of scores. In a wide table, and for scores by algorithm, only their name.
    validation
        The column of validation scores.
    goal
        Whether higher or lower is better, where the metric's name does not tell.
    wide
        Each column is an algorithm.
    rows
        What each row of a wide table is.
    at
        Which row of a learning curve counts, if rows are points of one: `"last"`,
        `"best-validation"` or the number of a step.
    accept
        What is right although it looks wrong, so that it is no reason to refuse a comparison:
        `"binary"`, `"constant"`, `"outlier"`, `"repeated"`, `"scale"` or `"sorted"`.

    Examples
    --------
    >>> runs = read_runs({"resnet": [0.9, 0.8], "vgg": [0.7, 0.8]}, metric="accuracy")
    >>> print(runs)
    4 runs of 2 algorithms (maximize accuracy, from the dict)
    >>> runs.pair("resnet", "vgg").b
    array([0.7, 0.8])
    """
    wanted = Wanted(algorithm, task, replicate, metric, validation)
    ways = Ways(check_at(at), check_doubts(accept))
    if isinstance(source, Mapping):
        return _read_dict(source, wanted, goal, ways, wide=wide, rows=rows)
    table, only = open_source(source)
    if wide:
        return read_wide(table, wanted, goal, rows=rows, ways=ways)
    return read_long(table, wanted, goal, only=only, ways=ways)


def _read_dict(
    source: Mapping[Any, Any],
    wanted: Wanted,
    goal: Goal | None,
    ways: Ways,
    *,
    wide: bool,
    rows: RowKind,
) -> Runs:
    if not source:
        raise UnreadableRuns("the dict is empty", "Give it scores by algorithm")
    if wide:
        return read_wide(tabulate_columns(source), wanted, goal, rows=rows, ways=ways)
    if wanted.algorithm is not None or _names_algorithms(source):
        return read_long(tabulate_columns(source), wanted, goal, only=UNNAMED, ways=ways)
    # As in `compare`, numbers of which nothing else is said are scores: higher is better.
    metric = wanted.metric or "score"
    if _labels_rows(source):
        unnamed = replace(wanted, metric=metric)
        return read_wide(tabulate_columns(source), unnamed, goal, rows=rows, ways=ways)
    table = tabulate_scores(source, metric)
    return read_long(table, Wanted(metric=metric), goal, only=UNNAMED, ways=ways)


def _names_algorithms(source: Mapping[Any, Any]) -> bool:
    """Whether one of the columns of a dict holds names of algorithms."""
    return any(
        normalise(str(name)) in ALGORITHM
        and is_sequence(values)
        and any(isinstance(value, str) for value in values)
        for name, values in source.items()
    )


def _labels_rows(source: Mapping[Any, Any]) -> bool:
    """Whether one of the columns of a dict holds seeds, tasks or steps, not scores."""
    return any(
        is_sequence(values)
        and (normalise(str(name)) in (*TASK, *REPLICATE) or _tells_rows(str(name), values))
        for name, values in source.items()
    )


def _tells_rows(name: str, values: Any) -> bool:
    """Whether values are statuses, steps or numbers of examples, not scores of an algorithm."""
    known = kind_of(name) in ("status", "step", "example")
    return known and all(isinstance(value, str | int | np.integer) for value in values)
