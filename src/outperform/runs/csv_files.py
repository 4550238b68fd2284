"""Text with a delimiter between fields: CSV and its relatives.

The csv module says what a text means. Large files are left to pyarrow where it is installed, but
only if it cannot see them otherwise: without blank lines and rows of other lengths, and with quotes
only around whole fields.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from outperform.errors import UnreadableRuns
from outperform.runs.file_bytes import LARGEST_FILE
from outperform.runs.source_table import ArrowTexts, SourceTable, number_columns

if TYPE_CHECKING:
    from _csv import Reader

_LARGE = 1 << 22  # bytes from which on pyarrow saves more time than its import takes
_LONGEST_HEADER = 1 << 24  # bytes
_BLOCK = 1 << 20  # bytes that are read at once
_SEEN_OTHERWISE = (b'"', b"\r", b"\0")  # by pyarrow, perhaps
_N_ROWS = 10_000  # that are turned to columns at once
_DELIMITERS = (",", ";", "\t", "|")
# Blank lines, one by which Excel is told the delimiter, and the header.
_BEGINNING = re.compile(
    rb'(?:\xef\xbb\xbf)?(?:\s*\n)?(?:"?sep=([,;\t|])"?\s*\n)?([^\n]*\n?)', re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Header:
    """The names of columns, and where the rows begin."""

    names: tuple[str, ...]
    delimiter: str
    end: int
    first_row: int  # line on which rows begin


def read_csv(data: bytes, source: str, *, delimiter: str | None = None) -> SourceTable:
    """Read UTF-8 text whose first line that is not blank is a header.

    Parameters
    ----------
    delimiter
        What stands between fields; None to see it from the header.
    """
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    header = _read_header(data, source, delimiter)
    columns: list[list[str]] = [[] for _ in header.names]
    numbers: list[int] = []
    parsed = _parse(data, header, source)
    while block := [*islice(parsed, _N_ROWS)]:  # a million lists at once would take long to free
        places, fields = zip(*block, strict=True)
        numbers += places
        for column, cells in zip(columns, zip(*fields, strict=True), strict=True):
            column += cells
    return SourceTable(header.names, source, columns, np.array(numbers, dtype=np.int64))


def read_large_csv(path: Path, *, delimiter: str | None = None) -> SourceTable | None:
    """Read a file as `read_csv` reads its text, many times faster; None where that must do it.

    Small files, and whatever is not regular, are left to it: it says what is wrong.
    """
    is_large = path.is_file() and _LARGE < path.stat().st_size <= LARGEST_FILE
    if not is_large or find_spec("pyarrow") is None:
        return None
    try:
        with path.open("rb", buffering=0) as file:
            header = _read_header(file.read(_BLOCK), path.name, delimiter)
            text = _PlainText(file, header)
            columns = _read_plain(text, header)
            if columns is None and text.has_quotes:
                columns = _read_plain(_PlainText(file, header, may_quote=True), header)
    except (OSError, UnicodeDecodeError, UnreadableRuns):
        return None
    if columns is None:
        return None
    rows = np.arange(header.first_row, header.first_row + len(columns[0]))
    return SourceTable(header.names, path.name, columns, rows)


def _read_header(data: bytes, source: str, delimiter: str | None) -> _Header:
    beginning = _BEGINNING.match(data)
    assert beginning is not None  # every part of it may be empty
    if beginning.end(2) - beginning.start(2) > _LONGEST_HEADER:
        raise UnreadableRuns(
            f"the first line of {source} is longer than {_LONGEST_HEADER >> 20} MiB",
            "Start it with a row of column names, and end each row with a line break",
        )
    mark, line = beginning.groups(default=b"")
    delimiter = mark.decode() or delimiter
    if delimiter is None:
        delimiter = max(_DELIMITERS, key=lambda each: len(_split(line, each)))
    names = tuple(map(str.strip, _split(line, delimiter)))
    number_columns(names, source)
    return _Header(names, delimiter, beginning.end(), beginning[0].count(b"\n") + 1)


def _split(line: bytes, delimiter: str) -> list[str]:
    try:
        return next(_open(line, 0, delimiter), [])
    except csv.Error:
        return line.decode().split(delimiter)


def _open(data: bytes, begin: int, delimiter: str) -> "Reader":
    stream = io.BytesIO(data)
    stream.seek(begin)
    lines = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    return csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)


def _parse(data: bytes, header: _Header, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and fields of each row that is not blank."""
    reader = _open(data, header.end, header.delimiter)
    row, n_columns = header.first_row, len(header.names)
    try:
        for fields in reader:
            if any(map(str.strip, fields)):
                if len(fields) != n_columns:
                    raise _explain_width(row, len(fields), n_columns, header.delimiter, source)
                yield row, fields
            row = header.first_row + reader.line_num
    except csv.Error as error:
        raise UnreadableRuns(
            f"row {row} of {source} is not regular: {error}", "Check its quotes"
        ) from error


