"""Which algorithms may be the best, on every task and over all of them."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

from outperform.plain_values import Plain
from outperform.questions.compare.conclusion import Verdict
from outperform.questions.rank.table import tabulate_ranking
from outperform.questions.result import Mood, Result, Table
from outperform.runs import Goal
from outperform.runs.scope import Scope
from outperform.stats import (
    AggregateScores,
    FriedmanTest,
    NemenyiTest,
    PerformanceProfiles,
    SkillingsMackTest,
)
from outperform.stats.checks import FloatArray
from outperform.stats.dependent_replicates import cautious_alpha
from outperform.stats.task_aggregates import TasksAre
from outperform.wording import join_words

Question = Literal["these tasks", "tasks like these"]
Correction = Literal["holm", "bonferroni", "benjamini-hochberg", "none"]
Normalization = Literal["baseline", "range", "rank"]
LIKE_THESE = "nadeau-bengio"  # the test that is about data like these, not about these alone
_MOST_NAMES = 3  # in the sentence
_SUMMARIES = ("mean", "median", "interquartile_mean", "optimality_gap")  # over all tasks


@dataclass(frozen=True, slots=True)
class RankedAlgorithm(Plain):
    """Where one algorithm stands among all."""

    name: str
    mean_rank: float  # over tasks, of its mean score; 1 is the best
    rank_low: int | None  # its true rank is between these, for all algorithms at once
    rank_high: int | None
    n_tasks_maybe_best: int


@dataclass(frozen=True, slots=True)
class RankedTask(Plain):
    """All algorithms on one task."""

    name: str
    metric: str
    goal: Goal
    n_runs: int  # of an algorithm, the fewest where they differ
    best: str  # by the mean
    maybe_best: tuple[str, ...]
    means: dict[str, float]  # of every algorithm, in the metric's own sign; NaN without runs
    sds: dict[str, float]  # NaN below two runs


@dataclass(frozen=True, slots=True)
class RankedPair(Plain):
    """Two algorithms over all tasks.

    All but what is adjusted depends on the runs of these two alone; but where runs are few,
    the number of algorithms decides by which test they are better on tasks.
    """

    a: str
    b: str
    probability: float  # P(a > b), averaged over tasks
    low: float  # at the confidence level, for this pair alone
    high: float
    pvalue: float | None  # two-sided; None where no number of wins could be evidence
    pvalue_adjusted: float | None
    adjusted_low: float  # at the level that the correction leaves for this pair
    adjusted_high: float
    verdict: Verdict
    winner: Literal["a", "b"] | None
    wins: int  # of replicates on all tasks
    ties: int
    losses: int
    mean_difference: float | None  # a - b over all tasks, where they have one metric
    n_tasks_better: dict[str, int]  # on at least so many tasks, for this pair alone
    n_tasks_better_adjusted: dict[str, int]  # the same, for all pairs at once
    tasks_better: dict[str, tuple[str, ...]] = field(default_factory=dict)  # which, likewise alone
    only_scores_differ: bool = False  # the test tells them apart, but P(a > b) may be 1/2

    @property
    def winner_name(self) -> str | None:
        """Name of the winner."""
        return {"a": self.a, "b": self.b, None: None}[self.winner]


@dataclass(frozen=True, slots=True)
class Aggregates(Plain):
    """Normalised scores over all tasks."""

    JSON = "normalize algorithms"

    normalize: Normalization
    names: tuple[str, ...]
    scores: AggregateScores = field(repr=False)
    profiles: PerformanceProfiles = field(repr=False)

    @property
    def algorithms(self) -> list[dict[str, Any]]:
        """Every algorithm's numbers, each with its interval."""
        return [
            {"name": name, **{each: self._pick(each, place) for each in _SUMMARIES}}
            for place, name in enumerate(self.names)
        ]

    def _pick(self, summary: str, place: int) -> dict[str, float]:
        bounds = getattr(self.scores, summary)
        return {part: float(getattr(bounds, part)[place]) for part in ("estimate", "low", "high")}


