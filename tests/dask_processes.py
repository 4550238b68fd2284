"""A Dask scheduler and its workers, started from the command line as people do."""

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from outperform.processes import Watcher, kill_group


class DaskProcesses:
    """One scheduler and any number of workers with one thread each, all ended by `end`.

    A worker's name is that of its log in the folder.

    Parameters
    ----------
    certificates
        Options of both that encrypt what they say.
    """

    def __init__(self, folder: Path, certificates: Sequence[str] = ()) -> None:
        self.folder, self._certificates = folder, certificates
        self._protocol = "tls" if certificates else "tcp"
        self.port = find_free_port()
        self.address = f"dask://127.0.0.1:{self.port}"
        self.processes: dict[str, tuple[subprocess.Popen[bytes], Watcher]] = {}
        self.start_scheduler()

    def start_scheduler(self) -> None:
        file = self.folder / "scheduler.json"
        file.unlink(missing_ok=True)
        host = f"{self._protocol}://127.0.0.1"
        where = ["--host", host, "--port", str(self.port), "--scheduler-file", str(file)]
        self._start("scheduler", "scheduler", *where)

    def start_worker(self, name: str, *options: str, **environment: str) -> None:
        """Start a worker, with variables that others do not have."""
        place = ["--no-nanny", "--nthreads", "1", "--local-directory", str(self.folder)]
        address = f"{self._protocol}://127.0.0.1:{self.port}"
        self._start(name, "worker", address, "--name", name, *place, *options, **environment)

    def kill(self, name: str) -> None:
        process, watcher = self.processes.pop(name)
        kill_group(process.pid)
        process.wait()
        watcher.dismiss()

    def end(self) -> None:
        for name in [*self.processes]:
            self.kill(name)

    def _start(self, name: str, *words: str, **environment: str) -> None:
        if name in self.processes:
            self.kill(name)  # it has ended by itself
        watcher = Watcher()  # for the case that we are killed
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *words, "--no-dashboard", *self._certificates],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                cwd=self.folder,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        watcher.protect(process.pid)
        self.processes[name] = (process, watcher)


def find_free_port() -> int:
    """A port that nobody has at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
