"""What a report says of runs: which algorithm outperforms which."""

from collections.abc import Iterator

from outperform.questions.compare.answer import compare_runs
from outperform.questions.reporting import Reported
from outperform.questions.result import Result

QUESTION = "Does A outperform B?"


def answer(reported: Reported) -> Iterator[Result]:
    """Compare every pair, on all tasks."""
    runs = reported.runs
    runs.require_two()
    for a, b in reported.pairs:
        yield compare_runs(runs, a, b, **reported.options)
