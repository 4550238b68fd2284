"""What is to be said of a store's runs: differing versions, failed trials, models of searches."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from outperform.store.measurement import FAILED_TRIAL, RunLabel
from outperform.store.store import Store
from outperform.study.designs import SimulatedHopt
from outperform.study.fingerprints import hash_text, write_canonical
from outperform.study.fits import Search
from outperform.study.study import Study, plan_study
from outperform.wording import join_words

# Difference between the shares of two algorithms' fits that ran on one version: from here on, more
# of them ran apart than together.
_APART = 0.5
_N_SHOWN = 3  # values of one name
_LARGE_SHARE = 0.2  # of all trials of a pipeline's searches on a task
_MOST_OF_SEARCH = 0.5  # trials: more leave it less than half of what it should see
_N_PAIRS = 5  # pairs of pipeline and task
_SearchName = tuple[str, str, str]  # pipeline, task, and hash of its seeds
SURROGATES = "surrogates"  # what models are kept as: chain and doubts, or why it was refused


def describe_versions(store: Store) -> Iterator[str]:
    """Say where runs of a study differ in what they ran on, and whether algorithms do.

    Where that is not known of a fit, as in stores of before, it is no difference.
    """
    counts: dict[str, dict[str, Counter[str]]] = {}  # fits by name, algorithm and version
    for pipeline, versions, n_fits in store.versions():
        for name, version in versions.items():
            counts.setdefault(name, {}).setdefault(pipeline, Counter())[str(version)] += n_fits
    apart, mixed = [], []
    for name, own in counts.items():
        together = sum(own.values(), Counter[str]())
        if len(together) > 1 and _find_distance(own) >= _APART:
            shown = [f"{pipeline} with {_list_counts(each)}" for pipeline, each in own.items()]
            n_more = len(shown) - _N_SHOWN
            more = [f"{n_more} other algorithms"] if n_more > 0 else []
            apart.append(f"{name} ({'; '.join([*shown[:_N_SHOWN], *more])})")
        elif len(together) > 1:
            mixed.append(f"{name} ({_list_counts(together)})")
    if apart:
        yield (
            f"fits of different algorithms ran with different {join_words(apart)}: what looks like "
            "a difference between algorithms may be one between versions or processors; do all "
            "fits on equal ones before you conclude anything"
        )
    if mixed:
        yield f"fits ran with different {join_words(mixed)}: scores may differ for that reason"


def _find_distance(counts: Mapping[str, Counter[str]]) -> float:
    """Largest share of fits by which two algorithms differ: 1 where they have none in common."""
    distances = [
        sum(abs(a[version] / a.total() - b[version] / b.total()) for version in {*a, *b}) / 2
        for a, b in combinations(counts.values(), 2)
    ]
    return max(distances, default=0.0)


def _list_counts(counts: Counter[str]) -> str:
    """Versions and how many fits have them, the most frequent first.

    Examples
    --------
    >>> _list_counts(Counter({"2.1": 40, "2.2": 3}))
    '2.1: 40 fits, 2.2: 3'
    """
    often = [f"{version}: {n}" for version, n in counts.most_common(_N_SHOWN)]
    n_others = len(counts) - _N_SHOWN
    often[0] += " fits"
    return ", ".join([*often, *([f"{n_others} others"] if n_others > 0 else [])])


def label_trial(search: Search, number: int, key: str) -> RunLabel:
    """What a store keeps of a trial that has failed, beside the fit itself."""
    pipeline, task, seeds = _name_search(search)
    return RunLabel(FAILED_TRIAL, seeds, number, pipeline, task, key)


def choose_planned_trials(
    trials: Sequence[RunLabel], study: Mapping[str, Any]
) -> Sequence[RunLabel]:
    """Failed trials of searches that the study has now; all where its designs are not known."""
    if not trials or study["plan"] is None:
        return trials
    planned = {_name_search(run.search) for run in _plan(study).plan_runs() if run.search}
    return [trial for trial in trials if _name_search_of(trial) in planned]


def find_blocked_runs(
    trials: Sequence[RunLabel], study: Mapping[str, Any]
) -> list[tuple[str, str, int, str, str]]:
    """Roles of the runs that cannot be done because every trial of their search has failed.

    None where the designs of the study are not known.
    """
    if not trials or study["plan"] is None:
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
    of any single search. Roles are of the runs that are looked at and begun: their searches are at
    their end.
    """
    if not trials or study["plan"] is None:
        return
    planned = _plan(study)
    n_trials, counts = planned.trials, _count_by_search(trials, roles, planned)
    by_pair: dict[tuple[str, str], list[int]] = {}
    for (pipeline, task, _), n in counts.items():
        by_pair.setdefault((pipeline, task), []).append(n)
    failing = []
    for pair, n_failed in by_pair.items():
        share = sum(n_failed) / (n_trials * len(n_failed))
        if share >= _LARGE_SHARE or max(n_failed) > _MOST_OF_SEARCH * n_trials:
            failing.append((share, _say_failures(*pair, n_failed, n_trials)))
    failing.sort(key=lambda each: -each[0])
    yield from (words for _, words in failing[:_N_PAIRS])
    n_others = len(failing) - _N_PAIRS
    if n_others > 0:
        yield f"so many trials failed in {n_others} other pairs of pipeline and task too"


