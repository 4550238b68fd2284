"""What is concluded of two algorithms, and how it is said."""

import math
from typing import Any, Literal

from outperform.questions.result import Result
from outperform.stats import Interval

Verdict = Literal["not significant", "significant, not meaningful", "significant and meaningful"]
Winner = Literal["a", "b"]
Size = Literal["shown", "not ruled out", "ruled out"]
# From the weakest to the strongest claim.
VERDICTS: tuple[Verdict, ...] = (
    "not significant",
    "significant, not meaningful",
    "significant and meaningful",
)
SIZES_IN_WORDS: dict[Size, str] = {
    "shown": "at least {} shown",
    "not ruled out": "{} neither shown nor ruled out",
    "ruled out": "{} ruled out",
}
SIZES: tuple[Size, ...] = ("ruled out", "not ruled out", "shown")


def judge_size(interval: Interval, smallest: float) -> Size:
    """Whether the winner's advantage, such as its chance to win, is shown to be large enough."""
    if interval.low >= smallest:
        return "shown"
    return "not ruled out" if interval.high > smallest else "ruled out"


def judge(size: Size | None) -> Verdict:
    """Verdict on the winner's advantage (Bouthillier et al. 2021, appendix C.6).

    It is meaningful unless that is ruled out; whether it is shown, `Size` says. Without a winner
    there is none.
    """
    if size is None:
        return "not significant"
    return "significant, not meaningful" if size == "ruled out" else "significant and meaningful"


def describe(a: str, b: str, winner: Winner | None, verdict: Verdict, *, on: str = "") -> str:
    """Verdict in words, the winner's name first; `on` is where it holds, such as `` on digits``."""
    first, second = (b, a) if winner == "b" else (a, b)
    if verdict == "significant and meaningful":
        return f"{first} outperforms {second}{on}"
    if verdict == "significant, not meaningful":
        return f"{first} is better than {second}{on}, but by too little to matter"
    return f"No difference shown between {first} and {second}{on}"


def name_level(alpha: float) -> str:
    """Words for a chance of a false alarm that is not the usual one.

    Examples
    --------
    >>> name_level(0.05), name_level(0.5)
    ('', ', α = 0.5')
    """
    return "" if math.isclose(alpha, 0.05) else f", α = {alpha:.2g}"


def describe_pvalue(pvalue: float) -> str:
    """Words for a p-value, or for why there is none.

    Examples
    --------
    >>> describe_pvalue(0.213), describe_pvalue(math.nan)
    ('p = 0.21', 'runs are missing')
    """
    return "runs are missing" if math.isnan(pvalue) else f"p = {pvalue:.2g}"


class OfTwo(Result):
    """A result about two algorithms, `a` and `b`, of which one may be the `winner`."""

    __slots__ = ()

    @property
    def winner_name(self: Any) -> str | None:
        """What the user calls the winner."""
        names: dict[Winner | None, str | None] = {"a": self.a, "b": self.b, None: None}
        return names[self.winner]
