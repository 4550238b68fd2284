"""What a sequential test has decided between two pipelines of a study."""

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from outperform.questions.compare.conclusion import OfTwo, Winner
from outperform.questions.compare.sequential import (
    Outcome,
    SequentialComparison,
    SequentialRule,
)
from outperform.questions.result import Table, join_caveats
from outperform.runs.scope import Scope, join_scopes

_WEAKEST_FIRST: tuple[Outcome, ...] = ("undecided", "neither", "decided")


@dataclass(frozen=True, slots=True)
class Decision(OfTwo):
    """Whether `a` and `b` were decided, for whom, and after how many replicates."""

    JSON = (
        "a b outcome winner winner_name n_replicates n_allowed n_beyond gamma rule scope "
        "tasks=parts looks caveats"
    )

    parts: tuple[SequentialComparison, ...]  # one per task
    n_allowed: int  # replicates that the study allows
    source: str  # address of the store that they are in
    notes: tuple[str, ...] = field(default=())  # on tests that looked at the same runs before

    @property
    def a(self) -> str:
        """Name of the first pipeline."""
        return self.parts[0].a

    @property
    def b(self) -> str:
        """Name of the second pipeline."""
        return self.parts[0].b

    @property
    def rule(self) -> SequentialRule:
        """The test that decided."""
        return self.parts[0].rule

    @property
    def n_replicates(self) -> int:
        """Replicates until it was decided, on the task that took longest."""
        return max(part.n_pairs for part in self.parts)

    @property
    def n_beyond(self) -> int:
        """Replicates that were done besides, as workers do several at a time; none counts."""
        return min(part.n_beyond for part in self.parts)

    @property
    def gamma(self) -> float:
        """Smallest chance to win that matters."""
        return self.rule.gamma

    @property
    def outcome(self) -> Outcome:
        """What ended the run: on several tasks the weakest of all."""
        return min((part.outcome for part in self.parts), key=_WEAKEST_FIRST.index)

    @property
    def winner(self) -> Winner | None:
        """Who is better on every task, if anyone."""
        winners = {part.winner for part in self.parts}
        return winners.pop() if len(winners) == 1 else None

    @property
    def exit_status(self) -> int:
        """Status that a command ends with, like that of a gate: 3 where nothing was decided."""
        return 3 if self.outcome == "undecided" else 0

    @property
    def scope(self) -> Scope:
        """What varied, and what this is about for that reason."""
        return join_scopes([part.scope for part in self.parts], [part.task for part in self.parts])

    @property
    def looks(self) -> list[dict[str, object]]:
        """What every look has seen: as the store keeps it."""
        return [look for part in self.parts for look in list_looks(part)]

    @property
    def tables(self) -> Sequence[Table | str]:
        """The test on each task."""
        ratios = [f"log ratio, {name}" for name in (self.a, self.b)]
        header = ["task", "pairs", "decided for", *ratios, "P(A>B)"]
        test = self.rule.test
        rows = [
            [
                part.task or "-",
                str(part.n_pairs),
                part.winner_name or ("neither" if part.outcome == "neither" else "–"),
                f"{part.log_ratio_a:+.2f}",
                f"{part.log_ratio_b:+.2f}",
                f"{part.comparison.probability:.3g} {part.comparison.interval}",
            ]
            for part in self.parts
        ]
        note = (
            f"  a test ends at a log ratio of {test.upper:+.2f} of one, which wins, or of "
            f"{test.lower:+.2f} of both; intervals hold whenever one stops"
        )
        return [Table(header, rows, title=f"{self.rule.words}:", note=note)]

    @property
    def advice(self) -> str:
        """How to see all of the last look, and how many replicates would allow a decision."""
        # Incomplete pairs are counted against the decision; `compare` must be told to take them.
        dropping = " --drop-incomplete" if any(part.n_incomplete for part in self.parts) else ""
        task = f" --on {shlex.quote(self.parts[0].task)}" if len(self.parts) > 1 else ""
        rule = "".join(
            f" --{name} {value:g}"
            for name, value, usual in (
                ("gamma", self.gamma, 0.75),
                ("alpha", self.rule.alpha, 0.05),
                ("beta", self.rule.beta, 0.05),
            )
            if value != usual
        )
        words = f"{shlex.join((self.source, self.a, self.b))} --sequential{rule}{task}{dropping}"
        compare, n_max = f"outperform compare {words}", self.rule.test.n_max
        if self.outcome != "undecided" or self._hangs_on_gaps or not self.rule.is_cut:
            return compare
        return (
            f"{compare}; to decide it with the power asked for, {1 - self.rule.beta:g}, let the "
            f"study have {n_max} replicates, and go on with --new-rule."
        )

    @property
    def caveats(self) -> tuple[str, ...]:
        """Reasons for doubt."""
        own = join_caveats({part.task: part.caveats for part in self.parts})
        return (*self.notes, *self._doubt_whole(), *own)

    def _doubt_whole(self) -> Iterator[str]:
        n, alarms = len(self.parts), self.rule.equals.chance_either
        if n > 1 and any(part.winner for part in self.parts) and not self.winner:
            yield (
                f"each of {n} tasks is decided by itself: were both equal on all of them, a winner "
                f"would be named on some in {1 - (1 - alarms) ** n:.0%} of studies (independent "
                "tasks)"
            )
        if self.rule.is_cut and self.outcome == "undecided":
            yield (
                f"the study allows {self.n_allowed} replicates, and the test may take "
                f"{self.rule.test.n_max}: its power was {self.rule.better.chance_a:.2f} in place "
                f"of {1 - self.rule.beta:g}"
            )

    @property
    def reason(self) -> str:
        """Why no more replicates were run."""
        if self.outcome == "decided":
            return f"{self.a} and {self.b} were decided"
        if self.outcome == "undecided":
            return "the test had ended without a decision"
        n, n_neither = len(self.parts), sum(part.outcome == "neither" for part in self.parts)
        large = f"as large as γ = {self.gamma:g} was ruled out"
        on = "" if n_neither == n else f" on {n_neither} of {n} tasks"
        return f"an advantage of {self.a} or {self.b} {large}{on}"

    def __str__(self) -> str:
        tuned = ", each tuned once" if self.scope.tuned_once else ""
        share = f"{self.n_replicates} of the {self.n_allowed}"
        if self.n_replicates == self.n_allowed and self.outcome == "undecided":
            share = f"all {self.n_allowed}"
        after = f"after {share} replicates that the study allows{tuned}"
        if self.outcome == "decided":
            return _describe_decision(self.parts, self.winner_name, after)
        if self.outcome == "neither":
            return f"Decided {after}: {self.reason}{self._count_decided()}."
        pair = f"{self.a} and {self.b}"
        if self._hangs_on_gaps:
            n_gaps = max(part.n_incomplete for part in self.parts)
            return f"Undecided between {pair} {after}: it depends on incomplete pairs ({n_gaps})."
        why, n_left = "", self.rule.n_last - self.n_replicates
        if self.n_replicates < self.n_allowed:
            why = f", as {n_left} more could not decide it" if n_left else ", where the test ends"
        return f"Undecided between {pair} {after}{why}{self._count_decided()}."

    @property
    def _hangs_on_gaps(self) -> bool:
        """Whether pairs that are incomplete might decide it."""
        return any(part.path.call == "unknown" for part in self.parts)

    def _count_decided(self) -> str:
        """On several tasks, on how many somebody is better."""
        if len(self.parts) == 1:
            return ""
        counts = {
            name: sum(part.winner_name == name for part in self.parts) for name in (self.a, self.b)
        }
        won = [f"{name} is better on {count}" for name, count in counts.items() if count]
        of_tasks = f"of {len(self.parts)} tasks, "
        return f"; {of_tasks}{' and '.join(won)}" if won else f" on any of {len(self.parts)} tasks"


