"""Rates of error as tables of text."""

from collections.abc import Callable, Sequence
from typing import Any

from outperform.questions.simulate.result import DetectionCurve, ErrorRates
from outperform.questions.simulate.seeds_curve import SeedsCurve
from outperform.questions.tabulated import Tabulated

_SIZES = (2, 3, 5, 10, 15, 20, 25, 30, 40, 50)  # numbers of seeds shown


def tabulate_rates(curves: Sequence[DetectionCurve]) -> Tabulated:
    """How often each rule errs, by setting."""
    rows = []
    for curve in curves:
        cells = (
            (curve.false_positives, curve.false_positives_error),
            (curve.false_negatives, curve.false_negatives_error),
        )
        rates = [f"{rate:.1%}" + (f" ± {error:.1%}" if error else "") for rate, error in cells]
        setting = [curve.scenario, str(curve.n_pairs), f"{curve.gamma:g}"]
        rows.append([*setting, curve.rule, *rates, "exact" if curve.exact else "simulated"])
    errors = ["false positives", "false negatives"]
    return Tabulated(["scores", "pairs", "γ", "rule", *errors, "how"], rows)


def tabulate_seeds(result: SeedsCurve) -> Tabulated:
    """How often a test finds an algorithm to differ from itself, by number of seeds."""
    known = result.lines[0].sizes
    sizes = [n for n in known if n in _SIZES] or list(known[:10])
    rows = [
        [
            line.test,
            f"{line.alpha:g}",
            "-" if line.holds_from is None else str(line.holds_from),
            *(f"{line.shares[line.sizes.index(n)]:.2%}" for n in sizes),
        ]
        for line in result.lines
    ]
    header = ["share found different", "α", "kept from", *(f"n = {n}" for n in sizes)]
    return Tabulated(header, rows)


TABLES: dict[type, Callable[[Any], Tabulated]] = {
    ErrorRates: lambda result: tabulate_rates((*result.curves, *result.means)),
    SeedsCurve: tabulate_seeds,
}
