"""The result of a sequential test: who is better, if anyone, and after how many pairs."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from outperform.questions.compare.doubts import LUCK, describe_luck
from outperform.questions.compare.result import Comparison
from outperform.questions.compare.sequential_rule import SequentialRule
from outperform.questions.compare.table import tabulate_comparison
from outperform.questions.compare.verdict import Winner
from outperform.questions.result import Result, Table
from outperform.runs.scope import Scope
from outperform.stats import SequentialPath

# One is better; an advantage that matters is ruled out for both; or the pairs did not suffice.
Outcome = Literal["decided", "neither", "undecided"]
_LARGE_BETA = 0.2  # above which a miss is no surprise
_OUTCOMES: dict[str, Outcome] = {"a": "decided", "b": "decided", "neither": "neither"}


@dataclass(frozen=True)  # without slots, as the comparison in it
class SequentialComparison(Result):
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
    one_search: bool = False  # whether all pairs share the luck of one search of each side

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
    def winner_name(self) -> str | None:
        """What the user calls the winner."""
        return {"a": self.a, "b": self.b, None: None}[self.winner]

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
    def chance(self) -> str:
        """P(A>B) with the interval that holds whenever one stops, the winner first."""
        c = self.comparison
        if self.winner == "b":
            return f"P({c.b} > {c.a}) = {c.reverse_probability:.3g} {c.reverse}"
        return f"P({c.a} > {c.b}) = {c.probability:.3g} {c.interval}"

    def __str__(self) -> str:
        on = f" on {self.task}" if self.task else ""
        after = f"{on} after {self.n_pairs} pairs"
        by = f"{self.chance} ({self.rule.words})."
        if self.winner:
            return f"Decided for {self.winner_name}{after}: {by}"
        if self.outcome == "neither":
            ruled_out = f"an advantage of either as large as γ = {self.rule.gamma:g} is ruled out"
            return f"Decided for neither {self.a} nor {self.b}{after}: {ruled_out}; {by}"
        why = ""
        if self.path.call == "unknown":
            why = f", as it hangs on {self.n_incomplete} incomplete pair(s)"
        return f"Undecided between {self.a} and {self.b}{after}{why}: {by}"

    @property
    def tables(self) -> list[Table | str]:
        """The test and what it costs, then means, difference and P(A>B)."""
        test, rule = self.rule.test, self.rule
        counts = f"{self.wins} won by {self.a}, {self.losses} by {self.b}, {self.ties} tied"
        gaps = f", {self.n_incomplete} incomplete" if self.n_incomplete else ""
        rows = [
            (f"log ratio for {self.a}", f"{self.log_ratio_a:+.2f}"),
            (f"log ratio for {self.b}", f"{self.log_ratio_b:+.2f}"),
            ("boundaries", f"{test.upper:+.2f} wins; both down to {test.lower:+.2f} is neither"),
            ("pairs", f"{self.n_pairs}: {counts}{gaps}"),
            ("pairs at most", f"{rule.n_last}"),
            (f"  on average at {rule.gamma:g}", f"{rule.better.expected_pairs:.1f}"),
            ("  on average, equals", f"{rule.equals.expected_pairs:.1f}"),
        ]
        return [Table((), rows, title=f"{rule.words}:"), tabulate_comparison(self.comparison)]

    @property
    def caveats(self) -> tuple[str, ...]:
        """Reasons for doubt."""
        return (*self.notes, *self._doubt_search(), *self._doubt_pairs(), *self.comparison.caveats)

    def _doubt_search(self) -> Iterator[str]:
        if self.winner and self.one_search:
            errs = self.rule.false_alarms_after_one_search(LUCK)
            yield describe_luck(self.winner_name, "this test decides", errs, self.rule.alpha)

    @property
    def _decides_more_than_interval(self) -> bool:
        """Whether the interval still holds what the test has decided against."""
        own, other = self.comparison.interval, self.comparison.reverse
        if self.winner:
            return (other if self.winner == "b" else own).low <= 0.5
        return self.outcome == "neither" and max(own.high, other.high) >= self.rule.gamma

    def _doubt_pairs(self) -> Iterator[str]:
        if self._decides_more_than_interval:
            yield (
                "the interval of P(A>B) holds whenever one stops, by whatever rule, and so is "
                "wider than what this rule decides by"
            )
        if self.outcome == "neither" and self.rule.beta > _LARGE_BETA:
            yield (
                f"an advantage of γ = {self.rule.gamma:g} would have been missed with a chance of "
                f"up to {self.rule.beta:g}, so that little is ruled out"
            )
        if self.n_incomplete and self.outcome != "undecided":
            yield (
                f"{self.n_incomplete} of {self.n_pairs} pairs are incomplete: the decision would "
                "be the same whoever had won them; the interval of P(A>B) leaves them out"
            )
        if self.n_incomplete and self.outcome == "undecided":
            yield (
                f"{self.n_incomplete} of {self.n_pairs} pairs are incomplete, and only what holds "
                "whoever had won them is decided: complete them"
            )
        if self.n_beyond:
            yield (
                f"{self.n_beyond} pair(s) came after the end of the test, and are not counted: not "
                "in the decision, not in the interval"
            )

    @property
    def advice(self) -> str:
        """What to do next."""
        if self.path.call == "unknown":
            return "Complete the pairs that failed: the others do not decide without them."
        if self.outcome == "undecided":
            more = self.rule.n_last - self.n_pairs
            if more > 0:
                return f"Add pairs and look after each, {more} more at most: this test allows it."
            return "Report P(A>B) with its interval: this test allows no more pairs."
        return (
            "Report the decision with its rule, the number of pairs, and P(A>B) with its interval."
        )
