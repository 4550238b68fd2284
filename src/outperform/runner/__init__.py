"""Run a study: do the missing fits, record each result before asking for the next, lose nothing."""

from outperform.runner.describing import describe_changes, describe_study, find_same_code
from outperform.runner.fitting import FitWork, time_fits
from outperform.runner.progress import Progress, Store
from outperform.runner.running import run

__all__ = [
    "FitWork",
    "Progress",
    "Store",
    "describe_changes",
    "describe_study",
    "find_same_code",
    "run",
    "time_fits",
]
