"""The table that every format is read to: named columns, and where each row stands.

Cells are kept as they came and become labels or numbers when a column is asked for, so that what
is refused, and how, does not depend on the format.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from outperform.errors import InvalidScores, UnreadableRuns
from outperform.runs.labels import (
    BoolArray,
    FloatArray,
    IntArray,
    Labels,
    concatenate_labels,
    label_integers,
    label_rows,
    repeat_label,
)
from outperform.stats.checks import merge_stored
from outperform.wording import cut_to, enumerate_names, enumerate_rows

_MOST_COLUMNS = 100_000
_N_HEAD = 20  # rows that show what kind of values a column holds
_N_GLANCE = 1000  # rows that show whether equal texts follow one another
_FEW = 1 / 4  # of all rows, which it pays to look at first
MISSING = frozenset({"", "nan", "na", "n/a", "null", "none"})
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class SourceTable:
    """Named columns of anything, one cell per row in each."""

    names: tuple[str, ...]
    source: str  # what messages call the table
    columns: Sequence["Sequence[object] | ArrowTexts"] = field(compare=False, repr=False)
    # Where each row stands in its source: line of the file, or position from 1.
    rows: IntArray = field(compare=False, repr=False)
    _place: dict[str, int] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_place", number_columns(self.names, self.source))
        if len(self.rows) == 0:
            raise UnreadableRuns(f"{self.source} holds no runs", "Add one row per run")

    def head(self, name: str) -> Sequence[object]:
        """Give the first cells of a column, which show what kind of values it holds."""
        return self.columns[self._place[name]][:_N_HEAD]

    def holds_text(self, name: str) -> bool:
        """Whether a cell among the first ones is neither a number nor missing."""
        return None in map(parse_number, self.head(name))

    def holds_numbers(self, name: str) -> bool:
        """Whether the first cells are numbers and no text."""
        numbers = [parse_number(cell) for cell in self.head(name)]
        return None not in numbers and any(n is not None and not math.isnan(n) for n in numbers)

    def label(self, name: str, places: IntArray | None = None) -> Labels:
        """Give the label of every row, or of those at some places; empty where a cell is."""
        cells = self.columns[self._place[name]]
        if isinstance(cells, ArrowTexts):
            return cells.label() if places is None else ArrowTexts(cells.array.take(places)).label()
        if places is not None:
            cells = [cells[place] for place in places.tolist()]
        try:
            texts = [*map(str.strip, cells)]  # type: ignore[arg-type]
        except TypeError:  # some are no text
            texts = [*map(_write_label, cells)]
        return label_rows(texts)

    def label_runs(self, name: str) -> Labels:
        """Give the label of every row, and refuse empty ones."""
        labels = self.label(name)
        if labels.names[0] == "":  # the shortest comes first
            where = enumerate_rows(self.rows[labels.codes == 0])
            raise UnreadableRuns(
                f"column {name!r} of {self.source} is empty in {where}",
                f"Give every run its {name}, also where one cell stands for those below it; "
                "remove rows that are no runs",
            )
        return labels

    def parse(self, names: Sequence[str]) -> list[FloatArray]:
        """Give columns as numbers, NaN where missing, and refuse text.

        Numbers that 32 or 16 bits could hardly tell apart become identical.
        """
        return self.take(names, ())[0]

    def take(
        self, numbers: Sequence[str], labels: Sequence[str]
    ) -> tuple[list[FloatArray], dict[str, Labels]]:
        """Give columns as numbers, as `parse` does, and columns as labels of runs."""
        with ExitStack() as stack:
            apply: Callable[..., Iterator[Any]] = map
            if isinstance(self.columns[0], ArrowTexts):  # pyarrow lets others work beside it
                from concurrent.futures import ThreadPoolExecutor

                apply = stack.enter_context(ThreadPoolExecutor()).map
            # Text among numbers is refused before labels that are missing.
            parsing, labelled = apply(self._parse, numbers), apply(self.label_runs, labels)
            parsed = [*parsing]
            stored = [np.asarray(self.columns[self._place[name]][:1]).dtype for name in numbers]
            return [*merge_stored(parsed, stored)], dict(zip(labels, labelled, strict=True))

    def _parse(self, name: str) -> FloatArray:
        cells = self.columns[self._place[name]]
        if isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf":
            return cells.astype(np.float64)
        if isinstance(cells, ArrowTexts) and (parsed := cells.parse()) is not None:
            return parsed
        numbers = [*map(parse_number, cells)]
        if None in numbers:
            wrong = [i for i, number in enumerate(numbers) if number is None]
            text, where = str(cells[wrong[0]]), enumerate_rows(self.rows[wrong])
            raise InvalidScores(
                f"column {name!r} of {self.source} holds {cut_to(text, 80)!r} where a number "
                f"should be ({where})",
                _suggest_writing(text),
            )
        return np.array(numbers, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a table as they were read, one entry per row in every array."""

    algorithm: Labels
    task: Labels
    replicate: Labels | None
    numbers: list[FloatArray]  # score and validation, or all algorithms of a wide table
    row: IntArray  # where each stands in its source
    # Why a row is not the end of a run, such as its status; empty where it is. None if all are.
    incomplete: Labels | None = None

    def keep(self, rows: BoolArray | IntArray) -> "Rows":
        """Take these rows and no others."""
        return Rows(
            self.algorithm.keep(rows),
            self.task.keep(rows),
            self.replicate and self.replicate.keep(rows),
            [column[rows] for column in self.numbers],
            self.row[rows],
            self.incomplete and self.incomplete.keep(rows),
        )

    def label(self, table: SourceTable, name: str) -> Labels:
        """Label these rows by a column of the table that they come from."""
        labels = table.label(name)
        if len(table.rows) == len(self.row):
            return labels
        return labels.keep(np.searchsorted(table.rows, self.row))


