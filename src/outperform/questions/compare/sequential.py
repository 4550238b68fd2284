"""Does A outperform B, decided by Wald's test: its rule, its result, and runs replayed by it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr, ndtri

from outperform.errors import InvalidInput, UnpairedScores
from outperform.plain_values import Plain
from outperform.questions.compare.answer import Terms, compare_on_task, make_resplit
from outperform.questions.compare.conclusion import OfTwo, Winner
from outperform.questions.compare.doubts import LUCK, describe_luck
from outperform.questions.compare.result import Comparison
from outperform.questions.result import Table
from outperform.runs import Runs
from outperform.runs.scope import Resplit, Scope
from outperform.stats import (
    OperatingPoint,
    SequentialPath,
    SequentialTest,
    plan_sequential_test,
    trace_path,
)
from outperform.stats.checks import as_pairs
from outperform.store.store import read_runs
from outperform.wording import enumerate_names

_N_LUCKS = 100  # of searches, equally likely
# One is better; an advantage that matters is ruled out for both; or the pairs did not suffice.
Outcome = Literal["decided", "neither", "undecided"]
_LARGE_BETA = 0.2  # above which a miss is no surprise
_OUTCOMES: dict[str, Outcome] = {"a": "decided", "b": "decided", "neither": "neither"}
_PAIR_THEM = (
    "Give every replicate a run of both, name the column that pairs them with --replicate, or pass "
    "--drop-incomplete"
)
_FIXED_BEFORE = (
    "the decision errs as rarely as it says only if its rule, with γ, α and β, was fixed before "
    "anybody looked at these runs; they are taken in the order of {}, of which none may be left out"
)


@dataclass(frozen=True, slots=True)
class SequentialRule(Plain):
    """Wald's test between ½ and gamma for either side, and where it must end."""

    JSON = (
        "gamma alpha beta upper=test.upper lower=test.lower n_max=test.n_max n_last "
        "false_alarms=equals.chance_either power=better.chance_a "
        "expected_pairs=better.expected_pairs expected_pairs_equals=equals.expected_pairs"
    )

    test: SequentialTest
    alpha: float
    beta: float
    n_last: int  # pairs at most: the test's own end, or fewer where fewer are allowed

    @property
    def gamma(self) -> float:
        """Smallest chance to win that matters."""
        return self.test.gamma

    @property
    def is_cut(self) -> bool:
        """Whether fewer pairs are allowed than the test may take."""
        return self.n_last < self.test.n_max

    @property
    def cut(self) -> SequentialTest:
        """The test as it is allowed to go on."""
        return replace(self.test, n_max=self.n_last)

    @property
    def better(self) -> OperatingPoint:
        """What it does, and costs, where the chance to win is gamma."""
        return self.cut.operating(self.gamma)

    @property
    def equals(self) -> OperatingPoint:
        """What it does, and costs, between equals."""
        return self.cut.operating(0.5)

    def false_alarms_after_one_search(self, correlation: float) -> float:
        """How often it decides between equals all of whose pairs share the luck of one search.

        Parameters
        ----------
        correlation
            Share of that luck in the variance of a pair; scores are normal.

        Examples
        --------
        >>> rule = plan_rule(0.75, 0.05, 0.05)
        >>> [round(rule.false_alarms_after_one_search(rho), 3) for rho in (0.0, 0.1)]
        [0.043, 0.322]
        """
        luck = ndtri((np.arange(_N_LUCKS) + 0.5) / _N_LUCKS)
        chances = ndtr(luck * math.sqrt(correlation / (1 - correlation)))
        return self.cut.chance_either_on_average(chances)

    @property
    def words(self) -> str:
        """What it is, in a few words."""
        levels = f"α = {self.alpha:g}, β = {self.beta:g}"
        return f"Wald's test between ½ and γ = {self.gamma:g}, {levels}"

    def __str__(self) -> str:
        cost = (
            f"at most {self.n_last:,} pairs, on average {self.better.expected_pairs:.1f} where one "
            f"wins {self.gamma:.0%} of them and {self.equals.expected_pairs:.1f} between equals"
        )
        if not self.is_cut:
            return f"{self.words}: {cost}"
        return (
            f"{self.words}: {cost}; the test may take {self.test.n_max:,}, and ended after "
            f"{self.n_last:,} its power is {self.better.chance_a:.2f} in place of {1 - self.beta:g}"
        )


