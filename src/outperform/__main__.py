"""Run the command line with ``python -m outperform``."""

import sys


def start() -> None:
    """Call the command line; Ctrl-C is one line even while it is being imported."""
    try:
        from outperform.cli import main

        main(prog_name="outperform")
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)


if __name__ == "__main__":
    if not sys.flags.safe_path:
        # Python has put the current folder first, where a random.py would hide Python's own.
        sys.path.append(sys.path.pop(0))
    start()
