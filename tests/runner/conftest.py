"""Stores that a study is run into."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from outperform.store import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "study.db") as opened:
        yield opened


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Store]:
    """Another, for the same study run in another way."""
    with open_store(tmp_path / "other.db") as opened:
        yield opened
