"""Figures of what a top score is worth: of many equals, and of a leaderboard."""

from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter
from numpy.typing import NDArray

from outperform.questions.sota.result import (
    BestOfEquals,
    LeaderboardAssessment,
    PredictionAssessment,
)
from outperform.render.figures import Drawing
from outperform.render.style import (
    COLOUR_A,
    COLOUR_B,
    COLOUR_BAND,
    COLOUR_NEITHER,
    COLOUR_NOTE,
    COLUMN_WIDTH,
    limit_ticks,
    make_figure,
    shorten_label,
    wrap_title,
    write_note,
)
from outperform.stats import BestOfDistribution, best_of_distribution
from outperform.stats.checks import FloatArray

Assessment = LeaderboardAssessment | PredictionAssessment
Mask: TypeAlias = NDArray[np.bool_]

_VISIBLE = 1e-4  # share of the highest bar below which nothing is seen
_MANY = 200  # entries from which dots are drawn as an image
_BELOW = 0.25  # of the height of the band, how far below it is shown
_LEAST = 1e-3  # height to show where all scores are equal


def draw_one(result: BestOfEquals, ax: Axes) -> None:
    """Draw what one classifier shows, and a better one, against what the best of all shows.

    The area beyond the expected best is the better one's chance to look better; the darker part
    its chance to reach the upper bound.
    """
    n = result.distribution.n
    equal, better = (best_of_distribution(1, n, p) for p in (result.accuracy, result.better))
    spans = [_span(equal), _span(better)]
    z = np.arange(min(first for first, _ in spans), max(end for _, end in spans))
    shown, mass = 1 - z / n, better.pmf(z)
    ax.bar(shown, equal.pmf(z), 1 / n, color="#C8C8C8", label=f"true accuracy {result.accuracy:g}")
    ax.plot(shown, mass, color=COLOUR_B, label=f"true accuracy {result.better:.4f}")
    for bound, shade, name in ((result.mean, 0.25, "mean"), (result.upper, 0.6, "upper")):
        beyond = shown >= bound - 1e-12
        area = {"color": COLOUR_B, "alpha": shade, "linewidth": 0, "gid": f"{name}-area"}
        ax.fill_between(shown[beyond], mass[beyond], **area)  # type: ignore[arg-type]
    ax.set_ylim(0, 2.0 * float(max(mass.max(), equal.pmf(z).max())))
    ax.legend(loc="upper left", bbox_to_anchor=(0, 0.87), handlelength=1.2)
    _finish(result, ax, "accuracy that one classifier shows", "probability")


def draw_best_cdf(result: BestOfEquals, ax: Axes) -> None:
    """Draw the chance that at least one classifier reaches an accuracy."""
    best = result.distribution
    z = np.arange(*_span(best))
    ax.step(1 - z / best.n, best.cdf(z), where="mid", color=COLOUR_A)
    ax.set_ylim(0, 1.3)
    ax.set_yticks([0, 0.5, 1])
    _finish(result, ax, "accuracy", "chance that at\nleast one has it")


def draw_best_pmf(result: BestOfEquals, ax: Axes) -> None:
    """Draw the distribution of the best accuracy."""
    best = result.distribution
    z = np.arange(*_span(best))
    mass = best.pmf(z)
    ax.bar(1 - z / best.n, mass, 1 / best.n, color=COLOUR_A)
    ax.set_ylim(0, 1.3 * float(mass.max()))
    _finish(result, ax, f"accuracy of the best of {best.m:,}", "probability")


def compose_equals(result: BestOfEquals) -> Figure:
    """Stack what one shows, and the distribution of the best, in one column."""
    best = result.distribution
    title = (
        f"The best of {best.m:,} classifiers of accuracy {result.accuracy:g} shows "
        f"{result.mean:.4f} on {best.n:,} examples"
    )
    figure = make_figure(COLUMN_WIDTH, 6.2, wrap_title(title, COLUMN_WIDTH))
    one, cdf, pmf = figure.subplots(3, height_ratios=[1.3, 1, 1])
    draw_one(result, one)
    draw_best_cdf(result, cdf)
    draw_best_pmf(result, pmf)
    return figure


def _span(distribution: BestOfDistribution) -> tuple[int, int]:
    """Failures between which anything is seen, and one more."""
    z = distribution.first + np.arange(distribution.log_survival.size)
    mass: FloatArray = distribution.pmf(z)
    seen = z[mass >= _VISIBLE * mass.max()]
    return int(seen[0]), int(seen[-1]) + 1


