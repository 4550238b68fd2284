"""How much memory a worker takes with all that it has started; known on Linux, by /proc."""

import os
import time
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from outperform.wording import format_bytes

_PAGE = os.sysconf("SC_PAGESIZE")
_LOOKS = 4  # a second at most, however many workers ask
_BETWEEN = 0.5  # seconds from one look at a worker to the next


class MemoryLimit:
    """What a process group may take; looked at now and then.

    Attributes
    ----------
    next_look
        When to ask again, on the monotonic clock.
    """

    def __init__(self, group: int, limit: int) -> None:
        self._group, self._limit = group, limit
        self._taken = 0
        self.next_look = time.monotonic() + _BETWEEN

    def is_passed(self) -> bool:
        """Whether it has been seen to take more."""
        if self._taken <= self._limit and self.next_look <= time.monotonic():
            self._taken = measure_memory(self._group, self._limit)
            self.next_look = time.monotonic() + _BETWEEN
        return self._taken > self._limit

    def __str__(self) -> str:
        taken, limit = format_bytes(self._taken), format_bytes(self._limit)
        return f"killed at {taken}: the memory limit of a fit is {limit}"


class _Process(NamedTuple):
    parent: int
    group: int
    resident: int  # bytes


def measure_memory(group: int, limit: int) -> int:
    """Bytes in memory of a process group and of all that it has started; 0 where nobody knows.

    What processes share counts once, but that is found out only where it decides: it takes long.
    """
    processes = _list_processes(int(time.monotonic() * _LOOKS))
    members = _find_members(processes, group)
    resident = sum(processes[pid].resident for pid in members)
    if resident <= limit or len(members) == 1:
        return resident
    return sum(_share_out(pid, processes[pid].resident) for pid in members)


def measure_process(pid: int) -> int:
    """Bytes in memory of one process, at this moment; 0 where nobody knows."""
    process = _look_at(pid)
    return process.resident if process else 0


def _find_members(processes: dict[int, _Process], group: int) -> set[int]:
    """Processes of a group, and all below them: commands lead groups of their own."""
    children: dict[int, list[int]] = {}
    for pid, process in processes.items():
        children.setdefault(process.parent, []).append(pid)
    members: set[int] = set()
    found = [pid for pid, process in processes.items() if process.group == group]
    while found:
        pid = found.pop()
        if pid not in members:
            members.add(pid)
            found += children.get(pid, [])
    return members


@lru_cache(maxsize=1)
def _list_processes(_moment: int) -> dict[int, _Process]:
    try:
        names = [entry.name for entry in Path("/proc").iterdir()]
    except OSError:  # no Linux
        return {}
    looks = ((int(name), _look_at(int(name))) for name in names if name.isdecimal())
    return {pid: process for pid, process in looks if process is not None}


def _look_at(pid: int) -> _Process | None:
    """A process as Linux shows it; None where it is gone."""
    try:
        # Its name stands in parentheses, and may hold anything; its state comes next.
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return _Process(int(fields[1]), int(fields[2]), int(fields[21]) * _PAGE)
    except (OSError, IndexError, ValueError):
        return None


def _share_out(pid: int, resident: int) -> int:
    """Bytes of a process, those that it shares with others divided among them."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    except ProcessLookupError:
        return 0  # it has just ended
    except (OSError, StopIteration):
        return resident
