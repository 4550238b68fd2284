"""Figures of decompositions: deviation per source, and components of variance that add up."""

import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from outperform.errors import InvalidInput
from outperform.questions.decompose.result import (
    CrossedDecomposition,
    Decomposition,
    Decompositions,
    join_sources,
)
from outperform.questions.decompose.search_curves import SearchCurves
from outperform.questions.decompose.search_curves_figure import (
    compose_search_curves,
    draw_search_curves,
    draw_test_curves,
)
from outperform.render.figures import Drawing
from outperform.render.style import (
    COLOUR_A,
    COLOUR_NEITHER,
    COLOUR_NOTE,
    COLUMN_WIDTH,
    join_phrases,
    lay_out_rows,
    limit_ticks,
    make_figure,
    make_figure_below,
    shorten_label,
    write_note,
)
from outperform.stats import Estimate
from outperform.study.sources import ALL, NOISE, SPLIT

# Okabe and Ito's, without black and without the yellow that paper swallows.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
_HATCHES = ("", "////", "....", "xxxx")  # tell apart what shares a colour
_FARTHEST = 2.0  # longest bars, beyond which wide intervals are cut
_COLOUR_INTERACTION = "#56B4E9"
_SINGLY = "the single results: `for each in result: plot(each)`"
_Drawn = TypeVar("_Drawn")


def draw_decomposition(group: Sequence[Decomposition], ax: Axes) -> None:
    """Draw a bar per source, with its interval, largest first; all sources together on top.

    One decomposition is drawn in the unit of the scores, with shares of the reference above.
    Several may differ in scale and metric: they are drawn as shares, grouped by source, and the
    legend tells what 1 stands for. A diamond marks the binomial model of the test set.
    """
    places = _lay_out_bars(group)
    for index in range(len(group)):
        _draw_bars(group, index, places, ax)
    middles: dict[str, list[float]] = {}
    for (_, source), y in places.items():
        middles.setdefault(source, []).append(y)
    lay_out_rows(ax, [float(np.mean(ys)) for ys in middles.values()], [*map(_name, middles)])
    ax.spines["left"].set_visible(True)
    ax.set_ylim(max(places.values()) + 0.8, -0.8)
    ax.set_xlim(0, _find_limit(group))
    limit_ticks(ax)
    ax.set_xlabel(_label_axis(group))
    if len(group) > 1:
        ax.axvline(1, color=COLOUR_NOTE, linewidth=0.8, linestyle=":", gid="reference")
        ax.legend(loc="lower left", bbox_to_anchor=(-0.3, 1.0), fontsize="small", frameon=False)
    elif _scale(group[0]) > 0:
        draw_shares(_scale(group[0]), f"as share of {_name(group[0].reference)}'s", ax)


def compose_decomposition(group: Sequence[Decomposition]) -> Figure:
    """Draw the sources of variation below the largest one's name, one column wide."""
    largest = group[0].ranked[0]
    seen = "" if group[0].is_surely_largest else " seen"
    title = f"Largest source of variation{seen}{name_runs(group[0])}: {_name(largest.source)}"
    if len(group) > 1:
        title = "Sources of variation"
    elif largest.sd.value == 0:
        title = f"No source changes the {shorten_label(group[0].metric, 20)}"
    figure = make_figure_below(title, width=COLUMN_WIDTH, height=decomposition_height(group))
    draw_decomposition(group, figure.subplots())
    return figure


def decomposition_height(group: Sequence[Decomposition]) -> float:
    """Height in inches that every bar and every line of the legend needs."""
    above, bar = (0.15 * len(group), 0.09) if len(group) > 1 else (0.35, 0.14)
    return 0.75 + above + bar * (1.6 + max(_lay_out_bars(group).values()))


def _lay_out_bars(group: Sequence[Decomposition]) -> dict[tuple[int, str], float]:
    """Place bars of height 1, without gaps for sources that a decomposition lacks.

    All together come first, then single sources by their mean share, then noise.
    """
    shares: dict[str, dict[int, float]] = {}
    for index, decomposition in enumerate(group):
        for v in decomposition.sources:
            shares.setdefault(v.source, {})[index] = v.share.value
    places: dict[tuple[int, str], float] = {}
    y, (least, gap) = 0.0, (1.4, 0.9) if len(group) > 1 else (1.0, 0.4)
    mean = {source: np.mean([*own.values()]) for source, own in shares.items()}
    for source in sorted(shares, key=lambda s: (s != ALL, s == NOISE, -mean[s])):
        places |= {(index, source): y + i for i, index in enumerate(shares[source])}
        y += max(len(shares[source]), least) + gap
    return places


