"""Results drawn with matplotlib, which is imported only when something is drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outperform.analysis.comparison import Comparison, TaskComparisons
from outperform.analysis.decomposition import Decomposition
from outperform.analysis.expected_best import ExpectedBest
from outperform.analysis.leaderboards import LeaderboardAssessment
from outperform.analysis.planning import Plan
from outperform.analysis.predicted_leaderboards import PredictionAssessment
from outperform.analysis.published import PublishedComparison
from outperform.analysis.search_curves import SearchCurves
from outperform.errors import InvalidInput
from outperform.plots.comparison import draw_densities, draw_differences
from outperform.plots.composing import (
    compose_comparison,
    compose_plan,
    compose_published,
    compose_tasks,
    forest_height,
)
from outperform.plots.decomposition import (
    compose_decomposition,
    decomposition_height,
    draw_decomposition,
)
from outperform.plots.expected_best import (
    compose_expected_best,
    draw_best_cdf,
    draw_best_pmf,
    draw_one,
)
from outperform.plots.leaderboards import compose_leaderboard, draw_leaderboard
from outperform.plots.planning import draw_plan, draw_sample_sizes
from outperform.plots.probability import draw_probability, draw_tasks
from outperform.plots.search_curves import compose_search_curves, draw_search_curves
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

__all__ = [
    "draw_best_cdf",
    "draw_best_pmf",
    "draw_decomposition",
    "draw_densities",
    "draw_differences",
    "draw_leaderboard",
    "draw_one",
    "draw_probability",
    "draw_sample_sizes",
    "draw_search_curves",
    "figure",
    "plot",
    "save_figure",
]


@dataclass(frozen=True, slots=True)
class _Drawing:
    """How one kind of result is drawn."""

    views: dict[str, Callable[[Any, "Axes"], None]]  # the default first
    compose: Callable[[Any], "Figure"]


_DRAWINGS: dict[type, _Drawing] = {
    Comparison: _Drawing(
        {
            "probability": draw_probability,
            "densities": draw_densities,
            "differences": draw_differences,
        },
        compose_comparison,
    ),
    TaskComparisons: _Drawing({"probability": draw_tasks}, compose_tasks),
    PublishedComparison: _Drawing({"probability": draw_probability}, compose_published),
    Plan: _Drawing({"sample sizes": draw_plan}, compose_plan),
    ExpectedBest: _Drawing(
        {"one": draw_one, "best cdf": draw_best_cdf, "best pmf": draw_best_pmf},
        compose_expected_best,
    ),
    LeaderboardAssessment: _Drawing({"leaderboard": draw_leaderboard}, compose_leaderboard),
    PredictionAssessment: _Drawing({"leaderboard": draw_leaderboard}, compose_leaderboard),
    SearchCurves: _Drawing({"curves": draw_search_curves}, compose_search_curves),
    Decomposition: _Drawing({"sources": draw_decomposition}, compose_decomposition),
    tuple: _Drawing({"sources": draw_decomposition}, compose_decomposition),  # several of them
}
_HEIGHTS = {
    "probability": 1.5,
    "densities": 1.8,
    "differences": 1.8,
    "sample sizes": 2.4,
    "curves": 2.3,
    "one": 2.5,
    "best cdf": 2.0,
    "best pmf": 2.0,
    "leaderboard": 2.7,
}

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
        What `compare`, `compare_runs`, `compare_published`, `plan`, `decompose`,
        `decompose_runs`, `expect_best`, `assess_leaderboard` or `assess_predictions` returned.
    ax
        Axes to draw on, in the style that they and matplotlib are set to. By default new ones,
        one column of a paper wide, in the house style.
    view
        ``"probability"``, ``"densities"`` or ``"differences"`` (of pairs) of a comparison;
        ``"one"``, ``"best cdf"`` or ``"best pmf"`` of an expected best; the other results have
        one view each.

    Returns
    -------
    The axes; ``.figure.savefig(path)`` saves them.

    Examples
    --------
    >>> from outperform.analysis.comparing import compare
    >>> ax = plot(compare([0.9, 0.8, 0.9], [0.7, 0.8, 0.6]), view="differences")
    >>> ax.get_xlabel()
    'A − B, score (higher is better)'
    """
    views = _find_drawing(result).views
    view = next(iter(views)) if view is None else view
    check_choice("view", view, views)
    if ax is not None:
        views[view](result, ax)
        return ax
    with house_style():
        made = make_figure(COLUMN_WIDTH, _find_height(result, view))
        ax = made.subplots()
        views[view](result, ax)
        settle_ticks(made)
    return ax


def figure(result: Any) -> "Figure":
    """Draw all views of a result together, with its verdict as title.

    Parameters
    ----------
    result
        What `compare`, `compare_runs`, `compare_published`, `plan`, `decompose` or
        `decompose_runs` returned.

    Returns
    -------
    A figure in the house style, unknown to ``matplotlib.pyplot``.
    """
    with house_style():
        made = _find_drawing(result).compose(result)
        settle_ticks(made)
    return made


def check_path(path: str | Path) -> Path:
    """Path of a figure, if one can be saved there."""
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


def _find_drawing(result: Any) -> _Drawing:
    others = isinstance(result, tuple) and not all(isinstance(r, Decomposition) for r in result)
    if type(result) not in _DRAWINGS or others:
        known = ", ".join(kind.__name__ for kind in _DRAWINGS if kind is not tuple)
        raise InvalidInput(
            f"there is no figure of a {type(result).__name__}",
            f"Pass one of {known}, or a tuple of the last",
        )
    return _DRAWINGS[type(result)]


def _find_height(result: Any, view: str) -> float:
    if isinstance(result, TaskComparisons):
        return forest_height(len(result.comparisons))
    if isinstance(result, Decomposition | tuple):
        return decomposition_height(result)
    return _HEIGHTS[view]
