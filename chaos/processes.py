"""The command line as a process, and all the processes that come of it."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

COMMAND = (sys.executable, "-m", "outperform")
LONGEST_RUN = 300.0  # seconds; a run that takes longer hangs
_LONGEST_END = 30.0  # seconds in which what a run has started must end with it
_MARK = "OUTPERFORM_CHAOS"  # a variable that all processes of a run inherit
_BUGS = ("Traceback", "This is a bug", "Fatal Python error")
WORKER, WATCHER = "outperform.engines.serving", "read group"


class Process:
    """`outperform`, with its output kept, and whatever it starts.

    Parameters
    ----------
    words
        What stands behind `outperform`.
    """

    def __init__(self, folder: Path, *words: str) -> None:
        value = uuid4().hex
        self.mark = f"{_MARK}={value}"
        self._output = folder / f"output-{value}.txt"
        with self._output.open("w") as output:
            self._process = subprocess.Popen(
                [*COMMAND, *words],
                cwd=folder,
                env={**os.environ, _MARK: value},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Process id of the coordinator."""
        return self._process.pid

    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def has_begun(self) -> bool:
        """Whether our code is there: an interruption before that is Python's to answer."""
        return "site-packages" in _read(self.pid, "maps")

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the coordinator alone."""
        self._process.send_signal(number)

    def wait(self) -> int:
        """Exit status, when it has ended; a run that hangs is killed, and TimeoutExpired raised."""
        try:
            return self._process.wait(LONGEST_RUN)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise

    def read_output(self) -> str:
        """What it has printed, errors too."""
        return self._output.read_text(errors="replace")

    def find(self, word: str) -> list[int]:
        """Processes of this run, other than the coordinator, with a word in their command."""
        return [pid for pid in self._list() if word in _read(pid, "cmdline").replace("\0", " ")]

    def find_left(self) -> list[int]:
        """Processes that are still there, after a while that suffices on a busy machine."""
        until = time.monotonic() + _LONGEST_END
        while (left := self._list()) and time.monotonic() < until:
            time.sleep(0.02)
        for pid in left:
            kill(pid, signal.SIGKILL)
        return left

    def _list(self) -> list[int]:
        marked = [pid for pid in _list_all() if self.mark in _read(pid, "environ").split("\0")]
        return [pid for pid in marked if pid != self.pid]


def find_processes(word: str, folder: Path) -> list[int]:
    """Processes that work in a folder, with a word in their command, whoever has started them."""
    at_work = [pid for pid in _list_all() if _find_folder(pid) == folder]
    return [pid for pid in at_work if word in _read(pid, "cmdline").replace("\0", " ")]


def find_bug(output: str) -> str | None:
    """Whether something was printed that no user should ever see."""
    return next((f"printed {word!r}" for word in _BUGS if word in output), None)


def kill(pid: int, number: signal.Signals) -> bool:
    """Send a signal to a process; whether it was there."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False


def _list_all() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]


def _find_folder(pid: int) -> Path | None:
    try:
        return Path(f"/proc/{pid}/cwd").readlink()
    except OSError:  # it has ended, or is not ours
        return None


def _read(pid: int, what: str) -> str:
    try:
        return Path(f"/proc/{pid}/{what}").read_text(errors="replace")
    except OSError:  # it has ended
        return ""
