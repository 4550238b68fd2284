"""A study: pipelines, tasks and designs under one root seed.

A store keeps its plan as plain data (`describe_plan`), from which `plan_study` makes a study
without the code: it plans the same runs and searches, whose fits have the same keys, and can train
nothing.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Self

from outperform.errors import InvalidInput, OutperformError
from outperform.study.datasets import Dataset
from outperform.study.designs import (
    Design,
    FixHopt,
    Ideal,
    count_fits,
    describe_design,
    make_design,
)
from outperform.study.fits import Draw, PlannedRun
from outperform.study.pipelines import Pipeline
from outperform.study.spaces import Space, describe_dimension, make_space
from outperform.study.splits import CrossValidation, FixedSplit, OutOfBootstrap, Splitter
from outperform.study.study_checks import check_study, list_parts, score_by_task
from outperform.study.tasks import Task


class _RefusesOldWord:
    """Says what designs were called before, to whoever still calls them so."""

    __slots__ = ()

    def __new__(cls, *_: object, **options: object) -> Self:
        if "estimators" in options:
            raise InvalidInput(
                "the study has estimators=, which is called designs= now",
                "Write designs= instead; an estimator is scikit-learn's, in a Pipeline",
            )
        return super().__new__(cls)


@dataclass(frozen=True, slots=True)
class Study(_RefusesOldWord):
    """Everything to run, and nothing of how or where.

    Parameters
    ----------
    pipelines, tasks, designs
        Lists of `Pipeline`, `Task` and designs such as `Ideal(51)`: every design is applied to
        every pipeline on every task. All tasks have one metric.
    seed
        Root of every seed.
    tuner, trials
        How hyperparameters are searched, and with how many fits each.
    timeout
        Seconds after which a fit is killed and counts as failed; None: never.
    retries
        How often a failed fit is tried again.

    Examples
    --------
    >>> study = Study(
    ...     tasks=[Task("iris", metric="accuracy")],
    ...     pipelines=[Pipeline("bayes", "sklearn.naive_bayes.GaussianNB")],
    ...     designs=[Ideal(10)],
    ... )
    >>> study.count_fits()
    10
    """

    pipelines: Sequence[Pipeline]
    tasks: Sequence[Task]
    designs: Sequence[Design]
    name: str = "study"
    seed: int = 0
    tuner: str = "random"
    trials: int = 20
    timeout: float | None = None
    retries: int = 0

    def __post_init__(self) -> None:
        for parts, kind in (("pipelines", Pipeline), ("tasks", Task), ("designs", Design)):
            object.__setattr__(self, parts, list_parts(parts, getattr(self, parts), kind))
        object.__setattr__(self, "pipelines", score_by_task(self.pipelines, self.tasks))
        check_study(self)

    def pipeline(self, name: str) -> Pipeline:
        """Pipeline of this name."""
        return {each.name: each for each in self.pipelines}[name]

    def task(self, name: str) -> Task:
        """Task of this name."""
        return {each.name: each for each in self.tasks}[name]

    def plan_runs(
        self, designs: tuple[Design, ...] | None = None, pipelines: Collection[str] = ()
    ) -> Iterator[PlannedRun]:
        """Every run wanted, replicates of all pipelines side by side so that pairs end together.

        Those of other designs than the study's own, and of some of its pipelines, if given.
        """
        draws = [draw for draw in self.draws if not pipelines or draw.pipeline.name in pipelines]
        for design in designs or self.designs:
            for turn in zip_longest(*map(design.plan_runs, draws)):
                yield from filter(None, turn)

    def count_fits(
        self, designs: Sequence[Design] | None = None, pipelines: Collection[str] = ()
    ) -> int:
        """Number of fits of what `plan_runs` plans, each done once."""
        return sum(
            count_fits(designs or self.designs, draw)
            for draw in self.draws
            if not pipelines or draw.pipeline.name in pipelines
        )

    def price_alternatives(self) -> dict[str, list[tuple[str, str, int]]]:
        """Fits of the designs chosen, and of ideal and fix-hopt with as many replicates.

        Of each kind of design, the number for every pipeline on every task.
        """
        by_kind: dict[str, list[Design]] = {}
        for design in self.designs:
            by_kind.setdefault(design.kind, []).append(design)
        k = max(getattr(design, "n_replicates", 0) for design in self.designs) or 1
        by_kind.setdefault("ideal", [Ideal(k)])
        by_kind.setdefault("fix-hopt", [FixHopt(k)])
        return {
            kind: [(*draw.pair, count_fits(designs, draw)) for draw in self.draws]
            for kind, designs in by_kind.items()
        }

    @property
    def draws(self) -> list[Draw]:
        """What derives the seeds of every pipeline on every task, those on one side by side."""
        settings = (self.seed, self.tuner, self.trials)
        return [
            Draw(pipeline, task, *settings) for task in self.tasks for pipeline in self.pipelines
        ]


def check_is_study(study: object) -> None:
    """Refuse what is no study, such as the path of one."""
    if not isinstance(study, Study):
        raise InvalidInput(
            f"the study is {study!r}", "Pass a Study: read_study reads one from a study file"
        )


@dataclass(frozen=True, slots=True)
class PlannedPipeline(Pipeline):
    """A pipeline of which only the plan is known."""

    name: str
    space: Space
    sources: tuple[str, ...]
    fingerprint: str
    gets_split: bool = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class PlannedTask(Task):
    """A task of which only the plan is known."""

    fingerprint: str = field(default="")  # of its data and split when the study was run


def _hold_no_data() -> Dataset:
    raise InvalidInput("a store holds no data", "Read the study itself")


def describe_plan(study: Study) -> dict[str, Any] | None:
    """All that says which fits a study needs; None where a design is the person's own."""
    designs = [describe_design(design) for design in study.designs]
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
                "space": {n: describe_dimension(d) for n, d in pipeline.space.items()},
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
    """Study from its plan, and what `gather_fingerprints` said of it; nothing is imported."""
    try:
        pipelines = [
            PlannedPipeline(
                each["name"],
                make_space(each["space"]),
                tuple(each["sources"]),
                fingerprints[f"pipeline {each['name']}"],
                gets_split=each["gets_split"],
            )
            for each in plan["pipelines"]
        ]
        tasks = [
            PlannedTask(
                each["name"],
                each["metric"],
                each["goal"],
                _hold_no_data if each["has_data"] else None,
                _plan_splitter(each["split"]),
                fingerprints[f"task {each['name']}"],
            )
            for each in plan["tasks"]
        ]
        designs = [make_design(each) for each in plan["designs"]]
        settings = {word: plan[word] for word in ("seed", "tuner", "trials")}
        return Study(pipelines, tasks, designs, name=name, **settings)
    except OutperformError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"the plan of study {name!r} cannot be read ({type(error).__name__}: {error})",
            "Run the study once more: nothing is trained anew, and its plan is written again",
        ) from error


def _describe_splitter(splitter: Splitter) -> str | int:
    """What moves seeds: the number of folds of a cross-validation, and whether it is fixed."""
    if isinstance(splitter, CrossValidation):
        return splitter.n_folds
    return "fixed" if isinstance(splitter, FixedSplit) else "redrawn"


def _plan_splitter(split: str | int) -> Splitter:
    if isinstance(split, int):
        return CrossValidation(split)
    # That one stands for any: none moves a seed.
    return FixedSplit([0], [], [1]) if split == "fixed" else OutOfBootstrap()
