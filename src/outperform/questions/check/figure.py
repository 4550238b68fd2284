"""The figure of a check: what every seed does to the score, and whether it repeats it."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from outperform.questions.check.result import Finding, Reproducibility
from outperform.render.figures import Drawing
from outperform.render.style import (
    COLOUR_A,
    COLOUR_B,
    COLOUR_NEITHER,
    COLUMN_WIDTH,
    escape,
    lay_out_rows,
    limit_ticks,
    make_figure_below,
)
from outperform.wording import shorten_apart

_COLOURS: dict[Finding, str] = {
    "reproducible": COLOUR_A,
    "noisy": COLOUR_B,
    "unused": COLOUR_NEITHER,
}
_SHARE = 0.7  # of the height of a row, that its seeds take
_ROW_HEIGHT = 0.24  # inches


def draw_check(result: Reproducibility, ax: Axes) -> None:
    """Draw a row per source and in it a line per seed, with a dot for each time it was used.

    Dots of one line apart: the same seed does not repeat. All lines alike: seeds change nothing.
    """
    for row, check in enumerate(result.checks):
        scores, n = check.scores - check.scores.mean(), len(check.scores)
        colour, gid = _COLOURS[check.finding], f"{check.finding}-{row}"
        for seed, repeats in enumerate(scores):
            heights = [row + _SHARE * ((seed + 0.5) / n - 0.5)] * repeats.size
            look = {"color": colour, "mec": "white", "mew": 0.4, "ms": 4.5}
            ax.plot(repeats, heights, "o-", lw=0.8, gid=gid, **look)  # type: ignore[arg-type]
    names = shorten_apart([check.name for check in result.checks], 26)
    findings = [check.finding for check in result.checks]
    labels = [f"{escape(name)}\n{word}" for name, word in zip(names, findings, strict=True)]
    lay_out_rows(ax, range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.axvline(0, color=COLOUR_NEITHER, linewidth=0.5, linestyle=":", zorder=0)
    limit_ticks(ax, 3)
    ax.set_xlabel("score, less its row's mean\na line per seed, a dot per run")


def check_height(result: Reproducibility) -> float:
    """Inches that the view takes."""
    return 0.7 + _ROW_HEIGHT * max(2, len(result.checks))


def compose_check(result: Reproducibility) -> Figure:
    """Draw all sources below what was found."""
    title, height = escape(str(result)), check_height(result)
    figure = make_figure_below(title, width=COLUMN_WIDTH, height=height)
    draw_check(result, figure.subplots())
    return figure


FIGURES = {Reproducibility: Drawing({"seeds": draw_check}, compose_check, {"seeds": check_height})}
