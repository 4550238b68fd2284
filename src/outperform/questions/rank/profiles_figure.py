"""The figure of performance profiles: which share of runs is above any score."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from outperform.questions.rank.ranks_figure import label_names
from outperform.render.style import COLOURS, limit_ticks
from outperform.stats.checks import FloatArray

# Beside colours, so that curves are told apart in grey.
_STYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 2)))
PROFILES_HEIGHT = 2.9  # inches


def draw_profiles(
    names: Sequence[str],
    thresholds: FloatArray,
    shares: FloatArray,
    ax: Axes,
    *,
    ends: tuple[FloatArray, FloatArray],
) -> None:
    """Draw the share of runs above each threshold, with bands; the best algorithms first.

    Those that there are no more colours for are drawn thin and grey.

    Parameters
    ----------
    names
        Of algorithms, the best first.
    thresholds : shape (n_thresholds,)
        Scores that tasks have in common, higher is better.
    shares : shape (n_algorithms, n_thresholds)
    ends : each of the shape of shares
        Lower and upper ends of their intervals.
    """
    named = label_names(names[: len(COLOURS)])
    for row in reversed(range(len(names))):  # the best on top
        if row >= len(named):
            ax.plot(thresholds, shares[row], color="#C8C8C8", lw=0.7, gid=f"profile-{row}")
            continue
        look: dict[str, Any] = {"color": COLOURS[row], "gid": f"profile-{row}"}
        ax.plot(thresholds, shares[row], linestyle=_STYLES[row], **look)
        band: dict[str, Any] = {"alpha": 0.18, "linewidth": 0, "gid": f"band-{row}"}
        low, high = (end[row] for end in ends)
        ax.fill_between(thresholds, low, high, color=COLOURS[row], **band)
    ax.set_xlim(float(thresholds.min()), float(thresholds.max()))
    ax.set_ylim(-0.02, 1.02)
    limit_ticks(ax)
    ax.set_xlabel("score τ, made comparable (higher is better)")
    ax.set_ylabel("share of runs above τ")
    _write_legend(ax, named, len(names) - len(named))


def _write_legend(ax: Axes, named: Sequence[str], n_others: int) -> None:
    """Name the curves below the axes, where no curve can be."""
    handles = [
        ax.plot([], [], linestyle=style, color=colour)[0]
        for _, style, colour in zip(named, _STYLES, COLOURS, strict=False)
    ]
    # A thin space, since matplotlib leaves out names that begin with an underscore.
    labels = [f"\u2009{name}" for name in named]
    if n_others:
        handles.append(ax.plot([], [], color="#C8C8C8", lw=0.7)[0])
        labels.append(f"{n_others} {'other' if n_others == 1 else 'others'}")
    place: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.45, -0.22)}
    ax.legend(handles, labels, ncols=2, handlelength=2.4, columnspacing=1.2, **place)
