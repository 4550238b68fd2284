"""Scores that raise a question: there is no ranking before somebody has answered it."""

from collections.abc import Iterator

from outperform.questions.rank.grids import Grids
from outperform.runs import Runs
from outperform.runs.columns import kind_of
from outperform.runs.grid_suspicions import find_grid_nesting, find_grid_suspicions
from outperform.runs.suspicions import Suspicion, ask

_MOST_NAMED = 3


def ask_about(grids: Grids, table: Runs) -> tuple[str, ...]:
    """Refuse the first question that was not answered; note the answers, the first of them."""
    notes = tuple(dict.fromkeys(ask(_find_suspicions(grids, table), table.accepted)))
    more = len(notes) - _MOST_NAMED
    return (*notes[:_MOST_NAMED], *([f"{more} more were accepted as right"] if more > 0 else []))


def _find_suspicions(grids: Grids, table: Runs) -> Iterator[Suspicion]:
    columns = table.replicate_columns
    grouped = len(columns) > 1 or "setting" in map(kind_of, columns)
    # Runs without replicates were paired at random: their order says nothing.
    order = "" if table.replicates is None else table.replicate_name
    for task, goal, metric, labels, grid in zip(
        grids.tasks, grids.goals, grids.metrics, grids.replicates, grids.scores, strict=True
    ):
        scores = grid if goal == "maximize" else -grid
        if grouped:
            yield from find_grid_nesting(columns, labels, scores, len(grids.tasks))
        place = f"task {task!r} of {table.source}" if task else table.source
        yield from find_grid_suspicions(
            scores, grids.algorithms, metric=metric, place=place, order=order
        )
