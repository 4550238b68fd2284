"""Figures of a comparison: every run, every paired difference, P(A>B) with its interval."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from outperform.analysis.comparison import Comparison
from outperform.errors import InvalidInput
from outperform.plots.labels import (
    describe_level,
    describe_metric,
    join_phrases,
    short_names,
    wrapped_names,
)
from outperform.plots.style import (
    COLOUR_A,
    COLOUR_B,
    COLOUR_NEITHER,
    lay_out_rows,
    limit_ticks,
)
from outperform.stats import Estimate
from outperform.stats.checks import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MANY = 500  # dots from which on vector files hold them as an image
_GOLDEN = 0.6180339887498949
_N_BINS = 2000


def draw_densities(comparison: Comparison, ax: "Axes") -> None:
    """Draw how the scores of each algorithm are distributed, with every run as a dot."""
    sides = (("a", comparison.scores_a, COLOUR_A), ("b", comparison.scores_b, COLOUR_B))
    draw_distributions(sides, wrapped_names(comparison), ax)
    ax.set_xlabel(describe_metric(comparison))


def draw_distributions(
    sides: Sequence[tuple[str, FloatArray, str]], names: Sequence[str], ax: "Axes"
) -> None:
    """Draw a density with dots in a row for each side: its letter, scores and colour."""
    labels = []
    for row, (side, scores, colour) in enumerate(sides):
        n, mean, below = (
            scores.size,
            float(scores.mean()),
            -row - 0.1 - 0.25 * scatter_evenly(scores),
        )
        draw_density(scores, ax, -row, colour=colour, side=side)
        draw_dots(scores, below, ax, n=n, colour=colour, gid=f"runs-{side}")
        ax.plot([mean], [-row], "D", color=colour, mec="white", ms=5.5, gid=f"mean-{side}")
        labels.append(f"{names[row]}\n◆ mean {mean:.4g}\nn = {n:,}")
    lay_out_rows(ax, [0.1 - row for row in range(len(sides))], labels)
    ax.set_ylim(-0.45 - len(sides) + 1, 0.65)
    if np.ptp(np.concatenate([scores for _, scores, _ in sides])) == 0:
        ax.set_xlim(mean - (abs(mean) or 1) / 10, mean + (abs(mean) or 1) / 10)
    limit_ticks(ax)


def draw_density(
    scores: FloatArray, ax: "Axes", baseline: float, *, colour: str, side: str
) -> None:
    """Draw the density within the range of the scores, its peak always of the same height."""
    x, density = estimate_density(scores)
    top = baseline + 0.55 * density / density.max()
    ax.fill_between(x, baseline, top, color=colour, alpha=0.25, linewidth=0)
    ax.plot(x, top, color=colour, gid=f"density-{side}")
    ax.plot([x[0], x[-1]], [baseline, baseline], color=colour, linewidth=0.6)


def estimate_density(scores: FloatArray, *, margin: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Gaussian kernel density with Scott's bandwidth; a spike where all scores are equal.

    Parameters
    ----------
    margin
        How far to go beyond the scores, in units of their range.
    """
    from scipy.stats import gaussian_kde

    low, width = float(scores.min()), float(np.ptp(scores))
    if width == 0:
        return np.array([low, low]), np.array([0.0, 1.0])
    # From 0 to 1, so that scores of any magnitude neither vanish nor overflow when squared.
    scaled, weights = (scores - low) / width, None
    if scores.size > _N_BINS:
        weights, edges = np.histogram(scaled, _N_BINS, (0.0, 1.0))
        scaled = (edges[1:] + edges[:-1]) / 2
    x = np.linspace(-margin, 1 + margin, 256)
    density = gaussian_kde(scaled, scores.size ** (-1 / 5), weights)(x)
    return low + width * x, np.asarray(density, dtype=np.float64)


