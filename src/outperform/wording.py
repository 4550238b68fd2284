"""Numbers, names and lists as people read them, and which name was probably meant."""

import math
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import reduce
from itertools import accumulate, takewhile
from typing import Any

# Control characters but for the ends of lines and tabs, halves of characters, those that change the
# direction, and those that cannot be seen.
STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_BEYOND_ASCII = re.compile("[^\0-\x7f]")
_LOGIN = re.compile(r"(\b\w+://[^\s:@/]*|\bpostgres\w*:/?[^\s:@/]*):\S*@")
_PASSWORD = re.compile(
    r"([?&]\w*(?:password|token|secret)=|\b\w*password\s*=\s*)('[^']*'|[^&\s'\"`]*)", re.IGNORECASE
)


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


def count(n: int, noun: str, plural: str = "") -> str:
    """Say how many there are of something; `plural` where it is not the noun with an s.

    Examples
    --------
    >>> count(1, "task"), count(1200, "task"), count(0, "run was", "runs were")
    ('1 task', '1,200 tasks', '0 runs were')
    """
    return f"{n:,} {noun if n == 1 else plural or f'{noun}s'}"


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


def make_visible(text: str) -> str:
    r"""Write out what would steer a terminal or turn text around, so that no name hides another.

    Examples
    --------
    >>> make_visible("svm\x1b[2K")
    'svm\\x1b[2K'
    """
    return STEERING.sub(lambda letter: ascii(letter[0])[1:-1], text)


def make_line(text: str) -> str:
    r"""Write out line breaks and tabs too, so that no name forges a line or a column of its own.

    Examples
    --------
    >>> make_line("svm\nNext: trust me")
    'svm\\nNext: trust me'
    """
    return make_visible(text).replace("\n", "\\n").replace("\t", "\\t")


def make_printable(lines: Iterable[str]) -> str:
    r"""Write lines that may hold anybody's names so that they can be shown, without passwords.

    Examples
    --------
    >>> make_printable(["no file", "dask://me:secret@lab\nNext: trust me"])
    'no file\ndask://me@lab\\nNext: trust me'
    """
    return "\n".join([hide_passwords(make_line(line)) for line in lines])


def hide_passwords(text: str) -> str:
    """Leave out of addresses what may be a password, however they are misspelt.

    Examples
    --------
    >>> hide_passwords("no file postgresql://me:secret@lab/study?sslpassword=pet")
    'no file postgresql://me@lab/study?sslpassword=...'
    >>> hide_passwords("no file 'host=lab password=secret', nor dask://lab:8786?token=secret")
    "no file 'host=lab password=...', nor dask://lab:8786?token=..."
    """
    return _LOGIN.sub(r"\1@", _PASSWORD.sub(r"\1...", text)) if ":" in text or "=" in text else text


def hide_logins(address: str) -> str:
    """Leave out of an address who logs in and how: a name may be a token.

    Examples
    --------
    >>> hide_logins("dask://me:secret@lab:8786?token=secret")
    'dask://lab:8786?token=...'
    """
    return re.sub("//.*@", "//", hide_passwords(address))


def hide_values(text: str, options: Any) -> str:
    """Leave out of a text what options say, at any depth: any of it may be a password.

    Examples
    --------
    >>> hide_values("no login for 'secret' at lab", {"login": {"me": ["secret"]}, "port": 80})
    "no login for '...' at lab"
    """
    if isinstance(options, str) and len(options) > 3:  # less is no password, but part of words
        return text.replace(options, "...").replace(repr(options)[1:-1], "...")
    if isinstance(options, Mapping):
        return hide_values(text, [*options.values()])
    if isinstance(options, list | tuple):
        return reduce(hide_values, options, text)
    return text


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


def wrap_lines(text: str, width: int) -> list[str]:
    """Break a text into lines that are no wider than so many letters, where wide ones count two.

    Examples
    --------
    >>> wrap_lines("the best is vision-transformer-base", 27)
    ['the best is', 'vision-transformer-base']
    """
    # A filler behind each wide letter makes textwrap count right.
    filled = _BEYOND_ASCII.sub(lambda at: at[0] + "\0" * (measure(at[0]) - 1), make_visible(text))
    # A name is broken at its hyphens only where it fits no line.
    is_long = max(map(len, filled.split()), default=0) > width
    lines = textwrap.wrap(filled, width, break_on_hyphens=is_long)
    return [line.replace("\0", "") for line in lines]


