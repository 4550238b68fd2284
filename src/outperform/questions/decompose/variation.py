"""Runs of which a file says what was redrawn for each."""

from pathlib import Path

from outperform.errors import UnknownColumn
from outperform.questions.decompose.redrawn_runs import Variation
from outperform.runs.cells import Table
from outperform.runs.columns import Wanted, assign_parts, find_column, find_columns, find_score
from outperform.runs.files import open_file
from outperform.runs.labels import Labels, join_labels
from outperform.wording import enumerate_names


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
    parts = assign_parts(table.names, wanted, table.source)
    redrawn = _find_redrawn(table, source, crossed)
    score = _find_score(table, wanted, {*parts.algorithm, *parts.task, *redrawn})
    columns = table.take([*parts.algorithm, *parts.task, *redrawn], [score])
    texts = _spell(columns.labels, [len(parts.algorithm), len(parts.task)], len(columns.rows))
    variations: dict[tuple[str, str], Variation] = {}
    for (algorithm, task, *levels), value in zip(texts, columns.numbers[0], strict=True):
        runs = variations.setdefault((algorithm, task), Variation(algorithm, task, score))
        if crossed is None:
            runs.by_source.setdefault(levels[0], []).append(float(value))
        else:
            runs.crossed.setdefault(redrawn, []).append((tuple(levels), float(value)))
    return list(variations.values())


def _find_redrawn(table: Table, source: str | None, crossed: str | None) -> tuple[str, ...]:
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


def _find_score(table: Table, wanted: Wanted, others: set[str]) -> str:
    left = [name for name in table.names if name and name not in others]
    head = table.head()
    texts = [name for name in left if head.holds_text(name)]
    candidates = list(table.names) if wanted.metric else left
    score = find_score(candidates, wanted, table.source, texts=texts)
    if score is None:
        raise UnknownColumn(
            f"no column of {table.source} looks like a score (it has: "
            f"{enumerate_names(name for name in table.names if name)})",
            "Name it with --metric",
        )
    return score


def _spell(labels: list[Labels], joined: list[int], n_rows: int) -> list[tuple[str, ...]]:
    """Names in every row; the first columns are joined in groups of these sizes."""
    columns, start = [], 0
    for size in joined:
        group = labels[start : start + size]
        columns.append(_write(join_labels(group)) if group else [""] * n_rows)
        start += size
    columns += [_write(label) for label in labels[start:]]
    return list(zip(*columns, strict=True))


def _write(labels: Labels) -> list[str]:
    return [labels.names[code] for code in labels.codes]
