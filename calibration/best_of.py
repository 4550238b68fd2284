"""Intervals of Boo_n, and of the chance that one best of n beats another."""

from collections.abc import Iterator
from typing import Any, get_args

import numpy as np

from calibration.cells import ALPHA, LEVEL, Cell, share
from calibration.data import KINDS, Distribution
from outperform.stats.best_of_resamples import BestOfInterval, best_of_probability, estimate_best_of

METHODS: tuple[BestOfInterval, ...] = get_args(BestOfInterval)
BUDGETS = (2, 5, 20)
N_RUNS = (5, 10, 20, 50, 200)
KINDS_OF_RUNS = ("normal", "skewed", "heavy tails")
N_STUDIES = 2_000
N_RESAMPLES = 500
_MIDDLES = (np.arange(1_000_000) + 0.5) / 1_000_000


def list_blocks() -> list[dict[str, Any]]:
    """What is computed in one go."""
    return [{"kind": kind, "n": n} for kind in KINDS_OF_RUNS for n in N_RUNS]


def measure(
    rng: np.random.Generator, *, kind: str, n: int, n_studies: int = N_STUDIES
) -> list[Cell]:
    """Coverage of the best of a few among n runs, chosen and reported on the same score."""
    scores = KINDS[kind].scores
    a, b = scores.draw(rng, (2, n_studies, n))
    budgets = [budget for budget in BUDGETS if budget <= n]
    cells = list(_measure_estimates(rng, kind, a, budgets))
    hits = share(
        0.5
        in best_of_probability(
            2, (x, None), (y, None), confidence_level=LEVEL, n_resamples=N_RESAMPLES, rng=rng
        ).interval
        for x, y in zip(a, b, strict=True)
    )
    row = ("best_of_probability", "coverage", kind, f"2 of {n}", "")
    cells.append(Cell("best of n", *row, *hits, alpha=ALPHA))
    return cells


def _measure_estimates(
    rng: np.random.Generator, kind: str, runs: Any, budgets: list[int]
) -> Iterator[Cell]:
    truths = np.array([true_best_of(KINDS[kind].scores, budget) for budget in budgets])
    estimates = [estimate_best_of(budgets, x, n_resamples=N_RESAMPLES, rng=rng) for x in runs]
    for method in METHODS:
        bounds = [found.bounds(confidence_level=LEVEL, method=method) for found in estimates]
        covered = np.array([(low <= truths) & (truths <= high) for low, high in bounds])
        for budget, hits in zip(budgets, covered.T, strict=True):
            row = (method, "coverage", kind, f"{budget} of {runs.shape[1]}", "")
            yield Cell("best of n", *row, *share(hits), alpha=ALPHA)


def true_best_of(scores: Distribution, n: int) -> float:
    """Expected best of n: the mean of quantiles at the largest of n uniform numbers."""
    return float(scores.quantile(_MIDDLES ** (1 / n)).mean())