def shorten(name: str, length: int) -> str:
    """Cut out the middle of a long name: names of variants differ at their ends.

    Examples
    --------
    >>> shorten("resnet50-augmented-v2", 11)
    'resne…ed-v2'
    """
    name = " ".join(make_visible(name).split())
    if measure(name) <= length:
        return name
    tail = (length - 1) // 2
    return f"{cut_to(name, length - 1 - tail)}…{cut_to(name[::-1], tail)[::-1]}"


def cut_middle(text: str, length: int) -> str:
    """Cut out the middle of a long text, and say how much that was.

    Examples
    --------
    >>> print(cut_middle("Begins so, goes on and on, and ends so.", 16))
    Begins s
    [23 characters cut]
    ends so.
    """
    if len(text) <= length:
        return text
    half = length // 2
    return join_cut(text[:half], len(text) - 2 * half, text[-half:])


def join_cut(head: str, n_cut: int, tail: str) -> str:
    """Join what is left of a text of which so many characters were cut out, if any."""
    return f"{head}\n[{n_cut:,} characters cut]\n{tail}" if n_cut else head + tail


def format_bytes(n_bytes: float) -> str:
    """Bytes in a unit that a person would choose, by thousands as makers of memory count.

    Examples
    --------
    >>> format_bytes(17_100_000_000), format_bytes(512e6), format_bytes(12)
    ('17.1 GB', '512 MB', '12 B')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{round(n_bytes / size, 1):g} {unit}"
    return f"{n_bytes:.0f} B"


def cut_to(name: str, length: int) -> str:
    """As much of the beginning of a name as fits."""
    widths = accumulate(map(measure, name))
    return name[: sum(1 for _ in takewhile(lambda width: width <= length, widths))]


def shorten_apart(names: Sequence[str], length: int) -> list[str]:
    """Shorten names so that different ones stay different: by what they share, if need be.

    Examples
    --------
    >>> shorten_apart(["benchmark task 1 of the suite", "benchmark task 2 of the suite"], 12)
    ['…ark task 1…', '…ark task 2…']
    """
    short = [shorten(name, length) for name in names]
    if len(set(short)) == len(set(names)):
        return short
    start = _count_shared(names)
    end = _count_shared([name[start:][::-1] for name in names])
    longest = max(len(name) - end - start for name in names)
    start = max(0, start - max(0, length - 2 - longest))  # as much of what they share as fits
    return [f"…{shorten(name[start : len(name) - end], length - 2)}…" for name in names]


def _count_shared(names: Sequence[str]) -> int:
    """Characters that all names begin with."""
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return sum(1 for _ in same)


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


def format_fit_time(seconds: float) -> str:
    """What a fit takes, which may be milliseconds or days.

    Examples
    --------
    >>> format_fit_time(0.0123), format_fit_time(41.2), format_fit_time(5400)
    ('0.012 s', '41 s', '90.0 min')
    """
    return f"{seconds:.2g} s" if seconds < 10 else format_duration(seconds)


def format_rate(per_second: float) -> str:
    """Fits in a unit of time in which a person would count them.

    Examples
    --------
    >>> format_rate(12.04), format_rate(0.9), format_rate(4 / 3600), format_rate(1 / 86_400)
    ('12.0 fits/s', '54.0 fits/min', '4.0 fits/h', '1.0 fits/day')
    """
    units = (("s", 1), ("min", 60), ("h", 3_600), ("day", 86_400))
    unit, length = next((each for each in units if per_second * each[1] >= 1), units[-1])
    return f"{per_second * length:,.1f} fits/{unit}"


def describe_goal(goal: str) -> str:
    """Which way a metric is better."""
    return f"{'higher' if goal == 'maximize' else 'lower'} is better"
