"""Figures of the best of n: curves, densities, validation against test, and spreads."""

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from outperform.questions.best_of.answer import trace_spreads
from outperform.questions.best_of.result import (
    BestOf,
    BestOfComparison,
    BestOfEach,
    BestOfResult,
    list_results,
)
from outperform.questions.best_of.table import describe_correlation, format_estimate
from outperform.render.densities import draw_density, draw_dots, scatter_evenly
from outperform.render.drawing import Drawing
from outperform.render.labels import describe_level, describe_metric, escape
from outperform.render.style import (
    COLOUR_BAND,
    COLOUR_NEITHER,
    COLOUR_NOTE,
    COLOURS,
    COLUMN_WIDTH,
    PAGE_WIDTH,
    lay_out_rows,
    limit_ticks,
    make_figure,
)
from outperform.stats import Spread, best_of_weights
from outperform.stats.checks import FloatArray
from outperform.wording import shorten, shorten_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINES = ("-", "--", ":", "-.")
_N_TICKS = 9
_LIKELY = 0.9  # chance that the region drawn holds the run that is chosen


def draw_best_of_curves(result: BestOfResult, ax: "Axes") -> None:
    """Draw what to expect of the best of n against n, in bands of its interval."""
    results = list_results(result)
    names = shorten_apart([found.algorithm for found in results], 24)
    for index, (found, name) in enumerate(zip(results, names, strict=True)):
        colour, line = COLOURS[index % len(COLOURS)], _LINES[index // len(COLOURS) % len(_LINES)]
        curve = found.curve
        ax.fill_between(
            curve.n, curve.low, curve.high, color=colour, alpha=0.2, lw=0, gid=f"band-{index}"
        )
        label = f"{escape(name)} ({found.n_runs:,} runs)"
        ax.plot(curve.n, curve.value, line, color=colour, label=label, gid=f"curve-{index}")
        mark = {"color": colour, "mec": "white", "ms": 6, "gid": f"best-{index}"}
        ax.plot([found.n], [found.value], "^", **mark)  # type: ignore[arg-type]
    if isinstance(result, BestOfComparison) and result.crossing is not None:
        _mark_crossing(result, ax)
    _lay_out_counts(ax, max(int(found.curve.n[-1]) for found in results))
    ax.set_xlabel("candidates to choose from, n")
    ax.set_ylabel(f"expected {_describe_briefly(results[0])}")
    ax.legend(loc="best", frameon=False, fontsize="small")


def _mark_crossing(result: BestOfComparison, ax: "Axes") -> None:
    assert result.crossing is not None
    n = result.crossing.n
    ax.axvline(n, color=COLOUR_NOTE, linewidth=0.7, linestyle=":", gid="crossing")
    # The number stands on the side of which there is more.
    before = n > np.sqrt(float(result.curve.n[-1]))
    ax.annotate(
        f"cross at n = {n:,}",
        (n, 1),
        (-3 if before else 3, -8),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        horizontalalignment="right" if before else "left",
        fontsize="small",
        color=COLOUR_NOTE,
        gid="crossing-n",
    )


def draw_best_of_densities(result: BestOf | BestOfComparison, ax: "Axes") -> None:
    """Draw how scores are distributed, every run as a dot, with the mean and the best of n.

    Of one algorithm, validation and test scores if they are on one scale; of two, test scores.
    """
    results = list_results(result)
    if len(results) > 1:
        names = [escape(name) for name in shorten_apart([f.algorithm for f in results], 14)]
        rows = [(found, found.test, name) for found, name in zip(results, names, strict=True)]
    else:
        found = results[0]
        rows = [(found, found.test, "test" if not found.same_scores else "scores")]
        if not found.same_scores and found.validation_goal == found.goal:
            rows.insert(0, (found, found.validation, "validation"))
    labels = []
    for row, (found, scores, name) in enumerate(rows):
        colour, below = COLOURS[row], -row - 0.1 - 0.25 * scatter_evenly(scores)
        draw_density(scores, ax, -row, colour=colour, side=f"{row}")
        draw_dots(scores, below, ax, n=scores.size, colour=colour, gid=f"runs-{row}")
        labels.append(name + _mark_scores(found, scores, ax, -row, colour))
    lay_out_rows(ax, [0.1 - row for row in range(len(rows))], labels)
    ax.set_ylim(0.55 - len(rows), 0.65)
    limit_ticks(ax)
    ax.set_xlabel(describe_metric(results[0]))


def _mark_scores(found: BestOf, scores: FloatArray, ax: "Axes", row: int, colour: str) -> str:
    """Mark the mean and, of test scores, the best of n; the text says what they are."""
    mean = float(scores.mean())
    ax.plot([mean], [row], "D", color=colour, mec="white", ms=5.5, gid=f"mean-{-row}")
    text = f"\n◆ mean {mean:.4g}"
    if scores is found.test:
        ends = [found.interval.low, found.interval.high]
        ax.plot(ends, [row, row], color="black", linewidth=2, gid=f"interval-{-row}")
        ax.plot([found.value], [row], "^", color="black", mec="white", ms=7, gid=f"best-{-row}")
        text += f"\n▲ best of {found.n}: {found.value:.4g}"
    return text


def draw_agreement(result: BestOf | BestOfComparison, ax: "Axes") -> None:
    """Draw test against validation scores; of one algorithm, where the best of n comes from."""
    results = list_results(result)
    alone, n = len(results) == 1, max(found.n_runs for found in results)
    names = ["runs"] if alone else shorten_apart([found.algorithm for found in results], 20)
    for index, (found, name) in enumerate(zip(results, names, strict=True)):
        colour = COLOURS[index]
        draw_dots(found.validation, found.test, ax, n=n, colour=colour, gid=f"runs-{index}")
        label = f"{escape(name)}, correlation {describe_correlation(found)}"
        ax.plot([], [], "o", color=colour, ms=3.5, label=label)
        best = f"best of {found.n}: {found.value:.4g}" if alone else None
        ax.axhline(found.value, color=colour, linewidth=1, label=best, gid=f"best-{index}")
    if alone:
        _shade_choice(results[0], ax)
        mean = results[0].mean
        ax.axhline(mean, color=COLOUR_NEITHER, lw=0.8, ls="--", label=f"mean: {mean:.4g}")
    ax.spines[["right", "top"]].set_visible(False)
    limit_ticks(ax, 4)
    ax.set_xlabel(escape(shorten(results[0].chosen_by, 30)) + " (chooses)")
    ax.set_ylabel(_describe_briefly(results[0]))
    # Above the axes, where it hides no run.
    above = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 2 if alone else 1}
    ax.legend(**above, frameon=False, fontsize="x-small")  # type: ignore[arg-type]


