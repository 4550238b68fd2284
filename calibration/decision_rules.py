"""The decision rules of `outperform simulate`, all on the same draws."""

from typing import Any

import numpy as np

from calibration.cells import ALPHA, GAMMA, SIZES, BoolArray, Cell, share
from calibration.data import (
    KINDS,
    N_TEST,
    N_TRAIN,
    FloatArray,
    shift_for_chance,
    shift_for_equal_means,
)
from outperform.stats.decision_rules import (
    RULES,
    Criteria,
    Rule,
    decide,
    permutation_critical_value,
)

N_STUDIES = 20_000
# These decide by a threshold of their own and claim nothing about equals.
NO_CLAIM = ("single-point", "average", "oracle")
OF_MEANS = ("paired-t", "welch-t", "nadeau-bengio")


def list_blocks() -> list[dict[str, Any]]:
    """What is computed in one go."""
    return [{"kind": kind.name, "n": n} for kind in KINDS.values() if not kind.n_b for n in SIZES]


def measure(
    rng: np.random.Generator, *, kind: str, n: int, n_studies: int = N_STUDIES
) -> list[Cell]:
    """How often each rule declares one of equals better, and a where P(A>B) is gamma."""
    kind_of_data = KINDS[kind]
    criteria = Criteria(GAMMA, ALPHA, sd=kind_of_data.scores.sd, overlap=N_TEST / N_TRAIN)
    critical = permutation_critical_value(n, ALPHA, rng=rng, n_resamples=19_999)
    drawn_a, drawn_b = kind_of_data.draw(rng, n_studies, n)
    b = kind_of_data.observe(drawn_b)

    def decide_for_first(x: FloatArray, y: FloatArray) -> dict[Rule, BoolArray]:
        return decide(x, y, RULES, criteria, critical=critical).for_a

    def decide_for_either(shift: float) -> dict[Rule, BoolArray]:
        a = kind_of_data.observe(drawn_a, shift)
        for_a, for_b = decide_for_first(a, b), decide_for_first(b, a)
        return {rule: for_a[rule] | for_b[rule] for rule in RULES}

    equal = decide_for_either(shift_for_chance(kind, 0.5))
    of_equal_means = decide_for_either(shift_for_equal_means(kind_of_data))
    better = decide_for_first(kind_of_data.observe(drawn_a, shift_for_chance(kind, GAMMA)), b)
    cells = []
    for rule in RULES:
        size = share((of_equal_means if rule in OF_MEANS else equal)[rule])
        alpha = None if rule in NO_CLAIM else ALPHA
        cells.append(Cell("rules", rule, "size", "", kind, f"n = {n}", *size, alpha=alpha))
        if kind == "normal":
            power = share(better[rule])
            cells.append(Cell("power of rules", rule, "power", kind, str(n), "", *power))
    return cells
