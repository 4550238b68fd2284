"""Run a study: do the missing fits, record each result before asking for the next, lose nothing."""

from outperform.runner.coordinator import Coordinator, open_coordinator, run, run_fits
from outperform.runner.exchange import Progress
from outperform.runner.stored_study import describe_changes, describe_study
from outperform.runner.work import FitWork

__all__ = [
    "Coordinator",
    "FitWork",
    "Progress",
    "describe_changes",
    "describe_study",
    "open_coordinator",
    "run",
    "run_fits",
]
