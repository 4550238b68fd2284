"""The results on several tasks: on how many either side is better, on which, and on average."""

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

import numpy as np

from outperform.plain_values import Plain
from outperform.questions.compare.conclusion import (
    SIZES,
    VERDICTS,
    OfTwo,
    Size,
    Verdict,
    Winner,
    describe,
)
from outperform.questions.compare.result import Comparison
from outperform.questions.compare.table import describe_test, entitle, name_chance
from outperform.questions.result import Table, join_caveats
from outperform.runs.scope import Scope, join_scopes
from outperform.stats import (
    Interval,
    anytime_interval,
    average_probability,
    partial_conjunction,
    smallest_conclusive,
)
from outperform.stats.dependent_replicates import cautious_alpha
from outperform.stats.outperforming import count_wins
from outperform.wording import format_spread, make_line

if TYPE_CHECKING:
    from outperform.questions.compare.published import PublishedComparison

OfTask = TypeVar("OfTask", Comparison, "PublishedComparison")
_AsIf = Literal["left", "lost", "won"]  # how runs that are missing count
_EXACT = ("exact", "anytime", "brunner-munzel")  # intervals that err no more often than they say


@dataclass(frozen=True, slots=True)
class BetterOn(Plain):
    """On how many tasks one side is better, at least, and on which."""

    n_tasks: int  # lower confidence bound
    tasks: tuple[str, ...]  # that may be named, all at once
    pvalues: tuple[float, ...]  # of each task, corrected by Holm and two-sided as a verdict is


