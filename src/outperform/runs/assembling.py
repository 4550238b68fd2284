"""Columns put together to runs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from outperform.runs.arrays import FloatArray, IntArray
from outperform.runs.labels import Labels, join_labels
from outperform.runs.metrics import Goal
from outperform.runs.table import Runs


@dataclass(frozen=True, slots=True)
class About:
    """What is to be known of the runs as a whole."""

    metric: str
    goal: Goal
    source: str
    replicate_columns: tuple[str, ...]
    spare_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Keys:
    """What tells runs apart."""

    algorithm: Labels
    task: Labels
    replicate: Labels | None

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
    algorithm, task = keys.algorithm.by_appearance(), keys.task.by_appearance()
    replicate = keys.replicate
    return Runs(
        algorithms=algorithm.names,
        tasks=task.names,
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
    )
