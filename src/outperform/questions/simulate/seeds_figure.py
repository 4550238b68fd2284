"""The figure of seeds: how often an algorithm is found to differ from itself."""

from typing import TYPE_CHECKING, Any

from outperform.questions.simulate.seeds_curve import SeedsCurve, SeedsTest
from outperform.render.labels import escape
from outperform.render.style import COLOUR_NEITHER, PAGE_WIDTH, make_figure
from outperform.wording import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINES: dict[SeedsTest, tuple[str, str, Any]] = {
    "welch-t": ("Welch t", "#009E73", "-"),
    "brunner-munzel": ("Brunner–Munzel", "#D55E00", "-"),
    "brunner-munzel-permutation": ("Brunner–Munzel, permutation", "#0072B2", (0, (4, 1.5))),
}


def draw_seeds(result: SeedsCurve, ax: "Axes", *, alpha: float | None = None) -> None:
    """Draw the share found different against the sample size, for one level.

    A ring marks the size from which on the level is kept. Shares of 0 lie below the axis.

    Parameters
    ----------
    alpha
        The level; the first by default.
    """
    level = result.alphas[0] if alpha is None else alpha
    lines = [line for line in result.lines if line.alpha == level]
    lowest = min([level / 10, *(x for line in lines for x in line.shares if x > 0)])
    for line in lines:
        label, colour, style = _LINES[line.test]
        shares = [max(share, lowest / 10) for share in line.shares]
        ax.plot(line.sizes, shares, linestyle=style, color=colour, label=label, gid=line.test)
        if line.holds_from is not None:
            at = line.sizes.index(line.holds_from)
            ring: dict[str, Any] = {
                "mfc": "white",
                "mec": colour,
                "ms": 5,
                "mew": 1.1,
                "ls": "none",
            }
            ax.plot([line.holds_from], [max(shares[at], lowest)], "o", gid="holds-from", **ring)
    ax.axhline(level, color=COLOUR_NEITHER, linestyle=(0, (3, 2)), linewidth=0.8, gid="level")
    ax.set_yscale("log")
    ax.set_ylim(lowest * 0.8, 4 * max(level, *(max(line.shares) for line in lines)))
    ax.set_title(f"level α = {level:g}")
    ax.set_xlabel("runs of each sample")
    ax.set_ylabel("share found different")


def compose_seeds(result: SeedsCurve) -> "Figure":
    """Draw a panel per level, across the page."""
    figure = make_figure(PAGE_WIDTH, 2.6)
    axes = figure.subplots(1, len(result.alphas), squeeze=False)[0]
    for alpha, ax in zip(result.alphas, axes, strict=True):
        draw_seeds(result, ax, alpha=alpha)
        if ax is not axes[0]:
            ax.set_ylabel("")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    name = escape(shorten(result.algorithm, 40))
    figure.suptitle(
        f"{name} against itself: {result.n_runs} runs, {result.n_draws:,} draws; "
        "○ from here on the level is kept",
        fontsize="medium",
    )
    return figure
