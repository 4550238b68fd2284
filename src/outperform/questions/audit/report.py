"""What a report says of runs: how far picking seeds could have moved the conclusions."""

from collections.abc import Iterator

from outperform.questions.audit.answer import audit
from outperform.questions.reporting import Reported
from outperform.questions.result import Result

QUESTION = "could picked seeds have shown this?"


def answer(reported: Reported) -> Iterator[Result]:
    """Audit every pair, on all tasks that have runs of it."""
    for a, b in reported.pairs:
        yield audit(reported.runs, a, b, **reported.options)
