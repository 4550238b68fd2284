"""Between a coordinator and its workers: fits go out, and what became of them comes back.

Meanwhile the run says how far it is: to whoever called it, and in its store to whoever watches it.
"""

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Literal

from outperform.engines import Engine, Outcome
from outperform.engines.engine import describe_failure
from outperform.runner.spool import FitReport, Spool
from outperform.runner.stored_study import StoredStudy
from outperform.runner.work import FitWork, list_needs, need_nothing
from outperform.store import Store
from outperform.store.meta import ACTIVITY
from outperform.study.fits import Fit
from outperform.study.simulated_searches import Simulation, simulate

Tag = tuple[Literal["simulation"], str]  # of a simulation, which no fit has: its surrogate's name

# Submitted at a time: workers never wait for one another's results to be recorded, and results of
# quick fits are recorded several to a commit, which is what takes time.
_SUBMITTED_PER_WORKER = 8
_TAKEN_AT_ONCE = 1000  # results of a spool, to one commit
_LOOK_EVERY = 2.0  # seconds between two looks, and for which a run says nothing
_SPEAK_EVERY = 30.0  # seconds, though nothing has changed: who watches sees that it is alive
_RECENT = 600.0  # seconds over which the rate is taken, or so many fits if these take longer:
_N_ROUNDS = 10  # long fits that began together end together
_N_COUNTED = 10_000  # fits of which it is known when they ended
_N_KEPT = 200  # workers, the longest at it first


@dataclass(slots=True)
class Progress:
    """How far a run has come.

    Examples
    --------
    >>> print(Progress(80, n_known=10, n_done=5, n_failed=1))
    15 done, 1 failed, 64 left
    """

    n_fits: int  # that the study needs, at most: equal fits are done once
    n_known: int = 0  # of these, recorded before this run, failures included
    n_done: int = 0  # in this run
    n_failed: int = 0
    # Runs that cannot be done, by pipeline and task: as every trial of their search has failed, or
    # as it cannot be simulated, and why not.
    blocked: dict[str, int] = field(default_factory=dict)
    unsimulated: dict[str, int] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    noise: list[str] = field(default_factory=list)  # of fits with other scores when done again
    shortage: str | None = None  # why fewer workers than were asked for did the fits
    spool: list[str] = field(default_factory=list)  # what is to be said of it

    def __str__(self) -> str:
        return f"{self.n_known + self.n_done} done, {self.n_failed} failed, {self.n_left} left"

    @property
    def n_blocked(self) -> int:
        """Runs that cannot be done."""
        return sum(self.blocked.values()) + sum(self.unsimulated.values())

    @property
    def n_left(self) -> int:
        """Fits still to do, at most."""
        settled = self.n_known + self.n_done + self.n_failed + self.n_blocked
        return max(0, self.n_fits - settled)

    def settle(self, n_recorded: int) -> None:
        """Correct the numbers at the end: until now, equal trials of a search counted each."""
        self.n_fits = min(self.n_fits - self.n_left, n_recorded + self.n_blocked)
        others = self.n_done + self.n_failed + self.n_blocked
        self.n_known = min(self.n_known, self.n_fits - others)


