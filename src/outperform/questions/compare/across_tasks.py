"""On how many of several tasks either side is better, at least, and on which."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from outperform.plain_values import Plain
from outperform.questions.compare.verdict import Winner
from outperform.stats import partial_conjunction


@dataclass(frozen=True, slots=True)
class BetterOn(Plain):
    """On how many tasks one side is better, at least, and on which."""

    n_tasks: int  # lower confidence bound
    tasks: tuple[str, ...]  # that may be named, all at once
    pvalues: tuple[float, ...]  # of each task, corrected by Holm and two-sided as a verdict is


def find_better(
    tasks: Sequence[str],
    pvalues: Mapping[Winner, Sequence[float]],
    alpha: float,
    winner: Winner | None,
) -> dict[Winner, BetterOn]:
    """Find on how many tasks each side is better, from one-sided p-values of both.

    Each side gets half of alpha, as in a verdict, so that both bounds, and all names of tasks, hold
    at once with confidence 1 - alpha. A winner by the verdict on every task is better on all: that
    claim needs no correction, since each task would allow it alone (Berger 1982).
    """
    return {side: _count(tasks, pvalues[side], alpha / 2, winner == side) for side in pvalues}


def _count(
    tasks: Sequence[str], pvalues: Sequence[float], alpha: float, everywhere: bool
) -> BetterOn:
    shown = partial_conjunction(pvalues, alpha=alpha)
    named = [task for task, is_better in zip(tasks, shown.better, strict=True) if is_better]
    return BetterOn(
        len(tasks) if everywhere else shown.n_better,
        tuple(tasks if everywhere else named),
        tuple(min(1.0, 2 * float(pvalue)) for pvalue in shown.holm_pvalues),
    )


def describe_better(
    names: Mapping[Winner, str], better: Mapping[Winner, BetterOn], unit: str = "tasks"
) -> str:
    """Say it in words, the side that is better on more tasks first."""
    n = len(better["a"].pvalues)
    first, second = sorted(better, key=lambda side: -better[side].n_tasks)  # a, where both alike
    if not better[first].n_tasks:
        return f"no difference shown between {names['a']} and {names['b']} on any of {n} {unit}"
    claim = f"{names[first]} is better than {names[second]} {count(better[first].n_tasks, n, unit)}"
    if better[second].n_tasks:
        claim += f", {names[second]} {count(better[second].n_tasks, n)}"
    return claim


def count(n_better: int, n: int, unit: str = "") -> str:
    """Say on how many of n tasks, at least.

    Examples
    --------
    >>> count(2, 2, "tasks"), count(6, 6, "tasks"), count(4, 6, "tasks"), count(1, 6)
    ('on both tasks', 'on all 6 tasks', 'on at least 4 of 6 tasks', 'on at least 1')
    """
    if n_better == n:
        return f"on both {unit}" if n == 2 else f"on all {n} {unit}"
    return f"on at least {n_better} of {n} {unit}" if unit else f"on at least {n_better}"
