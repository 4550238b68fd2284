"""Boo_n for every n with its bootstrap, against a loop over resamples and n."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outperform.stats import estimate_best_of
from outperform.stats.best_of_n import BestOfEstimator
from timing import Contest, Measured, time_both

FloatArray = NDArray[np.float64]

N_RUNS, N_MOST, N_RESAMPLES = 200, 100, 10_000
N_LOOPED = 20  # resamples of the loop, which is scaled up
_SECONDS = 2.0  # promised, however fast the machine


def draw_runs(*, tied: bool) -> tuple[FloatArray, FloatArray]:
    """Validation and test scores that agree to some extent."""
    rng = np.random.default_rng(5)
    validation = rng.normal(0.68, 0.01, N_RUNS)
    test = validation - 0.05 + rng.normal(0, 0.01, N_RUNS)
    return (validation.round(3), test.round(3)) if tied else (validation, test)


def loop_over_resamples(
    validation: FloatArray, test: FloatArray, rng: np.random.Generator
) -> list[list[Any]]:
    """Equation 7 as one would write it with numpy, once per resample and n."""
    found = []
    for _ in range(N_LOOPED):
        rows = rng.integers(N_RUNS, size=N_RUNS)
        _, rank, count = np.unique(validation[rows], return_inverse=True, return_counts=True)
        cdf = np.cumsum(count) / N_RUNS
        mean = np.bincount(rank, weights=test[rows]) / count
        found.append([np.diff(cdf**n, prepend=0.0) @ mean for n in range(1, N_MOST + 1)])
    return found


def every_n(estimator: BestOfEstimator, *, tied: bool) -> Measured:
    runs, rng = draw_runs(tied=tied), np.random.default_rng(0)
    sizes = np.arange(1, N_MOST + 1)
    measured = time_both(
        lambda: estimate_best_of(
            sizes, *runs, estimator=estimator, n_resamples=N_RESAMPLES, rng=rng
        ).bounds(method="percentile"),
        lambda: loop_over_resamples(*runs, rng),
        n_samples=5,
    )
    in_time = "within" if measured.ours < _SECONDS else "NOT WITHIN"
    note = f"{in_time} {_SECONDS:g} s; theirs scaled up from {N_LOOPED} resamples"
    return replace(measured, theirs=measured.theirs * N_RESAMPLES / N_LOOPED, note=note)


KINDS: list[tuple[BestOfEstimator, bool]] = [("v", False), ("v", True), ("u", False)]

CONTESTS = [
    Contest(
        f"Boo_1 to Boo_{N_MOST} ({estimator}) of {N_RUNS} runs, {'ties' if tied else 'no ties'}",
        f"numpy loop over {N_RESAMPLES:,} resamples and n",
        Fraction(1, 20),
        partial(every_n, estimator, tied=tied),
    )
    for estimator, tied in KINDS
]
