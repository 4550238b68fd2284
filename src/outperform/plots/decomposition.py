"""The figure of a decomposition: standard deviation per source of variation."""

import textwrap
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from outperform.analysis.decomposition import ALL, NOISE, Decomposition, SourceVariation
from outperform.errors import InvalidInput
from outperform.plots.labels import describe_level, escape, join_phrases, shorten
from outperform.plots.style import (
    COLOUR_A,
    COLOUR_NEITHER,
    COLOUR_NOTE,
    COLUMN_WIDTH,
    lay_out_rows,
    limit_ticks,
    make_figure,
)
from outperform.stats import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's, without black and without the yellow that paper swallows.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
_HATCHES = ("", "////", "....", "xxxx")  # tell apart what shares a colour
_FARTHEST = 2.0  # longest bars, beyond which intervals of few runs are cut


def draw_decomposition(decompositions: Decomposition | Sequence[Decomposition], ax: "Axes") -> None:
    """Draw a bar per source, with its interval, largest first; all sources together on top.

    One decomposition is drawn in the unit of the scores, with shares of the reference above.
    Several may differ in scale and metric: they are drawn as shares, grouped by source, and the
    legend tells what 1 stands for. A diamond marks the binomial model of the test set.
    """
    group = _as_group(decompositions)
    sources = _order_sources(group)
    for place in range(len(group)):
        _draw_bars(group, place, sources, ax)
    labels = [escape(shorten(source, 18)) for source in sources]
    lay_out_rows(ax, [float(row) for row in range(len(sources))], labels)
    ax.set_ylim(len(sources) - 0.5, -0.5)
    ax.set_xlim(0, _find_limit(group))
    ax.spines["left"].set_visible(True)
    limit_ticks(ax)
    ax.set_xlabel(_label_axis(group))
    if len(group) > 1:
        ax.legend(loc="lower left", bbox_to_anchor=(-0.3, 1.0), ncols=1, fontsize="small")
    elif _scale(group[0]) > 0:
        _draw_shares(group[0], ax)


def compose_decomposition(decompositions: Decomposition | Sequence[Decomposition]) -> "Figure":
    """Draw the sources of variation below the largest one's name, one column wide."""
    group = _as_group(decompositions)
    title = "\n".join(textwrap.wrap(_entitle(group), int(15 * COLUMN_WIDTH)))
    height = decomposition_height(group) + 0.1 + 0.14 * (1 + title.count("\n"))
    figure = make_figure(COLUMN_WIDTH, height)
    draw_decomposition(group, figure.subplots())
    figure.suptitle(title, fontsize="medium")
    return figure


def decomposition_height(decompositions: Decomposition | Sequence[Decomposition]) -> float:
    """Height in inches that every bar and every line of the legend needs."""
    group = _as_group(decompositions)
    legend = 0.15 * len(group) if len(group) > 1 else 0.35
    return 0.75 + legend + len(_order_sources(group)) * max(0.19, 0.05 + 0.09 * len(group))


def _as_group(decompositions: Decomposition | Sequence[Decomposition]) -> list[Decomposition]:
    if isinstance(decompositions, Decomposition):
        return [decompositions]
    if not decompositions:
        raise InvalidInput("there is no decomposition to draw", "Pass at least one")
    return list(decompositions)


def _order_sources(group: Sequence[Decomposition]) -> list[str]:
    """All together, then single sources by their mean share, then noise."""
    shares: dict[str, list[float]] = {}
    for variation in (v for decomposition in group for v in decomposition.sources):
        shares.setdefault(variation.source, []).append(variation.share.value)
    return sorted(shares, key=lambda s: (s != ALL, s == NOISE, -np.mean(shares[s])))


def _draw_bars(group: list[Decomposition], place: int, sources: list[str], ax: "Axes") -> None:
    """Draw one decomposition's bars, at its place in the group of each source."""
    decomposition, alone = group[place], len(group) == 1
    height = 0.8 / len(group)
    cycle, colour = divmod(place, len(_COLOURS))
    label = _label_legend(group, place)
    for variation in decomposition.sources:
        y = sources.index(variation.source) - 0.4 + height * (place + 0.5)
        special = alone and variation.source in (ALL, NOISE)
        (bar,) = ax.barh(
            y,
            _measure(variation, alone=alone).value,
            0.9 * height,
            color=COLOUR_NEITHER if special else COLOUR_A if alone else _COLOURS[colour],
            hatch=_HATCHES[cycle % len(_HATCHES)],
            edgecolor="white",
            linewidth=0,
            label=label,
        )
        label = "_nolegend_"
        bar.set_gid(f"bar-{place}-{variation.source}")
        _mark_bar(variation, y, ax, gid=f"{place}-{variation.source}", unit=_unit(group, place))


