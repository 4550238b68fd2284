"""The figure of a leaderboard: its scores, what the top is worth, and who may be the best."""

import textwrap
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from outperform.questions.sota.expected_best import ExpectedBest
from outperform.questions.sota.expected_best_figure import (
    compose_expected_best,
    draw_best_cdf,
    draw_best_pmf,
    draw_one,
)
from outperform.questions.sota.leaderboards import LeaderboardAssessment
from outperform.questions.sota.predicted_leaderboards import PredictionAssessment
from outperform.render.drawing import Drawing
from outperform.render.labels import describe_level, escape
from outperform.render.style import (
    COLOUR_A,
    COLOUR_B,
    COLOUR_BAND,
    COLOUR_NEITHER,
    COLUMN_WIDTH,
    make_figure,
)
from outperform.stats.checks import FloatArray
from outperform.wording import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Assessment = LeaderboardAssessment | PredictionAssessment
Mask: TypeAlias = NDArray[np.bool_]

_MANY = 200  # entries from which dots are drawn as an image
_BELOW = 0.25  # of the height of the band, how far below it is shown
_LEAST = 1e-3  # height to show where all scores are equal


def draw_leaderboard(result: Assessment, ax: "Axes") -> None:
    """Draw scores by rank, with the top score, the sober estimate and its interval.

    The band holds the scores of all that may be the truly best. Entries far below it are left
    out.
    """
    from matplotlib.ticker import MaxNLocator

    scores, contends = _get_scores(result)
    order = np.argsort(-scores, kind="stable")
    scores, contends = scores[order], contends[order]
    floor = _find_floor(result, lowest := float(scores[contends].min()))
    ax.axhspan(lowest, result.top, color=COLOUR_BAND, linewidth=0, gid="band", zorder=0)
    _draw_entries(scores, contends, ax, shown=scores >= floor)
    _draw_estimates(result, ax)
    n_shown = int((scores >= floor).sum())
    ax.set_xlim(1 - 0.04 * n_shown, n_shown * 1.04 + 0.4)
    highest = max(result.top, result.interval.high)
    ax.set_ylim(floor, highest + 0.08 * (highest - floor))
    ax.set_xlabel(_label_ranks(n_shown, result.n_entries))
    ax.set_ylabel(f"{escape(shorten(result.metric, 20))} (higher is better)")
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    # Below, because dots may be anywhere.
    scale = 2 if scores.size > _MANY else 1
    ax.legend(loc="upper center", bbox_to_anchor=(0.42, -0.2), ncols=2, markerscale=scale)


def _draw_entries(scores: FloatArray, contends: Mask, ax: "Axes", *, shown: Mask) -> None:
    ranks, many = np.arange(1, scores.size + 1), scores.size > _MANY
    for mask, colour, name in (
        (contends, COLOUR_A, f"may be the best ({int(contends.sum()):,})"),
        (~contends & shown, COLOUR_NEITHER, "not the best"),
    ):
        if mask.any():
            ax.scatter(
                ranks[mask],
                scores[mask],
                3.0 if many else 14.0,
                color=colour,
                linewidth=0,
                label=name,
                zorder=3,
                rasterized=many,
            )


def compose_leaderboard(result: Assessment) -> "Figure":
    """Draw the leaderboard below what its top is worth, one column wide."""
    title = (
        f"The best of {result.n_entries:,}: {escape(shorten(result.metric, 20))} "
        f"{result.top:.4f}, soberly {result.sober:.4f}"
    )
    figure = make_figure(COLUMN_WIDTH, 3.0)
    draw_leaderboard(result, figure.subplots())
    figure.suptitle("\n".join(textwrap.wrap(title, 50)), fontsize="medium")
    return figure


def _get_scores(result: Assessment) -> tuple[FloatArray, Mask]:
    if isinstance(result, LeaderboardAssessment):
        return result.scores, result.contends
    return result.bootstrap.scores, result.bootstrap.contends


def _find_floor(result: Assessment, lowest: float) -> float:
    bottom = min(lowest, result.interval.low)
    return bottom - _BELOW * max(result.top - bottom, _LEAST)


def _draw_estimates(result: Assessment, ax: "Axes") -> None:
    """Draw the top score as a line, the sober one as a line in its interval."""
    level = describe_level(result.interval)
    ax.axhline(
        result.top,
        color=COLOUR_NEITHER,
        linestyle="--",
        linewidth=0.9,
        label=f"top score {result.top:.4f}",
        gid="top",
    )
    ax.axhspan(
        result.interval.low,
        result.interval.high,
        color=COLOUR_B,
        alpha=0.18,
        linewidth=0,
        gid="interval",
    )
    ax.axhline(
        result.sober,
        color=COLOUR_B,
        linewidth=1.2,
        label=f"sober {result.sober:.4f}, {level} interval",
        gid="sober",
    )


def _label_ranks(n_shown: int, n_all: int) -> str:
    n_below = n_all - n_shown
    lie = "entry lies" if n_below == 1 else "entries lie"
    return f"rank ({n_below:,} {lie} below)" if n_below else "rank"


_BOARD = Drawing(
    {"leaderboard": draw_leaderboard}, compose_leaderboard, heights={"leaderboard": 2.7}
)

FIGURES = {
    ExpectedBest: Drawing(
        {"one": draw_one, "best cdf": draw_best_cdf, "best pmf": draw_best_pmf},
        compose_expected_best,
        heights={"best cdf": 2.0, "best pmf": 2.0},
    ),
    LeaderboardAssessment: _BOARD,
    PredictionAssessment: _BOARD,
}
