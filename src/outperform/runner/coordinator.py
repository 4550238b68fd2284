"""The coordinator of a run: the only writer of its store.

It follows every search as far as the recorded fits go, asks the engine for the fits that are
missing, and goes on from there. So an interrupted study resumes where it was, and results do not
depend on the number of workers.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from typing import Any

from outperform.engines import Engine, Outcome
from outperform.engines.engine import summarize_error, use_engine
from outperform.errors import EngineError, TooFewRuns
from outperform.runner.description import enter_study, read_finished
from outperform.runner.exchange import Exchange
from outperform.runner.progress import Progress
from outperform.runner.searches import MissingFit, SearchState, Simulations
from outperform.runner.spool import PATIENCE, FitReport, find_heartbeat
from outperform.runner.work import check_splits
from outperform.runs import Runs, make_runs
from outperform.store import Added, Measurement, RunLabel, Store
from outperform.store.measurement import compare_scores
from outperform.store.store import use_store
from outperform.store.stored_doubts import label_trial
from outperform.store.stored_runs import load_runs
from outperform.study.designs import PAIRED, Design
from outperform.study.fits import Fit, PlannedRun, Search
from outperform.study.simulated_searches import resample_search
from outperform.study.spaces import Params, default_params
from outperform.study.study import Study, check_is_study
from outperform.study.tuners import make_tuner

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
        heartbeat = None if spool is None else find_heartbeat(spool)
        with use_engine(engine, heartbeat=heartbeat, patience=PATIENCE) as workers:
            news = _tell_news(report)
            run_fits(study, opened, workers, retry_failed=retry_failed, spool=spool, report=news)
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
    engine: Engine,
    *,
    retry_failed: bool = False,
    spool: str | Path | None = None,
    report: Report = lambda _: None,
) -> Progress:
    """Do the fits of a study that the store does not have yet, and say how many that were."""
    coordinator = Coordinator(study, store, engine, retry_failed=retry_failed, spool=spool)
    return coordinator.run(report=report)


class Coordinator:
    """Does the missing fits of a study, or of some of its designs, as often as it is asked to.

    It takes what `run` takes, and the description from `describe_study` where somebody has made it
    already.

    Attributes
    ----------
    known
        Scores of the recorded fits by key, none where one failed; without failures to be retried.
    """

    def __init__(
        self,
        study: Study,
        store: Store,
        engine: Engine,
        *,
        description: dict[str, Any] | None = None,
        retry_failed: bool = False,
        spool: str | Path | None = None,
    ) -> None:
        self.study, self.store, self.engine = study, store, engine
        self.description = enter_study(study, store, description, retry_failed=retry_failed)
        self._exchange = Exchange(study, store, engine, spool=spool, retry_failed=retry_failed)
        self.progress = Progress(self.description["n_fits"])
        self._tuner = make_tuner(study.tuner)
        # They get ready while we read and plan; not where nothing seems to be missing.
        if sum(store.counts().values()) < self.progress.n_fits:
            self._exchange.wake_workers()
        self.known, self._finished = read_finished(store, retry_failed=retry_failed)
        self._counted: set[str] = set()  # known before, and needed by this study
        self._searches: dict[Search, SearchState] = {}
        self._retry_failed = retry_failed
        self._simulations: Simulations | None = None  # where a design simulates searches
        self._fits: dict[str, MissingFit] = {}
        # Order, number in the queue and key: early runs first, so that pairs end together.
        self._queue: list[tuple[int, int, str]] = []
        self._numbers = count()
        self._arrived: list[FitReport] = []  # not saved yet
        self._labels: list[RunLabel] = []  # these neither
        sizes = self.description.get("sizes", {})
        measured = all(task.data is None or task.name in sizes for task in study.tasks)
        if not self.known or not measured:
            self.description["sizes"] = check_splits(study)
            store.set_meta("study", self.description)
        if self._exchange.spool:
            recorded = {key for key, scores in self.known.items() if scores}
            for report in self._exchange.spool.take_duplicates(recorded):
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
            done = [each for each in ended if each.error is None and each.key in self._fits]
            self._save([self._measure(each) for each in done])
            raise
        self._exchange.log.end()
        self.progress.settle(sum(self.store.counts().values()))
        self.store.set_meta("blocked", self.progress.blocked)
        self.store.set_meta("unsimulated", self.progress.unsimulated)
        if designs is None and self.progress.n_fits != self.description["n_fits"]:
            self.description["n_fits"] = self.progress.n_fits
            self.store.set_meta("study", self.description)
        return self.progress

    def _submit_some(self, plan: Iterator[tuple[int, PlannedRun]]) -> None:
        """Plan and submit until workers have enough to do; what the spool has gives no work."""
        n_wanted = self._exchange.n_wanted
        while True:
            while len(self._queue) < n_wanted and (planned := next(plan, None)):
                self._take_up(*planned)
            for simulation in self._simulations.begin(self.known) if self._simulations else ():
                self._exchange.submit_simulation(*simulation)
            if not self._queue or self._exchange.is_full:
                return
            key = heappop(self._queue)[-1]
            if key in self._fits:  # else a second result has come while it waited for another
                self._exchange.submit(key, self._fits[key].fit)

    def _take_up(self, order: int, planned: PlannedRun) -> None:
        """Count a run that is finished; of another, follow the search or want the fit."""
        search, finished = planned.search, self._finished.get(planned.role)
        state = None if search is None else self._searches.get(search)
        if search is not None and state is None:
            sign = self.study.task(search.task).sign
            self._searches[search] = state = SearchState(search, order, sign)
            state.n_assumed = 0 if finished is None else search.n_trials
            self.progress.n_known += state.n_assumed
        if state is not None and planned.choice == "best" and state.finished_run is None:
            state.finished_run = finished
        if finished is not None:
            self._count_known(finished)
        elif state is not None:
            state.runs.append(planned)
            self._follow(state)
        else:
            space = self.study.pipeline(planned.pipeline).space
            self._want_run(planned, default_params(space), order)

    def _follow(self, state: SearchState) -> None:
        """Go on with a search until a fit is missing; at its end, take up the waiting runs."""
        if state.best is None and state.finished_run is not None:
            # Suggesting every trial again would take long, and find what this run was given.
            state.best = self.store.get([state.finished_run])[state.finished_run].params
        if state.best is None or any(run.choice != "best" for run in state.runs):
            self._try_all(state)
            if state.missing or len(state.keys) < state.search.n_trials:
                return
            if state.best is None:
                state.conclude(self.known)
        if state.failed:
            _count_blocked(self.progress.blocked, state, len(state.runs))
        for planned in () if state.failed else state.runs:
            self._choose(planned, state)
        state.runs.clear()

    def _try_all(self, state: SearchState) -> None:
        """Want every trial of a search; one after the other where the tuner learns from them."""
        if not state.keys:
            self.progress.n_known -= state.n_assumed  # they are counted one by one
            state.n_assumed = 0
        want = partial(self._want, order=state.order)
        for key in state.go_on(self.study, self._tuner, self.known, want):
            if key in self._fits:
                self._fits[key].searches.append(state)
            elif not self.known[key]:
                self._label_failure(state, key)

    def _choose(self, planned: PlannedRun, state: SearchState) -> None:
        """Want a run with what its search chose, or what one redrawn for it does."""
        assert state.best is not None
        if planned.choice == "best":
            self._want_run(planned, state.best, state.order)
        elif planned.choice == "resampled":
            params = resample_search(state.history(self.known), planned.tuner_seed)
            self._want_run(planned, params, state.order)
        else:
            if self._simulations is None:
                self._simulations = Simulations(
                    self.study, self.store, self.description, anew=self._retry_failed
                )
            if refused := self._simulations.add(state, planned):
                self._refuse(state, refused, 1)

    def _refuse(self, state: SearchState, why: str, n_runs: int) -> None:
        """Give up runs whose search cannot be simulated."""
        where = _count_blocked(self.progress.unsimulated, state, n_runs)
        self.progress.refusals[where] = why

    def _take_choices(self, outcome: Outcome) -> None:
        """Want the runs that have waited for simulated searches."""
        assert self._simulations is not None
        finished = self._simulations.finish(outcome)
        if finished is None:
            return
        state, runs, choices, refused = finished
        if refused:
            self._refuse(state, refused, len(runs))
        for planned, params in zip(() if refused else runs, choices, strict=True):
            self._want_run(planned, params, state.order)

    def _label_failure(self, state: SearchState, key: str) -> None:
        """Note which trials of a search have failed, for whoever asks what it saw."""
        places = (number for number, tried in enumerate(state.keys) if tried == key)
        self._labels += [label_trial(state.search, number, key) for number in places]

    def _want_run(self, planned: PlannedRun, params: Params, order: int) -> None:
        key = self._want(self.study.make_fit(planned, params, refit=True), order)
        self._labels.append(RunLabel(*planned.role, key))

    def _want(self, fit: Fit, order: int) -> str:
        """Key of a fit, which is queued unless it is known or on its way already."""
        key = fit.key(self.description["fingerprints"])
        if key in self.known:
            self._count_known(key)
        elif key not in self._fits:
            self._fits[key] = MissingFit(fit, order)
            self._enqueue(key)
        return key

    def _count_known(self, key: str) -> None:
        if key not in self._counted:
            self._counted.add(key)
            self.progress.n_known += 1

    def _enqueue(self, key: str) -> None:
        heappush(self._queue, (self._fits[key].order, next(self._numbers), key))

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
            self._take_choices(outcome)
        results = [self._measure(report) for report in self._arrived if self._is_final(report)]
        for result in results:
            for state in self._fits[result.key].searches if result.status == "failed" else ():
                self._label_failure(state, result.key)
        for measurement, added in zip(results, self._save(results), strict=True):
            if added.kind == "differs":
                self.progress.noise.append(str(added))
            if measurement.key in self._fits:  # else it came twice
                self._settle(measurement, self._fits.pop(measurement.key))

    def _is_final(self, report: FitReport) -> bool:
        """Whether a result is to be recorded, and not tried again."""
        missing = self._fits.get(report.key)
        if missing is None:  # two workers have done it, which engines may let happen
            self._compare(report)
            return False
        if report.error is None or missing.n_attempts >= self.study.retries:
            return True
        missing.n_attempts += 1
        if self._exchange.spool:
            self._exchange.spool.remove([report.key])
        self._enqueue(report.key)
        return False

    def _compare(self, report: FitReport) -> None:
        """Report scores that differ from those recorded; a failure is none, and has none."""
        first = self.known[report.key]
        if first and report.error is None:
            again = compare_scores(dict(first), dict(report.scores))
            self.progress.noise += [str(again)] if again.kind == "differs" else []

    def _save(self, measurements: list[Measurement]) -> list[Added]:
        """Make results durable, and which fits are runs, in one commit."""
        if not measurements and not self._labels:
            return []
        added = self.store.add(measurements, self._labels)
        if self._exchange.spool:
            self._exchange.spool.remove(each.key for each in measurements)
        self._arrived, self._labels = [], []
        return added

    def _settle(self, measurement: Measurement, missing: MissingFit) -> None:
        self.progress.n_done += measurement.status == "done"
        self.progress.n_failed += measurement.status == "failed"
        self.known[measurement.key] = measurement.scores
        self._counted.add(measurement.key)
        for state in missing.searches:
            state.missing.discard(measurement.key)
            self._follow(state)

    def _measure(self, report: FitReport) -> Measurement:
        fit = self._fits[report.key].fit
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


def _count_blocked(blocked: dict[str, int], state: SearchState, n_runs: int) -> str:
    """Count runs that cannot be done, by their pipeline and task."""
    where = f"{state.search.pipeline} on {state.search.task}"
    blocked[where] = blocked.get(where, 0) + n_runs
    return where
