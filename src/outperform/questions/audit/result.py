"""Audits of a comparison, and of one algorithm with itself: verdict, tables and advice."""

import math
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from outperform.plain_values import Plain
from outperform.questions.compare.conclusion import Winner
from outperform.questions.compare.missing_runs import TwoSides, take_worst
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
        return "robust" if n_undo is None or n_undo > _count_tenth(self.n_runs) else "fragile"

    @property
    def scope(self) -> Scope:
        """What varied, and what the verdict is about for that reason."""
        return self.comparison.scope

    @property
    def n_runs(self) -> int:
        """Runs that can be hidden: pairs, or those of both algorithms together.

        Those that the winner lacks are hidden too: who leaves out a seed hides it, failed or not.
        """
        comparison = self.comparison
        n_runs = comparison.scores_a.size + (0 if comparison.paired else comparison.scores_b.size)
        if comparison.winner is None:
            return n_runs + max(comparison.lacking)
        return n_runs + comparison.lacking["ab".index(comparison.winner)]

    @property
    def unit(self) -> str:
        """What is hidden as one."""
        return "pairs" if self.comparison.paired else "runs"

    @property
    def moves(self) -> list[Hiding]:
        """What hiding does by the verdict's rule: undo and turn it, or make one either way."""
        return [hiding for hiding in self.hidden if hiding.rule == self.hidden[0].rule]

    @property
    def easiest_move(self) -> Hiding:
        """What the fewest hidden runs do by the verdict's rule: undo it, or make one."""
        if self.comparison.winner is not None:
            return self.hidden[0]
        return min(self.moves, key=lambda hiding: math.inf if hiding.n is None else hiding.n)

    @property
    def share_to_move(self) -> float:
        """Share of the runs that this takes; infinite if no number does."""
        n = self.easiest_move.n
        return math.inf if n is None else n / self.n_runs

    def __str__(self) -> str:
        claim, first = self.comparison.claim, self.hidden[0]
        start, of = f"{self.verdict.capitalize()}: ", f"of {self.n_runs} {self.unit}"
        if self.verdict == "undecided":
            start += claim.replace("No difference", "no difference", 1)
            ways = [(way.n, f"that {way.what}") for way in self.moves if way.n is not None]
            if not ways:
                ends = "" if first.exact else " from the ends"
                return f"{start}, whichever {of} are hidden{ends}."
            (number, what), *others = ways
            also = "".join(f", {n} {other}" for n, other in others)
            return f"{start}; hiding {number} {of} would show {what}{also}."
        # A claim about data like these has two parts: what is undone is the one on this dataset.
        words = {None: "that", True: "that on this dataset", False: "the first"}
        undone = words[self.comparison.holds_for_population]
        if first.n is None:
            return f"{start}{claim}, however many {of} are hidden."
        if self.verdict == "robust":
            most = "" if first.exact else "at most "
            return f"{start}{claim}; it takes {most}{first.n} {of} hidden to undo {undone}."
        return f"{start}{claim}, but hiding {first.n} {of} is enough to undo {undone}."

    @property
    def mood(self) -> Mood:
        """Good news if nobody can undo it."""
        return MOODS[self.verdict]

    @property
    def tables(self) -> list[Table | str]:
        """Runs to hide, random seed sets, picked runs."""
        hidden, sets, picked = _tabulate_hidden(self), _tabulate_sets(self), _tabulate_picked(self)
        return [str(self.comparison), hidden, sets, picked]

    @property
    def advice(self) -> str:
        """What to do next."""
        if self.verdict == "undecided":
            return f"{self.comparison.advice} Take the seeds in sequence, and leave none out."
        if self.verdict == "robust":
            here = ", as one on this dataset only"
            only = here if self.comparison.holds_for_population is False else ""
            return (
                f"report the verdict with every seed{only}, and put the figure of this audit in "
                "the appendix: --plot audit.pdf."
            )
        needed = _find_pairs_until_robust(self.comparison)
        promise = (
            f": about {needed:,} pairs would make a share of wins as here robust" if needed else ""
        )
        return f"add seeds in sequence, and leave none out{promise}. Until then, call it fragile."

    @property
    def scope_hint(self) -> str:
        """As of the comparison."""
        return self.comparison.scope_hint

    # Runs that are not paired have no same seeds.
    _within = property(lambda self: dict(zip("ab", self.within, strict=True)))
    _between = property(lambda self: dict(zip("ab", self.between, strict=True)))
    _same_seeds = property(lambda self: dict(zip("ab", self.same_seeds, strict=False)))


