"""Results drawn with matplotlib.

Matplotlib and the table of all drawings are imported only when something is drawn.
"""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outperform.errors import InvalidInput
from outperform.plots.style import (
    COLUMN_WIDTH,
    freeze_layout,
    house_style,
    make_figure,
    settle_ticks,
)
from outperform.stats.checks import check_choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["figure", "plot", "save_figure"]

# Neither holds the time of drawing, so that the same result gives the same file.
_METADATA: dict[str, dict[str, Any]] = {
    ".pdf": {"CreationDate": None},
    ".png": {},
    ".svg": {"Date": None},
}
_DPI = {".png": 200}
_DPI_OF_DOTS = 300  # of what vector files hold as an image


def plot(result: Any, ax: "Axes | None" = None, *, view: str | None = None) -> "Axes":
    """Draw one view of a result.

    Parameters
    ----------
    result
        A result: what `compare`, `plan`, `best_of_runs`, `decompose` or any other function that
        concludes something returned.
    ax
        Axes to draw on, in the style that they and matplotlib are set to. By default new ones,
        one column of a paper wide, in the house style.
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
    from outperform.plots.drawings import find_drawing, find_height

    views = find_drawing(result).views
    view = next(iter(views)) if view is None else view
    check_choice("view", view, views)
    if ax is not None:
        _check_axes(ax)
        views[view](result, ax)
        return ax
    with house_style():
        made = make_figure(COLUMN_WIDTH, find_height(result, view))
        ax = made.subplots()
        views[view](result, ax)
        settle_ticks(made)
    return ax


def _check_axes(ax: object) -> None:
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise InvalidInput(
            f"ax is of type {type(ax).__name__}, not matplotlib's axes",
            "Pass one of the axes that plt.subplots returned, or leave it out",
        )


def figure(result: Any) -> "Figure":
    """Draw all views of a result together, with its verdict as title and what it is about below.

    Parameters
    ----------
    result
        As of `plot`.

    Returns
    -------
    A figure in the house style, unknown to ``matplotlib.pyplot``.
    """
    from outperform.plots.composing import write_scope
    from outperform.plots.drawings import find_drawing

    with house_style():
        made = find_drawing(result).compose(result)
        write_scope(made, result)
        settle_ticks(made)
    return made


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


def save_figure(result: Any, path: str | Path) -> None:
    """Draw a result and save it; the same result always gives the same bytes.

    Parameters
    ----------
    path
        Ends in .svg, .pdf or .png (200 dots per inch).
    """
    path = check_path(path)
    kind = path.suffix.lower()
    made, buffer = figure(result), BytesIO()
    freeze_layout(made)
    with house_style():
        made.savefig(
            buffer, format=kind[1:], dpi=_DPI.get(kind, _DPI_OF_DOTS), metadata=_METADATA[kind]
        )
    try:
        path.write_bytes(buffer.getvalue())
    except OSError as error:
        raise InvalidInput(
            f"cannot write {str(path)!r}: {error.strerror}",
            "Choose a path where files may be written",
        ) from error
