"""`make fuzz`: many inputs for every target, and a table of what became of them."""

import faulthandler
import os
import random
import sys
import time
from multiprocessing import get_context
from pathlib import Path
from tempfile import mkdtemp

from tests.fuzz import command_lines, published_tables, runs_files, spools, stores, study_files
from tests.fuzz.harness import Tally, Target, fuzz

TARGETS = [
    each.TARGET
    for each in (runs_files, published_tables, study_files, stores, spools, command_lines)
]
N_INPUTS = int(os.environ.get("FUZZ_INPUTS", "10000"))
START = int(os.environ.get("FUZZ_SEED", random.randrange(10**6)))


def main() -> int:
    """Fuzz the targets named, or all, each in a process of its own, as it may die of an input."""
    named = [t for t in TARGETS if not sys.argv[1:] or t.name.replace(" ", "-") in sys.argv[1:]]
    print(f"{'target':<16} {'inputs':>8} {'refused':>8} {'answered':>8} {'escaped':>8}  seconds")
    tallies = [_fuzz_apart(target) for target in named]
    for tally in tallies:
        for escape, example in tally.examples.items():
            print(f"\n{escape}\n  {example[:4000]}")
    print(f"\nFUZZ_SEED={START} tries the same inputs again.")
    return int(any(tally.escaped for tally in tallies))


def _fuzz_apart(target: Target) -> Tally:
    began, folder = time.monotonic(), Path(mkdtemp(prefix="fuzz-"))
    context = get_context("fork")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(TARGETS.index(target), folder, send))
    process.start()
    send.close()
    try:
        tally: Tally = receive.recv()
    except EOFError:
        process.join()
        last = (folder / "last-input.txt").read_text()
        tally = Tally(escaped=1, examples={f"the process ended in {process.exitcode}": last})
    process.join()
    n = tally.refused + tally.answered + tally.escaped
    counts = f"{n:>8,} {tally.refused:>8,} {tally.answered:>8,} {tally.escaped:>8,}"
    print(f"{target.name:<16} {counts}  {time.monotonic() - began:.0f}", flush=True)
    return tally


def _work(place: int, folder: Path, send: object) -> None:
    faulthandler.enable()
    send.send(fuzz(TARGETS[place], N_INPUTS, folder, start=START))  # type: ignore[attr-defined]


if __name__ == "__main__":
    sys.exit(main())
