"""What a fit may use: graphics processors, which no two share unasked, and memory.

Memory is that of a worker with all that it has started; known on Linux, by /proc.
"""

import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from outperform.errors import InvalidInput
from outperform.wording import format_bytes

VISIBLE = "CUDA_VISIBLE_DEVICES"  # what CUDA and ROCm read once, when a process first uses them
_NONE = ("", "-1", "NoDevFiles")  # in it: there are none from here on
_LONGEST_LOOK = 30.0  # seconds that nvidia-smi may take
_PAGE = os.sysconf("SC_PAGESIZE")
_LOOKS = 4  # a second at most, however many workers ask
_BETWEEN = 0.5  # seconds from one look at a worker to the next
_ROUNDING = 1e-9  # of shares that add up to a whole


@dataclass(frozen=True, slots=True)
class Share:
    """What a process may use of the devices, from its start to its end."""

    gpus: float | None = None  # that were asked for; None: nobody said, and it sees what we see
    devices: tuple[str, ...] = ()  # their names

    @property
    def environment(self) -> dict[str, str]:
        """Variables for the process."""
        return {} if self.gpus is None else {VISIBLE: ",".join(self.devices)}


class Devices:
    """Graphics processors, and how much of each is free.

    Parameters
    ----------
    gpus
        How many there are, or a list of them, where one named twice may be shared by two fits. If
        not given, those in CUDA_VISIBLE_DEVICES or, without that, those that `nvidia-smi` lists.

    Examples
    --------
    >>> devices = Devices(2)
    >>> first = devices.take(1)
    >>> first.environment
    {'CUDA_VISIBLE_DEVICES': '0'}
    >>> devices.take(2) is None
    True
    >>> devices.give_back(first)
    >>> devices.take(2).devices
    ('0', '1')
    """

    def __init__(self, gpus: int | Sequence[int | str] | None = None) -> None:
        listed = gpus if isinstance(gpus, list | tuple) else [gpus]
        kinds = (int, str) if listed is gpus else (int, type(None))
        for each in listed:
            negative = isinstance(each, int) and each < 0
            if not isinstance(each, kinds) or isinstance(each, bool) or negative:
                raise InvalidInput(
                    f"gpus is {gpus!r}",
                    "Give how many there are, or list them, [0, 2]; one named twice, [0, 0], is "
                    "shared by two fits",
                )
        self._option = gpus

    @cached_property
    def _capacity(self) -> dict[str, float]:
        """How many fits each device is for, by its name in CUDA_VISIBLE_DEVICES."""
        gpus = self._option
        visible = _list_visible(os.environ[VISIBLE]) if VISIBLE in os.environ else None
        names: Iterable[int | str]
        if isinstance(gpus, int):
            names = visible[:gpus] if visible and len(visible) >= gpus else range(gpus)
        elif gpus is not None:
            names = gpus
        else:
            names = range(_count_devices()) if visible is None else visible
        return dict(Counter(map(str, names)))

    @cached_property
    def _free(self) -> dict[str, float]:
        return {**self._capacity}

    @property
    def are_known(self) -> bool:
        """Whether any were named or found."""
        return bool(self._capacity)

    def check(self, gpus: float | None) -> None:
        """Refuse what will never be free."""
        if gpus and not _choose(self._capacity, gpus):
            n_devices = len(self._capacity)
            raise InvalidInput(
                f"a fit needs {gpus:g} GPU{'' if gpus <= 1 else 's'}, and there "
                f"{'is' if n_devices == 1 else 'are'} {n_devices or 'none'} here",
                "Run it where there are as many, name those that were not found in the engine's "
                "option gpus, or ask for fewer in the pipeline's resources",
            )

    def can_take(self, gpus: float | None, returned: Sequence[Share] = ()) -> bool:
        """Whether so many are free, once these are given back."""
        if not gpus:
            return True
        free = {**self._free}
        for share in returned:
            _add(free, share, 1)
        return bool(_choose(free, gpus))

    def take(self, gpus: float | None) -> Share | None:
        """So many, for one process; None where they are not free."""
        if not gpus:
            return Share(gpus)
        devices = _choose(self._free, gpus)
        if not devices:
            return None
        share = Share(gpus, devices)
        _add(self._free, share, -1)
        return share

    def give_back(self, share: Share) -> None:
        """Let others have it: the process is gone."""
        if share.devices:
            _add(self._free, share, 1)


class GivenDevices:
    """Graphics processors that a cluster hands out itself: those that this process sees now."""

    def check(self, gpus: float | None) -> None:
        """The cluster has done that."""

    def take(self, gpus: float | None) -> Share:
        """All that this process sees, which are so many."""
        return Share(gpus, tuple(_list_visible(os.environ.get(VISIBLE, ""))) if gpus else ())

    def give_back(self, share: Share) -> None:
        """The cluster will see to it."""


def _add(free: dict[str, float], share: Share, sign: int) -> None:
    for device in share.devices:
        free[device] += sign * min(share.gpus or 0, 1)


def _choose(free: Mapping[str, float], gpus: float) -> tuple[str, ...]:
    """Devices with room, the fullest first, so that others stay whole; none if too few."""
    each, n_wanted = min(gpus, 1), max(round(gpus), 1)
    with_room = [device for device, room in free.items() if room >= each - _ROUNDING]
    chosen = sorted(with_room, key=lambda device: free[device])[:n_wanted]
    return tuple(chosen) if len(chosen) == n_wanted else ()


def _list_visible(value: str) -> list[str]:
    devices: list[str] = []
    for device in map(str.strip, value.split(",")):
        if device in _NONE:  # CUDA looks no further either
            break
        devices.append(device)
    return devices


def _count_devices() -> int:
    try:
        listing = subprocess.run(
            ["nvidia-smi", "-L"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LONGEST_LOOK,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return 0
    return sum(line.startswith(b"GPU ") for line in listing.splitlines())


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
        held, limit = format_bytes(self._taken), format_bytes(self._limit)
        return f"killed at {held}: the memory limit of a fit is {limit}"


class _Process(NamedTuple):
    parent: int
    group: int
    resident: int  # bytes


def measure_memory(group: int, limit: int) -> int:
    """Bytes in memory of a process group and of all that it has started; 0 where nobody knows.

    What processes share counts once, but that is found out only where it decides: it takes long.
    """
    processes = _list_processes(int(time.monotonic() * _LOOKS))
    children: dict[int, list[int]] = {}
    for pid, process in processes.items():
        children.setdefault(process.parent, []).append(pid)
    members: set[int] = set()  # and all below them: commands lead groups of their own
    pids = [pid for pid, process in processes.items() if process.group == group]
    while pids:
        pid = pids.pop()
        if pid not in members:
            members.add(pid)
            pids += children.get(pid, [])
    resident = sum(processes[pid].resident for pid in members)
    if resident <= limit or len(members) == 1:
        return resident
    return sum(_share_out(pid, processes[pid].resident) for pid in members)


def measure_process(pid: int) -> int:
    """Bytes in memory of one process, at this moment; 0 where nobody knows."""
    process = _look_at(pid)
    return process.resident if process else 0


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
