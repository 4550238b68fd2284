"""The figure of all tasks: means with their spread, a small panel per task."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from outperform.questions.rank.ranks_figure import (
    choose_algorithms,
    explain,
    label_names,
    label_rows,
    row_height,
)
from outperform.questions.rank.result import RankedTask, Ranking
from outperform.render.style import (
    COLOUR_A,
    COLOUR_NEITHER,
    COLOUR_NOTE,
    describe_metric,
    find_size,
    shorten_label,
)

_PANELS = 0.87, 0.65  # inches that a panel takes, and at least where there are many
_MANY_ROWS = 15  # above which panels are narrow
_GAP = 0.12  # of its width, between it and the next
_HIGHEST = 8.5  # inches, of all panels
_LEAST_SHARE = 0.7  # of its height that a band may have before its axes are laid out
_TITLE, _LINE_OF_TITLE, _TICKS = 0.17, 0.11, 0.24  # inches, around a band of panels
_LONGEST_TASK = 13
_FAR = 8  # times as far away as most: drawn at the edge
_LETTER = 0.055  # inches, of a number below an axis
_USUAL_WIDTH = 2.6  # inches, of axes in a column
_ARROWS = {"maximize": "↑", "minimize": "↓"}


def tasks_height(ranking: Ranking, width: float = _USUAL_WIDTH) -> float:
    """Inches that the view of all tasks takes on axes so wide."""
    return 0.55 + _count_bands(ranking, width, _HIGHEST)[0] * _measure_band(ranking)[0]


def _measure_band(ranking: Ranking) -> tuple[float, float]:
    """Inches of a band of panels side by side, and of the rows in it."""
    n_rows = len(choose_algorithms(ranking))
    title = _TITLE if _share_metric(ranking) else _TITLE + _LINE_OF_TITLE
    rows = row_height(n_rows) * max(n_rows, 2)
    return title + rows + _TICKS, rows


def _count_bands(ranking: Ranking, width: float, height: float) -> tuple[int, int]:
    """Bands of panels, and panels in each: narrow ones if bands are high, or not all would fit."""
    most = max(1, int(min(height, _HIGHEST) / _measure_band(ranking)[0]))
    n_tasks, n_rows = len(ranking.tasks), len(choose_algorithms(ranking))
    wide, narrow = (max(1, int(width / panel)) for panel in _PANELS)
    fit = wide * most >= n_tasks and n_rows <= _MANY_ROWS
    n_columns = min(n_tasks, wide if fit else narrow)
    n_bands = min(most, math.ceil(n_tasks / n_columns))
    return n_bands, min(n_columns, math.ceil(n_tasks / n_bands))


def _share_metric(ranking: Ranking) -> bool:
    return len({(task.metric, task.goal) for task in ranking.tasks}) == 1


def draw_tasks(ranking: Ranking, ax: Axes) -> None:
    """Draw mean ± standard deviation of every algorithm, a panel per task.

    Those that may be the best are filled. What lies so far off that the others could not be told
    apart, or is infinite, is an arrow at the edge.
    """
    inches = find_size(ax)
    n_bands, n_columns = _count_bands(ranking, inches[0], inches[1] / _LEAST_SHARE)
    tasks = ranking.tasks[: n_bands * n_columns]
    # Nothing is left of the axes but their label: panels lie on them.
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.patch.set_visible(False)
    titles = label_names([task.name for task in tasks], _LONGEST_TASK)
    if not _share_metric(ranking):
        metrics = [shorten_label(task.metric, _LONGEST_TASK - 2) for task in tasks]
        parts = zip(titles, metrics, tasks, strict=True)
        titles = [f"{title}\n{metric} {_ARROWS[task.goal]}" for title, metric, task in parts]
    names = [each.name for each in choose_algorithms(ranking)]
    height, rows = _measure_band(ranking)
    width = 1 / (n_columns - _GAP)  # as the height below, a share of the axes
    for place, (task, title) in enumerate(zip(tasks, titles, strict=True)):
        band, column = divmod(place, n_columns)
        bottom = (n_bands - 1 - band + _TICKS / height) / n_bands
        size = (1 - _GAP) * width, rows / height / n_bands
        panel = ax.inset_axes((column * width, bottom, *size))
        panel.set_gid(f"task-{place}")
        _draw_task(task, names, panel, inches=(1 - _GAP) * inches[0] / n_columns)
        panel.set_title(title, fontsize=6.5, pad=3, linespacing=1.05)
        label_rows(panel, label_names(names) if column == 0 else [""] * len(names))
    explain(ranking, ax, *_describe(ranking, tasks, names))
    ax.xaxis.labelpad = -2


def _draw_task(task: RankedTask, names: Sequence[str], ax: Axes, *, inches: float) -> None:
    low, high = _find_limits(task, names)
    ax.set_xlim(low, high)
    for row, name in enumerate(names):
        mean, sd, may = task.means[name], task.sds[name], name in task.maybe_best
        colour = COLOUR_A if may else COLOUR_NEITHER
        look: dict[str, Any] = {"color": colour, "mfc": colour if may else "white", "zorder": 3}
        if math.isnan(mean):
            where: dict[str, Any] = {"ha": "center", "va": "center", "color": COLOUR_NOTE}
            behind = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
            ax.text((low + high) / 2, row, "no runs", fontsize=5, bbox=behind, **where)
        elif low <= mean <= high:
            ends = [mean - sd, mean + sd]
            ax.plot(ends, [row, row], color=colour, linewidth=1.4 if may else 0.9)
            ax.plot([mean], [row], "o", ms=3.4, mew=0.8, gid=f"mean-{row}", **look)
        else:
            edge, arrow = (low, "<") if mean < low else (high, ">")
            ax.plot([edge], [row], arrow, ms=3.4, clip_on=False, gid=f"far-{row}", **look)
    _choose_ticks(ax, inches)


def _find_limits(task: RankedTask, names: Sequence[str]) -> tuple[float, float]:
    """Ends of an axis that shows all means but those far from most."""
    means = np.array([task.means[name] for name in names])
    sds = np.nan_to_num([task.sds[name] for name in names])
    means, sds = means[np.isfinite(means)], sds[np.isfinite(means)]
    if not means.size:
        return 0.0, 1.0
    middle = np.median(means)
    usual = np.median(np.abs(means - middle)) + np.median(sds)
    near = np.abs(means - middle) <= (_FAR * usual or np.inf)
    low, high = float(np.min((means - sds)[near])), float(np.max((means + sds)[near]))
    margin = 0.07 * (high - low) or 0.1 * abs(high) or 1.0
    return low - margin, high + margin


def _choose_ticks(ax: Axes, inches: float) -> None:
    """Two round numbers where there is room for their labels within the panel, else one."""
    low, high = ax.get_xlim()
    for n in (4, 6, 9):
        ticks = [*map(float, MaxNLocator(n, steps=[1, 2, 5, 10]).tick_values(low, high))]
        texts = [f"{tick:.6g}" for tick in ticks]
        if not any("e" in text for text in texts):  # all with the same places
            n_places = max(len(text.partition(".")[2]) for text in texts)
            texts = [f"{tick:.{n_places}f}" for tick in ticks]
        labels = {tick: text.replace("-", "−") for tick, text in zip(ticks, texts, strict=True)}
        wide = _LETTER * max(map(len, labels.values())) / inches * (high - low)
        inner = [tick for tick in labels if low + wide / 2 <= tick <= high - wide / 2]
        if inner and inner[-1] - inner[0] > wide:
            break
    middle = min(labels, key=lambda tick: abs(tick - (low + high) / 2))
    chosen = [inner[0], inner[-1]] if inner and inner[-1] - inner[0] > wide else [middle]
    ax.set_xticks(chosen, [labels[tick] for tick in chosen])
    ax.tick_params(axis="x", labelsize=6, length=2, pad=1.5)


def _describe(ranking: Ranking, tasks: Sequence[RankedTask], names: Sequence[str]) -> Iterator[str]:
    """What is seen, in phrases."""
    shared = _share_metric(ranking)
    metric = describe_metric(tasks[0]) if shared else "↑ higher is better, ↓ lower is better"
    yield f"{metric}; mean ± standard deviation; filled: may be the best"
    for task in tasks:
        low, high = _find_limits(task, names)
        if any(mean < low or mean > high for mean in map(task.means.__getitem__, names)):
            yield "arrows: means beyond the axis"
            break
    if len(tasks) < len(ranking.tasks):
        yield f"the first {len(tasks)} of {len(ranking.tasks)} tasks"
