"""Figures of a comparison: every run, every difference, P(A>B), the log ratios of a test."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from outperform.errors import InvalidInput
from outperform.questions.compare.conclusion import describe
from outperform.questions.compare.decision import Decision
from outperform.questions.compare.published import PairResult, PublishedComparison
from outperform.questions.compare.published_tasks import PublishedTasks, PublishedTasksTried
from outperform.questions.compare.result import Comparison
from outperform.questions.compare.sequential import SequentialComparison
from outperform.questions.compare.task_results import TaskComparisons
from outperform.render.densities import draw_densities, draw_dots
from outperform.render.figures import Drawing
from outperform.render.style import (
    COLOUR_A,
    COLOUR_B,
    COLOUR_BAND,
    COLOUR_NEITHER,
    COLOUR_NOTE,
    COLUMN_WIDTH,
    PAGE_WIDTH,
    describe_metric,
    escape,
    find_size,
    is_low,
    join_phrases,
    lay_out_rows,
    limit_ticks,
    make_figure,
    make_figure_below,
    short_names,
    shorten_in,
    shorten_label,
    title_height,
    wrap_title,
    write_note,
)
from outperform.stats import Estimate, exact_interval
from outperform.stats.outperforming import count_wins
from outperform.wording import shorten_apart

_TRIED = ("fewest", "some", "most")  # numbers of runs that a published table is tried for
_ROW_HEIGHT = 0.17  # inches, of a task
_MARGIN = 0.03  # of the width, right of the numbers: browsers write wider than matplotlib measures
_LABELS_HEIGHT = 0.72  # inches, around one of several views, on average
_RATIOS_HEIGHT = 2.5  # inches
_NARROW = 21  # heights of letters, below which names of regions would overlap
_SMALL = 0.75  # of the usual letters: names of regions, which stand close together
_NUMBERS = 16  # letters of two log ratios, and what keeps them apart
_NOT_SIGNIFICANT = "across 0.5: not significant"
_WINNERS = {"a": COLOUR_A, "b": COLOUR_B, None: COLOUR_NEITHER}


def draw_differences(comparison: Comparison, ax: Axes) -> None:
    """Draw every paired difference, sorted, and their mean with its interval."""
    if not comparison.paired:
        raise InvalidInput(
            f"{comparison.a!r} and {comparison.b!r} are compared unpaired, so their runs have no "
            "differences to draw",
            "Draw the view 'densities' or 'probability'",
        )
    ax.axvline(0, color="black", linewidth=0.8, linestyle="--", zorder=0, gid="zero")
    _draw_pairs(comparison, ax)
    # Whatever their number, the pairs fill rows 0 to 1, and the mean stands below them.
    tied = f"{comparison.n_ties:,} tied" if comparison.n_ties else "sorted"
    mean, population = comparison.difference, comparison.population
    between = " " if population is not None and is_low(ax) else "\n"
    labels = [
        f"{comparison.n_pairs:,} pairs,\n{tied}",
        f"◆ mean,{between}{mean.interval.level} interval",
    ]
    rows, estimates = [-0.35], dict[str, Estimate](difference=mean)
    # Differences that do not vary tell nothing of other data: that interval has no ends.
    if population is not None and np.isfinite(population.interval.low):
        labels.append(f"for data like{between}these, {population.interval.level}")
        rows.append(-0.95)
        estimates["population"] = population
    for row, (gid, estimate) in zip(rows, estimates.items(), strict=True):
        ends = [estimate.interval.low, estimate.interval.high]
        ax.plot(ends, [row, row], color="black", gid=f"{gid}-interval")
        ax.plot([estimate.value], [row], "D", color="black", mec="white", ms=5.5, gid=gid)
    lay_out_rows(ax, [0.5, *rows], labels)
    ax.set_ylim(rows[-1] - 0.25, 1.1)
    limit_ticks(ax)
    a, b = short_names(comparison, 14)
    ax.set_xlabel(join_phrases(f"{a} − {b}", describe_metric(comparison)))


def _draw_pairs(comparison: Comparison, ax: Axes) -> None:
    """Draw the differences in the winners' colours, and above each side who won how often."""
    n = comparison.n_pairs
    differences = np.sort(comparison.scores_a - comparison.scores_b)
    rows = np.arange(n) / (n - 1)
    length, between = (8, "\n") if _is_narrow(ax) else (11, " ")
    a, b = short_names(comparison, length)
    side_a, side_b = ("wins-a", a, COLOUR_A), ("wins-b", b, COLOUR_B)
    left, right = (side_b, side_a) if comparison.goal == "maximize" else (side_a, side_b)
    for (gid, name, colour), where in ((left, "left"), (right, "right")):
        chosen = differences < 0 if where == "left" else differences > 0
        draw_dots(differences[chosen], rows[chosen], ax, n=n, colour=colour, gid=gid)
        title = f"{name}{between}wins {np.count_nonzero(chosen):,}"
        ax.set_title(title, loc=where, color=colour, fontsize="small")  # type: ignore[arg-type]
    tied = differences == 0
    draw_dots(differences[tied], rows[tied], ax, n=n, colour=COLOUR_NEITHER, gid="ties")


