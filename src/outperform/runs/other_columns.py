"""Columns that runs were not made of, read only where something must be explained."""

from dataclasses import dataclass, field

import numpy as np

from outperform.errors import OutperformError
from outperform.runs.arrays import IntArray
from outperform.runs.cells import Table
from outperform.runs.labels import Labels, concatenate_labels


@dataclass(frozen=True, slots=True)
class OtherColumns:
    """The tables that runs come from, in the order of the runs.

    Attributes
    ----------
    sources
        Each table, with the row of each of its runs.
    """

    sources: tuple[tuple[Table, IntArray], ...] = field(compare=False, repr=False)
    _labels: dict[str, Labels | None] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that any of the tables has."""
        names = dict.fromkeys(name for table, _ in self.sources for name in table.names)
        return tuple(filter(None, names))

    def read(self, name: str) -> Labels | None:
        """Give the label of every run, empty where it has none; None if it cannot be read."""
        if name not in self._labels:
            try:
                parts = [_label_runs(table, row, name) for table, row in self.sources]
                self._labels[name] = concatenate_labels(parts)
            except OutperformError:  # the file has changed, or is gone
                self._labels[name] = None
        return self._labels[name]


def _label_runs(table: Table, row: IntArray, name: str) -> Labels:
    if name not in table.names:
        return Labels(("",), np.zeros(len(row), dtype=np.int64))
    rows, labels = table.label(name)
    return Labels(labels.names, labels.codes[np.searchsorted(rows, row)])
