"""Figures of what designs are worth: errors of their means, what these are made of, deviations."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from outperform.questions.quality.answer import COMBINED
from outperform.questions.quality.result import MeasuredDesign, PairQuality, Quality
from outperform.render.figures import Drawing
from outperform.render.style import (
    COLOUR_NEITHER,
    COLOUR_NOTE,
    COLOURS,
    PAGE_WIDTH,
    escape,
    lay_out_rows,
    limit_ticks,
    make_figure_below,
    shorten_label,
)
from outperform.stats.checks import FloatArray
from outperform.wording import count, shorten

_IDEAL = "ideal"
_LINES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)))  # of designs that share a colour
_HATCH = "/////"  # of bias
_ROW = 0.2  # inches, of a design in a panel
_LEGEND_ROW = 0.16  # inches
_LABEL = 0.25  # inches, of what stands below an axis
_MOST_ROWS = 8  # pairs that have panels of their own
_LONGEST = 20  # letters of a name beside a panel


@dataclass(frozen=True, slots=True)
class _Group:
    """Pairs that share a panel: one in its own unit, several in ideal standard deviations."""

    pairs: Sequence[PairQuality]
    names: Sequence[str]  # of all designs of the figure, by which they have their colours

    @property
    def is_single(self) -> bool:
        return len(self.pairs) == 1

    @property
    def metric(self) -> str:
        return shorten_label(self.pairs[0].metric, 16)

    def unit(self, pair: PairQuality) -> float:
        """What 1 on the axis stands for."""
        return 1.0 if self.is_single else pair.ideal.sd.value

    @property
    def repeated(self) -> dict[str, list[tuple[PairQuality, MeasuredDesign]]]:
        """Designs that were repeated for some pair, with these pairs."""
        measured = {
            name: [(p, d) for p in self.pairs if (d := p.find(name))] for name in self.names
        }
        return {name: own for name, own in measured.items() if own}

    def colour(self, name: str) -> str:
        if name in (_IDEAL, COMBINED):
            return "black" if name == _IDEAL else COLOUR_NEITHER
        return COLOURS[self.names.index(name) % len(COLOURS)]

    def line(self, name: str) -> Any:
        return _LINES[self.names.index(name) // len(COLOURS) % len(_LINES)]


_View = Callable[[_Group, Axes], None]


def _gather(result: Quality, pairs: Sequence[PairQuality] | None = None) -> _Group:
    names = [each.name for pair in result.pairs for each in pair.deviations]
    listed = [name for name in dict.fromkeys(names) if name != COMBINED]
    return _Group(pairs or result.pairs, listed)


def draw_standard_errors(result: Quality, ax: Axes) -> None:
    """Draw the standard error of a mean of k fits against k, with s/√(2(R - 1)) as a band.

    Of several pairs the errors are in ideal standard deviations, and the median is drawn.
    """
    _draw_errors(_gather(result), ax)
    ax.legend(loc="upper center", bbox_to_anchor=(0.45, -0.22), ncols=2)


def draw_parts(result: Quality, ax: Axes) -> None:
    """Draw what the mean squared error of a whole repetition is made of: bias² and variance."""
    _draw_parts(_gather(result), ax)
    ax.legend(loc="upper center", bbox_to_anchor=(0.3, -0.25), ncols=2)


def draw_means(result: Quality, ax: Axes) -> None:
    """Draw the mean of every repetition as a tick, below ideal replicates and their mean."""
    _draw_means(_gather(result), ax)


def draw_deviations(result: Quality, ax: Axes) -> None:
    """Draw the standard deviation by every repetition as a tick, beside the ideal one."""
    _draw_deviations(_gather(result), ax)


def compose_quality(result: Quality) -> Figure:
    """Draw all views of one pair, a row of them for each of a few, or of many pairs together."""
    views = [_draw_errors, _draw_parts, _draw_means, _draw_deviations]
    if not result.names:
        views = [_draw_deviations]
    in_rows = 1 < len(result.pairs) <= _MOST_ROWS
    rows = len(result.pairs) if in_rows else math.ceil(len(views) / 2)
    whole = _gather(result)
    legend = _LEGEND_ROW * math.ceil((len(whole.names) + 4) / 4)
    panel = _panel_height(whole) - (_LABEL if in_rows else 0)
    height = rows * panel + legend + 0.1 + (_LABEL if in_rows else 0)
    figure = make_figure_below(escape(str(result).rstrip(".")), width=PAGE_WIDTH, height=height)
    axes = figure.subplots(rows, len(views) if in_rows else min(2, len(views)), squeeze=False)
    if in_rows:
        for number, (pair, row) in enumerate(zip(result.pairs, axes, strict=True)):
            for ax, draw in zip(row, views, strict=True):
                draw(_gather(result, [pair]), ax)
            _label_row(pair, row, views, first=number == 0, last=number == rows - 1)
    else:
        for ax, draw in zip(axes.flat, views, strict=True):
            draw(whole, ax)
    _write_legend(figure)
    return figure


def _panel_height(group: _Group) -> float:
    return max(1.6, 0.75 + _ROW * (len(group.names) + 2))


def _label_row(
    pair: PairQuality, axes: Sequence[Axes], views: Sequence[_View], *, first: bool, last: bool
) -> None:
    """Make panels of one pair rows of a table: names once, at its left and above."""
    name = f"{shorten(pair.pipeline, 18)}\non {shorten(pair.task, 18)}\n{shorten(pair.metric, 18)}"
    axes[0].set_ylabel(escape(name), fontsize="small")
    for ax, draw in zip(axes, views, strict=True):
        if draw is _draw_parts:
            ax.set_yticklabels([text.get_text().split("\n")[-1] for text in ax.get_yticklabels()])
        if draw is _draw_means:
            ax.set_yticklabels([])
        if first:
            ax.set_title(_TITLES[draw], fontsize="small")
        ax.set_xlabel("fits k of one search" if last and draw is _draw_errors else "")
        ax.xaxis.label.set_fontsize("small")
        limit_ticks(ax, 3, whole=draw is _draw_errors)
        ax.tick_params(labelsize="x-small")


def _write_legend(figure: Figure) -> None:
    entries: dict[str, Any] = {}
    for ax in figure.axes:
        handles, labels = ax.get_legend_handles_labels()
        entries = dict(zip(labels, handles, strict=True)) | entries
    if entries:
        figure.legend([*entries.values()], [*entries], loc="outside lower center", ncols=4)


def _draw_errors(group: _Group, ax: Axes) -> None:
    designs = [design for own in group.repeated.values() for _, design in own]
    largest = max((design.quality.n_scores for design in designs), default=10)
    sizes = np.arange(1, largest + 1)
    scale = group.pairs[0].ideal.sd.value if group.is_single else 1.0
    look: dict[str, Any] = {"color": "black", "linewidth": 1.2}
    ax.plot(sizes, scale / np.sqrt(sizes), label="ideal, σ/√k", gid="errors-ideal", **look)
    for name, own in group.repeated.items():
        shown = min(design.quality.n_scores for _, design in own)
        curves = [
            design.quality.standard_error.values[:shown] / group.unit(pair) for pair, design in own
        ]
        middle = np.median(curves, axis=0)
        look = {"color": group.colour(name), "linestyle": group.line(name)}
        ax.plot(sizes[:shown], middle, label=escape(_name(name)), gid=f"errors-{name}", **look)
        low, high = np.min(curves, axis=0), np.max(curves, axis=0)  # the range of several pairs
        if group.is_single:  # the error of a standard deviation
            error = curves[0] / math.sqrt(2 * (own[0][1].quality.n_repetitions - 1))
            low, high = curves[0] - error, curves[0] + error
        band: dict[str, Any] = {"color": group.colour(name), "alpha": 0.15, "linewidth": 0}
        ax.fill_between(sizes[:shown], low, high, gid=f"band-{name}", **band)
    ax.set_xlim(1, largest if largest > 1 else 2)
    ax.set_ylim(bottom=0)
    limit_ticks(ax, whole=True)
    ax.set_xlabel("fits k of one search")
    unit = group.metric if group.is_single else "in σ of the ideal design"
    ax.set_ylabel(f"standard error\n{unit}")


def _draw_parts(group: _Group, ax: Axes) -> None:
    """Bars of variance and bias², which add up to the error; its interval; ρ below the name."""
    labels = []
    for y, (name, own) in enumerate(group.repeated.items()):
        bias, variance = (
            float(np.median([part(design) / group.unit(pair) ** 2 for pair, design in own]))
            for part in map(attrgetter, ("quality.squared_bias", "quality.mean_variance.value"))
        )
        rho = float(np.median([design.quality.correlation.value for _, design in own]))
        labels.append(f"{escape(_name(name))}\nρ = {round(rho, 2) + 0:.2f}")
        colour = group.colour(name)
        look: dict[str, Any] = {"height": 0.6, "linewidth": 0.6, "edgecolor": colour}
        ax.barh(y, variance, color=colour, alpha=0.8, gid=f"variance-{name}", **look)
        shape: dict[str, Any] = {"left": variance, "color": "white", "hatch": _HATCH}
        ax.barh(y, bias, gid=f"bias-{name}", **shape, **look)
        x: list[float] = [design.mse.value / group.unit(pair) ** 2 for pair, design in own]
        mark: dict[str, Any] = {"marker": ".", "linestyle": "none", "markersize": 3}
        if group.is_single:
            x = [own[0][1].mse.interval.low, own[0][1].mse.interval.high]
            mark = {"linewidth": 0.8}
        ax.plot(x, [y] * len(x), color="black", gid=f"mse-{name}", **mark)
    _mark_target(group, ax)
    lay_out_rows(ax, [float(y) for y in range(len(labels))], labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.set_xlim(left=0)
    limit_ticks(ax, 4)
    ax.set_xlabel("mean squared error" + ("" if group.is_single else ", in σ²"))


def _mark_target(group: _Group, ax: Axes) -> None:
    """Draw the error to be reached, and what the bars' fillings mean, whatever their colours."""
    designs = [design for own in group.repeated.values() for _, design in own]
    n_ideal = designs[0].quality.reach.n_ideal if designs else 1
    whole = group.pairs[0].ideal.sd.value ** 2 if group.is_single else 1.0
    line: dict[str, Any] = {"color": "black", "linewidth": 0.8, "linestyle": ":"}
    ax.axvline(whole / n_ideal, label=count(n_ideal, "ideal replicate"), gid="target", **line)
    plain: dict[str, Any] = {"linewidth": 0.6, "edgecolor": COLOUR_NOTE}
    ax.bar(0, 0, 0, color="white", hatch=_HATCH, label="bias²", **plain)
    ax.bar(0, 0, 0, color=COLOUR_NEITHER, alpha=0.8, label="variance", **plain)


