"""Where `outperform decompose` gets its runs: a runs file, or the store of a study."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np

from outperform.analysis.crossed_decomposition import CrossedDecomposition, decompose_crossed
from outperform.analysis.stored_runs import describe_left_out, is_planned, list_designs
from outperform.cli.sources import is_store
from outperform.errors import DuplicateRuns, InvalidInput, UnknownColumn
from outperform.runs.cells import Table
from outperform.runs.columns import Wanted, assign_parts, find_column, find_columns, find_score
from outperform.runs.files import open_file
from outperform.runs.labels import Labels, join_labels
from outperform.runs.naming import enumerate_names
from outperform.stats.checks import FloatArray
from outperform.store import Measurement, RunLabel, SqliteStore

Level = tuple[Any, ...]
_ONE_BY_ONE, _CROSSED = "variance", "crossed"  # estimators


@dataclass(frozen=True, slots=True)
class Variation:
    """Runs of one algorithm on one task, under what was redrawn for each."""

    algorithm: str
    task: str
    metric: str
    by_source: dict[str, list[float]] = field(default_factory=dict)  # one source at a time
    crossed: dict[tuple[str, ...], list[tuple[Level, float]]] = field(default_factory=dict)

    def cross(self, *, confidence_level: float) -> list[CrossedDecomposition]:
        """Components of variance of every crossed design."""
        return [
            decompose_crossed(
                arrange_levels(names, cells),
                names,
                algorithm=self.algorithm,
                task=self.task,
                metric=self.metric,
                confidence_level=confidence_level,
            )
            for names, cells in self.crossed.items()
        ]


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
            return load_variation(store)
    table = open_file(Path(path))
    parts = assign_parts(table.names, wanted, table.source)
    taken = _find_taken(table, source, crossed)
    score = _find_score(table, wanted, {*parts.algorithm, *parts.task, *taken})
    columns = table.take([*parts.algorithm, *parts.task, *taken], [score])
    texts = _spell(columns.labels, [len(parts.algorithm), len(parts.task)], len(columns.rows))
    found: dict[tuple[str, str], Variation] = {}
    for (algorithm, task, *levels), value in zip(texts, columns.numbers[0], strict=True):
        runs = found.setdefault((algorithm, task), Variation(algorithm, task, score))
        if crossed is None:
            runs.by_source.setdefault(levels[0], []).append(float(value))
        else:
            runs.crossed.setdefault(taken, []).append((tuple(levels), float(value)))
    return list(found.values())


def load_variation(store: SqliteStore) -> list[Variation]:
    """Runs of a study's variance and crossed estimators, as far as the study has them now."""
    study = store.get_meta("study") or {}
    labels = store.run_labels() if study else []
    apart = [label for label in labels if label.estimator in (_ONE_BY_ONE, _CROSSED)]
    designs = [d for d in list_designs(study, apart) if d["estimator"] in (_ONE_BY_ONE, _CROSSED)]
    wanted = [label for label in apart if is_planned(label, designs, study)]
    done = {key: m for key, m in store.get({w.key for w in wanted}).items() if m.status == "done"}
    wanted = [label for label in wanted if label.key in done]
    if not wanted:
        kinds = enumerate_names(sorted({label.estimator for label in labels})) or "none yet"
        raise InvalidInput(
            f"{store.path} holds no runs in which sources were redrawn apart (estimators: {kinds})",
            'Add an [[estimator]] with kind = "variance" to the study and run it',
        )
    for note in describe_left_out(apart, designs, study):
        click.secho(f"Note: {note}.", fg="yellow", err=True)
    found: dict[tuple[str, str], Variation] = {}
    order = {name: place for place, name in enumerate([*study["pipelines"], *study["tasks"]])}
    for label in sorted(wanted, key=lambda w: (order[w.task], order[w.pipeline], w.replicate)):
        names = label.pipeline, label.task
        metric = study["tasks"][label.task]["metric"]
        _file(found.setdefault(names, Variation(*names, metric)), label, done[label.key])
    return list(found.values())


def arrange_levels(names: Sequence[str], cells: Iterable[tuple[Level, float]]) -> FloatArray:
    """Scores as an array with an axis per source; every combination must be there, once."""
    scores: dict[Level, float] = {}
    for level, score in cells:
        if level in scores:
            described = _describe_level(names, level)
            raise DuplicateRuns(f"two runs have {described}", "Keep one run per combination")
        scores[level] = score
    axes = [list(dict.fromkeys(level[axis] for level in scores)) for axis in range(len(names))]
    shape = tuple(map(len, axes))
    missing = int(np.prod(shape)) - len(scores)
    if missing:
        raise InvalidInput(
            f"{missing} of the {' × '.join(map(str, shape))} combinations of "
            f"{enumerate_names(names)} are missing",
            "Let `outperform run` finish the crossed design, or complete the file",
        )
    table = np.empty(shape)
    for level, score in scores.items():
        table[tuple(axis.index(value) for axis, value in zip(axes, level, strict=True))] = score
    return table


def _find_taken(table: Table, source: str | None, crossed: str | None) -> tuple[str, ...]:
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


def _find_score(table: Table, wanted: Wanted, taken: set[str]) -> str:
    others = [name for name in table.names if name and name not in taken]
    head = table.head()
    texts = [name for name in others if head.holds_text(name)]
    candidates = list(table.names) if wanted.metric else others
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


def _file(runs: Variation, label: RunLabel, measured: Measurement) -> None:
    score = measured.scores["test"]
    if label.estimator == _ONE_BY_ONE:
        runs.by_source.setdefault(label.source, []).append(score)
        return
    names = tuple(label.source.split("+"))
    # Folds of one cross-validation share the seed of their split.
    fold = {"split": measured.fold}
    level = tuple((measured.seeds.get(name), fold.get(name, 0)) for name in names)
    runs.crossed.setdefault(names, []).append((level, score))


def _describe_level(names: Sequence[str], level: Level) -> str:
    return ", ".join(f"{name} {value}" for name, value in zip(names, level, strict=True))
