"""The best of n as tables of text."""

from collections.abc import Callable
from typing import Any

import numpy as np

from outperform.questions.best_of.result import (
    BestOf,
    BestOfComparison,
    BestOfEach,
    BestOfResult,
    format_estimate,
)
from outperform.questions.tabulated import Tabulated

_N_BUDGETS = 4  # shown of all algorithms


def tabulate_best_of(result: BestOfResult) -> Tabulated:
    """What to expect of the best of n, by n or by algorithm."""
    if isinstance(result, BestOf):
        return _tabulate_one(result)
    return _tabulate_two(result) if isinstance(result, BestOfComparison) else _tabulate_each(result)


def _tabulate_one(found: BestOf) -> Tabulated:
    sign = 1 if found.goal == "maximize" else -1
    rows = []
    for n in found.shown:
        estimate, gain = found.at(n), sign * (found.at(n).value - found.at(1).value) + 0.0
        rows.append([str(n), format_estimate(estimate.value, estimate.interval), f"{gain:+.3g}"])
    return Tabulated(["n", "expected best of n", "better than one run by"], rows)


def _tabulate_two(found: BestOfComparison) -> Tabulated:
    a, b, curve = found.a, found.b, found.curve
    rows = []
    for n in sorted({*a.shown} & {*b.shown}):
        (place,) = np.flatnonzero(curve.n == n)
        at_a, at_b = a.at(n), b.at(n)
        rows.append(
            [
                str(n),
                format_estimate(at_a.value, at_a.interval),
                format_estimate(at_b.value, at_b.interval),
                f"{curve.value[place]:+.3g} [{curve.low[place]:.3g}, {curve.high[place]:.3g}]",
            ]
        )
    return Tabulated(["n", a.algorithm, b.algorithm, "difference"], rows)


def _tabulate_each(result: BestOfEach) -> Tabulated:
    asked = result.results[0].asked[:_N_BUDGETS]
    budgets = [f"best of {n}" for n in asked]
    rows = []
    for found in result.ranked:
        estimates = [format_estimate(e.value, e.interval) for e in map(found.at, asked)]
        about = [f"{found.mean:.4g} ± {found.sd:.2g}", f"{found.best_single:.4g}"]
        rows.append([found.algorithm, str(found.n_runs), *estimates, *about])
    return Tabulated(["algorithm", "runs", *budgets, "mean ± sd", "best single run"], rows)


TABLES: dict[type, Callable[[Any], Tabulated]] = {
    BestOf: tabulate_best_of,
    BestOfComparison: tabulate_best_of,
    BestOfEach: tabulate_best_of,
}