def _draw_bars(
    group: Sequence[Decomposition], index: int, places: dict[tuple[int, str], float], ax: Axes
) -> None:
    """Draw bars of one decomposition, their intervals and models; 0 where there is no bar."""
    alone, models, limit = len(group) == 1, _find_models(group[index]), _find_limit(group)
    cycle, number = divmod(index, len(_COLOURS))
    label = _label_legend(group, index)
    for variation in group[index].sources:
        y, gid = places[index, variation.source], f"{index}-{variation.source}"
        estimate = variation.sd if alone else variation.share
        special = alone and variation.source in (ALL, NOISE)
        look: dict[str, Any] = {
            "color": COLOUR_NEITHER if special else COLOUR_A if alone else _COLOURS[number],
            "hatch": _HATCHES[cycle % len(_HATCHES)],
            "edgecolor": "white",
        }
        (bar,) = ax.barh(y, estimate.value, 0.9, alpha=0.8, linewidth=0, label=label, **look)
        label = "_nolegend_"
        bar.set_gid(f"bar-{gid}")
        if estimate.value == 0:
            note = {"fontsize": "x-small", "va": "center_baseline", "gid": f"zero-{gid}"}
            write_note(ax, "0", (0, y), (2, 0), **note)
        low, high = estimate.interval.low, estimate.interval.high
        ax.plot([low, high], [y, y], color="black", linewidth=0.8, gid=f"interval-{gid}")
        if high > limit:  # an arrow, where the axis ends before the interval does
            ax.plot([limit], [y], ">", color="black", ms=3, clip_on=False, gid=f"beyond-{gid}")
        if variation.source in models:
            x = models[variation.source] / _unit(group, index)
            ax.plot([x], [y], "D", mfc="white", mec="black", mew=0.7, ms=3.5, gid=f"binomial-{gid}")


def _find_models(decomposition: Decomposition) -> dict[str, float]:
    """Standard deviations by the binomial model, of sources that redraw the test set."""
    models = {v.source: v.binomial_sd for v in decomposition.sources if v.binomial_sd is not None}
    redrawn = {source: sd for source, sd in models.items() if source in (SPLIT, ALL)}
    return redrawn or models


def _scale(decomposition: Decomposition) -> float:
    """Standard deviation that is 1 in shares."""
    return next(v.sd.value for v in decomposition.sources if v.source == decomposition.reference)


def _unit(group: Sequence[Decomposition], index: int) -> float:
    """What 1 on the axis stands for."""
    return 1.0 if len(group) == 1 else _scale(group[index]) or 1.0


def _list_estimates(group: Sequence[Decomposition]) -> list[Estimate]:
    return [v.sd if len(group) == 1 else v.share for d in group for v in d.sources]


def _find_limit(group: Sequence[Decomposition]) -> float:
    """End of the axis: beyond every bar and diamond, and beyond intervals that are not absurd."""
    drawn = _list_estimates(group)
    longest = max(estimate.value for estimate in drawn)
    reach = min(max(estimate.interval.high for estimate in drawn), _FARTHEST * longest)
    models = [
        sd / _unit(group, index) for index, d in enumerate(group) for sd in _find_models(d).values()
    ]
    return 1.05 * max(longest, reach, *models) or 1.0


def _name(source: str) -> str:
    return shorten_label(source, 18)


def _label_axis(group: Sequence[Decomposition]) -> str:
    level = group[0].sources[0].sd.interval.level
    what = f"standard deviation of {shorten_label(group[0].metric, 20)}"
    if len(group) > 1:
        references = {_name(decomposition.reference) for decomposition in group}
        whose = f"{references.pop()}'s" if len(references) == 1 else "each reference's"
        what = f"standard deviation as share of {whose}"
    models = ["◇ binomial model"] if any(map(_find_models, group)) else []
    limit = _find_limit(group)
    cut = any(estimate.interval.high > limit for estimate in _list_estimates(group))
    beyond = ["▶ goes on"] if cut else []
    return join_phrases(what, f"{level} interval", *beyond, *models)


