"""A plan as a table of text."""

from collections.abc import Callable
from typing import Any

from outperform.questions.plan.answer import Plan, tabulate_gammas
from outperform.questions.tabulated import Tabulated


def tabulate_plan(result: Plan) -> Tabulated:
    """Pairs needed for the power and level of a plan, by gamma."""
    rows = [
        [f"{row.gamma:g}", str(row.n_noether), f"{row.power_noether:.0%}", str(row.n_required)]
        for row in tabulate_gammas(result.alpha, result.beta, interval=result.interval)
    ]
    return Tabulated(["γ", "Noether", "power of the verdict there", "pairs needed"], rows)


TABLES: dict[type, Callable[[Any], Tabulated]] = {Plan: tabulate_plan}