def plan_rule(
    gamma: float, alpha: float, beta: float, *, n_allowed: int | None = None
) -> SequentialRule:
    """Plan a sequential test; one that so few pairs as are allowed could never end is refused.

    An earlier end only turns decisions into none, so that a test cut short errs no more often.

    Examples
    --------
    >>> rule = plan_rule(0.75, 0.05, 0.05, n_allowed=40)
    >>> rule.n_last, round(rule.better.chance_a, 2), rule.equals.chance_either < 0.05
    (40, 0.8, True)
    """
    # Levels come as 1 - 0.95, which is not quite 0.05.
    test = plan_sequential_test(gamma, alpha := round(alpha, 12), beta)
    n_last = test.n_max if n_allowed is None else min(n_allowed, test.n_max)
    fewest = math.ceil((test.upper - 1e-9) / math.log(2 * gamma))
    if n_last < fewest:
        raise InvalidInput(
            f"{n_last} pairs can decide nothing between ½ and γ = {gamma:g} (α = {alpha:g}, "
            f"β = {beta:g}): whoever is better must win {fewest} in a row at least",
            f"Let the study have {test.n_max} replicates, which is the most that are needed, or "
            f"{fewest} at the very least; or pass a larger gamma",
        )
    return SequentialRule(test, alpha, beta, n_last)


