"""Intervals of P(A>B) of independent runs."""

from typing import Any, get_args

import numpy as np

from calibration.cells import ALPHA, LEVEL, SIZES, Cell, share
from calibration.data import KINDS, shift_for_chance
from outperform.stats.outperforming import UnpairedMethod, outperforming_interval

METHODS: tuple[UnpairedMethod, ...] = get_args(UnpairedMethod)
CHANCES = (0.5, 0.75, 0.97)
N_STUDIES: dict[UnpairedMethod, int] = {"brunner-munzel": 5_000, "bootstrap": 1_000}
FEWER_SIZES = (6, 10, 20, 50)
N_RESAMPLES = 500


def list_blocks() -> list[dict[str, Any]]:
    """What is computed in one go."""
    return [
        {"method": method, "kind": kind.name, "n": n}
        for method in METHODS
        for kind in KINDS.values()
        for n in (FEWER_SIZES if method == "bootstrap" or kind.n_b else SIZES)
        if not kind.shared
    ]


def measure(
    rng: np.random.Generator, *, method: UnpairedMethod, kind: str, n: int, n_studies: int = 0
) -> list[Cell]:
    """Coverage at several true P(A>B)."""
    n_studies = n_studies or N_STUDIES[method]
    drawn_a, drawn_b = KINDS[kind].draw(rng, n_studies, n)
    b = KINDS[kind].observe(drawn_b)
    cells = []
    for truth in CHANCES:
        a = KINDS[kind].observe(drawn_a, shift_for_chance(kind, truth))
        hits = [
            truth
            in outperforming_interval(
                *scores,
                paired=False,
                method=method,
                confidence_level=LEVEL,
                n_resamples=N_RESAMPLES,
                rng=rng,
            )
            for scores in zip(a, b, strict=True)
        ]
        place = ("unpaired", method, "coverage", kind, str(n), f"P = {truth:g}")
        cells.append(Cell(*place, *share(hits), alpha=ALPHA))
    return cells
