"""Where `outperform decompose` gets its runs: a runs file, or the store of a study."""

from collections.abc import Sequence
from pathlib import Path

import click

from outperform.cli.sources import is_store
from outperform.errors import UnknownColumn
from outperform.questions.decompose.redrawn_runs import Variation, load_variation
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
from outperform.store import SqliteStore


def open_variation(
    path: str, *, wanted: Wanted, source: str | None, crossed: str | None
) -> list[Variation]:
    """Runs of a file, or of a store.

    Parameters
    ----------
    source
        Column that says what was redrawn, if it is not called source.
    crossed
        Columns with the levels of a crossed design, if the file is one.
    """
    if is_store(path):
        with SqliteStore(path) as store:
            variations, notes = load_variation(store)
        for note in notes:
            click.secho(f"Note: {note}.", fg="yellow", err=True)
        return variations
    table = open_file(Path(path))
    roles = assign_roles(table.names, wanted, table.source)
    taken = _find_taken(table, source, crossed)
    known = {*roles.algorithm, *roles.task, *taken, ""}
    score = require_score(table, [n for n in table.names if n not in known], wanted.metric)
    (scores,) = table.parse([score])
    columns = [_spell(table, names) for names in (roles.algorithm, roles.task)]
    columns += [_spell(table, [name]) for name in taken]
    found: dict[tuple[str, str], Variation] = {}
    for algorithm, task, *levels, value in zip(*columns, scores, strict=True):
        runs = found.setdefault((algorithm, task), Variation(algorithm, task, score))
        if crossed is None:
            runs.by_source.setdefault(levels[0], []).append(float(value))
        else:
            runs.crossed.setdefault(taken, []).append((tuple(levels), float(value)))
    return list(found.values())


def _find_taken(table: SourceTable, source: str | None, crossed: str | None) -> tuple[str, ...]:
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
