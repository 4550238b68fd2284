"""Figures of an audit: what picked runs would show, and how random seed sets conclude."""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullFormatter, PercentFormatter, StrMethodFormatter

from outperform.errors import InvalidInput
from outperform.questions.audit.result import Audit, SelfAudit
from outperform.questions.audit.task_results import TaskAudits, TaskSelfAudits
from outperform.render.densities import draw_densities, draw_distributions, estimate_density
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
    lay_out_rows,
    limit_ticks,
    make_figure_below,
    short_names,
    shorten_in,
    wrap_name,
    write_note,
)
from outperform.stats import PickedRuns
from outperform.stats.checks import FloatArray
from outperform.wording import shorten_apart

_SIZES = (5, 10, 15, 20, 25)  # of the seed sets whose densities are drawn
_N_DENSITIES = 20  # per size
_SMALLEST_PVALUE = 1e-10  # what is smaller is drawn here, as by Gundersen et al. (2023)
_OWN_WORST = "Best n against its own worst n"
_ABOVE: dict[str, Any] = {  # where a legend is, so that it covers no curve
    "loc": "lower left",
    "bbox_to_anchor": (-0.02, 1),
    "ncols": 2,
    "fontsize": "small",
    "borderaxespad": 0.2,
    "columnspacing": 1,
}
_STYLES = {"t": "-", "Brunner–Munzel": "--"}
_RULES = {"brunner-munzel": "Brunner–Munzel"}  # rules that other legends write otherwise
_ROW_HEIGHT = 0.17  # inches, of a task
_COLOURS = {"a": COLOUR_A, "b": COLOUR_B}
_NOBODY = 1.0  # where a verdict stands that no number of hidden runs moves


class _Curve(NamedTuple):
    """What picked runs show for one side, and how it is drawn."""

    label: str
    picked: PickedRuns
    colour: str
    side: str


def draw_audit_densities(audit: Audit | SelfAudit, ax: Axes) -> None:
    """Draw how the scores are distributed, with every run as a dot."""
    if isinstance(audit, Audit):
        draw_densities(audit.comparison, ax)
    else:
        name = escape(wrap_name(audit.algorithm, 12))
        draw_distributions([("a", audit.scores, COLOUR_A)], [name], ax)
        ax.set_xlabel(describe_metric(audit))
    ax.set_title("Every run", loc="left")


def draw_few_seeds(audit: Audit | SelfAudit, ax: Axes) -> None:
    """Draw densities of random sets of 5 to 25 runs, as seen by whoever has no more.

    Those of the second algorithm hang below the line, as in Gundersen et al. (2023).
    """
    if isinstance(audit, SelfAudit):
        samples = [("a", audit.scores, COLOUR_A, 0.85)]
    else:
        compared = audit.comparison
        samples = [("a", compared.scores_a, COLOUR_A, 0.45)]
        samples += [("b", compared.scores_b, COLOUR_B, -0.45)]
    sizes = [n for n in _SIZES if n < min(scores.size for _, scores, *_ in samples)]
    rng = np.random.default_rng(0)  # the same figure every time
    for row, n in enumerate(sizes):
        for side, scores, colour, height in samples:
            drawn = [rng.choice(scores, n, replace=False) for _ in range(_N_DENSITIES)]
            _draw_outlines(drawn, -row, height, ax, color=colour, gid=f"density-{side}-{n}")
    for side, scores, colour, height in samples:
        _draw_outlines([scores], -len(sizes), height, ax, color=colour, gid=f"density-{side}")
    labels = [*(f"n = {n}" for n in sizes), "all"]
    lay_out_rows(ax, [float(-row) for row in range(len(labels))], labels)
    every = np.concatenate([scores for _, scores, *_ in samples])
    margin = 0.15 * float(np.ptp(every)) or 1.0
    ax.set_xlim(every.min() - margin, every.max() + margin)
    limit_ticks(ax)
    ax.set_xlabel(describe_metric(audit.comparison if isinstance(audit, Audit) else audit))
    ax.set_title(f"Densities of {_N_DENSITIES} random seed sets each", loc="left")


def draw_differences_of_best(audit: Audit | SelfAudit, ax: Axes) -> None:
    """Draw the best n minus the worst n of one algorithm, in the metric's unit."""
    curves = _list_within(audit)
    values = [curve.picked.difference for curve in curves]
    _draw_curves(curves, values, ax, "difference of means", "Best n minus its own worst n")
    ax.set_ylim(bottom=0)