def _shade_choice(found: BestOf, ax: "Axes") -> None:
    """Shade the validation scores among which the chosen run is, in 9 cases of 10."""
    up = found.validation_goal == "maximize"
    weights = best_of_weights(found.n, found.validation, goal=found.validation_goal)
    order = np.argsort(-found.validation if up else found.validation, kind="stable")
    n_likely = int(np.searchsorted(np.cumsum(weights[order]), _LIKELY)) + 1
    edge = float(found.validation[order[min(n_likely, order.size) - 1]])
    far = float(ax.get_xlim()[1 if up else 0])
    label = f"{100 * _LIKELY:g}% of choices"
    ax.axvspan(edge, far, color=COLOUR_BAND, zorder=0, lw=0, label=label, gid="chosen")
    ax.set_xlim(*((None, far) if up else (far, None)))


def draw_spreads(found: BestOf, ax: "Axes") -> None:
    """Draw how the best single run, the best of n and the mean vary with the number of runs.

    The seed of the repetitions is fixed, so that the same result gives the same figure.
    """
    spreads = trace_spreads(found, rng=np.random.default_rng(0))
    kinds: list[tuple[str, Spread, str]] = [
        ("best single run", spreads.best_single, COLOURS[1]),
        (f"best of {found.n}", spreads.best_of, COLOURS[0]),
        ("mean", spreads.average, COLOURS[2]),
    ]
    for index, (label, spread, colour) in enumerate(kinds):
        band = (spreads.n_runs, spread.low, spread.high)
        ax.fill_between(*band, color=colour, alpha=0.2, lw=0, gid=f"spread-{index}")
        line = _LINES[index]
        ax.plot(spreads.n_runs, spread.mean, line, color=colour, label=label, gid=f"mean-{index}")
    _lay_out_counts(ax, found.n_runs)
    level = describe_level(found.interval)
    ax.set_xlabel(f"runs trained, m (bands: {level} of experiments)")
    ax.set_ylabel(f"reported {_describe_briefly(found)}")
    ax.legend(loc="best", frameon=False, fontsize="small")


