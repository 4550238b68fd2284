"""Figures of a ranking: ranks, pairs and tasks, each alone or together on a page."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from outperform.errors import InvalidInput
from outperform.questions.rank.pairs_figure import draw_pairs, pairs_height
from outperform.questions.rank.ranks_figure import (
    draw_diagram,
    draw_ranks,
    label_names,
    rows_height,
)
from outperform.questions.rank.result import Ranking
from outperform.questions.rank.tasks_figure import draw_tasks, tasks_height
from outperform.render.figures import Drawing
from outperform.render.style import (
    COLOURS,
    PAGE_WIDTH,
    escape,
    limit_ticks,
    make_figure,
    title_height,
    wrap_title,
)
from outperform.stats.checks import FloatArray
from outperform.wording import shorten_apart

_LONGEST_NAME = 30  # in the title
_WIDTH_OF_TASKS = 5.4  # inches, across the page
_HIGHEST = 9.0  # inches, of a page
# Beside colours, so that curves are told apart in grey.
_STYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 2)))
PROFILES_HEIGHT = 2.9  # inches


def compose_ranking(ranking: Ranking) -> Figure:
    """Put the diagram beside all pairs, and the tasks below them where the page has room.

    On one task ranks say less than its scores, which take their place.
    """
    one = len(ranking.tasks) == 1
    first, height = (draw_tasks, tasks_height) if one else (draw_diagram, rows_height)
    title = wrap_title(escape(str(_shorten_names(ranking))), PAGE_WIDTH)
    above = max(height(ranking), pairs_height(ranking))
    below = tasks_height(ranking, _WIDTH_OF_TASKS)
    heights = [above] if one or above + below > _HIGHEST else [above, below]
    figure = make_figure(PAGE_WIDTH, sum(heights) + title_height(title), title)
    grid = figure.add_gridspec(len(heights), 2, height_ratios=heights)
    first(ranking, figure.add_subplot(grid[0, 0]))
    draw_pairs(ranking, figure.add_subplot(grid[0, 1]))
    if len(heights) == 2:
        draw_tasks(ranking, figure.add_subplot(grid[1, :]))
    return figure


def draw_score_profiles(ranking: Ranking, ax: Axes) -> None:
    """Draw the share of runs above every normalised score."""
    if ranking.aggregates is None:
        raise InvalidInput(
            "profiles need scores that tasks have in common",
            "Add --normalize baseline, range or rank (normalize= in Python)",
        )
    profiles, names = ranking.aggregates.profiles, ranking.aggregates.names
    order = [names.index(name) for name in ranking.names]
    shares = profiles.shares
    ends = shares.low[order], shares.high[order]
    draw_profiles(ranking.names, profiles.thresholds, shares.estimate[order], ax, ends=ends)


def _shorten_names(ranking: Ranking) -> Ranking:
    """Shorten all names that the sentence may say."""
    short = dict(zip(ranking.names, shorten_apart(ranking.names, _LONGEST_NAME), strict=True))
    return replace(
        ranking,
        algorithms=tuple(replace(each, name=short[each.name]) for each in ranking.algorithms),
        pairs=tuple(replace(pair, a=short[pair.a], b=short[pair.b]) for pair in ranking.pairs),
        baseline=None if ranking.baseline is None else short[ranking.baseline],
    )


FIGURES = {
    Ranking: Drawing(
        {
            "critical difference": draw_diagram,
            "ranks": draw_ranks,
            "pairs": draw_pairs,
            "tasks": draw_tasks,
            "profiles": draw_score_profiles,
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


def draw_profiles(
    names: Sequence[str],
    thresholds: FloatArray,
    shares: FloatArray,
    ax: Axes,
    *,
    ends: tuple[FloatArray, FloatArray],
) -> None:
    """Draw the share of runs above each threshold, with bands; the best algorithms first.

    Those that there are no more colours for are drawn thin and grey.

    Parameters
    ----------
    names
        Of algorithms, the best first.
    thresholds : shape (n_thresholds,)
        Scores that tasks have in common, higher is better.
    shares : shape (n_algorithms, n_thresholds)
    ends : each of the shape of shares
        Lower and upper ends of their intervals.
    """
    named = label_names(names[: len(COLOURS)])
    for row in reversed(range(len(names))):  # the best on top
        if row >= len(named):
            ax.plot(thresholds, shares[row], color="#C8C8C8", lw=0.7, gid=f"profile-{row}")
            continue
        look: dict[str, Any] = {"color": COLOURS[row], "gid": f"profile-{row}"}
        ax.plot(thresholds, shares[row], linestyle=_STYLES[row], **look)
        band: dict[str, Any] = {"alpha": 0.18, "linewidth": 0, "gid": f"band-{row}"}
        low, high = (end[row] for end in ends)
        ax.fill_between(thresholds, low, high, color=COLOURS[row], **band)
    ax.set_xlim(float(thresholds.min()), float(thresholds.max()))
    ax.set_ylim(-0.02, 1.02)
    limit_ticks(ax)
    ax.set_xlabel("score τ, made comparable (higher is better)")
    ax.set_ylabel("share of runs above τ")
    _write_legend(ax, named, len(names) - len(named))


def _write_legend(ax: Axes, named: Sequence[str], n_others: int) -> None:
    """Name the curves below the axes, where no curve can be."""
    handles = [
        ax.plot([], [], linestyle=style, color=colour)[0]
        for _, style, colour in zip(named, _STYLES, COLOURS, strict=False)
    ]
    # A thin space, since matplotlib leaves out names that begin with an underscore.
    labels = [f"\u2009{name}" for name in named]
    if n_others:
        handles.append(ax.plot([], [], color="#C8C8C8", lw=0.7)[0])
        labels.append(f"{n_others} {'other' if n_others == 1 else 'others'}")
    place: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.45, -0.22)}
    ax.legend(handles, labels, ncols=2, handlelength=2.4, columnspacing=1.2, **place)
