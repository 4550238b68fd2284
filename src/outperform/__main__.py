"""Run the command line with ``python -m outperform``."""

from outperform.cli import main

if __name__ == "__main__":
    main(prog_name="outperform")
