"""The results of audits on several tasks: of a comparison, and of one algorithm with itself."""

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from outperform.questions.audit.result import (
    MOODS,
    PICKED,
    Audit,
    AuditVerdict,
    SelfAudit,
    explain_picked,
    short_names,
    summarise,
)
from outperform.questions.compare.conclusion import describe
from outperform.questions.result import Mood, Result, Table, join_caveats
from outperform.runs.scope import Scope, join_scopes
from outperform.wording import describe_goal, join_words

_FROM_THE_WEAKEST: tuple[AuditVerdict, ...] = ("fragile", "undecided", "robust")


@dataclass(frozen=True, slots=True)
class TaskAudits(Result):
    """How far picking seeds could move the conclusions of a comparison, task by task."""

    JSON = (
        "a b verdict n_robust n_fragile n_undecided weakest=weakest.comparison.task scope "
        "tasks=audits caveats"
    )

    audits: tuple[Audit, ...]
    notes: tuple[str, ...] = ()  # doubts about the whole, such as tasks that were left out

    @property
    def a(self) -> str:
        """Name of the first algorithm."""
        return self.audits[0].comparison.a

    @property
    def b(self) -> str:
        """Name of the second algorithm."""
        return self.audits[0].comparison.b

    @property
    def verdict(self) -> AuditVerdict:
        """The weakest of any task: robust only where every task is."""
        return min((audit.verdict for audit in self.audits), key=_FROM_THE_WEAKEST.index)

    @property
    def n_robust(self) -> int:
        """Tasks on which a conclusion withstands whatever tenth of the runs is hidden."""
        return self._count("robust")

    @property
    def n_fragile(self) -> int:
        """Tasks on which it does not."""
        return self._count("fragile")

    @property
    def n_undecided(self) -> int:
        """Tasks on which nothing is concluded."""
        return self._count("undecided")

    def _count(self, verdict: AuditVerdict) -> int:
        return sum(audit.verdict == verdict for audit in self.audits)

    @property
    def weakest(self) -> Audit:
        """The audit whose conclusion the smallest share of hidden runs undoes.

        Where no task has a conclusion: the one where the smallest share makes one.
        """
        decided = [audit for audit in self.audits if audit.verdict != "undecided"]
        return min(decided or self.audits, key=lambda audit: audit.share_to_move)

    @property
    def scope(self) -> Scope:
        """What varied, and what the verdicts are about for that reason."""
        scopes = [audit.scope for audit in self.audits]
        return join_scopes(scopes, [audit.comparison.task for audit in self.audits])

    @property
    def caveats(self) -> tuple[str, ...]:
        """Doubts about the whole, those that all tasks share, then those about single tasks."""
        n, alpha = len(self.audits), self.audits[0].comparison.alpha
        several = (
            f"each of {n} tasks was tested at α = {alpha:.2g} by itself: which of them may be "
            "named together, `outperform compare` tells"
        )
        joined = join_caveats({audit.comparison.task: audit.caveats for audit in self.audits})
        return (several, *self.notes, *joined)

    @property
    def mood(self) -> Mood:
        """Good news if nobody can undo anything."""
        return MOODS[self.verdict]

    @property
    def tables(self) -> list[Table | str]:
        """A row per task: its verdict, and how few hidden runs undo it, or show either better."""
        first = self.audits[0]
        a, b = short_names(first)
        title = f"Fewest {first.unit} to hide until a verdict is undone, or either is made to win"
        header = ["task", first.unit, "P(A > B)", "verdict", "undone by", f"{a} by", f"{b} by"]
        fewer = "" if first.comparison.paired else "\n  ≤: fewer may do"
        rows = [_tabulate_task(audit) for audit in self.audits]
        return [Table(header, rows, title, f"  A: {a}, B: {b}{fewer}")]

    @property
    def advice(self) -> str:
        """What to do next."""
        if self.verdict == "robust":
            return "report every task with every seed, and put this table in the appendix."
        return (
            f"see all of one task with --on, for instance --on "
            f"{shlex.quote(self.weakest.comparison.task)}; add seeds in sequence where a verdict "
            "is fragile or undecided, leave none out, and report every task."
        )

    @property
    def scope_hint(self) -> str:
        """As of the comparisons."""
        return next((each.scope_hint for each in self.audits if each.scope_hint), "")

    def __str__(self) -> str:
        numbers = {verdict: self._count(verdict) for verdict in MOODS}
        counts = [f"{each} on {n}{self._name_winners(each)}" for each, n in numbers.items() if n]
        start = f"Of {len(self.audits)} tasks, the verdict on {self.a} and {self.b} is "
        return f"{start}{join_words(counts)}; {self._describe_weakest()}{self._describe_beyond()}."

    def _describe_beyond(self) -> str:
        """On how many tasks the winner is better for data like these too, or the loser is."""
        compared = [audit.comparison for audit in self.audits]
        known = [each for each in compared if each.winner and each.population is not None]
        if not known:
            return ""
        n_shown = sum(each.holds_for_population is True for each in known)
        n_turned = sum(each.advantage.high < 0 for each in known)
        turned = f", and the loser to have the better mean on {n_turned}" if n_turned else ""
        tasks = "1 task that has one" if len(known) == 1 else f"{len(known)} tasks that have one"
        shown = f"the winner is shown to be better on {n_shown} of {tasks}"
        return f"; for other data like these {shown}{turned}"

    def _name_winners(self, verdict: AuditVerdict) -> str:
        """Who is better on how many of the tasks, where not the same one is on all."""
        winners = {audit.comparison.winner_name for audit in self.audits} - {None}
        if len(winners) < 2 or verdict == "undecided":
            return ""
        n_wins = Counter(a.comparison.winner_name for a in self.audits if a.verdict == verdict)
        counts = [f"{n_wins[name]} for {name}" for name in (self.a, self.b) if n_wins[name]]
        return f" ({', '.join(counts)})"

    def _describe_weakest(self) -> str:
        weakest = self.weakest
        move, task = weakest.easiest_move, weakest.comparison.task
        of = f"of {weakest.n_runs} {weakest.unit}"
        if move.n is None:
            return f"on no task is that moved, however many {weakest.unit} are hidden"
        number = f"{'' if move.exact else 'at most '}{move.n}"
        if weakest.verdict == "undecided":
            return f"on {task}, hiding {number} {of} would show that {move.what}"
        compared = weakest.comparison
        claim = describe(compared.a, compared.b, compared.winner, compared.verdict)
        enough = "is enough" if weakest.verdict == "fragile" else "is what it takes"
        return f"it is weakest on {task}, where hiding {number} {of} {enough} to undo that {claim}"


