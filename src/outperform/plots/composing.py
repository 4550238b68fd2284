"""Whole figures: the views of a result put together, with the verdict as title."""

from typing import TYPE_CHECKING, Any

from outperform.plots.labels import (
    escape,
    wrap_lines,
)
from outperform.plots.style import (
    COLOUR_NEITHER,
)
from outperform.runs.scope import Scope, join_scopes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CHARACTERS = 15  # of a title, per inch
_SMALL_CHARACTERS = 21  # of what stands below all views, per inch
_SMALL_LINE = 0.12  # inches
_POINTS = 72  # per inch


def write_scope(figure: "Figure", result: Any) -> None:
    """Write what a result is about below all views, in a figure that grows by as much."""
    scope = result.scope if not isinstance(result, tuple) else _join(result)
    width, height = figure.get_size_inches()
    lines = wrap_lines(escape(str(scope)), int(_SMALL_CHARACTERS * width))
    below = _SMALL_LINE * len(lines) + 0.06
    figure.set_size_inches(width, height + below)
    share = below / (height + below)
    engine = figure.get_layout_engine()
    assert engine is not None
    engine.set(rect=(0, share, 1, 1 - share))  # type: ignore[call-arg]
    for legend in figure.legends:  # at the lower edge of the figure, whatever the layout
        legend.borderaxespad += _POINTS * below / legend.prop.get_size_in_points()
    look: dict[str, Any] = {"fontsize": "x-small", "color": COLOUR_NEITHER, "gid": "scope"}
    y = 0.03 / (height + below)
    figure.text(0.5, y, "\n".join(lines), ha="center", va="bottom", **look)


def _join(results: tuple[Any, ...]) -> Scope:
    return join_scopes([each.scope for each in results], [each.task for each in results])


def wrap_title(sentence: str, width: float) -> str:
    """Break a title into lines as wide as so many inches."""
    return "\n".join(wrap_lines(sentence, int(_CHARACTERS * width)))


def title_height(title: str) -> float:
    """Inches that a title takes."""
    return 0.1 + 0.14 * (1 + title.count("\n"))