@dataclass(frozen=True, slots=True)
class Ranking(Result):
    """Many algorithms over many tasks."""

    JSON = (
        "question why scope algorithms tasks pairs friedman=_friedman nemenyi=_nemenyi "
        "skillings_mack aggregates baseline correction test task_test gamma alpha level families "
        "caveats"
    )

    algorithms: tuple[RankedAlgorithm, ...]  # the best mean rank first
    tasks: tuple[RankedTask, ...]
    pairs: tuple[RankedPair, ...] = field(repr=False)
    tasks_are: TasksAre
    why: str  # it is about these tasks, or tasks like these
    scope: Scope
    test: str  # that gave the p-values of pairs
    task_test: str  # that said who may be the best on a task
    correction: Correction
    gamma: float
    alpha: float
    baseline: str | None = None
    friedman: FriedmanTest | None = None
    nemenyi: NemenyiTest | None = None
    skillings_mack: SkillingsMackTest | None = None
    aggregates: Aggregates | None = None
    families: dict[str, str] | None = None  # of tasks
    n_units: int = 0  # tasks, or families of them
    scores: tuple[FloatArray, ...] = field(default=(), repr=False, compare=False)
    caveats: tuple[str, ...] = ()

    @property
    def question(self) -> Question:
        """What it is about."""
        return "these tasks" if self.tasks_are == "fixed" else "tasks like these"

    @property
    def data(self) -> str:
        """Data that it is about, where runs divide those of a task anew; "" where they do not."""
        if self.beyond_data:
            return "for data like these"
        anew = self.tasks_are == "fixed" and self.scope.divides_anew
        return "on these data" if anew else ""

    @property
    def beyond_data(self) -> bool:
        """Whether it is about data like these, not about these alone."""
        return self.task_test == LIKE_THESE

    @property
    def level(self) -> float:
        """Level that p-values of the test are held to, which is stricter about data like these."""
        return cautious_alpha(self.alpha) if self.beyond_data else self.alpha

    @property
    def names(self) -> tuple[str, ...]:
        """Algorithms, the best mean rank first."""
        return tuple(algorithm.name for algorithm in self.algorithms)

    @property
    def metric(self) -> str:
        """Metric of all tasks; "" where they differ."""
        metrics = {task.metric for task in self.tasks}
        return metrics.pop() if len(metrics) == 1 else ""

    def find_pair(self, a: str, b: str) -> RankedPair | None:
        """Look a pair up, in the order in which it is kept."""
        return next((pair for pair in self.pairs if {pair.a, pair.b} == {a, b}), None)

    @property
    def differing(self) -> list[RankedPair]:
        """Pairs that are told apart."""
        return [pair for pair in self.pairs if pair.winner]

    @property
    def tables(self) -> Sequence[Table | str]:
        """Means of every task, with marks; ranks; pairs."""
        return tabulate_ranking(self)

    @property
    def advice(self) -> str:
        """The one thing that would tell most."""
        together = {frozenset((pair.a, pair.b)) for pair in self.pairs if not pair.winner}
        if not together:
            return "`--format latex` writes the table for a paper, `--plot` draws it."
        if self.tasks_are == "sampled":
            return "more tasks tell more apart; more runs on these tasks hardly do."
        first = next(each for each in combinations(self.names, 2) if frozenset(each) in together)
        two = f"`outperform compare RUNS {shlex.join(first)}` says more about these two"
        if self.beyond_data:
            return (
                f"more data tell more apart; more than about 30 splits of these hardly do. {two}."
            )
        where = f" {self.data}" if self.data else ""
        return f"more runs tell more apart{where}: `outperform plan` says how many; {two}."

    @property
    def scope_hint(self) -> str:
        """Why it is about these tasks, or about tasks like these."""
        return f" ({self.why})"

    @property
    def mood(self) -> Mood | None:
        """It is open as long as nothing is told apart."""
        return None if self.differing else "open"

    def __str__(self) -> str:
        describe_first = _describe_first_ranks if self.tasks_are == "sampled" else _describe_best
        data = f" {self.data}" if self.data and self.differing else ""
        return f"{describe_first(self)}; {_describe_pairs(self)}{data}."

    @property
    def _friedman(self) -> dict[str, Any] | None:
        if self.friedman is None:
            return None
        right, plain = self.friedman.corrected, self.friedman.uncorrected
        return {
            "statistic": right.chi2,
            "pvalue": right.chi2_pvalue,
            "statistic_without_ties": plain.chi2,
            "f": right.f,
            "f_pvalue": right.f_pvalue,
            "f_without_ties": plain.f,
        }

    @property
    def _nemenyi(self) -> dict[str, Any] | None:
        if self.nemenyi is None:
            return None
        return {"critical_difference": self.nemenyi.critical_difference}


