"""Several tables put together, such as one file per algorithm."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from outperform.errors import DuplicateRuns, InvalidInput
from outperform.runs.columns import normalise
from outperform.runs.labels import Labels, concatenate_labels, label_rows, repeat_label
from outperform.runs.metrics import TaskMetric, sum_up_metrics
from outperform.runs.mismatches import note_task_spellings
from outperform.runs.row_kinds import LOOKS_BETTER
from outperform.runs.scope import RUNS
from outperform.runs.source_table import OtherColumns
from outperform.runs.table import Runs, name_runs
from outperform.wording import enumerate_names


def join_runs(*runs: Runs) -> Runs:
    """Put tables together that have the same metric on every task they share.

    Parameters
    ----------
    runs
        At least one. A run may stand in one of them only; runs of different tables that have the
        same replicate are pairs.

    Examples
    --------
    >>> from outperform.runs.reading import read_runs
    >>> first, second = read_runs({"resnet": [0.9, 0.8]}), read_runs({"vgg": [0.7, 0.8]})
    >>> join_runs(first, second).algorithms
    ('resnet', 'vgg')
    """
    if not runs:
        raise InvalidInput("there are no runs to join", "Pass at least one table")
    for each in runs:
        if not isinstance(each, Runs):
            raise InvalidInput(
                f"there are no runs in a value of type {type(each).__name__}",
                "Pass Runs: read_runs reads them from a file",
            )
    if len(runs) == 1:
        return runs[0]
    for other in runs[1:]:
        _check_alike(runs[0], other)
    algorithm = concatenate_labels([Labels(each.algorithms, each.algorithm) for each in runs])
    task = concatenate_labels([Labels(each.tasks, each.task) for each in runs])
    replicate = _join_replicates(runs)
    _check_apart(runs, algorithm, task, replicate)
    metrics = {
        name: TaskMetric(each.metric_on(name), each.goal_on(name))
        for each in reversed(runs)  # the first one's spelling
        for name in each.tasks
    }
    varied = (RUNS,) if replicate is None else chain.from_iterable(each.varied for each in runs)
    return Runs(
        **name_runs(algorithm, task, replicate),
        score=np.concatenate([each.score for each in runs]),
        row=np.concatenate([each.row for each in runs]),
        **sum_up_metrics(metrics),
        source=enumerate_names(dict.fromkeys(each.source for each in runs), limit=3),
        replicate_columns=() if replicate is None else runs[0].replicate_columns,
        spare_columns=runs[0].spare_columns,
        notes=_join_notes(runs, task.names),
        validation_metric=next((r.validation_metric for r in runs if r.validation_metric), ""),
        varied=tuple(dict.fromkeys(varied)),
        algorithm_columns=runs[0].algorithm_columns,
        task_columns=runs[0].task_columns,
        accepted=tuple(dict.fromkeys(chain.from_iterable(each.accepted for each in runs))),
        **_join_where_known(runs, task.names),
    )


def _join_where_known(runs: Sequence[Runs], tasks: Sequence[str]) -> dict[str, Any]:
    """Fields of `Runs` that not every table may have."""
    validation, incomplete, others = None, None, OtherColumns(())
    if any(each.validation is not None for each in runs):
        of_each = [np.full(len(r), np.nan) if r.validation is None else r.validation for r in runs]
        validation = np.concatenate(of_each)
    if any(each.incomplete is not None for each in runs):
        reasons = [each.incomplete or repeat_label("", len(each)) for each in runs]
        incomplete = concatenate_labels(reasons)
    tables = [each.others.sources for each in runs]
    if all(tables):
        others = OtherColumns(tuple(chain.from_iterable(tables)))
    resplits, fixed = {}, []
    for task in tasks:
        of_task = [each for each in runs if task in each.tasks]
        sizes = {each.resplits.get(task) for each in of_task}
        if len(sizes) == 1 and None not in sizes:  # all tables that have it know them and agree
            resplits[task] = sizes.pop()
        if all(task in each.fixed_splits for each in of_task):
            fixed.append(task)
    return {
        "validation": validation,
        "incomplete": incomplete,
        "others": others,
        "resplits": resplits,
        "fixed_splits": tuple(fixed),
    }


def _join_replicates(runs: Sequence[Runs]) -> Labels | None:
    """Replicates under names that all tables share; None where one has none, or others."""
    parts = [Labels(r.replicates, r.replicate) for r in runs if r.replicates is not None]
    if len(parts) < len(runs) or [*_note_other_replicates(runs)]:
        return None
    joined = concatenate_labels(parts)
    ordered = label_rows(joined.names)
    return Labels(ordered.names, ordered.codes[joined.codes])


def _note_other_replicates(runs: Sequence[Runs]) -> Iterator[str]:
    """Say that replicates of two tables are of different kinds: no seed is a fold."""
    first = runs[0]
    for other in runs[1:]:
        are_named = first.replicate_columns and other.replicate_columns
        drawn = {*first.varied}, {*other.varied}
        if are_named and {RUNS} not in drawn and not drawn[0] & drawn[1]:
            yield (
                f"runs are told apart by {first.replicate_name} in {first.source} and by "
                f"{other.replicate_name} in {other.source}, so they are no pairs; give both "
                "columns one name if they are the same"
            )


def _check_alike(first: Runs, other: Runs) -> None:
    validated = [any(note.endswith(LOOKS_BETTER) for note in r.notes) for r in (first, other)]
    if validated[0] != validated[1]:
        on, beside = (first, other) if validated[0] else (other, first)
        raise InvalidInput(
            f"scores of {on.source} are of validation data, and nothing says so of those of "
            f"{beside.source}",
            "Join scores on the same data; if all are of validation data, say so in both",
        )
    for task in [name for name in first.tasks if name in {*other.tasks}]:
        _check_metric(first, other, task)
    names = first.validation_metric, other.validation_metric
    if all(names) and normalise(names[0]) != normalise(names[1]):
        raise InvalidInput(
            f"the validation scores are {names[0]} in {first.source} and {names[1]} in "
            f"{other.source}",
            "Give both columns one name if they are the same metric",
        )
    if (first.tasks == ("",)) != (other.tasks == ("",)):
        silent, named = (first, other) if first.tasks == ("",) else (other, first)
        raise InvalidInput(
            f"{named.source} has a column of tasks ({enumerate_names(named.tasks, limit=3)}) and "
            f"{silent.source} has none",
            f"Add a column to {silent.source} that names the task of every run",
        )


def _check_metric(first: Runs, other: Runs, task: str) -> None:
    metrics, goals = zip(
        *((t.metric_on(task), t.goal_on(task)) for t in (first, other)), strict=True
    )
    on = f" on {task!r}" if task else ""
    if normalise(metrics[0]) != normalise(metrics[1]):
        raise InvalidInput(
            f"{first.source} holds {metrics[0]}{on} and {other.source} {metrics[1]}, which cannot "
            "be compared",
            "Join runs of one metric; if the two are the same, give both columns one name",
        )
    if goals[0] != goals[1]:
        raise InvalidInput(
            f"{metrics[0]}{on} is to {goals[0]} in {first.source} and to {goals[1]} in "
            f"{other.source}",
            "Read both with the same goal",
        )


def _check_apart(
    runs: Sequence[Runs], algorithm: Labels, task: Labels, replicate: Labels | None
) -> None:
    """Refuse a run that stands in two tables."""
    table = np.repeat(np.arange(len(runs)), [len(each) for each in runs])
    run = algorithm.codes * len(task.names) + task.codes
    if replicate is not None:
        run = run * len(replicate.names) + replicate.codes
    order = np.lexsort((table, run))
    clash = (run[order][1:] == run[order][:-1]) & (table[order][1:] != table[order][:-1])
    if not clash.any():
        return
    place = int(np.flatnonzero(clash)[0])
    first, second = order[place], order[place + 1]
    on = f" on {task.names[task.codes[first]]!r}" if task.names != ("",) else ""
    which = (
        "" if replicate is None else f" with replicate {replicate.names[replicate.codes[first]]!r}"
    )
    raise DuplicateRuns(
        f"{algorithm.names[algorithm.codes[first]]!r} has runs{on}{which} in both "
        f"{runs[table[first]].source} and {runs[table[second]].source}",
        "Leave out one of the files, or call the algorithms by different names",
    )


def _join_notes(runs: Sequence[Runs], tasks: Sequence[str]) -> tuple[str, ...]:
    about_tasks = [*note_task_spellings(tasks)]
    notes = [
        f"{each.source}: {note}" for each in runs for note in each.notes if note not in about_tasks
    ]
    notes += about_tasks
    silent = [each.source for each in runs if each.replicates is None]
    if 0 < len(silent) < len(runs):
        notes.append(
            f"{enumerate_names(silent)} does not say which replicate a run is of, so no runs are "
            "paired by replicate"
        )
    return (*notes, *_note_other_replicates(runs))