@dataclass(frozen=True, slots=True)
class TaskSelfAudits(Result):
    """How different from itself an algorithm can be made to look, task by task."""

    JSON = "algorithm n_fooled scope tasks=audits caveats"
    ADVICE: ClassVar[str] = SelfAudit.ADVICE

    audits: tuple[SelfAudit, ...]
    notes: tuple[str, ...] = ()

    @property
    def algorithm(self) -> str:
        """Its name."""
        return self.audits[0].algorithm

    @property
    def n_fooled(self) -> int:
        """Tasks on which picked runs of it differ significantly."""
        return sum(audit.n_fooled > 0 for audit in self.audits)

    @property
    def scope(self) -> Scope:
        """What varied, and what it is about for that reason."""
        return join_scopes(
            [each.scope for each in self.audits], [each.task for each in self.audits]
        )

    @property
    def caveats(self) -> tuple[str, ...]:
        """Doubts about the whole, those that all tasks share, then those about single tasks."""
        return (*self.notes, *join_caveats({each.task: each.caveats for each in self.audits}))

    @property
    def tables(self) -> Sequence[Table | str]:
        """A row per task: what picked runs would show."""
        first = self.audits[0]
        rows = [
            [each.task or "-", str(each.scores.size), *summarise(each.picked, each.alpha)]
            for each in self.audits
        ]
        title = (
            f"Its about 5 best runs and as many worst, picked by score ({first.metric}, "
            f"{describe_goal(first.goal)})"
        )
        header = ["task", "runs", *PICKED, "significant up to"]
        return [Table(header, rows, title, explain_picked(first.picked))]

    def __str__(self) -> str:
        n, first = len(self.audits), self.audits[0]
        on = f"on {self.n_fooled} of {n} tasks" if self.n_fooled else f"on none of {n} tasks"
        worst = max(self.audits, key=lambda each: each.n_fooled / each.scores.size)
        where = (
            f"; on {worst.task}, up to {worst.n_fooled} of {worst.scores.size} runs each"
            if self.n_fooled
            else ""
        )
        return (
            f"{self.algorithm}: its best and its worst runs, picked by score, differ significantly "
            f"{on} (α = {first.alpha:.2g}){where}."
        )


def _tabulate_task(audit: Audit) -> list[str]:
    compared, moves = audit.comparison, [str(hiding) for hiding in audit.moves]
    # Of a verdict: what undoes it, then what makes the loser win. Of none: what makes either win.
    undone, better = "–", {"a": "–", "b": "–"}
    if compared.winner is None:
        better["a"], better["b"] = moves
    else:
        undone, better["b" if compared.winner == "a" else "a"] = moves
    winner = f", {compared.winner_name}" if compared.winner else ""
    return [
        compared.task or "-",
        str(audit.n_runs),
        f"{compared.probability:.3g} {compared.interval}",
        f"{audit.verdict}{winner}",
        undone,
        *better.values(),
    ]
