"""JSON, Parquet, data frames and Python's own lists and dicts to tables."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from outperform.errors import InvalidScores, MissingExtra, UnreadableRuns
from outperform.runs.source_table import SourceTable, check_size

FORMATS = "Give a CSV, TSV, JSON Lines or Parquet file"
_MOST_UNPACKED = 1 << 32  # bytes of a Parquet file
_MOST_CELLS = 200_000_000
_MOST_SPARSE = 10_000_000  # cells of a table that is nearly empty
_DEEPEST = 50  # objects within one another
UNNAMED = "runs"  # the algorithm of a table that neither names any nor is a file


def read_json(text: str, name: str) -> SourceTable:
    """Read one JSON object per line, an array of objects, or one object of columns."""
    whole: object = None
    if text.lstrip().startswith("["):
        whole = _parse_json(text, f"{name} is not valid JSON")
    else:
        with suppress(ValueError, RecursionError):  # several objects are no JSON
            whole = json.loads(text)
    if isinstance(whole, dict) and {type(values) for values in whole.values()} == {list}:
        return tabulate_columns(whole, name)
    if isinstance(whole, dict | list):
        records = whole if isinstance(whole, list) else [whole]
        return tabulate_records(records, range(1, len(records) + 1), name)
    lines = {row: line for row, line in enumerate(text.split("\n"), start=1) if line.strip()}
    parsed = [
        _parse_json(line, f"row {row} of {name} is not valid JSON") for row, line in lines.items()
    ]
    return tabulate_records(parsed, lines, name)


def _parse_json(text: str, problem: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        reason = f"{error.msg}, column {error.colno}"
    except (ValueError, RecursionError):
        reason = "an integer is too long, or objects are nested too deeply"
    remedy = 'Put one object on each line, as in {"algorithm": "a", "seed": 1, "score": 0.9}'
    raise UnreadableRuns(f"{problem}: {reason}", remedy)


def read_parquet(data: bytes, name: str) -> SourceTable:
    """Read a Parquet file, but nothing that is many times as large as it seems."""
    try:
        from pyarrow import ArrowException, BufferReader, binary, string
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtra(
            f"reading {name} needs pyarrow", "Run: pip install 'outperform[arrow]'"
        ) from None
    try:
        about = ParquetFile(BufferReader(data))
        _check_cells(about.metadata.num_rows, about.metadata.num_columns, name)
        # A text that is stored once may stand in every row: it is written out only if all fit.
        texts = [each.name for each in about.schema_arrow if each.type in (string(), binary())]
        table = ParquetFile(BufferReader(data), read_dictionary=texts).read()
        for place, field in enumerate(table.schema):
            if field.name in texts:
                column = _write_out(table.column(place), name)
                table = table.set_column(place, field.name, column)
        return tabulate_frame(table, name)
    except (ArrowException, OSError) as error:
        raise UnreadableRuns(f"{name} is not a valid Parquet file", FORMATS) from error


def _write_out(column: Any, name: str) -> Any:
    """Give a column with each text stored once as one with a text in each row."""
    from pyarrow import compute

    n_bytes = 0
    for chunk in column.chunks:
        lengths = compute.binary_length(chunk.dictionary).fill_null(0)
        n_bytes += compute.sum(lengths.cast("int64").take(chunk.indices)).as_py() or 0
    check_size(n_bytes, _MOST_UNPACKED, f"a column of {name}, unpacked,", "Leave it out")
    return column.cast(column.type.value_type)


def _check_cells(n_rows: int, n_columns: int, name: str) -> None:
    if n_rows * n_columns > _MOST_CELLS:
        raise UnreadableRuns(
            f"{name} has {n_rows:,} rows and {n_columns:,} columns, more than the "
            f"{_MOST_CELLS:,} cells that are read",
            "Keep the columns and rows of the runs only",
        )


def tabulate_frame(frame: Any, source: str = "the data frame") -> SourceTable:
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
    return SourceTable(tuple(map(str.strip, names)), source, columns, np.arange(1, n_rows + 1))


def tabulate_records(
    records: Sequence[object], rows: Iterable[int], source: str = "the list of records"
) -> SourceTable:
    """Make a table of one dict per row; a key that a dict does not have is a missing value."""
    numbers = np.fromiter(rows, dtype=np.int64)
    opened: list[Mapping[Any, Any]] = []
    names: dict[Any, None] = {}
    for row, record in zip(numbers, records, strict=True):
        if not isinstance(record, Mapping):
            raise UnreadableRuns(
                f"row {row} of {source} is a value of type {type(record).__name__}, not an object "
                "with named values",
                'Give one per run, as in {"algorithm": "a", "seed": 1, "score": 0.9}',
            )
        opened.append(_unnest(record, f"row {row} of {source}"))
        names.update(dict.fromkeys(opened[-1]))
    _check_cells(len(opened), len(names), source)
    n_cells = len(opened) * len(names)
    if n_cells > _MOST_SPARSE and n_cells > 100 * sum(map(len, opened)):
        raise UnreadableRuns(
            f"the {len(opened):,} rows of {source} have {len(names):,} different names for their "
            "values, and each row few of them",
            "Give values that are of one kind one name",
        )
    columns = [[record.get(name) for record in opened] for name in names]
    return SourceTable(tuple(str(name).strip() for name in names), source, columns, numbers)


def _unnest(record: Mapping[Any, Any], where: str, depth: int = 1) -> Mapping[Any, Any]:
    """Name what is nested as trackers export it: `{"metrics": {"loss": 1}}` is `metrics.loss`."""
    if not any(isinstance(value, Mapping) for value in record.values()):
        return record
    if depth > _DEEPEST:
        raise UnreadableRuns(
            f"{where} has objects nested more than {_DEEPEST} deep",
            "Give each run its values by name, without objects in objects",
        )
    flat: dict[Any, Any] = {}
    for name, value in record.items():
        inner = _unnest(value, where, depth + 1).items() if isinstance(value, Mapping) else ()
        flat |= {f"{name}.{key}": each for key, each in inner} if inner else {name: value}
    return flat


def tabulate_columns(source: Mapping[Any, Any], called: str = "the dict") -> SourceTable:
    """Make a table of a dict of columns."""
    columns = [_flatten(name, values) for name, values in source.items()]
    n_rows = len(columns[0])
    names = tuple(str(name).strip() for name in source)
    if any(len(column) != n_rows for column in columns):
        lengths = ", ".join(f"{n}: {len(c)}" for n, c in zip(names, columns, strict=True))
        raise UnreadableRuns(
            f"the columns of {called} differ in length ({lengths})", "Give all the same length"
        )
    return SourceTable(names, called, columns, np.arange(1, n_rows + 1))


def tabulate_scores(source: Mapping[Any, Any], metric: str) -> SourceTable:
    """Make a long table of scores per algorithm: a sequence, or a dict by seed."""
    algorithms: list[object] = []
    replicates: list[object] = []
    scores: list[object] = []
    for algorithm, values in source.items():
        # A pandas Series carries its seeds as its index, where one may stand twice.
        by_seed = [*values.items()] if hasattr(values, "items") else []
        of_algorithm = _flatten(algorithm, [score for _, score in by_seed] if by_seed else values)
        algorithms += [algorithm] * len(of_algorithm)
        replicates += [seed for seed, _ in by_seed] if by_seed else range(len(of_algorithm))
        scores += list(of_algorithm)
    columns = [algorithms, replicates, scores]
    rows = np.arange(1, len(scores) + 1)
    return SourceTable(("algorithm", "replicate", metric), "the dict", columns, rows)


def is_sequence(values: object) -> bool:
    """Whether values may be a column."""
    return hasattr(values, "__len__") and not isinstance(values, str | bytes | Mapping)


def _flatten(name: object, values: Any) -> Any:
    if not is_sequence(values):
        raise InvalidScores(
            f"{name!r} of the dict holds a value of type {type(values).__name__}, not scores",
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
