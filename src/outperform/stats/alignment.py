"""Scores that carry labels are paired by these, wherever two of them are taken together."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from outperform.errors import UnpairedScores
from outperform.wording import count


def align_series(a: Any, b: Any, names: str = "in a or in b") -> tuple[Any, Any]:
    """Put b in the order of a where both are pandas Series, whose index says what belongs together.

    Examples
    --------
    >>> align_series([1, 2], [3, 4])
    ([1, 2], [3, 4])
    """
    if not (is_series(a) and is_series(b)) or a.index.equals(b.index):
        return a, b
    check_same_labels([*a.index], [*b.index], names, "entry of the index")
    return a, b.reindex(a.index)


def is_series(values: Any) -> bool:
    """Whether values are a pandas Series, which need not be installed."""
    return hasattr(values, "reindex") and hasattr(values, "index") and np.ndim(values) == 1


def check_same_labels(a: Sequence[Any], b: Sequence[Any], names: str, kind: str = "seed") -> None:
    """Refuse to pair by labels of which some stand twice, or belong to one side only."""
    kinds = "seeds" if kind == "seed" else "entries of the index"
    remedy = ", or plain arrays (.to_numpy()) in the same order"
    remedy += ", or paired=False if the runs are independent" if kind == "seed" else ""
    if len(set(a)) < len(a) or len(set(b)) < len(b):
        raise UnpairedScores(
            f"some {kinds} stand more than once, so scores cannot be paired by them",
            f"Pass one score for each{remedy}",
        )
    unmatched = set(a) ^ set(b)
    if unmatched:
        first = ", ".join(map(str, sorted(unmatched, key=str)[:5]))
        raise UnpairedScores(
            f"{count(len(unmatched), f'{kind} has', f'{kinds} have')} a score {names} only "
            f"(first: {first})",
            f"Pass those that both have{remedy}",
        )
