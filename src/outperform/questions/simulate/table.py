"""Rates of error, as text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from outperform.questions.result import Table

if TYPE_CHECKING:
    from outperform.questions.simulate.result import DetectionCurve, ErrorRates, SeedsCurve

_MOST_TABLES = 8  # of settings; where there are more, means stand for them
_SIZES = (2, 3, 5, 10, 15, 20, 25, 30, 40, 50)  # numbers of seeds shown


def tabulate_rates(result: "ErrorRates") -> list[Table | str]:
    """How often each rule errs, a table per setting."""
    first = result.settings[0][0]
    is_long = len(result.settings) > _MOST_TABLES and result.means
    shown = [c for c in result.curves if not is_long or c.scenario == first]
    settings: dict[str, list[DetectionCurve]] = {}
    for curve in (*shown, *result.means):
        name = f"{curve.scenario}: {curve.n_pairs} pairs, γ = {curve.gamma:g}"
        settings.setdefault(name, []).append(curve)
    parts: list[Table | str] = [_tabulate_setting(*each) for each in settings.items()]
    if is_long:
        parts.append("Every scenario of these means: --json.")
    if not all(curve.exact for curve in result.curves):
        parts.append(f"± is the Monte-Carlo standard error of {result.n_draws:,} draws.")
    return parts


def _tabulate_setting(name: str, curves: "Sequence[DetectionCurve]") -> Table:
    rows = [
        (
            curve.rule,
            _format_rate(curve.false_positives, curve.false_positives_error),
            _format_rate(curve.false_negatives, curve.false_negatives_error),
            "exact" if curve.exact else "simulated",
        )
        for curve in curves
    ]
    return Table(("rule", "false positives", "false negatives", "how"), rows, title=name)


def _format_rate(rate: float, error: float) -> str:
    return f"{rate:.1%}" + (f" ± {error:.1%}" if error else "")


def tabulate_seeds(result: "SeedsCurve") -> list[Table | str]:
    """How often a test finds an algorithm to differ from itself, by number of seeds."""
    known = result.lines[0].sizes
    sizes = [n for n in known if n in _SIZES] or list(known[:10])
    rows = [
        (
            line.test,
            f"{line.alpha:g}",
            "-" if line.holds_from is None else str(line.holds_from),
            *(f"{line.shares[line.sizes.index(n)]:.2%}" for n in sizes),
        )
        for line in result.lines
    ]
    return [Table(("share found different", "α", "kept from", *(f"n = {n}" for n in sizes)), rows)]
