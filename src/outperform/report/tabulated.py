"""What all tables are made as."""

from typing import NamedTuple


class Tabulated(NamedTuple):
    """A table of text."""

    header: list[str]
    rows: list[list[str]]
