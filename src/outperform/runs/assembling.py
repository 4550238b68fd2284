"""Columns put together to runs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from outperform.errors import UnreadableRuns
from outperform.runs.arrays import BoolArray, FloatArray, IntArray
from outperform.runs.cells import Table
from outperform.runs.labels import Labels, Numerals, join_labels
from outperform.runs.metrics import Goal
from outperform.runs.other_columns import OtherColumns
from outperform.runs.scope import varied_by
from outperform.runs.suspicions import Doubt
from outperform.runs.table import Runs
from outperform.wording import enumerate_names, enumerate_rows

# Labels of rows that spreadsheets end with.
_SUMMARY = re.compile(
    "mean|average|avg|std|sd|stdev|standard deviation|median|min|minimum|max|maximum|total|sum",
    re.I,
)


@dataclass(frozen=True, slots=True)
class About:
    """What is to be known of the runs as a whole."""

    metric: str
    goal: Goal
    source: str
    replicate_columns: tuple[str, ...]
    spare_columns: tuple[str, ...]
    algorithm_columns: tuple[str, ...] = ()
    validation_metric: str = ""
    notes: tuple[str, ...] = ()
    accepted: tuple[Doubt, ...] = ()


@dataclass(frozen=True, slots=True)
class Keys:
    """What tells runs apart."""

    algorithm: Labels
    task: Labels
    replicate: Labels | None

    def keep(self, rows: BoolArray) -> "Keys":
        """Leave out the other rows."""
        replicate = self.replicate
        return Keys(
            self.algorithm.keep(rows), self.task.keep(rows), replicate and replicate.keep(rows)
        )

    def tile(self, algorithms: Sequence[str]) -> "Keys":
        """Repeat the keys for each of several algorithms."""
        n_rows, n_times = len(self.task.codes), len(algorithms)
        replicate = self.replicate
        return Keys(
            Labels(tuple(algorithms), np.repeat(np.arange(n_times), n_rows)),
            self.task.tile(n_times),
            replicate and replicate.tile(n_times),
        )


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a table as they were read, one entry per row in every array.

    Attributes
    ----------
    numbers
        Columns of numbers: score and validation, or those of all algorithms of a wide table.
    row
        Where each stands in its source.
    incomplete
        Why a row is not the end of a run, such as its status; empty where it is. None where all
        rows are.
    """

    keys: Keys
    numbers: list[FloatArray]
    row: IntArray
    incomplete: Labels | None = None

    def keep(self, rows: BoolArray) -> "Rows":
        """Leave out the other rows."""
        return Rows(
            self.keys.keep(rows),
            [column[rows] for column in self.numbers],
            self.row[rows],
            self.incomplete and self.incomplete.keep(rows),
        )

    def tile(self, algorithms: Sequence[str]) -> "Rows":
        """Make a long table of a wide one."""
        n_times = len(algorithms)
        return Rows(
            self.keys.tile(algorithms),
            [np.concatenate(self.numbers)],
            np.tile(self.row, n_times),
            self.incomplete and self.incomplete.tile(n_times),
        )


def join_or_repeat(parts: Sequence[Labels], name: str, n_rows: int) -> Labels:
    """Join labels of several columns, or give every row the same name if there are none."""
    return join_labels(parts) if parts else Labels((name,), np.zeros(n_rows, dtype=np.int64))


def assemble(rows: Rows, table: Table, about: About) -> Runs:
    """Make runs of rows that are runs, or sums of runs."""
    notes = about.notes
    is_summary = _find_summaries(rows.keys.replicate, about.source)
    if is_summary is not None:
        notes = (*notes, _describe_left_out(rows.keys.replicate, is_summary, rows.row))
        rows = rows.keep(~is_summary)
    algorithm, task = rows.keys.algorithm.by_appearance(), rows.keys.task.by_appearance()
    replicate, score = rows.keys.replicate, rows.numbers[0]
    if rows.incomplete is not None:
        score = np.where(rows.incomplete.codes == rows.incomplete.names.index(""), score, np.nan)
    return Runs(
        algorithms=tuple(algorithm.names),
        tasks=tuple(task.names),
        replicates=None if replicate is None else replicate.names,
        algorithm=algorithm.codes,
        task=task.codes,
        replicate=np.zeros_like(task.codes) if replicate is None else replicate.codes,
        score=score,
        validation=rows.numbers[1] if len(rows.numbers) > 1 else None,
        row=rows.row,
        metric=about.metric,
        goal=about.goal,
        source=about.source,
        replicate_columns=about.replicate_columns,
        spare_columns=about.spare_columns,
        notes=notes,
        validation_metric=about.validation_metric,
        algorithm_columns=about.algorithm_columns,
        incomplete=rows.incomplete,
        others=OtherColumns(((table, rows.row),)),
        accepted=about.accepted,
        varied=varied_by(about.replicate_columns),
    )


def _find_summaries(replicate: Labels | None, source: str) -> BoolArray | None:
    """Rows that sum up others, as spreadsheets end with; None if there are none."""
    if replicate is None or isinstance(replicate.names, Numerals):
        return None
    codes = [code for code, name in enumerate(replicate.names) if _SUMMARY.fullmatch(name)]
    if not codes:
        return None
    is_summary = np.isin(replicate.codes, codes)
    if is_summary.all():
        raise UnreadableRuns(
            f"every row of {source} sums up runs, and none is a run",
            "Give one row per run, or compare published means with --summary (from Python: "
            "compare_published)",
        )
    return is_summary


def _describe_left_out(replicate: Labels | None, is_summary: BoolArray, row: IntArray) -> str:
    assert replicate is not None
    names = [replicate.names[code] for code in np.unique(replicate.codes[is_summary])]
    rows, listed = np.unique(row[is_summary]), enumerate_names(names)
    if len(rows) == 1:
        return f"row {rows[0]} sums up other rows ({listed}) and was left out: it is no run"
    where = enumerate_rows(rows)
    return f"{where} sum up other rows ({listed}) and were left out: they are no runs"
