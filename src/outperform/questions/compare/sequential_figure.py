"""The figure of a sequential test: both log ratios after every pair, and the boundaries."""

from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from outperform.questions.compare.sequential import SequentialComparison
from outperform.render.style import (
    COLOUR_A,
    COLOUR_B,
    COLUMN_WIDTH,
    escape,
    limit_ticks,
    make_figure,
    short_names,
    title_height,
    wrap_title,
    write_note,
)
from outperform.wording import shorten

_COLOURS = (COLOUR_A, COLOUR_B)
RATIOS_HEIGHT = 2.5  # inches


def draw_log_ratios(result: SequentialComparison, ax: Axes) -> None:
    """Draw the log ratio of either side after every pair, from where to where gaps leave it."""
    test, names = result.rule.test, short_names(result.comparison, 14)
    pairs = np.arange(result.n_pairs + 1)
    sides = zip(names, result.path.log_ratios, "ab", ("left", "right"), _COLOURS, strict=True)
    for name, ratios, side, where, colour in sides:
        against, favoured = (np.insert(each, 0, 0.0) for each in ratios)
        if result.n_incomplete:
            ax.fill_between(pairs, against, favoured, color=colour, alpha=0.25, linewidth=0)
        ax.plot(pairs, against, color=colour, gid=f"log-ratio-{side}")
        title = f"{name} {f'{against[-1]:+.2f}'.replace('-', '−')}"
        ax.set_title(title, loc=where, color=colour, fontsize="small")  # type: ignore[arg-type]
    for gid, height, note in (
        ("upper", test.upper, "better"),
        ("lower", test.lower, "both below:\nneither"),
    ):
        ax.axhline(height, color="black", linewidth=0.8, linestyle="--", zorder=0, gid=gid)
        beside: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "va": "center"}
        write_note(ax, note, (1, height), (3, 0), annotation_clip=False, **beside)
    ax.set_xlim(0, max(result.n_pairs, 1))
    lowest = float(np.min(result.path.log_ratios, initial=1.3 * test.lower))
    ax.set_ylim(1.05 * lowest, 1.3 * test.upper)
    limit_ticks(ax)
    ax.set_xlabel(f"pairs in the order of replicates, {result.rule.n_last:,} at most")
    ax.set_ylabel(f"log ratio of {result.rule.gamma:g} to ½")


def compose_sequential(result: SequentialComparison) -> Figure:
    """Draw the log ratios below what they decided."""
    # The interval alone would be read as a verdict of its own.
    title = "\n".join(wrap_title(line, COLUMN_WIDTH) for line in _name_decision(result))
    figure = make_figure(COLUMN_WIDTH, RATIOS_HEIGHT + title_height(title), title)
    draw_log_ratios(result, figure.subplots())
    return figure


def _name_decision(result: SequentialComparison) -> tuple[str, str]:
    """What was decided, and P(A>B) with the interval that holds whenever one stops."""
    a, b = short_names(result.comparison, 22)
    on = f" on {escape(shorten(result.task, 22))}" if result.task else ""
    after = f"{on} after {result.n_pairs} pairs"
    chance = replace(result, comparison=replace(result.comparison, a=a, b=b)).chance
    if result.winner:
        return f"Decided for {a if result.winner == 'a' else b}{after}", chance
    if result.outcome == "neither":
        return f"Decided for neither {a} nor {b}{after}", chance
    return f"Undecided between {a} and {b}{after}", chance
