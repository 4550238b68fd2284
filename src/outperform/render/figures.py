"""Any result drawn with matplotlib, which is imported only when something is drawn.

How each kind is drawn, its question's `figure` says, in `FIGURES`.
"""

import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from outperform.errors import InvalidInput
from outperform.questions import find_room
from outperform.render.style import (
    COLUMN_WIDTH,
    GOES_ON,
    find_size,
    house_style,
    make_figure,
    remove_title,
    widen,
    wrap_evenly,
    write_scope,
)
from outperform.stats.checks import check_choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.text import Text
    from matplotlib.transforms import Transform

# Neither holds the time of drawing, so that the same result gives the same file.
_METADATA: dict[str, dict[str, Any]] = {
    ".pdf": {"CreationDate": None},
    ".png": {},
    ".svg": {"Date": None},
}
_DPI = {".png": 200}
_DPI_OF_DOTS = 300  # of what vector files hold as an image
_HEIGHT = 2.3  # inches, of a view that says nothing else
_LETTERS = 130  # of one point, on an inch
_FEWEST_LETTERS = 8  # on a line below axes, however narrow
_WIDEST_LEGEND = 0.8  # of the axes, which ticks may still make narrower, before it squeezes them
_NARROW_LEGEND = 0.5  # of the same, beside axes
_HIGHEST_LEGEND = 0.35  # likewise, where smaller letters can help
_SMALLER = 0.9
_TICK_ROOM = 1.2  # of the width of a number below axes, which it takes with what keeps it apart
_WIDEST_TICKS = 0.9  # of the axes, on which numbers are sure to have room
_MOST_THINNED = 5  # times that numbers are left out
_WIDEST_ROWS = 0.5  # of a column of axes, which names of rows may take before they are smaller
_SMALLEST_LETTERS = 5  # points; once smaller, letters do not shrink on
_LEAST_ROOM = 13  # heights of a letter that axes have in either direction
_ROW_ROOM = 1.8  # likewise of each row, and what stands below all of them
_POINTS = 72  # per inch
_SLACK = 0.02  # inches that may lie beyond an edge, or in other axes: half of a marker, say
_WIDTHS = (2.5, 20.0)  # inches, between which texts have room and files are no posters


@dataclass(frozen=True, slots=True)
class Drawing:
    """How one kind of result is drawn."""

    views: Mapping[str, Callable[[Any, "Axes"], None]]  # what there is to see, the default first
    compose: Callable[[Any], "Figure"]  # draws the whole figure
    # Inches that a view needs, or how to find out.
    heights: Mapping[str, float | Callable[[Any], float]] = field(default_factory=dict)

    def height_of(self, view: str, result: Any) -> float:
        """Inches that a view of a result needs."""
        height = self.heights.get(view, _HEIGHT)
        return height(result) if callable(height) else height


def look_up_drawing(result: Any) -> Drawing | None:
    """How a result is drawn; None if it is not."""
    kind = type(result)
    drawing: Drawing | None = getattr(find_room(kind, "figure"), "FIGURES", {}).get(kind)
    return drawing


def find_drawing(result: Any) -> Drawing:
    """Find how a result is drawn."""
    drawing = look_up_drawing(result)
    if drawing is None:
        raise InvalidInput(
            f"there is no figure of a {type(result).__name__}",
            "Pass a result, such as what `compare`, `plan` or `decompose` returned",
        )
    return drawing


def plot(result: Any, ax: "Axes | None" = None, *, view: str | None = None) -> "Axes":
    """Draw one view of a result.

    Parameters
    ----------
    result
        A result: what `compare`, `plan`, `best_of_runs`, `decompose` or any other function that
        concludes something returned.
    ax
        Axes to draw on, in the style that they and matplotlib are set to; a legend that is wider
        than they are is left out. By default new ones, one column of a paper wide, in the house
        style; a notebook shows them, and so does ``plt.show()``.
    view
        One of the result's views, such as ``"densities"`` of a comparison, the first by default; a
        word that is none is refused with a list of them.

    Returns
    -------
    The axes; ``.figure.savefig(path)`` saves them.

    Examples
    --------
    >>> from outperform.questions.compare.answer import compare
    >>> ax = plot(compare([0.9, 0.8, 0.9], [0.7, 0.8, 0.6]), view="differences")
    >>> ax.get_xlabel()
    'A − B, score (higher is better)'
    """
    drawing = find_drawing(result)
    view = next(iter(drawing.views)) if view is None else view
    check_choice("view", view, drawing.views)
    if ax is not None:
        from matplotlib.axes import Axes

        if not isinstance(ax, Axes):
            raise InvalidInput(
                f"ax is of type {type(ax).__name__}, not matplotlib's axes",
                "Pass one of the axes that plt.subplots returned, or leave it out",
            )
        drawing.views[view](result, ax)
        _make_room(ax)
        return ax
    from matplotlib import pyplot  # which notebooks and plt.show() look at

    with house_style():
        size = (COLUMN_WIDTH, drawing.height_of(view, result))
        shown = pyplot.figure(figsize=size, layout="constrained")
        ax = shown.subplots()
        drawing.views[view](result, ax)
        shown.draw_without_rendering()  # makes the ticks, which it puts off, in this style
    return ax


