"""Tables of scores, read from files of any tool and from Python objects."""

from outperform.runs.joining import join_runs
from outperform.runs.metrics import Goal, known_goal
from outperform.runs.pairing import PairedScores, SeparateScores
from outperform.runs.reading import read_runs
from outperform.runs.table import Runs, make_runs

__all__ = [
    "Goal",
    "PairedScores",
    "Runs",
    "SeparateScores",
    "join_runs",
    "known_goal",
    "make_runs",
    "read_runs",
]
