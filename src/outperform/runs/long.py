"""Tables with one row per run."""

import re
from collections.abc import Sequence

from outperform.errors import UnknownColumn, UnreadableRuns
from outperform.runs.assembling import About, Keys, assemble, join_or_repeat
from outperform.runs.cells import CellTable, Table
from outperform.runs.columns import (
    Parts,
    Wanted,
    assign_parts,
    find_column,
    find_score,
    find_validation,
    names_other_data,
    names_validation,
)
from outperform.runs.metrics import Goal, resolve_goal
from outperform.runs.naming import enumerate_names
from outperform.runs.table import Runs

_LOOKS_LIKE_REPLICATE = re.compile(r".*\d")
_DECIMAL = re.compile(r"[+-]?\d*\.\d+")


def read_long(table: Table, wanted: Wanted, goal: Goal | None, *, only: str) -> Runs:
    """Read a table with one row per run.

    Parameters
    ----------
    only
        Name of the algorithm where no column names any.
    """
    parts = assign_parts(table.names, wanted, table.source)
    score, validation = _find_numbers(table, wanted, parts)
    told = resolve_goal(score, goal)
    about = About(
        score, told, table.source, parts.replicate, parts.spare, validation_metric=validation or ""
    )
    numbers = [score] if validation is None else [score, validation]
    columns = table.take([*parts.algorithm, *parts.task, *parts.replicate], numbers)
    n_algorithm, n_rows = len(parts.algorithm), len(columns.rows)
    n_task = n_algorithm + len(parts.task)
    of_replicate = columns.labels[n_task:]
    keys = Keys(
        join_or_repeat(columns.labels[:n_algorithm], only, n_rows),
        join_or_repeat(columns.labels[n_algorithm:n_task], "", n_rows),
        join_or_repeat(of_replicate, "", n_rows) if of_replicate else None,
    )
    validations = columns.numbers[1] if validation is not None else None
    return assemble(keys, columns.numbers[0], validations, row=columns.rows, about=about)


def _find_numbers(table: Table, wanted: Wanted, parts: Parts) -> tuple[str, str | None]:
    """Find the columns of scores and of validation scores."""
    taken = {*parts.algorithm, *parts.task, *parts.replicate, *parts.spare, ""}
    others = [name for name in table.names if name not in taken]
    head = table.head()
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
