"""A Ray that is reached by its client, from another process: a process uses one Ray at a time."""

import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from outperform.processes import Watcher, kill_group
from tests.dask_processes import find_free_port
from tests.engines.conftest import eventually

pytest.importorskip("ray", reason='pip install "outperform[ray]"')
pytestmark = pytest.mark.slow  # Ray takes half a minute to say that its server has died

USE = """
    import os, sys, time
    import outperform.engines.ray
    from outperform.engines import open_engine

    def square(number):
        time.sleep(0.2)
        return number * number

    def fail(number):
        return 1 / number

    def die(number):
        os.kill(os.getpid(), 9)

    def nap(seconds):
        time.sleep(seconds)

    def collect(engine, n):
        outcomes = []
        while len(outcomes) < n:
            outcomes += engine.wait()
        return sorted(outcomes, key=lambda outcome: outcome.tag)

    with open_engine(sys.argv[1]) as engine:
        engine.submit(fail, 0, tag=0)
        engine.submit(die, 0, tag=1)
        engine.submit(nap, 300, tag=2, timeout=0.5)
        for outcome in collect(engine, 3):
            print(outcome.error.strip().splitlines()[-1])
        for number in range(40):
            engine.submit(square, number, tag=number)
        print(engine.n_workers, collect(engine, 2)[0].value >= 0, flush=True)
        sys.stdin.readline()  # the head is killed now, and another one started
        values = {outcome.value for outcome in collect(engine, 38)}
        print(len(values))
    engine = open_engine(sys.argv[1])
    engine.submit(nap, 300, tag=0)
    engine.stop()
    print(engine.wait())
"""


class Head:
    """`ray start --head`, on ports of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client_port = find_free_port()
        self.address = f"ray://127.0.0.1:{self.client_port}"
        self.start()

    def start(self) -> None:
        options = {
            "port": find_free_port(),
            "ray-client-server-port": self.client_port,
            "num-cpus": 2,
            "object-store-memory": 100 * 2**20,
            "include-dashboard": "false",
        }
        words = [f"--{name}={value}" for name, value in options.items()]
        self._watcher = Watcher()  # for the case that we are killed
        with (self.folder / "head.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", *words],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
                start_new_session=True,
            )
        self._watcher.protect(self._process.pid)
        assert eventually(self._listens, seconds=60)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.client_port)) == 0

    def kill(self) -> None:
        kill_group(self._process.pid)
        self._process.wait()
        self._watcher.dismiss()


@pytest.fixture
def head(tmp_path: Path) -> Iterator[Head]:
    started = Head(tmp_path)
    yield started
    started.kill()


def test_fits_run_on_it_fail_on_it_and_outlive_its_head(head):
    user = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(USE), head.address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert user.stdin is not None
    assert user.stdout is not None
    try:
        shown = [user.stdout.readline().rstrip("\n") for _ in range(4)]
        assert shown == [
            "ZeroDivisionError: division by zero",
            "the worker was killed by SIGKILL, perhaps for want of memory, in each of 3 tries",
            "killed after 0.5 s, the time limit of a fit",
            "2 True",
        ]
        head.kill()
        head.start()
        rest, _ = user.communicate("\n", timeout=300)
        assert rest.splitlines() == ["38", "[]"]
        assert user.returncode == 0
    finally:
        user.kill()
        user.wait()
