"""Clusters to run on; waiting for outcomes and for processes to be gone."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from outperform.engines import Engine, Outcome
from tests.dask_processes import DaskProcesses

_ENDINGS = ExitStack()  # of the clusters that run
_SIZE_OF_RAY = {"num_cpus": 2, "num_gpus": 2, "object_store_memory": 100 * 2**20}

STUDY = """
name = "small"
[[task]]
data = "iris"
metric = "accuracy"
[[pipeline]]
name = "bayes"
estimator = "sklearn.naive_bayes.GaussianNB"
[[design]]
kind = "ideal"
replicates = 2
"""


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


@pytest.fixture
def dask_address() -> str:
    """Address of a Dask scheduler with two workers, for tests that harm neither."""
    pytest.importorskip("distributed", reason='pip install "outperform[dask]"')
    return _start_dask()


@pytest.fixture
def ray_address() -> str:
    """Address of a Ray with two workers, for tests that do not harm it."""
    pytest.importorskip("ray", reason='pip install "outperform[ray]"')
    return _start_ray()


# Starting takes long, so that all tests of this folder share one; idle, each takes a tenth of a
# core, so that none is left to the tests that follow.
@cache
def _start_dask() -> str:
    cluster = DaskProcesses(Path(_ENDINGS.enter_context(TemporaryDirectory())))
    _ENDINGS.callback(cluster.end)
    for name in ("first", "second"):
        cluster.start_worker(name)
    return cluster.address


@cache
def _start_ray() -> str:
    import ray

    _ENDINGS.callback(os.environ.pop, "RAY_ADDRESS", None)
    _ENDINGS.callback(ray.shutdown)
    ray.init("local", include_dashboard=False, log_to_driver=False, **_SIZE_OF_RAY)
    os.environ["RAY_ADDRESS"] = ray.get_runtime_context().gcs_address  # for other processes
    return "ray://auto"


def _end_clusters() -> None:
    _ENDINGS.close()
    _start_dask.cache_clear()
    _start_ray.cache_clear()


@pytest.hookimpl(trylast=True)  # when the fixtures of the last test are torn down
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
        _end_clusters()


@pytest.fixture(scope="session", autouse=True)
def _clusters() -> Iterator[None]:
    """End them where the tests are interrupted, too."""
    yield
    _end_clusters()