class ActivityLog:
    """Says in the store what workers do, how fast fits are done, and how many are left.

    Whatever is there from a run that did not end by itself is taken away.

    Parameters
    ----------
    submitted
        What the engine was asked for, by tag: a fit, or None where searches are simulated.
    """

    def __init__(self, store: Store, engine: Engine, submitted: Mapping[Any, Fit | None]) -> None:
        self._store, self._engine, self._submitted = store, engine, submitted
        self._began = time.time()
        self._looked = self._spoke = time.monotonic()
        self._said: Any = None
        self._seconds: dict[str, list[float]] = {}  # by worker, number of its fits and their sum
        self._ends: deque[float] = deque(maxlen=_N_COUNTED)
        self._first_seen: dict[tuple[str, Any], float] = {}
        if store.get_meta(ACTIVITY) is not None:
            store.set_meta(ACTIVITY, None)

    def count(self, worker: str, seconds: float) -> None:
        """Take note of a fit that has ended."""
        self._ends.append(time.time())
        of_worker = self._seconds.setdefault(worker, [0, 0.0])
        of_worker[0] += 1
        of_worker[1] += seconds

    def write(self, progress: Progress) -> None:
        """Say what is going on, where that has changed since."""
        now = time.monotonic()
        if now - self._looked < _LOOK_EVERY:
            return
        self._looked = now
        content = self._describe(progress)
        if content != self._said or now - self._spoke > _SPEAK_EVERY:
            self._said, self._spoke = content, now
            self._store.set_meta(ACTIVITY, {**content, **self._find_pace(progress.n_left)})

    def end(self) -> None:
        """Say no more: the run is over."""
        if self._said is not None:
            self._said = None
            self._store.set_meta(ACTIVITY, None)

    def _describe(self, progress: Progress) -> dict[str, Any]:
        known = self._engine.activity()
        active = known or []
        now = time.time()
        self._first_seen = {
            (worker, tag): self._first_seen.get((worker, tag), since or now)
            for worker, tag, since in active
        }
        longest = sorted(active, key=lambda each: self._first_seen[each.worker, each.tag])
        workers = []
        for worker, tag, _ in longest[:_N_KEPT]:
            n_done, seconds = self._seconds.get(worker, (0, 0.0))
            # Clocks differ from look to look, by less than anybody wants to know.
            since = float(round(self._first_seen[worker, tag]))
            per_fit = seconds / n_done if n_done else None
            about = {"name": worker, "n_done": int(n_done), "seconds_per_fit": per_fit}
            workers.append({**about, **self._describe_work(tag), "since": since})
        return {
            "engine": self._engine.name,
            "began": self._began,
            "n_workers": self._engine.n_workers,
            "n_busy": None if known is None else len(known),
            "n_done": progress.n_known + progress.n_done,
            "n_failed": progress.n_failed,
            "n_left": progress.n_left,
            "workers": workers,
            "n_more": max(0, len(active) - _N_KEPT),
        }

    def _describe_work(self, tag: Any) -> dict[str, str | None]:
        """What a worker does, of whatever was submitted."""
        fit = self._submitted.get(tag)
        if tag is None:
            doing = "getting ready"
        elif not isinstance(tag, str):  # which is the key of a fit
            doing = "simulated searches"
        elif fit is None:
            doing = "a fit that another has done"
        else:
            doing = "run" if fit.refit else "trial"
        pipeline, task = (None, None) if fit is None else (fit.pipeline, fit.task)
        return {"doing": doing, "pipeline": pipeline, "task": task}

    def _find_pace(self, n_left: int) -> dict[str, float | None]:
        """How fast fits were done lately, and how long the rest takes at that rate."""
        now = time.time()
        n_fits = sum(n for n, _ in self._seconds.values())
        per_fit = sum(seconds for _, seconds in self._seconds.values()) / max(1, n_fits)
        since = max(self._began, now - max(_RECENT, _N_ROUNDS * per_fit))
        if self._ends and self._ends[0] > since and len(self._ends) == _N_COUNTED:
            since = self._ends[0]
        n_recent = sum(end >= since for end in self._ends)
        rate = n_recent / (now - since) if now > since else 0.0
        if not n_recent and self._ends:  # it has stood still since
            rate = len(self._ends) / (now - self._began)
        return {
            "spoke": now,
            "fits_per_minute": 60 * rate if rate else None,
            "seconds_left": n_left / rate if rate else None,
        }


class Exchange:
    """Submits fits, and takes in what became of them: from the engine, or from the spool.

    To retry what has failed, failures of before are left in the spool, and their fits done again.
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
        for outcome in [] if reports else self._engine.wait(_LOOK_EVERY):
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
