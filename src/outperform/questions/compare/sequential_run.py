"""Runs of a study, no more than are needed to decide between two of its pipelines."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from outperform.engines import Engine
from outperform.engines.engine import use_engine
from outperform.errors import InvalidInput, UnknownName
from outperform.questions.compare.answer import compare_runs
from outperform.questions.compare.decision import Decision, Look
from outperform.runner import Coordinator, Progress
from outperform.stats import smallest_conclusive
from outperform.store import Store
from outperform.store.store import use_store
from outperform.store.stored_runs import load_runs
from outperform.study.designs import FixHopt, Ideal
from outperform.study.sources import ALL
from outperform.study.study import Study, check_is_study
from outperform.wording import suggest_names


def run_until_decided(
    study: Study,
    store: str | Path | Store,
    a: str,
    b: str,
    *,
    engine: str | Engine = "local",
    gamma: float = 0.75,
    confidence_level: float = 0.95,
    retry_failed: bool = False,
    report: Callable[[Progress], None] = lambda _: None,
) -> Decision:
    """Run a study until the anytime-valid interval decides between two of its pipelines.

    Replicates are added until one is significantly better, until an advantage of either as large
    as gamma is ruled out, until neither can win any more, or until all that the study allows are
    done. The interval holds however often it is looked at.

    Parameters
    ----------
    store, engine, retry_failed, report
        As in `run`.
    a, b
        Names of the pipelines.
    gamma
        Smallest P(A>B) that matters.
    """
    check_is_study(study)
    choose_design(study, a, b)
    with use_store(store) as opened, use_engine(engine) as workers:
        coordinator = Coordinator(study, opened, workers, retry_failed=retry_failed)
        return add_replicates(
            coordinator, a, b, gamma=gamma, confidence_level=confidence_level, report=report
        )


def add_replicates(
    coordinator: Coordinator,
    a: str,
    b: str,
    *,
    gamma: float = 0.75,
    confidence_level: float = 0.95,
    report: Callable[[Progress], None] = lambda _: None,
    show: Callable[[Look], None] = lambda _: None,
) -> Decision:
    """Let a coordinator add replicates, and look and `show` it after each lot, until decided."""
    store, design = coordinator.store, choose_design(coordinator.study, a, b)
    most = design.n_replicates
    n, looks = min(most, smallest_conclusive(1 - confidence_level)), []
    while True:
        coordinator.run((replace(design, n_replicates=n),), report=report)
        comparison = compare_runs(
            load_runs(store, design.kind, first=n),
            a,
            b,
            gamma=gamma,
            confidence_level=confidence_level,
            interval="anytime",
            drop_incomplete=True,
        )
        looks.append(Look(n, comparison))
        # Whoever interrupts it now has seen this look.
        stop = {"design": design.kind, "replicates": n, "reason": "a look had been taken"}
        store.set_meta("stopped", stop if n < most else None)
        show(looks[-1])
        decision = Decision(a, b, tuple(looks), most, store.address)
        if decision.outcome != "undecided" or n == most:
            break
        n = min(most, n + max(1, n // 4))
    if n < most:
        store.set_meta("stopped", {**stop, "reason": decision.reason})
    return decision


def choose_design(study: Study, a: str, b: str) -> Ideal | FixHopt:
    """The design whose runs are compared; what cannot be decided is refused."""
    names = [pipeline.name for pipeline in study.pipelines]
    for name in (a, b):
        if name not in names:
            raise UnknownName(f"the study has no pipeline {name!r}", suggest_names(name, names))
    designs = [
        replace(each, n_repetitions=1) if isinstance(each, FixHopt) else each  # one is compared
        for each in study.designs
        if isinstance(each, Ideal | FixHopt)
    ]
    if len(designs) < len(study.designs):
        raise InvalidInput(
            "deciding adds replicates, but the study has designs without pairs",
            "Keep only ideal or fix-hopt in the study",
        )
        # As `load_runs` chooses among them.
    return min(
        designs, key=lambda each: (each.kind != "ideal", each.redraws != ALL, -each.n_replicates)
    )
