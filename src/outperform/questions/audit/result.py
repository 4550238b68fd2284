"""The results of an audit: of a comparison, and of one algorithm with itself."""

import math
from dataclasses import dataclass, field
from typing import Literal

from outperform.plain_values import Plain
from outperform.questions.audit.advice import count_tenth, suggest_after
from outperform.questions.audit.table import tabulate_alone, tabulate_audit
from outperform.questions.compare.result import Comparison
from outperform.questions.result import Mood, Result, Table
from outperform.runs import Goal
from outperform.runs.scope import UNKNOWN, Scope
from outperform.stats import PickedRuns, SubsetShares
from outperform.stats.checks import FloatArray

AuditVerdict = Literal["robust", "fragile", "undecided"]
MOODS: dict[AuditVerdict, Mood] = {"robust": "good", "fragile": "bad", "undecided": "open"}


@dataclass(frozen=True, slots=True)
class Hiding(Plain):
    """Fewest runs to hide until the others show something else."""

    what: str  # they then show
    rule: str  # that it is concluded by
    n: int | None  # None if no number does
    exact: bool  # else fewer may do

    def __str__(self) -> str:
        if self.n is None:
            return "no number" if self.exact else "none found"
        if self.n == 0:
            return "already so"
        return f"{self.n}" if self.exact else f"≤ {self.n}"


@dataclass(frozen=True, slots=True)
class Audit(Result):
    """How far picking seeds could move the conclusion of a comparison.

    Attributes
    ----------
    hidden
        First the fewest runs to hide until the verdict no longer holds, or until there is one.
    within, between, same_seeds
        What picked runs show, in favour of a and in favour of b: best against worst of one
        algorithm, best of one against worst of the other, and the seeds with the largest
        differences; the last is empty for runs that are not paired.
    sets
        How random seed sets conclude, by one rule each; that of the verdict first.
    """

    JSON = (
        "verdict scope comparison n_runs hidden within=_within between=_between "
        "same_seeds=_same_seeds sets caveats"
    )

    comparison: Comparison
    hidden: tuple[Hiding, ...]
    within: tuple[PickedRuns, PickedRuns] = field(repr=False)
    between: tuple[PickedRuns, PickedRuns] = field(repr=False)
    same_seeds: tuple[PickedRuns, ...] = field(repr=False)
    sets: tuple[SubsetShares, ...] = field(repr=False)
    caveats: tuple[str, ...] = ()

    @property
    def verdict(self) -> AuditVerdict:
        """Robust, fragile or, where no side outperforms the other, undecided.

        Robust: hiding a tenth of the runs (rounded up), whichever, leaves the conclusion standing.
        """
        if self.comparison.winner is None:
            return "undecided"
        n_undo = self.hidden[0].n
        survives = n_undo is None or n_undo > count_tenth(self.n_runs)
        return "robust" if survives else "fragile"

    @property
    def scope(self) -> Scope:
        """What varied, and what the verdict is about for that reason."""
        return self.comparison.scope

    @property
    def n_runs(self) -> int:
        """Runs that can be hidden: pairs, or those of both algorithms together."""
        comparison = self.comparison
        return comparison.scores_a.size + (0 if comparison.paired else comparison.scores_b.size)

    @property
    def easiest_move(self) -> Hiding:
        """What the fewest hidden runs do by the verdict's rule: undo it, or make one."""
        if self.verdict != "undecided":
            return self.hidden[0]
        ways = [hiding for hiding in self.hidden if hiding.rule == self.hidden[0].rule]
        return min(ways, key=lambda hiding: math.inf if hiding.n is None else hiding.n)

    @property
    def share_to_move(self) -> float:
        """Share of the runs that this takes; infinite if no number does."""
        n = self.easiest_move.n
        return math.inf if n is None else n / self.n_runs

    @property
    def unit(self) -> str:
        """What is hidden as one."""
        return "pairs" if self.comparison.paired else "runs"

    def __str__(self) -> str:
        claim, first = self.comparison.claim, self.hidden[0]
        start = f"{self.verdict.capitalize()}: "
        if self.verdict == "undecided":
            claim = claim.replace("No difference", "no difference", 1)
            return f"{start}{claim}{self._tell_what_could_be_shown()}."
        # A claim that does not hold for data like these has two parts: what is undone is the first.
        undone = "that" if self.comparison.holds_for_population in (None, True) else "the first"
        of = f"of {self.n_runs} {self.unit}"
        if first.n is None:
            return f"{start}{claim}, however many {of} are hidden."
        if self.verdict == "robust":
            number = f"{'' if first.exact else 'at most '}{first.n}"
            return f"{start}{claim}; it takes {number} {of} hidden to undo {undone}."
        return f"{start}{claim}, but hiding {first.n} {of} is enough to undo {undone}."

    def _tell_what_could_be_shown(self) -> str:
        ways = [
            (hiding.n, f"that {hiding.what}")
            for hiding in self.hidden
            if hiding.rule == self.hidden[0].rule and hiding.n is not None
        ]
        if not ways:
            found = "" if self.hidden[0].exact else " from the ends"
            return f", whichever of {self.n_runs} {self.unit} are hidden{found}"
        (number, what), *others = ways
        also = "".join(f", {number} {what}" for number, what in others)
        return f"; hiding {number} of {self.n_runs} {self.unit} would show {what}{also}"

    @property
    def mood(self) -> Mood:
        """Good news if nobody can undo it."""
        return MOODS[self.verdict]

    @property
    def tables(self) -> list[Table | str]:
        """Runs to hide, random seed sets, picked runs."""
        return tabulate_audit(self)

    @property
    def advice(self) -> str:
        """What to do next."""
        return suggest_after(self)

    @property
    def scope_hint(self) -> str:
        """As of the comparison."""
        return self.comparison.scope_hint

    @property
    def _within(self) -> dict[str, PickedRuns]:
        return _by_side(self.within)

    @property
    def _between(self) -> dict[str, PickedRuns]:
        return _by_side(self.between)

    @property
    def _same_seeds(self) -> dict[str, PickedRuns]:
        return _by_side(self.same_seeds)