@dataclass(frozen=True, slots=True)
class SelfAudit(Result):
    """How different from itself an algorithm can be made to look by picking its runs."""

    JSON = (
        "algorithm task metric goal scope n_runs=scores.size mean sd alpha n_fooled picked caveats"
    )
    ADVICE = (
        "fix the seeds before the first run, 0, 1, 2, …, and report every one of them; "
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

    @property
    def mean(self) -> float:
        """Mean of all runs."""
        return float(self.scores.mean())

    @property
    def sd(self) -> float:
        """Standard deviation of all runs."""
        return float(self.scores.std(ddof=1))

    def __str__(self) -> str:
        place = _near_five(self.picked)
        n, total = self.picked.sizes[place], self.scores.size
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
        """How the n best runs differ from the n worst."""
        sizes = self.picked.sizes.tolist()
        rows = [
            [str(n), *_format_picked(self.picked, sizes.index(n))]
            for n in (*MILESTONES, 50, 75, 90)
            if n in sizes
        ]
        title = f"{self.metric}, {describe_goal(self.goal)}"
        header = ["n best and worst", *PICKED]
        return [Table(header, rows, title, explain_picked(self.picked))]


def claim_rule(comparison: Comparison) -> VerdictRule:
    """The rule that the claim was made by, or would be: too little to matter is a claim too."""
    interval, small = comparison.interval, comparison.verdict == "significant, not meaningful"
    method: Any = interval.method if comparison.paired else "exact"
    rule = VerdictRule(interval.confidence_level, 0.5 if small else comparison.gamma, method)
    if comparison.winner is None or not comparison.lacking["ab".index(comparison.winner)]:
        return rule
    # With missing runs as the worst, the advantage may be too little to matter, and is one.
    wins, ties, n = count_wins(*take_sides(comparison, comparison.winner))
    holds = comparison.paired and rule.holds(wins, ties, n)
    return rule if holds else replace(rule, gamma=0.5)


def take_sides(comparison: Comparison, side: Winner) -> TwoSides:
    """Scores of a side and of the other, higher is better, with runs that it lacks as its worst."""
    a, b = comparison.higher
    own, place = ((a, b), 0) if side == "a" else ((b, a), 1)
    return take_worst(*own, comparison.lacking[place], paired=comparison.paired)


def _find_pairs_until_robust(comparison: Comparison) -> int | None:
    """Pairs that would be robust if the same share of them were won."""
    if not comparison.paired:
        return None
    wins, ties, n = count_wins(*take_sides(comparison, comparison.winner or "b"))
    rule, pairs = claim_rule(comparison), n
    while pairs <= _LARGEST_PROMISE:
        pairs = max(pairs + 1, int(1.05 * pairs))
        hidden = _count_tenth(pairs)
        won, tied = int(wins * pairs / n), int(ties * pairs / n)
        if won > hidden and rule.holds(won - hidden, tied, pairs - hidden):
            return pairs
    return None


def _count_tenth(n: int) -> int:
    """A tenth of the runs, rounded up: a conclusion that hiding so few undoes is fragile."""
    return -(-n // 10)


def _tabulate_hidden(audit: Audit) -> Table:
    """How few runs must be hidden to make or undo each conclusion, by every rule."""
    rules = list(dict.fromkeys(hiding.rule for hiding in audit.hidden))
    cells = {(hiding.what, hiding.rule): str(hiding) for hiding in audit.hidden}
    whats = dict.fromkeys(hiding.what for hiding in audit.hidden)
    first = f"fewest of {audit.n_runs} {audit.unit} to hide until"
    rows = [[what, *(cells[what, rule] for rule in rules)] for what in whats]
    return Table([first, *(f"by {rule}" for rule in rules)], rows)


def _tabulate_sets(audit: Audit) -> Table:
    """Shares of random seed sets that find either side better, by every rule."""
    a, b = short_names(audit)
    largest = int(audit.sets[0].sizes[-1])
    error = max(float(shares.error.max()) for shares in audit.sets)
    title = (
        f"Random seed sets of n {audit.unit}: share that finds {a} / {b} better "
        f"(α = {audit.comparison.alpha:.2g}; ± {error:.1%} where drawn)"
    )
    rows = []
    for n in [*(n for n in MILESTONES if n < largest), largest]:
        places = [(shares, shares.sizes.tolist().index(n)) for shares in audit.sets]
        rows.append([str(n), *(f"{s.share_a[i]:.1%} / {s.share_b[i]:.1%}" for s, i in places)])
    return Table(["n", *(shares.rule for shares in audit.sets)], rows, title)


def _tabulate_picked(audit: Audit) -> Table:
    a, b = short_names(audit)
    labels = [f"best and worst of {a}", f"best and worst of {b}"]
    labels += [f"best of {a}, worst of {b}", f"best of {b}, worst of {a}"]
    labels += [f"same seeds, picked for {name}" for name in (a, b) if audit.same_seeds]
    every = (*audit.within, *audit.between, *audit.same_seeds)
    rows = [
        [label, *summarise(picked, audit.comparison.alpha)]
        for label, picked in zip(labels, every, strict=True)
    ]
    first = audit.between[0]
    title = f"What {first.sizes[_near_five(first)]} runs of each, picked by score, would show"
    return Table(["", *PICKED, "significant up to"], rows, title, explain_picked(first))


def short_names(audit: Audit) -> list[str]:
    """Names of both algorithms, as tables have room for."""
    return shorten_apart([audit.comparison.a, audit.comparison.b], 14)


def summarise(picked: PickedRuns, alpha: float) -> list[str]:
    """What about five picked runs show, and how many at most."""
    largest = picked.largest_significant(alpha)
    shown = _format_picked(picked, _near_five(picked))
    return [*shown, f"{largest} runs" if largest else "never"]


def _near_five(picked: PickedRuns) -> int:
    return int(np.abs(picked.sizes - 5).argmin())


def _format_picked(picked: PickedRuns, place: int) -> list[str]:
    """What the picked runs of one size show."""
    pvalues = picked.t_pvalue[place], picked.rank_pvalue[place]
    return [
        f"{picked.difference[place]:+.3g}",
        f"{picked.effect_size[place]:.3g}",
        f"{picked.gap[place]:+.3g}",
        *(f"{pvalue:.2g}" if pvalue >= 1e-10 else "< 1e-10" for pvalue in pvalues),
    ]


def explain_picked(picked: PickedRuns) -> str:
    """What columns of picked runs mean."""
    return (
        f"  gap: between the {picked.confidence_level:.1%} intervals of the two means, negative "
        "where they overlap\n"
        "  B–M: Brunner–Munzel by its t approximation, too liberal with fewer than about 10 runs"
    )
