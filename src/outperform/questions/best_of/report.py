"""What a report says of runs: what the best of a few would reach."""

from collections.abc import Iterator

from outperform.questions.best_of.answer import best_of_runs
from outperform.questions.reporting import Reported
from outperform.questions.result import Result

QUESTION = "What will the best of 5 reach?"
_BUDGET = 5  # candidates


def answer(reported: Reported) -> Iterator[Result]:
    """Say what the best of n reaches, where validation scores choose: of pairs, or of all."""
    runs, dropping = reported.runs, reported.options["drop_incomplete"]
    if runs.validation is None:
        return
    for a, b in reported.pairs:
        for task in runs.tasks_of(a, b):
            yield best_of_runs(runs, a, b, n=_BUDGET, task=task, drop_incomplete=dropping)
    for task in runs.tasks if not reported.pairs else ():
        yield best_of_runs(runs, n=_BUDGET, task=task, drop_incomplete=dropping)
