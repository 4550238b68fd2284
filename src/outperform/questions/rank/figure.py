"""Figures of a ranking: ranks, pairs and tasks, each alone or together on a page."""

from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from outperform.errors import InvalidInput
from outperform.questions.rank.pairs_figure import draw_pairs, pairs_height
from outperform.questions.rank.profiles_figure import PROFILES_HEIGHT, draw_profiles
from outperform.questions.rank.ranks_figure import draw_diagram, draw_ranks, rows_height
from outperform.questions.rank.result import Ranking
from outperform.questions.rank.tasks_figure import draw_tasks, tasks_height
from outperform.render.figures import Drawing
from outperform.render.labels import escape
from outperform.render.style import PAGE_WIDTH, make_figure, title_height, wrap_title
from outperform.wording import shorten_apart

_LONGEST_NAME = 30  # in the title
_WIDTH_OF_TASKS = 5.4  # inches, across the page
_HIGHEST = 9.0  # inches, of a page


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
