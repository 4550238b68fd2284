"""Whatever runs are read from, opened as a table; files by the ending of their names.

No file is read that a computer cannot hold. Of text with a delimiter between fields, the csv module
says what it means. Large files are left to pyarrow where it is installed, but only if it cannot see
them otherwise: without blank lines and rows of other lengths, and with quotes only around whole
fields.
"""

import codecs
import csv
import io
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from outperform.errors import InvalidScores, UnreadableRuns
from outperform.runs.decimal_commas import write_points
from outperform.runs.formats import (
    FORMATS,
    UNNAMED,
    read_json,
    read_parquet,
    tabulate_frame,
    tabulate_records,
)
from outperform.runs.source_table import ArrowTexts, SourceTable, check_size, number_columns

_LARGEST_FILE = 1 << 32
_MOST_PIPED = 1 << 30  # of what may never end
_MOST_JSON = 1 << 30  # bytes, which take ten times as many as Python's objects
_LARGE = 1 << 22  # bytes from which on pyarrow saves more time than its import takes
_LONGEST_HEADER = 1 << 24  # bytes
_BLOCK = 1 << 20  # bytes that are read at once
_N_ROWS = 10_000  # that are turned to columns at once
_JSON = (".jsonl", ".ndjson", ".json")
_PARQUET = b"PAR1"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BYTE_ORDER_MARK = "\ufeff"
# What files of other kinds begin with, what they are, and what to do.
_OTHERS = {
    b"SQLite format 3\0": (
        "a database, such as the store of a study",
        "Read a store with outperform.read_runs",
    ),
    b"\x1f\x8b": ("compressed", "Unpack it first: gunzip"),
    b"PK\3\4": ("an Excel workbook or a zip archive", "Save its sheet as CSV, or unpack it"),
}
_SEEN_OTHERWISE = (b'"', b"\r", b"\0")  # by pyarrow, perhaps
_DELIMITERS = (",", ";", "\t", "|")
# Blank lines, one by which Excel is told the delimiter, and the header.
_BEGINNING = re.compile(
    rb'(?:\xef\xbb\xbf)?(?:\s*\n)?(?:"?sep=([,;\t|])"?\s*\n)?([^\n]*\n?)', re.IGNORECASE
)


def open_source(source: object) -> tuple[SourceTable, str]:
    """Open a source, and name the algorithm it is of in case that it names none."""
    if isinstance(source, str | Path):
        path = Path(source)
        return open_file(path), path.stem
    library = type(source).__module__.partition(".")[0]  # imported by others, if at all
    if library in ("pandas", "polars", "pyarrow") and hasattr(type(source), "columns"):
        return tabulate_frame(source), UNNAMED
    if isinstance(source, np.ndarray):
        raise InvalidScores(
            f"an array of shape {source.shape} does not say which scores are whose",
            'Pass a dict: {"a": scores_a, "b": scores_b}',
        )
    if isinstance(source, Sequence) and not isinstance(source, bytes):
        return tabulate_records(source, range(1, len(source) + 1)), UNNAMED
    raise UnreadableRuns(
        f"cannot read runs from a value of type {type(source).__name__}",
        "Pass a path, a dict, a list of dicts or a data frame",
    )


def open_file(path: Path) -> SourceTable:
    """Read a file to a table, by the ending of its name, or say why it cannot be read."""
    suffix = path.suffix.lower()
    delimiter = "\t" if suffix in (".tsv", ".tab") else None
    is_large = path.is_file() and path.stat().st_size > _LARGE
    if is_large and suffix not in (*_JSON, ".parquet"):
        table = read_large_csv(path, delimiter=delimiter)
        if table is not None:
            return table
    data = _read_bytes(path)
    if suffix == ".parquet" or data.startswith(_PARQUET):
        return read_parquet(data, path.name)
    if suffix == ".toml":
        raise UnreadableRuns(
            f"{path.name} is a study file, and holds no runs",
            f"Pass the store that `outperform run` makes of it, such as {path.stem}.db",
        )
    _check_text(data, path.name)
    if suffix in _JSON:
        check_size(len(data), _MOST_JSON, path.name, "Save it as CSV or Parquet")
        return read_json(data.decode().removeprefix(_BYTE_ORDER_MARK), path.name)
    return read_csv(data, path.name, delimiter=delimiter)


def _read_bytes(path: Path) -> bytes:
    """Read a file, or say why it cannot be read; what is no text is refused as soon as seen."""
    try:
        with path.open("rb") as file:
            begin, about = file.read(_BLOCK), os.fstat(file.fileno())
            if not begin.startswith(_PARQUET) and path.suffix.lower() != ".parquet":
                _refuse_other_kinds(begin, path.name)
            if stat.S_ISREG(about.st_mode):
                check_size(about.st_size, _LARGEST_FILE, path.name)
                file.seek(0)
                return file.read()
            return _read_on(file, begin, f"what comes from {path}")
    except FileNotFoundError:
        raise UnreadableRuns(f"there is no file {path}", "Check the path") from None
    except IsADirectoryError:
        raise UnreadableRuns(f"{path} is a folder", FORMATS) from None
    except ValueError:  # of the path: Python refuses it before the system does
        raise UnreadableRuns(f"no file can be called {str(path)!r}", "Check the path") from None
    except OSError as error:
        problem = f"cannot read {path}: {error.strerror}"
        raise UnreadableRuns(problem, "Check its permissions") from None


def _read_on(file: BinaryIO, begin: bytes, name: str) -> bytes:
    """Read what may never end."""
    kept = io.BytesIO()
    kept.write(begin)
    while more := file.read(_BLOCK):
        kept.write(more)
        check_size(kept.tell(), _MOST_PIPED, name, "Write it to a file first")
    return kept.getvalue()