def compose_best_of(found: BestOf) -> "Figure":
    """Draw all views across the page."""
    figure = make_figure(PAGE_WIDTH, 4.6)
    # Scores agree with themselves: there is nothing to see.
    left = "spreads" if found.same_scores else "agreement"
    axes = figure.subplot_mosaic([["curves", "densities"], [left, "spreads"]])
    draw_best_of_curves(found, axes["curves"])
    draw_best_of_densities(found, axes["densities"])
    draw_spreads(found, axes["spreads"])
    if not found.same_scores:
        draw_agreement(found, axes["agreement"])
    on = f" on {shorten(found.task, 22)}" if found.task else ""
    title = (
        f"Best of {found.n} of {shorten(found.algorithm, 30)}{on}: "
        f"{format_estimate(found.value, found.interval)}; one run: {found.mean:.4g}"
    )
    figure.suptitle(_wrap(title, PAGE_WIDTH), fontsize="medium")
    return figure


def compose_best_of_comparison(result: BestOfComparison) -> "Figure":
    """Draw both curves and their difference, densities, and validation against test."""
    figure = make_figure(PAGE_WIDTH, 4.8)
    right = "densities" if result.a.same_scores else "agreement"
    axes = figure.subplot_mosaic([["curves", "difference"], ["densities", right]])
    draw_best_of_curves(result, axes["curves"])
    draw_best_of_difference(result, axes["difference"])
    draw_best_of_densities(result, axes["densities"])
    if not result.a.same_scores:
        draw_agreement(result, axes["agreement"])
    a, b = shorten_apart([result.a.algorithm, result.b.algorithm], 22)
    verdict = {"a": f"{a} is better", "b": f"{b} is better", None: "neither is shown better"}
    on = f" on {shorten(result.a.task, 22)}" if result.a.task else ""
    title = (
        f"With a budget of {result.n}{on}, {verdict[result.winner]}: P(best of {a} beats best of "
        f"{b}) = {result.probability.value:.2f} {result.probability.interval}"
    )
    figure.suptitle(_wrap(title, PAGE_WIDTH), fontsize="medium")
    return figure


def compose_best_of_each(result: BestOfEach) -> "Figure":
    """Draw all curves, one column wide."""
    figure = make_figure(COLUMN_WIDTH, 3.0)
    draw_best_of_curves(result, figure.subplots())
    first = result.ranked[0]
    title = f"With a budget of {first.n}, most is to be expected of {shorten(first.algorithm, 22)}"
    figure.suptitle(_wrap(title, COLUMN_WIDTH), fontsize="medium")
    return figure


def draw_best_of_difference(result: BestOfComparison, ax: "Axes") -> None:
    """Draw the difference of both curves, in a band of its interval."""
    curve = result.curve
    ax.axhline(0, color="black", linewidth=0.8, linestyle="--", gid="zero")
    ax.fill_between(curve.n, curve.low, curve.high, color=COLOUR_NEITHER, alpha=0.3, lw=0)
    ax.plot(curve.n, curve.value, color=COLOUR_NOTE, gid="difference")
    a, b = shorten_apart([result.a.algorithm, result.b.algorithm], 20)
    _lay_out_counts(ax, int(curve.n[-1]))
    ax.set_title(f"{escape(a)} − {escape(b)}", fontsize="small")
    ax.set_xlabel("candidates to choose from, n")
    ax.set_ylabel(f"difference in\n{escape(shorten(result.a.metric, 20))}")


def _lay_out_counts(ax: "Axes", last: int) -> None:
    """Let the horizontal axis count to a last number, on a logarithmic scale."""
    from matplotlib.ticker import NullLocator

    ticks = [digit * 10**power for power in range(10) for digit in (1, 2, 5)]
    ticks = [tick for tick in ticks if tick <= last]
    ax.set_xscale("log")
    ax.set_xticks(ticks if len(ticks) <= _N_TICKS else ticks[::3])
    ax.set_xticklabels([f"{tick:,}" for tick in ax.get_xticks().astype(int)])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.spines[["right", "top"]].set_visible(False)


def _describe_briefly(found: BestOf) -> str:
    better = "higher" if found.goal == "maximize" else "lower"
    return f"{escape(shorten(found.metric, 18))}\n({better} is better)"


def _wrap(sentence: str, width: float) -> str:
    return "\n".join(textwrap.wrap(escape(sentence), int(15 * width)))


_VIEWS = {
    "curves": draw_best_of_curves,
    "densities": draw_best_of_densities,
    "agreement": draw_agreement,
}
_HEIGHTS = {"densities": 1.8}

FIGURES = {
    BestOf: Drawing({**_VIEWS, "spreads": draw_spreads}, compose_best_of, heights=_HEIGHTS),
    BestOfComparison: Drawing(_VIEWS, compose_best_of_comparison, heights=_HEIGHTS),
    BestOfEach: Drawing({"curves": draw_best_of_curves}, compose_best_of_each),
}
