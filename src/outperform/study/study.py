"""A study: pipelines, tasks and designs under one root seed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from outperform.study.designs import Design, Draw, FixHopt, Ideal, PlannedRun
from outperform.study.pipelines import Pipeline
from outperform.study.soundness import check_study
from outperform.study.tasks import Task


@dataclass(frozen=True, slots=True)
class Study:
    """Everything to run, and nothing of how or where.

    Parameters
    ----------
    pipelines, tasks, designs
        Every design is applied to every pipeline on every task.
    seed
        Root of every seed.
    tuner, n_trials
        How hyperparameters are searched, and with how many fits.
    timeout
        Seconds after which a fit is killed and counts as failed; None: never.
    retries
        How often a failed fit is tried again.
    """

    pipelines: tuple[Pipeline, ...]
    tasks: tuple[Task, ...]
    designs: tuple[Design, ...]
    name: str = "study"
    seed: int = 0
    tuner: str = "random"
    n_trials: int = 20
    timeout: float | None = None
    retries: int = 0

    def __post_init__(self) -> None:
        for what in ("pipelines", "tasks", "designs"):
            object.__setattr__(self, what, tuple(getattr(self, what)))
        check_study(self)

    def pipeline(self, name: str) -> Pipeline:
        """Pipeline of this name."""
        return next(pipeline for pipeline in self.pipelines if pipeline.name == name)

    def task(self, name: str) -> Task:
        """Task of this name."""
        return next(task for task in self.tasks if task.name == name)

    def plan_runs(self, designs: tuple[Design, ...] | None = None) -> Iterator[PlannedRun]:
        """Every run wanted, replicates of all pipelines side by side so that pairs end together.

        Those of other designs than the study's own, if given.
        """
        for design in designs or self.designs:
            plans = [
                design.plan_runs(self._draw(pipeline, task))
                for task in self.tasks
                for pipeline in self.pipelines
            ]
            yield from _in_turns(plans)

    def count_fits(
        self,
        designs: tuple[Design, ...] | None = None,
        pairs: Sequence[tuple[Pipeline, Task]] | None = None,
    ) -> int:
        """Number of fits of these designs (the study's own if not given), each done once.

        Parameters
        ----------
        pairs
            Pipelines and tasks to count them of; all if not given.
        """
        runs, searches = set(), set()
        every = [(pipeline, task) for task in self.tasks for pipeline in self.pipelines]
        for design in designs or self.designs:
            for pipeline, task in every if pairs is None else pairs:
                for run in design.plan_runs(self._draw(pipeline, task)):
                    moved = frozenset((name, i) for name, i in run.redrawn if i)
                    runs.add((run.pipeline, run.task, moved, run.search))
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

    def _draw(self, pipeline: Pipeline, task: Task) -> Draw:
        return Draw(pipeline, task, self.seed, self.tuner, self.n_trials)


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
