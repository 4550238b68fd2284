"""A study and its store: what the store knew of it, what it is now, and what is recorded."""

import gc
from collections.abc import Collection
from functools import cached_property
from typing import NamedTuple

from outperform.runner.description import Pair, describe_study, find_unchanged
from outperform.store import Store
from outperform.study.sources import derive_seed
from outperform.study.study import Study
from outperform.study.tasks import check_feasible, measure_resplit

_Role = tuple[str, str, int, str, str]  # design, source, replicate, pipeline, task


class Recorded(NamedTuple):
    """What a store knows of a study."""

    scores: dict[str, dict[str, float]]  # by key of the fit; none where one failed
    finished: dict[_Role, str]  # keys of runs that an earlier run has finished, searches and all


class StoredStudy:
    """A study in its store, which is read once: to say what a run will do, and to do it.

    Nothing is written before `enter`; until then another may write the store, unless it is locked.

    Parameters
    ----------
    retry_failed
        Do again what has failed: it counts as missing.

    Attributes
    ----------
    before, now
        What the store keeps of the study, as `describe_study` says it: as it was there, None where
        there was none, and as it will be.
    n_recorded
        Number of measurements in the store, of whatever study.
    """

    def __init__(self, study: Study, store: Store, *, retry_failed: bool = False) -> None:
        self.study, self.store, self.retry_failed = study, store, retry_failed
        is_there = store.exists()
        self.before = store.get_meta("study") if is_there else None
        self.now = describe_study(study, self.before)
        self.n_recorded = sum(store.counts().values()) if is_there else 0

    @cached_property
    def kept(self) -> Collection[Pair]:
        """Pairs of pipeline and task whose runs need not be looked up anew.

        Fits done again may change what a search finds; stores of old, which have no plan, do not
        say which trials failed.
        """
        if self.retry_failed or "plan" not in (self.before or {}):
            return ()
        return find_unchanged(self.before, self.now)

    @cached_property
    def recorded(self) -> Recorded:
        """What is known of its fits; without failures where they are tried again."""
        # Python would look again and again through the many objects made here, which all stay: that
        # was a third of the time for 100,000 fits.
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            scores, kept = self.store.scores(), {*self.kept}
            if self.retry_failed:
                scores = {key: each for key, each in scores.items() if each}
            labels = self.store.run_labels()
            runs = {run[:5]: run.key for run in labels if scores.get(run.key) and run[3:5] in kept}
            return Recorded(scores, runs)
        finally:
            if was_enabled:
                gc.enable()

    def enter(self) -> None:
        """Make the store that of this study: forget which fits were runs where that has changed.

        Measurements are kept, whatever study they were made for.
        """
        self.store.lock()
        # Forgetting comes first: a run killed in between forgets again, and no harm is done.
        self.store.keep_labels(self.kept)
        if self.before != self.now:
            self.store.set_meta("study", self.now)

    def check_splits(self) -> None:
        """Refuse a split that is impossible in any run, unless that was looked at before."""
        with_data = {task.name for task in self.study.tasks if task.data is not None}
        if not self.recorded.scores or not with_data <= self.now.get("sizes", {}).keys():
            self.now["sizes"] = _check_splits(self.study)
            self.store.set_meta("study", self.now)


def _check_splits(study: Study) -> dict[str, list[int]]:
    """Refuse a split that is impossible in any run; the sizes of training and test sets by task."""
    tasks = [task for task in study.tasks if task.data is not None]
    draws: dict[str, dict[int, tuple[int, int]]] = {task.name: {} for task in tasks}
    for planned in study.plan_runs() if tasks else ():
        own, replicate = draws.get(planned.task), planned.redrawn.get("split", 0)
        if own is not None and replicate not in own:
            fit = planned.make_fit({})
            own[replicate] = (fit.seeds["split"], fit.fold)
    sizes, seed = {}, derive_seed(study.seed, "split", 0)
    for task in tasks:
        dataset = task.data()
        check_feasible(task.splitter, dataset, draws[task.name].values())
        resplit = measure_resplit(task.splitter, dataset, seed=seed)
        sizes[task.name] = [resplit.n_train, resplit.n_test]
    return sizes
