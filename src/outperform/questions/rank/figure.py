"""Figures of a ranking: ranks, pairs and tasks, each alone or together on a page."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from outperform.errors import InvalidInput
from outperform.questions.rank.ranks_figure import (
    WINNERS,
    choose_algorithms,
    draw_diagram,
    draw_ranks,
    explain,
    label_names,
    label_rows,
    name_tasks,
    row_height,
    rows_height,
)
from outperform.questions.rank.result import Ranking
from outperform.questions.rank.tasks_figure import draw_tasks, tasks_height
from outperform.render.figures import Drawing
from outperform.render.style import (
    COLOUR_A,
    COLOUR_BAND,
    COLOUR_NOTE,
    COLOURS,
    PAGE_WIDTH,
    escape,
    find_size,
    limit_ticks,
    make_figure_below,
    write_note,
)
from outperform.stats.checks import FloatArray
from outperform.wording import shorten_apart

_LONGEST_NAME = 30  # in the title
_WIDTH_OF_TASKS = 5.4  # inches, across the page
_HIGHEST = 9.0  # inches, of a page
# Beside colours, so that curves are told apart in grey.
_STYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 2)))
PROFILES_HEIGHT = 2.9  # inches
_MOST_NUMBERS = 12  # algorithms whose cells have room for numbers
_CELL_WIDTH = 0.15  # inches, at least, of a cell with a number
_CELL_HEIGHT = 0.21  # inches, of a cell with a number
# From a light orange to a dark blue, so that printed in grey winners are darker than losers.
_COLOURS = ("#E69F00", "#FFFFFF", COLOUR_A)
_DARK = 0.93  # P(A>B) from which on black is not seen
_MARKS = {"a": ("up", "down"), "b": ("down", "up"), None: ("", "")}  # of row and column
_POINTS = 72  # per inch
_SMALL = "significant, not meaningful"


def compose_ranking(ranking: Ranking) -> Figure:
    """Put the diagram beside all pairs, and the tasks below them where the page has room.

    On one task ranks say less than its scores, which take their place.
    """
    one = len(ranking.tasks) == 1
    first, height = (draw_tasks, tasks_height) if one else (draw_diagram, rows_height)
    short = dict(zip(ranking.names, shorten_apart(ranking.names, _LONGEST_NAME), strict=True))
    shortened = replace(
        ranking,
        algorithms=tuple(replace(each, name=short[each.name]) for each in ranking.algorithms),
        pairs=tuple(replace(pair, a=short[pair.a], b=short[pair.b]) for pair in ranking.pairs),
        baseline=None if ranking.baseline is None else short[ranking.baseline],
    )
    above = max(height(ranking), pairs_height(ranking))
    below = tasks_height(ranking, _WIDTH_OF_TASKS)
    heights = [above] if one or above + below > _HIGHEST else [above, below]
    figure = make_figure_below(escape(str(shortened)), width=PAGE_WIDTH, height=sum(heights))
    grid = figure.add_gridspec(len(heights), 2, height_ratios=heights)
    first(ranking, figure.add_subplot(grid[0, 0]))
    draw_pairs(ranking, figure.add_subplot(grid[0, 1]))
    if len(heights) == 2:
        draw_tasks(ranking, figure.add_subplot(grid[1, :]))
    return figure


def draw_profiles(ranking: Ranking, ax: Axes) -> None:
    """Draw the share of runs above every normalised score, with bands, the best on top.

    Algorithms that there are no more colours for are thin and grey.
    """
    if ranking.aggregates is None:
        raise InvalidInput(
            "profiles need scores that tasks have in common",
            "Add --normalize baseline, range or rank (normalize= in Python)",
        )
    thresholds, shares = ranking.aggregates.profiles.thresholds, ranking.aggregates.profiles.shares
    places = [ranking.aggregates.names.index(name) for name in ranking.names]
    named = label_names(ranking.names[: len(COLOURS)])
    curves = {}
    for row, place in reversed([*enumerate(places)]):
        look: dict[str, Any] = {"color": "#C8C8C8", "lw": 0.7}
        if row < len(named):
            look = {"color": COLOURS[row], "ls": _STYLES[row]}
            band: dict[str, Any] = {"color": COLOURS[row], "alpha": 0.18, "gid": f"band-{row}"}
            ax.fill_between(thresholds, shares.low[place], shares.high[place], linewidth=0, **band)
        (curves[row],) = ax.plot(thresholds, shares.estimate[place], gid=f"profile-{row}", **look)
    ax.set_xlim(float(thresholds.min()), float(thresholds.max()))
    ax.set_ylim(-0.02, 1.02)
    limit_ticks(ax)
    ax.set_xlabel("score τ, made comparable (higher is better)")
    ax.set_ylabel("share of runs above τ")
    # A thin space, since matplotlib leaves out names that begin with an underscore.
    labels = [f"\u2009{name}" for name in named]
    if n_others := len(places) - len(named):
        labels.append(f"{n_others} {'other' if n_others == 1 else 'others'}")
    handles = [curves[row] for row in range(len(labels))]
    below: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.45, -0.22)}
    ax.legend(handles, labels, ncols=2, handlelength=2.4, columnspacing=1.2, **below)


def pairs_height(ranking: Ranking) -> float:
    """Inches that the view of all pairs takes."""
    n_rows = len(choose_algorithms(ranking))
    if ranking.baseline is not None:
        return 1.0 + row_height(n_rows) * max(n_rows - 1, 3)
    cell = _CELL_HEIGHT if n_rows <= _MOST_NUMBERS else row_height(n_rows)
    return 1.0 + max(n_rows, 3) * cell


def draw_pairs(ranking: Ranking, ax: Axes) -> None:
    """Draw the chance that the row's algorithm beats the column's, and who is told apart.

    A triangle points up where the row's is better for sure, down where it is worse; a hollow one
    says by too little to matter. With a baseline: its own row of chances, with intervals.
    """
    if ranking.baseline is not None:
        _draw_against_baseline(ranking, ranking.baseline, ax)
        return
    names = [each.name for each in choose_algorithms(ranking)]
    k, cell_width = len(names), 0.8 * find_size(ax)[0] / len(names)
    numbered = k <= _MOST_NUMBERS and cell_width >= _CELL_WIDTH
    chances, marks = np.full((k, k), np.nan), {}
    places = {name: place for place, name in enumerate(names)}
    for pair in ranking.pairs:
        if pair.a in places and pair.b in places:
            cell, mirrored = (places[pair.a], places[pair.b]), (places[pair.b], places[pair.a])
            chances[cell], chances[mirrored] = pair.probability, 1 - pair.probability
            hollow = "hollow " if pair.verdict == _SMALL else ""
            marks[cell], marks[mirrored] = (hollow + way for way in _MARKS[pair.winner])
    ax.set_facecolor(COLOUR_BAND)  # of the diagonal, where nobody plays
    edges = np.arange(k + 1) - 0.5
    colours = LinearSegmentedColormap.from_list("chances", _COLOURS)
    look: dict[str, Any] = {"edgecolors": "white", "linewidth": 0.3, "gid": "chances"}
    mesh = ax.pcolormesh(edges, edges, chances, cmap=colours, vmin=0, vmax=1, **look)
    # Points that a mark may take: in a cell without a number, half of it.
    room = 0.5 * _POINTS * cell_width
    size = 4.0 if numbered else max(1.2, min(4.0, room))
    _mark_cells(chances, marks, ax, size=size, numbered=numbered)
    if not numbered:
        scale = ax.inset_axes((1.03, 0.2, 0.03, 0.6))
        ax.figure.colorbar(mesh, cax=scale, ticks=[0, 0.5, 1])
        scale.set_yticklabels(["0", "½", "1"])
        scale.tick_params(labelsize=6, length=2)
    _number_rows(ax, label_names(names))
    small = any(pair.verdict == _SMALL for pair in ranking.pairs)
    hollow = f"; hollow: by too little to matter, γ = {ranking.gamma:g}" if small else ""
    legend = f"▲ row is better, ▼ worse{hollow}" if ranking.differing else "no pair is told apart"
    explain(ranking, ax, f"P(row beats column) on {name_tasks(ranking)}", legend)


def _mark_cells(
    chances: FloatArray,
    marks: Mapping[tuple[int, int], str],
    ax: Axes,
    *,
    size: float,
    numbered: bool,
) -> None:
    """Draw the marks of all cells, one collection for each kind, above them their numbers."""
    shift = 0.29 if numbered else 0.0
    for mark, shape in (("up", "^"), ("down", "v"), ("hollow up", "^"), ("hollow down", "v")):
        for colour in ("black", "white"):
            chosen = [
                (column, row + shift)
                for (row, column), own in marks.items()
                if own == mark and (chances[row, column] > _DARK) == (colour == "white")
            ]
            if chosen:
                x, y = zip(*chosen, strict=True)
                face = "none" if mark.startswith("hollow") else colour
                look: dict[str, Any] = {"facecolors": face, "edgecolors": colour, "gid": mark}
                ax.scatter(x, y, size**2, marker=shape, linewidth=0.5, **look)
    for (row, column), mark in marks.items() if numbered else ():
        chance = chances[row, column]
        text = f"{chance:.2f}"
        text = text[1:] if text.startswith("0") else text[:3]
        colour = "white" if chance > _DARK else "black"
        place = column, row - 0.13 if mark else row
        ax.text(*place, text, ha="center", va="center", fontsize=5.5, color=colour)


def _number_rows(ax: Axes, names: Sequence[str]) -> None:
    """Number algorithms beside their names, and columns by that, since names would not fit."""
    k = len(names)
    step = 1 if k <= _MOST_NUMBERS else 2 if k <= 2 * _MOST_NUMBERS else 5
    label_rows(ax, names, lines=False)
    ax.tick_params(axis="y", pad=12 if k < 10 else 17)
    look: dict[str, Any] = {"ha": "right", "va": "center", "annotation_clip": False}
    size = ax.get_yticklabels()[0].get_fontsize()
    for row in range(k):  # apart from the names, of which some are written from right to left
        place = {"xycoords": ("axes fraction", "data"), "fontsize": size, **look}
        write_note(ax, str(row + 1), (0, row), (-4, 0), **place)
    columns = [0, *range(step - 1, k, step)] if step > 1 else list(range(k))
    ax.set_xticks(columns, [str(column + 1) for column in columns])
    ax.set_xlim(-0.5, k - 0.5)
    ax.spines["bottom"].set_visible(False)
    ax.tick_params(axis="x", length=0 if step == 1 else 2)


def _draw_against_baseline(ranking: Ranking, baseline: str, ax: Axes) -> None:
    """Draw P(A > baseline) with the interval that its verdict follows, a row per algorithm."""
    of_name = {pair.a: pair for pair in ranking.pairs}
    rows = [of_name[each.name] for each in choose_algorithms(ranking) if each.name in of_name]
    ax.set_xlim(-0.02, 1.02)
    ax.spines["bottom"].set_bounds(0, 1)
    label_rows(ax, label_names([pair.a for pair in rows]))
    ax.axvline(0.5, color="black", linewidth=0.8, linestyle="--", zorder=1, gid="half")
    ticks = {0.0: "0", 0.5: "½", 1.0: "1"}
    look: dict[str, Any] = {"color": COLOUR_NOTE, "linewidth": 0.8, "linestyle": ":"}
    if ranking.gamma > 0.5:
        ax.axvline(ranking.gamma, zorder=1, gid="gamma", **look)
        if 0.55 < ranking.gamma < 0.95:
            ticks[ranking.gamma] = "γ"
    ax.set_xticks(list(ticks), list(ticks.values()))
    for row, pair in enumerate(rows):
        marker, colour = WINNERS[pair.winner]
        ends = [pair.adjusted_low, pair.adjusted_high]
        ax.plot(ends, [row, row], color=colour, linewidth=1.6, clip_on=False, gid=f"interval-{row}")
        face = colour if pair.verdict == "significant and meaningful" else "white"
        look = {"mfc": face, "clip_on": False, "gid": f"probability-{row}"}
        ax.plot([pair.probability], [row], marker, color=colour, ms=4.5, **look)
    (name,) = label_names([baseline])
    corrected = "" if ranking.correction == "none" else ", corrected"
    level = f"{1 - ranking.alpha:.0%} intervals{corrected}"
    where = f"P(row beats {name}) on {name_tasks(ranking)}"
    explain(ranking, ax, where, level, "▲ better, ▼ worse, ○ not told apart")


FIGURES = {
    Ranking: Drawing(
        {
            "critical difference": draw_diagram,
            "ranks": draw_ranks,
            "pairs": draw_pairs,
            "tasks": draw_tasks,
            "profiles": draw_profiles,
        },
        compose_ranking,
        heights={
            "critical difference": rows_height,
            "ranks": rows_height,
            "pairs": pairs_height,
            "tasks": tasks_height,
            "profiles": PROFILES_HEIGHT,
        },
    )
}