def draw_effect_sizes(audit: Audit | SelfAudit, ax: Axes) -> None:
    """Draw Cohen's d of the best n against the worst n of one algorithm, and what is large."""
    curves = _list_within(audit)
    sizes = [curve.picked.effect_size for curve in curves]
    drawable = [np.where(np.isfinite(d) & (d > 0), d, np.nan) for d in sizes]
    _draw_curves(curves, drawable, ax, "Cohen's d", _OWN_WORST)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    _draw_level(0.8, "large: 0.8", ax, gid="large")


def draw_gaps(audit: Audit | SelfAudit, ax: Axes) -> None:
    """Draw the gap between the intervals of the best n and the worst n of one algorithm."""
    curves = _list_within(audit)
    # Two or three runs have intervals so wide that nothing else could be seen.
    gaps = [np.where(each.picked.sizes >= 4, each.picked.gap, np.nan) for each in curves]
    level = f"{100 * curves[0].picked.confidence_level:g}%"
    _draw_curves(curves, gaps, ax, f"gap between {level} intervals", _OWN_WORST)
    ax.axhline(0, color=COLOUR_NOTE, linewidth=0.8, linestyle=":", gid="zero")


def draw_within(audit: Audit | SelfAudit, ax: Axes) -> None:
    """Draw p-values of the best n against the worst n of one algorithm."""
    alpha = audit.comparison.alpha if isinstance(audit, Audit) else audit.alpha
    _draw_pvalues(_list_within(audit), ax, alpha, _OWN_WORST)


def draw_between(audit: Audit, ax: Axes) -> None:
    """Draw p-values of the best n of one against the worst n of the other, both ways."""
    a, b = short_names(audit.comparison, 12)
    curves = _list_sides(audit.between, (f"best of {a}", f"best of {b}"))
    _draw_pvalues(curves, ax, audit.comparison.alpha, "Best n of one against worst n of the other")


def draw_same_seeds(audit: Audit, ax: Axes) -> None:
    """Draw p-values on the n seeds that favour one side most, both ways."""
    if not audit.same_seeds:
        raise InvalidInput(
            f"{audit.comparison.a!r} and {audit.comparison.b!r} are compared unpaired, so they "
            "share no seeds to pick",
            "Draw another view",
        )
    a, b = short_names(audit.comparison, 14)
    curves = _list_sides(audit.same_seeds, (f"picked for {a}", f"picked for {b}"))
    _draw_pvalues(curves, ax, audit.comparison.alpha, "The same n seeds of both, picked")


def draw_random_sets(audit: Audit, ax: Axes) -> None:
    """Draw the share of random seed sets of size n that find either side better."""
    rules = list(zip(audit.sets, ("-", "--", ":"), strict=False))
    for shares, style in rules:
        for side, share in (("a", shares.share_a), ("b", shares.share_b)):
            ax.plot(shares.sizes, share, style, color=_COLOURS[side], gid=f"{shares.rule}-{side}")
    ax.set_ylim(-0.02, 1.02)
    names = zip(short_names(audit.comparison, 14), _COLOURS.values(), strict=True)
    entries = [(f"{name} better", colour, "-") for name, colour in names]
    entries += [
        (_RULES.get(shares.rule, shares.rule), COLOUR_NOTE, style) for shares, style in rules
    ]
    _write_legend(ax, entries, "Random seed sets")
    ax.set_ylabel("share that concludes")
    _count_runs(ax, f"{audit.unit} in a set, n")


def _list_within(audit: Audit | SelfAudit) -> list[_Curve]:
    if isinstance(audit, SelfAudit):
        return [_Curve(escape(wrap_name(audit.algorithm, 16)), audit.picked, COLOUR_A, "a")]
    return _list_sides(audit.within, short_names(audit.comparison, 14))


def _list_sides(picked: Sequence[PickedRuns], labels: Sequence[str]) -> list[_Curve]:
    sides = zip(labels, picked, (COLOUR_A, COLOUR_B), ("a", "b"), strict=True)
    return [_Curve(*side) for side in sides]


def _draw_outlines(
    sets: Sequence[FloatArray], baseline: float, height: float, ax: Axes, *, color: str, gid: str
) -> None:
    """Draw densities of the same area, the highest as high as there is room, or below the line.

    A rare set of nearly equal scores is so high that it would flatten all others: it is cut.
    """
    curves = [estimate_density(scores, margin=1.0) for scores in sets]
    shapes = [density / (float(np.ptp(x)) or 1.0) for x, density in curves]
    peaks = [float(shape.max()) for shape in shapes]
    top = min(max(peaks), 2 * float(np.median(peaks)))
    width, alpha = (0.5, 0.4) if len(sets) > 1 else (1.2, 1)
    for (x, _), shape in zip(curves, shapes, strict=True):
        y = baseline + height * np.minimum(shape / top, 1.0)
        ax.plot(x, y, color=color, linewidth=width, alpha=alpha, gid=gid)
    ax.axhline(baseline, color=COLOUR_NOTE, linewidth=0.3, zorder=0)


