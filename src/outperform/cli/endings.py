"""How a command ends: exit statuses, and an output that nothing can be written to any more."""

import os
import sys
from contextlib import suppress
from typing import NoReturn

FAILURES = 4  # done, but some fits failed, or some searches cannot be simulated
INTERRUPTED = 130  # as shells have it: 128 and the number of SIGINT
CLOSED_OUTPUT = 141  # likewise of SIGPIPE; 1 would say that a gate is refuted

_noted: list[bool] = []  # interruptions


def silence_output() -> None:
    """Let what is still to be written to standard output vanish.

    Python writes it out when it ends, fails once more, and ends with a status of its own.
    """
    with suppress(OSError, ValueError):  # it may be closed, or no file at all
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def note_interruption(*_: object) -> NoReturn:
    """Raise KeyboardInterrupt for Ctrl-C, and remember it."""
    _noted.append(True)
    raise KeyboardInterrupt


def was_interrupted() -> bool:
    """Whether Ctrl-C was pressed: compiled modules may make another error of it."""
    return bool(_noted)
