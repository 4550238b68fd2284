"""What a report says of runs: how far picking seeds could have moved the conclusions."""

from collections.abc import Iterator

from outperform.questions.audit.answer import audit
from outperform.questions.reporting import Reported
from outperform.questions.result import Result

QUESTION = "Could picked seeds have shown this?"


def answer(reported: Reported) -> Iterator[Result]:
    """Audit every pair, or the only algorithm, on all tasks that have runs of it."""
    runs = reported.runs
    only = [runs.algorithms] if len(runs.algorithms) == 1 else []
    for names in reported.pairs or only:
        yield audit(runs, *names, **reported.options)