def _draw_curves(
    curves: Sequence[_Curve], values: Sequence[FloatArray], ax: Axes, label: str, title: str
) -> None:
    for curve, y in zip(curves, values, strict=True):
        ax.plot(curve.picked.sizes, y, color=curve.colour, gid=f"curve-{curve.side}")
    ax.set_ylabel(label)
    _count_runs(ax, "runs picked, n")
    if len(curves) == 1:
        ax.set_title(title, loc="left")
    else:
        _write_legend(ax, [(curve.label, curve.colour, "-") for curve in curves], title)


def _draw_pvalues(curves: Sequence[_Curve], ax: Axes, alpha: float, title: str) -> None:
    for curve in curves:
        tests = {"t": curve.picked.t_pvalue, "Brunner–Munzel": curve.picked.rank_pvalue}
        for name, pvalues in tests.items():
            shown = np.maximum(pvalues, _SMALLEST_PVALUE)
            gid = f"{name}-{curve.side}"
            ax.plot(curve.picked.sizes, shown, _STYLES[name], color=curve.colour, gid=gid)
    ax.set_yscale("log")
    ax.set_ylim(_SMALLEST_PVALUE / 2, 2)
    _draw_level(alpha, f"α = {alpha:.2g}", ax, gid="alpha")
    _write_beside(_SMALLEST_PVALUE, "≤ 10⁻¹⁰", ax)  # lines that run there may be lower
    entries = [(curve.label, curve.colour, "-") for curve in curves] if len(curves) > 1 else []
    entries += [(name, COLOUR_NOTE, style) for name, style in _STYLES.items()]
    _write_legend(ax, entries, title)
    ax.set_ylabel("p-value, one-sided")
    _count_runs(ax, "runs picked, n")


def _draw_level(level: float, label: str, ax: Axes, *, gid: str) -> None:
    """Draw a line across the axes with its name at the right, outside them."""
    ax.axhline(level, color=COLOUR_NOTE, linewidth=0.8, linestyle=":", gid=gid)
    _write_beside(level, label, ax)


def _write_beside(level: float, label: str, ax: Axes) -> None:
    across = ("axes fraction", "data")
    write_note(ax, label, (1, level), (3, 0), xycoords=across, va="center", annotation_clip=False)


def _count_runs(ax: Axes, label: str) -> None:
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.set_xlabel(label)


def _write_legend(ax: Axes, entries: Sequence[tuple[str, str, str]], title: str) -> None:
    """Say what colours and styles mean, above the axes where no curve can be."""
    handles = [Line2D([], [], color=colour, ls=style) for _, colour, style in entries]
    labels = [label for label, _, _ in entries]
    look: dict[str, Any] = {"title_fontsize": "medium", "alignment": "left", "handlelength": 1.6}
    ax.legend(handles, labels, title=title, frameon=False, **look, **_ABOVE)


def compose_audit(audit: Audit | SelfAudit) -> Figure:
    """Put six views of an audit on a page of an appendix."""
    views: list[Callable[[Any, Axes], None]] = [draw_audit_densities, draw_few_seeds]
    if isinstance(audit, SelfAudit):
        views += [draw_differences_of_best, draw_effect_sizes, draw_within, draw_gaps]
    else:
        picked = draw_same_seeds if audit.same_seeds else draw_effect_sizes
        views += [draw_within, draw_between, picked, draw_random_sets]
    figure = make_figure_below(escape(str(audit)), width=PAGE_WIDTH, height=7)
    axes = figure.subplots(3, 2, height_ratios=[1.5, 1, 1])
    for draw, ax in zip(views, axes.flat, strict=True):
        draw(audit, ax)
    return figure


