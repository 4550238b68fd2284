"""Replicates that match once they are read another way: written alike, or from another column."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from outperform.runs.arrays import IntArray
from outperform.runs.labels import Labels, Numerals, label_rows

if TYPE_CHECKING:
    from outperform.runs.pairing import Cell
    from outperform.runs.table import Runs

_DECIMAL = re.compile(r"([+-]?)(0|[1-9]\d*)(?:\.(\d*?)0*)?")
_PADDED = re.compile(r"([+-]?)0+(?=\d)")


def pair_equal_numbers(runs: "Runs", a: "Cell", b: "Cell") -> tuple["Runs", tuple[str, ...]]:
    """Take 0.0 of one algorithm and 0 of the other as one replicate, with a note, if nothing else.

    Only where it makes more pairs, and no algorithm has both.
    """
    if runs.replicates is None or isinstance(runs.replicates, Numerals):
        return runs, ()
    codes_a, codes_b = (runs.replicate[cell.rows] for cell in (a, b))
    if np.array_equal(codes_a, codes_b):  # nearly always, and far cheaper to see
        return runs, ()
    codes_a, codes_b = np.unique(codes_a), np.unique(codes_b)
    if np.array_equal(codes_a, codes_b) or (alike := write_alike(runs.replicates)) is None:
        return runs, ()
    new_a, new_b = np.unique(alike.codes[codes_a]), np.unique(alike.codes[codes_b])
    is_clear = len(new_a) == len(codes_a) and len(new_b) == len(codes_b)
    n_joined = len(np.intersect1d(new_a, new_b)) - len(np.intersect1d(codes_a, codes_b))
    if not is_clear or not n_joined:
        return runs, ()
    first = next(c for c in codes_a.tolist() if c not in codes_b and alike.codes[c] in new_b)
    second = next(c for c in codes_b.tolist() if alike.codes[c] == alike.codes[first])
    more = f", and {n_joined - 1} more likewise" if n_joined > 1 else ""
    note = (
        f"{runs.replicate_name} {runs.replicates[first]!r} of {a.algorithm} and "
        f"{runs.replicates[second]!r} of {b.algorithm} were paired as the same number{more}"
    )
    return replace(runs, replicates=alike.names, replicate=alike.codes[runs.replicate]), (note,)


def write_alike(names: Sequence[str]) -> Labels | None:
    """Write equal numbers alike, such as 0.0 and 0; None if that joins none.

    Returns
    -------
    The names so written, and for each name given the index of its own.

    Examples
    --------
    >>> write_alike(("0", "1", "0.0", "7.50")).names
    ('0', '1', '7.5')
    """
    if isinstance(names, Numerals):
        return None
    labels = label_rows([",".join(map(_write, name.split(","))) for name in names])
    return labels if len(labels.names) < len(names) else None


def may_be_padded(names_a: Sequence[str], names_b: Sequence[str]) -> bool:
    """Whether labels of two algorithms match but for zeros at their beginning: 007 and 7."""
    bare_a, bare_b = ({_PADDED.sub(r"\1", name) for name in some} for some in (names_a, names_b))
    return len(bare_a) == len(names_a) and bare_a == bare_b


def find_pairing_column(runs: "Runs", a: "Cell", b: "Cell") -> tuple[str, int] | None:
    """Find another column of replicates whose labels both algorithms share, and how many."""
    for name in runs.spare_columns:
        labels = runs.others.read(name) if runs.others else None
        if labels is not None:
            codes_a, codes_b = (np.sort(labels.codes[cell.rows]) for cell in (a, b))
            if _is_distinct(codes_a) and np.array_equal(codes_a, codes_b):
                return name, len(codes_a)
    return None


def _is_distinct(ordered: IntArray) -> bool:
    return bool((ordered[1:] != ordered[:-1]).all())


def _write(label: str) -> str:
    number = _DECIMAL.fullmatch(label.strip())
    if number is None:
        return label
    sign, whole, fraction = number.groups(default="")
    if not fraction and whole == "0":
        sign = ""
    sign = sign.replace("+", "")
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"
