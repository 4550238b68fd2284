"""Which table there is of each kind of result."""

from collections.abc import Callable
from typing import Any

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
from outperform.report.audit_tables import tabulate_hidden, tabulate_picked
from outperform.report.best_of_tables import tabulate_best_of
from outperform.report.board_tables import tabulate_board, tabulate_expected, tabulate_predictions
from outperform.report.comparison_tables import (
    tabulate_comparisons,
    tabulate_plan,
    tabulate_published,
)
from outperform.report.simulation_tables import tabulate_rates, tabulate_seeds
from outperform.report.study_tables import tabulate_components, tabulate_curves, tabulate_sources
from outperform.report.tabulated import Tabulated

_TABLES: dict[type, Callable[[Any], Tabulated]] = {
    Comparison: lambda result: tabulate_comparisons([result]),
    TaskComparisons: lambda result: tabulate_comparisons(result.comparisons),
    PublishedComparison: tabulate_published,
    Plan: tabulate_plan,
    Decomposition: tabulate_sources,
    CrossedDecomposition: tabulate_components,
    SearchCurves: tabulate_curves,
    Audit: tabulate_hidden,
    SelfAudit: tabulate_picked,
    BestOf: tabulate_best_of,
    BestOfComparison: tabulate_best_of,
    BestOfEach: tabulate_best_of,
    ExpectedBest: tabulate_expected,
    LeaderboardAssessment: tabulate_board,
    PredictionAssessment: tabulate_predictions,
    ErrorRates: lambda result: tabulate_rates((*result.curves, *result.means)),
    SeedsCurve: tabulate_seeds,
}


def tabulate(result: Any) -> Tabulated:
    """The numbers of a result, as text in a table."""
    if type(result) not in _TABLES:
        raise InvalidInput(
            f"there is no report of a {type(result).__name__}",
            "Pass what compare, audit, best_of_runs or any other function that concludes returned",
        )
    return _TABLES[type(result)](result)
