"""Runs of which a file says what was redrawn for each."""

from collections.abc import Sequence
from pathlib import Path

from outperform.errors import UnknownColumn
from outperform.questions.decompose.redrawn_runs import Variation
from outperform.runs.columns import (
    Wanted,
    assign_roles,
    find_column,
    find_columns,
    require_score,
)
from outperform.runs.formats import open_file
from outperform.runs.labels import join_labels
from outperform.runs.source_table import SourceTable


def read_variation(
    path: Path, *, wanted: Wanted, source: str | None, crossed: str | None
) -> list[Variation]:
    """Runs of every algorithm on every task of a file.

    Parameters
    ----------
    source
        Column that says what was redrawn, if it is not called source.
    crossed
        Columns with the levels of a crossed design, if the file is one.
    """
    table = open_file(path)
    roles = assign_roles(table.names, wanted, table.source)
    redrawn = _find_redrawn(table, source, crossed)
    known = {*roles.algorithm, *roles.task, *redrawn, ""}
    score = require_score(table, [n for n in table.names if n not in known], wanted.metric)
    (scores,) = table.parse([score])
    columns = [_spell(table, names) for names in (roles.algorithm, roles.task)]
    columns += [_spell(table, [name]) for name in redrawn]
    variations: dict[tuple[str, str], Variation] = {}
    for algorithm, task, *levels, value in zip(*columns, scores, strict=True):
        runs = variations.setdefault((algorithm, task), Variation(algorithm, task, score))
        if crossed is None:
            runs.by_source.setdefault(levels[0], []).append(float(value))
        else:
            runs.crossed.setdefault(redrawn, []).append((tuple(levels), float(value)))
    return list(variations.values())


def _find_redrawn(table: SourceTable, source: str | None, crossed: str | None) -> tuple[str, ...]:
    """Columns that say what was redrawn."""
    if crossed is not None:
        return find_columns(crossed, table.names, table.source)
    try:
        return (find_column(source or "source", table.names, table.source),)
    except UnknownColumn as error:
        raise UnknownColumn(
            error.problem,
            f"{error.remedy}; name the column that says which source was redrawn with --source, "
            "or those of a crossed design with --crossed split,init",
        ) from None


def _spell(table: SourceTable, names: Sequence[str]) -> list[str]:
    """Names in every row, joined from some columns; empty where there are none."""
    if not names:
        return [""] * len(table.rows)
    return join_labels(map(table.label_runs, names)).spell()
