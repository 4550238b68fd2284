"""Large runs files: how long reading and comparing takes, and how much memory."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd

from outperform import compare_runs, read_runs
from startup import COMMAND
from timing import Contest, Measured, peak_megabytes, time_both, time_job

MOST_MEGABYTES = 600
MOST_SECONDS = 15.0  # without pyarrow


@dataclass(frozen=True, slots=True)
class Table:
    """A runs file of 1,000,000 rows."""

    n_algorithms: int
    n_tasks: int
    n_seeds: int
    shuffled: bool

    def __str__(self) -> str:
        order = "shuffled" if self.shuffled else "in order"
        return f"{self.n_algorithms}x{self.n_tasks}x{self.n_seeds:,} rows {order}"

    @contextmanager
    def written(self) -> Iterator[str]:
        """Write it to a file that is gone afterwards."""
        rng = np.random.default_rng(7)
        shape = (self.n_algorithms, self.n_tasks, self.n_seeds)
        algorithm, task, seed = (place.ravel() for place in np.indices(shape))
        runs = pd.DataFrame(
            {
                "algorithm": np.array([f"net-{i}" for i in range(self.n_algorithms)])[algorithm],
                "task": np.array([f"task-{i}" for i in range(self.n_tasks)])[task],
                "seed": seed,
                "accuracy": rng.normal(0.9, 0.01, size=seed.size) - 0.001 * algorithm,
            }
        )
        if self.shuffled:
            runs = runs.iloc[rng.permutation(len(runs))]
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "runs.csv"))
            runs.to_csv(path, index=False)
            yield path


def read_and_compare(table: Table) -> Measured:
    with table.written() as path:
        return time_both(
            lambda: compare_runs(read_runs(path), "net-0", "net-1"),
            lambda: pd.read_csv(path),
            n_samples=21,  # both use all processors, so that whatever else runs is felt
        )


def read_without_pyarrow(table: Table) -> Measured:
    """Read as those do who have not installed it."""
    with table.written() as path, patch.dict(sys.modules, {"pyarrow": None}):
        seconds = time_job(lambda: compare_runs(read_runs(path), "net-0", "net-1"), n_samples=3)
    return Measured(seconds, MOST_SECONDS)


def peak_of_command(table: Table) -> Measured:
    with table.written() as path:
        peak = peak_megabytes([COMMAND, "compare", path, "net-0", "net-1"])
    return Measured(peak, MOST_MEGABYTES, unit="MB")


TABLES = (Table(10, 100, 1_000, shuffled=False), Table(2, 1, 500_000, shuffled=True))
CONTESTS = [
    contest
    for table in TABLES
    for contest in (
        Contest(
            f"read and compare, {table}",
            "pandas read_csv alone",
            Fraction(3),
            partial(read_and_compare, table),
        ),
        Contest(
            f"the same without pyarrow, {table}",
            f"{MOST_SECONDS:g} seconds",
            Fraction(1),
            partial(read_without_pyarrow, table),
        ),
        Contest(
            f"peak of the command, {table}",
            f"{MOST_MEGABYTES} MB",
            Fraction(1),
            partial(peak_of_command, table),
        ),
    )
]