def list_looks(part: SequentialComparison) -> list[dict[str, object]]:
    """What a test has seen after each pair on one task."""
    counts, ratios = part.path.counts.tolist(), part.path.log_ratios[:, 0].round(9).tolist()
    words = ("wins", "losses", "ties", "incomplete", "log_ratio_a", "log_ratio_b")
    looks = zip(*counts, *ratios, strict=True)
    return [
        {"task": part.task, "pairs": n, **dict(zip(words, look, strict=True))}
        for n, look in enumerate(looks, 1)
    ]


def _describe_decision(
    parts: Sequence[SequentialComparison], winner: str | None, after: str
) -> str:
    """Say what is decided: never more than this dataset, of which no number of splits tells all."""
    decided = f"Decided for {winner}" if winner else f"Decided on each of {len(parts)} tasks"
    known = [part for part in parts if part.comparison.population is not None]
    if not known:
        return f"{decided} {after}."
    if len(parts) > 1:
        n_shown = sum(map(_holds_beyond, known))
        beyond = f"that is shown on {n_shown} of {len(parts)} tasks, were this the only look"
        return f"{decided} on these datasets {after}; for other data like them {beyond}."
    population = known[0].comparison.population
    assert population is not None
    pvalue = known[0].comparison.evidence_beyond
    if _holds_beyond(known[0]):
        beyond = f"too, were this the only look ({pvalue})"
    else:
        beyond = f"that is not shown ({pvalue})"
        if math.isfinite(population.floor):
            floor = f"{population.floor:.2g}"
            beyond += f", and no number of splits of it shows a difference below {floor}"
    return f"{decided} on this dataset {after}; for other data like it {beyond}."


def _holds_beyond(part: SequentialComparison) -> bool:
    """Whether the winner has the better mean for data like these, were this the only look."""
    gain = part.comparison.gain
    return gain.low > 0 if part.winner == "a" else gain.high < 0
