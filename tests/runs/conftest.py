"""Writing small files, and comparing runs array by array."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from outperform.runs import Runs


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a file of runs and give its path."""

    def write_file(content: str | bytes, name: str = "runs.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


@pytest.fixture
def shape(write: Callable[..., Path]) -> Callable[..., tuple[object, str, int]]:
    """Give records as a file or an object, with its name in messages and its first row."""

    def shape_records(records: list[dict], kind: str) -> tuple[object, str, int]:
        columns = {name: [record[name] for record in records] for name in records[0]}
        match kind:
            case "csv":
                lines = [",".join(columns)]
                lines += [",".join(map(str, record.values())) for record in records]
                return write("\n".join(lines) + "\n"), "runs.csv", 2
            case "jsonl":
                return write("\n".join(map(json.dumps, records)), "runs.jsonl"), "runs.jsonl", 1
            case "parquet":
                parquet = pytest.importorskip("pyarrow.parquet")
                path = write(b"", "runs.parquet")
                parquet.write_table(pytest.importorskip("pyarrow").table(columns), path)
                return path, "runs.parquet", 1
            case "records":
                return records, "the list of records", 1
            case "dict":
                return columns, "the dict", 1
        return pytest.importorskip(kind).DataFrame(columns), "the data frame", 1

    return shape_records


@pytest.fixture(scope="session")
def assert_same() -> Callable[..., None]:
    """Assert that two tables hold the same, array by array."""

    def compare(first: Runs, second: Runs, *, but: tuple[str, ...] = ()) -> None:
        for name in Runs.__dataclass_fields__:
            if name in but or name.startswith("_"):
                continue
            one, other = getattr(first, name), getattr(second, name)
            if isinstance(one, np.ndarray):
                np.testing.assert_array_equal(one, other, err_msg=name)
            else:
                assert one == other, name

    return compare
