"""Figures of audits on several tasks: how few hidden runs move each verdict, one row per task."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from outperform.questions.audit.result import Audit
from outperform.questions.audit.task_results import TaskAudits, TaskSelfAudits
from outperform.render.style import (
    COLOUR_A,
    COLOUR_B,
    COLOUR_BAND,
    COLOUR_NEITHER,
    COLOUR_NOTE,
    COLUMN_WIDTH,
    escape,
    lay_out_rows,
    make_figure,
    short_names,
    title_height,
    wrap_title,
    write_note,
)
from outperform.wording import shorten_apart

_ROW_HEIGHT = 0.17  # inches, of a task
_COLOURS = {"a": COLOUR_A, "b": COLOUR_B}
_NOBODY = 1.0  # where a verdict stands that no number of hidden runs moves


def draw_hidden(tasks: TaskAudits, ax: Axes) -> None:
    """Draw the smallest share of hidden runs that undoes each verdict, or that makes one.

    Filled, in the winner's colour: it undoes a verdict. Hollow, in the colour of the side that it
    would make the winner: there is none. Within the band of a tenth, a verdict is fragile.
    """
    ax.axvspan(0, 0.1, color=COLOUR_BAND, linewidth=0, zorder=0, gid="tenth")
    for row, audit in enumerate(tasks.audits):
        _draw_row(audit, row, ax)
    _label_rows(ax, [audit.comparison.task for audit in tasks.audits])
    first = tasks.audits[0]
    ax.set_xlabel(f"share of {first.unit} to hide (grey: up to a tenth)")
    names = zip(short_names(first.comparison, 14), _COLOURS.values(), strict=True)
    entries = [(f"{name} wins", colour, colour) for name, colour in names]
    entries += [("undone", COLOUR_NOTE, COLOUR_NOTE), ("made", COLOUR_NOTE, "white")]
    ax.legend(
        [Line2D([], [], marker="o", ls="", color=edge, mfc=face) for _, edge, face in entries],
        [label for label, *_ in entries],
        loc="lower left",
        bbox_to_anchor=(-0.02, 1),
        ncols=2,
        fontsize="small",
        markerscale=0.75,
        borderaxespad=0.2,
        columnspacing=1,
        handletextpad=0.2,
    )


def _draw_row(audit: Audit, row: int, ax: Axes) -> None:
    move, winner = audit.easiest_move, audit.comparison.winner
    if move.n is None:
        write_note(ax, "by no number", (_NOBODY, row), (0, 0), ha="right", va="center")
        return
    share = audit.share_to_move
    side = winner or ("a" if move is audit.hidden[0] else "b")
    colour = _COLOURS[side]
    ax.plot([0, share], [row, row], color=COLOUR_NEITHER, linewidth=0.8, zorder=1)
    face = colour if winner else "white"
    ax.plot([share], [row], "o", color=colour, mfc=face, ms=4.5, gid=f"hidden-{row}", zorder=2)
    text = f"{move} of {audit.n_runs}"
    write_note(ax, text, (share, row), (5, 0), va="center", annotation_clip=False)


def draw_fooled(tasks: TaskSelfAudits, ax: Axes) -> None:
    """Draw up to what share of the runs the best and the worst differ significantly."""
    for row, audit in enumerate(tasks.audits):
        n, total = audit.n_fooled, audit.scores.size
        ax.plot([0, n / total], [row, row], color=COLOUR_NEITHER, linewidth=0.8, zorder=1)
        ax.plot([n / total], [row], "o", color=COLOUR_A, ms=4.5, gid=f"fooled-{row}", zorder=2)
        write_note(ax, f"{n} of {total}", (n / total, row), (5, 0), va="center")
    _label_rows(ax, [audit.task for audit in tasks.audits])
    ax.set_xlabel("largest share of runs of which the best\nand the worst differ significantly")


def _label_rows(ax: Axes, tasks: list[str]) -> None:
    labels = [escape(task) for task in shorten_apart(tasks, 18)]
    lay_out_rows(ax, [float(row) for row in range(len(tasks))], labels)
    ax.set_ylim(len(tasks) - 0.4, -0.6)
    ax.set_xlim(-0.02, 1.25)  # room for the numbers beside the last dot
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1])
    ax.spines["bottom"].set_bounds(0, 1)
    ax.xaxis.set_major_formatter(PercentFormatter(1))


def rows_height(tasks: TaskAudits | TaskSelfAudits) -> float:
    """Height in inches of a figure with a row per task."""
    return 1.0 + _ROW_HEIGHT * max(2, len(tasks.audits))


def compose_tasks(tasks: TaskAudits | TaskSelfAudits) -> Figure:
    """Draw a row per task below what is concluded."""
    title = wrap_title(escape(_shorten_names(tasks)), COLUMN_WIDTH)
    figure = make_figure(COLUMN_WIDTH, rows_height(tasks) + title_height(title), title)
    draw = draw_hidden if isinstance(tasks, TaskAudits) else draw_fooled
    draw(tasks, figure.subplots())  # type: ignore[arg-type]
    return figure


def _shorten_names(tasks: TaskAudits | TaskSelfAudits) -> str:
    """What is concluded, with names that leave room for it."""
    sentence = str(tasks)
    if isinstance(tasks, TaskAudits):
        algorithms = [tasks.a, tasks.b]
        names = [*algorithms, *(audit.comparison.task for audit in tasks.audits)]
    else:
        algorithms = [tasks.algorithm]
        names = [*algorithms, *(audit.task for audit in tasks.audits)]
    n = len(algorithms)
    short = [*shorten_apart(names[:n], 22), *shorten_apart(names[n:], 22)]
    for name, instead in zip(names, short, strict=True):
        sentence = sentence.replace(name, instead) if len(name) > len(instead) else sentence
    return sentence
