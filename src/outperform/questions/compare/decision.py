"""The result of running a study until two of its pipelines are decided."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from outperform.plain_values import Plain
from outperform.questions.compare.result import Comparison
from outperform.questions.compare.task_results import TaskComparisons
from outperform.questions.compare.verdict import Winner
from outperform.questions.result import Result, Table
from outperform.runs.scope import Scope
from outperform.stats import anytime_interval, may_still_win

# One is better; an advantage that matters is ruled out for both; neither can win any more; or all
# replicates are done.
Outcome = Literal["decided", "ruled out", "futile", "undecided"]


@dataclass(frozen=True, slots=True)
class Look(Plain):
    """What the anytime-valid interval said after so many replicates."""

    JSON = "n_replicates verdict=comparison.verdict winner_name=comparison.winner_name sentence"

    n_replicates: int
    comparison: Comparison | TaskComparisons = field(repr=False)

    @property
    def sentence(self) -> str:
        """What it said."""
        return str(self.comparison)

    def __str__(self) -> str:
        return f"{self.n_replicates} replicates: {self.sentence}"


@dataclass(frozen=True, slots=True)
class Decision(Result):
    """Whether `a` and `b` were decided, for whom, and after how many replicates."""

    JSON = "a b outcome winner winner_name n_replicates n_allowed gamma scope looks caveats"

    a: str
    b: str
    looks: tuple[Look, ...]  # after every one, the study would have been stopped had it decided
    n_allowed: int  # replicates that the study allows
    source: str  # address of the store that they are in

    @property
    def comparison(self) -> Comparison | TaskComparisons:
        """The last look."""
        return self.looks[-1].comparison

    @property
    def n_replicates(self) -> int:
        """Replicates at the last look."""
        return self.looks[-1].n_replicates

    @property
    def gamma(self) -> float:
        """Smallest chance to win that matters."""
        return self._parts[0].gamma

    @property
    def outcome(self) -> Outcome:
        """What ended the run."""
        n_left = self.n_allowed - self.n_replicates
        outcomes = {judge_task(part, n_left, self._count_gaps(part)) for part in self._parts}
        for outcome in ("undecided", "futile", "ruled out"):
            if outcome in outcomes:
                return outcome
        return "decided"

    @property
    def winner(self) -> Winner | None:
        """Who is better on every task, if anyone."""
        return self.comparison.winner

    @property
    def winner_name(self) -> str | None:
        """What the user calls the winner."""
        return self.comparison.winner_name

    @property
    def exit_status(self) -> int:
        """Status that a command ends with, like that of a gate: 3 where nothing was decided."""
        return 0 if self.outcome in ("decided", "ruled out") else 3

    @property
    def scope(self) -> Scope:
        """What varied, and what this is about for that reason."""
        return self.comparison.scope

    @property
    def tables(self) -> Sequence[Table]:
        """What every look said."""
        rows = [[str(look.n_replicates), look.sentence] for look in self.looks]
        return [Table((), rows, title="After so many replicates:")]

    @property
    def advice(self) -> str:
        """How to see all of the last look."""
        # A pair of which a run failed is left out of every look; `compare` must be told to.
        dropping = " --drop-incomplete" if any(map(self._count_gaps, self._parts)) else ""
        return f"outperform compare {self.source} {self.a} {self.b} --sequential{dropping}"

    @property
    def caveats(self) -> tuple[str, ...]:
        """Reasons for doubt."""
        gaps = ((part, self._count_gaps(part)) for part in self._parts)
        return (*self.comparison.caveats, *filter(None, (_doubt_gaps(*each) for each in gaps)))

    @property
    def reason(self) -> str:
        """Why no more replicates were run."""
        return {
            "decided": f"{self.a} and {self.b} were decided",
            "ruled out": (
                f"an advantage of {self.a} or {self.b} as large as γ = {self.gamma:g} was ruled out"
            ),
            "futile": f"neither {self.a} nor {self.b} could win any more",
            "undecided": "all replicates were done",
        }[self.outcome]

    def __str__(self) -> str:
        after = (
            f"after {self.n_replicates} of the {self.n_allowed} replicates that the study allows"
        )
        if self.outcome == "decided":
            return _describe_decision(self._parts, self.winner_name, after)
        if self.outcome == "ruled out":
            return f"Decided {after}: {self.reason}."
        if self.outcome == "futile":
            return f"Undecided: {self.reason} {after}."
        pair = f"{self.a} and {self.b}"
        return (
            f"Undecided between {pair} after all {self.n_allowed} replicates that the study allows."
        )

    @property
    def _parts(self) -> tuple[Comparison, ...]:
        result = self.comparison
        return result.comparisons if isinstance(result, TaskComparisons) else (result,)

    def _count_gaps(self, part: Comparison) -> int:
        """Pairs of a task that are incomplete."""
        return self.n_replicates - part.n_pairs


def judge_task(comparison: Comparison, n_left: int, n_gaps: int = 0) -> Outcome:
    """What is to be expected of one task, with so many pairs to come at most.

    The bounds of the anytime-valid interval hold whenever one looks, so that all of this may be
    asked after every look. Either side might have won all pairs that are incomplete.
    """
    if comparison.winner is not None:
        return "decided"
    if _rules_out(comparison, n_gaps):
        return "ruled out"
    n, alpha = comparison.n_pairs, comparison.alpha
    chances = (comparison.probability, comparison.reverse_probability)
    if n_left and not any(may_still_win(p * n, n, n_left + n_gaps, alpha=alpha) for p in chances):
        return "futile"
    return "undecided"


def _rules_out(comparison: Comparison, n_gaps: int) -> bool:
    """Whether neither side has an advantage of gamma, even had it won all incomplete pairs."""
    n, level = comparison.n_pairs, comparison.interval.confidence_level
    intervals = [comparison.interval, comparison.reverse]
    if n_gaps:
        chances = (comparison.probability, comparison.reverse_probability)
        filled = [(p * n + n_gaps, n + n_gaps) for p in chances]
        intervals += [anytime_interval(*each, confidence_level=level) for each in filled]
    return max(interval.high for interval in intervals) <= comparison.gamma


def _doubt_gaps(comparison: Comparison, n_gaps: int) -> str:
    """Say that only incomplete pairs leave it open whether gamma is ruled out."""
    if judge_task(comparison, 0) != "ruled out" or _rules_out(comparison, n_gaps):
        return ""
    on = f" on {comparison.task}" if comparison.task else ""
    return (
        f"an advantage as large as γ = {comparison.gamma:g}{on} would be ruled out, but not if "
        f"either side had won the {n_gaps} incomplete pair(s): complete them"
    )


def _describe_decision(comparisons: Sequence[Comparison], winner: str | None, after: str) -> str:
    """Say what is decided: never more than this dataset, of which no number of splits tells all."""
    decided = f"Decided for {winner}" if winner else f"Decided on each of {len(comparisons)} tasks"
    known = [comparison for comparison in comparisons if comparison.population is not None]
    if not known:
        return f"{decided} {after}."
    if len(comparisons) > 1:
        n_shown = sum(bool(comparison.holds_for_population) for comparison in known)
        beyond = f"that is shown on {n_shown} of {len(comparisons)} tasks, were this the only look"
        return f"{decided} on these datasets {after}; for other data like them {beyond}."
    population = known[0].population
    assert population is not None
    pvalue = f"p = {population.pvalue:.2g}"
    if known[0].holds_for_population:
        beyond = f"too, were this the only look ({pvalue})"
    else:
        beyond = f"that is not shown ({pvalue})"
        if math.isfinite(population.floor):
            floor = f"{population.floor:.2g}"
            beyond += f", and no number of splits of it shows a difference below {floor}"
    return f"{decided} on this dataset {after}; for other data like it {beyond}."
