"""Waiting for outcomes and for processes to be gone."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from outperform.engines import Engine, Outcome


def collect(engine: Engine, n_outcomes: int) -> dict[Any, Outcome]:
    """Outcomes by tag, when there are so many; none may come twice."""
    outcomes: dict[Any, Outcome] = {}
    n_seen = 0
    while n_seen < n_outcomes:
        news = engine.wait()
        assert news, f"nothing more to come after {n_seen} of {n_outcomes} outcomes"
        n_seen += len(news)
        outcomes.update({outcome.tag: outcome for outcome in news})
    assert len(outcomes) == n_outcomes
    return outcomes


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        status = Path(f"/proc/{pid}/stat")
        # Nobody may have asked for the exit status of an orphan yet.
        return not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def eventually(condition: Callable[[], bool], *, seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


@pytest.fixture(autouse=True)
def _buffer_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers buffer what they print as most people's do, however the tests are run."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)


@pytest.fixture(name="collect")
def collect_() -> Callable[[Engine, int], dict[Any, Outcome]]:
    return collect


@pytest.fixture
def gone() -> Callable[[int], bool]:
    """Whether a process is gone within some seconds."""
    return lambda pid: eventually(lambda: not is_running(pid))
