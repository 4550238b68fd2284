"""Trials of searches that failed: those the study still has, and what they did to its searches."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from outperform.store.measurement import FAILED_TRIAL, RunLabel
from outperform.study.fingerprints import hash_text, write_canonical
from outperform.study.fits import Search
from outperform.study.study import Study, plan_study

_LARGE_SHARE = 0.2  # of all trials of a pipeline's searches on a task
_MOST = 0.5  # of the trials of one search: more leave it less than half of what it should see
_N_SHOWN = 5  # pairs of pipeline and task

_Name = tuple[str, str, str]  # of a search: pipeline, task, and hash of its seeds


def label_trial(search: Search, number: int, key: str) -> RunLabel:
    """What a store keeps of a trial that has failed, beside the fit itself."""
    pipeline, task, seeds = _name_search(search)
    return RunLabel(FAILED_TRIAL, seeds, number, pipeline, task, key)


def choose_planned_trials(
    trials: Sequence[RunLabel], study: Mapping[str, Any]
) -> Sequence[RunLabel]:
    """Failed trials of searches that the study has now; all where its designs are not known."""
    if not trials or study.get("plan") is None:
        return trials
    planned = {_name_search(run.search) for run in _plan(study).plan_runs() if run.search}
    return [trial for trial in trials if _name_search_of(trial) in planned]


def find_blocked_runs(
    trials: Sequence[RunLabel], study: Mapping[str, Any]
) -> list[tuple[str, str, int, str, str]]:
    """Roles of the runs that cannot be done because every trial of their search has failed.

    None where the designs of the study are not known.
    """
    if not trials or study.get("plan") is None:
        return []
    planned, n_failed = _plan(study), Counter(map(_name_search_of, trials))
    failed = {name for name, n in n_failed.items() if n >= planned.trials}
    return [
        run.role
        for run in (planned.plan_runs() if failed else ())
        if run.search is not None and _name_search(run.search) in failed
    ]


def describe_failed_trials(
    trials: Sequence[RunLabel], roles: Collection[tuple[Any, ...]], study: Mapping[str, Any]
) -> Iterator[str]:
    """Say where so many trials failed that searches saw less than they should.

    That is a fifth of all trials of a pipeline's searches on a task, or more than half of those
    of any single search.

    Parameters
    ----------
    roles
        Design, source, replicate, pipeline and task of the runs that are looked at and begun: their
        searches are at their end.
    """
    if not trials or study.get("plan") is None:
        return
    planned = _plan(study)
    n_trials, counts = planned.trials, _count_by_search(trials, roles, planned)
    by_pair: dict[tuple[str, str], list[int]] = {}
    for (pipeline, task, _), n in counts.items():
        by_pair.setdefault((pipeline, task), []).append(n)
    found = []
    for pair, n_failed in by_pair.items():
        share = sum(n_failed) / (n_trials * len(n_failed))
        if share >= _LARGE_SHARE or max(n_failed) > _MOST * n_trials:
            found.append((share, _describe(*pair, n_failed, n_trials)))
    found.sort(key=lambda each: -each[0])
    yield from (words for _, words in found[:_N_SHOWN])
    n_others = len(found) - _N_SHOWN
    if n_others > 0:
        yield f"so many trials failed in {n_others} other pairs of pipeline and task too"


def _describe(pipeline: str, task: str, n_failed: Sequence[int], n_trials: int) -> str:
    n_blind = sum(n > _MOST * n_trials for n in n_failed)
    most = f", more than half in {n_blind} of {len(n_failed)} searches" if n_blind else ""
    return (
        f"{sum(n_failed)} of {n_trials * len(n_failed)} trials of {pipeline}'s searches on {task} "
        f"failed{most if len(n_failed) > 1 else ''}: its searches saw less than they should"
    )


def _count_by_search(
    trials: Sequence[RunLabel], roles: Collection[tuple[Any, ...]], study: Study
) -> dict[_Name, int]:
    """Failed trials of each search of these runs, and of those that failed altogether."""
    n_failed = Counter(map(_name_search_of, trials))
    designs = {role[:2] for role in roles}
    counts = {}
    for run in study.plan_runs():
        if run.search is not None and (run.design, run.source) in designs:
            name = _name_search(run.search)
            if run.role in roles or n_failed[name] >= run.search.n_trials:
                counts[name] = n_failed[name]
    return counts


def _name_search(search: Search) -> _Name:
    seeds = hash_text(write_canonical([search.seeds, search.fold]))
    return search.pipeline, search.task, seeds


def _name_search_of(trial: RunLabel) -> _Name:
    return trial.pipeline, trial.task, trial.source


def _plan(study: Mapping[str, Any]) -> Study:
    return plan_study(study["plan"], study["fingerprints"], study["name"])
