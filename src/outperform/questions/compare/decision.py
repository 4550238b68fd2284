"""Runs of a study, no more than are needed to decide between two of its pipelines."""

import math
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from outperform.engines import Engine
from outperform.errors import InvalidInput, UnknownName
from outperform.questions.compare.conclusion import OfTwo, Winner
from outperform.questions.compare.sequential import (
    Outcome,
    SequentialComparison,
    SequentialRule,
    follow_runs,
    plan_rule,
)
from outperform.questions.result import Table, join_caveats
from outperform.runner import Coordinator, Progress, open_coordinator
from outperform.runs.scope import Scope, join_scopes
from outperform.stats import SequentialTest, trace_path
from outperform.store import Store
from outperform.store.sequential_record import (
    SequentialRecord,
    doubt_attempts,
    is_same_rule,
    read_attempts,
)
from outperform.store.store import use_store
from outperform.store.stored_runs import load_runs
from outperform.study.designs import PAIRED, Ideal, PairedDesign
from outperform.study.sources import ALL
from outperform.study.study import Study, check_is_study
from outperform.wording import enumerate_names, suggest_names

_WEAKEST_FIRST: tuple[Outcome, ...] = ("undecided", "neither", "decided")
_PLANNED = ("upper", "lower", "n_max")  # boundaries, as the store keeps them


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


@dataclass(frozen=True, slots=True)
class PlannedDecision:
    """Which two pipelines are to be decided, by the runs of which design and by which rule."""

    a: str
    b: str
    tasks: tuple[str, ...]
    design: PairedDesign
    rule: SequentialRule

    @property
    def n_allowed(self) -> int:
        """Replicates that the study allows."""
        return self.design.n_replicates

    def __str__(self) -> str:
        return f"Deciding between {self.a} and {self.b} by {self.rule}"

    @property
    def names(self) -> tuple[str, str]:
        """The two, which are all that is trained."""
        return self.a, self.b

    @property
    def longest(self) -> PairedDesign:
        """The design with as many replicates as the test may take."""
        return replace(self.design, n_replicates=self.rule.n_last)

    def has_ended(self, store: Store) -> bool:
        """Whether the test was taken to its end on every task; that of another rule was not."""
        attempts = read_attempts(store)
        if not attempts or not is_same_rule(attempts[-1]["rule"], self.describe_rule()):
            return False
        return {each["task"] for each in attempts[-1]["decisions"]} >= {*self.tasks}

    def describe_rule(self) -> dict[str, Any]:
        """The rule as the store keeps it: whatever another rule would differ in."""
        rule = self.rule
        levels = {"gamma": float(rule.gamma), "alpha": rule.alpha, "beta": float(rule.beta)}
        bounds = {name: getattr(rule.test, name) for name in _PLANNED}
        about = {"a": self.a, "b": self.b, "tasks": list(self.tasks), "design": self.design.kind}
        return {**about, **levels, **bounds, "n_last": rule.n_last}


def run_until_decided(
    study: Study,
    store: str | Path | Store,
    a: str,
    b: str,
    *,
    engine: str | Engine = "local",
    gamma: float = 0.75,
    confidence_level: float = 0.95,
    beta: float = 0.05,
    new_rule: bool = False,
    retry_failed: bool = False,
    spool: str | Path | None = None,
    report: Callable[[Progress], None] = lambda _: None,
) -> Decision:
    """Run a study until a sequential test has decided between two of its pipelines.

    No other pipeline is trained. Wald's test between P(A>B) = ½ and gamma, for either side, looks
    after every pair. It ends when one is better, when an advantage of either as large as gamma is
    ruled out, or without a decision when all replicates that the study allows are done. The store
    keeps the rule, every look and the decision.

    Parameters
    ----------
    store, engine, retry_failed, spool, report
        As in `run`.
    a, b
        Names of the pipelines.
    gamma
        Smallest P(A>B) that matters.
    confidence_level
        One minus the accepted chance to decide for either of two equals.
    beta
        Accepted chance not to find an advantage of gamma.
    new_rule
        Look by another rule at runs that were looked at before; the store tells it ever after.
    """
    check_is_study(study)
    planned = plan_decision(study, a, b, gamma=gamma, alpha=1 - confidence_level, beta=beta)
    with use_store(store) as opened:
        if opened.exists():  # another rule is refused before anything of the study is changed
            check_rule(opened, planned, new_rule=new_rule)
        options: dict[str, Any] = {"retry_failed": retry_failed, "spool": spool}
        with open_coordinator(study, opened, engine, **options) as coordinator:
            return add_replicates(coordinator, planned, new_rule=new_rule, report=report)


def plan_decision(
    study: Study, a: str, b: str, *, gamma: float, alpha: float, beta: float
) -> PlannedDecision:
    """Plan which runs decide, and by which rule; what cannot be decided is refused."""
    design = choose_design(study, a, b)
    rule = plan_rule(gamma, alpha, beta, n_allowed=design.n_replicates)
    return PlannedDecision(a, b, tuple(task.name for task in study.tasks), design, rule)


