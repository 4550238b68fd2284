"""The figure of a crossed design: components of variance, which add up."""

import textwrap
from collections.abc import Sequence
from functools import partial
from typing import TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from outperform.errors import InvalidInput
from outperform.questions.decompose.result import CrossedDecomposition, Decomposition, join_sources
from outperform.render.style import (
    COLOUR_A,
    COLOUR_NEITHER,
    COLUMN_WIDTH,
    describe_level,
    escape,
    join_phrases,
    lay_out_rows,
    limit_ticks,
    make_figure,
)
from outperform.stats import Estimate
from outperform.wording import shorten

_Kind = TypeVar("_Kind", Decomposition, CrossedDecomposition)
_COLOUR_INTERACTION = "#56B4E9"
_FARTHEST = 2.0  # longest bars, beyond which intervals of few levels are cut


def draw_components(decomposition: CrossedDecomposition, ax: Axes) -> None:
    """Draw a bar per component with its interval, main effects first; their sum is on top.

    An estimate below 0 is drawn as it is, so that the bars add up; no interval goes there.
    """
    rows = _list_rows(decomposition)
    for y, (label, estimate, colour) in enumerate(rows):
        (bar,) = ax.barh(y, estimate.value, 0.7, color=colour, alpha=0.8, linewidth=0)
        bar.set_gid(f"bar-{label}")
        ends = [estimate.interval.low, estimate.interval.high]
        ax.plot(ends, [y, y], color="black", linewidth=0.8, gid=f"interval-{label}")
    lay_out_rows(ax, list(range(len(rows))), [escape(shorten(label, 26)) for label, _, _ in rows])
    ax.axvline(0, color="black", linewidth=0.6)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(*_find_limits([estimate for _, estimate, _ in rows]))
    limit_ticks(ax, 4)
    ax.xaxis.set_major_formatter("{x:g}")  # variances are small: no power of ten in the corner
    level = describe_level(decomposition.parts.total.interval)
    metric = escape(shorten(decomposition.metric, 20))
    ax.set_xlabel(join_phrases(f"variance of {metric}", f"{level} interval"))
    if decomposition.parts.total.value > 0:
        draw_shares(decomposition.parts.total.value, "as share of all", ax, percent=True)


def compose_components(
    decompositions: CrossedDecomposition | Sequence[CrossedDecomposition],
) -> Figure:
    """Draw components of variance one column wide; several designs below one another."""
    group = as_group(decompositions)
    heights = [components_height(each) for each in group]
    figure = make_figure(COLUMN_WIDTH, sum(heights) + 0.3 * len(group))
    axes = figure.subplots(len(group), 1, squeeze=False, height_ratios=heights)[:, 0]
    for each, ax in zip(group, axes, strict=True):
        draw_components(each, ax)
        ax.set_title(_entitle(each), fontsize="medium", x=0.3)
    return figure


def components_height(
    decompositions: CrossedDecomposition | Sequence[CrossedDecomposition],
) -> float:
    """Height in inches that every bar needs."""
    return sum(1.0 + 0.16 * len(_list_rows(each)) for each in as_group(decompositions))


def as_group(decompositions: _Kind | Sequence[_Kind]) -> list[_Kind]:
    """One decomposition, or several, as a list."""
    if not isinstance(decompositions, Sequence):
        return [decompositions]
    if not decompositions:
        raise InvalidInput("there is no decomposition to draw", "Pass at least one")
    return list(decompositions)


def _list_rows(decomposition: CrossedDecomposition) -> list[tuple[str, Estimate, str]]:
    """Label, estimate and colour of every bar, from top to bottom."""
    rows = [("all", decomposition.parts.total, COLOUR_NEITHER)]
    for component in decomposition.parts.components:
        colour = COLOUR_A if len(component.names) == 1 else _COLOUR_INTERACTION
        rows.append((join_sources(component.names), component.variance, colour))
    return rows


def _find_limits(estimates: Sequence[Estimate]) -> tuple[float, float]:
    """Ends of the axis: beyond every bar, and beyond intervals that are not absurd."""
    longest = max(estimate.value for estimate in estimates)
    reach = min(max(estimate.interval.high for estimate in estimates), _FARTHEST * longest)
    low = min(0.0, *(estimate.value for estimate in estimates))
    high = max(longest, reach) or 1.0
    return 1.05 * low, 1.05 * high


def draw_shares(whole: float, label: str, ax: Axes, *, percent: bool = False) -> None:
    """Draw a second scale above the axes, on which a whole is 1."""
    there, back = (partial(np.multiply, factor) for factor in (1 / whole, whole))
    shares = ax.secondary_xaxis("top", functions=(there, back))
    shares.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    if percent:
        shares.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol="%"))
    shares.spines["top"].set_visible(True)
    shares.set_xlabel(label)


def name_runs(decomposition: Decomposition | CrossedDecomposition) -> str:
    """Say whose runs they are and on what, in a title."""
    names = (decomposition.algorithm, decomposition.task)
    shown = [escape(shorten(name, 22)) for name in names if name]
    return f" of {' on '.join(shown)}" if shown else ""


def _entitle(decomposition: CrossedDecomposition) -> str:
    if decomposition.largest.share == 0:
        return f"No source changes the {escape(shorten(decomposition.metric, 20))}"
    largest = escape(shorten(join_sources(decomposition.largest.names), 30))
    largest = largest.replace(" ", "\N{NO-BREAK SPACE}")
    title = f"Largest part of variance{name_runs(decomposition)}: {largest}"
    return "\n".join(textwrap.wrap(title, int(15 * COLUMN_WIDTH)))