def _make_room(ax: "Axes") -> None:
    """Have matplotlib keep labels off neighbouring axes, unless somebody has laid them out."""
    from matplotlib.figure import Figure

    _fit_letters(ax)
    _fit_rows(ax)
    # Labels of rows take part of the width from axes that have neighbours, or that are narrow.
    width = find_size(ax)[0] * (0.8 if len(ax.figure.axes) > 1 else 1)
    rows = max((text.get_window_extent().width for text in ax.get_yticklabels()), default=0)
    width = min(width, 0.9 * float(ax.figure.bbox.width - rows) / ax.figure.dpi)
    legend_title = [legend.get_title()] if (legend := ax.get_legend()) else []
    for text in (ax.xaxis.label, *_find_titles(ax), *legend_title):
        n_letters = max(_FEWEST_LETTERS, int(width * _LETTERS / float(text.get_fontsize())))
        phrases = text.get_text().replace(GOES_ON, " ").split("\n")
        if max(map(len, phrases)) > n_letters:  # each on lines of its own
            wrapped = chain.from_iterable(wrap_evenly(each, n_letters) for each in phrases)
            text.set_text("\n".join(wrapped))
    _fit_legend(ax)
    for axes in (ax, *ax.child_axes):
        _thin_ticks(axes, _foresee_width(ax, _WIDEST_TICKS), named=axes is not ax)
    # Axes of `add_axes` lie where somebody put them.
    in_grid = ax.get_subplotspec() is not None
    if isinstance(ax.figure, Figure) and in_grid and ax.figure.get_layout_engine() is None:
        ax.figure.set_layout_engine("constrained")


def _fit_legend(ax: "Axes") -> None:
    """Write a legend that is wider than its axes above them: in one column, in smaller letters.

    It stands above titles and axes that are there; one that stands beside the axes stays there.
    Where that does not do either it is left out; what is its title stays.
    """
    legend, width = ax.get_legend(), _foresee_width(ax)
    if legend is None:
        return
    box = legend.get_window_extent()
    beside = box.x0 >= ax.bbox.x1
    width *= _NARROW_LEGEND if beside else 1
    if box.width <= width:
        return
    title = legend.get_title()
    if not title.get_text() and ax.get_title():  # which would be written over
        title.set_text(ax.get_title())
        ax.set_title("")
    smaller = _shrink_legend(ax, legend, width, beside=beside)
    if smaller.get_window_extent().width <= width:
        return
    smaller.remove()
    if title.get_text():
        ax.set_title(title.get_text(), loc="left", fontsize=title.get_fontsize())


def _shrink_legend(ax: "Axes", legend: "Legend", width: float, *, beside: bool) -> "Legend":
    """Write a legend in one column above axes, or beside them, in letters that make it fit."""
    handles = [handle for handle in legend.legend_handles if handle is not None]
    labels, title = [text.get_text() for text in legend.get_texts()], legend.get_title()
    size, title_size = (float(text.get_fontsize()) for text in (legend.get_texts()[0], title))
    look: dict[str, Any] = {"title": title.get_text(), "alignment": "left", "frameon": False}
    look |= {"handlelength": 1.2, "borderaxespad": 0.2, "labelspacing": 0.2}
    height = ax.bbox.height
    if beside:
        look |= {"loc": "upper left", "bbox_to_anchor": (1, 1)}
    else:
        height *= _HIGHEST_LEGEND
        look |= {"loc": "lower left", "bbox_to_anchor": (0, 1)}
        look["bbox_transform"] = ax.transAxes + _foresee_shift(ax)
    while True:
        look |= {"fontsize": size, "title_fontsize": min(size, title_size)}
        smaller = ax.legend(handles, labels, **look)
        box = smaller.get_window_extent()
        if size < _SMALLEST_LETTERS or (box.width <= width and box.height <= height):
            return smaller
        size *= _SMALLER


