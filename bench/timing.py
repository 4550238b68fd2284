"""A row of the table, and how the time and memory in it are measured."""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import Literal

Job = Callable[[], object]

_SAMPLE_SECONDS = 0.02  # quick jobs are repeated until one sample takes this long
# A child's peak counts what its parent held when it was started, so a bare interpreter starts it.
_PEAK_OF_CHILD = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """What both sides needed."""

    ours: float
    theirs: float
    unit: Literal["s", "MB"] = "s"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Contest:
    """One row of the table: what both sides do, and the ratio that ours may reach."""

    what: str
    against: str
    at_most: Fraction | None  # of ours to theirs; None where nothing was promised
    measure: Callable[[], Measured]


class NotMeasured(Exception):
    """Why a row has no figures."""


def time_both(ours: Job, theirs: Job, *, n_samples: int = 9) -> Measured:
    """Median seconds of two jobs, run in turns so that a busy machine slows both."""
    loops = [_count_loops(job) for job in (ours, theirs)]
    samples: tuple[list[float], list[float]] = ([], [])
    for _ in range(n_samples):
        for job, n_loops, taken in zip((ours, theirs), loops, samples, strict=True):
            taken.append(_time_loops(job, n_loops))
    return Measured(median(samples[0]), median(samples[1]))


def time_job(job: Job, *, n_samples: int = 9) -> float:
    """Median seconds of one job."""
    n_loops = _count_loops(job)
    return median(_time_loops(job, n_loops) for _ in range(n_samples))


def run_command(command: Sequence[str], *, stdin: str = "") -> str:
    """Run a whole process and give what it printed, or say how it failed."""
    finished = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        message = finished.stderr.strip().splitlines() or ["no message"]
        raise NotMeasured(f"exit status {finished.returncode}: {message[-1]}")
    return finished.stdout


def peak_megabytes(command: Sequence[str]) -> float:
    """Most memory that a whole process held at once."""
    return int(run_command([sys.executable, "-I", "-S", "-c", _PEAK_OF_CHILD, *command])) / 1024


def _count_loops(job: Job) -> int:
    job()  # the first call fills caches
    return max(1, int(_SAMPLE_SECONDS / _time_loops(job, 1)))


def _time_loops(job: Job, n_loops: int) -> float:
    start = time.perf_counter()
    for _ in range(n_loops):
        job()
    return (time.perf_counter() - start) / n_loops
