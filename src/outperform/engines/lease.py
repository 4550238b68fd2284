"""How long a coordinator's work is wanted, as its workers can tell without asking it."""

import os
import socket
import time
from dataclasses import dataclass

_last_beats: dict[str, tuple[float, float]] = {}  # by file: time in it, and when we first saw that


@dataclass(frozen=True, slots=True)
class Lease:
    """Who wants the work, and the signs that they still do; plain data, sent with every job.

    Attributes
    ----------
    session
        A name that no other coordinator has.
    host, pid
        Where the coordinator runs: workers there see when it is gone.
    flag
        A file there that is removed when the work is given up; "" where there is none.
    heartbeat
        A file that the coordinator touches every now and then, where workers can see it; "" where
        there is none.
    patience
        Seconds without a beat after which nobody is thought to want the work.
    """

    session: str
    host: str
    pid: int
    flag: str = ""
    heartbeat: str = ""
    patience: float = 0.0

    def is_valid(self) -> bool:
        """Whether nothing says that the work is not wanted any more."""
        is_here = socket.gethostname() == self.host
        if is_here and self.flag and not os.path.exists(self.flag):  # noqa: PTH110, it is text
            return False
        if not self.heartbeat:
            return not is_here or self._is_alive()
        # A folder may be taken away from a coordinator that is there as before.
        return (is_here and self._is_alive()) or self.is_beating()

    def is_beating(self) -> bool:
        """Whether there is a heartbeat, and was one in as many seconds as patience lasts.

        The file's time is compared with itself only: clocks of two hosts differ.
        """
        try:
            beat = os.stat(self.heartbeat).st_mtime  # noqa: PTH116
        except (FileNotFoundError, ValueError):
            return False
        except OSError:
            beat = -1.0  # a file system that is away for a while is no sign of death
        now = time.monotonic()
        last, since = _last_beats.get(self.heartbeat, (None, now))
        if beat != last:
            last, since = beat, now
            _last_beats[self.heartbeat] = (beat, now)
        return now - since <= self.patience

    def _is_alive(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            pass  # somebody else's
        return True
