"""The bytes of a file, but never more than a computer can hold."""

import codecs
import io
import os
import stat
from pathlib import Path
from typing import BinaryIO

from outperform.errors import UnreadableRuns

FORMATS = "Give a CSV, TSV, JSON Lines or Parquet file"
PARQUET = b"PAR1"
LARGEST_FILE = 1 << 32
_MOST_PIPED = 1 << 30  # of what may never end
_AT_ONCE = 1 << 20
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# What files of other kinds begin with, what they are, and what to do.
_OTHERS = {
    b"SQLite format 3\0": (
        "a database, such as the store of a study",
        "Read a store with outperform.read_runs",
    ),
    b"\x1f\x8b": ("compressed", "Unpack it first: gunzip"),
    b"PK\3\4": ("an Excel workbook or a zip archive", "Save its sheet as CSV, or unpack it"),
}


def read_bytes(path: Path) -> bytes:
    """Read a file, or say why it cannot be read; what is no text is refused as soon as seen."""
    try:
        with path.open("rb") as file:
            return _read(file, path)
    except FileNotFoundError:
        raise UnreadableRuns(f"there is no file {path}", "Check the path") from None
    except IsADirectoryError:
        raise UnreadableRuns(f"{path} is a folder", FORMATS) from None
    except ValueError:  # of the path: Python refuses it before the system does
        raise UnreadableRuns(f"no file can be called {str(path)!r}", "Check the path") from None
    except OSError as error:
        problem = f"cannot read {path}: {error.strerror}"
        raise UnreadableRuns(problem, "Check its permissions") from None


def _read(file: BinaryIO, path: Path) -> bytes:
    about = os.fstat(file.fileno())
    is_file = stat.S_ISREG(about.st_mode)
    begin = file.read(_AT_ONCE)
    if not begin.startswith(PARQUET) and path.suffix.lower() != ".parquet":
        _check_kind(begin, path.name)
    if is_file:
        check_size(about.st_size, LARGEST_FILE, path.name)
        file.seek(0)
        return file.read()
    kept = io.BytesIO()
    kept.write(begin)
    while more := file.read(_AT_ONCE):
        kept.write(more)
        check_size(kept.tell(), _MOST_PIPED, f"what comes from {path}", "Write it to a file first")
    return kept.getvalue()


def check_size(
    n_bytes: int, most: int, name: str, remedy: str = "Keep the columns and rows of the runs only"
) -> None:
    """Refuse what takes more than so many bytes."""
    if n_bytes > most:
        raise UnreadableRuns(
            f"{name} is larger than {most >> 30} GiB, the most that is read", remedy
        )


def _check_kind(begin: bytes, name: str) -> None:
    """Refuse what is no text by how it begins."""
    for mark, (kind, remedy) in _OTHERS.items():
        if begin.startswith(mark):
            raise UnreadableRuns(f"{name} is {kind}", remedy)
    if b"\0" in begin and not begin.startswith(_UTF_16):
        raise UnreadableRuns(f"{name} is not text", FORMATS)


def check_text(data: bytes, name: str) -> None:
    """Refuse what is empty, or not text in UTF-8."""
    if not data or data.isspace():
        raise UnreadableRuns(f"{name} is empty", "Give it a header and one row per run")
    if b"\0" not in data and data.isascii():
        return
    if b"\0" in data and not data.startswith(_UTF_16):
        raise UnreadableRuns(f"{name} is not text", FORMATS)
    place = _find_other_than_utf8(data)
    if place is not None:
        row = data.count(b"\n", 0, place) + 1
        raise UnreadableRuns(
            f"{name} is not UTF-8 text: byte 0x{data[place]:02x} in row {row}", "Save it as UTF-8"
        )


def _find_other_than_utf8(data: bytes) -> int | None:
    """Place of the first byte that no UTF-8 has there, looked for in parts to spare the memory."""
    decoder, view = codecs.getincrementaldecoder("utf-8")(), memoryview(data)
    for begin in range(0, len(data), _AT_ONCE):
        n_pending = len(decoder.getstate()[0])
        end = begin + _AT_ONCE
        try:
            decoder.decode(view[begin:end], end >= len(data))
        except UnicodeDecodeError as error:
            return begin - n_pending + error.start
    return None
