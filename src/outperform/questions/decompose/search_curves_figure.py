"""The figure of searches: how far they get, trial by trial, and how much that varies."""

from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from outperform.questions.decompose.search_curves import Course, SearchCurve, SearchCurves
from outperform.render.style import COLOURS, PAGE_WIDTH, escape, make_figure, shorten_label
from outperform.stats.variances import middle_range
from outperform.wording import describe_goal

_LINES = ("-", "--", ":", "-.")


def draw_search_curves(result: SearchCurves, ax: Axes) -> None:
    """Draw the mean of the best validation score so far, in a band of 80% of the searches."""
    for index, curve in enumerate(result.curves):
        _draw_course(curve.valid, ax, index, label=_label(result, curve))
    longest = _lay_out_trials(result, ax)
    ax.set_xlim(1, max(longest, 2))
    metric, better = shorten_label(result.metric, 18), describe_goal(result.goal)
    ax.set_ylabel(f"best validation {metric}\n({better})")
    _add_legend(result, ax)


def draw_test_curves(result: SearchCurves, ax: Axes) -> None:
    """Draw the test score of the trial that is best on validation data so far.

    To the right, the test scores of the final fits: their mean, and the range of 80% of them.
    """
    longest = _lay_out_trials(result, ax)
    for index, curve in enumerate(result.curves):
        if curve.test is not None:
            _draw_course(curve.test, ax, index, label=_label(result, curve))
        place, colour = longest * (1.06 + 0.05 * index) + 0.3, COLOURS[index % len(COLOURS)]
        ends, mean = middle_range(curve.final), curve.final_mean
        ax.plot([place, place], ends, color=colour, linewidth=0.9, gid=f"interval-{index}")
        ax.plot([place], [mean], "D", color=colour, markersize=3.5, gid=f"final-{index}")
    ax.axvline(longest * 1.02 + 0.2, color="#B0B0B0", linewidth=0.6, linestyle=":")
    ax.set_xlim(1, longest * (1.05 + 0.05 * len(result.curves)) + 0.5)
    ax.set_ylabel(f"test {shorten_label(result.metric, 18)}\nof the best on validation")
    ax.set_xlabel(f"{ax.get_xlabel()} (◆ final fits)")
    if any(curve.test is not None for curve in result.curves):
        _add_legend(result, ax)
    else:  # there are the final fits only
        ax.set(xticks=[], xlabel="final fits", xlim=(longest * 1.02 + 0.2, ax.get_xlim()[1]))


def compose_search_curves(result: SearchCurves) -> Figure:
    """Draw a row per task: validation scores to the left, test scores on the same scale."""
    tasks = list(dict.fromkeys(curve.task for curve in result.curves))
    tested = any(curve.test is not None for curve in result.curves)
    title = "How far searches get: mean and range of 80% of them"
    figure = make_figure(PAGE_WIDTH, 0.3 + 2.3 * len(tasks), title)
    rows = figure.subplots(
        len(tasks), 2, sharey="row", squeeze=False, width_ratios=(1, 1) if tested else (4, 1)
    )
    for task, (left, right) in zip(tasks, rows, strict=True):
        part = replace(result, curves=tuple(c for c in result.curves if c.task == task))
        draw_search_curves(part, left)
        draw_test_curves(part, right)
        if right.get_legend():  # that to the left will do
            right.get_legend().remove()
        if len(tasks) > 1:
            left.set_title(shorten_label(task, 40), loc="left")
    return figure


def _draw_course(course: Course, ax: Axes, index: int, *, label: str) -> None:
    colour, line = COLOURS[index % len(COLOURS)], _LINES[index % len(_LINES)]
    trials = np.arange(1, course.scores.shape[1] + 1)
    ax.plot(trials, course.mean, line, color=colour, label=label, gid=f"mean-{index}")
    ax.fill_between(trials, *course.bounds, color=colour, alpha=0.2, lw=0, gid=f"band-{index}")


def _add_legend(result: SearchCurves, ax: Axes) -> None:
    """Many curves leave no room beside them: their legend covers them, small and on white."""
    crowded = len(result.curves) > 4
    size = "xx-small" if crowded else None
    ax.legend(loc="best", frameon=crowded, edgecolor="none", fontsize=size)


def _lay_out_trials(result: SearchCurves, ax: Axes) -> int:
    """Label the horizontal axis; the number of trials of the longest search."""
    longest = max(curve.n_trials for curve in result.curves)
    step = max(1, round(longest / 5))
    ax.set_xticks([1, *(tick for tick in range(step, longest + 1, step) if tick > 1)])
    ax.set_xlabel(f"trials of {escape(result.tuner)} search")
    return longest


def _label(result: SearchCurves, curve: SearchCurve) -> str:
    """Name what sets a curve apart."""
    others = result.curves
    names = [curve.pipeline]
    if len({other.task for other in others}) > 1:
        names.append(curve.task)
    if len({other.redrawn for other in others}) > 1:
        names.append(f"{curve.redrawn} redrawn")
    return f"{shorten_label(', '.join(names), 30)} ({curve.n_searches} searches)"
