"""A study: pipelines, tasks and designs under one root seed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from outperform.errors import InvalidInput
from outperform.study.designs import Design, FixHopt, Ideal
from outperform.study.fits import Fit, make_fit
from outperform.study.pipelines import Pipeline
from outperform.study.planned_runs import Draw, PlannedRun, Search
from outperform.study.spaces import Params
from outperform.study.study_checks import check_study, list_parts, score_by_task
from outperform.study.tasks import Task


@dataclass(frozen=True, slots=True)
class Study:
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
    _by_name: dict[tuple[str, str], Pipeline | Task] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for parts, kind in (("pipelines", Pipeline), ("tasks", Task), ("designs", Design)):
            object.__setattr__(self, parts, list_parts(parts, getattr(self, parts), kind))
        object.__setattr__(self, "pipelines", score_by_task(self.pipelines, self.tasks))
        by_name: dict[tuple[str, str], Pipeline | Task] = {}
        by_name |= {("pipeline", pipeline.name): pipeline for pipeline in self.pipelines}
        by_name |= {("task", task.name): task for task in self.tasks}
        object.__setattr__(self, "_by_name", by_name)
        check_study(self)

    def pipeline(self, name: str) -> Pipeline:
        """Pipeline of this name."""
        return self._by_name["pipeline", name]  # type: ignore[return-value]

    def task(self, name: str) -> Task:
        """Task of this name."""
        return self._by_name["task", name]  # type: ignore[return-value]

    def plan_runs(self, designs: tuple[Design, ...] | None = None) -> Iterator[PlannedRun]:
        """Every run wanted, replicates of all pipelines side by side so that pairs end together.

        Those of other designs than the study's own, if given.
        """
        for design in designs or self.designs:
            plans = [
                design.plan_runs(self.draw(pipeline, task))
                for task in self.tasks
                for pipeline in self.pipelines
            ]
            yield from _in_turns(plans)

    def count_fits(
        self,
        designs: Sequence[Design] | None = None,
        pairs: Sequence[tuple[Pipeline, Task]] | None = None,
    ) -> int:
        """Number of fits of these designs (the study's own if not given), each done once.

        Parameters
        ----------
        pairs
            Pipelines and tasks to count them of; all if not given.
        """
        runs, searches = set(), set()
        if pairs is None:
            every = ((pipeline, task) for task in self.tasks for pipeline in self.pipelines)
            return sum(self.count_fits(designs, [pair]) for pair in every)
        for design in designs or self.designs:
            for pipeline, task in pairs:
                for run in design.plan_runs(self.draw(pipeline, task)):
                    moved = frozenset((name, i) for name, i in run.redrawn.items() if i)
                    runs.add((run.pipeline, run.task, moved, run.search, run.choice))
                    searches.add(run.search)
        return len(runs) + sum(search.n_trials for search in searches if search is not None)

    def price_alternatives(
        self, pairs: Sequence[tuple[Pipeline, Task]] | None = None
    ) -> dict[str, int]:
        """Fits of the designs chosen, and of ideal and fix-hopt with as many replicates."""
        k = max((getattr(e, "n_replicates", 0) for e in self.designs), default=0) or 1
        kinds = dict.fromkeys(e.kind for e in self.designs)
        prices = {
            kind: self.count_fits(tuple(e for e in self.designs if e.kind == kind), pairs)
            for kind in kinds
        }
        others: tuple[Design, ...] = (Ideal(k), FixHopt(k))
        return prices | {
            e.kind: self.count_fits((e,), pairs) for e in others if e.kind not in prices
        }

    def make_fit(self, planned: PlannedRun | Search, params: Params, *, refit: bool) -> Fit:
        """Fit of a run, or of a trial of a search, with these hyperparameters."""
        pipeline, task = self.pipeline(planned.pipeline), self.task(planned.task)
        seeds = dict(planned.seeds)
        return make_fit(pipeline, task, params, seeds, fold=planned.fold, refit=refit)

    def draw(self, pipeline: Pipeline, task: Task) -> Draw:
        """What derives the seeds of a pipeline on a task."""
        return Draw(pipeline, task, self.seed, self.tuner, self.trials)


def _in_turns(plans: list[Iterator[PlannedRun]]) -> Iterator[PlannedRun]:
    """First runs of all plans, then second ones, and so on."""
    while plans:
        left = []
        for plan in plans:
            run = next(plan, None)
            if run is not None:
                yield run
                left.append(plan)
        plans = left


def check_is_study(study: object) -> None:
    """Refuse what is no study, such as the path of one."""
    if not isinstance(study, Study):
        raise InvalidInput(
            f"the study is {study!r}", "Pass a Study: read_study reads one from a study file"
        )
