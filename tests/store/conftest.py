"""Measurements to record, and stores to record them in."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from outperform.store import Measurement, Store, open_store

DONE = Measurement(
    key="k0",
    pipeline="svm",
    task="digits",
    params={"C": 0.1, "kernel": "rbf", "degree": 3, "shrinking": True},
    seeds={"split": 17, "init": 4_294_967_295},
    fold=0,
    refit=True,
    status="done",
    scores={"valid": 0.1 + 0.2, "test": 1 / 3},
    seconds=0.25,
    error=None,
    started=1_700_000_000.125,
    versions={"python": "3.11.7"},
)


@pytest.fixture
def done() -> Callable[..., Measurement]:
    """A measurement of a fit that succeeded, with changes."""

    def make(key: str = "k0", **changes: Any) -> Measurement:
        return replace(DONE, key=key, **changes)

    return make


@pytest.fixture
def failed() -> Callable[..., Measurement]:
    """A measurement of a fit that failed, with changes."""

    def make(key: str = "k0", **changes: Any) -> Measurement:
        failure = {"status": "failed", "scores": {}, "error": "Traceback ..."}
        return replace(DONE, key=key, **{**failure, **changes})

    return make


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "study.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with open_store(path) as opened:
        yield opened
