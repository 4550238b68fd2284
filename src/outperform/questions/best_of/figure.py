"""Figures of the best of n: curves, densities, validation against test, and spreads."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from outperform.questions.best_of.answer import trace_spreads
from outperform.questions.best_of.result import (
    BestOf,
    BestOfComparison,
    BestOfEach,
    BestOfResult,
    describe_correlation,
    format_estimate,
    list_results,
)
from outperform.render.densities import draw_dots, draw_scores
from outperform.render.figures import Drawing
from outperform.render.style import (
    COLOUR_BAND,
    COLOUR_NEITHER,
    COLOUR_NOTE,
    COLOURS,
    COLUMN_WIDTH,
    PAGE_WIDTH,
    describe_metric,
    escape,
    lay_out_rows,
    limit_ticks,
    make_figure,
    shorten_label,
    wrap_title,
    write_note,
)
from outperform.stats import best_of_weights
from outperform.stats.checks import FloatArray
from outperform.wording import describe_goal, shorten, shorten_apart

_LINES = ("-", "--", ":", "-.")
_N_TICKS = 9
_MOST_INSIDE = 4  # curves that leave room for their legend
_LEGEND_LINE = 0.18  # inches
_LIKELY = 0.9  # chance that the region drawn holds the run that is chosen


def draw_best_of_curves(result: BestOfResult, ax: Axes) -> None:
    """Draw what to expect of the best of n against n, in bands of its interval."""
    results = list_results(result)
    names = shorten_apart([each.algorithm for each in results], 24)
    sizes = sorted({each.n_runs for each in results})
    crowded = len(results) > _MOST_INSIDE
    for index, (each, name) in enumerate(zip(results, names, strict=True)):
        colour, line = COLOURS[index % len(COLOURS)], _LINES[index // len(COLOURS) % len(_LINES)]
        curve, label = each.curve, f"{escape(name)}{'' if crowded else f' ({each.n_runs:,} runs)'}"
        band = {"color": colour, "alpha": 0.2, "lw": 0, "gid": f"band-{index}"}
        ax.fill_between(curve.n, curve.low, curve.high, **band)  # type: ignore[arg-type]
        ax.plot(curve.n, curve.value, line, color=colour, label=label, gid=f"curve-{index}")
        mark = {"color": colour, "mec": "white", "ms": 6, "gid": f"best-{index}"}
        ax.plot([each.n], [each.value], "^", **mark)  # type: ignore[arg-type]
    if isinstance(result, BestOfComparison) and result.crossing is not None:
        n = result.crossing.n
        ax.axvline(n, color=COLOUR_NOTE, linewidth=0.7, linestyle=":", gid="crossing")
        # Above the axes, where no legend can be.
        look = {"xycoords": ("data", "axes fraction"), "ha": "center", "gid": "crossing-n"}
        write_note(ax, f"cross at n = {n:,}", (n, 1), (0, 2), **look)
    _lay_out_counts(ax, max(int(each.curve.n[-1]) for each in results))
    ax.set_xlabel("candidates to choose from, n")
    ax.set_ylabel(f"expected {_describe_briefly(results[0])}")
    place: dict[str, Any] = {"loc": "best"}
    if crowded:
        n_runs = (
            f"{sizes[0]:,} runs each" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,} runs"
        )
        place = {"loc": "upper left", "bbox_to_anchor": (1, 1), "title": n_runs}
        place |= {"title_fontsize": "small", "alignment": "left"}
    ax.legend(**place, frameon=False, fontsize="small")


def draw_best_of_densities(result: BestOf | BestOfComparison, ax: Axes) -> None:
    """Draw how scores are distributed, every run as a dot, with the mean and the best of n.

    Of one algorithm, validation and test scores if they are on one scale; of two, test scores.
    """
    labels = []
    for row, (each, scores, name) in enumerate(rows := _list_rows(result)):
        draw_scores(scores, ax, -row, colour=COLOURS[row], side=f"{row}")
        labels.append(name + _mark_scores(each, scores, ax, -row, COLOURS[row]))
    lay_out_rows(ax, [0.1 - row for row in range(len(rows))], labels)
    ax.set_ylim(0.55 - len(rows), 0.65)
    limit_ticks(ax)
    ax.set_xlabel(describe_metric(rows[0][0]))


def _list_rows(result: BestOf | BestOfComparison) -> list[tuple[BestOf, FloatArray, str]]:
    """What is drawn in each row: of which result, which scores, and their name."""
    if isinstance(result, BestOfComparison):
        names = shorten_apart([result.a.algorithm, result.b.algorithm], 14)
        both = zip((result.a, result.b), names, strict=True)
        return [(each, each.test, escape(name)) for each, name in both]
    if result.same_scores:
        return [(result, result.test, "scores")]
    on_one_scale = result.validation_goal == result.goal
    chosen_by = [(result, result.validation, "validation")] if on_one_scale else []
    return [*chosen_by, (result, result.test, "test")]


def _mark_scores(result: BestOf, scores: FloatArray, ax: Axes, row: int, colour: str) -> str:
    """Mark the mean and, of test scores, the best of n; the text says what they are."""
    mean = float(scores.mean())
    ax.plot([mean], [row], "D", color=colour, mec="white", ms=5.5, gid=f"mean-{-row}")
    text = f"\n◆ mean {mean:.4g}"
    if scores is result.test:
        ends = [result.interval.low, result.interval.high]
        ax.plot(ends, [row, row], color="black", linewidth=2, gid=f"interval-{-row}")
        ax.plot([result.value], [row], "^", color="black", mec="white", ms=7, gid=f"best-{-row}")
        text += f"\n▲ best of {result.n}: {result.value:.4g}"
    return text


def draw_agreement(result: BestOf | BestOfComparison, ax: Axes) -> None:
    """Draw test against validation scores; of one algorithm, where the best of n comes from."""
    results = list_results(result)
    alone, n = len(results) == 1, max(each.n_runs for each in results)
    names = ["runs"] if alone else shorten_apart([each.algorithm for each in results], 20)
    for index, (each, name) in enumerate(zip(results, names, strict=True)):
        colour = COLOURS[index]
        draw_dots(each.validation, each.test, ax, n=n, colour=colour, gid=f"runs-{index}")
        label = f"{escape(name)}, correlation {describe_correlation(each)}"
        ax.plot([], [], "o", color=colour, ms=3.5, label=label)
        best = f"best of {each.n}: {each.value:.4g}" if alone else None
        ax.axhline(each.value, color=colour, linewidth=1, label=best, gid=f"best-{index}")
    if alone:
        _shade_choice(results[0], ax)
        mean = results[0].mean
        ax.axhline(mean, color=COLOUR_NEITHER, lw=0.8, ls="--", label=f"mean: {mean:.4g}")
    ax.spines[["right", "top"]].set_visible(False)
    limit_ticks(ax, 4)
    ax.set_xlabel(shorten_label(results[0].chosen_by, 30) + " (chooses)")
    ax.set_ylabel(_describe_briefly(results[0]))
    # Above the axes, where it hides no run.
    above = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 2 if alone else 1}
    ax.legend(**above, frameon=False, fontsize="x-small")  # type: ignore[arg-type]


def _shade_choice(result: BestOf, ax: Axes) -> None:
    """Shade the validation scores among which the chosen run is, in 9 cases of 10."""
    up = result.validation_goal == "maximize"
    weights = best_of_weights(result.n, result.validation, goal=result.validation_goal)
    order = np.argsort(-result.validation if up else result.validation, kind="stable")
    n_likely = int(np.searchsorted(np.cumsum(weights[order]), _LIKELY)) + 1
    edge = float(result.validation[order[min(n_likely, order.size) - 1]])
    far = float(ax.get_xlim()[1 if up else 0])
    label = f"{100 * _LIKELY:g}% of choices"
    ax.axvspan(edge, far, color=COLOUR_BAND, zorder=0, lw=0, label=label, gid="chosen")
    ax.set_xlim(*((None, far) if up else (far, None)))


def draw_spreads(result: BestOf, ax: Axes) -> None:
    """Draw how the best single run, the best of n and the mean vary with the number of runs.

    The seed of the repetitions is fixed, so that the same result gives the same figure.
    """
    spreads = trace_spreads(result, rng=np.random.default_rng(0))
    n_runs, best = spreads.n_runs, f"best of {result.n}"
    kinds = {"best single run": spreads.best_single, best: spreads.best_of, "mean": spreads.average}
    for index, (label, spread) in enumerate(kinds.items()):
        colour, line = COLOURS[(1, 0, 2)[index]], _LINES[index]
        band = {"color": colour, "alpha": 0.2, "lw": 0, "gid": f"spread-{index}"}
        ax.fill_between(n_runs, spread.low, spread.high, **band)  # type: ignore[arg-type]
        ax.plot(n_runs, spread.mean, line, color=colour, label=label, gid=f"mean-{index}")
    _lay_out_counts(ax, result.n_runs)
    level = result.interval.level
    ax.set_xlabel(f"runs trained, m (bands: {level} of experiments)")
    ax.set_ylabel(f"reported {_describe_briefly(result)}")
    ax.legend(loc="best", frameon=False, fontsize="small")


def compose_best_of(result: BestOf) -> Figure:
    """Draw all views across the page."""
    on = f" on {shorten(result.task, 22)}" if result.task else ""
    title = (
        f"Best of {result.n} of {shorten(result.algorithm, 30)}{on}: "
        f"{format_estimate(result)}; one run: {result.mean:.4g}"
    )
    figure = make_figure(PAGE_WIDTH, 4.6, wrap_title(escape(title), PAGE_WIDTH))
    # Scores agree with themselves: there is nothing to see.
    left = "spreads" if result.same_scores else "agreement"
    axes = figure.subplot_mosaic([["curves", "densities"], [left, "spreads"]])
    draw_best_of_curves(result, axes["curves"])
    draw_best_of_densities(result, axes["densities"])
    draw_spreads(result, axes["spreads"])
    if not result.same_scores:
        draw_agreement(result, axes["agreement"])
    return figure


def compose_best_of_comparison(result: BestOfComparison) -> Figure:
    """Draw both curves and their difference, densities, and validation against test."""
    a, b = shorten_apart([result.a.algorithm, result.b.algorithm], 22)
    verdict = {"a": f"{a} is better", "b": f"{b} is better", None: "neither is shown better"}
    on = f" on {shorten(result.a.task, 22)}" if result.a.task else ""
    title = (
        f"With a budget of {result.n}{on}, {verdict[result.winner]}: P(best of {a} beats best of "
        f"{b}) = {result.probability.value:.2f} {result.probability.interval}"
    )
    figure = make_figure(PAGE_WIDTH, 4.8, wrap_title(escape(title), PAGE_WIDTH))
    right = "densities" if result.a.same_scores else "agreement"
    axes = figure.subplot_mosaic([["curves", "difference"], ["densities", right]])
    draw_best_of_curves(result, axes["curves"])
    draw_best_of_difference(result, axes["difference"])
    draw_best_of_densities(result, axes["densities"])
    if not result.a.same_scores:
        draw_agreement(result, axes["agreement"])
    return figure


def compose_best_of_each(result: BestOfEach) -> Figure:
    """Draw all curves, one column wide; many have their legend beside them."""
    first, n = result.ranked[0], len(result.results)
    width = COLUMN_WIDTH if n <= _MOST_INSIDE else PAGE_WIDTH
    title = f"With a budget of {first.n}, most is to be expected of {shorten(first.algorithm, 22)}"
    height = max(3.0, 0.8 + _LEGEND_LINE * n)
    figure = make_figure(width, height, wrap_title(escape(title), width))
    draw_best_of_curves(result, figure.subplots())
    return figure


def draw_best_of_difference(result: BestOfComparison, ax: Axes) -> None:
    """Draw the difference of both curves, in a band of its interval."""
    curve = result.curve
    ax.axhline(0, color="black", linewidth=0.8, linestyle="--", gid="zero")
    ax.fill_between(curve.n, curve.low, curve.high, color=COLOUR_NEITHER, alpha=0.3, lw=0)
    ax.plot(curve.n, curve.value, color=COLOUR_NOTE, gid="difference")
    a, b = shorten_apart([result.a.algorithm, result.b.algorithm], 20)
    _lay_out_counts(ax, int(curve.n[-1]))
    ax.set_title(f"{escape(a)} − {escape(b)}", fontsize="small")
    ax.set_xlabel("candidates to choose from, n")
    ax.set_ylabel(f"difference in\n{shorten_label(result.a.metric, 20)}")


def _lay_out_counts(ax: Axes, last: int) -> None:
    """Let the horizontal axis count to a last number, on a logarithmic scale."""
    ticks = [digit * 10**power for power in range(10) for digit in (1, 2, 5)]
    ticks = [tick for tick in ticks if tick <= last]
    ax.set_xscale("log")
    ax.set_xticks(ticks if len(ticks) <= _N_TICKS else ticks[::3])
    ax.set_xticklabels([f"{tick:,}" for tick in ax.get_xticks().astype(int)])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.spines[["right", "top"]].set_visible(False)


def _describe_briefly(result: BestOf) -> str:
    return f"{shorten_label(result.metric, 18)}\n({describe_goal(result.goal)})"


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