@dataclass(frozen=True, slots=True)
class SelfAudit(Result):
    """How different from itself an algorithm can be made to look by picking its runs."""

    JSON = (
        "algorithm task metric goal scope n_runs=scores.size mean sd alpha n_fooled picked caveats"
    )
    ADVICE = (
        "Fix the seeds before the first run, 0, 1, 2, …, and report every one of them; "
        "`outperform plan` says how many."
    )

    algorithm: str
    scores: FloatArray = field(repr=False, compare=False)
    goal: Goal
    picked: PickedRuns = field(repr=False)  # the best against the worst n
    alpha: float
    metric: str = "score"
    task: str = ""
    scope: Scope = UNKNOWN
    caveats: tuple[str, ...] = ()

    @property
    def n_fooled(self) -> int:
        """Most runs that can be picked for both sides so that both tests find a difference."""
        return self.picked.largest_significant(self.alpha)

    def __str__(self) -> str:
        place = int(abs(self.picked.sizes - 5).argmin())
        n, total = int(self.picked.sizes[place]), self.scores.size
        task = f" on {self.task}" if self.task else ""
        size = (
            f"{self.algorithm}{task}: picked by score, the best {n} of {total} runs are "
            f"{self.picked.difference[place]:.3g} better than the worst {n} "
            f"(Cohen's d = {self.picked.effect_size[place]:.3g})"
        )
        if not self.n_fooled:
            return f"{size}, which is not significant (α = {self.alpha:.2g})."
        return (
            f"{size}; best and worst differ significantly up to {self.n_fooled} of {total} runs "
            f"each (α = {self.alpha:.2g})."
        )

    @property
    def tables(self) -> list[Table | str]:
        """What picked runs would show."""
        return [tabulate_alone(self)]

    @property
    def mean(self) -> float:
        """Mean of all runs."""
        return float(self.scores.mean())

    @property
    def sd(self) -> float:
        """Standard deviation of all runs."""
        return float(self.scores.std(ddof=1))


def _by_side(picked: tuple[PickedRuns, ...]) -> dict[str, PickedRuns]:
    return dict(zip("ab", picked, strict=False))  # runs that are not paired have no such seeds