@dataclass(frozen=True)  # without slots, as the comparison in it
class SequentialComparison(OfTwo):
    """What Wald's test decided between `a` and `b` on one task, pair by pair."""

    JSON = (
        "a b task metric=comparison.metric goal=comparison.goal outcome winner winner_name n_pairs "
        "n_incomplete n_beyond wins losses ties log_ratio_a log_ratio_b rule scope "
        "probability=comparison.probability interval=comparison.interval "
        "mean_a=comparison.mean_a mean_b=comparison.mean_b difference=comparison.difference caveats"
    )

    comparison: Comparison  # of the complete pairs up to the end, by the anytime-valid interval
    path: SequentialPath = field(repr=False)
    rule: SequentialRule
    notes: tuple[str, ...] = ()  # further reasons for doubt

    @property
    def a(self) -> str:
        """Name of the first algorithm."""
        return self.comparison.a

    @property
    def b(self) -> str:
        """Name of the second algorithm."""
        return self.comparison.b

    @property
    def task(self) -> str:
        """Where they were compared."""
        return self.comparison.task

    @property
    def outcome(self) -> Outcome:
        """What was decided."""
        return _OUTCOMES.get(self.path.call, "undecided")

    @property
    def winner(self) -> Winner | None:
        """Who is better, if anyone."""
        return self.path.call if self.path.call in ("a", "b") else None

    @property
    def n_pairs(self) -> int:
        """Pairs until the end, incomplete ones included."""
        return self.path.n_pairs

    @property
    def n_beyond(self) -> int:
        """Pairs at hand after the end, which decide nothing."""
        return self.path.n_beyond

    @property
    def wins(self) -> int:
        """Pairs that `a` won."""
        return int(self.path.counts[0, -1])

    @property
    def losses(self) -> int:
        """Pairs that `b` won."""
        return int(self.path.counts[1, -1])

    @property
    def ties(self) -> int:
        """Pairs that are tied."""
        return int(self.path.counts[2, -1])

    @property
    def n_incomplete(self) -> int:
        """Pairs until the end of which a run is missing or failed."""
        return int(self.path.counts[3, -1])

    @property
    def log_ratio_a(self) -> float:
        """Log ratio for `a` at the end, had it lost every incomplete pair."""
        return float(self.path.log_ratios[0, 0, -1])

    @property
    def log_ratio_b(self) -> float:
        """Log ratio for `b` at the end, had it lost every incomplete pair."""
        return float(self.path.log_ratios[1, 0, -1])

    @property
    def scope(self) -> Scope:
        """What varied, and what this is about for that reason."""
        return self.comparison.scope

    @property
    def decided(self) -> str:
        """What was decided, where and after how many pairs, in a few words."""
        on = f" on {self.task}" if self.task else ""
        on += ", each tuned once," if self.scope.tuned_once else ""
        after = f"{on} after {self.n_pairs} pairs"
        if self.winner:
            return f"Decided for {self.winner_name}{after}"
        if self.outcome == "neither":
            return f"Decided for neither {self.a} nor {self.b}{after}"
        return f"Undecided between {self.a} and {self.b}{after}"

    @property
    def chance(self) -> str:
        """P(A>B) with the interval that holds whenever one stops, the winner first."""
        return self.comparison.describe_chance(self.winner)

    def __str__(self) -> str:
        why = ":"
        if self.outcome == "neither":
            why = f": an advantage of either as large as γ = {self.rule.gamma:g} is ruled out;"
        elif self.path.call == "unknown":
            why = f", as it depends on incomplete pairs ({self.n_incomplete}):"
        anew = self.comparison.claim_tuned_anew
        return f"{self.decided}{why} {self.chance} ({self.rule.words}){anew}."

    @property
    def tables(self) -> list[Table | str]:
        """The test and what it costs, then means, difference and P(A>B)."""
        test, rule = self.rule.test, self.rule
        counts = f"{self.wins} won by {self.a}, {self.losses} by {self.b}, {self.ties} tied"
        gaps = f", {self.n_incomplete} incomplete" if self.n_incomplete else ""
        rows = [
            (f"log ratio for {self.a}", f"{self.log_ratio_a:+.2f}"),
            (f"log ratio for {self.b}", f"{self.log_ratio_b:+.2f}"),
            ("ends at", f"{test.upper:+.2f} of one, which wins, or {test.lower:+.2f} of both"),
            ("pairs", f"{self.n_pairs}: {counts}{gaps}"),
            ("pairs at most", f"{rule.n_last}"),
            (f"  on average at {rule.gamma:g}", f"{rule.better.expected_pairs:.1f}"),
            ("  on average, equals", f"{rule.equals.expected_pairs:.1f}"),
        ]
        return [Table((), rows, title=f"{rule.words}:"), *self.comparison.tables]

    @property
    def caveats(self) -> tuple[str, ...]:
        """Reasons for doubt."""
        return (*self.notes, *self._doubt_decision(), *self.comparison.caveats)

    def _doubt_decision(self) -> Iterator[str]:
        if self.winner and self.comparison.rests_on_one_search:
            errs = self.rule.false_alarms_after_one_search(LUCK)
            yield describe_luck(self.winner_name, "this test decides", errs, self.rule.alpha)
        own, other = self.comparison.interval, self.comparison.reverse
        holds = self.outcome == "neither" and max(own.high, other.high) >= self.rule.gamma
        if self.winner:
            holds = (other if self.winner == "b" else own).low <= 0.5
        if holds:  # what the test has decided against
            yield (
                "the interval of P(A>B) holds whenever one stops, by whatever rule, and so is "
                "wider than what this rule decides by"
            )
        if self.outcome == "neither" and self.rule.beta > _LARGE_BETA:
            yield (
                f"an advantage of γ = {self.rule.gamma:g} would have been missed with a chance of "
                f"up to {self.rule.beta:g}, so that little is ruled out"
            )
        if self.n_incomplete:
            incomplete = f"{self.n_incomplete} of {self.n_pairs} pairs are incomplete"
            yield (
                f"{incomplete}, and only what holds whoever had won them is decided: complete them"
                if self.outcome == "undecided"
                else f"{incomplete}: the decision would be the same whoever had won them; the "
                "interval of P(A>B) leaves them out"
            )
        if self.n_beyond:
            yield (
                f"pairs that came after the end of the test: {self.n_beyond}; they count neither "
                "in the decision nor in the interval"
            )

    @property
    def advice(self) -> str:
        """What to do next."""
        if self.path.call == "unknown":
            return "complete the pairs that failed: the others do not decide without them."
        if self.outcome == "undecided":
            more = self.rule.n_last - self.n_pairs
            if more > 0:
                return f"add pairs and look after each, {more} more at most: this test allows it."
            return "report P(A>B) with its interval: this test allows no more pairs."
        if self.comparison.searches is not None and not self.comparison.searches.is_open:
            return (
                "report the decision with its rule, as one of what one search found, and the mean "
                "difference over all searches with its interval."
            )
        report = "report the decision with its rule, the number of pairs, and P(A>B) with its"
        if self.outcome == "neither":
            return f"{report} interval; any further test, with more pairs or without, may err too."
        return f"{report} interval."


