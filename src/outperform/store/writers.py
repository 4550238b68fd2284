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


def report_writer(address: str, writer: str) -> StoreInUse:
    """Refuse to write what another run is writing, and say how to watch it."""
    return StoreInUse(
        f"'{address}' is being written by {writer}",
        "Wait for that run to end, or stop it; "
        f"`outperform status {shlex.quote(address)} --watch` shows how far it is",
    )
