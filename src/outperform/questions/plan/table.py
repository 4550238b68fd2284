"""What a plan buys, and the pairs that others would need, as text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from outperform.questions.result import Table
from outperform.wording import format_duration

if TYPE_CHECKING:
    from outperform.questions.plan.result import Plan, PlanRow


def tabulate_plan(result: "Plan") -> list[Table | str]:
    """What its number of pairs buys, here and for data like these, and what other γ would need."""
    parts: list[Table | str] = [_tabulate_power(result)]
    if result.resplits is not None:
        parts.append(_tabulate_resplits(result))
    title = f"Pairs needed for power {1 - result.beta:g} at α = {result.alpha:g}"
    return [*parts, tabulate_gammas(result.table, title)]


def _tabulate_power(result: "Plan") -> Table:
    detectable = result.smallest_detectable
    rows = [
        ("chance of the verdict (power)", f"{result.power:.1%}"),
        ("false alarms between equals", f"{result.false_alarms:.1%}"),
        ("smallest P(A>B) found reliably", "none" if detectable is None else f"{detectable:.3f}"),
    ]
    if result.seconds is not None:
        rows.append((f"time for {2 * result.n_pairs} fits", format_duration(result.seconds)))
    title = f"With {result.n_pairs} pairs, if {result.chance} is really {result.probability:.2g}:"
    return Table((), rows, title)


def _tabulate_resplits(result: "Plan") -> Table:
    resplits = result.resplits
    assert resplits is not None
    rows = [("smallest difference that any number shows", f"{resplits.floor:.3g}")]
    if resplits.difference is not None:
        n, power = resplits.n_required, f"{1 - result.beta:g}"
        rows += [
            ("difference of the pilot", f"{abs(resplits.difference):.3g}"),
            (f"re-splits that show it with power {power}", "none" if n is None else f"{n:,}"),
        ]
    title = f"For other data like these, from re-splits of one dataset ({resplits.unit}):"
    return Table((), rows, title)


def tabulate_gammas(rows: "Sequence[PlanRow]", title: str = "") -> Table:
    """Pairs needed, by gamma."""
    cells = [
        [f"{row.gamma:g}", str(row.n_noether), f"{row.power_noether:.0%}", str(row.n_required)]
        for row in rows
    ]
    return Table(["γ", "Noether", "power of the verdict there", "pairs needed"], cells, title)
