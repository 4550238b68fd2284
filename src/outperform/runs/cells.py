"""Tables whose cells are Python values, and what every table can do."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from outperform.errors import UnreadableRuns
from outperform.runs.arrays import FloatArray, IntArray
from outperform.runs.labels import Labels, label_rows
from outperform.runs.numbers import convert_column, convert_number
from outperform.stats.ties import merge_stored
from outperform.wording import enumerate_names, enumerate_rows

_N_HEAD = 20


@dataclass(frozen=True, slots=True)
class Columns:
    """Some columns of a table, ready for numpy."""

    rows: IntArray
    labels: list[Labels]
    numbers: list[FloatArray]


class Table(Protocol):
    """Named columns of anything."""

    @property
    def names(self) -> tuple[str, ...]:
        """The header."""

    @property
    def source(self) -> str:
        """What messages call the table."""

    def head(self) -> "CellTable":
        """Give the first rows, to see what kind of values the columns hold."""

    def take(self, labels: Sequence[str], numbers: Sequence[str]) -> Columns:
        """Give the columns named, as labels and as numbers."""

    def label(self, name: str) -> tuple[IntArray, Labels]:
        """Give the number and the label of every row, which is empty where there is none."""


@dataclass(frozen=True, slots=True)
class CellTable:
    """A table in memory, column by column."""

    names: tuple[str, ...]
    source: str
    columns: Sequence[Sequence[object]] = field(repr=False)
    rows: IntArray = field(compare=False, repr=False)

    def __post_init__(self) -> None:
        check_header(self.names, self.source)
        if len(self.rows) == 0:
            raise UnreadableRuns(f"{self.source} holds no runs", "Add one row per run")

    def head(self) -> "CellTable":
        """Give the first rows, to see what kind of values the columns hold."""
        columns = [column[:_N_HEAD] for column in self.columns]
        return CellTable(self.names, self.source, columns, self.rows[:_N_HEAD])

    def take(self, labels: Sequence[str], numbers: Sequence[str]) -> Columns:
        """Give the columns named, as labels and as numbers.

        Numbers that 32 or 16 bits could hardly tell apart become identical.
        """
        cells = [self.column(name) for name in numbers]
        converted = [
            convert_column(column, rows=self.rows, name=name, source=self.source)
            for name, column in zip(numbers, cells, strict=True)
        ]
        stored = [np.asarray(column[:1]).dtype for column in cells]
        labelled = [self._labels(name) for name in labels]
        return Columns(self.rows, labelled, list(merge_stored(converted, stored)))

    def label(self, name: str) -> tuple[IntArray, Labels]:
        """Give the number and the label of every row, which is empty where there is none."""
        return self.rows, label_rows([_write_label(value) for value in self.column(name)])

    def column(self, name: str) -> Sequence[object]:
        """Give the cells of one column."""
        return self.columns[self.names.index(name)]

    def holds_text(self, name: str) -> bool:
        """Whether any cell is neither a number nor missing."""
        return any(convert_number(value) is None for value in self.column(name))

    def holds_numbers(self, name: str) -> bool:
        """Whether the column holds numbers and no text."""
        numbers = [convert_number(value) for value in self.column(name)]
        return None not in numbers and any(n is not None and not math.isnan(n) for n in numbers)

    def _labels(self, name: str) -> Labels:
        texts = [_write_label(value) for value in self.column(name)]
        missing = [i for i, text in enumerate(texts) if not text]
        if missing:
            where = enumerate_rows(self.rows[missing])
            raise UnreadableRuns(
                f"column {name!r} of {self.source} is empty in {where}",
                f"Give every run its {name}, or remove those rows",
            )
        return label_rows(texts)


def check_header(names: Sequence[str], source: str) -> None:
    """Refuse two columns of one name."""
    named = [name for name in names if name]
    repeated = sorted({name for name in named if named.count(name) > 1})
    if repeated:
        raise UnreadableRuns(
            f"{source} has more than one column named {enumerate_names(repeated)}",
            "Give every column a name of its own",
        )
    if not named:
        raise UnreadableRuns(f"{source} names no columns", "Start it with a row of column names")


def _write_label(value: object) -> str:
    """Write a label as a CSV file would hold it; pandas makes 3.0 of 3 beside a missing one."""
    if isinstance(value, str):
        return value.strip()
    if value is None or str(value) == "<NA>":
        return ""
    if isinstance(value, float | np.floating):
        if math.isnan(value):
            return ""
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    return str(value).strip()
