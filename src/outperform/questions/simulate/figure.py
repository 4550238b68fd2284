"""Figures of error rates, against the truth and the effort, and by number of seeds."""

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from outperform.questions.simulate.result import DetectionCurve, ErrorRates, SeedsCurve, SeedsTest
from outperform.render.figures import Drawing
from outperform.render.style import (
    COLOUR_BAND,
    COLOUR_NEITHER,
    COLOUR_NOTE,
    COLUMN_WIDTH,
    PAGE_WIDTH,
    make_figure,
    shorten_label,
)
from outperform.stats.decision_rules import Rule

# Label, colour and line of each rule; those of one family share a colour.
_DASHED, _DOTTED = (0, (4, 1.5)), (0, (1, 1))
_LOOKS: dict[Rule, tuple[str, str, Any]] = {
    "oracle": ("oracle", "#000000", "-"),
    "verdict": ("P(A > B) verdict", "#0072B2", "-"),
    "anytime": ("anytime-valid verdict", "#0072B2", _DASHED),
    "average": ("average > δ", "#E69F00", "-"),
    "single-point": ("single point > δ", "#E69F00", _DASHED),
    "paired-t": ("paired t", "#009E73", "-"),
    "welch-t": ("Welch t", "#009E73", _DASHED),
    "brunner-munzel": ("Brunner–Munzel", "#D55E00", "-"),
    "brunner-munzel-permutation": ("Brunner–Munzel, permutation", "#D55E00", _DASHED),
    "wilcoxon": ("Wilcoxon", "#CC79A7", "-"),
    "nadeau-bengio": ("Nadeau–Bengio", "#009E73", _DOTTED),
}
_SEEDS_LOOKS: dict[SeedsTest, tuple[str, str, Any]] = {
    "welch-t": ("Welch t", "#009E73", "-"),
    "brunner-munzel": ("Brunner–Munzel", "#D55E00", "-"),
    "brunner-munzel-permutation": ("Brunner–Munzel, permutation", "#0072B2", _DASHED),
}
_LEGEND_HEIGHT = 0.16  # inches, of a row
_COLUMNS = 3
_TRUTH = "true P(A > B)"
_TRUTHS = (0.5, 0.6, 0.7, 0.8)  # true P(A>B) of the panels against effort
_Setting = tuple[str, int, float]  # scenario, number of pairs, γ


def draw_detection(result: ErrorRates, ax: Axes) -> None:
    """Draw how often each rule declares A better against the true P(A>B), for the first setting.

    Left of 0.5 this is wrong; in the grey band A is better, but not enough to matter.
    """
    _draw_setting(result.select(*result.settings[0]), ax)
    ax.legend(loc="upper center", bbox_to_anchor=(0.45, -0.2), ncols=2)


def draw_effort(result: ErrorRates, ax: Axes) -> None:
    """Draw how often each rule declares A better at P(A>B) = γ against the number of pairs."""
    fixed = _choose_fixed(result, result.settings[0][0])
    _draw_effort(result, "n_pairs", ax, setting=fixed, truth=fixed[2])
    ax.legend(loc="upper center", bbox_to_anchor=(0.45, -0.2), ncols=2)


def compose_error_rates(result: ErrorRates) -> Figure:
    """Draw a panel per scenario; or, of several efforts, panels per true P(A>B)."""
    _, sizes, gammas = map(set, zip(*result.settings, strict=True))
    efforts = ["n_pairs"] * (len(sizes) > 1) + ["gamma"] * (len(gammas) > 1)
    return _compose_efforts(result, efforts) if efforts else _compose_scenarios(result)