def scatter_evenly(scores: FloatArray) -> FloatArray:
    """Place scores between 0 and 1, neighbours far apart, the same way every time."""
    places = np.empty(scores.size)
    places[np.argsort(scores, kind="stable")] = np.arange(scores.size) * _GOLDEN % 1
    return places


def draw_dots(x: FloatArray, y: FloatArray, ax: "Axes", *, n: int, colour: str, gid: str) -> None:
    """Draw dots that get smaller and fainter the more of them, n, are drawn in all."""
    ax.scatter(
        x,
        y,
        s=float(np.clip(600 / n, 2, 12)),
        color=colour,
        alpha=float(np.clip(6 / np.sqrt(n), 0.15, 0.8)),
        linewidths=0,
        rasterized=n > _MANY,
        gid=gid,
    )


def draw_differences(comparison: Comparison, ax: "Axes") -> None:
    """Draw every paired difference, sorted, and their mean with its interval."""
    if not comparison.paired:
        raise InvalidInput(
            f"{comparison.a!r} and {comparison.b!r} are compared unpaired, so their runs have no "
            "differences to draw",
            "Draw the view 'densities' or 'probability'",
        )
    mean, population = comparison.difference, comparison.population
    ax.axvline(0, color="black", linewidth=0.8, linestyle="--", zorder=0, gid="zero")
    _draw_pairs(comparison, ax)
    # Whatever their number, the pairs fill rows 0 to 1, and the mean stands below them.
    rows, labels = [0.5, -0.35], [_label_pairs(comparison), _label_mean(mean)]
    _draw_mean(mean, -0.35, ax, gid="difference")
    # Differences that do not vary tell nothing of other data: that interval has no ends.
    if population is not None and np.isfinite(population.interval.low):
        rows, labels = [*rows, -0.85], [*labels, "for data\nlike these"]
        _draw_mean(population, -0.85, ax, gid="population")
    lay_out_rows(ax, rows, labels)
    ax.set_ylim(rows[-1] - 0.25, 1.1)
    limit_ticks(ax)
    a, b = short_names(comparison, 14)
    ax.set_xlabel(join_phrases(f"{a} − {b}", describe_metric(comparison)))


def _draw_mean(mean: Estimate, row: float, ax: "Axes", *, gid: str) -> None:
    ends = [mean.interval.low, mean.interval.high]
    ax.plot(ends, [row, row], color="black", gid=f"{gid}-interval")
    ax.plot([mean.value], [row], "D", color="black", mec="white", ms=5.5, gid=gid)


def _label_mean(mean: Estimate) -> str:
    return f"◆ mean,\n{describe_level(mean.interval)} interval"


def _draw_pairs(comparison: Comparison, ax: "Axes") -> None:
    """Draw the differences in the winners' colours, and above each side who won how often."""
    n = comparison.n_pairs
    differences = np.sort(comparison.scores_a - comparison.scores_b)
    rows = np.arange(n) / (n - 1)
    a, b = short_names(comparison, 11)
    side_a, side_b = ("wins-a", a, COLOUR_A), ("wins-b", b, COLOUR_B)
    left, right = (side_b, side_a) if comparison.goal == "maximize" else (side_a, side_b)
    for (gid, name, colour), where in ((left, "left"), (right, "right")):
        chosen = differences < 0 if where == "left" else differences > 0
        draw_dots(differences[chosen], rows[chosen], ax, n=n, colour=colour, gid=gid)
        title = f"{name} wins {np.count_nonzero(chosen):,}"
        ax.set_title(title, loc=where, color=colour, fontsize="small")  # type: ignore[arg-type]
    tied = differences == 0
    draw_dots(differences[tied], rows[tied], ax, n=n, colour=COLOUR_NEITHER, gid="ties")


def _label_pairs(comparison: Comparison) -> str:
    n_ties = comparison.n_ties
    return f"{comparison.n_pairs:,} pairs,\n" + (f"{n_ties:,} tied" if n_ties else "sorted")
