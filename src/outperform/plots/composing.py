"""Whole figures: the views of a result put together, with the verdict as title."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from outperform.analysis.audits import Audit, SelfAudit
from outperform.analysis.comparison import Comparison, TaskComparisons
from outperform.analysis.planning import Plan
from outperform.analysis.published import PublishedComparison
from outperform.analysis.verdict import describe
from outperform.plots.auditing import (
    draw_audit_densities,
    draw_between,
    draw_differences_of_best,
    draw_effect_sizes,
    draw_few_seeds,
    draw_gaps,
    draw_random_sets,
    draw_same_seeds,
    draw_within,
)
from outperform.plots.comparison import draw_densities, draw_differences
from outperform.plots.labels import (
    PairResult,
    describe_level,
    escape,
    short_names,
    shorten,
    wrap_lines,
)
from outperform.plots.planning import describe_chance, draw_plan
from outperform.plots.probability import draw_probability
from outperform.plots.style import (
    COLOUR_NEITHER,
    COLOUR_NOTE,
    COLUMN_WIDTH,
    PAGE_WIDTH,
    make_figure,
)
from outperform.runs.scope import Scope, join_scopes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW_HEIGHT = 0.17  # inches, of a task
_LABELS_HEIGHT = 0.72  # inches, around one of several views, on average
_CHARACTERS = 15  # of a title, per inch
_SMALL_CHARACTERS = 21  # of what stands below all views, per inch
_SMALL_LINE = 0.12  # inches
_POINTS = 72  # per inch


def compose_comparison(comparison: Comparison) -> "Figure":
    """Stack densities, differences if paired, and the probability, in one column."""
    views: list[tuple[float, Callable[[Comparison, Axes], None]]] = [(1.2, draw_densities)]
    if comparison.paired:
        views.append((0.95 if comparison.population is None else 1.25, draw_differences))
    views.append((0.45, draw_probability))
    heights = [height for height, _ in views]
    on = f" on {escape(shorten(comparison.task, 22))}" if comparison.task else ""
    title = _entitle(comparison, on=on)
    outside = _LABELS_HEIGHT * len(views) + _title_height(title)
    figure = make_figure(COLUMN_WIDTH, sum(heights) + outside)
    axes = figure.subplots(len(views), height_ratios=heights)
    for (_, draw), ax in zip(views, axes, strict=True):
        draw(comparison, ax)
    figure.suptitle(title, fontsize="medium")
    return figure


def compose_published(published: PublishedComparison) -> "Figure":
    """Draw the probability below the verdict."""
    title = _entitle(published, condition=", if scores are normal")
    figure = make_figure(COLUMN_WIDTH, 1.5 + _title_height(title))
    draw_probability(published, figure.subplots())
    figure.suptitle(title, fontsize="medium")
    return figure


def compose_tasks(tasks: TaskComparisons) -> "Figure":
    """Draw a row per task across the page, with the numbers beside it."""
    rows = tasks.comparisons
    names = short_names(rows[0], 22)
    named = TaskComparisons(tuple(replace(row, a=names[0], b=names[1]) for row in rows))
    title = _wrap(str(named), PAGE_WIDTH)
    figure = make_figure(PAGE_WIDTH, forest_height(len(rows)) + _title_height(title))
    ax = figure.subplots()
    draw_probability(rows, ax)
    level = describe_level(rows[0].interval)
    _write_column(ax, 8, "n", [_format_sizes(row) for row in rows])
    _write_column(ax, 40, f"P(A > B)\n{level} interval", [_format_chance(row) for row in rows])
    differences = [_format_difference(row) for row in rows]
    _write_column(ax, 140, f"mean difference\n{level} interval", differences)
    figure.suptitle(title, fontsize="medium")
    return figure


def compose_plan(plan: Plan) -> "Figure":
    """Draw the sample sizes below the number that is needed."""
    claim = f"{plan.n_required:,} pairs show a {describe_chance(plan)} of {plan.probability:.2g}"
    title = _wrap(f"{claim} with power {1 - plan.beta:g}", COLUMN_WIDTH)
    figure = make_figure(COLUMN_WIDTH, 2.4 + _title_height(title))
    draw_plan(plan, figure.subplots())
    figure.suptitle(title, fontsize="medium")
    return figure


def compose_audit(audit: Audit | SelfAudit) -> "Figure":
    """Put six views of an audit on a page of an appendix."""
    views: list[Callable[[Any, Axes], None]] = [draw_audit_densities, draw_few_seeds]
    if isinstance(audit, SelfAudit):
        views += [draw_differences_of_best, draw_effect_sizes, draw_within, draw_gaps]
    else:
        picked = draw_same_seeds if audit.same_seeds else draw_effect_sizes
        views += [draw_within, draw_between, picked, draw_random_sets]
    title = _wrap(escape(str(audit)), PAGE_WIDTH)
    figure = make_figure(PAGE_WIDTH, 7 + _title_height(title))
    axes = figure.subplots(3, 2, height_ratios=[1.5, 1, 1])
    for draw, ax in zip(views, axes.flat, strict=True):
        draw(audit, ax)
    figure.suptitle(title, fontsize="medium")
    return figure


def write_scope(figure: "Figure", result: Any) -> None:
    """Write what a result is about below all views, in a figure that grows by as much."""
    scope = result.scope if not isinstance(result, tuple) else _join(result)
    width, height = figure.get_size_inches()
    lines = wrap_lines(escape(str(scope)), int(_SMALL_CHARACTERS * width))
    below = _SMALL_LINE * len(lines) + 0.06
    figure.set_size_inches(width, height + below)
    share = below / (height + below)
    engine = figure.get_layout_engine()
    assert engine is not None
    engine.set(rect=(0, share, 1, 1 - share))  # type: ignore[call-arg]
    for legend in figure.legends:  # at the lower edge of the figure, whatever the layout
        legend.borderaxespad += _POINTS * below / legend.prop.get_size_in_points()
    look: dict[str, Any] = {"fontsize": "x-small", "color": COLOUR_NEITHER, "gid": "scope"}
    y = 0.03 / (height + below)
    figure.text(0.5, y, "\n".join(lines), ha="center", va="bottom", **look)


def _join(results: tuple[Any, ...]) -> Scope:
    return join_scopes([each.scope for each in results], [each.task for each in results])


def forest_height(n_rows: int) -> float:
    """Height in inches of a figure with a row per task."""
    return 1.1 + _ROW_HEIGHT * max(2, n_rows)


def _write_column(ax: "Axes", offset: float, header: str, cells: list[str]) -> None:
    """Write a column of text beside the axes, that many points to their right."""
    for row, cell in enumerate(cells):
        ax.annotate(
            cell,
            (1, row),
            (offset, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            fontsize="small",
            verticalalignment="center",
            annotation_clip=False,
        )
    ax.annotate(
        header,
        (1, 1),
        (offset, 5),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize="small",
        color=COLOUR_NOTE,
    )


def _format_sizes(comparison: Comparison) -> str:
    n_a, n_b = comparison.scores_a.size, comparison.scores_b.size
    return f"{n_a}" if n_a == n_b else f"{n_a}, {n_b}"


def _format_chance(comparison: Comparison) -> str:
    interval = comparison.interval
    return f"{comparison.probability:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def _format_difference(comparison: Comparison) -> str:
    interval = comparison.difference.interval
    cell = f"{comparison.difference.value:+.3g} [{interval.low:+.3g}, {interval.high:+.3g}]"
    return cell.replace("-", "−")


def _entitle(result: PairResult, *, on: str = "", condition: str = "") -> str:
    """Say the verdict in one short sentence."""
    a, b = short_names(result, 22)
    verdict = f"{result.verdict}{condition}"
    winner = f"{describe(a, b, result.winner, result.verdict, on=on)}:"
    if isinstance(result, Comparison):
        winner = f"{replace(result, a=a, b=b, task=on.removeprefix(' on ')).claim}:"
    together = _wrap(f"{winner} {verdict}", COLUMN_WIDTH)
    apart = f"{_wrap(winner, COLUMN_WIDTH)}\n{verdict}"
    # The verdict has a line of its own where that costs none.
    return min(apart, together, key=lambda title: title.count("\n"))


def _wrap(sentence: str, width: float) -> str:
    return "\n".join(wrap_lines(sentence, int(_CHARACTERS * width)))


def _title_height(title: str) -> float:
    return 0.1 + 0.14 * (1 + title.count("\n"))
