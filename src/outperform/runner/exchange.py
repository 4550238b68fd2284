"""Between a coordinator and its workers: fits go out, and what became of them comes back."""

import time
from itertools import cycle, islice
from pathlib import Path

from outperform.engines import Engine, Outcome
from outperform.engines.engine import describe_failure
from outperform.runner.planning import Tag
from outperform.runner.progress import LOOK_EVERY, ActivityLog, Progress
from outperform.runner.spool import FitReport, Spool
from outperform.runner.stored_study import StoredStudy
from outperform.runner.work import FitWork, list_needs, need_nothing
from outperform.study.fits import Fit
from outperform.study.simulated_searches import Simulation, simulate

# Submitted at a time: workers never wait for one another's results to be recorded, and results of
# quick fits are recorded several to a commit, which is what takes time.
_SUBMITTED_PER_WORKER = 8
_TAKEN_AT_ONCE = 1000  # results of a spool, to one commit


class Exchange:
    """Submits fits, and takes in what became of them: from the engine, or from the spool.

    Meanwhile it says in the store what is going on. To retry what has failed, failures of before
    are left in the spool, and their fits done again.
    """

    def __init__(self, stored: StoredStudy, engine: Engine, *, spool: str | Path | None) -> None:
        study, self._retry_failed = stored.study, stored.retry_failed
        self._study, self._engine = study, engine
        self.spool = None if spool is None else Spool(spool)
        folder = None if self.spool is None else self.spool.folder
        # Work by task: who lacks the data of one may still do the others', once that is done.
        groups = [[task] for task in study.tasks if task.data is not None]
        if without := [task for task in study.tasks if task.data is None]:
            groups.append(without)
        works = [FitWork.of(study, group, spool=folder) for group in groups]
        self._works = {task: work for work in works for task in work.tasks}
        # Of several tasks, some may be done with, and their data be gone.
        self._first = works[0] if len(works) == 1 else FitWork.of(study, [])
        self._needs = list_needs(study)
        self._submitted: dict[str | Tag, Fit | None] = {}
        self.log = ActivityLog(stored.store, engine, self._submitted)
        self._spooled: list[FitReport] = []  # found done when they were about to be submitted

    @property
    def n_wanted(self) -> int:
        """How many fits should be on their way."""
        return _SUBMITTED_PER_WORKER * max(1, self._engine.n_workers)

    @property
    def is_full(self) -> bool:
        """Whether enough are on their way, or so many have come back that they are best saved."""
        return len(self._submitted) >= self.n_wanted or len(self._spooled) >= _TAKEN_AT_ONCE

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to wait for."""
        return not self._submitted and not self._spooled

    def wake_workers(self) -> None:
        """Let workers get ready while somebody reads and plans."""
        for needs in islice(cycle(self._needs.values()), self._engine.n_workers):
            timeout = self._study.timeout
            self._engine.submit(self._first.report, None, tag=None, timeout=timeout, needs=needs)

    def submit(self, key: str, fit: Fit) -> None:
        """Have a fit done, unless a worker has kept it in the spool."""
        if self.spool and (spooled := self.spool.take(key, failed=not self._retry_failed)):
            self._spooled.append(spooled)
            return
        self._submitted[key] = fit
        work, needs = self._works[fit.task].report, self._needs[fit.pipeline]
        self._engine.submit(work, (key, fit), tag=key, timeout=self._study.timeout, needs=needs)

    def submit_simulation(self, tag: Tag, simulation: Simulation) -> None:
        """Have searches simulated."""
        self._submitted[tag] = None
        self._engine.submit(simulate, simulation, tag=tag, needs=need_nothing(self._study))

    def receive(self, progress: Progress) -> tuple[list[FitReport], list[Outcome]]:
        """What has come back, of fits and of simulations; nothing where that takes long."""
        self.log.write(progress)
        reports, self._spooled = self._spooled, []
        simulated: list[Outcome] = []
        for outcome in [] if reports else self._engine.wait(LOOK_EVERY):
            self._submitted.pop(outcome.tag, None)
            if isinstance(outcome.tag, str):  # the key of a fit
                reports.append(self._find_report(outcome))
                self.log.count(outcome.worker, reports[-1].seconds)
            elif outcome.tag is not None:  # else a worker got ready
                simulated.append(outcome)
        progress.shortage = self._engine.shortage
        if self.spool:
            progress.spool = self.spool.notes
        return reports, simulated

    def stop(self) -> list[FitReport]:
        """Give up at once what is not finished, and hand out what is."""
        self._engine.stop()
        outcomes = self._engine.wait()
        return [self._find_report(each) for each in outcomes if isinstance(each.tag, str)]

    def _find_report(self, outcome: Outcome) -> FitReport:
        """What the worker itself has said of a fit, if it has, before it was lost."""
        if self.spool and outcome.kind in ("died", "timeout"):
            spooled = self.spool.take(outcome.tag, failed=not self._retry_failed)
            if spooled is not None:
                return spooled
        report = outcome.value
        if not isinstance(report, FitReport):  # it was killed, and has not said on what it ran
            seconds, started = outcome.seconds, time.time() - outcome.seconds
            report = FitReport(outcome.tag, report or {}, outcome.error, seconds, started, {})
        if self.spool:
            self.spool.note_failure(report)
        if report.error is None:
            return report
        return report._replace(error=describe_failure(report.error, outcome.output))
