"""The coordinator of a run: the only writer of its store.

It follows every search as far as the recorded fits go, asks the engine for the fits that are
missing, and goes on from there. So an interrupted study resumes where it was, and results do not
depend on the number of workers.
"""

import time
from collections.abc import Callable, Iterator
from heapq import heappop, heappush

from outperform.engines import Engine, Outcome
from outperform.runner.describing import enter_study, find_unmeasured
from outperform.runner.fitting import FitWork, check_splits, find_versions
from outperform.runner.progress import Progress, Scores, Store
from outperform.runner.searching import Job, SearchState
from outperform.store import Added, Measurement, RunLabel
from outperform.store.measurement import Role, compare_scores
from outperform.study.designs import PlannedRun, Search
from outperform.study.fits import Fit, gather_fingerprints, make_fit
from outperform.study.spaces import Params, default_params
from outperform.study.study import Study
from outperform.study.tuners import Trial, make_tuner

# Submitted at a time: workers never wait for one another's results to be recorded, and results of
# quick fits are recorded several to a commit, which is what takes time.
_SUBMITTED_PER_WORKER = 8


def run(
    study: Study,
    store: Store,
    engine: Engine,
    *,
    retry_failed: bool = False,
    report: Callable[[Progress], None] = lambda _: None,
    whole: Study | None = None,
) -> Progress:
    """Do the fits of a study that the store does not have yet.

    Parameters
    ----------
    retry_failed
        Try again what failed in earlier runs; otherwise failures are final.
    report
        Called with the progress whenever results have been recorded.
    whole
        The study that this one is a part of, for now: what the store holds the results of.
    """
    description = enter_study(whole or study, store, retry_failed=retry_failed)
    progress = Progress(description["n_fits"] if whole is None else study.count_fits())
    coordinator = _Coordinator(study, store, engine, progress, retry_failed=retry_failed)
    if not coordinator.known or find_unmeasured(study, description):
        description |= {"sizes": check_splits(study)}
        store.set_meta("study", description)
    try:
        for _ in coordinator.work():
            report(progress)
    except BaseException:
        engine.stop()
        coordinator.rescue(engine.wait())
        raise
    progress.settle(sum(store.counts().values()))
    store.set_meta("blocked", progress.blocked)
    if whole is None:
        store.set_meta("study", description | {"n_fits": progress.n_fits})
    return progress


