"""Python objects to tables: dicts, records, data frames."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from outperform.errors import InvalidScores, UnreadableRuns
from outperform.runs.cells import CellTable
from outperform.runs.columns import (
    ALGORITHM,
    REPLICATE,
    STATUS,
    TASK,
    names_example,
    names_step,
    normalise,
)

_FRAMES = ("pandas", "polars", "pyarrow")


def is_frame(source: object) -> bool:
    """Whether the object is a data frame of a library we know, without importing any."""
    library = type(source).__module__.partition(".")[0]
    return library in _FRAMES and hasattr(type(source), "columns")


def tabulate_frame(frame: Any, source: str = "the data frame") -> CellTable:
    """Make a table of a pandas, polars or pyarrow table."""
    if hasattr(frame, "collect"):  # polars was told to wait
        frame = frame.collect()
    if hasattr(frame, "reset_index"):
        named = [name for name in frame.index.names if name is not None]
        if named:  # an index that is a column too need not become one again
            frame = frame.reset_index(drop=all(name in frame.columns for name in named))
        names = [str(name) for name in frame.columns]
        columns = [frame.iloc[:, i].to_numpy() for i in range(len(names))]
    else:
        names = list(frame.column_names if hasattr(frame, "column_names") else frame.columns)
        columns = [frame[name].to_numpy() for name in names]
    n_rows = len(columns[0]) if columns else 0
    stripped = tuple(name.strip() for name in names)
    return CellTable(stripped, source, columns, np.arange(1, n_rows + 1))


def tabulate_records(
    records: Sequence[object], rows: Iterable[int], source: str = "the list of records"
) -> CellTable:
    """Make a table of one dict per row; a key that a dict does not have is a missing value."""
    numbers = np.fromiter(rows, dtype=np.int64)
    opened: list[Mapping[Any, Any]] = []
    names: dict[str, None] = {}
    for row, record in zip(numbers, records, strict=True):
        if not isinstance(record, Mapping):
            raise UnreadableRuns(
                f"row {row} of {source} is {_describe(record)}, not an object with named values",
                'Give one per run, as in {"algorithm": "a", "seed": 1, "score": 0.9}',
            )
        opened.append(_unnest(record))
        names.update(dict.fromkeys(opened[-1]))
    columns = [[record.get(name) for record in opened] for name in names]
    return CellTable(tuple(str(name).strip() for name in names), source, columns, numbers)


def _unnest(record: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Name what is nested as trackers export it: `{"metrics": {"loss": 1}}` is `metrics.loss`."""
    if not any(isinstance(value, Mapping) for value in record.values()):
        return record
    flat: dict[Any, Any] = {}
    for name, value in record.items():
        inner = _unnest(value).items() if isinstance(value, Mapping) else ()
        flat |= {f"{name}.{key}": each for key, each in inner} if inner else {name: value}
    return flat


def labels_rows(source: Mapping[Any, Any]) -> bool:
    """Whether one of the columns of a dict holds seeds, tasks or steps, not scores."""
    return any(
        _is_sequence(values)
        and (normalise(str(name)) in (*TASK, *REPLICATE) or _tells_rows(str(name), values))
        for name, values in source.items()
    )


def _tells_rows(name: str, values: Any) -> bool:
    """Whether values are statuses, steps or numbers of examples, not scores of an algorithm."""
    known = normalise(name) in STATUS or names_step(name) or names_example(name)
    return known and all(isinstance(value, str | int | np.integer) for value in values)


def names_algorithms(source: Mapping[Any, Any]) -> bool:
    """Whether one of the columns holds names of algorithms."""
    return any(_names_algorithms(name, values) for name, values in source.items())


def tabulate_columns(source: Mapping[Any, Any], called: str = "the dict") -> CellTable:
    """Make a table of a dict of columns."""
    columns = [_flatten(name, values) for name, values in source.items()]
    n_rows = len(columns[0])
    names = tuple(str(name).strip() for name in source)
    if any(len(column) != n_rows for column in columns):
        lengths = ", ".join(f"{n}: {len(c)}" for n, c in zip(names, columns, strict=True))
        raise UnreadableRuns(
            f"the columns of {called} differ in length ({lengths})", "Give all the same length"
        )
    return CellTable(names, called, columns, np.arange(1, n_rows + 1))


def tabulate_scores(source: Mapping[Any, Any], metric: str) -> CellTable:
    """Make a long table of scores per algorithm: a sequence, or a dict by seed."""
    algorithms: list[object] = []
    replicates: list[object] = []
    scores: list[object] = []
    for algorithm, values in source.items():
        # A pandas Series carries its seeds as its index.
        by_seed = dict(values.items()) if hasattr(values, "items") else None
        of_algorithm = _flatten(algorithm, list(by_seed.values()) if by_seed else values)
        algorithms += [algorithm] * len(of_algorithm)
        replicates += list(by_seed) if by_seed else range(len(of_algorithm))
        scores += list(of_algorithm)
    columns = [algorithms, replicates, scores]
    rows = np.arange(1, len(scores) + 1)
    return CellTable(("algorithm", "replicate", metric), "the dict", columns, rows)


def _names_algorithms(name: object, values: Any) -> bool:
    return (
        normalise(str(name)) in ALGORITHM
        and _is_sequence(values)
        and any(isinstance(value, str) for value in values)
    )


def _is_sequence(values: object) -> bool:
    return hasattr(values, "__len__") and not isinstance(values, str | bytes | Mapping)


def _flatten(name: object, values: Any) -> Any:
    if not _is_sequence(values):
        raise InvalidScores(
            f"{name!r} of the dict holds {_describe(values)}, not scores",
            "Give a sequence of scores, one per run, or a dict of scores by seed",
        )
    try:
        shape: tuple[object, ...] = np.shape(values)
    except ValueError:  # lists that differ in length
        shape = (len(values), "?")
    if len(shape) != 1:
        raise InvalidScores(
            f"the scores of {name!r} have shape {shape}", "Give one number per run, shape (n_runs,)"
        )
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.filled(values.astype(np.float64), np.nan)
    return values if isinstance(values, list | np.ndarray) else list(values)


def _describe(value: object) -> str:
    return f"a value of type {type(value).__name__}"
