"""Aggregates over tasks by the two-level bootstrap, against drawing its indices and rliable."""

import tracemalloc
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from outperform.stats import aggregate_scores
from outperform.stats.task_aggregates import TasksAre
from peers import run_peer
from timing import Contest, Measured, time_both, time_job

N_TASKS, N_ALGORITHMS, N_REPLICATES, N_RESAMPLES = 26, 10, 100, 10_000
N_LOOPED = 100  # resamples of rliable, which is scaled up
_WHAT = f"aggregates, {N_ALGORITHMS} × {N_TASKS} × {N_REPLICATES} × {N_RESAMPLES:,}"
_TASKS: tuple[TasksAre, ...] = ("fixed", "sampled")


def draw_scores() -> NDArray[np.float64]:
    shape = (N_TASKS, N_ALGORITHMS, N_REPLICATES)
    return np.random.default_rng(26).normal(0.6, 0.3, size=shape)


def bootstrap(tasks: TasksAre) -> object:
    return aggregate_scores(
        draw_scores(), tasks=tasks, n_resamples=N_RESAMPLES, rng=np.random.default_rng(0)
    )


def against_drawing(tasks: TasksAre) -> Measured:
    """Compare with drawing as many indices, an algorithm at a time: all at once are 2 GB."""
    rng = np.random.default_rng(0)
    size = (N_RESAMPLES, N_TASKS, N_REPLICATES)

    def draw() -> None:
        for _ in range(N_ALGORITHMS):
            rng.integers(0, N_REPLICATES, size=size)

    return time_both(partial(bootstrap, tasks), draw, n_samples=3)


def against_rliable(python: Path | None, tasks: TasksAre) -> Measured:
    given = {
        "scores": draw_scores().tolist(),
        "sampled": tasks == "sampled",
        "n_resamples": N_LOOPED,
    }
    seconds, version = run_peer("rliable", python, given)
    seconds *= N_RESAMPLES / N_LOOPED
    note = f"version {version}, scaled up from {N_LOOPED} resamples"
    return Measured(time_job(partial(bootstrap, tasks), n_samples=3), seconds, note=note)


def within(megabytes: float) -> Measured:
    tracemalloc.start()
    bootstrap("sampled")
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return Measured(peak, megabytes, unit="MB")


def contests(python: Path | None) -> list[Contest]:
    """Rows against numpy, against rliable and of memory."""
    return [
        *(
            Contest(
                f"{_WHAT}, {tasks}",
                "numpy drawing as many indices",
                Fraction(2),
                partial(against_drawing, tasks),
            )
            for tasks in _TASKS
        ),
        *(
            Contest(
                f"{_WHAT}, {tasks}",
                "rliable get_interval_estimates()",
                Fraction(1, 20),
                partial(against_rliable, python, tasks),
            )
            for tasks in _TASKS
        ),
        Contest(f"{_WHAT}, memory", "500 MB", Fraction(1), partial(within, 500.0)),
    ]
