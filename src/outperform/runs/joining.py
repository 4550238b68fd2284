"""Several tables put together, such as one file per algorithm."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from outperform.errors import DuplicateRuns, InvalidInput
from outperform.runs.labels import (
    FloatArray,
    IntArray,
    Labels,
    concatenate_labels,
    label_rows,
    repeat_label,
)
from outperform.runs.metrics import TaskMetric, sum_up_metrics
from outperform.runs.scope import RUNS, Resplit
from outperform.runs.source_table import OtherColumns
from outperform.runs.table import Runs
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
    if len(runs) == 1:
        return runs[0]
    for other in runs[1:]:
        _check_alike(runs[0], other)
    algorithm, task = _join_names(runs, "algorithm"), _join_names(runs, "task")
    replicate = None if any(r.replicates is None for r in runs) else _join_names(runs, "replicate")
    _check_apart(runs, algorithm, task, replicate)
    return Runs(
        algorithms=tuple(algorithm.names),
        tasks=tuple(task.names),
        replicates=None if replicate is None else replicate.names,
        algorithm=algorithm.codes,
        task=task.codes,
        replicate=np.zeros_like(task.codes) if replicate is None else replicate.codes,
        score=np.concatenate([each.score for each in runs]),
        validation=_join_validation(runs),
        row=np.concatenate([each.row for each in runs]),
        **sum_up_metrics(_join_metrics(runs)),
        source=enumerate_names(dict.fromkeys(each.source for each in runs), limit=3),
        replicate_columns=() if replicate is None else runs[0].replicate_columns,
        spare_columns=runs[0].spare_columns,
        notes=_join_notes(runs),
        validation_metric=next((r.validation_metric for r in runs if r.validation_metric), ""),
        varied=(RUNS,) if replicate is None else _join_varied(runs),
        resplits={name: r for name in task.names if (r := _find_resplit(runs, name)) is not None},
        fixed_splits=tuple(
            name
            for name in task.names
            if all(name in each.fixed_splits for each in runs if name in each.tasks)
        ),
        algorithm_columns=runs[0].algorithm_columns,
        incomplete=_join_incomplete(runs),
        others=_join_others(runs),
        accepted=tuple(dict.fromkeys(chain.from_iterable(each.accepted for each in runs))),
    )


def _join_varied(runs: Sequence[Runs]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for each in runs for word in each.varied))


def _find_resplit(runs: Sequence[Runs], task: str) -> Resplit | None:
    """Sizes of a task's splits, if all tables that have it know them and agree."""
    sizes = {each.resplits.get(task) for each in runs if task in each.tasks}
    return sizes.pop() if len(sizes) == 1 else None


def _check_alike(first: Runs, other: Runs) -> None:
    for task in [name for name in first.tasks if name in {*other.tasks}]:
        _check_metric(first, other, task)
    names = first.validation_metric, other.validation_metric
    if all(names) and names[0] != names[1]:
        raise InvalidInput(
            f"the validation scores are {names[0]} in {first.source} and {names[1]} in "
            f"{other.source}",
            "Give both columns one name if they are the same metric",
        )
    _check_tasks(first, other)


def _check_metric(first: Runs, other: Runs, task: str) -> None:
    metrics, goals = zip(
        *((t.metric_on(task), t.goal_on(task)) for t in (first, other)), strict=True
    )
    on = f" on {task!r}" if task else ""
    if metrics[0] != metrics[1]:
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


def _join_metrics(runs: Sequence[Runs]) -> dict[str, TaskMetric]:
    return {
        task: TaskMetric(each.metric_on(task), each.goal_on(task))
        for each in runs
        for task in each.tasks
    }


def _check_tasks(first: Runs, other: Runs) -> None:
    if (first.tasks == ("",)) != (other.tasks == ("",)):
        silent, named = (first, other) if first.tasks == ("",) else (other, first)
        raise InvalidInput(
            f"{named.source} has a column of tasks ({enumerate_names(named.tasks, limit=3)}) and "
            f"{silent.source} has none",
            f"Add a column to {silent.source} that names the task of every run",
        )


def _join_names(runs: Sequence[Runs], part: str) -> Labels:
    """Codes of all tables under names that they share."""
    names = [getattr(each, f"{part}s") for each in runs]
    if part == "replicate":
        joined = label_rows([name for some in names for name in some]).names
    else:
        joined = tuple(dict.fromkeys(name for some in names for name in some))
    place = {name: code for code, name in enumerate(joined)}
    codes: list[IntArray] = [
        np.array([place[name] for name in some], dtype=np.int64)[getattr(each, part)]
        for some, each in zip(names, runs, strict=True)
    ]
    return Labels(joined, np.concatenate(codes))


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


def _join_validation(runs: Sequence[Runs]) -> FloatArray | None:
    if all(each.validation is None for each in runs):
        return None
    return np.concatenate(
        [np.full(len(r), np.nan) if r.validation is None else r.validation for r in runs]
    )


def _join_incomplete(runs: Sequence[Runs]) -> Labels | None:
    if all(each.incomplete is None for each in runs):
        return None
    return concatenate_labels([each.incomplete or repeat_label("", len(each)) for each in runs])


def _join_others(runs: Sequence[Runs]) -> OtherColumns | None:
    others = [each.others for each in runs if each.others is not None]
    if len(others) < len(runs):
        return None
    return OtherColumns(tuple(chain.from_iterable(each.sources for each in others)))


def _join_notes(runs: Sequence[Runs]) -> tuple[str, ...]:
    notes = [f"{each.source}: {note}" for each in runs for note in each.notes]
    silent = [each.source for each in runs if each.replicates is None]
    if 0 < len(silent) < len(runs):
        notes.append(
            f"{enumerate_names(silent)} does not say which replicate a run is of, so no runs are "
            "paired by replicate"
        )
    return tuple(notes)
