"""Runs from wherever they are: the store of a study, or anybody's table."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from outperform.errors import InvalidInput
from outperform.runs import Runs
from outperform.runs import read_runs as read_table
from outperform.runs.suspicions import Doubt, check_doubts
from outperform.store.store import is_store, open_store


def read_runs(
    source: object,
    *,
    accept: Doubt | Sequence[Doubt] = (),
    design: str | None = None,
    **columns: Any,
) -> Runs:
    """Read the runs of a study from its store, or a table of scores.

    Parameters
    ----------
    source
        The address of a store: a path, or `sqlite:///path`. Or a table: a file (CSV, TSV, JSON
        Lines, Parquet), a pandas or polars data frame, a list of dicts, a dict of columns, or
        a dict of scores by algorithm.
    accept
        What is right although it looks wrong, so that it is no reason to refuse a comparison:
        `"binary"`, `"constant"`, `"outlier"`, `"repeated"`, `"scale"` or `"sorted"`.
    design
        Of a store, the design whose runs are wanted, such as `"resampled-hopt"`; by default the
        best that it has.
    columns
        How to read a table, which a store knows: `algorithm`, `task`, `replicate`, `metric`,
        `validation`, `goal`, `wide`, `rows` and `at`, as `outperform.runs.read_runs` takes them.

    Examples
    --------
    >>> runs = read_runs({"resnet": [0.9, 0.8], "vgg": [0.7, 0.8]}, metric="accuracy")
    >>> print(runs)
    4 runs of 2 algorithms (maximize accuracy, from the dict)
    """
    if not is_store(source):
        if design is not None:
            raise InvalidInput(
                f"design is {design!r}, but only the store of a study has designs",
                "Leave it out, or name a store such as study.db",
            )
        return read_table(source, accept=accept, **columns)
    from outperform.store.stored_runs import load_runs

    assert isinstance(source, str | Path)
    with open_store(source) as store:
        return replace(load_runs(store, design), accepted=check_doubts(accept))