def _refuse_other_kinds(data: bytes, name: str) -> None:
    for mark, (kind, remedy) in _OTHERS.items():
        if data.startswith(mark):
            raise UnreadableRuns(f"{name} is {kind}", remedy)
    if b"\0" in data and not data.startswith(_UTF_16):
        raise UnreadableRuns(f"{name} is not text", FORMATS)


def _check_text(data: bytes, name: str) -> None:
    """Refuse what is empty, or not text in UTF-8; looked at in parts to spare the memory."""
    if not data or data.isspace():
        raise UnreadableRuns(f"{name} is empty", "Give it a header and one row per run")
    _refuse_other_kinds(data, name)
    if data.isascii():
        return
    decoder, view = codecs.getincrementaldecoder("utf-8")(), memoryview(data)
    for begin in range(0, len(data), _BLOCK):
        n_pending, end = len(decoder.getstate()[0]), begin + _BLOCK
        try:
            decoder.decode(view[begin:end], end >= len(data))
        except UnicodeDecodeError as error:
            place = begin - n_pending + error.start
            row = data.count(b"\n", 0, place) + 1
            raise UnreadableRuns(
                f"{name} is not UTF-8 text: byte 0x{data[place]:02x} in row {row}",
                "Save it as UTF-8",
            ) from None


class _Dialect(csv.excel):
    strict = True
    skipinitialspace = True


@dataclass(frozen=True, slots=True)
class _Header:
    """The names of columns, and where the rows begin."""

    names: tuple[str, ...]
    delimiter: str
    end: int
    first_row: int  # line on which rows begin


def read_csv(data: bytes, source: str, *, delimiter: str | None = None) -> SourceTable:
    """Read UTF-8 text whose first line that is not blank is a header, which shows the delimiter."""
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
    written = columns if header.delimiter == "," else write_points(header.names, columns)
    return SourceTable(header.names, source, written, np.array(numbers, dtype=np.int64))


def read_large_csv(path: Path, *, delimiter: str | None = None) -> SourceTable | None:
    """Read a file as `read_csv` reads its text, many times faster; None where that must do it.

    It says what is wrong.
    """
    if path.stat().st_size > _LARGEST_FILE or find_spec("pyarrow") is None:
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
    written = columns if header.delimiter == "," else write_points(header.names, columns)
    return SourceTable(header.names, path.name, written, rows)


def _read_header(data: bytes, source: str, delimiter: str | None) -> _Header:
    beginning = _BEGINNING.match(data)
    assert beginning is not None  # every part of it may be empty
    if beginning.end(2) - beginning.start(2) > _LONGEST_HEADER:
        raise UnreadableRuns(
            f"the first line of {source} is longer than {_LONGEST_HEADER >> 20} MiB",
            "Start it with a row of column names, and end each row with a line break",
        )
    mark, line = beginning.groups(default=b"")
    header, known = line.decode(), mark.decode() or delimiter
    chosen, fields = _DELIMITERS[0], list[str]()
    for each in [known] if known else _DELIMITERS:  # the one that makes most columns
        try:
            split = next(csv.reader(io.StringIO(header, ""), _Dialect, delimiter=each), [])
        except csv.Error:
            split = header.split(each)
        if len(split) > len(fields):
            fields, chosen = split, each
    names = tuple(map(str.strip, fields))
    number_columns(names, source)
    return _Header(names, chosen, beginning.end(), beginning[0].count(b"\n") + 1)


def _parse(data: bytes, header: _Header, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and fields of each row that is not blank."""
    stream = io.BytesIO(data)
    stream.seek(header.end)
    lines = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    reader = csv.reader(lines, _Dialect, delimiter=header.delimiter)
    row, n_columns = header.first_row, len(header.names)
    remedy = f"Complete the row, or put quotes around text that holds {header.delimiter!r}"
    if n_columns == 1:  # a title, or a comment
        remedy = "Remove what stands before the row of column names"
    try:
        for fields in reader:
            if any(map(str.strip, fields)):
                if len(fields) != n_columns:
                    counts = f"{len(fields)} fields, the header has {n_columns}"
                    raise UnreadableRuns(f"row {row} of {source} has {counts}", remedy)
                yield row, fields
            row = header.first_row + reader.line_num
    except csv.Error as error:
        raise UnreadableRuns(
            f"row {row} of {source} is not regular: {error}", "Check its quotes"
        ) from error


class _PlainText:
    """The rows of a file, handed to pyarrow block by block while it parses those before.

    What pyarrow and the csv module may see otherwise is looked for on the way.
    """

    closed = False  # as pyarrow asks of files

    def __init__(self, file: IO[bytes], header: _Header, *, may_quote: bool = False) -> None:
        self._file = file
        size = file.seek(0, io.SEEK_END)
        file.seek(max(0, size - _BLOCK))
        ending = file.read()
        n_line_ends = len(ending) - len(ending.rstrip(b"\r\n"))
        self._n_left = size - n_line_ends - header.end  # bytes
        file.seek(header.end)
        # Matches lines with quotes that both see alike; None if there shall be none.
        self.quotes = _quotes_fields(header.delimiter) if may_quote else None
        self.has_quotes = False
        self.is_ascii = True  # so far
        self._is_plain = self._n_left > 0
        self._line = b""  # that no block has ended yet

    def read(self, n_bytes: int) -> bytes:
        """Give the next bytes."""
        block = self._file.read(min(n_bytes, self._n_left))
        self._n_left -= len(block)
        self.is_ascii &= block.isascii()
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
                check_utf8=False,  # twice as fast, and nearly all text is ASCII
            ),
        )
        if not text.is_ascii:
            table.validate(full=True)  # also that it is UTF-8
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