def _mark_bar(variation: SourceVariation, y: float, ax: "Axes", *, gid: str, unit: float) -> None:
    """Draw the interval and the binomial model; write 0 where there is no bar."""
    estimate = _measure(variation, alone=unit == 1)
    if estimate.value == 0:
        ax.annotate(
            "0",
            (0, y),
            (2, 0),
            textcoords="offset points",
            fontsize="small",
            color=COLOUR_NOTE,
            verticalalignment="center",
            gid=f"zero-{gid}",
        )
    ends = [estimate.interval.low, estimate.interval.high]
    ax.plot(ends, [y, y], color="black", linewidth=0.8, gid=f"interval-{gid}")
    if variation.binomial_sd is not None:
        x = variation.binomial_sd / unit
        ax.plot([x], [y], "D", mfc="white", mec="black", mew=0.7, ms=3.5, gid=f"binomial-{gid}")


def _measure(variation: SourceVariation, *, alone: bool) -> Estimate:
    return variation.sd if alone else variation.share


def _scale(decomposition: Decomposition) -> float:
    """Standard deviation that is 1 in shares."""
    return next(v.sd.value for v in decomposition.sources if v.source == decomposition.reference)


def _unit(group: list[Decomposition], place: int) -> float:
    return 1.0 if len(group) == 1 else _scale(group[place]) or 1.0


def _find_limit(group: list[Decomposition]) -> float:
    """End of the axis: beyond every bar and diamond, and beyond intervals that are not absurd."""
    alone = len(group) == 1
    drawn = [(_measure(v, alone=alone), v) for d in group for v in d.sources]
    longest = max(estimate.value for estimate, _ in drawn)
    models = [
        v.binomial_sd / _unit(group, place)
        for place, d in enumerate(group)
        for v in d.sources
        if v.binomial_sd is not None
    ]
    reach = min(max(estimate.interval.high for estimate, _ in drawn), _FARTHEST * longest)
    return 1.05 * max(longest, reach, *models, 0.0) or 1.0


def _draw_shares(decomposition: Decomposition, ax: "Axes") -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    scale = _scale(decomposition)
    there, back = (partial(np.multiply, factor) for factor in (1 / scale, scale))
    shares = ax.secondary_xaxis("top", functions=(there, back))
    shares.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    shares.xaxis.set_major_formatter(PercentFormatter(1))
    shares.spines["top"].set_visible(True)
    shares.set_xlabel(f"share of {_possessive(decomposition)}")


def _possessive(decomposition: Decomposition) -> str:
    return f"{escape(shorten(decomposition.reference, 18))}'s"


def _label_axis(group: list[Decomposition]) -> str:
    level = describe_level(group[0].sources[0].sd.interval)
    metric = escape(shorten(group[0].metric, 20))
    references = {_possessive(decomposition) for decomposition in group}
    what = f"standard deviation of {metric}"
    if len(group) > 1:
        whose = references.pop() if len(references) == 1 else "each reference's"
        what = f"standard deviation as share of {whose}"
    phrases = [what, f"{level} interval"]
    if any(v.binomial_sd is not None for d in group for v in d.sources):
        phrases.append("◇ by the size of the test set (binomial)")
    return join_phrases(*phrases)


def _label_legend(group: list[Decomposition], place: int) -> str:
    """Name what sets one decomposition apart, and say what 1 stands for."""
    decomposition = group[place]
    names = [
        getattr(decomposition, part)
        for part in ("algorithm", "task")
        if len({getattr(other, part) for other in group}) > 1
    ]
    name = escape(shorten(", ".join(names) or f"{place + 1}", 26))
    return f"{name} ({_possessive(decomposition)} is {_scale(decomposition):.2g})"


def _entitle(group: list[Decomposition]) -> str:
    largest = group[0].ranked[0]
    if len(group) > 1:
        return "Sources of variation"
    if largest.sd.value == 0:
        return f"No source changes the {escape(shorten(group[0].metric, 20))}"
    names = [shorten(name, 22) for name in (group[0].algorithm, group[0].task) if name]
    on = f" of {escape(' on '.join(names))}" if names else ""
    metric = escape(shorten(group[0].metric, 20))
    return f"{escape(shorten(largest.source, 18))} varies the {metric}{on} most"