@dataclass(frozen=True, slots=True)
class OnTasks(OfTwo, Generic[OfTask]):
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
        return {side: tasks.n_tasks for side, tasks in self.better.items()}


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
    better: dict[Winner, BetterOn] = {}
    for side in pvalues:
        shown = partial_conjunction(pvalues[side], alpha=alpha / 2)
        n_better, named = shown.n_better, tuple(compress(tasks, shown.better))
        if side == winner:
            n_better, named = len(tasks), tuple(tasks)
        corrected = tuple(min(1.0, 2 * float(pvalue)) for pvalue in shown.holm_pvalues)
        better[side] = BetterOn(n_better, named, corrected)
    return better


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
    at once are averaged. At either end, what one side lacks is taken for its worst.
    """
    average = _average(comparisons, side, "left")
    if not any(any(each.lacking) for each in comparisons):
        return average
    low, high = (_average(comparisons, side, as_if).interval for as_if in ("lost", "won"))
    interval = replace(
        average.interval,
        low=min(average.interval.low, low.low),
        high=max(average.interval.high, high.high),
    )
    return AverageChance(average.probability, interval)


def _average(comparisons: Sequence[Comparison], side: Winner, as_if: _AsIf) -> AverageChance:
    """The same as if all that a side lacks were lost, or all that the other one lacks were won."""
    counted = (_count_pairs(each, side, as_if) for each in comparisons)
    wins, ties, n = (np.array(counts, dtype=float) for counts in zip(*counted, strict=True))
    level = comparisons[0].interval.confidence_level
    if comparisons[0].interval.method == "anytime":
        each = 1 - (1 - level) / len(n)  # so that the intervals of all tasks hold at once
        won = wins + ties / 2
        intervals = [
            anytime_interval(w, int(m), confidence_level=each) for w, m in zip(won, n, strict=True)
        ]
        low = float(np.mean([interval.low for interval in intervals]))
        high = float(np.mean([interval.high for interval in intervals]))
        return AverageChance(float(np.mean(won / n)), Interval(low, high, level, "anytime"))
    average = average_probability(wins, ties, n, confidence_level=level)
    return AverageChance(average.probability, Interval(average.low, average.high, level, "exact"))


def _count_pairs(comparison: Comparison, side: Winner, as_if: _AsIf) -> tuple[float, float, float]:
    """Wins of a side, ties and pairs."""
    own, other = comparison.higher if side == "a" else comparison.higher[::-1]
    lacking = comparison.lacking if side == "a" else comparison.lacking[::-1]
    lost, won = (lacking[0] if as_if == "lost" else 0), (lacking[1] if as_if == "won" else 0)
    if comparison.paired:
        wins, ties, n_pairs = count_wins(own, other)
        return wins + won, 0 if comparison.strict else ties, n_pairs + lost + won
    chance = comparison.probability if side == "a" else comparison.reverse_probability
    n_own, n_other = own.size + lost, other.size + won
    chance *= own.size / n_own
    chance = (chance * other.size + won) / n_other
    n_pairs = min(n_own, n_other)
    return chance * n_pairs, 0, n_pairs


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
        return (*self._doubt_whole(), *joined)

    def _doubt_whole(self) -> Iterator[str]:
        method = self.comparisons[0].interval.method
        if method not in _EXACT:
            yield (
                f"on how many tasks one is better, on which, and P(A>B) on average are told by the "
                f"exact interval: over several tasks the {method} interval would err more often "
                "than it says"
            )
        # Wins, whatever their size, and means over tasks may speak for different sides.
        gain = sum(c.mean_a - c.mean_b for c in self.comparisons)
        if self.comparisons[0].goal == "minimize":
            gain = -gain
        for side, name, other in self._sides:
            if average_chance(self.comparisons, side).interval.low <= 0.5:
                continue
            if self._might_name_a_task and not any(self.n_tasks_better.values()):
                yield (
                    "a task that can be named and the average over tasks are two chances to "
                    "differ, and equals do by one of them in up to "
                    f"{2 * self.comparisons[0].alpha:.1%} of studies"
                )
            lead = gain if side == "a" else -gain
            if lead < 0:
                yield (
                    f"{other} has the better mean over these tasks, although {name} wins more "
                    "often, for it loses by more than it wins by, if scores of one task may be "
                    "compared with those of another: every win counts the same here"
                )

    @property
    def _might_name_a_task(self) -> bool:
        """Whether some task has so many runs that it could be named, allowing for their number."""
        fewest = smallest_conclusive(self.comparisons[0].alpha / len(self.comparisons))
        return any(each.n_decided >= fewest for each in self.comparisons)

    @property
    def _sides(self) -> tuple[tuple[Winner, str, str], ...]:
        """Each side with its name and that of the other."""
        return (("a", self.a, self.b), ("b", self.b, self.a))

    @property
    def tables(self) -> list[Table | str]:
        """A row per task."""
        return tabulate_tasks(self)

    @property
    def advice(self) -> str:
        """What to do next."""
        if self.winner is not None:
            return "report every task with its interval; --plot draws them all."
        undecided = [c.task for c in self.comparisons if c.winner is None]
        task = shlex.quote((undecided or [self.comparisons[0].task])[0])
        return f"look at one task with --on, for instance --on {task}; report all of them."

    @property
    def scope_hint(self) -> str:
        """How to tell that runs divide the data anew, where that is not known."""
        return max(each.scope_hint for each in self.comparisons)

    def __str__(self) -> str:
        counts = self.n_tasks_better
        if not any(counts.values()):
            return self._describe_unnamed()
        side: Winner = "b" if counts["b"] > counts["a"] else "a"
        if self.winner:
            claim = f"{self._describe_winner()}: {self.verdict}"
        else:
            claim = describe_better({"a": self.a, "b": self.b}, self.better)
            holds = [comparison.holds_for_population for comparison in self.comparisons]
            if any(each is not None for each in holds):
                n_shown = holds.count(True)
                claim += f", for other data like these on {n_shown}, each task by itself"
        claim += self._describe_tuning()
        return f"{claim}; {self._describe_average(side)} on average over these tasks."

    def _describe_tuning(self) -> str:
        """That pairs are after one search, and on how many tasks several show a difference."""
        if not any(comparison.scope_here.tuned_once for comparison in self.comparisons):
            return ""
        gains = [c.gain_tuned_anew for c in self.comparisons if c.gain_tuned_anew is not None]
        if not gains:
            return ", each tuned once"
        counts = {self.a: sum(g.low > 0 for g in gains), self.b: sum(g.high < 0 for g in gains)}
        better = [f"{name} has the better mean on {n}" for name, n in counts.items() if n]
        shown = f"{' and '.join(better)}, each task by itself{self.comparisons[0].once}"
        return f", each tuned once; tuned anew, {shown if better else 'no difference is shown'}"

    def _describe_winner(self) -> str:
        n = len(self.comparisons)
        on = " on both tasks" if n == 2 else f" on all {n} tasks"
        n_small = sum(c.verdict == "significant, not meaningful" for c in self.comparisons)
        small = f" on {n_small}" if 0 < n_small < n else ""
        claim = f"{describe(self.a, self.b, self.winner, self.verdict, on=on)}{small}"
        holds = [c.holds_for_population for c in self.comparisons]
        if all(holds):
            return f"{claim}, and for data like these{self.comparisons[0].once}"
        n_not = holds.count(False)
        not_shown = f"; for other data like these that is not shown on {n_not} of them"
        return f"{claim}{not_shown if n_not else ''}"

    def _describe_unnamed(self) -> str:
        """Where no single task can be named: whether one is better on average, at least."""
        n = len(self.comparisons)
        for side, name, other in self._sides:
            if average_chance(self.comparisons, side).interval.low > 0.5:
                return (
                    f"{name} is better than {other} on average over these {n} tasks, "
                    f"{self._describe_average(side)}, but on none that could be named"
                    f"{self._describe_tuning()}."
                )
        # A row of the table may have a winner by itself.
        allowing = ", allowing for their number" if any(c.winner for c in self.comparisons) else ""
        return (
            f"No difference shown between {self.a} and {self.b} on any of {n} tasks{allowing}; "
            f"{self._describe_average('a')} on average over these tasks."
        )

    def _describe_average(self, side: Winner) -> str:
        first, second = (self.a, self.b) if side == "a" else (self.b, self.a)
        return f"P({first} > {second}) = {average_chance(self.comparisons, side)}"


def tabulate_tasks(tasks: TaskComparisons) -> list[Table | str]:
    """One row a task, and below it the tests asked for."""
    results, better = tasks.comparisons, tasks.better.values()
    first = results[0]
    header = ["task", "pairs" if first.paired else "runs", first.a, first.b, name_chance(first)]
    rows = [_tabulate_task(result) for result in results]
    title = entitle(first)
    header += ["verdict", "Holm"]
    for place, row in enumerate(rows):
        row.append(_shorten_pvalue(min(side.pvalues[place] for side in better)))
    if len({(each.metric, each.goal) for each in results}) > 1:
        title = f"each task by its own metric; {title.rpartition('; ')[2]}"
        header.insert(1, "metric")
        for row, result in zip(rows, results, strict=True):
            row.insert(1, f"{result.metric} {'↑' if result.goal == 'maximize' else '↓'}")
    if any(result.population for result in results):
        header.append("p, other data")
        for row, result in zip(rows, results, strict=True):
            pvalue = math.nan if result.population is None else result.population.pvalue
            row.append("–" if math.isnan(pvalue) else f"{pvalue:.2g}")
    if any(result.searches for result in results):
        header.append("p, over searches")
        for row, result in zip(rows, results, strict=True):
            searches = result.searches
            row.append("–" if searches is None or searches.is_open else f"{searches.pvalue:.2g}")
    tests = [(c.task, *describe_test(test, c.as_worst)) for c in results for test in c.tests]
    lines = [f"  {make_line(task)}: {name}: {value}" for task, name, value in tests]
    note = "\n".join([_explain(tasks), *lines])
    return [Table(header, rows, title=title, note=note)]


def _explain(tasks: TaskComparisons) -> str:
    """Say what the columns of the table are."""
    results, first = tasks.comparisons, tasks.comparisons[0]
    explained = (
        "  verdict: each task by itself; Holm: its p corrected for all tasks; a task counts above "
        f"where that is at most {first.alpha:.2g}{', or one wins on all' if tasks.winner else ''}"
    )
    if any(result.as_worst for result in results):
        explained += "; P(A>B), verdict and p take missing runs for the worst, means leave them out"
    if any(result.population for result in results):
        explained += f"; other data: shown by p < {cautious_alpha(first.alpha):.2g}"
    if any(result.searches for result in results):
        explained += "; over searches: of the mean difference, both tuned anew, each task by itself"
    return explained


def _shorten_pvalue(pvalue: float) -> str:
    """Write a p-value in five letters."""
    if pvalue < 0.01:
        return f"{pvalue:.3f}" if pvalue >= 0.001 else "<.001"
    return f"{pvalue:.2g}"


def _tabulate_task(result: Comparison) -> list[str]:
    verdict: str = result.verdict
    if result.winner:
        # That a winner is significantly better goes without saying.
        size = verdict.removeprefix("significant").lstrip(" ,").removeprefix("and ")
        verdict = f"{result.winner_name}, {size}"
    n_a, n_b = result.scores_a.size, result.scores_b.size
    means = ((result.mean_a, result.sd_a), (result.mean_b, result.sd_b))
    return [
        result.task or "-",
        f"{n_a}" if result.paired else f"{n_a} and {n_b}",
        *(format_spread(*each).partition(" ")[0] for each in means),
        f"{result.probability:.3g} {result.interval}",
        verdict,
    ]
