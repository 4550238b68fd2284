"""Which fits a study needs, as plain data: what a store keeps, and can be asked without its code.

A planned study has the names, spaces, sources and designs of the one it was made from, and the
fingerprints of its code and data; it plans the same runs and searches, whose fits have the same
keys. It can train nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from outperform.errors import InvalidInput, OutperformError
from outperform.study.datasets import Dataset
from outperform.study.designs import Design
from outperform.study.pipelines import Pipeline
from outperform.study.spaces import Choices, Integers, LogUniform, Space
from outperform.study.splits import CrossValidation, FixedSplit, OutOfBootstrap, Splitter
from outperform.study.study import Study
from outperform.study.study_file_tables import DESIGNS, FIELDS, make_design, make_space
from outperform.study.tasks import Task

_FIXED = FixedSplit([0], [], [1])  # stands for any: it moves no seed


@dataclass(frozen=True, slots=True)
class PlannedPipeline(Pipeline):
    """A pipeline of which only the plan is known."""

    name: str
    space: Space
    sources: tuple[str, ...]
    fingerprint: str
    is_given_split: bool = field(default=True, kw_only=True)

    @property
    def gets_split(self) -> bool:
        """Whether it gets the split of a task with data."""
        return self.is_given_split


@dataclass(frozen=True, slots=True)
class PlannedTask(Task):
    """A task of which only the plan is known."""

    recorded: str = ""

    @property
    def fingerprint(self) -> str:
        """Hash of the data and of how it is split, as it was when the study was run."""
        return self.recorded


@dataclass(frozen=True, slots=True)
class _UnknownData:
    fingerprint: str = ""

    def __call__(self) -> Dataset:
        raise InvalidInput("a store holds no data", "Read the study itself")


def describe_plan(study: Study) -> dict[str, Any] | None:
    """All that says which fits a study needs; None where a design is the person's own."""
    designs = [_describe_design(design) for design in study.designs]
    if not all(designs):
        return None
    return {
        "seed": study.seed,
        "tuner": study.tuner,
        "trials": study.trials,
        "designs": designs,
        "pipelines": [
            {
                "name": pipeline.name,
                "space": {n: _describe_dimension(d) for n, d in pipeline.space.items()},
                "sources": list(pipeline.sources),
                "gets_split": pipeline.gets_split,
            }
            for pipeline in study.pipelines
        ],
        "tasks": [
            {
                "name": task.name,
                "metric": task.metric,
                "goal": task.goal,
                "has_data": task.data is not None,
                "split": _describe_splitter(task.splitter),
            }
            for task in study.tasks
        ],
    }


def plan_study(plan: Mapping[str, Any], fingerprints: Mapping[str, str], name: str) -> Study:
    """Study from its plan; nothing is imported or called for it.

    Parameters
    ----------
    fingerprints
        From `gather_fingerprints` of the study that the plan was made from.
    """
    try:
        return Study(
            [_plan_pipeline(each, fingerprints) for each in plan["pipelines"]],
            [_plan_task(each, fingerprints) for each in plan["tasks"]],
            [make_design(each) for each in plan["designs"]],
            name=name,
            **{word: plan[word] for word in ("seed", "tuner", "trials")},
        )
    except OutperformError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"the plan of study {name!r} cannot be read ({type(error).__name__}: {error})",
            "Run the study once more: nothing is trained anew, and its plan is written again",
        ) from error


def _plan_pipeline(part: Mapping[str, Any], fingerprints: Mapping[str, str]) -> Pipeline:
    return PlannedPipeline(
        part["name"],
        make_space(part["space"]),
        tuple(part["sources"]),
        fingerprints[f"pipeline {part['name']}"],
        is_given_split=part["gets_split"],
    )


def _plan_task(part: Mapping[str, Any], fingerprints: Mapping[str, str]) -> Task:
    return PlannedTask(
        part["name"],
        part["metric"],
        part["goal"],
        _UnknownData() if part["has_data"] else None,
        _plan_splitter(part["split"]),
        fingerprints[f"task {part['name']}"],
    )


def _describe_design(design: Design) -> dict[str, Any]:
    """As a study file says it; empty where the design is the person's own."""
    kind, words = DESIGNS.get(design.kind, (None, ()))
    if kind is None or not isinstance(design, kind):
        return {}
    values = {word: getattr(design, FIELDS[word]) for word in words}
    listed = {word: list(v) if isinstance(v, tuple) else v for word, v in values.items()}
    return {"kind": design.kind, **{word: v for word, v in listed.items() if v != []}}


def _describe_dimension(dimension: Any) -> dict[str, Any]:
    """As a study file says it."""
    if isinstance(dimension, Choices):
        return {"choices": list(dimension.options), "default": dimension.default}
    bounds = [dimension.low, dimension.high]
    if isinstance(dimension, Integers):
        return {"integers": bounds, "default": dimension.default, "log": dimension.log}
    kind = "log-uniform" if isinstance(dimension, LogUniform) else "uniform"
    return {kind: bounds, "default": dimension.default}


def _describe_splitter(splitter: Splitter) -> str | int:
    """What moves seeds: the number of folds of a cross-validation, and whether it is fixed."""
    if isinstance(splitter, CrossValidation):
        return splitter.n_folds
    return "fixed" if isinstance(splitter, FixedSplit) else "redrawn"


def _plan_splitter(split: str | int) -> Splitter:
    if isinstance(split, int):
        return CrossValidation(split)
    return _FIXED if split == "fixed" else OutOfBootstrap()
