"""The figure of a plan of a budget: error against budget, a line per design."""

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from outperform.questions.plan.budget_result import BudgetPlan, describe_split
from outperform.render.style import (
    COLOUR_NOTE,
    COLOURS,
    COLUMN_WIDTH,
    make_figure,
    title_height,
    wrap_title,
)
from outperform.wording import format_duration

_LINES = ("-", "--", "-.", ":")
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def draw_budget(plan: BudgetPlan, ax: Axes) -> None:
    """Draw the error of each design against the budget, both on logarithmic scales."""
    for number, curve in enumerate(plan.curves):
        look: dict[str, Any] = {
            "color": COLOURS[number % len(COLOURS)],
            "ls": _LINES[number % len(_LINES)],
        }
        ax.plot(curve.budgets, curve.errors, label=curve.name, **look)
    best = plan.recommended
    ax.axvline(plan.budget, color=COLOUR_NOTE, lw=0.6, ls=":", gid="budget")
    ax.plot([plan.budget], [best.error], "o", mfc="none", mec="black", mew=1.2, ms=7, gid="best")
    ax.set_xscale("log")
    ax.set_yscale("log")
    in_fits = plan.costs.unit == "fits"
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _format_cost(x, in_fits)))
    low = min(min(curve.errors) for curve in plan.curves)
    ax.set_yticks([tick for tick in _TICKS if tick >= low * 0.7], minor=False)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_formatter(NullFormatter())
    ax.spines[["right", "top"]].set_visible(False)
    ax.set_xlabel("budget, fits of the whole study" if in_fits else "budget, time of all fits")
    ax.set_ylabel("error of a mean, in\nstandard deviations of a run")
    # Below the axes, where it hides no curve: those of good designs end in the lower corners.
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.36, -0.22),
        ncols=2,
        fontsize="x-small",
        handlelength=2.4,
        columnspacing=0.8,
    )


def _format_cost(cost: float, in_fits: bool) -> str:
    if in_fits:
        return f"{cost:,.0f}"
    return format_duration(cost) if cost >= 1 else f"{cost:g} s"


def compose_budget(plan: BudgetPlan) -> Figure:
    """Draw the errors below the design that is recommended."""
    claim = f"{plan.describe(plan.budget)} are best spent on {describe_split(plan.recommended)}"
    title = wrap_title(claim, COLUMN_WIDTH)
    names = 0.16 * math.ceil(len(plan.options) / 2)  # below, in two columns
    figure = make_figure(COLUMN_WIDTH, 2.6 + names + title_height(title), title)
    draw_budget(plan, figure.subplots())
    return figure
