"""The figure of the verdict: P(A>B) with its interval against 0.5 and γ, one row per task."""

from collections.abc import Sequence
from typing import Any, Literal

from matplotlib.axes import Axes

from outperform.questions.compare.result import Comparison
from outperform.questions.compare.task_results import TaskComparisons
from outperform.render.labels import (
    PairResult,
    describe_level,
    describe_metric,
    escape,
    join_phrases,
    short_names,
)
from outperform.render.style import (
    COLOUR_A,
    COLOUR_B,
    COLOUR_BAND,
    COLOUR_NEITHER,
    COLOUR_NOTE,
    find_width,
    lay_out_rows,
)
from outperform.stats import exact_interval
from outperform.stats.outperforming import count_wins
from outperform.wording import shorten_apart

_NARROW = 2.3  # inches, below which names of regions would overlap
_NOT_SIGNIFICANT = "across 0.5: not significant"
_WINNERS = {"a": COLOUR_A, "b": COLOUR_B, None: COLOUR_NEITHER}


def draw_probability(results: PairResult | Sequence[PairResult], ax: Axes) -> None:
    """Draw P(A>B) with its interval, of one comparison or of one per task.

    An interval across 0.5 is not significant (grey); one within γ is not meaningful (hollow); one
    that reaches beyond γ is meaningful (filled, in the winner's colour).
    """
    rows: Sequence[PairResult]
    if isinstance(results, Sequence):
        tasks = [getattr(each, "task", "") for each in results]  # what was published has none
        rows, labels = results, [escape(task) for task in shorten_apart(tasks, 18)]
    else:
        rows, labels = (results,), [f"{results.probability:.3g}\n{results.interval}"]
    first = rows[0]
    _draw_regions(first.gamma, ax)
    for row, result in enumerate(rows):
        _draw_interval(result, row, ax)
    lay_out_rows(ax, [float(row) for row in range(len(rows))], labels)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    a, b = short_names(first, 16)
    level = describe_level(first.interval)
    metrics = {describe_metric(each) for each in rows}
    metric = metrics.pop() if len(metrics) == 1 else "the metric of each task"
    # Fewer rows than are coloured may be named together.
    apart = ["each row by itself"] if len(rows) > 1 else []
    ax.set_xlabel(join_phrases(f"P({a} > {b})", f"{level} interval", *apart, f"by {metric}"))


def draw_tasks(tasks: TaskComparisons, ax: Axes) -> None:
    """Draw P(A>B) with its interval, one row per task, and its average over them."""
    draw_probability(tasks.comparisons, ax)
    row, average = len(tasks.comparisons), tasks.average
    labels = [label.get_text() for label in ax.get_yticklabels()]
    lay_out_rows(ax, [float(each) for each in range(row + 1)], [*labels, "on average"])
    ax.set_ylim(row + 0.6, -0.6)
    look: dict[str, Any] = {"color": "black", "clip_on": False}
    ax.axhline(row - 0.5, color=COLOUR_NOTE, linewidth=0.4)
    ax.plot(
        [average.interval.low, average.interval.high], [row, row], gid="average-interval", **look
    )
    ax.plot([average.probability], [row], "D", ms=4.5, mec="white", gid="average", **look)


def _draw_interval(result: PairResult, row: int, ax: Axes) -> None:
    colour = _WINNERS[result.winner]
    face = "white" if result.verdict == "significant, not meaningful" else colour
    interval, style = result.interval, "-"
    if interval.low == interval.high and isinstance(result, Comparison) and result.paired:
        # The bootstrap of nothing but wins has no width: what is known of them has.
        wins, ties, n = count_wins(result.higher_a, result.higher_b)
        level = interval.confidence_level
        interval, style = exact_interval(wins, ties, n, confidence_level=level), ":"
    ends, gid = [interval.low, interval.high], f"interval-{row}"
    ax.plot(ends, [row, row], style, color=colour, linewidth=1.6, clip_on=False, gid=gid)
    ax.plot(
        [result.probability],
        [row],
        "o",
        color=colour,
        markerfacecolor=face,
        markersize=4.5,
        clip_on=False,
        gid=f"probability-{row}",
    )


def _draw_regions(gamma: float, ax: Axes) -> None:
    """Mark 0.5 and γ, and name above the axes what lies between."""
    ax.set_xlim(-0.02, 1.02)
    ax.spines["bottom"].set_bounds(0, 1)
    ax.axvline(0.5, color="black", linewidth=0.8, linestyle="--", gid="half")
    # With γ at 0.5 or below, whatever is significant is meaningful.
    if gamma > 0.5:
        ax.axvspan(1 - gamma, gamma, color=COLOUR_BAND, linewidth=0, zorder=0)
        for side, place in (("a", gamma), ("b", 1 - gamma)):
            ax.axvline(place, color=COLOUR_NOTE, linewidth=0.8, linestyle=":", gid=f"gamma-{side}")
    if find_width(ax) < _NARROW:
        ax.set_xticks([0, 0.5, 1] if gamma <= 0.5 else [0, 0.5, gamma, 1])
        ax.set_xticklabels(["0", "½", "1"] if gamma <= 0.5 else ["0", "½", "γ", "1"])
        return
    _label_gamma(gamma, ax)
    regions = _name_regions(gamma)
    names = ax.secondary_xaxis("top")
    names.set_xticks([place for place, _ in regions], [name for _, name in regions])
    names.tick_params(length=0, labelsize="small", labelcolor=COLOUR_NOTE)
    names.spines["top"].set_visible(False)


def _label_gamma(gamma: float, ax: Axes) -> None:
    if gamma <= 0.5:
        ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        return
    ax.set_xticks([0, 0.5, gamma, 1], ["0", "0.5", f"γ = {gamma:g}", "1"])
    # Lean away from the neighbour that is too near.
    side: Literal["left", "center", "right"]
    side = "left" if gamma < 0.65 else "right" if gamma > 0.85 else "center"
    ax.get_xticklabels()[2].set_horizontalalignment(side)


def _name_regions(gamma: float) -> list[tuple[float, str]]:
    """Middle of each region and its name; lines below a name lift it above its neighbours'."""
    if gamma <= 0.5:
        return [(0.25, "meaningful"), (0.5, f"{_NOT_SIGNIFICANT}\n"), (0.75, "meaningful")]
    outer = (1 + gamma) / 2
    ends = [(1 - outer, "meaningful"), (outer, "meaningful")]
    if gamma < 0.73:
        return [*ends, (0.5, f"{_NOT_SIGNIFICANT}\nwithin γ:\nnot meaningful")]
    inner = (0.5 + gamma) / 2
    middle = [(1 - inner, "not\nmeaningful"), (inner, "not\nmeaningful")]
    return [*ends, *middle, (0.5, f"{_NOT_SIGNIFICANT}\n\n")]
