"""Decimal commas, as spreadsheets write them in much of the world: `svm;0;0,931`.

A column is read so where commas do not separate fields, all its numbers are whole or have one
comma, and one of them at least cannot be a number of thousands: 1,312 alone may be 1312, unless
it is an accuracy or another share by its name.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any

from outperform.runs.columns import ALGORITHM, REPLICATE, TASK, read_name
from outperform.runs.metrics import counts_answers, is_share
from outperform.runs.source_table import MISSING, ArrowTexts

_NUMBER = re.compile(r"[+-]?[0-9]+(?:(,)[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
# Of these, 1,1 and 1,10 are two: they name what runs are of.
_LABELS = frozenset((*ALGORITHM, *TASK, *REPLICATE))


def write_points(names: Sequence[str], columns: Sequence[Any]) -> Sequence[Any]:
    """Write the decimals of columns of text with a point, where they surely have a comma."""
    return [
        column if read_name(name).bare_leaf in _LABELS else _write_column(name, column)
        for name, column in zip(names, columns, strict=True)
    ]


def _write_column(name: str, cells: "list[str] | ArrowTexts") -> "list[str] | ArrowTexts":
    small = is_share(name) and not counts_answers(name)
    if not isinstance(cells, ArrowTexts):
        if any("," in cell for cell in cells) and has_decimal_commas(set(cells), small=small):
            return [cell.replace(",", ".") for cell in cells]
        return cells
    from pyarrow import compute

    texts = cells.array
    if compute.any(compute.match_substring(texts, ",")).as_py():  # in a blink, for most have none
        distinct = texts.unique().to_pylist()
        if has_decimal_commas([text or "" for text in distinct], small=small):
            return ArrowTexts(compute.replace_substring(texts, ",", "."))
    return cells


def has_decimal_commas(cells: Collection[str], *, small: bool = False) -> bool:
    """Whether cells are numbers whose commas cannot be anything but decimal ones.

    Small ones are never thousands.

    Examples
    --------
    >>> has_decimal_commas(["0,931", "1", ""]), has_decimal_commas(["1,312", "1,5"])
    (True, True)
    >>> has_decimal_commas(["1,312", "987"]), has_decimal_commas(["0,931", "0.92"])
    (False, False)
    """
    is_sure = small
    for cell in map(str.strip, cells):
        number = _NUMBER.fullmatch(cell)
        if number is None and cell.casefold() not in MISSING:
            return False
        is_sure |= bool(number and number[1] and not _THOUSANDS.fullmatch(cell))
    return is_sure
