"""Figures of the best of many equals: what one shows, and what the best of them shows."""

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from outperform.questions.sota.expected_best import ExpectedBest
from outperform.render.style import (
    COLOUR_A,
    COLOUR_B,
    COLOUR_NEITHER,
    COLOUR_NOTE,
    COLUMN_WIDTH,
    limit_ticks,
    make_figure,
)
from outperform.stats import BestOfDistribution, best_of_distribution
from outperform.stats.checks import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_VISIBLE = 1e-4  # share of the highest bar below which nothing is seen


def draw_one(result: ExpectedBest, ax: "Axes") -> None:
    """Draw what one classifier shows, and a better one, against what the best of all shows.

    The area beyond the expected best is the better one's chance to look better; the darker part
    its chance to reach the upper bound.
    """
    n = result.distribution.n
    equal, better = (best_of_distribution(1, n, p) for p in (result.accuracy, result.better))
    spans = [_span(equal), _span(better)]
    z = np.arange(min(first for first, _ in spans), max(end for _, end in spans))
    shown, mass = 1 - z / n, better.pmf(z)
    ax.bar(shown, equal.pmf(z), 1 / n, color="#C8C8C8", label=f"true accuracy {result.accuracy:g}")
    ax.plot(shown, mass, color=COLOUR_B, label=f"true accuracy {result.better:.4f}")
    for bound, shade, name in ((result.mean, 0.25, "mean"), (result.upper, 0.6, "upper")):
        beyond = shown >= bound - 1e-12
        ax.fill_between(
            shown[beyond],
            mass[beyond],
            color=COLOUR_B,
            alpha=shade,
            linewidth=0,
            gid=f"{name}-area",
        )
    _mark(result, ax)
    ax.set_ylabel("probability")
    ax.set_ylim(0, 2.0 * float(max(mass.max(), equal.pmf(z).max())))
    ax.set_xlabel("accuracy that one classifier shows")
    ax.legend(loc="upper left", bbox_to_anchor=(0, 0.87), handlelength=1.2)
    _count_failures(ax, n)


def draw_best_cdf(result: ExpectedBest, ax: "Axes") -> None:
    """Draw the chance that at least one classifier reaches an accuracy."""
    best = result.distribution
    z = np.arange(*_span(best))
    ax.step(1 - z / best.n, best.cdf(z), where="mid", color=COLOUR_A)
    _mark(result, ax)
    ax.set_ylim(0, 1.3)
    ax.set_yticks([0, 0.5, 1])
    ax.set_ylabel("chance that at\nleast one has it")
    ax.set_xlabel("accuracy")
    _count_failures(ax, best.n)


def draw_best_pmf(result: ExpectedBest, ax: "Axes") -> None:
    """Draw the distribution of the best accuracy."""
    best = result.distribution
    z = np.arange(*_span(best))
    mass = best.pmf(z)
    ax.bar(1 - z / best.n, mass, 1 / best.n, color=COLOUR_A)
    _mark(result, ax)
    ax.set_ylim(0, 1.3 * float(mass.max()))
    ax.set_ylabel("probability")
    ax.set_xlabel(f"accuracy of the best of {best.m:,}")
    _count_failures(ax, best.n)


def compose_expected_best(result: ExpectedBest) -> "Figure":
    """Stack what one shows, and the distribution of the best, in one column."""
    best = result.distribution
    title = (
        f"The best of {best.m:,} classifiers of accuracy {result.accuracy:g} shows "
        f"{result.mean:.4f} on {best.n:,} examples"
    )
    figure = make_figure(COLUMN_WIDTH, 6.2)
    for draw, ax in zip(
        (draw_one, draw_best_cdf, draw_best_pmf),
        figure.subplots(3, height_ratios=[1.3, 1, 1]),
        strict=True,
    ):
        draw(result, ax)
    figure.suptitle("\n".join(textwrap.wrap(title, 50)), fontsize="medium")
    return figure


def _span(distribution: BestOfDistribution) -> tuple[int, int]:
    """Failures between which anything is seen, and one more."""
    z = distribution.first + np.arange(distribution.log_survival.size)
    mass: FloatArray = distribution.pmf(z)
    seen = z[mass >= _VISIBLE * mass.max()]
    return int(seen[0]), int(seen[-1]) + 1


def _mark(result: ExpectedBest, ax: "Axes") -> None:
    """Draw the expected best and its upper bound as lines with their numbers."""
    marks = (
        (result.mean, "expected best", "right", "-", -3),
        (result.upper, "upper bound", "left", "--", 3),
    )
    for value, name, side, line, shift in marks:
        ax.axvline(value, color=COLOUR_NOTE, linewidth=0.8, linestyle=line, gid=name)
        ax.annotate(
            f"{name}\n{value:.4f}",
            (value, 1),
            (shift, -2),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            horizontalalignment=side,
            verticalalignment="top",
            fontsize="small",
            color=COLOUR_NOTE,
        )
    low, high = ax.get_xlim()
    ax.set_xlim(low, max(high, result.upper + 0.3 * (result.upper - low)))


def _count_failures(ax: "Axes", n: int) -> None:
    """Number failures above, as the paper does."""
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    limit_ticks(ax)
    above = ax.secondary_xaxis(
        "top",
        functions=(lambda accuracy: n - n * np.asarray(accuracy), lambda z: 1 - np.asarray(z) / n),
    )
    above.set_xlabel("failures", color=COLOUR_NEITHER, fontsize="small")
    above.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    above.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    above.tick_params(labelsize="small", colors=COLOUR_NEITHER)