def _explain_width(
    row: int, n_fields: int, n_columns: int, delimiter: str, source: str
) -> UnreadableRuns:
    remedy = f"Complete the row, or put quotes around text that holds {delimiter!r}"
    if n_columns == 1:  # a title, or a comment
        remedy = "Remove what stands before the row of column names"
    return UnreadableRuns(
        f"row {row} of {source} has {n_fields} fields, the header has {n_columns}", remedy
    )


class _PlainText:
    """The rows of a file, handed to pyarrow block by block while it parses those before.

    What pyarrow and the csv module may see otherwise is looked for on the way.

    Attributes
    ----------
    quotes
        Matches lines with quotes that both see alike; None if there shall be none.
    has_quotes
        Whether some were seen.
    """

    closed = False  # as pyarrow asks of files

    def __init__(self, file: IO[bytes], header: _Header, *, may_quote: bool = False) -> None:
        self._file = file
        self._n_left = _measure_text(file) - header.end  # bytes
        file.seek(header.end)
        self.quotes = _quotes_fields(header.delimiter) if may_quote else None
        self.has_quotes = False
        self._is_plain = self._n_left > 0
        self._line = b""  # that no block has ended yet

    def read(self, n_bytes: int) -> bytes:
        """Give the next bytes."""
        block = self._file.read(min(n_bytes, self._n_left))
        self._n_left -= len(block)
        end = block.rfind(b"\n") + 1
        if end and any(mark in block or mark in self._line for mark in _SEEN_OTHERWISE):
            self._is_plain &= self._looks_plain(self._line + block[:end])
        self._line = block[end:] if end else self._line + block
        return block

    def was_plain(self) -> bool:
        """Whether all was read, and both see it alike."""
        return self._is_plain and not self._n_left and self._looks_plain(self._line)

    def _looks_plain(self, lines: bytes) -> bool:
        if b"\0" in lines or lines.count(b"\r") != lines.count(b"\r\n"):
            return False
        if b'"' not in lines:
            return True
        self.has_quotes = True
        return self.quotes is not None and self.quotes.match(b"\n" + lines) is not None


@cache
def _quotes_fields(delimiter: str) -> re.Pattern[bytes]:
    """Matches text whose quotes all stand around whole fields, in which are no quotes or lines.

    Nor is there space after the first quote, which only the csv module would keep.
    """
    around = re.escape(delimiter).encode()
    field = rb'"(?<=[%b\n]")(?:[^"\r\n ][^"\r\n]*+)?"(?=[%b\r\n]|\Z)' % (around, around)
    return re.compile(rb'(?:[^"]*+%b)*+[^"]*+\Z' % field)


def _measure_text(file: IO[bytes]) -> int:
    """Size of a file without the line ends that it ends in."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - _BLOCK))
    ending = file.read()
    return size - len(ending) + len(ending.rstrip(b"\r\n"))


def _read_plain(text: _PlainText, header: _Header) -> list[ArrowTexts] | None:
    """Read columns with pyarrow; None if the csv module must."""
    from pyarrow import ArrowInvalid, PythonFile, string
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

    names = [str(column) for column in range(len(header.names))]
    try:
        table = read_csv(
            PythonFile(text, "r"),
            ReadOptions(column_names=names, block_size=_BLOCK),
            ParseOptions(
                delimiter=header.delimiter,
                quote_char=False if text.quotes is None else '"',
                ignore_empty_lines=False,
            ),
            ConvertOptions(
                column_types=dict.fromkeys(names, string()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except ArrowInvalid:  # a row has more fields than the header, or less, or it is not UTF-8
        return None
    if not (text.was_plain() and _are_plain(table.columns)):
        return None
    return [*map(ArrowTexts, table.columns)]


def _are_plain(columns: Sequence[Any]) -> bool:
    """Whether no row is blank, and no field too long for the csv module."""
    from pyarrow import compute

    longest = (compute.max(compute.binary_length(column)).as_py() or 0 for column in columns)
    if max(longest) > csv.field_size_limit():
        return False
    is_blank = None
    for column in columns:
        is_empty = compute.fill_null(compute.utf8_is_space(column), True)
        is_blank = is_empty if is_blank is None else compute.and_(is_blank, is_empty)
        if not compute.any(is_blank).as_py():
            return True
    return False
