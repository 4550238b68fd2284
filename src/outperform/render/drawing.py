"""How results are drawn: each question's `figure` says it of its own, in `FIGURES`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from outperform.errors import InvalidInput
from outperform.questions.rooms import find_room
from outperform.render.labels import escape, wrap_lines
from outperform.render.style import COLOUR_NEITHER
from outperform.runs.scope import join_scopes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT = 2.3  # inches, of a view that says nothing else
_CHARACTERS = 15  # of a title, per inch
_SMALL_CHARACTERS = 21  # of what stands below all views, per inch
_SMALL_LINE = 0.12  # inches
_POINTS = 72  # per inch


@dataclass(frozen=True, slots=True)
class Drawing:
    """How one kind of result is drawn."""

    views: Mapping[str, Callable[[Any, "Axes"], None]]  # what there is to see, the default first
    compose: Callable[[Any], "Figure"]  # draws the whole figure
    # Inches that a view needs, or how to find out.
    heights: Mapping[str, float | Callable[[Any], float]] = field(default_factory=dict)
    grouped: bool = False  # whether a tuple of such results is drawn together

    def height_of(self, view: str, result: Any) -> float:
        """Inches that a view of a result needs."""
        height = self.heights.get(view, _HEIGHT)
        return height(result) if callable(height) else height


def look_up_drawing(result: Any) -> Drawing | None:
    """How a result, or a tuple of results that are drawn together, is drawn; None if it is not."""
    kinds = {type(each) for each in result} if isinstance(result, tuple) else {type(result)}
    (kind,) = kinds if len(kinds) == 1 else (tuple,)
    drawing: Drawing | None = getattr(find_room(kind, "figure"), "FIGURES", {}).get(kind)
    grouped = drawing is not None and drawing.grouped
    return drawing if grouped or not isinstance(result, tuple) else None


def find_drawing(result: Any) -> Drawing:
    """Find how a result, or a tuple of results that are drawn together, is drawn."""
    drawing = look_up_drawing(result)
    if drawing is None:
        raise InvalidInput(
            f"there is no figure of a {type(result).__name__}",
            "Pass a result, such as what `compare`, `plan` or `decompose` returned",
        )
    return drawing


def write_scope(figure: "Figure", result: Any) -> None:
    """Write what a result is about below all views, in a figure that grows by as much."""
    together = isinstance(result, tuple)
    tasks = [each.task for each in result] if together else []
    scope = join_scopes([each.scope for each in result], tasks) if together else result.scope
    width, height = figure.get_size_inches()
    lines = wrap_lines(escape(str(scope)), int(_SMALL_CHARACTERS * width))
    below = _SMALL_LINE * len(lines) + 0.06
    figure.set_size_inches(width, height + below)
    share = below / (height + below)
    engine = figure.get_layout_engine()
    assert engine is not None
    left, _, wide, _ = engine.get()["rect"]
    engine.set(rect=(left, share, wide, 1 - share))  # type: ignore[call-arg]
    for legend in figure.legends:  # at the lower edge of the figure, whatever the layout
        legend.borderaxespad += _POINTS * below / legend.prop.get_size_in_points()
    look: dict[str, Any] = {"fontsize": "x-small", "color": COLOUR_NEITHER, "gid": "scope"}
    y = 0.03 / (height + below)
    figure.text(0.5, y, "\n".join(lines), ha="center", va="bottom", **look)


def wrap_title(sentence: str, width: float) -> str:
    """Break a title into lines as wide as so many inches."""
    return "\n".join(wrap_lines(sentence, int(_CHARACTERS * width)))


def title_height(title: str) -> float:
    """Inches that a title takes."""
    return 0.1 + 0.14 * (1 + title.count("\n"))


def widen(figure: "Figure", width: float) -> None:
    """Give a figure another width, and its title lines of that length."""
    title, height = figure.get_suptitle(), figure.get_figheight()
    wrapped = wrap_title(title.replace("\n", " "), width)
    if title:
        figure.suptitle(wrapped, fontsize="medium")
        height += title_height(wrapped) - title_height(title)
    figure.set_size_inches(width, height)


def remove_title(figure: "Figure") -> None:
    """Leave the verdict to the caption of a paper."""
    title = figure.get_suptitle()
    if title:
        figure.suptitle("")
        width, height = figure.get_size_inches()
        figure.set_size_inches(width, height - title_height(title))
