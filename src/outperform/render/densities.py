"""How scores are distributed: a density for each side, with every run as a dot."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from outperform.questions.compare.result import Comparison
from outperform.render.style import (
    COLOUR_A,
    COLOUR_B,
    describe_metric,
    is_low,
    lay_out_rows,
    limit_ticks,
    short_names,
)
from outperform.stats.checks import FloatArray

_FEWEST = 10  # scores that a density is drawn of
_MANY = 500  # dots from which on vector files hold them as an image
_GOLDEN = 0.6180339887498949
_N_BINS = 2000


def draw_densities(comparison: Comparison, ax: Axes) -> None:
    """Draw how the scores of each algorithm are distributed, with every run as a dot."""
    sides = (("a", comparison.scores_a, COLOUR_A), ("b", comparison.scores_b, COLOUR_B))
    names = short_names(comparison, 14) if is_low(ax) else short_names(comparison, 24, n_lines=2)
    draw_distributions(sides, names, ax)
    ax.set_xlabel(describe_metric(comparison))


def draw_distributions(
    sides: Sequence[tuple[str, FloatArray, str]], names: Sequence[str], ax: Axes
) -> None:
    """Draw a density with dots in a row for each side: its letter, scores and colour."""
    labels = []
    for row, (side, scores, colour) in enumerate(sides):
        mean = float(scores.mean())
        draw_scores(scores, ax, -row, colour=colour, side=side)
        ax.plot([mean], [-row], "D", color=colour, mec="white", ms=5.5, gid=f"mean-{side}")
        lines = [names[row], f"◆ mean {mean:.4g}", f"n = {scores.size:,}"]
        labels.append(f"{lines[0]}, {lines[2]}\n{lines[1]}" if is_low(ax) else "\n".join(lines))
    lay_out_rows(ax, [0.1 - row for row in range(len(sides))], labels)
    ax.set_ylim(-0.45 - len(sides) + 1, 0.65)
    if np.ptp(np.concatenate([scores for _, scores, _ in sides])) == 0:
        ax.set_xlim(mean - (abs(mean) or 1) / 10, mean + (abs(mean) or 1) / 10)
    limit_ticks(ax)


def draw_scores(scores: FloatArray, ax: Axes, baseline: float, *, colour: str, side: str) -> None:
    """Draw the density within the range of the scores, as high as any, and below it every run.

    Few scores have no shape that could be seen: the line of their range stands for them.
    """
    if scores.size < _FEWEST:
        ends = [float(scores.min()), float(scores.max())]
        ax.plot(ends, [baseline, baseline], color=colour, linewidth=0.6, gid=f"range-{side}")
    else:
        x, density = estimate_density(scores)
        top = baseline + 0.55 * density / density.max()
        ax.fill_between(x, baseline, top, color=colour, alpha=0.25, linewidth=0)
        ax.plot(x, top, color=colour, gid=f"density-{side}")
        ax.plot([x[0], x[-1]], [baseline, baseline], color=colour, linewidth=0.6)
    # Neighbours lie far apart, the same way every time.
    places = np.empty(scores.size)
    places[np.argsort(scores, kind="stable")] = np.arange(scores.size) * _GOLDEN % 1
    below = baseline - 0.1 - 0.25 * places
    draw_dots(scores, below, ax, n=scores.size, colour=colour, gid=f"runs-{side}")


def estimate_density(scores: FloatArray, *, margin: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Gaussian kernel density with Scott's bandwidth; a spike where all scores are equal.

    It goes beyond the scores by a margin, in units of their range.
    """
    from scipy.stats import gaussian_kde  # slow to import, and few runs have no density

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


def draw_dots(x: FloatArray, y: FloatArray, ax: Axes, *, n: int, colour: str, gid: str) -> None:
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