def compare_sequentially(
    runs: Any,
    a: str,
    b: str,
    *,
    task: str | None = None,
    drop_incomplete: bool = False,
    gamma: float = 0.75,
    confidence_level: float = 0.95,
    beta: float = 0.05,
    train_size: int | None = None,
    test_size: int | None = None,
) -> SequentialComparison:
    """Replay a sequential test on runs at hand, pair by pair in the order of replicates.

    Parameters
    ----------
    runs, a, b, task, train_size, test_size
        As in `compare_runs`; several tasks are decided one by one.
    drop_incomplete
        Take incomplete pairs for what they are: pairs that either side might have won.
    gamma
        Smallest P(A>B) that matters, which ½ is told from.
    beta
        Accepted chance not to find it.

    Examples
    --------
    >>> runs = {"new": [9, 8, 9, 9, 8, 9, 8, 9, 8, 9], "old": [7, 6, 8, 8, 7, 7, 5, 6, 7, 8]}
    >>> result = compare_sequentially(runs, "new", "old")
    >>> result.winner_name, result.n_pairs, result.n_beyond
    ('new', 9, 1)
    """
    table = runs if isinstance(runs, Runs) else read_runs(runs)
    rule = plan_rule(gamma, 1 - confidence_level, beta)
    tasks = table.tasks_of(a, b) if task is None else (task,)
    if len(tasks) > 1:
        raise InvalidInput(
            f"{table.source} has {len(tasks)} tasks ({enumerate_names(tasks)}), and a sequential "
            "test decides on one",
            "Name it with --on TASK (task= in Python)",
        )
    sizes = make_resplit(train_size, test_size)
    result = follow_runs(
        table, (a, b), tasks[0], rule, sizes=sizes, drop_incomplete=drop_incomplete
    )
    order = "rows" if table.replicates is None else table.replicate_name
    return replace(result, notes=(_FIXED_BEFORE.format(order),))


def follow_runs(
    table: Runs,
    names: tuple[str, str],
    task: str,
    rule: SequentialRule,
    *,
    sizes: Resplit | None = None,
    drop_incomplete: bool = True,
) -> SequentialComparison:
    """Follow the pairs of a table by a rule, on one task."""
    a, b = names
    try:
        scores = table.pair(a, b, task, drop_incomplete=drop_incomplete)
    except UnpairedScores as error:  # a test that looks after every pair needs pairs
        raise UnpairedScores(error.problem, _PAIR_THEM) from None
    first, second = as_pairs(scores.a, scores.b)
    sign = np.sign(second - first if table.goal_on(task) == "minimize" else first - second)
    # 1 where a wins, 0 where b does, ½ where they tie, in the order of replicates; NaN of gaps.
    outcomes = np.full(scores.n_places, np.nan)
    outcomes[scores.places] = (sign + 1) / 2
    path = trace_path(rule.test, outcomes, rule.n_last)
    # What came after the end is left out, but for two, without which nothing is estimated. What is
    # incomplete has been counted against the decision, so nobody is flattered by it.
    n_kept = max(2, int(np.count_nonzero(scores.places < path.n_pairs)))
    seen = replace(
        scores,
        a=scores.a[:n_kept],
        b=scores.b[:n_kept],
        replicates=scores.replicates[:n_kept],
        n_dropped=0,
        lacking=(0, 0),
    )
    terms = Terms(True, rule.gamma, 1 - rule.alpha, interval="anytime", sizes=sizes)
    comparison = compare_on_task(table, seen, names, task, terms)
    return SequentialComparison(comparison, path, rule)
