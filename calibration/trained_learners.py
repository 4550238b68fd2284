"""Re-splits of one dataset by learners that really train: what `resplits` simulates, on this page.

The simulation and its full tables are in `calibration.resplits`; here are the methods that ship,
at their worst learner.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from calibration.cells import ALPHA, Cell
from calibration.resplit_studies import DESIGNS
from calibration.resplits import simulate

SHIPPED = {"sign test": "exact", "paired t": "paired-t", "corrected": "nadeau-bengio"}
N_STUDIES = 1_000
DESIGNS_SHOWN = {
    design.name: design
    for design in DESIGNS
    if design.n_examples == 300
    and design.name in ("out-of-bootstrap", "hold-out 80/20", "10-fold", "5 times 10-fold")
}


def list_blocks() -> list[dict[str, Any]]:
    """What is computed in one go."""
    return [
        {"design": name, "learners": learners, "n": max(design.n_splits)}
        for name, design in DESIGNS_SHOWN.items()
        for learners in design.settings
    ]


def measure(
    rng: np.random.Generator, *, design: str, learners: str, n: int, n_studies: int = N_STUDIES
) -> list[Cell]:
    """False alarms and power about data like these, by number of re-splits."""
    alone = replace(DESIGNS_SHOWN[design], settings=(learners,))
    seed = int(rng.integers(2**31))
    (rows,) = simulate(seed, n_studies=n_studies, designs=[alone])
    cells = []
    for row in rows:
        if row.method in SHIPPED and row.n_splits <= n:
            where = (design, str(row.n_splits), learners)
            place = ("trained learners", SHIPPED[row.method])
            size, power = (_with_error(rate, n_studies) for rate in (row.size, row.power))
            cells.append(Cell(*place, "size", *where, *size, alpha=ALPHA))
            cells.append(Cell(*place, "power", *where, *power))
    return cells


def _with_error(rate: float, n: int) -> tuple[float, float]:
    careful = (rate * n + 1) / (n + 2)
    return rate, float(np.sqrt(careful * (1 - careful) / n))
