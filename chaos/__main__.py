"""Harm studies for some minutes, and print what was tried and what was lost.

python -m chaos --minutes 5 --seed 0
"""

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from chaos.harms import CODE_HARMS, PROCESS_HARMS
from chaos.store_harms import FULL_DISK, STORE_HARMS, can_mount
from chaos.studies import STUDIES, Table
from chaos.trials import Findings, Harm, run_quietly, run_trial

HEADER = ("harm", "times", "lost", "doubled", "changed", "other problems")


def list_harms(word: str = "") -> list[Harm]:
    """All that can be done on this machine, or what has a word in its name."""
    every = [*PROCESS_HARMS, *CODE_HARMS, *STORE_HARMS, *([FULL_DISK] if can_mount() else [])]
    return [harm for harm in every if word in harm.kind]


def harm_studies(
    folder: Path, harms: list[Harm], *, seed: int, minutes: float, n_parallel: int
) -> Iterator[Findings]:
    """Findings of trial after trial, until the time is over."""
    quiet = {name: run_quietly(folder / f"quiet-{name}", name) for name in STUDIES}
    until = time.monotonic() + 60 * minutes

    def try_all(lane: int) -> list[Findings]:
        every, number = [], lane
        while time.monotonic() < until:
            every += _try(folder, harms, quiet, seed, number)
            number += n_parallel
        return every

    with ThreadPoolExecutor(n_parallel) as pool:
        for findings in pool.map(try_all, range(n_parallel)):
            yield from findings


def _try(
    folder: Path, harms: list[Harm], quiet: dict[str, Table], seed: int, number: int
) -> list[Findings]:
    name = f"{seed}-{number}"
    rng = random.Random(name)
    study = rng.choice([*STUDIES])
    drawn = _draw_harms(harms, number, rng)
    every = run_trial(folder / name, study, quiet[study], drawn, rng)
    wrong = [str(findings) for findings in every if not findings.is_clean]
    n_strikes = sum(findings.n_strikes for findings in every)
    print(f"trial {name} ({study}): harmed {n_strikes} times", *(wrong or ["all well"]), flush=True)
    return every


def _draw_harms(harms: list[Harm], number: int, rng: random.Random) -> Iterator[Harm]:
    """Each in its turn as a trial begins, so that none is left out; then any, by weight."""
    yield harms[number % len(harms)]
    while True:
        yield from rng.choices(harms, [harm.weight for harm in harms])


def print_table(every: list[Findings], harms: list[Harm]) -> None:
    """One line per kind of harm, and their sums."""
    rows = [
        _add_up(harm.kind, [each for each in every if each.kind == harm.kind]) for harm in harms
    ]
    rows.append(_add_up("all", every))
    width = max(len(row[0]) for row in rows)
    for name, *cells in [HEADER, *rows]:
        print(f"{name:<{width}}", *(f"{cell:>8}" for cell in cells))


def _add_up(name: str, every: list[Findings]) -> tuple[str, ...]:
    sums = [
        sum(each.n_strikes for each in every),
        sum(each.lost for each in every),
        sum(each.doubled for each in every),
        sum(each.changed for each in every),
        sum(len(each.problems) for each in every),
    ]
    return (name, *map(str, sums))


def main() -> None:
    """Exit with 1 where anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m chaos", description="Harm running studies.")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parallel", type=int, default=2, help="studies at a time")
    parser.add_argument("--only", default="", metavar="WORD", help="harms with this word")
    options = parser.parse_args()
    if not Path("/proc/self/environ").exists():
        sys.exit("chaos finds processes in /proc, which this system does not have")
    # A shell lets what it starts in the background ignore Ctrl-C, and runs would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    harms = list_harms(options.only)
    if not can_mount():
        print("Skipped: a full disk, which takes root and `mount`")
    folder = Path(tempfile.mkdtemp(prefix="outperform-chaos-")).resolve()
    found = harm_studies(
        folder, harms, seed=options.seed, minutes=options.minutes, n_parallel=options.parallel
    )
    every = [*found]
    print_table(every, harms)
    if not all(findings.is_clean for findings in every):
        sys.exit(f"The folders of what went wrong are in {folder}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
