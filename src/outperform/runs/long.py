"""Tables with one row per run."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from outperform.errors import UnknownColumn, UnreadableRuns
from outperform.runs.columns import (
    Roles,
    Wanted,
    assign_roles,
    explain_no_score,
    find_column,
    find_score,
    find_validation,
    names_other_data,
    names_validation,
    normalise,
)
from outperform.runs.curves import At, Chooser
from outperform.runs.labels import FloatArray, Labels, join_labels, repeat_label
from outperform.runs.metrics import Goal, is_bare_score, known_goal
from outperform.runs.row_kinds import (
    RowReader,
    Rows,
    leave_out_summaries,
    read_status,
)
from outperform.runs.scope import varied_by
from outperform.runs.source_table import OtherColumns, SourceTable
from outperform.runs.suspicions import Doubt
from outperform.runs.table import Runs
from outperform.runs.task_metrics import (
    MetricReader,
    TaskMetric,
    find_direction,
    find_metric_column,
    sum_up_metrics,
)
from outperform.wording import enumerate_names

_LOOKS_LIKE_REPLICATE = re.compile(r".*\d")
_DECIMAL = re.compile(r"[+-]?\d*\.\d+")


@dataclass(frozen=True, slots=True)
class Ways:
    """How to read rows that may be no runs, and which questions about scores were answered."""

    at: At | None = None
    accepted: tuple[Doubt, ...] = ()


def read_long(
    table: SourceTable, wanted: Wanted, goal: Goal | None, *, only: str, ways: Ways
) -> Runs:
    """Read a table with one row per run.

    Parameters
    ----------
    only
        Name of the algorithm where no column names any.
    """
    roles = assign_roles(table.names, wanted, table.source)
    metrics = find_metric_column(table, (*roles.free, *roles.task))
    metric = wanted.metric
    names_row = metrics is not None and normalise(metric or "") not in map(normalise, table.names)
    score, validation = _find_numbers(table, roles, wanted, None if names_row else metric, metrics)
    rows = read_rows(table, roles, [score] if validation is None else [score, validation], only)
    direction = find_direction(table, roles.free)
    reader = MetricReader(table, metrics, direction, roles.task, score, goal)
    rows, by_task, notes = reader.find_metrics(rows, metric if names_row else None)
    if metrics is not None and is_bare_score(validation or ""):
        validation = validation and "validation"  # of the metric that the row names
    chooser = Chooser(_turn_up(rows, validation, by_task), validation or "")
    kept, about_rows = RowReader(table, rows, roles, chooser).keep_runs(ways.at)
    return assemble(
        table,
        kept,
        roles,
        by_task=by_task,
        validation_metric=validation or "",
        notes=(*notes, *about_rows),
        accepted=ways.accepted,
    )


def _turn_up(
    rows: Rows, validation: str | None, by_task: Mapping[str, TaskMetric]
) -> FloatArray | None:
    """Validation scores of which higher is better."""
    if validation is None:
        return None
    goals = [known_goal(validation) or by_task[task].goal for task in by_task]
    sign = dict(zip(by_task, (1 if goal == "maximize" else -1 for goal in goals), strict=True))
    signs = np.array([sign.get(name, 1) for name in rows.task.names])
    turned: FloatArray = signs[rows.task.codes] * rows.numbers[1]
    return turned


def read_rows(table: SourceTable, roles: Roles, numbers: Sequence[str], only: str) -> Rows:
    """Read the columns that tell runs apart, and these columns of numbers."""
    values, labels = table.take(numbers, [*roles.algorithm, *roles.task, *roles.replicate])

    def join(names: Sequence[str], otherwise: str) -> Labels:
        if not names:
            return repeat_label(otherwise, len(table.rows))
        return join_labels(map(labels.__getitem__, names))

    return Rows(
        join(roles.algorithm, only),
        join(roles.task, ""),
        join(roles.replicate, "") if roles.replicate else None,
        values,
        table.rows,
        None if roles.status is None else read_status(table, roles.status),
    )


def assemble(
    table: SourceTable,
    rows: Rows,
    roles: Roles,
    *,
    by_task: Mapping[str, TaskMetric],
    validation_metric: str,
    notes: tuple[str, ...],
    accepted: tuple[Doubt, ...],
) -> Runs:
    """Make runs of rows that are runs, or sums of runs."""
    rows, about_summaries = leave_out_summaries(rows, table.source)
    algorithm, task = rows.algorithm.by_appearance(), rows.task.by_appearance()
    replicate, score, incomplete = rows.replicate, rows.numbers[0], rows.incomplete
    if incomplete is not None:
        score = np.where(incomplete.codes == incomplete.names.index(""), score, np.nan)
    return Runs(
        algorithms=tuple(algorithm.names),
        tasks=tuple(task.names),
        replicates=None if replicate is None else replicate.names,
        algorithm=algorithm.codes,
        task=task.codes,
        replicate=np.zeros_like(task.codes) if replicate is None else replicate.codes,
        score=score,
        validation=rows.numbers[1] if validation_metric else None,
        row=rows.row,
        **sum_up_metrics({name: by_task[name] for name in task.names}),
        source=table.source,
        replicate_columns=roles.replicate,
        spare_columns=roles.spare,
        notes=(*notes, *about_summaries),
        validation_metric=validation_metric,
        algorithm_columns=roles.algorithm,
        incomplete=incomplete,
        others=OtherColumns(((table, rows.row),)),
        accepted=accepted,
        varied=varied_by(roles.replicate),
    )


def _find_numbers(
    table: SourceTable, roles: Roles, wanted: Wanted, metric: str | None, metrics: str | None
) -> tuple[str, str | None]:
    """Find the columns of scores and of validation scores.

    Parameters
    ----------
    metric
        The column of scores, if a person named it.
    metrics
        The column that names the metric of each row.
    """
    others = [name for name in roles.free if name != metrics]
    named = None
    if wanted.validation is not None:
        named = find_column(wanted.validation, others, table.source)
    candidates = [n for n in others if n != named and not names_other_data(n)]
    score = find_score(table, candidates, metric, may_be_wide=not roles.algorithm)
    if score is None and named is not None and not names_validation(named):
        score = named  # the only score may choose as well
    if score is None:
        raise _explain_missing_score(table, roles, others)
    validation = named or find_validation(table, others, score)
    return score, None if validation == score else validation


def _explain_missing_score(
    table: SourceTable, roles: Roles, others: Sequence[str]
) -> UnreadableRuns:
    """Say what the table looks like instead of a long one."""
    numeric = [name for name in others if table.holds_numbers(name)]
    if decimals := [name for name in table.names if _DECIMAL.fullmatch(name)]:
        return UnreadableRuns(
            f"the first row of {table.source} holds a number ({decimals[0]}) where names of "
            "columns should be",
            "Start it with such a row: algorithm,seed,accuracy",
        )
    if is_transposed(table, roles, others):
        return explain_transposed(table)
    if apart := [name for name in numeric if names_other_data(name)]:
        return UnknownColumn(
            f"{table.source} has scores of validation or training data ({enumerate_names(apart)}), "
            "but no column looks like the score to report",
            f"Name it with --metric; --metric {apart[0]!r} reports those",
        )
    if not roles.algorithm and len(numeric) > 1:
        return UnreadableRuns(
            f"{table.source} looks wide: columns {enumerate_names(numeric)} hold numbers, "
            "and none names an algorithm",
            "Add --wide if each column is an algorithm (from Python: wide=True), or name the "
            "column of algorithms with --algorithm",
        )
    if means := [cell for name in others for cell in table.head(name) if "±" in str(cell)]:
        return UnreadableRuns(
            f"{table.source} holds means with their deviations ({means[0]}), not runs",
            "Compare two of them with `outperform compare --summary TABLE A B` (from Python: "
            "compare_published_table)",
        )
    return explain_no_score(table)


def is_transposed(table: SourceTable, roles: Roles, others: Sequence[str]) -> bool:
    """Whether each row seems to be an algorithm, with a column per replicate."""
    texts = [name for name in (*roles.algorithm, *others) if table.holds_text(name)]
    numeric = [name for name in others if table.holds_numbers(name)]
    if len(texts) != 1 or texts[0] != next(filter(None, table.names)) or len(numeric) < 2:
        return False
    named = table.head(texts[0])
    tells_algorithms = texts[0] in roles.algorithm or all(
        _LOOKS_LIKE_REPLICATE.fullmatch(name) for name in numeric
    )
    return tells_algorithms and len(set(map(str, named))) == len(named)


def explain_transposed(table: SourceTable) -> UnreadableRuns:
    """Say that rows and columns are swapped, or that the rows are summaries."""
    first = next(filter(None, table.names))
    listed = enumerate_names(map(str, table.head(first)), limit=3)
    if {"mean", "average"} & {name.casefold() for name in table.names}:
        return UnreadableRuns(
            f"{table.source} holds a mean of each algorithm ({listed}), not runs",
            "Compare published means with --summary (from Python: compare_published)",
        )
    return UnreadableRuns(
        f"each row of {table.source} seems to be an algorithm ({listed})",
        "Transpose it, so that each column is an algorithm, and add --wide",
    )
