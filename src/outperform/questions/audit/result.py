"""Audits of a comparison, and of one algorithm with itself: verdict, tables and advice."""

import math
import shlex
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from outperform.plain_values import Plain
from outperform.questions.compare.result import Comparison
from outperform.questions.result import Mood, Result, Table
from outperform.runs import Goal
from outperform.runs.scope import UNKNOWN, Scope
from outperform.stats import PickedRuns, SubsetShares, VerdictRule
from outperform.stats.checks import FloatArray
from outperform.stats.outperforming import count_wins
from outperform.wording import describe_goal, shorten_apart

AuditVerdict = Literal["robust", "fragile", "undecided"]
MOODS: dict[AuditVerdict, Mood] = {"robust": "good", "fragile": "bad", "undecided": "open"}
MILESTONES = (3, 5, 10, 25)  # sizes of seed sets that papers use
PICKED = ("difference", "Cohen's d", "gap", "t: p", "B–M: p")  # what _format_picked gives
_ONE_IN = 10  # runs: a conclusion that hiding so few undoes is fragile
_LARGEST_PROMISE = 10_000  # pairs that are suggested at most


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


def suggest_after(result: Audit) -> str:
    """Say what to do after an audit, in one sentence or two."""
    if result.verdict == "undecided":
        return f"{result.comparison.advice} Take the seeds in sequence, and leave none out."
    if result.verdict == "robust":
        here = ", as one on this dataset only"
        only = here if result.comparison.holds_for_population is False else ""
        return (
            f"Report the verdict with every seed{only}, and put the figure of this audit in the "
            "appendix: --plot audit.pdf."
        )
    needed = _pairs_until_robust(result)
    promise = (
        f": about {needed:,} pairs would make a share of wins as here robust" if needed else ""
    )
    return f"Add seeds in sequence, and leave none out{promise}. Until then, call it fragile."


def suggest_after_tasks(weakest: Audit, verdict: str) -> str:
    """Say what to do after an audit of several tasks."""
    task = shlex.quote(weakest.comparison.task)
    if verdict == "robust":
        return "Report every task with every seed, and put this table in the appendix."
    return (
        f"See all of one task with --on, for instance --on {task}; add seeds in sequence where a "
        "verdict is fragile or undecided, leave none out, and report every task."
    )


def _pairs_until_robust(result: Audit) -> int | None:
    """Pairs that would be robust if the same share of them were won."""
    comparison = result.comparison
    if not comparison.paired:
        return None
    a, b = comparison.higher
    wins, ties, n = count_wins(*((a, b) if comparison.winner == "a" else (b, a)))
    rule, pairs = claim_rule(comparison), n
    while pairs <= _LARGEST_PROMISE:
        pairs = max(pairs + 1, int(1.05 * pairs))
        hidden = count_tenth(pairs)
        won, tied = int(wins * pairs / n), int(ties * pairs / n)
        if won > hidden and rule.holds(won - hidden, tied, pairs - hidden):
            return pairs
    return None


def claim_rule(comparison: Comparison) -> VerdictRule:
    """The rule that the claim was made by, or would be: too little to matter is a claim too."""
    small = comparison.verdict == "significant, not meaningful"
    method: Any = comparison.interval.method if comparison.paired else "exact"
    return VerdictRule(
        comparison.interval.confidence_level, 0.5 if small else comparison.gamma, method
    )