def _describe_best(ranking: Ranking) -> str:
    """Who may be the best on how many of these tasks."""
    n, k = len(ranking.tasks), len(ranking.algorithms)
    most = max(algorithm.n_tasks_maybe_best for algorithm in ranking.algorithms)
    names = [each.name for each in ranking.algorithms if each.n_tasks_maybe_best == most]
    where = f" on {_count_tasks(most, n)}" if n > 1 else ""
    if most == n and len(names) == k:
        return f"{'Both' if k == 2 else f'Any of the {k} algorithms'} may be the best{where}"
    if n == 1 and ranking.tasks[0].name:
        where = f" on {ranking.tasks[0].name}"
    if n == 1 and len(names) == 1:
        # Its pairs must say so too, which ask more than marks.
        own = [pair for pair in ranking.pairs if names[0] in (pair.a, pair.b)]
        is_best = all(pair.winner_name == names[0] for pair in own)
        return f"{names[0]} {'is' if is_best else 'alone may be'} the best of {k}{where}"
    alone = ", each task by itself" if n > 1 else ""
    return f"{_name_some(names)} may be the best{where}{alone}"


def _describe_first_ranks(ranking: Ranking) -> str:
    """Who may rank first on tasks like these."""
    first = [a.name for a in ranking.algorithms if a.rank_low == 1]
    alone = "ranks first"
    if not first:  # with gaps, only pairs tell
        beaten = {pair.b if pair.winner == "a" else pair.a for pair in ranking.differing}
        first = [name for name in ranking.names if name not in beaten] or [*ranking.names]
        alone = "alone may rank first"
    if len(first) == 1:
        return f"{first[0]} {alone} of {len(ranking.algorithms)} on tasks like these"
    if len(first) == len(ranking.algorithms):
        return f"Any of the {len(first)} algorithms may rank first on tasks like these"
    return f"{_name_some(first)} may rank first on tasks like these"


def _describe_pairs(ranking: Ranking) -> str:
    """How many differ; with a baseline, who beats it, on at least how many tasks."""
    n_differing, n = len(ranking.differing), len(ranking.pairs)
    if ranking.baseline is None:
        if n == 1:
            if ranking.pairs[0].only_scores_differ:
                return "their scores differ, but wins do not bear it out"
            winner = ranking.pairs[0].winner_name
            return f"{winner} beats the other" if winner else "no difference is shown"
        if not n_differing:
            return f"none of {n} pairs has a winner"
        return f"{n_differing} of {n} pairs {'differs' if n_differing == 1 else 'differ'}"
    better, where = [pair.a for pair in ranking.pairs if pair.winner == "a"], ""
    if ranking.tasks_are == "fixed" and len(ranking.tasks) > 1:
        counts = {pair.a: pair.n_tasks_better_adjusted["a"] for pair in ranking.pairs}
        most = max(counts.values())
        where = " over all tasks, though on no single one for sure"
        if most:
            better = [name for name, count in counts.items() if count == most]
            at_least = "at least " if most < len(ranking.tasks) else ""
            where = f" on {at_least}{_count_tasks(most, len(ranking.tasks))}"
    if better:
        beat = "beat" if len(better) > 1 else "beats"
        return f"{_name_some(better)} {beat} {ranking.baseline}{where}"
    n_beaten = sum(pair.winner == "b" for pair in ranking.pairs)
    beaten = f", which beats {n_beaten} of {n} others" if n_beaten else ""
    return f"nobody is shown to beat {ranking.baseline}{beaten}"


def _count_tasks(n: int, total: int) -> str:
    if n == total:
        return "both tasks" if n == 2 else f"all {n} tasks"
    return f"{n} of {total} tasks"


def _name_some(names: list[str]) -> str:
    if len(names) <= _MOST_NAMES + 1:
        return join_words(names)
    return f"{', '.join(names[:_MOST_NAMES])} and {len(names) - _MOST_NAMES} others"
