"""Text with a delimiter between fields: CSV and its relatives."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from outperform.errors import UnreadableRuns
from outperform.runs.arrays import IntArray
from outperform.runs.cells import CellTable, Columns, check_header
from outperform.runs.contents import Contents, check_text, hold
from outperform.runs.labels import Labels
from outperform.runs.scanning import scan

if TYPE_CHECKING:
    from _csv import Reader

_DELIMITERS = (",", ";", "\t", "|")
_N_HEAD = 20
# Blank lines, one by which Excel is told the delimiter, and the header.
_BEGINNING = re.compile(
    rb'(?:\xef\xbb\xbf)?(?:\s*\n)?(?:"?sep=([,;\t|])"?\s*\n)?([^\n]*\n?)', re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A table in delimited text, parsed when its columns are asked for."""

    names: tuple[str, ...]
    source: str
    delimiter: str
    n_lines_before: int  # lines up to the header and with it
    begin: int  # where the rows start
    contents: Contents = field(repr=False)

    def head(self) -> CellTable:
        """Give the first rows, to see what kind of values the columns hold."""
        return self._collect(islice(self._parse(self.contents.head), _N_HEAD))

    def take(self, labels: Sequence[str], numbers: Sequence[str]) -> Columns:
        """Give the columns named, as labels and as numbers."""
        return self._scan(labels, numbers) or self._parse_all().take(labels, numbers)

    def label(self, name: str) -> tuple[IntArray, Labels]:
        """Give the number and the label of every row, which is empty where there is none."""
        columns = self._scan([name], [])
        return (columns.rows, columns.labels[0]) if columns else self._parse_all().label(name)

    def _scan(self, labels: Sequence[str], numbers: Sequence[str]) -> Columns | None:
        """Read columns fast, None if the text is not plain."""
        scanned = scan(
            self.contents,
            self.begin,
            len(self.names),
            delimiter=self.delimiter,
            labels=[self.names.index(name) for name in labels],
            numbers=[self.names.index(name) for name in numbers],
        )
        if scanned is None:
            return None
        n_rows = len(scanned[1][0] if numbers else scanned[0][0].codes)
        first = self.n_lines_before + 1
        return Columns(np.arange(first, first + n_rows), *scanned)

    def _parse_all(self) -> CellTable:
        return self._collect(self._parse(self.contents.read_text()))

    def _collect(self, parsed: Iterator[tuple[int, list[str]]]) -> CellTable:
        rows, records = [], []
        for row, fields in parsed:
            rows.append(row)
            records.append(fields)
        columns = list(zip(*records, strict=True)) or [()] * len(self.names)
        return CellTable(self.names, self.source, columns, np.array(rows, dtype=np.int64))

    def _parse(self, data: bytes) -> Iterator[tuple[int, list[str]]]:
        """Yield line number and fields of each row that is not blank."""
        reader = _read(data, self.begin, self.delimiter)
        row = self.n_lines_before + 1
        try:
            for fields in reader:
                if any(map(str.strip, fields)):
                    self._check_width(row, fields)
                    yield row, fields
                row = self.n_lines_before + reader.line_num + 1
        except csv.Error as error:
            raise UnreadableRuns(
                f"row {row} of {self.source} is not regular: {error}", "Check its quotes"
            ) from error

    def _check_width(self, row: int, fields: Sequence[str]) -> None:
        if len(fields) == len(self.names):
            return
        remedy = f"Complete the row, or put quotes around text that holds {self.delimiter!r}"
        if len(self.names) == 1:  # a title, or a comment
            remedy = "Remove what stands before the row of column names"
        raise UnreadableRuns(
            f"row {row} of {self.source} has {len(fields)} fields, "
            f"the header has {len(self.names)}",
            remedy,
        )


def open_csv(contents: Contents, *, delimiter: str | None = None) -> CsvTable:
    """Open UTF-8 text whose first line that is not blank is a header.

    Parameters
    ----------
    delimiter
        What stands between fields; None to see it from the header.
    """
    name = contents.name
    check_text(contents.head, name)
    if b"\n" not in contents.head:
        contents = hold(contents.head.replace(b"\r", b"\n"), name)
    beginning = _BEGINNING.match(contents.head)
    assert beginning is not None  # every part of it may be empty
    mark, header = beginning.groups(default=b"")
    delimiter = mark.decode() or delimiter
    delimiter = delimiter or max(_DELIMITERS, key=lambda mark: len(_split(header, mark)))
    names = tuple(name.strip() for name in _split(header, delimiter))
    check_header(names, name)
    n_lines_before = beginning[0].count(b"\n")
    return CsvTable(names, name, delimiter, n_lines_before, beginning.end(), contents)


def _split(line: bytes, delimiter: str) -> list[str]:
    try:
        return next(_read(line, 0, delimiter), [])
    except csv.Error:
        return line.decode().split(delimiter)


def _read(data: bytes, begin: int, delimiter: str) -> "Reader":
    stream = io.BytesIO(data)
    stream.seek(begin)
    lines = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    return csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)