@dataclass(frozen=True, slots=True)
class OtherColumns:
    """The tables that runs come from, for what they say of the runs beside their scores."""

    # Each table, with the row of each of its runs.
    sources: tuple[tuple[SourceTable, IntArray], ...] = field(compare=False, repr=False)
    # Columns that any of the tables has.
    names: tuple[str, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        names = dict.fromkeys(name for table, _ in self.sources for name in table.names if name)
        object.__setattr__(self, "names", tuple(names))

    def label(self, name: str, runs: IntArray) -> Labels:
        """Give the label of some of the runs, by their place; empty where one has none."""
        table, row = self.sources[0]
        if len(self.sources) == 1 and len(runs) < len(row) * _FEW:  # as of one task of many
            return table.label(name, np.searchsorted(table.rows, row[runs]))
        parts = [
            table.label(name).keep(np.searchsorted(table.rows, row))
            if name in table._place
            else repeat_label("", len(row))
            for table, row in self.sources
        ]
        return concatenate_labels(parts).keep(runs)


@dataclass(frozen=True, slots=True)
class ArrowTexts:
    """A column of text that pyarrow read, null where a cell is empty."""

    array: Any  # pyarrow.ChunkedArray of strings

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: Any) -> Any:
        # Without spaces after the delimiter, as the csv module gives it.
        if isinstance(index, slice):
            return [text.lstrip(" ") for text in self.array[index].fill_null("").to_pylist()]
        return (self.array[index].as_py() or "").lstrip(" ")

    def __iter__(self) -> Iterator[str]:
        return iter(self[:])

    def label(self) -> Labels:
        """Label rows as `label_rows` does, but without a Python string for each."""
        integers = self._parse_integers()
        if integers is not None:
            return label_integers(integers)
        filled = self.array.fill_null("") if self.array.null_count else self.array
        texts, n_rows = _join_repeated(filled)
        encoded = texts.dictionary_encode().combine_chunks()
        labels = label_rows([name.strip() for name in encoded.dictionary.to_pylist()])
        codes = labels.codes[encoded.indices.to_numpy()]
        return Labels(labels.names, codes if n_rows is None else np.repeat(codes, n_rows))

    def parse(self) -> FloatArray | None:
        """Parse numbers; None where `parse_number` may see any of them otherwise."""
        from pyarrow import ArrowInvalid, float64

        try:
            numbers: FloatArray = self.array.cast(float64()).to_numpy()
        except ArrowInvalid:
            return None
        odd = np.flatnonzero(~np.isfinite(numbers)).tolist()
        numbers = numbers.copy() if odd else numbers
        for place in odd:
            if (number := parse_number(self[place])) is None:
                return None
            numbers[place] = number
        return numbers

    def _parse_integers(self) -> IntArray | None:
        """Parse seeds and the like, if their spelling tells no more than their value."""
        from pyarrow import ArrowInvalid, compute, int64

        texts = self.array
        if not self[0].isdigit() or texts.null_count:
            return None
        try:
            integers: IntArray = texts.cast(int64()).to_numpy()
        except ArrowInvalid:  # it is no number, or has more digits than a computer's
            return None
        largest = int(integers.max())
        longer = (np.count_nonzero(integers >= 10**k) for k in range(1, len(str(largest))))
        n_digits = len(texts) + sum(longer)
        if n_digits != compute.sum(compute.binary_length(texts)).as_py():
            return None  # 007 is another name than 7
        if largest >= 10**9 and not compute.all(compute.ascii_is_decimal(texts)).as_py():
            return None  # 0xffffffff is as long as its digits; smaller ones are longer
        return integers


