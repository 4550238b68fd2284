"""Audits as tables of text."""

from collections.abc import Callable
from typing import Any

from outperform.questions.audit.answer import MILESTONES
from outperform.questions.audit.result import Audit, SelfAudit
from outperform.questions.tabulated import Tabulated
from outperform.stats import PickedRuns

PICKED = ("difference", "Cohen's d", "gap", "t: p", "B–M: p")  # what format_picked gives


def tabulate_hidden(result: Audit) -> Tabulated:
    """How few runs must be hidden to make or undo each conclusion, by every rule."""
    rules = list(dict.fromkeys(hiding.rule for hiding in result.hidden))
    cells = {(hiding.what, hiding.rule): str(hiding) for hiding in result.hidden}
    whats = dict.fromkeys(hiding.what for hiding in result.hidden)
    header = [
        f"fewest of {result.n_runs} {result.unit} to hide until",
        *(f"by {rule}" for rule in rules),
    ]
    return Tabulated(header, [[what, *(cells[what, rule] for rule in rules)] for what in whats])


def tabulate_picked(result: SelfAudit) -> Tabulated:
    """How the n best runs of an algorithm differ from its n worst."""
    picked = result.picked
    sizes = picked.sizes.tolist()
    rows = [
        [str(n), *format_picked(picked, sizes.index(n))]
        for n in (*MILESTONES, 50, 75, 90)
        if n in sizes
    ]
    return Tabulated(["n best and worst", *PICKED], rows)


def format_picked(picked: PickedRuns, place: int) -> list[str]:
    """What the picked runs of one size show."""
    return [
        f"{picked.difference[place]:+.3g}",
        f"{picked.effect_size[place]:.3g}",
        f"{picked.gap[place]:+.3g}",
        _format_pvalue(picked.t_pvalue[place]),
        _format_pvalue(picked.rank_pvalue[place]),
    ]


def _format_pvalue(pvalue: float) -> str:
    return f"{pvalue:.2g}" if pvalue >= 1e-10 else "< 1e-10"


TABLES: dict[type, Callable[[Any], Tabulated]] = {
    Audit: tabulate_hidden,
    SelfAudit: tabulate_picked,
}
