"""Runs of anybody's table in which sources of variation were redrawn apart."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, product
from typing import Any

import numpy as np

from outperform.errors import UnknownColumn, UnknownDirection
from outperform.questions.decompose.redrawn_runs import Variation
from outperform.runs import Runs, read_runs
from outperform.runs.columns import REPLICATE, find_column, find_columns, recognise
from outperform.runs.confounders import find_pooled
from outperform.runs.files import open_source
from outperform.runs.labels import IntArray
from outperform.runs.pairing import Cell, finite_scores
from outperform.runs.redrawn import find_redrawn_column
from outperform.runs.source_table import SourceTable
from outperform.runs.suspicions import Sides, ask, find_suspicions


def read_variation(
    data: Any,
    *,
    source: str | None,
    crossed: str | None,
    drop_incomplete: bool,
    reading: Mapping[str, Any],
) -> tuple[list[Variation], list[str]]:
    """Runs of every algorithm on every task, and notes; columns are those of `decompose`.

    Rows that `compare` takes for no runs are refused, and so are scores that it would ask about.
    """
    table, _ = open_source(data)
    redrawn = _find_redrawn(table, source, crossed)
    for name in redrawn:
        table.label_runs(name)  # refuses runs that have none
    seeds = [] if crossed else recognise(table.names, REPLICATE)
    told_apart = tuple(dict.fromkeys((*redrawn, *seeds))) if crossed or seeds else None
    runs = _read_any_goal(data, {**reading, "replicate": told_apart})
    reader = _Reader(runs, redrawn, crossed is not None, drop_incomplete)
    variations, notes = [], [*runs.notes]
    for algorithm, task in product(range(len(runs.algorithms)), range(len(runs.tasks))):
        rows = np.flatnonzero((runs.algorithm == algorithm) & (runs.task == task))
        if len(rows):
            notes += reader.question(rows)
            variations.append(reader.describe(rows))
    return variations, notes


def _read_any_goal(data: Any, reading: Mapping[str, Any]) -> Runs:
    """Read scores that vary, whichever way is better."""
    try:
        return read_runs(data, **reading)
    except UnknownDirection:
        return read_runs(data, goal="maximize", **reading)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Runs of a table, and the columns that say what was redrawn for each."""

    runs: Runs
    redrawn: tuple[str, ...]
    is_crossed: bool
    drop_incomplete: bool

    def question(self, rows: IntArray) -> Iterator[str]:
        """Refuse what is incomplete or raises a question; note what was left out, or accepted.

        The rows are those of one algorithm on one task.
        """
        runs, task = self.runs, self.runs.tasks[self.runs.task[rows[0]]]
        place = f"task {task!r} of {runs.source}" if task else runs.source
        scores = {
            name: finite_scores(
                runs,
                Cell(name, place, runs.metric_on(task), runs.goal_on(task), own),
                drop_incomplete=self.drop_incomplete,
            )
            for name, own in self._split(rows).items()
        }
        if n_dropped := len(rows) - sum(map(len, scores.values())):
            yield f"{n_dropped} of {len(rows)} runs in {place} are incomplete and were left out"
        known = {name: own for name, own in scores.items() if own.size}
        suspicions = chain.from_iterable(
            find_pooled(runs, own, place, used=self.redrawn) for own in self._split(rows).values()
        )
        if known:
            metric, goal = runs.metric_on(task), runs.goal_on(task)
            sides = Sides(tuple(known), tuple(known.values()), metric, place, "", goal)
            suspicions = chain(find_suspicions(sides), suspicions)
        # That a source changes nothing is a result.
        yield from ask((each for each in suspicions if each.doubt != "constant"), runs.accepted)

    def describe(self, rows: IntArray) -> Variation:
        """Give the scores of such rows under what was redrawn for them."""
        runs, task = self.runs, self.runs.tasks[self.runs.task[rows[0]]]
        algorithm = runs.algorithms[runs.algorithm[rows[0]]] if runs.algorithm_columns else ""
        variation = Variation(algorithm, task, runs.metric_on(task))
        is_whole = np.isfinite(runs.score[rows])
        if not self.is_crossed:
            variation.failed.update(self._spell(self.redrawn[0], rows[~is_whole]))
        rows = rows[is_whole]
        scores = runs.score[rows].tolist()
        if self.is_crossed:
            levels = zip(*(self._spell(name, rows) for name in self.redrawn), strict=True)
            variation.crossed[self.redrawn] = [*zip(levels, scores, strict=True)]
        else:
            for name, own in self._split(rows).items():
                variation.by_source[name] = runs.score[own].tolist()
        return variation

    def _split(self, rows: IntArray) -> dict[str, IntArray]:
        """Rows by the source that was redrawn, in order of appearance; all of a crossed design."""
        if self.is_crossed:
            return {" × ".join(self.redrawn): rows}
        sources = np.array(self._spell(self.redrawn[0], rows))
        return {name: rows[sources == name] for name in dict.fromkeys(sources.tolist())}

    def _spell(self, column: str, rows: IntArray) -> list[str]:
        return self.runs.others.label(column, rows).spell()


def _find_redrawn(table: SourceTable, source: str | None, crossed: str | None) -> tuple[str, ...]:
    """Columns that say what was redrawn."""
    if crossed is not None:
        return find_columns(crossed, table.names, table.source)
    if source is None and (column := find_redrawn_column(table)) is not None:
        return (column,)
    try:
        return (find_column(source or "source", table.names, table.source),)
    except UnknownColumn as error:
        raise UnknownColumn(
            error.problem,
            f"{error.remedy}; name the column that says which source was redrawn with --source, "
            "or those of a crossed design with --crossed split,init",
        ) from None