def _finish(result: BestOfEquals, ax: Axes, accuracy: str, chance: str) -> None:
    """Name the axes, mark the expected best and its upper bound, and number failures above.

    As Møllersen and Holsbø (2023) do.
    """
    ax.set_xlabel(accuracy)
    ax.set_ylabel(chance)
    marks = (
        (result.mean, "expected best", "right", "-", -3),
        (result.upper, "upper bound", "left", "--", 3),
    )
    for value, name, side, line, shift in marks:
        ax.axvline(value, color=COLOUR_NOTE, linewidth=0.8, linestyle=line, gid=name)
        look = {"xycoords": ("data", "axes fraction"), "ha": side, "va": "top"}
        write_note(ax, f"{name}\n{value:.4f}", (value, 1), (shift, -2), **look)
    low, high = ax.get_xlim()
    ax.set_xlim(low, max(high, result.upper + 0.3 * (result.upper - low)))
    limit_ticks(ax)
    n = result.distribution.n
    to_failures = (lambda shown: n - n * np.asarray(shown), lambda z: 1 - np.asarray(z) / n)
    above = ax.secondary_xaxis("top", functions=to_failures)
    above.set_xlabel("failures", color=COLOUR_NEITHER, fontsize="small")
    above.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    above.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    above.tick_params(labelsize="small", colors=COLOUR_NEITHER)


def draw_leaderboard(result: Assessment, ax: Axes) -> None:
    """Draw scores by rank, with the top score, the sober estimate and its interval.

    The band holds the scores of all that may be the truly best. Entries far below it are left
    out.
    """
    order = np.argsort(-result.scores, kind="stable")
    scores, contends = result.scores[order], result.contends[order]
    lowest = float(scores[contends].min())
    bottom = min(lowest, result.interval.low)
    floor = bottom - _BELOW * max(result.top - bottom, _LEAST)
    ax.axhspan(lowest, result.top, color=COLOUR_BAND, linewidth=0, gid="band", zorder=0)
    _draw_entries(scores, contends, ax, shown=scores >= floor)
    ax.axhline(
        result.top,
        color=COLOUR_NEITHER,
        ls="--",
        lw=0.9,
        label=f"top score {result.top:.4f}",
        gid="top",
    )
    low, high = result.interval.low, result.interval.high
    ax.axhspan(low, high, color=COLOUR_B, alpha=0.18, linewidth=0, gid="interval")
    label = f"sober {result.sober:.4f}, {result.interval.level} interval"
    ax.axhline(result.sober, color=COLOUR_B, linewidth=1.2, label=label, gid="sober")
    n_shown = int((scores >= floor).sum())
    n_below = result.n_entries - n_shown
    below = f" ({n_below:,} {'entry lies' if n_below == 1 else 'entries lie'} below)"
    ax.set_xlim(1 - 0.04 * n_shown, n_shown * 1.04 + 0.4)
    highest = max(result.top, high)
    span = highest - floor
    ax.set_ylim(floor - 0.04 * span, highest + 0.08 * span)  # no dot lies on the axis, cut in half
    ax.set_xlabel(f"rank{below if n_below else ''}")
    ax.set_ylabel(f"{shorten_label(result.metric, 20)} (higher is better)")
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    # Below, because dots may be anywhere.
    scale = 2 if scores.size > _MANY else 1
    ax.legend(loc="upper center", bbox_to_anchor=(0.42, -0.2), ncols=2, markerscale=scale)


def _draw_entries(scores: FloatArray, contends: Mask, ax: Axes, *, shown: Mask) -> None:
    ranks, many = np.arange(1, scores.size + 1), scores.size > _MANY
    for mask, colour, name in (
        (contends, COLOUR_A, f"may be the best ({int(contends.sum()):,})"),
        (~contends & shown, COLOUR_NEITHER, "not the best"),
    ):
        if mask.any():
            look: dict[str, Any] = {"color": colour, "label": name, "rasterized": many}
            size = 3.0 if many else 14.0
            ax.scatter(ranks[mask], scores[mask], size, linewidth=0, zorder=3, **look)


def compose_leaderboard(result: Assessment) -> Figure:
    """Draw the leaderboard below what its top is worth, one column wide."""
    more = ""
    if isinstance(result, LeaderboardAssessment) and (result.are_alike or result.are_unequal):
        more = " or more"
    title = (
        f"The best of {result.n_entries:,}: {shorten_label(result.metric, 20)} "
        f"{result.top:.4f}, soberly {result.sober:.4f}{more}"
    )
    figure = make_figure(COLUMN_WIDTH, 3.0, wrap_title(title, COLUMN_WIDTH))
    draw_leaderboard(result, figure.subplots())
    return figure


_BOARD = Drawing(
    {"leaderboard": draw_leaderboard}, compose_leaderboard, heights={"leaderboard": 2.7}
)

FIGURES = {
    BestOfEquals: Drawing(
        {"one": draw_one, "best cdf": draw_best_cdf, "best pmf": draw_best_pmf},
        compose_equals,
        heights={"best cdf": 2.0, "best pmf": 2.0},
    ),
    LeaderboardAssessment: _BOARD,
    PredictionAssessment: _BOARD,
}
