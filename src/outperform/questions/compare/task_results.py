"""The result of comparing two algorithms on several tasks."""

from collections.abc import Iterator
from dataclasses import dataclass

from outperform.questions.compare.across_tasks import (
    AverageChance,
    OnTasks,
    average_chance,
    describe_better,
)
from outperform.questions.compare.advice import suggest_after_tasks, suggest_sizes
from outperform.questions.compare.result import Comparison
from outperform.questions.compare.table import tabulate_tasks
from outperform.questions.compare.verdict import (
    SIZES,
    Size,
    Winner,
    describe,
)
from outperform.questions.result import Table, join_caveats
from outperform.runs.scope import Scope, join_scopes

_EXACT = ("exact", "anytime", "brunner-munzel")  # intervals that err no more often than they say


@dataclass(frozen=True, slots=True)
class TaskComparisons(OnTasks[Comparison]):
    """Whether `a` outperforms `b` on each of several tasks, on how many, and on average.

    The overall verdict claims no more than what holds on *every* task. Such a claim needs no
    correction for the number of tasks: it is made only if each task would allow it alone. On how
    many tasks either is better, and on which, is corrected for their number.
    """

    JSON = (
        "a b verdict winner winner_name size n_tasks_better better average scope tasks=comparisons "
        "caveats"
    )

    @property
    def size(self) -> Size | None:
        """What is known of the advantage on every task."""
        sizes = [c.size for c in self.comparisons if c.size is not None]
        return min(sizes, key=SIZES.index) if self.winner else None

    @property
    def average(self) -> AverageChance:
        """P(a > b) averaged over these tasks."""
        return average_chance(self.comparisons, "a")

    @property
    def scope(self) -> Scope:
        """What varied, and what the verdict is about for that reason."""
        scopes = [comparison.scope for comparison in self.comparisons]
        return join_scopes(scopes, [comparison.task for comparison in self.comparisons])

    @property
    def caveats(self) -> tuple[str, ...]:
        """Doubts about the whole, those that all tasks share, then those about single tasks."""
        joined = join_caveats({c.task: c.caveats for c in self.comparisons})
        return (*self._doubt_interval(), *self._doubt_sizes(), *joined)

    def _doubt_interval(self) -> Iterator[str]:
        method = self.comparisons[0].interval.method
        if method not in _EXACT:
            yield (
                f"on how many tasks one is better, on which, and P(A>B) on average are told by the "
                f"exact interval: over several tasks the {method} interval would err more often "
                "than it says"
            )

    def _doubt_sizes(self) -> Iterator[str]:
        """Where wins, whatever their size, and means over tasks speak for different sides."""
        gain = sum(c.mean_a - c.mean_b for c in self.comparisons)
        if self.comparisons[0].goal == "minimize":
            gain = -gain
        for side, name, other, lead in (("a", self.a, self.b, gain), ("b", self.b, self.a, -gain)):
            if lead < 0 and average_chance(self.comparisons, side).interval.low > 0.5:  # type: ignore[arg-type]
                yield (
                    f"{other} has the better mean over these tasks, although {name} wins more "
                    "often, for it loses by more than it wins by, if scores of one task may be "
                    "compared with those of another: every win counts the same here"
                )

    @property
    def tables(self) -> list[Table | str]:
        """A row per task."""
        return tabulate_tasks(self)

    @property
    def advice(self) -> str:
        """What to do next."""
        return suggest_after_tasks(self.comparisons, self.winner)

    @property
    def scope_hint(self) -> str:
        """How to tell that runs divide the data anew, where that is not known."""
        return suggest_sizes(self.comparisons)

    def __str__(self) -> str:
        counts = self.n_tasks_better
        side: Winner = "b" if counts["b"] > counts["a"] else "a"
        average = average_chance(self.comparisons, side)
        if not any(counts.values()):
            return self._describe_unnamed()
        claim = describe_better({"a": self.a, "b": self.b}, self.better)
        if self.winner:
            n = len(self.comparisons)
            everywhere = "both tasks" if n == 2 else f"all {n} tasks"
            claim = f"{self._describe_winner(everywhere)}: {self.verdict}"
        else:
            claim += self._describe_beyond()
        return f"{claim}; {self._name_chance(side)} = {average} on average over these tasks."

    def _describe_beyond(self) -> str:
        """On how many tasks a difference is shown for other data like theirs, where known."""
        holds = [comparison.holds_for_population for comparison in self.comparisons]
        if all(each is None for each in holds):
            return ""
        return f", for other data like these on {holds.count(True)}, each task by itself"

    def _describe_unnamed(self) -> str:
        """Where no single task can be named: whether one is better on average, at least."""
        n = len(self.comparisons)
        for side, name, other in (("a", self.a, self.b), ("b", self.b, self.a)):
            average = average_chance(self.comparisons, side)  # type: ignore[arg-type]
            if average.interval.low > 0.5:
                return (
                    f"{name} is better than {other} on average over these {n} tasks, "
                    f"P({name} > {other}) = {average}, but on none that could be named."
                )
        # A row of the table may have a winner by itself.
        allowing = ", allowing for their number" if any(c.winner for c in self.comparisons) else ""
        return (
            f"No difference shown between {self.a} and {self.b} on any of {n} tasks{allowing}; "
            f"{self._name_chance('a')} = {self.average} on average over these tasks."
        )

    def _name_chance(self, side: Winner) -> str:
        first, second = (self.a, self.b) if side == "a" else (self.b, self.a)
        return f"P({first} > {second})"

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
