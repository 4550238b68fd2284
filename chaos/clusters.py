"""A study on a Dask cluster with its measurements in PostgreSQL, every part of which is killed."""

import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from chaos.processes import WORKER, Process, find_bug, find_processes, kill
from chaos.studies import write_study
from tests.dask_processes import DaskProcesses
from tests.postgres_server import Server

_DASK_WORKERS = ("worker-1", "worker-2")
_LONGEST = 300.0  # seconds that a harmed study may take in all


@dataclass
class Lab:
    """A scheduler, two workers, a database server, and the coordinator that uses them.

    Attributes
    ----------
    stores
        Addresses: where a study ends before enough was killed, it is run once more into another.
    n_killed
        How often each part was killed.
    problems
        What no user should have seen.
    """

    folder: Path
    server: Server
    dask: DaskProcesses
    rng: random.Random
    stores: list[str] = field(default_factory=list)
    n_killed: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    coordinator: Process | None = None

    def run(self, study: str, n_kills: int) -> int:
        """Run a study while parts are killed at random, then in peace; its last exit status."""
        write_study(self.folder, study)
        self.stores.append(self.server.make_address())
        until = time.monotonic() + _LONGEST
        status: int | None = None
        while self.n_killed.total() < n_kills and time.monotonic() < until:
            if status == 0:
                self.stores.append(self.server.make_address())
            self._start_what_is_missing()
            time.sleep(self.rng.uniform(0.1, 0.6))
            kill_part = self.rng.choices([*_HARMS], [*_HARMS.values()])[0]
            self.n_killed[kill_part.__name__] += kill_part(self)
            status = self._look_at_coordinator()
        while status != 0 and time.monotonic() < until:
            self._start_what_is_missing()
            time.sleep(0.2)
            status = self._look_at_coordinator()
        return self._give_up() if status is None else status

    def kill_coordinator(self) -> int:
        """Kill the command that runs the study."""
        return self._kill_process(self.coordinator.pid if self.coordinator else None)

    def kill_child(self) -> int:
        """Kill the process that does a fit."""
        children = find_processes(WORKER, self.folder)
        return self._kill_process(self.rng.choice(children) if children else None)

    def kill_dask_worker(self) -> int:
        """Kill a worker of the cluster."""
        return self._kill_dask(self.rng.choice(_DASK_WORKERS))

    def kill_scheduler(self) -> int:
        """Kill the scheduler, with which its workers end."""
        return self._kill_dask("scheduler")

    def kill_database(self) -> int:
        """Have the server crash."""
        self.server.stop(signal.SIGKILL)
        time.sleep(self.rng.uniform(0, 1))
        return 1

    def _kill_process(self, pid: int | None) -> int:
        return int(pid is not None and kill(pid, signal.SIGKILL))

    def _kill_dask(self, name: str) -> int:
        if name not in self.dask.processes:
            return 0
        self.dask.kill(name)
        return 1

    def _give_up(self) -> int:
        """End a coordinator that hangs; -1, with what it has printed among the problems."""
        assert self.coordinator is not None
        self.coordinator.send(signal.SIGKILL)
        self.coordinator.wait()
        self.problems.append(f"did not end: {self.coordinator.read_output()[-2000:]}")
        return -1

    def _start_what_is_missing(self) -> None:
        self.server.start()
        for name, (process, _) in [*self.dask.processes.items()]:
            if process.poll() is not None:  # workers end with their scheduler
                self.dask.kill(name)
        if "scheduler" not in self.dask.processes:
            self.dask.start_scheduler()
        for name in _DASK_WORKERS:
            if name not in self.dask.processes:
                self.dask.start_worker(name)
        if self.coordinator is None:
            words = ["--store", self.stores[-1], "--engine", self.dask.address, "--spool", "spool"]
            self.coordinator = Process(self.folder, "run", "study.toml", *words)

    def _look_at_coordinator(self) -> int | None:
        """Exit status of a coordinator that has ended; None while it runs."""
        if self.coordinator is None or self.coordinator.is_running():
            return None
        status, output = self.coordinator.wait(), self.coordinator.read_output()
        self.coordinator = None
        bug = find_bug(output)
        if bug is not None or status not in (0, 2, -9):  # 2: something was away for too long
            self.problems.append(f"ended in {status}, {bug}: {output[-2000:]}")
        return status


# By weight: what is started soon is killed often.
_HARMS: dict[Callable[[Lab], int], float] = {
    Lab.kill_child: 8,
    Lab.kill_database: 4,
    Lab.kill_coordinator: 3,
    Lab.kill_dask_worker: 2,
    Lab.kill_scheduler: 1,
}
