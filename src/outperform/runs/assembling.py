"""Columns put together to runs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from outperform.errors import UnreadableRuns
from outperform.runs.arrays import BoolArray, FloatArray, IntArray
from outperform.runs.labels import Labels, Numerals, join_labels
from outperform.runs.metrics import Goal
from outperform.runs.naming import enumerate_names, enumerate_rows
from outperform.runs.scope import varied_by
from outperform.runs.table import Runs

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
    validation_metric: str = ""


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
            Labels(self.algorithm.names, self.algorithm.codes[rows]),
            Labels(self.task.names, self.task.codes[rows]),
            replicate and Labels(replicate.names, replicate.codes[rows]),
        )

    def tile(self, algorithms: Sequence[str]) -> "Keys":
        """Repeat the keys for each of several algorithms."""
        n_rows, n_times = len(self.task.codes), len(algorithms)
        replicate = self.replicate
        return Keys(
            Labels(tuple(algorithms), np.repeat(np.arange(n_times), n_rows)),
            Labels(self.task.names, np.tile(self.task.codes, n_times)),
            replicate and Labels(replicate.names, np.tile(replicate.codes, n_times)),
        )


def join_or_repeat(parts: Sequence[Labels], name: str, n_rows: int) -> Labels:
    """Join labels of several columns, or give every row the same name if there are none."""
    return join_labels(parts) if parts else Labels((name,), np.zeros(n_rows, dtype=np.int64))


def assemble(
    keys: Keys, score: FloatArray, validation: FloatArray | None, *, row: IntArray, about: About
) -> Runs:
    """Make runs of columns of equal length."""
    notes: tuple[str, ...] = ()
    is_summary = _find_summaries(keys.replicate, about.source)
    if is_summary is not None:
        notes = (_describe_left_out(keys.replicate, is_summary, row),)
        keys = keys.keep(~is_summary)
        score, row = score[~is_summary], row[~is_summary]
        validation = None if validation is None else validation[~is_summary]
    algorithm, task = keys.algorithm.by_appearance(), keys.task.by_appearance()
    replicate = keys.replicate
    return Runs(
        algorithms=tuple(algorithm.names),
        tasks=tuple(task.names),
        replicates=None if replicate is None else replicate.names,
        algorithm=algorithm.codes,
        task=task.codes,
        replicate=np.zeros_like(task.codes) if replicate is None else replicate.codes,
        score=score,
        validation=validation,
        row=row,
        metric=about.metric,
        goal=about.goal,
        source=about.source,
        replicate_columns=about.replicate_columns,
        spare_columns=about.spare_columns,
        notes=notes,
        validation_metric=about.validation_metric,
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
