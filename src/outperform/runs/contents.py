"""The bytes of a file: all at once of a small one, piece by piece of a large one."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from outperform.errors import UnreadableRuns

FORMATS = "Give a CSV, TSV, JSON Lines or Parquet file"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LARGE = 1 << 22  # bytes from which on a file is not read at once
_N_HEAD = 1 << 16  # bytes of a large file that are read first
_ENOUGH_LINES = 40  # in the head, to see what the columns hold
# What files of other kinds begin with, what they are, and what to do.
_OTHERS = {
    b"SQLite format 3\0": (
        "a database, such as the store of a study",
        "Read a store with outperform.read_runs",
    ),
    b"\x1f\x8b": ("compressed", "Unpack it first: gunzip"),
    b"PK\3\4": ("an Excel workbook or a zip archive", "Save its sheet as CSV, or unpack it"),
}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file holds.

    Attributes
    ----------
    head
        Its first lines where it is large, and all of it where it is not.
    size
        Number of bytes when it was opened; what is added later is not read.
    path, identity
        Where a large file is, and which file was there when it was opened.
    """

    name: str
    head: bytes = field(repr=False)
    size: int
    path: Path | None = None
    identity: tuple[int, int] | None = None

    def read(self, begin: int, end: int) -> bytes:
        """Read the bytes between two positions, or up to the end if it comes before."""
        if self.path is None:
            return self.head[begin:end]
        end = min(end, self.size)
        try:
            with self.path.open("rb") as file:
                identity = _identify(os.fstat(file.fileno()))
                file.seek(begin)
                data = file.read(end - begin)
        except OSError:
            identity, data = None, b""
        if identity != self.identity or len(data) < end - begin:
            raise UnreadableRuns(
                f"{self.name} changed while it was read", "Try again once nothing writes to it"
            )
        return data

    def read_text(self) -> bytes:
        """Read everything, and prove that it is text in UTF-8."""
        data = self.read(0, self.size)
        check_text(data, self.name)
        return data


def open_contents(path: Path) -> Contents:
    """Open a file, or say why it cannot be read."""
    try:
        return _open(path)
    except FileNotFoundError:
        problem, remedy = f"there is no file {path}", "Check the path"
    except IsADirectoryError:
        problem, remedy = f"{path} is a folder", FORMATS
    except OSError as error:
        problem, remedy = f"cannot read {path}: {error.strerror}", "Check its permissions"
    raise UnreadableRuns(problem, remedy)


def hold(data: bytes, name: str) -> Contents:
    """Treat bytes in memory as a file."""
    return Contents(name, data, len(data))


def check_text(data: bytes, name: str) -> None:
    """Refuse what is empty, or not text in UTF-8."""
    if not data or data.isspace():
        raise UnreadableRuns(f"{name} is empty", "Give it a header and one row per run")
    if b"\0" not in data and data.isascii():
        return
    for begin, (kind, remedy) in _OTHERS.items():
        if data.startswith(begin):
            raise UnreadableRuns(f"{name} is {kind}", remedy)
    if b"\0" in data and not data.startswith(_UTF_16):
        raise UnreadableRuns(f"{name} is not text", FORMATS)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise UnreadableRuns(
            f"{name} is not UTF-8 text: byte 0x{data[error.start]:02x} in row {row}",
            "Save it as UTF-8",
        ) from None


def _open(path: Path) -> Contents:
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        head = b""
        if status.st_size > _LARGE:  # never so of a pipe
            head = file.read(_N_HEAD)
            lines = head[: head.rfind(b"\n") + 1]
            n_lines = sum(bool(line.strip()) for line in lines.split(b"\n"))
            if b'"' not in lines and n_lines > _ENOUGH_LINES:
                return Contents(path.name, lines, status.st_size, path, _identify(status))
        return hold(head + file.read(), path.name)


def _identify(status: os.stat_result) -> tuple[int, int]:
    """Tell a file from another one that took its place."""
    return status.st_dev, status.st_ino