def _label_legend(group: Sequence[Decomposition], index: int) -> str:
    """Name what sets one decomposition apart, and say what 1 stands for."""
    decomposition = group[index]
    names = [
        getattr(decomposition, part)
        for part in ("algorithm", "task")
        if len({getattr(other, part) for other in group}) > 1
    ]
    name = shorten_label(", ".join(names) or f"{index + 1}", 26)
    return f"{name} ({_name(decomposition.reference)}'s sd {_scale(decomposition):.2g})"


def compose_sources(result: Decompositions) -> Figure:
    """Draw the sources that were redrawn alone, or else together, or else how far searches got."""
    if result.sources:
        return compose_decomposition(result.sources)
    if result.crossed:
        return compose_components(result.crossed)
    assert result.searches is not None  # there is one of them
    return compose_search_curves(result.searches)


def _require_sources(result: Decompositions) -> tuple[Decomposition, ...]:
    if not result.sources:
        raise InvalidInput("no source was redrawn alone", f"Draw {_SINGLY}")
    return result.sources


def _require_crossed(result: Decompositions) -> CrossedDecomposition:
    if len(result.crossed) != 1:
        raise InvalidInput(
            f"the view 'components' is of one crossed design, and there are {len(result.crossed)}",
            f"Draw all of them, without a view, or {_SINGLY}",
        )
    return result.crossed[0]


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
    lay_out_rows(ax, list(range(len(rows))), [shorten_label(label, 26) for label, _, _ in rows])
    ax.axvline(0, color="black", linewidth=0.6)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(*_find_limits([estimate for _, estimate, _ in rows]))
    limit_ticks(ax, 4)
    ax.xaxis.set_major_formatter("{x:g}")  # variances are small: no power of ten in the corner
    level = decomposition.parts.total.interval.level
    metric = shorten_label(decomposition.metric, 20)
    ax.set_xlabel(join_phrases(f"variance of {metric}", f"{level} interval"))
    if decomposition.parts.total.value > 0:
        draw_shares(decomposition.parts.total.value, "as share of all", ax, percent=True)


def compose_components(group: Sequence[CrossedDecomposition]) -> Figure:
    """Draw components of variance one column wide; several designs below one another."""
    heights = [components_height(each) for each in group]
    figure = make_figure(COLUMN_WIDTH, sum(heights) + 0.3 * len(group))
    axes = figure.subplots(len(group), 1, squeeze=False, height_ratios=heights)[:, 0]
    for each, ax in zip(group, axes, strict=True):
        draw_components(each, ax)
        largest = shorten_label(join_sources(each.largest.names), 30)
        largest = largest.replace(" ", "\N{NO-BREAK SPACE}")
        title = f"Largest part of variance{name_runs(each)}: {largest}"
        if each.largest.share == 0:
            title = f"No source changes the {shorten_label(each.metric, 20)}"
        wrapped = "\n".join(textwrap.wrap(title, int(15 * COLUMN_WIDTH)))
        ax.set_title(wrapped, fontsize="medium", x=0.3)
    return figure


def components_height(decomposition: CrossedDecomposition) -> float:
    """Height in inches that every bar needs."""
    return 1.0 + 0.16 * len(_list_rows(decomposition))


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
    shown = [shorten_label(name, 22) for name in names if name]
    return f" of {' on '.join(shown)}" if shown else ""


def _alone(draw: Callable[..., _Drawn]) -> Callable[..., _Drawn]:
    """What draws several results draws a single one."""
    return lambda result, *ax: draw([result], *ax)


FIGURES = {
    Decompositions: Drawing(
        {
            "sources": lambda result, ax: draw_decomposition(_require_sources(result), ax),
            "components": lambda result, ax: draw_components(_require_crossed(result), ax),
        },
        compose_sources,
        heights={
            "sources": lambda result: decomposition_height(_require_sources(result)),
            "components": lambda result: components_height(_require_crossed(result)),
        },
    ),
    Decomposition: Drawing(
        {"sources": _alone(draw_decomposition)},
        _alone(compose_decomposition),
        heights={"sources": _alone(decomposition_height)},
    ),
    CrossedDecomposition: Drawing(
        {"components": draw_components},
        _alone(compose_components),
        heights={"components": components_height},
    ),
    SearchCurves: Drawing(
        {"validation": draw_search_curves, "test": draw_test_curves}, compose_search_curves
    ),
}
