"""Honest answers to one question: does A really outperform B.

Names are imported when first used, so that ``import outperform`` and the command line are fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outperform.analysis.auditing import audit
    from outperform.analysis.audits import Audit, SelfAudit
    from outperform.analysis.best_of_n import BestOf, BestOfComparison, BestOfEach
    from outperform.analysis.choosing_best import best_of_runs
    from outperform.analysis.comparing import compare, compare_runs
    from outperform.analysis.comparison import Comparison, TaskComparisons
    from outperform.analysis.decomposition import Decomposition, decompose
    from outperform.analysis.error_rates import ErrorRates
    from outperform.analysis.expected_best import ExpectedBest, expect_best
    from outperform.analysis.leaderboards import LeaderboardAssessment, assess_leaderboard
    from outperform.analysis.measured_variation import measure_variation
    from outperform.analysis.planning import Plan, plan
    from outperform.analysis.predicted_leaderboards import PredictionAssessment, assess_predictions
    from outperform.analysis.published import PublishedComparison, compare_published
    from outperform.analysis.resampling import resample_error_rates
    from outperform.analysis.scenarios import describe_variation
    from outperform.analysis.seeds_curve import SeedsCurve
    from outperform.analysis.simulating import simulate_error_rates
    from outperform.analysis.tracing_seeds import trace_seeds
    from outperform.errors import OutperformError
    from outperform.plots import plot
    from outperform.runner import run
    from outperform.runs import Runs, join_runs, read_runs
    from outperform.stats import Summary, expected_best_of
    from outperform.study.study import Study

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "BestOf",
    "BestOfComparison",
    "BestOfEach",
    "Comparison",
    "Decomposition",
    "ErrorRates",
    "ExpectedBest",
    "LeaderboardAssessment",
    "OutperformError",
    "Plan",
    "PredictionAssessment",
    "PublishedComparison",
    "Runs",
    "SeedsCurve",
    "SelfAudit",
    "Study",
    "Summary",
    "TaskComparisons",
    "__version__",
    "assess_leaderboard",
    "assess_predictions",
    "audit",
    "best_of_runs",
    "compare",
    "compare_published",
    "compare_runs",
    "decompose",
    "describe_variation",
    "expect_best",
    "expected_best_of",
    "join_runs",
    "measure_variation",
    "plan",
    "plot",
    "read_runs",
    "resample_error_rates",
    "run",
    "simulate_error_rates",
    "trace_seeds",
]

_HOMES = {
    "Audit": "outperform.analysis.audits",
    "BestOf": "outperform.analysis.best_of_n",
    "BestOfComparison": "outperform.analysis.best_of_n",
    "BestOfEach": "outperform.analysis.best_of_n",
    "Comparison": "outperform.analysis.comparison",
    "Decomposition": "outperform.analysis.decomposition",
    "ErrorRates": "outperform.analysis.error_rates",
    "ExpectedBest": "outperform.analysis.expected_best",
    "LeaderboardAssessment": "outperform.analysis.leaderboards",
    "OutperformError": "outperform.errors",
    "Plan": "outperform.analysis.planning",
    "PredictionAssessment": "outperform.analysis.predicted_leaderboards",
    "PublishedComparison": "outperform.analysis.published",
    "Runs": "outperform.runs",
    "SeedsCurve": "outperform.analysis.seeds_curve",
    "SelfAudit": "outperform.analysis.audits",
    "Study": "outperform.study.study",
    "Summary": "outperform.stats",
    "TaskComparisons": "outperform.analysis.comparison",
    "assess_leaderboard": "outperform.analysis.leaderboards",
    "assess_predictions": "outperform.analysis.predicted_leaderboards",
    "audit": "outperform.analysis.auditing",
    "best_of_runs": "outperform.analysis.choosing_best",
    "compare": "outperform.analysis.comparing",
    "compare_published": "outperform.analysis.published",
    "compare_runs": "outperform.analysis.comparing",
    "decompose": "outperform.analysis.decomposition",
    "describe_variation": "outperform.analysis.scenarios",
    "expect_best": "outperform.analysis.expected_best",
    "expected_best_of": "outperform.stats",
    "join_runs": "outperform.runs",
    "measure_variation": "outperform.analysis.measured_variation",
    "plan": "outperform.analysis.planning",
    "plot": "outperform.plots",
    "read_runs": "outperform.runs",
    "resample_error_rates": "outperform.analysis.resampling",
    "run": "outperform.runner",
    "simulate_error_rates": "outperform.analysis.simulating",
    "trace_seeds": "outperform.analysis.tracing_seeds",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name == "stats":
        return import_module("outperform.stats")
    raise AttributeError(f"module 'outperform' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "stats"})