def compose_comparison(comparison: Comparison) -> Figure:
    """Stack densities, differences if paired, and the probability, in one column."""
    views: list[tuple[float, Callable[[Comparison, Axes], None]]] = [(1.2, draw_densities)]
    if comparison.paired:
        views.append((0.95 if comparison.population is None else 1.25, draw_differences))
    views.append((0.45, draw_probability))
    heights, draw = zip(*views, strict=True)
    (a, b), task = short_names(comparison, 22), shorten_label(comparison.task, 22)
    title = _entitle(replace(comparison, a=a, b=b, task=task).claim, comparison.verdict)
    outside = _LABELS_HEIGHT * len(views) + title_height(title)
    figure = make_figure(COLUMN_WIDTH, sum(heights) + outside, title)
    axes = figure.subplots(len(views), height_ratios=heights)
    for draw_view, ax in zip(draw, axes, strict=True):
        draw_view(comparison, ax)
    return figure


def compose_published(published: PublishedComparison) -> Figure:
    """Draw the probability below the verdict."""
    claim = describe(*short_names(published, 22), published.winner, published.verdict)
    title = _entitle(claim, f"{published.verdict}, if scores are normal")
    figure = make_figure(COLUMN_WIDTH, 1.5 + title_height(title), title)
    draw_probability(published, figure.subplots())
    return figure


def compose_tasks(tasks: TaskComparisons) -> Figure:
    """Draw a row per task across the page, with the numbers beside it."""
    rows = tasks.comparisons
    names = short_names(rows[0], 22)
    named = TaskComparisons(tuple(replace(row, a=names[0], b=names[1]) for row in rows))
    figure = make_figure_below(str(named), width=PAGE_WIDTH, height=forest_height(len(rows) + 1))
    engine = figure.get_layout_engine()
    assert engine is not None
    engine.set(rect=(0, 0, 1 - _MARGIN, 1))  # type: ignore[call-arg]
    ax = figure.subplots()
    draw_tasks(named, ax)
    level = rows[0].interval.level
    sizes, chances, differences = zip(*map(_format_numbers, rows), strict=True)
    average = tasks.average
    ends = f"[{average.interval.low:.3f}, {average.interval.high:.3f}]"
    chances = (*chances, f"{average.probability:.3f} {ends}")
    _write_column(ax, 8, "n", sizes)
    _write_column(ax, 40, f"P(A > B)\n{level} interval", chances)
    _write_column(ax, 140, f"mean difference\n{level} interval", differences)
    return figure


def compose_published_tasks(tasks: PublishedTasks) -> Figure:
    """Draw a row per dataset of a published table."""
    title = escape(shorten_in(str(tasks), [tasks.a, tasks.b]))
    figure = make_figure_below(
        title, width=COLUMN_WIDTH, height=forest_height(len(tasks.comparisons))
    )
    draw_probability(tasks.comparisons, figure.subplots())
    return figure


def compose_tried(tried: PublishedTasksTried) -> Figure:
    """Draw a row per dataset of a published table, side by side for each number of runs."""
    title = escape(shorten_in(str(tried), [tried.a, tried.b]))
    height = forest_height(len(tried.answers[0].comparisons))
    figure = make_figure_below(title, width=PAGE_WIDTH, height=height)
    axes = figure.subplots(1, len(tried.answers), sharey=True)
    for place, ax in enumerate(axes):
        draw_tried(tried, ax, place)
        ax.set_xlabel(ax.get_xlabel() if place == 1 else "")
    return figure


def draw_tried(tried: PublishedTasksTried, ax: Axes, place: int) -> None:
    """Draw P(A>B) on every dataset with its interval, for one of the numbers of runs."""
    draw_probability(tried.answers[place].comparisons, ax)
    ax.set_title(f"if n = {tried.n_tried[place]}", loc="left", fontsize="small")


def forest_height(n_rows: int) -> float:
    """Height in inches of a figure with a row per task."""
    return 1.1 + _ROW_HEIGHT * max(2, n_rows)


