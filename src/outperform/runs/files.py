"""Files to tables, whatever their format."""

import json
from contextlib import suppress
from pathlib import Path

from outperform.errors import MissingExtra, UnreadableRuns
from outperform.runs.cells import CellTable, Table
from outperform.runs.contents import BYTE_ORDER_MARK, FORMATS, Contents, open_contents
from outperform.runs.csvfile import open_csv
from outperform.runs.memory import tabulate_columns, tabulate_frame, tabulate_records


def open_file(path: Path) -> Table:
    """Open a file as a table, by the ending of its name."""
    contents = open_contents(path)
    suffix = path.suffix.lower()
    if suffix == ".parquet" or contents.head.startswith(b"PAR1"):
        return _open_parquet(contents)
    if suffix in (".jsonl", ".ndjson", ".json"):
        text = contents.read_text().removeprefix(BYTE_ORDER_MARK).decode()
        return _open_json(text, path.name)
    return open_csv(contents, delimiter="\t" if suffix in (".tsv", ".tab") else None)


def _open_json(text: str, name: str) -> CellTable:
    """Open one JSON object per line, an array of objects, or one object of columns."""
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
        told = f"{error.msg}, column {error.colno}"
    except (ValueError, RecursionError):
        told = "an integer is too long, or objects are nested too deeply"
    remedy = 'Put one object on each line, as in {"algorithm": "a", "seed": 1, "score": 0.9}'
    raise UnreadableRuns(f"{problem}: {told}", remedy)


def _open_parquet(contents: Contents) -> CellTable:
    name = contents.name
    try:
        from pyarrow import ArrowException, BufferReader
        from pyarrow.parquet import read_table
    except ImportError:
        raise MissingExtra(
            f"reading {name} needs pyarrow", "Run: pip install 'outperform[parquet]'"
        ) from None
    try:
        data = contents.read(0, contents.size)
        return tabulate_frame(read_table(BufferReader(data)), name)
    except (ArrowException, OSError) as error:
        raise UnreadableRuns(f"{name} is not a valid Parquet file", FORMATS) from error
