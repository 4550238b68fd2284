"""How results are drawn: each question's `figure` says it of its own, in `FIGURES`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from outperform.errors import InvalidInput
from outperform.questions.rooms import find_room

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT = 2.3  # inches, of a view that says nothing else


@dataclass(frozen=True, slots=True)
class Drawing:
    """How one kind of result is drawn.

    Attributes
    ----------
    views
        What there is to see, the default first.
    compose
        Draws the whole figure.
    heights
        Inches that a view needs, or how to find out.
    grouped
        Whether a tuple of such results is drawn together.
    """

    views: Mapping[str, Callable[[Any, "Axes"], None]]
    compose: Callable[[Any], "Figure"]
    heights: Mapping[str, float | Callable[[Any], float]] = field(default_factory=dict)
    grouped: bool = False


def find_drawing(result: Any) -> Drawing:
    """Find how a result, or a tuple of results that are drawn together, is drawn."""
    kinds = {type(each) for each in result} if isinstance(result, tuple) else {type(result)}
    (kind,) = kinds if len(kinds) == 1 else (tuple,)
    drawing = getattr(find_room(kind, "figure"), "FIGURES", {}).get(kind)
    if drawing is None or (isinstance(result, tuple) and not drawing.grouped):
        raise InvalidInput(
            f"there is no figure of a {type(result).__name__}",
            "Pass a result, such as what `compare`, `plan` or `decompose` returned",
        )
    found: Drawing = drawing
    return found


def find_height(result: Any, view: str) -> float:
    """Inches that a view needs."""
    height = find_drawing(result).heights.get(view, _HEIGHT)
    return height(result) if callable(height) else height