def _foresee_shift(ax: "Axes") -> "Transform":
    """Shift by what titles and other axes above these take, however high these will be."""
    from matplotlib.transforms import ScaledTranslation

    ax.get_tightbbox()  # lifts titles above other axes
    boxes = [text.get_window_extent() for text in _find_titles(ax) if text.get_text()]
    boxes += [box for child in ax.child_axes if (box := child.get_tightbbox())]
    height = max((box.y1 - ax.bbox.y1 for box in boxes), default=0.0)
    return ScaledTranslation(0, max(height, 0.0) / ax.figure.dpi, ax.figure.dpi_scale_trans)


def _foresee_width(ax: "Axes", share: float = _WIDEST_LEGEND) -> float:
    """Pixels that something may take: of axes in a grid, what their labels will leave them."""
    if ax.get_subplotspec() is None:
        return share * float(ax.bbox.width)
    labels = ax.yaxis.get_tightbbox()
    return share * (_measure_column(ax) - float(labels.width if labels else 0))


def _thin_ticks(axes: Any, width: float, *, named: bool) -> None:
    """Leave out numbers on a horizontal axis as long as they touch each other."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    axis = axes.xaxis
    for _ in range(_MOST_THINNED):
        labels = [label for label in axis.get_ticklabels() if label.get_text()]
        if len(labels) < 2:
            return
        places = [axes.transData.transform((label.get_position()[0], 0))[0] for label in labels]
        sizes = [_TICK_ROOM * label.get_window_extent().width for label in labels]
        room = np.diff(places) * width / axes.bbox.width
        if (np.abs(room) >= np.convolve(sizes, [0.5, 0.5], "valid")).all():
            return
        locator = axis.get_major_locator()
        if isinstance(locator, MaxNLocator):
            locator.set_params(nbins=max(1, len(labels) - 2), min_n_ticks=1)
        elif isinstance(locator, FixedLocator) and not named:
            kept = [(label.get_position()[0], label.get_text()) for label in labels[::2]]
            axes.set_xticks(*zip(*kept, strict=True))


def _find_titles(ax: Any) -> "list[Text]":
    """Titles in the middle and on either side."""
    from matplotlib.text import Text

    every = [child for child in ax.get_children() if isinstance(child, Text)]
    return [text for text in every if text not in ax.texts]


def _fit_letters(ax: "Axes") -> None:
    """Make letters smaller that are too large for axes as small as these."""
    from matplotlib.text import Text

    factor = _POINTS * min(find_size(ax)) / float(ax.xaxis.label.get_fontsize())
    factor /= max([_LEAST_ROOM, *(_ROW_ROOM * n for n in _count_rows(ax))])
    if factor >= 1:
        return
    for axes in (ax, *ax.child_axes):
        for axis in (axes.xaxis, axes.yaxis):
            size = float(axis.get_major_ticks(1)[0].label1.get_fontsize())
            axis.set_tick_params(labelsize=factor * size)
            axis.label.set_fontsize(factor * float(axis.label.get_fontsize()))
        texts = (*axes.texts, *_find_titles(axes), *(axes.get_legend() or axes.title).findobj(Text))
        for text in dict.fromkeys(texts):
            text.set_fontsize(factor * float(text.get_fontsize()))


def _fit_rows(ax: "Axes") -> None:
    """Write names of rows that would take most of the width in smaller letters."""
    if ax.get_subplotspec() is None or not (labels := ax.get_yticklabels()):
        return
    widest = max(label.get_window_extent().width for label in labels)
    size = float(labels[0].get_fontsize())
    if widest > (room := _WIDEST_ROWS * _measure_column(ax)):
        ax.tick_params(axis="y", labelsize=max(min(size, _SMALLEST_LETTERS), size * room / widest))


def _measure_column(ax: "Axes") -> float:
    """Pixels of the columns that axes have in their grid, labels included."""
    place = ax.get_subplotspec()
    assert place is not None
    return float(ax.figure.bbox.width) * len(place.colspan) / place.get_gridspec().ncols


def _count_rows(ax: "Axes") -> Iterator[float]:
    """Lines of labels that axes would have, were all as high as those of each panel on them."""
    from matplotlib.ticker import FixedLocator

    for axes in (ax, *ax.child_axes):
        if isinstance(axes.yaxis.get_major_locator(), FixedLocator):
            locate: Any = None if axes is ax else axes.get_axes_locator()
            share = locate(axes, None).height / ax.get_position().height if locate else 1.0
            lines = [1 + label.get_text().count("\n") for label in axes.get_yticklabels()]
            yield sum(n + (n > 1) for n in lines) / share  # an empty line between those of several


def figure(
    result: Any, *, view: str | None = None, width: float | None = None, title: bool = True
) -> "Figure":
    """Draw all views of a result together, with its verdict as title and what it is about below.

    Parameters
    ----------
    result
        As of `plot`.
    view
        Draw this view only.
    width
        In inches; by default a column or a page of a paper.
    title
        Whether the verdict stands above, or is left to a caption.

    Returns
    -------
    A figure in the house style, unknown to ``matplotlib.pyplot``.
    """
    drawing = find_drawing(result)
    if width is not None and not _WIDTHS[0] <= width <= _WIDTHS[1]:
        raise InvalidInput(
            f"the width is {width:g} inches", f"Choose one from {_WIDTHS[0]:g} to {_WIDTHS[1]:g}"
        )
    with house_style():
        if view is None:
            made = drawing.compose(result)
        else:
            check_choice("view", view, drawing.views)
            made = make_figure(COLUMN_WIDTH, drawing.height_of(view, result))
            drawing.views[view](result, made.subplots())
        if not title:
            remove_title(made)
        usual = made.get_figwidth()
        if width is not None:
            widen(made, width)
        write_scope(made, result)
        if not _settle(made) or (made.get_figwidth() < usual and _is_crowded(made)):
            names = ", ".join(map(shlex.quote, drawing.views))
            all_views = f", or draw one view only (--view, view= in Python): {names}"
            roomy = f" ({usual:g} is usual)" if made.get_figwidth() < usual else ""
            raise InvalidInput(
                f"{made.get_figwidth():g} inches have no room for {view or 'all views'} of this "
                "result",
                f"Choose a larger width{roomy}{'' if view else all_views}",
            )
    return made


def _settle(made: "Figure") -> bool:
    """Lay a figure out, unless nothing is left for the axes beside their texts."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="constrained_layout not applied")
        try:
            # The first layout changes the size of the axes, and by that the ticks and their width.
            for _ in range(2):
                if (layout := made.get_layout_engine()) is not None:
                    layout.execute(made)
        except UserWarning:
            return False
    return True


