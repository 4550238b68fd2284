"""Run the command line with ``python -m outperform``."""

import signal
import sys


def start() -> None:
    """Call the command line; Ctrl-C is one line even while it is being imported."""
    try:
        from outperform.cli import main

        main(prog_name="outperform")
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)
    finally:
        # Python lets a second Ctrl-C kill it as it ends, and the status would be another.
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    if not sys.flags.safe_path:
        # Python has put the current folder first, where a random.py would hide Python's own.
        sys.path.append(sys.path.pop(0))
    start()
