"""Numbers, names and lists as people read them, and which name was probably meant."""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches


def split_words(text: str) -> frozenset[str]:
    """Give the words of a text, for lists that would be long otherwise."""
    return frozenset(text.split())


def enumerate_names(names: Iterable[str], *, limit: int = 8) -> str:
    """List names, the first few where there are many.

    Examples
    --------
    >>> enumerate_names(["a", "b", "c", "d"], limit=2)
    'a, b and 2 more'
    """
    listed = list(names)
    shown = ", ".join(listed[:limit])
    return shown if len(listed) <= limit else f"{shown} and {len(listed) - limit} more"


def join_words(words: Sequence[str]) -> str:
    """Join words as a sentence does.

    Examples
    --------
    >>> join_words(["seeds"]), join_words(["splits", "seeds", "tasks"])
    ('seeds', 'splits, seeds and tasks')
    """
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def enumerate_rows(rows: Iterable[int]) -> str:
    """List row numbers: `row 5`, `rows 5, 9 and 12 more`."""
    listed = [str(row) for row in rows]
    return f"row{'' if len(listed) == 1 else 's'} {enumerate_names(listed, limit=5)}"


def suggest_names(name: str, known: Sequence[str]) -> str:
    """Say which of the known names come nearest, and list them.

    Examples
    --------
    >>> suggest_names("ResNt", ["resnet", "vgg"])
    "Did you mean 'resnet'? It has: resnet, vgg"
    """
    near = find_near(name, known)
    listing = f"It has: {enumerate_names(known)}"
    if not near:
        return listing
    return f"Did you mean {' or '.join(repr(match) for match in near)}? {listing}"


def find_near(name: str, known: Sequence[str]) -> list[str]:
    """Known names that may have been meant, the nearest first; case does not matter.

    Examples
    --------
    >>> find_near("acuracy", ["accuracy", "recall"])
    ['accuracy']
    """
    by_case: dict[str, str] = {}
    for candidate in known:
        by_case.setdefault(candidate.casefold(), candidate)
    return [by_case[match] for match in get_close_matches(str(name).casefold(), by_case, n=3)]


def measure(text: str) -> int:
    """Columns that a text takes where all letters are equally wide: Chinese ones take two.

    Examples
    --------
    >>> measure("resnet"), measure("残差网络")
    (6, 8)
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF")
        for letter in text
    )


def format_spread(mean: float, sd: float) -> str:
    """Mean ± standard deviation, to as many places as the latter is known to.

    Examples
    --------
    >>> format_spread(0.8, 0.00071), format_spread(93.1, 0.25), format_spread(1234.5, 12)
    ('0.80000 ± 0.00071', '93.10 ± 0.25', '1234 ± 12')
    """
    places = 1 - math.floor(math.log10(sd)) if sd > 0 else 0
    if sd == 0 or places > 6 or mean >= 1e6:
        return f"{mean:.4g} ± {sd:.2g}"
    return f"{mean:.{max(0, places)}f} ± {sd:.{max(0, places)}f}"


def format_duration(seconds: float) -> str:
    """Seconds in a unit that a person would choose."""
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"


def describe_goal(goal: str) -> str:
    """Which way a metric is better."""
    return f"{'higher' if goal == 'maximize' else 'lower'} is better"
