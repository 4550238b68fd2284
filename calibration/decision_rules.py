"""The decision rules of `outperform simulate`, all on the same draws."""

from typing import Any

import numpy as np

from calibration.cells import ALPHA, GAMMA, SIZES, Cell, share
from calibration.data import KINDS, shift_for_chance, shift_for_equal_means
from outperform.stats.decision_rules import RULES, Criteria, decide, permutation_critical_value

N_STUDIES = 40_000
# These decide by a threshold of their own and claim nothing about equals.
NO_CLAIM = ("single-point", "average", "oracle")
OF_MEANS = ("paired-t", "welch-t")


def list_blocks() -> list[dict[str, Any]]:
    """What is computed in one go."""
    return [{"kind": kind.name, "n": n} for kind in KINDS.values() if not kind.n_b for n in SIZES]


def measure(
    rng: np.random.Generator, *, kind: str, n: int, n_studies: int = N_STUDIES
) -> list[Cell]:
    """How often each rule declares a better: of equals, and where P(A>B) is gamma."""
    kind_of_data = KINDS[kind]
    criteria = Criteria(GAMMA, ALPHA, sd=kind_of_data.scores.sd)
    critical = permutation_critical_value(n, ALPHA, rng=rng, n_resamples=19_999)
    drawn_a, drawn_b = kind_of_data.draw(rng, n_studies, n)
    b = kind_of_data.observe(drawn_b)

    def decisions(shift: float) -> Any:
        return decide(kind_of_data.observe(drawn_a, shift), b, RULES, criteria, critical=critical)

    equal = decisions(shift_for_chance(kind, 0.5)).for_a
    of_equal_means = decisions(shift_for_equal_means(kind_of_data)).for_a
    better = decisions(shift_for_chance(kind, GAMMA)).for_a
    cells = []
    for rule in RULES:
        size = share((of_equal_means if rule in OF_MEANS else equal)[rule])
        alpha = None if rule in NO_CLAIM else ALPHA / 2
        cells.append(Cell("rules", rule, "size", "", kind, f"n = {n}", *size, alpha=alpha))
        if kind == "normal":
            place = ("rules by n", rule)
            cells.append(Cell(*place, "size", kind, str(n), "", *size, alpha=alpha))
            cells.append(Cell(*place, "power", kind, str(n), "", *share(better[rule])))
    return cells
