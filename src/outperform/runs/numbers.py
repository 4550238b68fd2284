"""What counts as a number in a score, and what to say about what does not."""

import math
import re
from collections.abc import Sequence

import numpy as np

from outperform.errors import InvalidScores
from outperform.runs.arrays import FloatArray, IntArray
from outperform.wording import enumerate_rows

_MISSING = frozenset({"", "nan", "na", "n/a", "null", "none"})
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


def parse_number(text: str) -> float | None:
    """Parse a number; NaN stands for a missing one, None for text that is no number.

    Examples
    --------
    >>> parse_number(" 0.91"), parse_number("N/A"), parse_number("91%")
    (0.91, nan, None)
    """
    stripped = text.strip()
    if stripped.casefold() in _MISSING:
        return math.nan
    if "_" in stripped or not stripped.isascii():
        return None  # float() would read 1_000 and digits of other scripts
    try:
        return float(stripped)
    except ValueError:
        return None


def convert_number(value: object) -> float | None:
    """Convert whatever a table may hold to a number, as `parse_number` does text."""
    if value is None:
        return math.nan
    if isinstance(value, str):
        return parse_number(value)
    if isinstance(value, bool | np.bool_ | complex):
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return math.nan if str(value) == "<NA>" else None  # pandas' own missing value


def convert_column(
    values: Sequence[object], *, rows: IntArray, name: str, source: str
) -> FloatArray:
    """Convert a column to numbers, NaN where missing, refusing any text."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return values.astype(np.float64)
    numbers = [convert_number(value) for value in values]
    wrong = [i for i, number in enumerate(numbers) if number is None]
    if wrong:
        text = str(values[wrong[0]])
        where = enumerate_rows(rows[wrong])
        raise InvalidScores(
            f"column {name!r} of {source} holds {text!r} where a number should be ({where})",
            _suggest_writing(text),
        )
    return np.array(numbers, dtype=np.float64)


def _suggest_writing(text: str) -> str:
    stripped = text.strip()
    if stripped.casefold() in ("true", "false"):
        return (
            "Give the mean over the test examples of every run, with its seed; if each row is a "
            "run that succeeds or fails, write 1 and 0"
        )
    if "%" in stripped:
        return f"Write it without the percent sign: {stripped.replace('%', '').strip()}"
    if _DECIMAL_COMMA.fullmatch(stripped):
        return f"Write decimals with a point, not a comma: {stripped.replace(',', '.')}"
    if "±" in stripped or "+-" in stripped or "+/-" in stripped:
        return (
            "Give one number per run, or compare published means with --summary (from Python: "
            "compare_published)"
        )
    return (
        "Leave it empty if the run is missing, or choose other columns with --metric "
        "(in a wide table with --algorithm)"
    )