def _draw_means(group: _Group, ax: Axes) -> None:
    def scale(pair: PairQuality, x: FloatArray) -> FloatArray:
        return x if group.is_single else (x - pair.ideal.mean) / group.unit(pair)

    rows = {_IDEAL: np.concatenate([scale(pair, pair.ideal.scores) for pair in group.pairs])}
    for name, own in group.repeated.items():
        rows[name] = np.concatenate([scale(pair, design.means) for pair, design in own])
    _draw_ticks(group, rows, ax, "means")
    middle = group.pairs[0].ideal.mean if group.is_single else 0.0
    ax.axvline(middle, color="black", linewidth=0.8, linestyle=":", zorder=0, gid="ideal-mean")
    alone = f"mean of a repetition: {group.metric}"
    ax.set_xlabel(alone if group.is_single else "mean minus the ideal mean, in σ")


def _draw_deviations(group: _Group, ax: Axes) -> None:
    rows: dict[str, FloatArray] = {}
    for name in (*group.names, COMBINED):
        values = [
            each.estimates.values / group.unit(pair)
            for pair in group.pairs
            for each in pair.deviations
            if each.name == name
        ]
        if values:
            rows[name] = np.concatenate(values)
    _draw_ticks(group, rows, ax, "deviations")
    sd = group.pairs[0].ideal.sd
    if group.is_single:
        band: dict[str, Any] = {"color": COLOUR_NEITHER, "alpha": 0.15, "linewidth": 0, "zorder": 0}
        ax.axvspan(sd.interval.low, sd.interval.high, gid="ideal-interval", **band)
    middle = sd.value if group.is_single else 1.0
    ax.axvline(middle, color="black", linewidth=0.8, linestyle=":", zorder=0, gid="ideal-sd")
    what = f"of {group.metric}" if group.is_single else "as share of the ideal one"
    ax.set_xlabel(f"standard deviation {what}")


