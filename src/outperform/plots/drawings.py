"""Which figures there are of each kind of result."""

from collections.abc import Callable
from dataclasses import dataclass
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
from outperform.plots.planning import draw_plan
from outperform.plots.probability import draw_probability, draw_tasks
from outperform.plots.search_curves import (
    compose_search_curves,
    draw_search_curves,
    draw_test_curves,
)
from outperform.plots.seeds_curve import compose_seeds, draw_seeds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Drawing:
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

_DRAWINGS: dict[type, Drawing] = {
    Comparison: Drawing(
        {
            "probability": draw_probability,
            "densities": draw_densities,
            "differences": draw_differences,
        },
        compose_comparison,
    ),
    TaskComparisons: Drawing({"probability": draw_tasks}, compose_tasks),
    PublishedComparison: Drawing({"probability": draw_probability}, compose_published),
    Audit: Drawing({**_OF_TWO, **_OF_ONE}, compose_audit),
    SelfAudit: Drawing(_OF_ONE, compose_audit),
    Plan: Drawing({"sample sizes": draw_plan}, compose_plan),
    SearchCurves: Drawing(
        {"validation": draw_search_curves, "test": draw_test_curves}, compose_search_curves
    ),
    ErrorRates: Drawing({"detection": draw_detection, "effort": draw_effort}, compose_error_rates),
    SeedsCurve: Drawing({"seeds": draw_seeds}, compose_seeds),
    BestOf: Drawing(
        {
            "curves": draw_best_of_curves,
            "densities": draw_best_of_densities,
            "agreement": draw_agreement,
            "spreads": draw_spreads,
        },
        compose_best_of,
    ),
    BestOfComparison: Drawing(
        {
            "curves": draw_best_of_curves,
            "densities": draw_best_of_densities,
            "agreement": draw_agreement,
        },
        compose_best_of_comparison,
    ),
    BestOfEach: Drawing({"curves": draw_best_of_curves}, compose_best_of_each),
    ExpectedBest: Drawing(
        {"one": draw_one, "best cdf": draw_best_cdf, "best pmf": draw_best_pmf},
        compose_expected_best,
    ),
    LeaderboardAssessment: Drawing({"leaderboard": draw_leaderboard}, compose_leaderboard),
    PredictionAssessment: Drawing({"leaderboard": draw_leaderboard}, compose_leaderboard),
    Decomposition: Drawing({"sources": draw_decomposition}, compose_decomposition),
    CrossedDecomposition: Drawing({"components": draw_components}, compose_components),
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


def find_drawing(result: Any) -> Drawing:
    """Find how a result, or a tuple of results that are drawn together, is drawn."""
    kinds = {type(each) for each in result} if isinstance(result, tuple) else {type(result)}
    (kind,) = kinds if len(kinds) == 1 else (tuple,)
    if kind not in _DRAWINGS or (isinstance(result, tuple) and kind not in _GROUPED):
        raise InvalidInput(
            f"there is no figure of a {type(result).__name__}",
            "Pass a result, such as what `compare`, `plan` or `decompose` returned",
        )
    return _DRAWINGS[kind]


def find_height(result: Any, view: str) -> float:
    """Inches that a view needs."""
    if isinstance(result, TaskComparisons):
        return forest_height(len(result.comparisons))
    if view == "sources":
        return decomposition_height(result)
    return components_height(result) if view == "components" else _HEIGHTS.get(view, _HEIGHT)