def _compose_scenarios(result: ErrorRates) -> Figure:
    settings = result.settings
    columns = min(_COLUMNS, len(settings))
    rows = math.ceil(len(settings) / columns)
    width = COLUMN_WIDTH if columns == 1 else PAGE_WIDTH
    legend_columns = 2 if columns == 1 else 4
    legend = _LEGEND_HEIGHT * math.ceil(len(result.rules) / legend_columns)
    _, n, gamma = settings[0]
    title = f"How often A is declared better: {n} pairs, γ = {gamma:g}, α = {result.alpha:g}"
    figure = make_figure(width, 2.0 * rows + legend + 0.3, title)
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for ax, setting in zip(axes.flat, settings, strict=False):
        _draw_setting(result.select(*setting), ax)
        ax.set_title(shorten_label(setting[0], 34))
        ax.label_outer()
    _finish_panels(figure, list(axes.flat), len(settings), legend_columns)
    return figure


def _compose_efforts(result: ErrorRates, efforts: Sequence[str]) -> Figure:
    # The first scenario, and the other or the mean of all others.
    first, *others = dict.fromkeys(scenario for scenario, *_ in result.settings)
    scenarios = [first, *(result.means[0].scenario if result.means else n for n in others[:1])]
    rows = list(product(efforts, scenarios))
    title = f"How often A is declared better, α = {result.alpha:g}"
    figure = make_figure(PAGE_WIDTH, 1.9 * len(rows) + 0.8, title)
    axes = figure.subplots(len(rows), len(_TRUTHS), sharey=True, squeeze=False)
    for (effort, scenario), row in zip(rows, axes, strict=True):
        for truth, ax in zip(_TRUTHS, row, strict=True):
            fixed = _choose_fixed(result, scenario)
            _draw_effort(result, effort, ax, setting=fixed, truth=truth)
            ax.set_title(f"{_TRUTH} = {result.curves[0].at(truth)[0]:.2g}")
            named = f"\n{shorten_label(scenario, 28)}" if len(scenarios) > 1 else ""
            ax.set_ylabel(f"A declared better{named}" if ax is row[0] else "")
    _finish_panels(figure, list(axes.flat), axes.size, 4)
    return figure


def _finish_panels(figure: Figure, axes: list[Axes], n_used: int, columns: int) -> None:
    """One legend for all panels, and no empty ones."""
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)
    for ax in axes[n_used:]:
        ax.set_visible(False)
        above = axes[axes.index(ax) - _COLUMNS]
        above.tick_params(labelbottom=True)
        above.set_xlabel(_TRUTH)


def _draw_setting(curves: Sequence[DetectionCurve], ax: Axes) -> None:
    gamma = curves[0].gamma
    ax.axvspan(0.5, gamma, color=COLOUR_BAND, linewidth=0, gid="not-meaningful")
    for rule, (curve,) in _by_rule(curves).items():
        _draw_line(rule, curve.probabilities, curve.rates, ax)
    ax.set_xlim(curves[0].probabilities[0], 1)
    ax.set_ylim(-0.02, 1.19)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
    ax.set_xlabel(_TRUTH)
    ax.set_ylabel("A declared better")
    ends = (ax.get_xlim()[0], 0.5, gamma, 1.0)
    names = ("not\nbetter", "better, not\nmeaningfully", "meaningfully\nbetter")
    for low, high, name in zip(ends, ends[1:], names, strict=False):
        if high - low >= 0.08:
            look: dict[str, Any] = {"fontsize": 5.5, "color": COLOUR_NOTE, "linespacing": 0.95}
            ax.text((low + high) / 2, 1.18, name, ha="center", va="top", gid="region", **look)


