"""Results drawn with matplotlib, which is imported only when something is drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outperform.analysis.audits import Audit, SelfAudit
from outperform.analysis.best_of_n import BestOf, BestOfComparison, BestOfEach
from outperform.analysis.comparison import Comparison, TaskComparisons
from outperform.analysis.crossed_decomposition import CrossedDecomposition
from outperform.analysis.decomposition import Decomposition
from outperform.analysis.error_rates import ErrorRates
from outperform.analysis.expected_best import ExpectedBest
from outperform.analysis.leaderboards import LeaderboardAssessment
from outperform.analysis.planning import Plan
from outperform.analysis.predicted_leaderboards import PredictionAssessment
from outperform.analysis.published import PublishedComparison
from outperform.analysis.search_curves import SearchCurves
from outperform.analysis.seeds_curve import SeedsCurve
from outperform.errors import InvalidInput
from outperform.plots.auditing import (
    draw_audit_densities,
    draw_between,
    draw_differences_of_best,
    draw_effect_sizes,
    draw_few_seeds,
    draw_gaps,
    draw_random_sets,
    draw_same_seeds,
    draw_within,
)
from outperform.plots.best_of_n import (
    compose_best_of,
    compose_best_of_comparison,
    compose_best_of_each,
    draw_agreement,
    draw_best_of_curves,
    draw_best_of_densities,
    draw_spreads,
)
from outperform.plots.comparison import draw_densities, draw_differences
from outperform.plots.composing import (
    compose_audit,
    compose_comparison,
    compose_plan,
    compose_published,
    compose_tasks,
    forest_height,
)
from outperform.plots.crossed_decomposition import (
    components_height,
    compose_components,
    draw_components,
)
from outperform.plots.decomposition import (
    compose_decomposition,
    decomposition_height,
    draw_decomposition,
)
from outperform.plots.error_rates import compose_error_rates, draw_detection, draw_effort
from outperform.plots.expected_best import (
    compose_expected_best,
    draw_best_cdf,
    draw_best_pmf,
    draw_one,
)
from outperform.plots.leaderboards import compose_leaderboard, draw_leaderboard
from outperform.plots.planning import draw_plan, draw_sample_sizes
from outperform.plots.probability import draw_probability, draw_tasks
from outperform.plots.search_curves import (
    compose_search_curves,
    draw_search_curves,
    draw_test_curves,
)
from outperform.plots.seeds_curve import compose_seeds, draw_seeds
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
    "draw_agreement",
    "draw_best_cdf",
    "draw_best_of_curves",
    "draw_best_of_densities",
    "draw_best_pmf",
    "draw_components",
    "draw_decomposition",
    "draw_densities",
    "draw_detection",
    "draw_differences",
    "draw_leaderboard",
    "draw_one",
    "draw_probability",
    "draw_sample_sizes",
    "draw_search_curves",
    "draw_seeds",
    "draw_spreads",
    "draw_test_curves",
    "figure",
    "plot",
    "save_figure",
]


@dataclass(frozen=True, slots=True)
class _Drawing:
    """How one kind of result is drawn."""

    views: dict[str, Callable[[Any, "Axes"], None]]  # the default first
    compose: Callable[[Any], "Figure"]


# Of an audit: views of one algorithm or of two, and those that need two.
_OF_ONE: dict[str, Callable[[Any, "Axes"], None]] = {
    "densities": draw_audit_densities,
    "few seeds": draw_few_seeds,
    "differences": draw_differences_of_best,
    "effect sizes": draw_effect_sizes,
    "within": draw_within,
    "gaps": draw_gaps,
}
_OF_TWO: dict[str, Callable[[Any, "Axes"], None]] = {
    "random sets": draw_random_sets,
    "between": draw_between,
    "same seeds": draw_same_seeds,
}

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
    Audit: _Drawing({**_OF_TWO, **_OF_ONE}, compose_audit),
    SelfAudit: _Drawing(_OF_ONE, compose_audit),
    Plan: _Drawing({"sample sizes": draw_plan}, compose_plan),
    SearchCurves: _Drawing(
        {"validation": draw_search_curves, "test": draw_test_curves}, compose_search_curves
    ),
    ErrorRates: _Drawing({"detection": draw_detection, "effort": draw_effort}, compose_error_rates),
    SeedsCurve: _Drawing({"seeds": draw_seeds}, compose_seeds),
    BestOf: _Drawing(
        {
            "curves": draw_best_of_curves,
            "densities": draw_best_of_densities,
            "agreement": draw_agreement,
            "spreads": draw_spreads,
        },
        compose_best_of,
    ),
    BestOfComparison: _Drawing(
        {
            "curves": draw_best_of_curves,
            "densities": draw_best_of_densities,
            "agreement": draw_agreement,
        },
        compose_best_of_comparison,
    ),
    BestOfEach: _Drawing({"curves": draw_best_of_curves}, compose_best_of_each),
    ExpectedBest: _Drawing(
        {"one": draw_one, "best cdf": draw_best_cdf, "best pmf": draw_best_pmf},
        compose_expected_best,
    ),
    LeaderboardAssessment: _Drawing({"leaderboard": draw_leaderboard}, compose_leaderboard),
    PredictionAssessment: _Drawing({"leaderboard": draw_leaderboard}, compose_leaderboard),
    Decomposition: _Drawing({"sources": draw_decomposition}, compose_decomposition),
    CrossedDecomposition: _Drawing({"components": draw_components}, compose_components),
}
_GROUPED = (Decomposition, CrossedDecomposition)  # drawn together, a tuple of them
_HEIGHTS = {
    "probability": 1.5,
    "densities": 1.8,
    "differences": 1.8,
    "detection": 3.2,
    "effort": 3.2,
    "best cdf": 2.0,
    "best pmf": 2.0,
    "leaderboard": 2.7,
}
_HEIGHT = 2.3  # inches, of any other view

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
        As of `plot`.

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
    kinds = {type(each) for each in result} if isinstance(result, tuple) else {type(result)}
    (kind,) = kinds if len(kinds) == 1 else (tuple,)
    if kind not in _DRAWINGS or (isinstance(result, tuple) and kind not in _GROUPED):
        raise InvalidInput(
            f"there is no figure of a {type(result).__name__}",
            "Pass a result, such as what `compare`, `plan` or `decompose` returned",
        )
    return _DRAWINGS[kind]


def _find_height(result: Any, view: str) -> float:
    if isinstance(result, TaskComparisons):
        return forest_height(len(result.comparisons))
    if view == "sources":
        return decomposition_height(result)
    return components_height(result) if view == "components" else _HEIGHTS.get(view, _HEIGHT)
