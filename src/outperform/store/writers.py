"""Who writes a store, as messages say it."""

import os
import shlex
import socket
from time import gmtime, strftime

from outperform.errors import StoreInUse


def describe_process() -> str:
    """Number and host of this process, and now."""
    since = strftime("%Y-%m-%d %H:%M:%S UTC", gmtime())
    return f"process {os.getpid()} on {socket.gethostname()} since {since}"


def has_ended(host: str, pid: int) -> bool:
    """Whether a process is known to have ended, which only its own host can say."""
    if host != socket.gethostname():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:  # it is somebody else's
        return False
    return False


def report_writer(address: str, writer: str) -> StoreInUse:
    """Refuse to write what another run is writing, and say how to watch it."""
    return StoreInUse(
        f"'{address}' is being written by {writer}",
        "Wait for that run to end, or stop it; "
        f"`outperform status {shlex.quote(address)} --watch` shows how far it is",
    )
