"""Toy studies, and all that must not depend on how they were run."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from outperform.store import Store
from outperform.study.designs import FixHopt, Ideal
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Uniform
from outperform.study.study import Study
from outperform.study.tasks import Task

Table = tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]
TASK = Task("toy", metric="accuracy")


def add_up(params, split, seeds):
    score = (params["c"] + seeds["init"] / 2**32) / 2
    return {"valid": score, "test": score - 0.01}


def add_less(params, split, seeds):
    score = params["c"] / 2
    return {"valid": score, "test": score + seeds["init"] / 2**33 - 0.125}


def fail(params, split, seeds):
    raise ValueError("no luck")


def toy(function: Callable[..., Any] = add_up, name: str = "a", **changes: Any) -> Study:
    pipeline = FunctionPipeline(name, function, {"c": Uniform(0, 1)}, ("init",))
    defaults = {"designs": (Ideal(3),), "trials": 4}
    return Study((pipeline,), **{"tasks": (TASK,), **defaults, **changes})


def two(first: Callable[..., Any], second: Callable[..., Any], n: int = 4) -> Study:
    a, b = toy(first, "a").pipelines[0], toy(second, "b").pipelines[0]
    return replace(toy(), pipelines=(a, b), designs=(FixHopt(n),))


def table(store: Store) -> Table:
    """Everything that must not depend on how a study was run."""
    labels = sorted(
        (x.design, x.source, x.replicate, x.pipeline, x.task, x.key) for x in store.run_labels()
    )
    measured = sorted(
        (
            m.key,
            m.pipeline,
            m.task,
            repr(m.params),
            repr(m.seeds),
            m.fold,
            m.refit,
            m.status,
            repr(m.scores),
        )
        for m in store.measurements()
    )
    return labels, measured
