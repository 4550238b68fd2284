"""Honest answers to one question: does A really outperform B.

Names are imported when first used, so that ``import outperform`` and the command line are fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outperform.analysis.comparing import compare, compare_runs
    from outperform.analysis.comparison import Comparison, TaskComparisons
    from outperform.analysis.decomposition import Decomposition, decompose
    from outperform.analysis.expected_best import ExpectedBest, expect_best
    from outperform.analysis.leaderboards import LeaderboardAssessment, assess_leaderboard
    from outperform.analysis.planning import Plan, plan
    from outperform.analysis.predicted_leaderboards import PredictionAssessment, assess_predictions
    from outperform.analysis.published import PublishedComparison, compare_published
    from outperform.errors import OutperformError
    from outperform.plots import plot
    from outperform.runner import run
    from outperform.runs import Runs, read_runs
    from outperform.stats import Summary
    from outperform.study.study import Study

__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "Decomposition",
    "ExpectedBest",
    "LeaderboardAssessment",
    "OutperformError",
    "Plan",
    "PredictionAssessment",
    "PublishedComparison",
    "Runs",
    "Study",
    "Summary",
    "TaskComparisons",
    "__version__",
    "assess_leaderboard",
    "assess_predictions",
    "compare",
    "compare_published",
    "compare_runs",
    "decompose",
    "expect_best",
    "plan",
    "plot",
    "read_runs",
    "run",
]

_HOMES = {
    "Comparison": "outperform.analysis.comparison",
    "Decomposition": "outperform.analysis.decomposition",
    "ExpectedBest": "outperform.analysis.expected_best",
    "LeaderboardAssessment": "outperform.analysis.leaderboards",
    "OutperformError": "outperform.errors",
    "Plan": "outperform.analysis.planning",
    "PredictionAssessment": "outperform.analysis.predicted_leaderboards",
    "PublishedComparison": "outperform.analysis.published",
    "Runs": "outperform.runs",
    "Study": "outperform.study.study",
    "Summary": "outperform.stats",
    "TaskComparisons": "outperform.analysis.comparison",
    "assess_leaderboard": "outperform.analysis.leaderboards",
    "assess_predictions": "outperform.analysis.predicted_leaderboards",
    "compare": "outperform.analysis.comparing",
    "compare_published": "outperform.analysis.published",
    "compare_runs": "outperform.analysis.comparing",
    "decompose": "outperform.analysis.decomposition",
    "expect_best": "outperform.analysis.expected_best",
    "plan": "outperform.analysis.planning",
    "plot": "outperform.plots",
    "read_runs": "outperform.runs",
    "run": "outperform.runner",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name == "stats":
        return import_module("outperform.stats")
    raise AttributeError(f"module 'outperform' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "stats"})
