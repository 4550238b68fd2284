"""Figures of plans: runs against the smallest P(A>B) that matters, errors against the budget."""

import math
from typing import Any

from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, StrMethodFormatter
from matplotlib.transforms import ScaledTranslation

from outperform.questions.plan.budget_result import BudgetPlan, describe_split
from outperform.questions.plan.result import GAMMAS, Plan
from outperform.render.figures import Drawing
from outperform.render.style import (
    COLOUR_A,
    COLOUR_B,
    COLOUR_NOTE,
    COLOURS,
    COLUMN_WIDTH,
    escape,
    make_figure_below,
)
from outperform.wording import format_duration, shorten_apart

_FEWEST_LINES = 14  # of text, that are as high as axes with a note
_LINES = ("-", "--", "-.", ":")
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def draw_plan(plan: Plan, ax: Axes) -> None:
    """Draw sample sizes for a plan's error rates against γ, with the plan's own point marked."""
    rows = plan.table
    gammas = [row.gamma for row in rows]
    exact, noether = [row.n_required for row in rows], [row.n_noether for row in rows]
    ax.plot(gammas, exact, "o-", color=COLOUR_A, ms=3, label="pairs, for the paired verdict")
    ax.plot(gammas, noether, "s--", color=COLOUR_B, ms=3, label="Noether, per group, all with all")
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.spines[["right", "top"]].set_visible(False)
    ax.set_xlabel("smallest P(A > B) that matters, γ")
    ax.set_ylabel("runs of each algorithm")
    ax.legend(loc="upper right", frameon=False, fontsize="small")
    _mark_plan(plan, ax)


def _mark_plan(plan: Plan, ax: Axes) -> None:
    """Mark the pairs a plan needs, and those asked for where they are others."""
    ring: dict[str, Any] = {"ls": "none", "mfc": "none", "mec": "black", "mew": 1.2, "ms": 8}
    ax.plot([plan.probability], [plan.n_required], "o", gid="required", **ring)
    lines = [f"{plan.n_required:,} pairs (Noether: {plan.n_noether:,})"]
    if plan.probability != plan.gamma:
        lines.append(f"for a true {describe_chance(plan)} of {plan.probability:.2g}")
    gamma = f"γ = {plan.gamma:g}, " if plan.gamma > 0.5 else ""
    lines.append(f"{gamma}α = {plan.alpha:g}, β = {plan.beta:g}")
    if plan.n_pairs != plan.n_required:
        ax.plot([plan.probability], [plan.n_pairs], "D", gid="asked", **{**ring, "ms": 6})
        lines.append(f"◇ {plan.n_pairs:,} pairs: power {plan.power:.2f}")
    figure = ax.get_figure()
    assert figure is not None
    height = ax.get_position().height * figure.bbox.height / figure.dpi * 72
    if height < _FEWEST_LINES * rcParams["font.size"]:
        return  # beside the legend, small axes have no room for a note
    # In the upper right, which falling curves leave free, below the legend.
    below_legend = -4.2 * rcParams["font.size"] / 72
    shift = ScaledTranslation(-0.05, below_legend, ax.figure.dpi_scale_trans)
    look: dict[str, Any] = {"fontsize": "small", "color": COLOUR_NOTE, "ha": "right", "va": "top"}
    # The line leaves the text at its lower edge, so as never to cross it, where the point is
    # below, so as not to run along a curve.
    place = (plan.probability - GAMMAS[0]) / (GAMMAS[-1] - GAMMAS[0])
    line: dict[str, Any] = {"arrowstyle": "-", "lw": 0.6, "ec": COLOUR_NOTE, "shrinkB": 5}
    line["relpos"] = (min(max(place, 0), 1), 0)
    look |= {"textcoords": ax.transAxes + shift, "arrowprops": line, "gid": "numbers"}
    ax.annotate("\n".join(lines), (plan.probability, plan.n_required), (1, 1), **look)


def describe_chance(plan: Plan) -> str:
    """What is planned for, in symbols and with short names."""
    better, worse = shorten_apart([plan.better, plan.worse], 10)
    return f"P({escape(better)} > {escape(worse)})"


def compose_plan(plan: Plan) -> Figure:
    """Draw the sample sizes below the number that is needed."""
    claim = f"{plan.n_required:,} pairs show a {describe_chance(plan)} of {plan.probability:.2g}"
    title = f"{claim} with power {1 - plan.beta:g}"
    figure = make_figure_below(title, width=COLUMN_WIDTH, height=2.4)
    draw_plan(plan, figure.subplots())
    return figure


def draw_budget(plan: BudgetPlan, ax: Axes) -> None:
    """Draw the error of each design against the budget, both on logarithmic scales."""
    for number, curve in enumerate(plan.curves):
        colour, line = COLOURS[number % len(COLOURS)], _LINES[number % len(_LINES)]
        ax.plot(curve.budgets, curve.errors, line, color=colour, label=curve.name)
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
    look: dict[str, Any] = {"fontsize": "x-small", "handlelength": 2.4, "columnspacing": 0.8}
    ax.legend(loc="upper center", bbox_to_anchor=(0.36, -0.22), ncols=2, **look)


def _format_cost(cost: float, in_fits: bool) -> str:
    if in_fits:
        return f"{cost:,.0f}"
    return format_duration(cost) if cost >= 1 else f"{cost:g} s"


def compose_budget(plan: BudgetPlan) -> Figure:
    """Draw the errors below the design that is recommended."""
    claim = f"{plan.describe(plan.budget)} are best spent on {describe_split(plan.recommended)}"
    names = 0.16 * math.ceil(len(plan.options) / 2)  # below, in two columns
    figure = make_figure_below(claim, width=COLUMN_WIDTH, height=2.6 + names)
    draw_budget(plan, figure.subplots())
    return figure


FIGURES = {
    Plan: Drawing({"sample sizes": draw_plan}, compose_plan),
    BudgetPlan: Drawing({"error by budget": draw_budget}, compose_budget, {"error by budget": 2.6}),
}