def _is_crowded(made: "Figure") -> bool:
    """Whether something goes beyond the left or the right edge of a figure, or into other axes."""
    from matplotlib.transforms import Bbox

    drawn = made.get_tightbbox()
    if drawn.x0 < -_SLACK or drawn.x1 > made.get_figwidth() + _SLACK:
        return True
    boxes = [box for ax in made.axes if ax.get_visible() and (box := ax.get_tightbbox())]
    shared = [Bbox.intersection(*pair) for pair in combinations(boxes, 2)]
    return any(box and min(box.width, box.height) > _SLACK * made.dpi for box in shared)


def check_path(path: str | Path) -> Path:
    """Path of a figure, if one can be saved there."""
    if not isinstance(path, str | Path):
        raise InvalidInput(f"the path of a figure is {path!r}", "Pass a string or a Path")
    path = Path(path)
    if path.suffix.lower() not in _METADATA:
        raise InvalidInput(
            f"cannot save a figure as {str(path)!r}", f"End the path in {', '.join(_METADATA)}"
        )
    if not path.parent.is_dir():
        raise InvalidInput(
            f"the folder {str(path.parent)!r} does not exist", "Create it, or save elsewhere"
        )
    return path


def save_figure(result: Any, path: str | Path, **options: Any) -> None:
    """Draw a result and save it; the same result always gives the same bytes.

    Parameters
    ----------
    path
        Ends in .svg, .pdf or .png (200 dots per inch).
    options
        `view`, `width` and `title` of `figure`.
    """
    path = check_path(path)
    kind = path.suffix.lower()
    picture = render_picture(figure(result, **options), kind)
    try:
        path.write_bytes(picture)
    except OSError as error:
        raise InvalidInput(
            f"cannot write {str(path)!r}: {error.strerror}",
            "Choose a path where files may be written",
        ) from error


def render_picture(made: "Figure", kind: str) -> bytes:
    """The bytes of a file of this kind, such as ``".svg"``."""
    buffer = BytesIO()
    with house_style():
        freeze_layout(made)
        dpi = _DPI.get(kind, _DPI_OF_DOTS)
        made.savefig(buffer, format=kind[1:], dpi=dpi, metadata=_METADATA[kind])
    return buffer.getvalue()


def freeze_layout(figure: "Figure") -> None:
    """Fix where axes lie, rounded: the solver's last digits differ from one time to the next."""
    figure.set_layout_engine(None)  # not "none", whose placeholder has every file drawn twice
    for ax in figure.axes:
        left, bottom, width, height = (round(float(x), 5) for x in ax.get_position().bounds)
        ax.set_position((left, bottom, width, height))