def check_rule(store: Store, planned: PlannedDecision, *, new_rule: bool = False) -> None:
    """Refuse another rule than the one by which the runs of a store were looked at before."""
    record = SequentialRecord(store)
    record.go_on(planned.describe_rule(), planned.n_allowed, new_rule=new_rule)


def add_replicates(
    coordinator: Coordinator,
    planned: PlannedDecision,
    *,
    new_rule: bool = False,
    report: Callable[[Progress], None] = lambda _: None,
    show: Callable[[str], None] = lambda _: None,
) -> Decision:
    """Let a coordinator add replicates until they decide, and `show` how it stands after each lot.

    A lot has as many replicates as the test cannot end without, or as keep all workers busy. Its
    pairs are looked at one by one all the same; those beyond the end do not count.
    """
    store, record = coordinator.store, SequentialRecord(coordinator.store)
    rule = record.go_on(planned.describe_rule(), planned.n_allowed, new_rule=new_rule)
    # A rule that was begun keeps the boundaries it began with, whatever is planned by now.
    test = SequentialTest(planned.rule.gamma, *(rule[name] for name in _PLANNED))
    planned = replace(planned, rule=replace(planned.rule, test=test))
    names = planned.names
    at_once = math.ceil(coordinator.engine.n_workers / (len(names) * len(planned.tasks)))
    n_last = planned.rule.n_last
    n = min(n_last, max(2, trace_path(planned.rule.test, []).count_needed()))  # two are estimated
    while True:
        coordinator.run((replace(planned.design, n_replicates=n),), names, report=report)
        table = load_runs(store, planned.design.kind, first=n, pipelines=names)
        parts = tuple(follow_runs(table, names, task, planned.rule) for task in planned.tasks)
        record.add_looks([look for part in parts for look in list_looks(part)])
        # Whoever interrupts it now has seen this look.
        _note_stop(store, planned, n, "a look had been taken")
        show(_describe_lot(parts))
        needed = [part.path.count_needed() for part in parts if part.path.call == "go on"]
        if not needed or n + min(needed) > n_last:  # nothing can be decided any more
            break
        n = min(n_last, n + max(min(needed), at_once))
    record.add_decisions(
        [
            {
                "task": part.task,
                "outcome": part.outcome,
                "winner_name": part.winner_name,
                "pairs": part.n_pairs,
            }
            for part in parts
        ]
    )
    notes = (doubt_attempts(record.attempts),) if len(record.attempts) > 1 else ()
    decision = Decision(parts, planned.n_allowed, store.address, notes)
    _note_stop(store, planned, n, decision.reason)
    return decision


def _note_stop(store: Store, planned: PlannedDecision, n: int, reason: str) -> None:
    """Note that there are no more replicates on purpose, where the study allows more."""
    kind, before = planned.design.kind, store.get_meta("stopped")
    if before and before["design"] == kind:
        n = max(n, before["replicates"])
    stop = {"design": kind, "replicates": n, "reason": reason}
    store.set_meta("stopped", stop if n < planned.n_allowed else None)


def _describe_lot(parts: Sequence[SequentialComparison]) -> str:
    """Say how it stands on the task that is farthest from its end."""
    part = max(parts, key=lambda each: (each.outcome == "undecided", each.n_pairs))
    on = f" on {part.task}" if len(parts) > 1 else ""
    ratios = f"{part.log_ratio_a:+.2f} for {part.a}, {part.log_ratio_b:+.2f} for {part.b}"
    return (
        f"{part.n_pairs} pairs{on}: {part.wins} won by {part.a}, {part.losses} by {part.b}, "
        f"{part.ties} tied; log ratio {ratios}"
    )


def choose_design(study: Study, a: str, b: str) -> PairedDesign:
    """The design whose runs are compared; what cannot be decided is refused."""
    names = [pipeline.name for pipeline in study.pipelines]
    for name in (a, b):
        if name not in names:
            raise UnknownName(f"the study has no pipeline {name!r}", suggest_names(name, names))
    if a == b:
        raise InvalidInput(
            f"cannot decide between {a!r} and itself", f"Name two of: {enumerate_names(names)}"
        )
    designs = [
        each if isinstance(each, Ideal) else replace(each, n_repetitions=1)  # one is compared
        for each in study.designs
        if isinstance(each, PairedDesign)
    ]
    if len(designs) < len(study.designs):
        raise InvalidInput(
            "deciding adds replicates, but the study has designs without pairs",
            f"Keep only {', '.join(PAIRED)} in the study",
        )
    # As `load_runs` chooses among them.
    return min(
        designs,
        key=lambda each: (PAIRED.index(each.kind), each.redraws != ALL, -each.n_replicates),
    )