class _Coordinator:
    def __init__(
        self, study: Study, store: Store, engine: Engine, progress: Progress, *, retry_failed: bool
    ) -> None:
        self.study, self.store, self.engine, self.progress = study, store, engine, progress
        self.tuner = make_tuner(study.tuner)
        self.fit_work = FitWork(study)
        self._wake_workers()
        self.fingerprints = gather_fingerprints(study.pipelines, study.tasks)
        self.versions = find_versions()
        self.known: dict[str, Scores | None] = dict(store.scores())  # None: failed
        # Runs that an earlier run of this study has finished, searches and all.
        runs = store.run_keys()
        self.finished = {role: key for role, key in runs.items() if key in self.known}
        if not retry_failed:
            self.known.update(dict.fromkeys(store.failed_keys(), None))
        self.counted: set[str] = set()  # known before, and needed by this study
        self.plan = enumerate(study.plan_runs())
        self.searches: dict[Search, SearchState] = {}
        self.jobs: dict[str, Job] = {}
        self.queue: list[tuple[int, int, str]] = []  # early runs first, so that pairs end together
        self.n_queued = 0
        self.submitted: set[str] = set()
        self.arrived: list[Outcome] = []
        self.labels: list[RunLabel] = []  # not saved yet

    def work(self) -> Iterator[None]:
        """Plan and fit until nothing is missing; yields after every durable commit."""
        while True:
            self._plan_ahead()
            self._fill_engine()
            if not self.submitted:
                break
            self._record()
            yield
        self._save([])

    def rescue(self, outcomes: list[Outcome]) -> None:
        """Save what was finished when an interruption came; nothing new is begun."""
        finished = [
            outcome
            for outcome in (*self.arrived, *outcomes)
            if outcome.kind == "done" and outcome.tag in self.jobs
        ]
        self._save([self._measure(outcome) for outcome in finished])

    def _wake_workers(self) -> None:
        """Let workers get ready while we read and plan; not where nothing seems to be missing."""
        if sum(self.store.counts().values()) < self.progress.n_fits:
            for _ in range(self.engine.n_workers):
                self.engine.submit(self.fit_work, None, tag=None)

    def _plan_ahead(self) -> None:
        """Take up runs until enough fits are queued."""
        enough = _SUBMITTED_PER_WORKER * self.engine.n_workers
        while len(self.queue) < enough:
            order, planned = next(self.plan, (0, None))
            if planned is None:
                return
            self._take_up(planned, order)

    def _take_up(self, planned: PlannedRun, order: int) -> None:
        finished = self.finished.get(_role(planned))
        state = self._find_search(planned.search, order, finished)
        if finished is not None:
            self._count_known(finished)
        elif state is not None:
            state.runs.append(planned)
            self._follow(state)
        else:
            space = self.study.pipeline(planned.pipeline).space
            self._want_run(planned, default_params(space), order)

    def _find_search(
        self, search: Search | None, order: int, finished_run: str | None
    ) -> SearchState | None:
        if search is None:
            return None
        state = self.searches.get(search)
        if state is not None:
            return state
        sign = 1 if self.study.task(search.task).goal == "maximize" else -1
        self.searches[search] = state = SearchState(search, order, sign, finished_run)
        if finished_run is not None:
            self.progress.n_known += search.n_trials
        return state

    def _follow(self, state: SearchState) -> None:
        """Go on with a search until a fit is missing; at its end, take up the waiting runs."""
        if state.found is None and state.finished_run is not None:
            # Suggesting every trial again would take long, and find what this run was given.
            state.found = self.store.get([state.finished_run])[state.finished_run].params
        while state.found is None and len(state.keys) < state.search.n_trials:
            if state.missing and self.tuner.uses_history:
                return
            self._try_next(state)
        if state.found is None and not state.missing:
            state.conclude(self.known)
        if state.found is not None:
            for planned in state.runs:
                self._want_run(planned, state.found, state.order)
            state.runs.clear()
        elif state.failed:
            where = f"{state.search.pipeline} on {state.search.task}"
            blocked = self.progress.blocked
            blocked[where] = blocked.get(where, 0) + len(state.runs)
            state.runs.clear()

    def _try_next(self, state: SearchState) -> None:
        search = state.search
        pipeline, task = self.study.pipeline(search.pipeline), self.study.task(search.task)
        history = state.history(self.known) if self.tuner.uses_history else state.untold
        params = self.tuner.suggest(pipeline.space, history, search.tuner_seed, search.n_trials)
        fit = make_fit(pipeline, task, params, dict(search.seeds), fold=search.fold)
        key = self._want(fit, state.order)
        state.untold.append(Trial(params, None))
        state.keys.append(key)
        if key in self.jobs:
            state.missing.add(key)
            self.jobs[key].searches.append(state)

    def _want_run(self, planned: PlannedRun, params: Params, order: int) -> None:
        pipeline, task = self.study.pipeline(planned.pipeline), self.study.task(planned.task)
        seeds = dict(planned.seeds)
        fit = make_fit(pipeline, task, params, seeds, fold=planned.fold, refit=True)
        self.labels.append(RunLabel(*_role(planned), self._want(fit, order)))

    def _want(self, fit: Fit, order: int) -> str:
        """Key of a fit, which is queued unless it is known or on its way already."""
        key = fit.key(self.fingerprints)
        if key in self.known:
            self._count_known(key)
        elif key not in self.jobs:
            self.jobs[key] = Job(fit, order)
            self._queue(key)
        return key

    def _count_known(self, key: str) -> None:
        if key not in self.counted:
            self.counted.add(key)
            self.progress.n_known += 1

    def _queue(self, key: str) -> None:
        self.n_queued += 1
        heappush(self.queue, (self.jobs[key].order, self.n_queued, key))

    def _fill_engine(self) -> None:
        while self.queue and len(self.submitted) < _SUBMITTED_PER_WORKER * self.engine.n_workers:
            _, _, key = heappop(self.queue)
            self.submitted.add(key)
            self.engine.submit(self.fit_work, self.jobs[key].fit, tag=key)

    def _record(self) -> None:
        """Make results durable, then let the searches that wait for them go on."""
        self.arrived = self.engine.wait()
        results = [self._measure(outcome) for outcome in self.arrived if self._is_final(outcome)]
        for measurement, added in zip(results, self._save(results), strict=True):
            if added.kind == "differs":
                self.progress.noise.append(str(added))
            job = self.jobs.pop(measurement.key, None)
            if job is not None:
                self._settle(measurement, job)

    def _is_final(self, outcome: Outcome) -> bool:
        """Whether a result is to be recorded, and not tried again."""
        if outcome.tag is None:
            return False
        self.submitted.discard(outcome.tag)
        job = self.jobs.get(outcome.tag)
        if job is None:  # two workers have done it, which engines may let happen
            again = compare_scores(self.known[outcome.tag] or {}, outcome.value or {})
            self.progress.noise += [str(again)] if again.kind == "differs" else []
            return False
        if outcome.kind == "done" or job.attempts >= self.study.retries:
            return True
        job.attempts += 1
        self._queue(outcome.tag)
        return False

    def _save(self, measurements: list[Measurement]) -> list[Added]:
        """Make results durable, and which fits are runs, in one commit."""
        if not measurements and not self.labels:
            return []
        added = self.store.add_all(measurements, self.labels)
        self.arrived, self.labels = [], []
        return added

    def _settle(self, measurement: Measurement, job: Job) -> None:
        self.progress.n_done += measurement.status == "done"
        self.progress.n_failed += measurement.status == "failed"
        self.known[measurement.key] = measurement.scores or None
        self.counted.add(measurement.key)
        for state in job.searches:
            state.missing.discard(measurement.key)
            self._follow(state)

    def _measure(self, outcome: Outcome) -> Measurement:
        fit, done = self.jobs[outcome.tag].fit, outcome.kind == "done"
        return Measurement(
            key=outcome.tag,
            pipeline=fit.pipeline,
            task=fit.task,
            params=fit.params,
            seeds=fit.seeds,
            fold=fit.fold,
            refit=fit.refit,
            status="done" if done else "failed",
            scores=outcome.value if done else {},
            seconds=outcome.seconds,
            error=None if done else outcome.error,
            started=time.time() - outcome.seconds,
            versions=self.versions,
        )


def _role(run: PlannedRun) -> Role:
    """What a run is for, by which it is known from one run of the study to the next."""
    return (run.design, run.source, run.replicate, run.pipeline, run.task)