def draw_hidden(tasks: TaskAudits, ax: Axes) -> None:
    """Draw the smallest share of hidden runs that undoes each verdict, or that makes one.

    Filled, in the winner's colour: it undoes a verdict. Hollow, in the colour of the side that it
    would make the winner: there is none. Within the band of a tenth, a verdict is fragile.
    """
    ax.axvspan(0, 0.1, color=COLOUR_BAND, linewidth=0, zorder=0, gid="tenth")
    for row, audit in enumerate(tasks.audits):
        move, winner = audit.easiest_move, audit.comparison.winner
        if move.n is None:
            write_note(ax, "by no number", (_NOBODY, row), (0, 0), ha="right", va="center")
            continue
        colour = _COLOURS[winner or ("a" if move is audit.hidden[0] else "b")]
        look = {"mfc": colour if winner else "white", "gid": f"hidden-{row}"}
        text = f"{move} of {audit.n_runs}"
        _draw_share(ax, row, audit.share_to_move, text, colour, **look)
    _label_rows(ax, [audit.comparison.task for audit in tasks.audits])
    first = tasks.audits[0]
    ax.set_xlabel(f"share of {first.unit} to hide (grey: up to a tenth)")
    names = zip(short_names(first.comparison, 14), _COLOURS.values(), strict=True)
    entries = [(f"{name} wins", colour, colour) for name, colour in names]
    entries += [("undone", COLOUR_NOTE, COLOUR_NOTE), ("made", COLOUR_NOTE, "white")]
    ax.legend(
        [Line2D([], [], marker="o", ls="", color=edge, mfc=face) for _, edge, face in entries],
        [label for label, *_ in entries],
        markerscale=0.75,
        handletextpad=0.2,
        **_ABOVE,
    )


def _draw_share(ax: Axes, row: int, share: float, text: str, colour: str, **look: Any) -> None:
    ax.plot([0, share], [row, row], color=COLOUR_NEITHER, linewidth=0.8, zorder=1)
    ax.plot([share], [row], "o", color=colour, ms=4.5, zorder=2, **look)
    write_note(ax, text, (share, row), (5, 0), va="center", annotation_clip=False)


def draw_fooled(tasks: TaskSelfAudits, ax: Axes) -> None:
    """Draw up to what share of the runs the best and the worst differ significantly."""
    for row, audit in enumerate(tasks.audits):
        n, total = audit.n_fooled, audit.scores.size
        text = f"{n} of {total}"
        _draw_share(ax, row, n / total, text, COLOUR_A, gid=f"fooled-{row}")
    _label_rows(ax, [audit.task for audit in tasks.audits])
    ax.set_xlabel("largest share of runs of which the best\nand the worst differ significantly")


def _label_rows(ax: Axes, tasks: list[str]) -> None:
    labels = [escape(task) for task in shorten_apart(tasks, 18)]
    lay_out_rows(ax, [float(row) for row in range(len(tasks))], labels)
    ax.set_ylim(len(tasks) - 0.4, -0.6)
    ax.set_xlim(-0.02, 1.25)  # room for the numbers beside the last dot
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1])
    ax.spines["bottom"].set_bounds(0, 1)
    ax.xaxis.set_major_formatter(PercentFormatter(1))


def rows_height(tasks: TaskAudits | TaskSelfAudits) -> float:
    """Height in inches of a figure with a row per task."""
    return 1.0 + _ROW_HEIGHT * max(2, len(tasks.audits))


def compose_tasks(tasks: TaskAudits | TaskSelfAudits) -> Figure:
    """Draw a row per task below what is concluded, with names that leave room for it."""
    draw: Callable[[Any, Axes], None] = draw_fooled
    if isinstance(tasks, TaskAudits):
        draw = draw_hidden
        names = [[tasks.a, tasks.b], [audit.comparison.task for audit in tasks.audits]]
    else:
        names = [[tasks.algorithm], [audit.task for audit in tasks.audits]]
    title = escape(reduce(shorten_in, names, str(tasks)))
    figure = make_figure_below(title, width=COLUMN_WIDTH, height=rows_height(tasks))
    draw(tasks, figure.subplots())
    return figure


_OF_ONE: dict[str, Callable[[Any, Axes], None]] = {
    "densities": draw_audit_densities,
    "few seeds": draw_few_seeds,
    "differences": draw_differences_of_best,
    "effect sizes": draw_effect_sizes,
    "within": draw_within,
    "gaps": draw_gaps,
}
_OF_TWO: dict[str, Callable[[Any, Axes], None]] = {
    "random sets": draw_random_sets,
    "between": draw_between,
    "same seeds": draw_same_seeds,
}
_HEIGHTS = {"densities": 1.8, "differences": 1.8}
FIGURES = {
    Audit: Drawing({**_OF_TWO, **_OF_ONE}, compose_audit, heights=_HEIGHTS),
    SelfAudit: Drawing(_OF_ONE, compose_audit, heights=_HEIGHTS),
    TaskAudits: Drawing(
        {"hidden runs": draw_hidden}, compose_tasks, heights={"hidden runs": rows_height}
    ),
    TaskSelfAudits: Drawing(
        {"picked runs": draw_fooled}, compose_tasks, heights={"picked runs": rows_height}
    ),
}