def _write_column(ax: Axes, offset: float, header: str, cells: Sequence[str]) -> None:
    """Write a column of text beside the axes, that many points to their right."""
    look = {"color": "black", "va": "center", "annotation_clip": False}
    for row, cell in enumerate(cells):
        write_note(ax, cell, (1, row), (offset, 0), xycoords=("axes fraction", "data"), **look)
    write_note(ax, header, (1, 1), (offset, 5), xycoords="axes fraction")


def _format_numbers(result: Comparison) -> tuple[str, str, str]:
    """Numbers of runs, P(A>B) and the mean difference, each with its interval."""
    n_a, n_b = result.scores_a.size, result.scores_b.size
    chance, difference = result.interval, result.difference.interval
    ends = f"[{difference.low:+.3g}, {difference.high:+.3g}]"
    return (
        f"{n_a}" if n_a == n_b else f"{n_a}, {n_b}",
        f"{result.probability:.3f} [{chance.low:.3f}, {chance.high:.3f}]",
        f"{result.difference.value:+.3g} {ends}".replace("-", "−"),
    )


def _entitle(claim: str, verdict: str) -> str:
    """Wrap both, the verdict on a line of its own where that costs none."""
    together = wrap_title(f"{claim}: {verdict}", COLUMN_WIDTH)
    apart = f"{wrap_title(f'{claim}:', COLUMN_WIDTH)}\n{verdict}"
    return apart if apart.count("\n") <= together.count("\n") else together


def draw_probability(results: PairResult | Sequence[PairResult], ax: Axes) -> None:
    """Draw P(A>B) with its interval, of one comparison or of one per task.

    An interval across 0.5 is not significant (grey); one within γ is not meaningful (hollow); one
    that reaches beyond γ is meaningful (filled, in the winner's colour).
    """
    rows: Sequence[PairResult]
    if isinstance(results, Sequence):
        names = shorten_apart([each.task for each in results], 18)
        rows, labels = results, [*map(escape, names)]
    else:
        rows, labels = (results,), [f"{results.probability:.3g}\n{results.interval}"]
    first = rows[0]
    _draw_regions(first.gamma, ax)
    for row, result in enumerate(rows):
        _draw_interval(result, row, ax)
    lay_out_rows(ax, range(len(rows)), labels)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    a, b = short_names(first, 16)
    level = first.interval.level
    metrics = {*map(describe_metric, rows)}
    metric = metrics.pop() if len(metrics) == 1 else "the metric of each task"
    # Fewer rows than are coloured may be named together.
    apart = ["each row by itself"] if len(rows) > 1 else []
    ax.set_xlabel(join_phrases(f"P({a} > {b})", f"{level} interval", *apart, f"by {metric}"))


def draw_tasks(tasks: TaskComparisons, ax: Axes) -> None:
    """Draw P(A>B) with its interval, one row per task, and its average over them."""
    draw_probability(tasks.comparisons, ax)
    row, average = len(tasks.comparisons), tasks.average
    labels = [label.get_text() for label in ax.get_yticklabels()]
    lay_out_rows(ax, range(row + 1), [*labels, "on average"])
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
        wins, ties, n = count_wins(*result.higher)
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
    is_narrow = _is_narrow(ax)
    ticks, half = [0, 0.5, 1], "½" if is_narrow else "0.5"
    labels = ["0", half, "1"]
    if gamma > 0.5:
        ticks.insert(2, gamma)
        labels.insert(2, "γ" if is_narrow else f"γ = {gamma:g}")
    ax.set_xticks(ticks, labels)
    if is_narrow:
        return
    if gamma > 0.5:
        # Lean away from the neighbour that is too near.
        lean: Literal["left", "center", "right"]
        lean = "left" if gamma < 0.65 else "right" if gamma > 0.85 else "center"
        ax.get_xticklabels()[2].set_horizontalalignment(lean)
    regions = _name_regions(gamma)
    names = ax.secondary_xaxis("top")
    names.set_xticks([*regions], [*regions.values()])
    names.tick_params(length=0, labelsize=_SMALL * rcParams["font.size"], labelcolor=COLOUR_NOTE)
    names.spines["top"].set_visible(False)


def _is_narrow(ax: Axes) -> bool:
    return bool(72 * find_size(ax)[0] / rcParams["font.size"] < _NARROW)


def _name_regions(gamma: float) -> dict[float, str]:
    """Name of each region by its middle; lines below a name lift it above its neighbours'."""
    if gamma <= 0.5:
        return {0.25: "meaningful", 0.5: f"{_NOT_SIGNIFICANT}\n", 0.75: "meaningful"}
    outer, inner = (1 + gamma) / 2, (0.5 + gamma) / 2
    regions = {1 - outer: "meaningful", outer: "meaningful"}
    if gamma < 0.73:
        return {**regions, 0.5: f"{_NOT_SIGNIFICANT}\nwithin γ:\nnot meaningful"}
    middle = "not\nmeaningful"
    return {**regions, 1 - inner: middle, inner: middle, 0.5: f"{_NOT_SIGNIFICANT}\n\n"}


