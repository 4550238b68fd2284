"""The P(A>B) that a budget shows, by the t test of the means of searches."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from calibration.cells import ALPHA, Cell, share
from outperform.questions.plan.constants import make_typical
from outperform.stats.budget_split import BudgetSplit, best_split, smallest_shown_probability
from outperform.stats.variance_sources import repeated_means

SHARES = (0.0, 0.1, 0.3)  # true ρ
BUDGETS = (500, 2_000)  # fits
SEARCH_COST = 50
PILOT = (10, 5)  # repetitions and replicates of each, as `plan --budget` advises
BETA = 0.05
N_STUDIES = 5_000


def list_blocks() -> list[dict[str, Any]]:
    """What is computed in one go."""
    return [{"shared": shared, "n": budget} for shared in SHARES for budget in BUDGETS]


def measure(
    rng: np.random.Generator, *, shared: float, n: int, n_studies: int = N_STUDIES
) -> list[Cell]:
    """How often equals differ, and what is said to be found is, by where ρ comes from."""
    typical = make_typical().correlation
    sources: dict[str, Callable[[], float]] = {
        "known": lambda: shared,
        "of a pilot": lambda: _run_pilot(rng, shared),
        "typical": lambda: typical,
    }
    cells = []
    for source, find_correlation in sources.items():
        studies = [_study(rng, n, shared, find_correlation()) for _ in range(n_studies)]
        claimed = np.array([study for study in studies if study is not None]).reshape(-1, 2)
        for measure, hits in zip(("size", "power"), claimed.T, strict=True):
            method = f"smallest_shown_probability, ρ {source}"
            place = (method, measure, f"ρ = {shared:g}", f"{n} fits", "")
            if hits.size:
                cells.append(Cell("budgets", *place, *share(hits), alpha=ALPHA))
    return cells


def _run_pilot(rng: np.random.Generator, shared: float) -> float:
    """ρ as a small pilot lets one expect it."""
    luck = rng.normal(scale=math.sqrt(shared), size=(PILOT[0], 1))
    rest = rng.normal(scale=math.sqrt(1 - shared), size=PILOT)
    return repeated_means(luck + rest).expected_correlation


def _study(
    rng: np.random.Generator, budget: int, shared: float, planned: float
) -> tuple[bool, bool] | None:
    """Whether equals differ, and whether the better one of two is found, as planned with some ρ.

    Differences have the variance 1. None where one search is planned, which is said to show
    nothing.
    """
    split = best_split(budget, planned, search_cost=SEARCH_COST)
    n_searches, k = split.n_searches, split.n_replicates
    if n_searches == 1:
        return None
    means = rng.normal(scale=math.sqrt(shared + (1 - shared) / k), size=n_searches)
    error = float(means.std(ddof=1)) / math.sqrt(n_searches)
    limit = float(stdtrit(n_searches - 1, 1 - ALPHA / 2)) * error
    mean = float(means.mean())
    return abs(mean) > limit, mean + _find_shift(split, planned) > limit


@lru_cache(maxsize=64)
def _find_shift(split: BudgetSplit, planned: float) -> float:
    """Mean difference with the P(A>B) that is said to be found."""
    sizes = split.n_searches, split.n_replicates
    shown = smallest_shown_probability(*sizes, planned, alpha=ALPHA, beta=BETA)
    return float(ndtri(shown))