def count_tenth(n: int) -> int:
    """A tenth of the runs, rounded up.

    Examples
    --------
    >>> count_tenth(8), count_tenth(30), count_tenth(31)
    (1, 3, 4)
    """
    return -(-n // _ONE_IN)


def tabulate_audit(result: Audit) -> list[Table | str]:
    """How few runs undo the verdict, how seed sets conclude, and what picked runs would show."""
    return [
        str(result.comparison),
        _tabulate_hidden(result),
        _tabulate_sets(result),
        _tabulate_picked(result),
    ]


def _tabulate_hidden(result: Audit) -> Table:
    """How few runs must be hidden to make or undo each conclusion, by every rule."""
    rules = list(dict.fromkeys(hiding.rule for hiding in result.hidden))
    cells = {(hiding.what, hiding.rule): str(hiding) for hiding in result.hidden}
    whats = dict.fromkeys(hiding.what for hiding in result.hidden)
    header = [
        f"fewest of {result.n_runs} {result.unit} to hide until",
        *(f"by {rule}" for rule in rules),
    ]
    return Table(header, [[what, *(cells[what, rule] for rule in rules)] for what in whats])


def _tabulate_sets(result: Audit) -> Table:
    """Shares of random seed sets that find either side better, by every rule."""
    a, b = short_names(result)
    largest = int(result.sets[0].sizes[-1])
    sizes = [*(n for n in MILESTONES if n < largest), largest]
    error = max(float(shares.error.max()) for shares in result.sets)
    title = (
        f"Random seed sets of n {result.unit}: share that finds {a} / {b} better "
        f"(α = {result.comparison.alpha:.2g}; ± {error:.1%} where drawn)"
    )
    header = ["n", *(shares.rule for shares in result.sets)]
    rows = [[str(n), *(_format_shares(each, n) for each in result.sets)] for n in sizes]
    return Table(header, rows, title)


def _format_shares(shares: SubsetShares, n: int) -> str:
    place = shares.sizes.tolist().index(n)
    return f"{shares.share_a[place]:.1%} / {shares.share_b[place]:.1%}"


def _tabulate_picked(result: Audit) -> Table:
    a, b = short_names(result)
    rows = [
        (f"best and worst of {a}", result.within[0]),
        (f"best and worst of {b}", result.within[1]),
        (f"best of {a}, worst of {b}", result.between[0]),
        (f"best of {b}, worst of {a}", result.between[1]),
    ]
    if result.same_seeds:
        names = [f"same seeds, picked for {name}" for name in (a, b)]
        rows += zip(names, result.same_seeds, strict=True)
    return Table(
        ["", *PICKED, "significant up to"],
        [[label, *summarise(picked, result.comparison.alpha)] for label, picked in rows],
        f"What {_near_five(result.between[0])} runs of each, picked by score, would show",
        explain_picked(result.between[0]),
    )


def short_names(result: Audit) -> list[str]:
    """Names of both algorithms, short and different."""
    return shorten_apart([result.comparison.a, result.comparison.b], 14)


def _near_five(picked: PickedRuns) -> int:
    return int(picked.sizes[np.abs(picked.sizes - 5).argmin()])


def summarise(picked: PickedRuns, alpha: float) -> list[str]:
    """What about five picked runs show, and up to how many do."""
    place = picked.sizes.tolist().index(_near_five(picked))
    largest = picked.largest_significant(alpha)
    return [*_format_picked(picked, place), f"{largest} runs" if largest else "never"]


def tabulate_alone(result: SelfAudit) -> Table:
    """How the n best runs of an algorithm differ from its n worst."""
    picked = result.picked
    sizes = picked.sizes.tolist()
    rows = [
        [str(n), *_format_picked(picked, sizes.index(n))]
        for n in (*MILESTONES, 50, 75, 90)
        if n in sizes
    ]
    title = f"{result.metric}, {describe_goal(result.goal)}"
    return Table(["n best and worst", *PICKED], rows, title, explain_picked(picked))


def explain_picked(picked: PickedRuns) -> str:
    """What the columns of picked runs mean."""
    return (
        f"  gap: between the {picked.confidence_level:.1%} intervals of the two means, negative "
        "where they overlap\n"
        "  B–M: Brunner–Munzel by its t approximation, too liberal with fewer than about 10 runs"
    )


def _format_picked(picked: PickedRuns, place: int) -> list[str]:
    """What the picked runs of one size show."""
    return [
        f"{picked.difference[place]:+.3g}",
        f"{picked.effect_size[place]:.3g}",
        f"{picked.gap[place]:+.3g}",
        _format_pvalue(picked.t_pvalue[place]),
        _format_pvalue(picked.rank_pvalue[place]),
    ]


def _format_pvalue(pvalue: float) -> str:
    return f"{pvalue:.2g}" if pvalue >= 1e-10 else "< 1e-10"
