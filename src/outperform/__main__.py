"""Run the command line with ``python -m outperform``."""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    # Python has put the current folder first, where a random.py would hide Python's own.
    sys.path.append(sys.path.pop(0))

import os
import signal


def start() -> None:
    """Call the command line; Ctrl-C is one line even while it is being imported."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed before we began: nobody wants to know
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    try:
        from outperform.cli import main, note_interruption

        signal.signal(signal.SIGINT, note_interruption)
        main(prog_name="outperform")
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)
    finally:
        # Python lets a second Ctrl-C kill it as it ends, and the status would be another.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # A Ctrl-C inside an `exec` of text (dataclasses are made so) is noted, although it was
        # caught, and `python -m` kills itself at its very end; the next `exec` forgets the note.
        exec("")


if __name__ == "__main__":
    start()
