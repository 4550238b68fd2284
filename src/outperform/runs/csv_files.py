"""Text with a delimiter between fields: CSV and its relatives.

The csv module says what a text means. Large files are left to pyarrow where it is installed, but
only if it cannot see them otherwise: without quotes, blank lines and rows of other lengths.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from outperform.errors import UnreadableRuns
from outperform.runs.source_table import ArrowTexts, SourceTable, number_columns

if TYPE_CHECKING:
    from _csv import Reader

_LARGE = 1 << 22  # bytes from which on pyarrow saves more time than its import takes
_BLOCK = 1 << 20  # bytes that are read at once
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
    if not path.is_file() or path.stat().st_size <= _LARGE or find_spec("pyarrow") is None:
        return None
    with path.open("rb", buffering=0) as file:
        text = _PlainText(file)
        try:
            header = _read_header(text.beginning, path.name, delimiter)
        except (UnicodeDecodeError, UnreadableRuns):
            return None
        columns = _read_plain(text, header) if header.end < len(text.beginning) else None
    if columns is None:
        return None
    rows = np.arange(header.first_row, header.first_row + len(columns[0]))
    return SourceTable(header.names, path.name, columns, rows)


def _read_header(data: bytes, source: str, delimiter: str | None) -> _Header:
    beginning = _BEGINNING.match(data)
    assert beginning is not None  # every part of it may be empty
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
    beginning
        The first block, in which the header is.
    """

    closed = False  # as pyarrow asks of files

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._n_left = _measure_text(file)  # bytes
        self.beginning = file.read(min(_BLOCK, self._n_left))
        self._is_plain = True
        self._ends_in_return = False

    @property
    def was_plain(self) -> bool:
        """Whether all was read, and has no quotes, zeros, or returns but at the ends of lines."""
        return self._is_plain and self._n_left == 0

    def skip(self, n_bytes: int) -> None:
        """Go on behind the header."""
        self._file.seek(n_bytes)
        self._n_left -= n_bytes

    def read(self, n_bytes: int) -> bytes:
        """Give the next bytes."""
        block = self._file.read(min(n_bytes, self._n_left))
        self._n_left -= len(block)
        self._is_plain = self._is_plain and self._looks_plain(block)
        self._ends_in_return = block.endswith(b"\r")
        return block

    def _looks_plain(self, block: bytes) -> bool:
        if b'"' in block or b"\0" in block:
            return False
        if not self._ends_in_return and b"\r" not in block:
            return True
        n_returns = self._ends_in_return + block.count(b"\r") - block.endswith(b"\r")
        n_ends = (self._ends_in_return and block.startswith(b"\n")) + block.count(b"\r\n")
        return n_returns == n_ends


def _measure_text(file: IO[bytes]) -> int:
    """Size of a file without the line ends that it ends in."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - _BLOCK))
    ending = file.read()
    file.seek(0)
    return size - len(ending) + len(ending.rstrip(b"\r\n"))


def _read_plain(text: _PlainText, header: _Header) -> list[ArrowTexts] | None:
    """Read columns with pyarrow; None if the csv module must."""
    from pyarrow import ArrowInvalid, PythonFile, string
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

    text.skip(header.end)
    names = [str(column) for column in range(len(header.names))]
    texts = ConvertOptions(
        column_types=dict.fromkeys(names, string()), null_values=[""], strings_can_be_null=True
    )
    try:
        table = read_csv(
            PythonFile(text, "r"),
            ReadOptions(column_names=names, block_size=_BLOCK),
            ParseOptions(delimiter=header.delimiter, quote_char=False, ignore_empty_lines=False),
            texts,
        )
    except ArrowInvalid:  # a row has more fields than the header, or less, or it is not UTF-8
        return None
    if not (text.was_plain and _are_plain(table.columns)):
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
