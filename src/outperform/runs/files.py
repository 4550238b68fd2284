"""Files to tables, whatever their format."""

import json
from pathlib import Path

import numpy as np

from outperform.errors import MissingExtra, UnreadableRuns
from outperform.runs.cells import CellTable, Table
from outperform.runs.csvfile import open_csv
from outperform.runs.memory import tabulate_frame, tabulate_records

_FORMATS = "Give a CSV, TSV, JSON Lines or Parquet file"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SQLITE = b"SQLite format 3\0"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def open_file(path: Path) -> Table:
    """Open a file as a table, by the ending of its name."""
    data = _read_bytes(path)
    if path.suffix.lower() == ".parquet" or data.startswith(b"PAR1"):
        return _open_parquet(path)
    data = data.removeprefix(_BYTE_ORDER_MARK)
    _check_text(data, path.name)
    if path.suffix.lower() in (".jsonl", ".ndjson", ".json"):
        return _open_json(data.decode(), path.name)
    tab = "\t" if path.suffix.lower() in (".tsv", ".tab") else None
    return open_csv(data, path.name, delimiter=tab)


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        problem, remedy = f"there is no file {path}", "Check the path"
    except IsADirectoryError:
        problem, remedy = f"{path} is a folder", _FORMATS
    except OSError as error:
        problem, remedy = f"cannot read {path}: {error.strerror}", "Check its permissions"
    raise UnreadableRuns(problem, remedy)


def _check_text(data: bytes, name: str) -> None:
    if not data or data.isspace():
        raise UnreadableRuns(f"{name} is empty", "Give it a header and one row per run")
    # Bytes beyond ASCII are negative as signed numbers: one pass finds them and byte 0.
    if np.frombuffer(data, dtype=np.int8).min() > 0:
        return
    if data.startswith(_SQLITE):
        raise UnreadableRuns(
            f"{name} is a database, such as the store of a study",
            "Read a store with outperform.analysis.stored_runs.load_store_runs",
        )
    if b"\0" in data and not data.startswith(_UTF_16):
        raise UnreadableRuns(f"{name} is not text", _FORMATS)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise UnreadableRuns(
            f"{name} is not UTF-8 text: byte 0x{data[error.start]:02x} in row {row}",
            "Save it as UTF-8",
        ) from None


def _open_json(text: str, name: str) -> CellTable:
    """Open one JSON object per line, or one array of objects."""
    if text.lstrip().startswith("["):
        records = _parse_json(text, f"{name} is not valid JSON")
        if not isinstance(records, list):
            records = [records]
        return tabulate_records(records, range(1, len(records) + 1), name)
    parsed, rows = [], []
    for row, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            parsed.append(_parse_json(line, f"row {row} of {name} is not valid JSON"))
            rows.append(row)
    return tabulate_records(parsed, rows, name)


def _parse_json(text: str, problem: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        remedy = 'Put one object on each line, as in {"algorithm": "a", "seed": 1, "score": 0.9}'
        raise UnreadableRuns(f"{problem}: {error.msg}, column {error.colno}", remedy) from None


def _open_parquet(path: Path) -> CellTable:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import read_table
    except ImportError:
        raise MissingExtra(
            f"reading {path.name} needs pyarrow", "Run: pip install 'outperform[parquet]'"
        ) from None
    try:
        return tabulate_frame(read_table(path), path.name)
    except (ArrowException, OSError) as error:
        raise UnreadableRuns(f"{path.name} is not a valid Parquet file", _FORMATS) from error
