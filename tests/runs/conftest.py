"""Writing small files, and comparing runs array by array."""

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
