"""Who writes a store, as messages say it."""

import os
import shlex
import socket
from pathlib import Path
from time import gmtime, strftime

from outperform.errors import StoreInUse


def describe_process() -> str:
    """Number and host of this process, and now."""
    since = strftime("%Y-%m-%d %H:%M:%S UTC", gmtime())
    return f"process {os.getpid()} on {socket.gethostname()} since {since}"


def report_writer(address: str, writer: str) -> StoreInUse:
    """Refuse to write what another run is writing, and say how to watch it."""
    return StoreInUse(
        f"'{address}' is being written by {writer}",
        "Wait for that run to end, or stop it; "
        f"`outperform status {shlex.quote(address)} --watch` shows how far it is",
    )


def identify_machine() -> str:
    """Tell the system as it has been running since it started, and its space of process numbers.

    "" where that is not known: hosts of equal names may be several.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return ""


def has_ended(pid: int, machine: str) -> bool:
    """Whether a process is known to have ended, which only its own machine knows."""
    if not machine or machine != identify_machine():
        return False
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1]
    except FileNotFoundError:
        return True
    except OSError:  # it is somebody else's
        return False
    return state in "ZX"  # killed, and nobody has asked for its end yet
