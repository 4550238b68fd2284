"""What holds across several tasks: on how many either side is better, on which, and on average."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from outperform.plain_values import Plain
from outperform.questions.compare.published import PublishedComparison
from outperform.questions.compare.result import Comparison
from outperform.questions.compare.verdict import VERDICTS, Verdict, Winner
from outperform.questions.result import Result
from outperform.stats import Interval, anytime_interval, average_probability, partial_conjunction
from outperform.stats.checks import FloatArray
from outperform.stats.outperforming import count_wins


@dataclass(frozen=True, slots=True)
class BetterOn(Plain):
    """On how many tasks one side is better, at least, and on which."""

    n_tasks: int  # lower confidence bound
    tasks: tuple[str, ...]  # that may be named, all at once
    pvalues: tuple[float, ...]  # of each task, corrected by Holm and two-sided as a verdict is


OfTask = TypeVar("OfTask", Comparison, PublishedComparison)


@dataclass(frozen=True, slots=True)
class OnTasks(Result, Generic[OfTask]):
    """What comparisons of `a` with `b` on several tasks say together, whatever they rest on."""

    comparisons: tuple[OfTask, ...]

    @property
    def a(self) -> str:
        """Name of the first algorithm."""
        return self.comparisons[0].a

    @property
    def b(self) -> str:
        """Name of the second algorithm."""
        return self.comparisons[0].b

    @property
    def winner(self) -> Winner | None:
        """Who is significantly better on every task, if anyone."""
        winners = {comparison.winner for comparison in self.comparisons}
        return winners.pop() if len(winners) == 1 else None

    @property
    def winner_name(self) -> str | None:
        """What the user calls the winner."""
        return {"a": self.a, "b": self.b, None: None}[self.winner]

    @property
    def verdict(self) -> Verdict:
        """The strongest claim that holds on every task."""
        if self.winner is None:
            return "not significant"
        return min((each.verdict for each in self.comparisons), key=VERDICTS.index)

    @property
    def better(self) -> dict[Winner, BetterOn]:
        """On how many tasks either is better, at least, and on which."""
        sides: tuple[Winner, Winner] = ("a", "b")
        pvalues = {side: [each.pvalues[side] for each in self.comparisons] for side in sides}
        tasks = [each.task for each in self.comparisons]
        return find_better(tasks, pvalues, self.comparisons[0].alpha, self.winner)

    @property
    def n_tasks_better(self) -> dict[Winner, int]:
        """Lower bounds of the numbers of tasks."""
        return {side: found.n_tasks for side, found in self.better.items()}


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


@dataclass(frozen=True, slots=True)
class AverageChance(Plain):
    """P(A>B) averaged over these tasks, each of which counts the same."""

    probability: float
    interval: Interval

    def __str__(self) -> str:
        return f"{self.probability:.3g} {self.interval}"


def average_chance(comparisons: Sequence[Comparison], side: Winner) -> AverageChance:
    """Average one side's chance to win over tasks.

    Independent runs count as the pairs that can be formed of them, each run in one: all of them
    compared with all tell no less. Where every look counts, the intervals of all tasks that hold
    at once are averaged.
    """
    wins, ties, n = (
        np.array(counts, dtype=float)
        for counts in zip(*(_count_pairs(each, side) for each in comparisons), strict=True)
    )
    level = comparisons[0].interval.confidence_level
    if comparisons[0].interval.method == "anytime":
        return _average_looks(wins, ties, n, level)
    average = average_probability(wins, ties, n, confidence_level=level)
    return AverageChance(average.probability, Interval(average.low, average.high, level, "exact"))


def _count_pairs(comparison: Comparison, side: Winner) -> tuple[float, float, float]:
    """Wins of a side, ties and pairs."""
    own, other = comparison.higher_a, comparison.higher_b
    if side == "b":
        own, other = other, own
    if comparison.paired:
        wins, ties, n_pairs = count_wins(own, other)
        return wins, 0 if comparison.strict else ties, n_pairs
    chance = comparison.probability if side == "a" else comparison.reverse_probability
    n_pairs = min(own.size, other.size)
    return chance * n_pairs, 0, n_pairs


def _average_looks(
    wins: FloatArray, ties: FloatArray, n: FloatArray, level: float
) -> AverageChance:
    each = 1 - (1 - level) / len(n)  # so that the intervals of all tasks hold at once
    won = wins + ties / 2
    intervals = [
        anytime_interval(w, int(m), confidence_level=each) for w, m in zip(won, n, strict=True)
    ]
    low, high = (
        float(np.mean([getattr(interval, end) for interval in intervals]))
        for end in ("low", "high")
    )
    return AverageChance(float(np.mean(won / n)), Interval(low, high, level, "anytime"))
