"""One study, harmed and resumed until it is done, and what was lost of it."""

import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from chaos.processes import Process, find_bug
from chaos.studies import Table, read_begun, read_recorded, read_table, write_study

_N_ROUNDS = 12  # of harm, before a study may end in peace
_BYTES_PER_FIT = 110  # about what a fit adds to `begun`


@dataclass
class Findings:
    """What was tried in a round, and what was wrong afterwards."""

    kind: str
    n_strikes: int = 0
    lost: int = 0  # recorded before the harm, and not there after it
    doubled: int = 0  # recorded before the harm, and done once more
    changed: int = 0  # other than in a quiet run
    problems: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether nothing was wrong."""
        return not (self.lost or self.doubled or self.changed or self.problems)


@dataclass
class Round:
    """A run under way that is about to be harmed."""

    folder: Path
    rng: random.Random
    quiet: Table
    findings: Findings
    process: Process | None = None
    store: Path = field(init=False)
    recorded: dict[str, tuple[float, str]] = field(default_factory=dict)
    position: int = 0  # in `begun`, when that was looked at

    def __post_init__(self) -> None:
        self.store = self.folder / "study.db"

    @property
    def running(self) -> Process:
        """The run."""
        assert self.process is not None
        return self.process

    def remember(self) -> None:
        """Note what is recorded now: it may never be lost, nor done again."""
        self.recorded = read_recorded(self.store)
        self.position = self.size_of_begun()

    def has_recorded(self) -> bool:
        """Whether anything is recorded, as soon as something is or the run has ended."""
        while not self.recorded and self.running.is_running():
            time.sleep(0.005)
            self.remember()
        return bool(self.recorded)

    def size_of_begun(self) -> int:
        """Bytes of the names of all fits begun."""
        begun = self.folder / "begun"
        return begun.stat().st_size if begun.exists() else 0

    def ask(self, folder: Path, *words: str) -> int:
        """Exit status of another command, whose output must be fit to be seen."""
        process = Process(folder, *words)
        status = process.wait()
        self.check_output(process)
        return status

    def check_output(self, process: Process) -> None:
        """Note what no user should see, and processes that are left."""
        output = process.read_output()
        bug = find_bug(output)
        if bug is not None:
            self.findings.problems.append(f"{bug}: {output[-2000:]}")
        left = process.find_left()
        if left:
            self.findings.problems.append(f"{len(left)} process(es) left behind")


@dataclass(frozen=True, slots=True)
class Harm:
    """Something that goes wrong.

    Attributes
    ----------
    statuses
        Exit statuses that a run may end in, beside 0 (it was done before) and 4 (fits failed).
    strike
        Does it to a run under way, and says how many times.
    prepare, mend
        What is done before the run is started, and after it has ended: what its message advises.
    weight
        How often it is drawn, beside others.
    """

    kind: str
    statuses: tuple[int, ...]
    strike: Callable[[Round], int]
    prepare: Callable[[Round], None] = lambda _: None
    mend: Callable[[Round], None] = lambda _: None
    weight: float = 1.0


def run_quietly(folder: Path, study: str) -> Table:
    """The table of a study that nothing happens to."""
    write_study(folder, study)
    process = Process(folder, *_words(0))
    status = process.wait()
    if status != 0:
        raise RuntimeError(f"a quiet run ended in {status}: {process.read_output()}")
    table = read_table(folder / "study.db")
    n_begun = len([*read_begun(folder)])
    known = {name for _, name in read_recorded(folder / "study.db").values()}
    if n_begun != table.n_rows or known != {*read_begun(folder)}:
        raise RuntimeError(f"a quiet run began {n_begun} fits and recorded {table.n_rows}")
    return table


def run_trial(
    folder: Path, study: str, quiet: Table, harms: Iterator[Harm], rng: random.Random
) -> list[Findings]:
    """Harm a study again and again until it is done, or harms run out.

    The folder stays where something was lost.
    """
    write_study(folder, study)
    every: list[Findings] = []
    status = -1
    for harm in islice(harms, _N_ROUNDS):
        if status == 0:
            break
        current = Round(folder, rng, quiet, Findings(harm.kind))
        every.append(current.findings)
        try:
            status = _harm(current, harm, status)
        except subprocess.TimeoutExpired:
            current.findings.problems.append("the run never ended")
    _finish(Round(folder, rng, quiet, every[-1]), status)
    if all(findings.is_clean for findings in every):
        shutil.rmtree(folder)
    return every


def _harm(current: Round, harm: Harm, before: int) -> int:
    """One round; the status in which its run has ended."""
    (current.folder / "mischief").unlink(missing_ok=True)
    harm.prepare(current)
    current.remember()
    current.process = Process(current.folder, *_words(before), "--store", str(current.store))
    _wait_for_a_moment(current)
    if current.process.is_running():
        current.remember()
        current.findings.n_strikes = harm.strike(current)
    status = current.process.wait()
    current.check_output(current.process)
    if status not in (0, 4, *harm.statuses):
        output = current.process.read_output()[-500:]
        current.findings.problems.append(f"ended in {status}: {output}")
    harm.mend(current)
    compare_with_quiet(current)
    return status


def _finish(last: Round, status: int) -> None:
    """Resume in peace until all is done, and compare everything."""
    for _ in range(5):
        last.remember()
        process = Process(last.folder, *_words(status))
        status = process.wait()
        last.check_output(process)
        compare_with_quiet(last)
        if status != 4:
            break
    if status != 0:
        output = process.read_output()[-500:]
        last.findings.problems.append(f"ended in {status} in peace: {output}")
    if not last.store.exists():
        last.findings.lost += len(last.quiet.fits)
        return
    table = read_table(last.store)
    last.findings.lost += len(last.quiet.fits.keys() - table.fits.keys())
    last.findings.changed += len(last.quiet.runs ^ table.runs)
    last.findings.doubled += table.n_rows - len(table.fits)


def _words(before: int) -> list[str]:
    retry = ["--retry-failed"] if before == 4 else []
    return ["run", "study.toml", "--workers", "2", *retry]


def _wait_for_a_moment(current: Round) -> None:
    """Wait for a random time as the run starts, or until some more fits were begun."""
    rng = current.rng
    if rng.random() < 0.25:
        pause(current, rng.uniform(0, 1.5))
        return
    enough = current.size_of_begun() + rng.randrange(60) * _BYTES_PER_FIT
    while current.running.is_running() and current.size_of_begun() <= enough:
        time.sleep(0.002)
    pause(current, rng.uniform(0, 0.03))


def pause(current: Round, seconds: float) -> None:
    """Wait, but not longer than the run goes on."""
    until = time.monotonic() + seconds
    while current.running.is_running() and time.monotonic() < until:
        time.sleep(0.001)


def compare_with_quiet(current: Round) -> None:
    """What was recorded before must be there, as it was, and as it is in a quiet run."""
    now, findings = read_recorded(current.store), current.findings
    findings.lost += sum(now.get(key) != value for key, value in current.recorded.items())
    names = {name for _, name in current.recorded.values()}
    findings.doubled += sum(name in names for name in read_begun(current.folder, current.position))
    if now:
        fits = read_table(current.store).fits
        findings.changed += sum(
            row != current.quiet.fits.get(key) for key, row in fits.items() if row[7] == "done"
        )
