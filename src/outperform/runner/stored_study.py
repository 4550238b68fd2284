"""A study in its store: what the store keeps of it, what has changed, and what is recorded."""

import gc
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from outperform.errors import InvalidInput
from outperform.store import Store
from outperform.store.store import use_store
from outperform.study.fingerprints import fingerprint
from outperform.study.fits import gather_fingerprints
from outperform.study.sources import derive_seed
from outperform.study.study import Study, describe_plan, plan_study
from outperform.study.tasks import check_feasible, measure_resplit, name_division
from outperform.wording import enumerate_names

Pair = tuple[str, str]  # pipeline, task
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

        Fits done again may change what a search finds.
        """
        return () if self.retry_failed else self.find_unchanged()

    def find_unchanged(self, *, however_searched: bool = False) -> Collection[Pair]:
        """Pairs of pipeline and task whose runs mean the same fits as before.

        However searched: look at code and data only, as a fit takes as long, whatever the search.
        """
        if self.before is None:
            return []
        n_parts = 2 if however_searched else 3
        return [
            pair
            for pair in product(self.now["pipelines"], self.now["tasks"])
            if _identify(self.before, *pair)[:n_parts] == _identify(self.now, *pair)[:n_parts]
        ]

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
        study, tasks = self.study, [task for task in self.study.tasks if task.data is not None]
        known = self.now["sizes"] if self.recorded.scores else {}
        if all(task.name in known for task in tasks):
            return
        draws: dict[str, dict[int, tuple[int, int]]] = {task.name: {} for task in tasks}
        for planned in study.plan_runs():
            own, replicate = draws.get(planned.task), planned.redrawn.get("split", 0)
            if own is not None and replicate not in own:
                fit = planned.make_fit({})
                own[replicate] = (fit.seeds["split"], fit.fold)
        self.now["sizes"], seed = {}, derive_seed(study.seed, "split", 0)
        for task in tasks:
            dataset = task.data()
            check_feasible(task.splitter, dataset, draws[task.name].values())
            resplit = measure_resplit(task.splitter, dataset, seed=seed)
            self.now["sizes"][task.name] = [resplit.n_train, resplit.n_test]
        self.store.set_meta("study", self.now)


def describe_study(study: Study, before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What a store keeps of the study whose results it holds.

    Of an earlier description, numbers of fits and runs are taken over where they still hold,
    because counting them takes seconds in a study of 100,000 runs.
    """
    now = {
        "name": study.name,
        "seed": study.seed,
        "fingerprints": gather_fingerprints(study.pipelines, study.tasks),
        "files": {pipeline.name: pipeline.hash_files() for pipeline in study.pipelines},
        "spaces": {pipeline.name: fingerprint(pipeline.space) for pipeline in study.pipelines},
        "tasks": {task.name: {"metric": task.metric, "goal": task.goal} for task in study.tasks},
        "pipelines": [pipeline.name for pipeline in study.pipelines],
        "kinds": [design.kind for design in study.designs],
        "settings": [repr(design) for design in study.designs],
        "search": f"{study.tuner} search, {study.trials} trials",
        "divided": {task.name: name_division(task, study.pipelines) for task in study.tasks},
        "plan": describe_plan(study),
    }
    if before is not None and before == {**before, **now}:
        return {**before}
    prices = study.price_alternatives()
    alone, own = len(study.designs) == 1, prices[study.designs[0].kind]
    n_fits = sum(n for *_, n in own) if alone else study.count_fits()
    sizes = _keep_sizes(before, now) if before else {}
    counted = {"n_fits": n_fits, "prices": prices, "designs": _count_replicates(study)}
    return now | counted | {"sizes": sizes}


def _count_replicates(study: Study) -> list[dict[str, Any]]:
    """Replicates of every design, for each set of sources that it redraws."""
    counts: dict[tuple[str, str], int] = {}
    for run in study.plan_runs():
        design = run.design, run.source
        counts[design] = max(counts.get(design, 0), run.replicate + 1)
    return [
        {"design": design, "source": source, "replicates": n}
        for (design, source), n in counts.items()
    ]


def recall_study(store: str | Path | Store) -> Study:
    """Study of a store, as far as it says which fits there are; none of its code is imported."""
    with use_store(store) as opened:
        study, address = opened.get_meta("study"), opened.address
    if study is None:
        raise InvalidInput(f"{address} holds no study yet", "Run one into it: `outperform run`")
    if study["plan"] is None:
        raise InvalidInput(
            f"{address} does not say which fits are trials of which search, as a design is the "
            "person's own",
            "Pass the study in Python",
        )
    return plan_study(study["plan"], study["fingerprints"], study["name"])


def _keep_sizes(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, list[int]]:
    """Sizes of the sets of tasks whose data and splits are as they were."""
    old = before["fingerprints"]
    return {
        name: sizes
        for name, sizes in before["sizes"].items()
        if old.get(f"task {name}") == now["fingerprints"].get(f"task {name}")
    }


def describe_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What changed since the store was last written, and what that means."""
    old, new = before["fingerprints"], now["fingerprints"]
    changes = [
        f"{what} has changed since the last run: its fits are done anew, the old ones are kept"
        for what in new
        if what in old and old[what] != new[what]
    ]
    changes += [f"{what} is new" for what in new if what not in old]
    changes += [
        f"{what} is not in the study any more: its fits are kept" for what in old if what not in new
    ]
    changes += _describe_changed_files(before, now)
    changes += [
        f"the search space of pipeline {name} has changed: it is searched anew"
        for name, space in now["spaces"].items()
        if before["spaces"].get(name, space) != space
    ]
    for word in ("seed", "search"):
        if before[word] != now[word]:
            changes.append(
                f"the {word} was {before[word]} and is now {now[word]}: fits that both need are "
                "done once"
            )
    return changes


def _describe_changed_files(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Say which programs have changed that commands run, as nothing else would."""
    code = [each["fingerprints"] for each in (before, now)]
    for name, files in now["files"].items():
        known = before["files"].get(name, {})
        changed = [file for file, content in files.items() if known.get(file, content) != content]
        kept = code[0].get(f"pipeline {name}") == code[1][f"pipeline {name}"]
        if changed and kept:
            yield (
                f"{enumerate_names(changed)} has changed since the last run, and fits of pipeline "
                f"{name} count as done all the same: rename the pipeline if it scores otherwise now"
            )


def _identify(description: Mapping[str, Any], pipeline: str, task: str) -> list[Any]:
    """All that the fits of a pipeline on a task depend on, but for the replicate: code first."""
    code = description["fingerprints"]
    return [
        code.get(f"pipeline {pipeline}"),
        code.get(f"task {task}"),
        [
            description["seed"],
            description["search"],
            description["spaces"].get(pipeline),
            description["tasks"].get(task),
        ],
    ]