def _join_repeated(texts: Any) -> tuple[Any, IntArray | None]:
    """Give texts that follow one another once, and how many rows each has; None where few do."""
    from pyarrow import chunked_array, compute

    head = compute.run_end_encode(texts[:_N_GLANCE].combine_chunks())
    if len(head.values) > len(head) * _FEW:
        return texts, None
    parts = compute.run_end_encode(texts).chunks
    n_rows = [np.diff(part.run_ends, prepend=0) for part in parts]
    return chunked_array([part.values for part in parts]), np.concatenate(n_rows)


def number_columns(names: Sequence[str], source: str) -> dict[str, int]:
    """Give the place of every column, and refuse two of one name, or too many."""
    if len(names) > _MOST_COLUMNS:
        raise UnreadableRuns(
            f"{source} has {len(names):,} columns, more than the {_MOST_COLUMNS:,} that are read",
            "Keep those that name the runs and their scores",
        )
    place: dict[str, int] = {}
    repeated = set()
    for number, name in enumerate(names):
        if place.setdefault(name, number) < number and name:
            repeated.add(name)
    if repeated:
        raise UnreadableRuns(
            f"{source} has more than one column named {enumerate_names(sorted(repeated))}",
            "Give every column a name of its own",
        )
    if not any(names):
        raise UnreadableRuns(f"{source} names no columns", "Start it with a row of column names")
    return place


def check_size(
    n_bytes: int, most: int, name: str, remedy: str = "Keep the columns and rows of the runs only"
) -> None:
    """Refuse what takes more than so many bytes."""
    if n_bytes > most:
        raise UnreadableRuns(
            f"{name} is larger than {most >> 30} GiB, the most that is read", remedy
        )


def parse_number(value: object) -> float | None:
    """Parse whatever a table may hold; NaN stands for a missing number, None for what is no number.

    Examples
    --------
    >>> parse_number(" 0.91"), parse_number("N/A"), parse_number("91%")
    (0.91, nan, None)
    """
    if isinstance(value, str):
        value = value.strip()
        if value.casefold() in MISSING:
            return math.nan
        if "_" in value or not value.isascii():
            return None  # float() would read 1_000 and digits of other scripts
    elif value is None:
        return math.nan
    elif isinstance(value, bool | np.bool_ | complex):
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        is_missing = not isinstance(value, str) and str(value) == "<NA>"  # as pandas writes it
        return math.nan if is_missing else None


def _suggest_writing(text: str) -> str:
    stripped = text.strip()
    if stripped.casefold() in ("true", "false"):
        return (
            "Give the mean over the test examples of every run, with its seed; if each row is a "
            "run that succeeds or fails, write 1 and 0"
        )
    bare = stripped.replace("%", "").strip()
    percent = "without the percent sign" if "%" in stripped else ""
    decimal, whole = bare.replace(",", "."), bare.replace(",", "")
    if _THOUSANDS.fullmatch(bare) and _DECIMAL_COMMA.fullmatch(bare):  # 1,312 is either
        return f"Write it as {decimal} if the comma is a decimal one, as {whole} if not"
    if _THOUSANDS.fullmatch(bare):
        return f"Write it without commas: {whole}"
    if _DECIMAL_COMMA.fullmatch(bare):
        also = f"{percent}, and " if percent else ""
        return f"Write {'it ' if also else ''}{also}decimals with a point, not a comma: {decimal}"
    if percent:
        return f"Write it {percent}: {bare}"
    if "±" in stripped or "+-" in stripped or "+/-" in stripped:
        return (
            "Give one number per run, or compare published means with --summary (from Python: "
            "compare_published)"
        )
    return (
        "Leave it empty if the run is missing, or choose other columns with --metric "
        "(in a wide table with --algorithm)"
    )


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