def draw_log_ratios(result: SequentialComparison, ax: Axes) -> None:
    """Draw the log ratio of either side after every pair, from where to where gaps leave it."""
    test, names = result.rule.test, short_names(result.comparison, 14)
    pairs, colours = np.arange(result.n_pairs + 1), (COLOUR_A, COLOUR_B)
    sides = zip(names, result.path.log_ratios, "ab", ("left", "right"), colours, strict=True)
    # Labels on either side leave the names little more than half of the width.
    room = 0.6 * 72 * find_size(ax)[0] / (0.5 * rcParams["font.size"])
    is_tight = sum(map(len, names)) + _NUMBERS > room
    for name, ratios, side, where, colour in sides:
        against, favoured = (np.insert(each, 0, 0.0) for each in ratios)
        if result.n_incomplete:
            ax.fill_between(pairs, against, favoured, color=colour, alpha=0.25, linewidth=0)
        ax.plot(pairs, against, color=colour, gid=f"log-ratio-{side}")
        title = f"{name} {f'{against[-1]:+.2f}'.replace('-', '−')}"
        if side == "a" and is_tight:
            title = f"{title}\n"  # on a line of its own, above the other
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
    a, b = short_names(result.comparison, 22)
    task = shorten_label(result.task, 22)
    short = replace(result, comparison=replace(result.comparison, a=a, b=b, task=task))
    # The interval alone would be read as a verdict of its own.
    lines = f"{short.decided}:", short.chance
    figure = make_figure_below(*lines, width=COLUMN_WIDTH, height=_RATIOS_HEIGHT)
    draw_log_ratios(result, figure.subplots())
    return figure


def draw_decision(decision: Decision, ax: Axes) -> None:
    """Draw the log ratios on the task that took longest."""
    part = max(decision.parts, key=lambda part: part.n_pairs)
    draw_log_ratios(part, ax)
    if len(decision.parts) > 1:
        ax.set_xlabel(f"{shorten_label(part.task, 22)}\n{ax.get_xlabel()}")


def compose_decision(decision: Decision) -> Figure:
    """Draw the log ratios on every task below what they decided."""
    parts, title = decision.parts, escape(shorten_in(str(decision), [decision.a, decision.b]))
    height = _RATIOS_HEIGHT * len(parts)
    figure = make_figure_below(title, width=COLUMN_WIDTH, height=height)
    for part, ax in zip(parts, figure.subplots(len(parts), squeeze=False).flat, strict=True):
        draw_decision(replace(decision, parts=(part,)), ax)
        if len(parts) > 1:
            ax.set_xlabel(f"{shorten_label(part.task, 22)}\n{ax.get_xlabel()}")
    return figure


FIGURES = {
    Comparison: Drawing(
        {
            "probability": draw_probability,
            "densities": draw_densities,
            "differences": draw_differences,
        },
        compose_comparison,
        heights={"probability": 1.5, "densities": 1.8, "differences": 1.8},
    ),
    SequentialComparison: Drawing(
        {
            "ratios": draw_log_ratios,
            "densities": lambda result, ax: draw_densities(result.comparison, ax),
            "differences": lambda result, ax: draw_differences(result.comparison, ax),
        },
        compose_sequential,
        heights={"ratios": _RATIOS_HEIGHT, "densities": 1.8, "differences": 1.8},
    ),
    Decision: Drawing(
        {"ratios": draw_decision}, compose_decision, heights={"ratios": _RATIOS_HEIGHT}
    ),
    TaskComparisons: Drawing(
        {"probability": draw_tasks},
        compose_tasks,
        heights={"probability": lambda tasks: forest_height(len(tasks.comparisons) + 1)},
    ),
    PublishedTasks: Drawing(
        {"probability": lambda tasks, ax: draw_probability(tasks.comparisons, ax)},
        compose_published_tasks,
        heights={"probability": lambda tasks: forest_height(len(tasks.comparisons))},
    ),
    PublishedTasksTried: Drawing(
        {f"{words} runs": partial(draw_tried, place=i) for i, words in enumerate(_TRIED)},
        compose_tried,
        heights={
            f"{words} runs": lambda tried: forest_height(len(tried.answers[0].comparisons))
            for words in _TRIED
        },
    ),
    PublishedComparison: Drawing(
        {"probability": draw_probability}, compose_published, heights={"probability": 1.5}
    ),
}
