"""What a run says of itself: to whoever called it, and in its store to whoever watches it."""

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from outperform.engines import Engine
from outperform.store import Store
from outperform.store.meta import ACTIVITY
from outperform.study.fits import Fit

LOOK_EVERY = 2.0  # seconds between two looks, and for which a run says nothing
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
        if now - self._looked < LOOK_EVERY:
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
