"""What a report says of runs: how far picking seeds could have moved the conclusions."""

from collections.abc import Iterator

from outperform.questions.audit.answer import audit
from outperform.questions.reporting import Reported
from outperform.questions.result import Result

QUESTION = "could picked seeds have shown this?"


def answer(reported: Reported) -> Iterator[Result]:
    """Audit every pair, on every task that has runs of it."""
    for a, b in reported.pairs:
        for task in reported.runs.tasks_of(a, b):
            yield audit(reported.runs, a, b, task=task, **reported.options)
