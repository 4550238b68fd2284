"""Text with a delimiter between fields: CSV and its relatives.

The csv module says what a text means. Large ones are left to pyarrow where it is installed, but
only if it cannot see them otherwise: without blank lines and rows of other lengths, and with quotes
only around whole fields.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from outperform.errors import UnreadableRuns
from outperform.runs.source_table import ArrowTexts, SourceTable, number_columns

if TYPE_CHECKING:
    from _csv import Reader

_LARGE = 1 << 22  # bytes from which on pyarrow saves more time than its import takes
_LONGEST_HEADER = 1 << 24  # bytes
_N_ROWS = 10_000  # that are turned to columns at once
_DELIMITERS = (",", ";", "\t", "|")
# Blank lines, one by which Excel is told the delimiter, and the header.
_BEGINNING = re.compile(
    rb'(?:\xef\xbb\xbf)?(?:\s*\n)?(?:"?sep=([,;\t|])"?\s*\n)?([^\n]*\n?)', re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Body:
    """The rows of a text, which begin after its header."""

    data: bytes
    begin: int
    first_row: int  # line on which they begin
    delimiter: str


def read_csv(data: bytes, source: str, *, delimiter: str | None = None) -> SourceTable:
    """Read UTF-8 text whose first line that is not blank is a header.

    Parameters
    ----------
    delimiter
        What stands between fields; None to see it from the header.
    """
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    beginning = _BEGINNING.match(data)
    assert beginning is not None  # every part of it may be empty
    if beginning.end(2) - beginning.start(2) > _LONGEST_HEADER:
        raise UnreadableRuns(
            f"the first line of {source} is longer than {_LONGEST_HEADER >> 20} MiB",
            "Start it with a row of column names, and end each row with a line break",
        )
    mark, header = beginning.groups(default=b"")
    delimiter = mark.decode() or delimiter
    if delimiter is None:
        delimiter = max(_DELIMITERS, key=lambda each: len(_split(header, each)))
    names = tuple(map(str.strip, _split(header, delimiter)))
    number_columns(names, source)
    body = _Body(data, beginning.end(), beginning[0].count(b"\n") + 1, delimiter)
    texts = _read_plain(body, len(names)) if len(data) > _LARGE else None
    if texts is not None:
        rows = np.arange(body.first_row, body.first_row + len(texts[0]))
        return SourceTable(names, source, texts, rows)
    columns: list[list[str]] = [[] for _ in names]
    numbers: list[int] = []
    parsed = _parse(body, names, source)
    while block := [*islice(parsed, _N_ROWS)]:  # a million lists at once would take long to free
        places, fields = zip(*block, strict=True)
        numbers += places
        for column, cells in zip(columns, zip(*fields, strict=True), strict=True):
            column += cells
    return SourceTable(names, source, columns, np.array(numbers, dtype=np.int64))


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


def _parse(body: _Body, names: Sequence[str], source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and fields of each row that is not blank."""
    reader = _open(body.data, body.begin, body.delimiter)
    row, n_columns = body.first_row, len(names)
    try:
        for fields in reader:
            if any(map(str.strip, fields)):
                if len(fields) != n_columns:
                    raise _explain_width(row, len(fields), n_columns, body.delimiter, source)
                yield row, fields
            row = body.first_row + reader.line_num
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


def _read_plain(body: _Body, n_columns: int) -> list[ArrowTexts] | None:
    """Read columns with pyarrow; None if the csv module must, or where it is not installed."""
    try:
        from pyarrow import ArrowInvalid, BufferReader, py_buffer, string
        from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv
    except ImportError:
        return None
    data, begin, end = body.data, body.begin, len(body.data)
    while data[end - 1] in b"\r\n":
        end -= 1
    has_returns = data.find(b"\r", begin) >= 0 and data.count(b"\r") != data.count(b"\r\n")
    if begin >= end or has_returns:
        return None
    is_quoted = data.find(b'"', begin) >= 0
    if is_quoted and not _quotes_fields(body.delimiter).match(data, begin):
        return None
    names = [str(column) for column in range(n_columns)]
    texts = ConvertOptions(
        column_types=dict.fromkeys(names, string()),
        null_values=[""],
        strings_can_be_null=True,
        check_utf8=False,  # it is known to be
    )
    try:
        table = read_csv(
            BufferReader(py_buffer(data).slice(begin, end - begin)),
            ReadOptions(column_names=names),
            ParseOptions(
                delimiter=body.delimiter,
                quote_char='"' if is_quoted else False,
                ignore_empty_lines=False,
            ),
            texts,
        )
    except ArrowInvalid:  # a row has more fields than the header, or less
        return None
    return [*map(ArrowTexts, table.columns)] if _are_plain(table.columns) else None


@cache
def _quotes_fields(delimiter: str) -> re.Pattern[bytes]:
    """Matches text whose quotes all stand around whole fields, in which are no quotes or lines.

    Nor is there space after the first quote, which only the csv module would keep.
    """
    around = re.escape(delimiter).encode()
    field = rb'"(?<=[%b\n]")(?:[^"\r\n ][^"\r\n]*+)?"(?=[%b\r\n]|\Z)' % (around, around)
    return re.compile(rb'(?:[^"]*+%b)*+[^"]*+\Z' % field)


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
