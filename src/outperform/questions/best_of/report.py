"""What a report says of runs: what the best of a few would reach."""

from collections.abc import Iterator

from outperform.questions.best_of.answer import best_of_runs
from outperform.questions.reporting import Reported
from outperform.questions.result import Result

QUESTION = "what will the best of 5 reach?"
_BUDGET = 5  # candidates


def answer(reported: Reported) -> Iterator[Result]:
    """Say what the best of n reaches, of every pair on every task with validation scores."""
    if reported.runs.validation is None:
        return
    for a, b in reported.pairs:
        for task in reported.runs.tasks_of(a, b):
            dropping = reported.options.get("drop_incomplete", False)
            yield best_of_runs(reported.runs, a, b, n=_BUDGET, task=task, drop_incomplete=dropping)