def _choose_fixed(result: ErrorRates, scenario: str) -> _Setting:
    """What is held while something else varies: usual values."""
    sizes = sorted({n for _, n, _ in result.settings})
    gammas = {gamma for *_, gamma in result.settings}
    return scenario, sizes[len(sizes) // 2], min(gammas, key=lambda gamma: abs(gamma - 0.75))


def _draw_effort(
    result: ErrorRates, effort: str, ax: Axes, *, setting: _Setting, truth: float
) -> None:
    """Draw how often each rule declares A better at one truth, against pairs or γ."""
    scenario, n, gamma = setting
    held, label = ("gamma", gamma), f"pairs (γ = {gamma:g})"
    if effort == "gamma":
        held, label = ("n_pairs", n), f"γ ({n} pairs)"
    drawn = [c for c in (*result.curves, *result.means) if c.scenario == scenario]
    chosen = [c for c in drawn if getattr(c, held[0]) == held[1]]
    for rule, curves in _by_rule(chosen).items():
        efforts = [getattr(curve, effort) for curve in curves]
        _draw_line(rule, efforts, [curve.at(truth)[1] for curve in curves], ax)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel(label)
    ax.set_ylabel("A declared better")


def _by_rule(curves: Sequence[DetectionCurve]) -> dict[Rule, list[DetectionCurve]]:
    """Curves of each rule, families together, as the legend lists them."""
    by_rule = {rule: [c for c in curves if c.rule == rule] for rule in _LOOKS}
    return {rule: chosen for rule, chosen in by_rule.items() if chosen}


def _draw_line(rule: Rule, x: Sequence[float], y: Sequence[float], ax: Axes) -> None:
    label, colour, line = _LOOKS[rule]
    look: dict[str, Any] = {"linestyle": line, "linewidth": 1.1, "color": colour, "label": label}
    if len(x) == 1:  # of which a line shows nothing
        look["marker"] = "o"
    ax.plot(x, y, gid=rule, **look)


def draw_seeds(result: SeedsCurve, ax: Axes, *, alpha: float | None = None) -> None:
    """Draw the share found different against the sample size, for one level or the first."""
    _draw_level(result, result.alphas[0] if alpha is None else alpha, ax)
    ax.plot([], [], "o", color="black", mfc="white", label="from here on the level is kept")
    ax.legend(loc="upper center", bbox_to_anchor=(0.45, -0.25), ncols=1)


def _draw_level(result: SeedsCurve, level: float, ax: Axes) -> None:
    """A ring marks the size from which on the level is kept; shares of 0 lie below the axis."""
    lines = [line for line in result.lines if line.alpha == level]
    lowest = min([level / 10, *(x for line in lines for x in line.shares if x > 0)])
    for line in lines:
        label, colour, style = _SEEDS_LOOKS[line.test]
        shares = [max(share, lowest / 10) for share in line.shares]
        ax.plot(line.sizes, shares, linestyle=style, color=colour, label=label, gid=line.test)
        if line.holds_from is not None:
            at = line.sizes.index(line.holds_from)
            ring: dict[str, Any] = {"mfc": "white", "mec": colour, "ms": 5, "mew": 1.1}
            ax.plot([line.holds_from], [max(shares[at], lowest)], "o", gid="holds-from", **ring)
    ax.axhline(level, color=COLOUR_NEITHER, linestyle=(0, (3, 2)), linewidth=0.8, gid="level")
    ax.set_yscale("log")
    ax.set_ylim(lowest * 0.8, 4 * max(level, *(max(line.shares) for line in lines)))
    ax.set_title(f"level α = {level:g}")
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.set_xlabel("runs of each sample")
    ax.set_ylabel("share found different")


def compose_seeds(result: SeedsCurve) -> Figure:
    """Draw a panel per level, across the page."""
    name = shorten_label(result.algorithm, 40)
    counts = f"{result.n_runs} runs, {result.n_draws:,} draws"
    title = f"{name} against itself: {counts}; ○ from here on the level is kept"
    figure = make_figure(PAGE_WIDTH, 2.6, title)
    axes = figure.subplots(1, len(result.alphas), squeeze=False)[0]
    for alpha, ax in zip(result.alphas, axes, strict=True):
        _draw_level(result, alpha, ax)
        if ax is not axes[0]:
            ax.set_ylabel("")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


FIGURES = {
    ErrorRates: Drawing(
        {"detection": draw_detection, "effort": draw_effort},
        compose_error_rates,
        heights={"detection": 3.2, "effort": 3.2},
    ),
    SeedsCurve: Drawing({"seeds": draw_seeds}, compose_seeds, heights={"seeds": 3.2}),
}
