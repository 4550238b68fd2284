"""Groups of processes that leave nothing behind, even where we are killed ourselves."""

import os
import signal
import subprocess
from contextlib import suppress
from typing import IO, cast

# Reads the number of a process group, then waits for a second line. If that never comes because
# this process is gone, however it died, the group and a temporary folder go too. The only text
# that gets in here is that number and the folder that we made.
_WATCH = 'read group && { read end || { kill -s KILL -- "-$group"; rm -rf -- "$1"; }; }'
# In the background of a shell that ends at once: Ray kills the children of a process that it ends,
# and would kill the watcher before it has done anything.
_WATCH_ASIDE = f"exec 3<&0; ({_WATCH}) <&3 &"


class Watcher:
    """Has a process group killed, and a folder removed, if this process dies before `dismiss`.

    It is a process of its own: a thread would not run while a call in C lets no other thread run,
    and would die with us.

    Parameters
    ----------
    folder
        To be removed as well, if given.
    """

    def __init__(self, folder: str = "") -> None:
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError):  # where there is no shell, nobody watches
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _WATCH_ASIDE, "sh", folder],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,  # out of reach of Ctrl-C
            )

    def protect(self, group: int) -> None:
        """Say which process group it is; its number is that of its first process."""
        self._say(f"{group}\n")

    def dismiss(self) -> None:
        """End the watch: the group is gone, or nobody's business any more."""
        if self._process is not None:
            self._say("end\n")
            cast(IO[bytes], self._process.stdin).close()
            self._process.wait()

    def _say(self, line: str) -> None:
        if self._process is not None:
            with suppress(BrokenPipeError):  # somebody has killed it
                cast(IO[bytes], self._process.stdin).write(line.encode())


def kill_group(group: int) -> None:
    """Kill all processes of a group, if there are any left."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def name_signal(number: int) -> str:
    """Name of a signal, where it has one.

    Examples
    --------
    >>> name_signal(9), name_signal(40)
    ('SIGKILL', 'signal 40')
    """
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
