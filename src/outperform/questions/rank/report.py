"""What a report says of runs: which of many algorithms are best."""

from collections.abc import Iterator

from outperform.questions.rank.answer import rank_runs
from outperform.questions.reporting import Reported
from outperform.questions.result import Result

QUESTION = "Which of many are best?"


def answer(reported: Reported) -> Iterator[Result]:
    """Rank all algorithms, where there are more than two."""
    if len(reported.runs.algorithms) > 2:
        dropping = reported.options["drop_incomplete"]
        yield rank_runs(reported.runs, gaps="complete" if dropping else "refuse")
