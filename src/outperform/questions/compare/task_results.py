"""The result of comparing two algorithms on several tasks."""

from dataclasses import dataclass

from outperform.questions.compare.advice import suggest_after_tasks, suggest_sizes
from outperform.questions.compare.result import Comparison
from outperform.questions.compare.table import tabulate_tasks
from outperform.questions.compare.verdict import (
    SIZES,
    VERDICTS,
    Size,
    Verdict,
    Winner,
    describe,
)
from outperform.questions.result import Result, Table, join_caveats
from outperform.runs.scope import Scope, join_scopes


@dataclass(frozen=True, slots=True)
class TaskComparisons(Result):
    """Whether `a` outperforms `b` on each of several tasks.

    The overall verdict claims no more than what holds on *every* task. Such a claim needs no
    correction for the number of tasks: it is made only if each task would allow it alone.
    """

    JSON = "a b verdict winner winner_name size scope tasks=comparisons caveats"

    comparisons: tuple[Comparison, ...]

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
    def verdict(self) -> Verdict:
        """The strongest claim that holds on every task."""
        if self.winner is None:
            return "not significant"
        return min((c.verdict for c in self.comparisons), key=VERDICTS.index)

    @property
    def winner_name(self) -> str | None:
        """What the user calls the winner."""
        return {"a": self.a, "b": self.b, None: None}[self.winner]

    @property
    def size(self) -> Size | None:
        """What is known of the advantage on every task."""
        sizes = [c.size for c in self.comparisons if c.size is not None]
        return min(sizes, key=SIZES.index) if self.winner else None

    @property
    def scope(self) -> Scope:
        """What varied, and what the verdict is about for that reason."""
        scopes = [comparison.scope for comparison in self.comparisons]
        return join_scopes(scopes, [comparison.task for comparison in self.comparisons])

    @property
    def caveats(self) -> tuple[str, ...]:
        """Doubts about the whole, those that all tasks share, then those about single tasks."""
        n, alpha = len(self.comparisons), self.comparisons[0].alpha
        chance = min(1.0, sum(comparison.false_alarms for comparison in self.comparisons))
        several = (
            f"{n} tasks were tested, each at α = {alpha:.2g}: the chance that equals differ "
            f"significantly on at least one is up to {chance:.0%}; to name single tasks, ask for "
            f"α = {alpha / n:.2g}"
        )
        return (several, *join_caveats({c.task: c.caveats for c in self.comparisons}))

    @property
    def tables(self) -> list[Table | str]:
        """A row per task."""
        return tabulate_tasks(self.comparisons)

    @property
    def advice(self) -> str:
        """What to do next."""
        return suggest_after_tasks(self.comparisons, self.winner)

    @property
    def scope_hint(self) -> str:
        """How to tell that runs divide the data anew, where that is not known."""
        return suggest_sizes(self.comparisons)

    def __str__(self) -> str:
        n = len(self.comparisons)
        everywhere = "both tasks" if n == 2 else f"all {n} tasks"
        if self.winner:
            return f"{self._describe_winner(everywhere)}: {self.verdict}."
        counts = {who: sum(c.winner == who for c in self.comparisons) for who in ("a", "b", None)}
        if counts[None] == n:
            return f"No difference shown between {self.a} and {self.b} on any of {n} tasks."
        return (
            f"Neither wins on {everywhere}: {self.a} is significantly better on {counts['a']}, "
            f"{self.b} on {counts['b']}, undecided on {counts[None]}."
        )

    def _describe_winner(self, everywhere: str) -> str:
        on = f" on {everywhere}"
        n_small = sum(c.verdict == "significant, not meaningful" for c in self.comparisons)
        small = f" on {n_small}" if 0 < n_small < len(self.comparisons) else ""
        claim = f"{describe(self.a, self.b, self.winner, self.verdict, on=on)}{small}"
        holds = [c.holds_for_population for c in self.comparisons]
        if all(holds):
            return f"{claim}, and for data like these{self.comparisons[0].once}"
        n_not = holds.count(False)
        not_shown = f"; for other data like these that is not shown on {n_not} of them"
        return f"{claim}{not_shown if n_not else ''}"
