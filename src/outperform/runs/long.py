"""Tables with one row per run."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from outperform.errors import UnknownColumn, UnreadableRuns
from outperform.runs.assembling import About, Keys, Rows, assemble, join_or_repeat
from outperform.runs.cells import CellTable, Table
from outperform.runs.columns import (
    Parts,
    Wanted,
    assign_parts,
    find_column,
    find_score,
    find_status,
    find_validation,
    names_other_data,
    names_validation,
    normalise,
)
from outperform.runs.curves import At, Chooser
from outperform.runs.labels import Labels
from outperform.runs.metric_rows import choose_metric, find_metric_column, note_tasks_without
from outperform.runs.metrics import Goal, known_goal, resolve_goal
from outperform.runs.row_kinds import RowReader, Telltales, find_telltales
from outperform.runs.statuses import explain_unfinished
from outperform.runs.suspicions import Doubt
from outperform.runs.table import Runs
from outperform.wording import enumerate_names

_LOOKS_LIKE_REPLICATE = re.compile(r".*\d")
_DECIMAL = re.compile(r"[+-]?\d*\.\d+")


@dataclass(frozen=True, slots=True)
class Ways:
    """How to read rows that may be no runs, and which questions about scores were answered."""

    at: At | None = None
    accepted: tuple[Doubt, ...] = ()


@dataclass(frozen=True, slots=True)
class _Roles:
    """The columns that do not tell runs apart."""

    score: str
    validation: str | None
    status: str | None  # says whether a run finished
    metrics: str | None  # names the metric of each row
    metric: str | None  # the one that was asked for among those

    @property
    def numbers(self) -> list[str]:
        return [self.score] if self.validation is None else [self.score, self.validation]

    @property
    def marks(self) -> list[str]:
        return [name for name in (self.status, self.metrics) if name is not None]


def read_long(
    table: Table, wanted: Wanted, goal: Goal | None, *, only: str, ways: Ways | None = None
) -> Runs:
    """Read a table with one row per run.

    Parameters
    ----------
    only
        Name of the algorithm where no column names any.
    """
    ways = ways or Ways()
    parts = assign_parts(table.names, wanted, table.source)
    metric_named = normalise(wanted.metric or "")
    telltales = find_telltales([n for n in table.names if normalise(n) != metric_named], parts)
    roles = _find_roles(table, wanted, parts, telltales)
    replicate = telltales.leave(parts.replicate)
    rows, metrics = _take(table, replace(parts, replicate=replicate), roles, only)
    metric, notes = roles.score, tuple[str, ...]()
    if metrics is not None:
        metric, is_chosen = choose_metric(metrics, roles.metric, table.source)
        notes = note_tasks_without(metric, rows.keys, is_chosen)
        rows = rows.keep(is_chosen)
    resolved = resolve_goal(metric, goal)
    validation = rows.numbers[1] if roles.validation else None
    name = roles.validation or ""
    chooser = Chooser(validation, name, known_goal(name) or resolved)
    reader = RowReader(table, rows, telltales, replicate, chooser)
    kept, about_rows = reader.keep_runs(ways.at)
    about = About(
        metric=metric,
        goal=resolved,
        source=table.source,
        replicate_columns=replicate,
        spare_columns=parts.spare,
        algorithm_columns=parts.algorithm,
        validation_metric=name,
        notes=(*notes, *about_rows),
        accepted=ways.accepted,
    )
    return assemble(kept, table, about)


def _take(table: Table, parts: Parts, roles: _Roles, only: str) -> tuple[Rows, Labels | None]:
    """Read the rows, and the metric of each where rows name it."""
    names = [*parts.algorithm, *parts.task, *parts.replicate, *roles.marks]
    columns = table.take(names, roles.numbers)
    labels, n_rows = dict(zip(names, columns.labels, strict=True)), len(columns.rows)

    def join(names: Sequence[str], otherwise: str) -> Labels:
        return join_or_repeat([labels[name] for name in names], otherwise, n_rows)

    keys = Keys(
        join(parts.algorithm, only),
        join(parts.task, ""),
        join(parts.replicate, "") if parts.replicate else None,
    )
    incomplete = None
    if roles.status is not None:
        status = labels[roles.status]
        incomplete = explain_unfinished(status, columns.rows, roles.status, table.source)
    metrics = labels[roles.metrics] if roles.metrics is not None else None
    return Rows(keys, columns.numbers, columns.rows, incomplete), metrics


def _find_roles(table: Table, wanted: Wanted, parts: Parts, telltales: Telltales) -> _Roles:
    """Find the columns of scores and validation scores, and what else tells of them."""
    taken = {*parts.algorithm, *parts.task, *parts.replicate, *parts.spare, ""}
    free = [name for name in table.names if name not in taken]
    status = find_status([name for name in free if wanted.metric != name])
    others = [n for n in telltales.leave(free) if n != status]
    head = table.head()
    metrics, metric = find_metric_column(head, others), None
    names_row = normalise(wanted.metric or "") not in map(normalise, table.names)
    if metrics is not None and wanted.metric is not None and names_row:
        metric, wanted = wanted.metric, replace(wanted, metric=None)
    candidates = [name for name in others if name != metrics]
    score, validation = _find_numbers(table, head, wanted, parts, candidates)
    return _Roles(score, validation, status, metrics, metric)


def _find_numbers(
    table: Table, head: CellTable, wanted: Wanted, parts: Parts, others: Sequence[str]
) -> tuple[str, str | None]:
    """Find the columns of scores and of validation scores."""
    texts = [name for name in others if head.holds_text(name)]
    named = None
    if wanted.validation is not None:
        named = find_column(wanted.validation, others, table.source)
    if wanted.metric is not None:
        candidates = list(table.names)
    else:
        candidates = [n for n in others if n != named and not names_other_data(n)]
    may_be_wide = not parts.algorithm
    score = find_score(candidates, wanted, table.source, texts=texts, may_be_wide=may_be_wide)
    if score is None and named is not None and not names_validation(named):
        score = named  # the only score may choose as well
    if score is None:
        raise _explain_missing_score(head, parts, others)
    validation = named or find_validation(others, score, texts=texts)
    return score, None if validation == score else validation


def _explain_missing_score(head: CellTable, parts: Parts, others: Sequence[str]) -> UnreadableRuns:
    """Say what the table looks like instead of a long one."""
    numeric = [name for name in others if head.holds_numbers(name)]
    if decimals := [name for name in head.names if _DECIMAL.fullmatch(name)]:
        return UnreadableRuns(
            f"the first row of {head.source} holds a number ({decimals[0]}) where names of columns "
            "should be",
            "Start it with such a row: algorithm,seed,accuracy",
        )
    if is_transposed(head, parts, others):
        return explain_transposed(head)
    if apart := [name for name in numeric if names_other_data(name)]:
        return UnknownColumn(
            f"{head.source} has scores of validation or training data ({enumerate_names(apart)}), "
            "but no column looks like the score to report",
            f"Name it with --metric; --metric {apart[0]!r} reports those",
        )
    if not parts.algorithm and len(numeric) > 1:
        return UnreadableRuns(
            f"{head.source} looks wide: columns {enumerate_names(numeric)} hold numbers, "
            "and none names an algorithm",
            "Add --wide if each column is an algorithm (from Python: wide=True), or name the "
            "column of algorithms with --algorithm",
        )
    if means := [cell for name in others for cell in head.column(name) if "±" in str(cell)]:
        return UnreadableRuns(
            f"{head.source} holds means with their deviations ({means[0]}), not runs",
            "Compare them with --summary A=MEAN±SD,N B=MEAN±SD,N (from Python: compare_published)",
        )
    listed = enumerate_names(name for name in head.names if name)
    return UnknownColumn(
        f"no column of {head.source} looks like a score (it has: {listed})",
        "Name it with --metric",
    )


def is_transposed(head: CellTable, parts: Parts, others: Sequence[str]) -> bool:
    """Whether each row seems to be an algorithm, with a column per replicate."""
    texts = [name for name in (*parts.algorithm, *others) if head.holds_text(name)]
    numeric = [name for name in others if head.holds_numbers(name)]
    if len(texts) != 1 or texts[0] != next(filter(None, head.names)) or len(numeric) < 2:
        return False
    named = list(head.column(texts[0]))
    tells_algorithms = texts[0] in parts.algorithm or all(
        _LOOKS_LIKE_REPLICATE.fullmatch(name) for name in numeric
    )
    return tells_algorithms and len(set(map(str, named))) == len(named)


def explain_transposed(head: CellTable) -> UnreadableRuns:
    """Say that rows and columns are swapped, or that the rows are summaries."""
    first = next(filter(None, head.names))
    listed = enumerate_names((str(value) for value in head.column(first)), limit=3)
    if {"mean", "average"} & {name.casefold() for name in head.names}:
        return UnreadableRuns(
            f"{head.source} holds a mean of each algorithm ({listed}), not runs",
            "Compare published means with --summary (from Python: compare_published)",
        )
    return UnreadableRuns(
        f"each row of {head.source} seems to be an algorithm ({listed})",
        "Transpose it, so that each column is an algorithm, and add --wide",
    )