def _draw_ticks(group: _Group, rows: dict[str, FloatArray], ax: Axes, what: str) -> None:
    """Draw a row of ticks per design, and a dot at their mean."""
    for y, (name, values) in enumerate(rows.items()):
        colour = group.colour(name)
        look: dict[str, Any] = {"color": colour, "markersize": 7, "markeredgewidth": 0.7}
        ax.plot(values, np.full(values.size, y), "|", alpha=0.7, gid=f"{what}-{name}", **look)
        dot: dict[str, Any] = {"mfc": "white", "mec": colour, "ms": 3.5, "mew": 1.0}
        ax.plot([values.mean()], [y], "o", gid=f"{what}-mean-{name}", **dot)
    labels = [escape(_name(name)) for name in rows]
    lay_out_rows(ax, [float(y) for y in range(len(rows))], labels)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    limit_ticks(ax, 4)


def _name(name: str) -> str:
    return "average of both" if name == COMBINED else shorten(name, _LONGEST)


_TITLES: dict[_View, str] = {
    _draw_errors: "standard error",
    _draw_parts: "mean squared error",
    _draw_means: "mean of a repetition",
    _draw_deviations: "standard deviation",
}


def _height(result: Quality) -> float:
    group = _gather(result)
    return _panel_height(group) + 0.3 + _LEGEND_ROW * math.ceil((len(group.names) + 1) / 2)


_VIEWS = {
    "standard-errors": draw_standard_errors,
    "parts": draw_parts,
    "means": draw_means,
    "deviations": draw_deviations,
}
FIGURES = {Quality: Drawing(_VIEWS, compose_quality, heights=dict.fromkeys(_VIEWS, _height))}
