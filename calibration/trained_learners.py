"""Re-splits of one dataset by learners that really train: what `resplits` simulates, on this page.

The simulation and its full tables are in `calibration.resplits`; here are the methods that ship,
at their worst learner.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from calibration.cells import ALPHA, Cell, share
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
    """False alarms about data like these, by number of re-splits."""
    alone = replace(DESIGNS_SHOWN[design], settings=(learners,))
    seed = int(rng.integers(2**31))
    (rows,) = simulate(seed, n_studies=n_studies, designs=[alone])
    cells = []
    for row in rows:
        if row.method in SHIPPED and row.n_splits <= n:
            place = ("trained learners", SHIPPED[row.method], "size", design, str(row.n_splits))
            size = share(np.arange(n_studies) < round(row.size * n_studies))
            cells.append(Cell(*place, learners, *size, alpha=ALPHA))
    return cells
