r"""Texts as PostgreSQL can hold them: it has no \0, which names and tracebacks may have."""

from collections.abc import Iterable
from typing import Any

Rows = list[tuple[Any, ...]]

_MARK = "\x1a"  # the control character called "substitute"


def write_texts(values: Iterable[Any]) -> tuple[Any, ...]:
    r"""Values of a row with a substitute for every zero.

    Examples
    --------
    >>> write_texts(["a\0b", 1])
    ('a\x1a0b', 1)
    """
    return tuple(_write(each) if isinstance(each, str) else each for each in values)


def read_texts(rows: Rows) -> Rows:
    r"""Rows as they were before `write_texts`.

    Examples
    --------
    >>> read_texts([write_texts(["a\0b\x1a0", 1])])
    [('a\x00b\x1a0', 1)]
    """
    if any(map(_has_mark, zip(*rows, strict=True))):
        return [tuple(_read(each) if isinstance(each, str) else each for each in r) for r in rows]
    return rows


def _has_mark(column: tuple[Any, ...]) -> bool:
    """Whether any text of a column has a substitute, found much faster than one by one."""
    return isinstance(column[0], str | None) and _MARK in "".join(filter(None, column))


def _write(text: str) -> str:
    if "\0" in text or _MARK in text:
        return text.replace(_MARK, f"{_MARK}1").replace("\0", f"{_MARK}0")
    return text


def _read(text: str) -> str:
    return text.replace(f"{_MARK}0", "\0").replace(f"{_MARK}1", _MARK)
