"""What the means of several searches tell of both sides tuned anew."""

import math
from typing import Any

import numpy as np

from calibration.cells import ALPHA, LEVEL, Cell, share
from calibration.data import KINDS
from outperform.stats.checks import FloatArray
from outperform.stats.several_searches import (
    SearchesDifference,
    difference_over_searches,
    equivalence_over_searches,
)

ROWS = (("normal", 0.0), ("normal", 0.3), ("heavy tails", 0.3), ("skewed, unequal variances", 0.3))
N_SEARCHES = (2, 3, 5, 10, 20)
N_REPLICATES = 5
N_STUDIES = 5_000
MARGIN = 1.0  # standard deviations of a score of the side that varies less


def list_blocks() -> list[dict[str, Any]]:
    """What is computed in one go."""
    return [{"kind": kind, "shared": shared, "n": n} for kind, shared in ROWS for n in N_SEARCHES]


def measure(
    rng: np.random.Generator, *, kind: str, shared: float, n: int, n_studies: int = N_STUDIES
) -> list[Cell]:
    """How often equals are found to differ, and means at the margin equivalent, by searches."""
    data, sides = KINDS[kind], []
    for spread in (data.spread, 1.0):
        # The luck of searches, and what is redrawn after each, are of one kind.
        luck = data.scores.draw(rng, (n_studies, n, 1))
        rest = data.scores.draw(rng, (n_studies, n, N_REPLICATES))
        scores = math.sqrt(shared) * luck + math.sqrt(1 - shared) * rest
        mean = (math.sqrt(shared) + math.sqrt(1 - shared)) * data.scores.mean
        sides.append(spread * (scores - mean))
    alarms = {
        "difference_over_searches": [_subtract(a, b).shown for a, b in zip(*sides, strict=True)],
        "equivalence_over_searches": [
            equivalence_over_searches(_subtract(a + MARGIN, b), margin=MARGIN).equivalent
            for a, b in zip(*sides, strict=True)
        ],
    }
    row = f"ρ = {shared:g}" if kind == "normal" else f"{kind}, ρ = {shared:g}"
    return [
        Cell("several searches", method, "size", row, str(n), "", *share(each), alpha=ALPHA)
        for method, each in alarms.items()
    ]


def _subtract(a: FloatArray, b: FloatArray) -> SearchesDifference:
    return difference_over_searches(a, b, confidence_level=LEVEL)  # type: ignore[arg-type]
