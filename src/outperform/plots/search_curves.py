"""The figure of searches: how far they get, trial by trial, and how much that varies."""

from typing import TYPE_CHECKING

import numpy as np

from outperform.analysis.search_curves import SearchCurve, SearchCurves
from outperform.plots.labels import escape, shorten
from outperform.plots.style import COLUMN_WIDTH, make_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_LINES = ("-", "--", ":", "-.")


def draw_search_curves(result: SearchCurves, ax: "Axes") -> None:
    """Draw the mean of the best validation score so far, in a band of 80 % of the searches.

    To the right, the test scores of the final fits: their mean, and the range of 80 % of them.
    """
    longest = max(curve.n_trials for curve in result.curves)
    for index, curve in enumerate(result.curves):
        place = longest * (1.06 + 0.05 * index) + 0.3
        _draw_curve(curve, ax, index, label=_label(result, curve), place=place)
    ax.axvline(longest * 1.02 + 0.2, color="#B0B0B0", linewidth=0.6, linestyle=":")
    ax.set_xlim(1, longest * (1.1 + 0.05 * len(result.curves)) + 0.3)
    ax.set_xticks([tick for tick in _choose_ticks(longest) if tick <= longest])
    better = "higher" if result.goal == "maximize" else "lower"
    ax.set_xlabel(f"trials of {escape(result.tuner)} search, then the test score")
    ax.set_ylabel(f"best validation {escape(shorten(result.metric, 18))}\n({better} is better)")
    ax.legend(loc="best")


def compose_search_curves(result: SearchCurves) -> "Figure":
    """Draw the curves, one column wide."""
    figure = make_figure(COLUMN_WIDTH, 2.5)
    draw_search_curves(result, figure.subplots())
    figure.suptitle("How far searches get: mean and range of 80 % of them", fontsize="medium")
    return figure


def _draw_curve(curve: SearchCurve, ax: "Axes", index: int, *, label: str, place: float) -> None:
    colour, line = _COLOURS[index % len(_COLOURS)], _LINES[index % len(_LINES)]
    trials = np.arange(1, curve.n_trials + 1)
    ax.plot(trials, curve.mean, line, color=colour, label=label, gid=f"mean-{index}")
    ax.fill_between(
        trials, *curve.bounds, color=colour, alpha=0.2, linewidth=0, gid=f"band-{index}"
    )
    ends = np.quantile(curve.test, [0.1, 0.9])
    ax.plot([place, place], ends, color=colour, linewidth=0.9, gid=f"interval-{index}")
    ax.plot([place], [curve.test.mean()], "D", color=colour, markersize=3.5, gid=f"test-{index}")


def _label(result: SearchCurves, curve: SearchCurve) -> str:
    """Name what sets a curve apart."""
    others = result.curves
    names = [curve.pipeline]
    if len({other.task for other in others}) > 1:
        names.append(curve.task)
    if len({other.redrawn for other in others}) > 1:
        names.append(f"{curve.redrawn} redrawn")
    return f"{escape(shorten(', '.join(names), 30))} ({curve.n_searches} searches)"


def _choose_ticks(n_trials: int) -> list[int]:
    step = max(1, round(n_trials / 5))
    return [1, *(tick for tick in range(step, n_trials + 1, step) if tick > 1)]
