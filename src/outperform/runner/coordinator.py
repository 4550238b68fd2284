"""The coordinator of a run: the only writer of its store.

A planner follows every search as far as the recorded fits go; the engine is asked for the fits that
are missing, and it goes on from there. So an interrupted study resumes where it was, and results do
not depend on the number of workers.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from heapq import heappop
from pathlib import Path
from typing import Any

from outperform.engines import Engine
from outperform.engines.engine import summarize_error, use_engine
from outperform.errors import EngineError, TooFewRuns
from outperform.runner.exchange import Exchange, Progress
from outperform.runner.planning import Planner
from outperform.runner.spool import PATIENCE, FitReport, find_heartbeat
from outperform.runner.stored_study import StoredStudy
from outperform.runs import Runs, make_runs
from outperform.store import Added, Measurement, Store
from outperform.store.measurement import compare_scores
from outperform.store.store import use_store
from outperform.store.stored_runs import load_runs
from outperform.study.designs import PAIRED, Design
from outperform.study.fits import PlannedRun
from outperform.study.study import Study, check_is_study

Report = Callable[[Progress], None]


def run(
    study: Study,
    store: str | Path | Store,
    engine: str | Engine = "local",
    *,
    retry_failed: bool = False,
    spool: str | Path | None = None,
    report: Report = lambda _: None,
) -> Runs:
    """Do the fits of a study that its store does not have yet, and give its runs.

    Interrupt it whenever you like: the same call resumes, and nothing is lost.

    Parameters
    ----------
    store
        Where measurements are kept: an address such as `"study.db"`, or an open store.
    engine
        Where fits run: an address (`"local"`: a worker per core, `"local:4"`, `"inline"`: in this
        process), or an open engine.
    retry_failed
        Try again what failed in earlier runs; otherwise failures are final.
    spool
        A folder that workers share with this process: they keep every result there before they
        return it, so that nothing finished is done again should this process be killed.
    report
        Called with the progress at the beginning and whenever it has changed: `print` will do.

    Returns
    -------
    Runs of the design that comparisons take: ideal if the study has it, else fix-hopt; none where
    it has neither. Those that failed are incomplete, and what is missing is in their notes.
    """
    check_is_study(study)
    with use_store(store) as opened:
        news = _tell_news(report)
        run_fits(study, opened, engine, retry_failed=retry_failed, spool=spool, report=news)
        return _give_runs(study, opened)


def _tell_news(report: Report) -> Report:
    """Report numbers that have changed: a run looks up more often, however long a fit takes."""
    said = ""

    def tell(progress: Progress) -> None:
        nonlocal said
        if str(progress) != said:
            said = str(progress)
            report(progress)

    return tell


def _give_runs(study: Study, store: Store) -> Runs:
    if not any(store.scores().values()):
        failure = next(store.measurements("failed"))
        raise TooFewRuns(
            f"every fit of the study failed, such as one of {failure.pipeline}: "
            f"{summarize_error(failure.error)}",
            "Mend that, and run it again with retry_failed=True",
        )
    if any(design.kind in PAIRED for design in study.designs):
        return load_runs(store)
    task = study.tasks[0]
    note = (
        f"the designs of the study have no pairs to compare: decompose('{store.address}') tells "
        "what makes its scores vary"
    )
    source = store.address
    none = make_runs([], [], [], [], metric=task.metric, goal=task.goal, source=source)
    return replace(none, notes=(note,))


def run_fits(
    study: Study,
    store: Store,
    engine: str | Engine,
    *,
    retry_failed: bool = False,
    spool: str | Path | None = None,
    report: Report = lambda _: None,
) -> Progress:
    """Do the fits of a study that the store does not have yet, and say how many that were."""
    options: dict[str, Any] = {"retry_failed": retry_failed, "spool": spool}
    with open_coordinator(study, store, engine, **options) as coordinator:
        return coordinator.run(report=report)


@contextmanager
def open_coordinator(
    study: Study,
    store: Store,
    engine: str | Engine,
    *,
    retry_failed: bool = False,
    spool: str | Path | None = None,
) -> Iterator["Coordinator"]:
    """Coordinator of a study, with the engine of an address until the block ends, or an open one.

    The options are those of `run`.
    """
    heartbeat = None if spool is None else find_heartbeat(spool)
    with use_engine(engine, heartbeat=heartbeat, patience=PATIENCE) as workers:
        store.lock()  # before it is read: nobody shall write it in between
        stored = StoredStudy(study, store, retry_failed=retry_failed)
        yield Coordinator(stored, workers, spool=spool)


class Coordinator:
    """Does the missing fits of a study, or of some of its designs, as often as it is asked to.

    Attributes
    ----------
    known
        Scores of the recorded fits by key, none where one failed; without failures to be retried.
    """

    def __init__(
        self, stored: StoredStudy, engine: Engine, *, spool: str | Path | None = None
    ) -> None:
        self.stored, self.engine = stored, engine
        self.study, self.store = stored.study, stored.store
        stored.enter()
        self._exchange = Exchange(stored, engine, spool=spool)
        # They get ready while we read and plan; not where nothing seems to be missing.
        if stored.n_recorded < stored.now["n_fits"]:
            self._exchange.wake_workers()
        self._planner = Planner(stored)
        self.known, self.progress = self._planner.known, self._planner.progress
        self._missing = self._planner.fits
        self._arrived: list[FitReport] = []  # not saved yet
        stored.check_splits()
        if self._exchange.spool:
            done = {key for key, scores in self.known.items() if scores}
            for report in self._exchange.spool.take_duplicates(done):
                self._compare(report)

    def run(
        self,
        designs: tuple[Design, ...] | None = None,
        pipelines: Collection[str] = (),
        *,
        report: Report = lambda _: None,
    ) -> Progress:
        """Do what is missing of these designs and pipelines, of all of the study's by default."""
        if designs is not None:
            self.progress.n_fits = self.study.count_fits(designs, pipelines)
        self.progress.blocked.clear()
        self.progress.unsimulated.clear()
        try:
            with self._exchange.spool.keep_alive() if self._exchange.spool else nullcontext():
                plan = enumerate(self.study.plan_runs(designs, pipelines))
                self._submit_some(plan)
                while not self._exchange.is_idle:
                    self._record()
                    report(self.progress)
                    self._submit_some(plan)
                self._save([])
        except BaseException:  # save what was finished; nothing new is begun
            ended = (*self._arrived, *self._exchange.stop())
            done = [each for each in ended if each.error is None and each.key in self._missing]
            self._save([self._measure(each) for each in done])
            raise
        self._exchange.log.end()
        self.progress.settle(sum(self.store.counts().values()))
        self.store.set_meta("blocked", self.progress.blocked)
        self.store.set_meta("unsimulated", self.progress.unsimulated)
        if designs is None and self.progress.n_fits != self.stored.now["n_fits"]:
            self.stored.now["n_fits"] = self.progress.n_fits
            self.store.set_meta("study", self.stored.now)
        return self.progress

    def _submit_some(self, plan: Iterator[tuple[int, PlannedRun]]) -> None:
        """Plan and submit until workers have enough to do; what the spool has gives no work."""
        n_wanted = self._exchange.n_wanted
        while True:
            while len(self._planner.queue) < n_wanted and (planned := next(plan, None)):
                self._planner.take_up(*planned)
            for simulation in self._planner.simulations.begin(self.known):
                self._exchange.submit_simulation(*simulation)
            if not self._planner.queue or self._exchange.is_full:
                return
            key = heappop(self._planner.queue)[-1]
            if key in self._missing:  # else a second result has come while it waited for another
                self._exchange.submit(key, self._missing[key].fit)

    def _record(self) -> None:
        """Make results durable, then let the searches that wait for them go on."""
        self._arrived, simulated = self._exchange.receive(self.progress)
        for report in self._arrived:
            if report.lack is not None:  # all others of its task would fail like it
                raise EngineError(
                    report.lack,
                    "Bring the data to where the fits run, and run it again: what is recorded is "
                    "kept",
                )
        for outcome in simulated:
            self._planner.take_choices(outcome)
        results = [self._measure(report) for report in self._arrived if self._is_final(report)]
        for result in results:
            if result.status == "failed":
                self._planner.label_failure(result.key)
        for measurement, added in zip(results, self._save(results), strict=True):
            if added.kind == "differs":
                self.progress.noise.append(str(added))
            self._planner.settle(measurement)

    def _is_final(self, report: FitReport) -> bool:
        """Whether a result is to be recorded, and not tried again."""
        missing = self._missing.get(report.key)
        if missing is None:  # two workers have done it, which engines may let happen
            self._compare(report)
            return False
        if report.error is None or missing.n_attempts >= self.study.retries:
            return True
        missing.n_attempts += 1
        if self._exchange.spool:
            self._exchange.spool.remove([report.key])
        self._planner.enqueue(report.key)
        return False

    def _compare(self, report: FitReport) -> None:
        """Report scores that differ from those recorded; a failure is none, and has none."""
        first = self.known[report.key]
        if first and report.error is None:
            again = compare_scores(dict(first), dict(report.scores))
            self.progress.noise += [str(again)] if again.kind == "differs" else []

    def _save(self, measurements: list[Measurement]) -> list[Added]:
        """Make results durable, and which fits are runs, in one commit."""
        if not measurements and not self._planner.labels:
            return []
        added = self.store.add(measurements, self._planner.labels)
        if self._exchange.spool:
            self._exchange.spool.remove(each.key for each in measurements)
        self._arrived, self._planner.labels = [], []
        return added

    def _measure(self, report: FitReport) -> Measurement:
        fit = self._missing[report.key].fit
        return Measurement(
            key=report.key,
            pipeline=fit.pipeline,
            task=fit.task,
            params=fit.params,
            seeds=fit.seeds,
            fold=fit.fold,
            refit=fit.refit,
            status="done" if report.error is None else "failed",
            scores=dict(report.scores),
            seconds=report.seconds,
            error=report.error,
            started=report.started,
            versions=dict(report.versions),
        )
