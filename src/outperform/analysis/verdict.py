"""The rule that turns intervals of P(A>B) into a verdict."""

from typing import Literal

from outperform.stats import Interval

Verdict = Literal["not significant", "significant, not meaningful", "significant and meaningful"]
Winner = Literal["a", "b"]

# From the weakest to the strongest claim.
VERDICTS: tuple[Verdict, ...] = (
    "not significant",
    "significant, not meaningful",
    "significant and meaningful",
)


def find_winner(interval: Interval, reverse: Interval) -> Winner | None:
    """Whose chance of winning is above one half for sure.

    Parameters
    ----------
    interval, reverse
        Of P(a > b), and of P(b > a).
    """
    if interval.low > 0.5:
        return "a"
    return "b" if reverse.low > 0.5 else None


def judge(winning: Interval | None, gamma: float) -> Verdict:
    """Verdict on the winner's interval (Bouthillier et al. 2021, appendix C.6).

    Parameters
    ----------
    winning
        Interval of the winner's chance to win, or None without a winner.
    gamma
        Smallest chance to win that matters.
    """
    if winning is None:
        return "not significant"
    if winning.high <= gamma:
        return "significant, not meaningful"
    return "significant and meaningful"


def describe(a: str, b: str, winner: Winner | None, verdict: Verdict, *, on: str = "") -> str:
    """Verdict in words, with the winner's name first.

    Parameters
    ----------
    on
        Where that holds, such as `` on digits``.
    """
    first, second = (b, a) if winner == "b" else (a, b)
    if verdict == "significant and meaningful":
        return f"{first} outperforms {second}{on}"
    if verdict == "significant, not meaningful":
        return f"{first} is better than {second}{on}, but by too little to matter"
    return f"No difference shown between {first} and {second}{on}"
