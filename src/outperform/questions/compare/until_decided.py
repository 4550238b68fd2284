"""Runs of a study, no more than are needed to decide between two of its pipelines."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from outperform.engines import Engine
from outperform.errors import InvalidInput, UnknownName
from outperform.questions.compare.decision import Decision, list_looks
from outperform.questions.compare.sequential import (
    SequentialComparison,
    SequentialRule,
    follow_runs,
    plan_rule,
)
from outperform.runner import Coordinator, Progress, open_coordinator
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

_PLANNED = ("upper", "lower", "n_max")  # boundaries, as the store keeps them


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