def _say_failures(pipeline: str, task: str, n_failed: Sequence[int], n_trials: int) -> str:
    n_blind = sum(n > _MOST_OF_SEARCH * n_trials for n in n_failed)
    most = f", more than half in {n_blind} of {len(n_failed)} searches" if n_blind else ""
    return (
        f"{sum(n_failed)} of {n_trials * len(n_failed)} trials of {pipeline}'s searches on {task} "
        f"failed{most if len(n_failed) > 1 else ''}: its searches saw less than they should"
    )


def _count_by_search(
    trials: Sequence[RunLabel], roles: Collection[tuple[Any, ...]], study: Study
) -> dict[_SearchName, int]:
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


def _name_search(search: Search) -> _SearchName:
    seeds = hash_text(write_canonical([search.seeds, search.fold]))
    return search.pipeline, search.task, seeds


def _name_search_of(trial: RunLabel) -> _SearchName:
    return trial.pipeline, trial.task, trial.source


def _plan(study: Mapping[str, Any]) -> Study:
    return plan_study(study["plan"], study["fingerprints"], study["name"])


def name_surrogate(search: Search, best_share: float, description: Mapping[str, Any]) -> str:
    """Hash of all that the model of a search depends on, so that a changed study has another."""
    pipeline, task = search.pipeline, search.task
    code = description["fingerprints"]
    parts = [
        [pipeline, code[f"pipeline {pipeline}"], description["spaces"][pipeline]],
        [task, code[f"task {task}"], description["tasks"][task]["goal"]],
        [search.seeds, search.fold, search.tuner, search.n_trials, best_share],
    ]
    return hash_text(write_canonical(parts))


def describe_surrogates(store: Store, description: Mapping[str, Any]) -> Iterator[str]:
    """Doubts about the models of searches whose runs are compared, and which were refused."""
    records: Mapping[str, Mapping[str, Any]] = store.get_meta(SURROGATES) or {}
    if not records or description["plan"] is None:
        return
    study = _plan(description)
    for design in study.designs:
        if not isinstance(design, SimulatedHopt):
            continue
        first = replace(design, n_replicates=1, n_repetitions=1)
        for search in [run.search for run in study.plan_runs((first,)) if run.search is not None]:
            record = records.get(name_surrogate(search, design.best_share, description), {})
            where = f"{search.pipeline}'s search on {search.task}"
            if "refused" in record:
                yield f"{where} cannot be simulated: {record['refused'][0]}"
            for doubt in record.get("doubts", ()):
                yield f"the model of {where}: {doubt}"
