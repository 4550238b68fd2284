"""Trials of hyperparameter searches as runs: candidates with random hyperparameters."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from outperform.errors import InvalidInput
from outperform.questions.decompose.search_curves import FitScores, Recorded, Retracer
from outperform.runs import Runs, make_runs
from outperform.runs.labels import Labels
from outperform.runs.scope import HYPERPARAMETERS
from outperform.runs.suspicions import Doubt, check_doubts
from outperform.store.store import use_store
from outperform.store.stored_doubts import describe_versions
from outperform.study.fits import Search
from outperform.study.sources import TUNING_SOURCE
from outperform.study.study import Study
from outperform.wording import count

_Names = tuple[str, str]  # of a pipeline and a task


def collect_trials(
    study: Study, recorded: Recorded, *, accept: Doubt | Sequence[Doubt] = ()
) -> Runs:
    """Take the recorded trials of a study's searches as runs of their pipelines.

    The score of a run is its test score, chosen by its validation score; where searches recorded
    no test scores, the validation score is both. Only searches under the same seeds are put
    together: validation scores of different splits cannot choose between candidates. Trials that
    failed are incomplete runs.

    Parameters
    ----------
    recorded
        The store that the study was run into, its address, or its scores by key.
    accept
        What is right although it looks wrong, as in `read_runs`.
    """
    retracer = Retracer(study, recorded)
    trials: dict[_Names, list[FitScores]] = {}
    n_others = n_left = 0
    for names, groups in _group_searches(study).items():
        for searches in groups:
            scores = [*_find_ended(retracer, searches)]
            if any("valid" in scored for scored in scores):
                trials[names] = scores
                n_left += sum(search.n_trials for search in searches) - len(scores)
                n_others += sum(map(len, groups)) - len(searches)
                break
    if not trials:
        raise InvalidInput(
            f"no trial of a search of study {study.name!r} is recorded",
            "Run it first, with pipelines that have a search space",
        )
    every = [scored for scores in trials.values() for scored in scores]
    tested = all("test" in scored for scored in every if "valid" in scored)
    runs = _make_runs(study, trials, tested=tested)
    notes = [*_list_notes(study, n_others, n_left, tested)]
    if not isinstance(recorded, Mapping):  # which has scores alone
        with use_store(recorded) as store:
            notes += describe_versions(store)
    return replace(
        runs,
        notes=tuple(notes),
        varied=(HYPERPARAMETERS,),
        fixed_splits=runs.tasks,
        accepted=check_doubts(accept),
    )


def _find_ended(retracer: Retracer, searches: Sequence[Search]) -> Iterator[FitScores]:
    """Scores of the trials that are recorded; none of one that failed."""
    for search in searches:
        for params, scores in retracer.follow(search):
            if search.make_fit(params).key(retracer.fingerprints) in retracer.scores:
                yield scores


def _group_searches(study: Study) -> dict[_Names, list[list[Search]]]:
    """Searches of each pipeline on each task, put together if only their tuner's seed differs."""
    groups: dict[_Names, dict[object, dict[Search, None]]] = {}
    for run in study.plan_runs():
        if run.search is not None:
            seeds = tuple(pair for pair in run.search.seeds if pair[0] != TUNING_SOURCE)
            group = groups.setdefault((run.pipeline, run.task), {})
            group.setdefault((seeds, run.search.fold), {})[run.search] = None
    return {names: [list(alike) for alike in group.values()] for names, group in groups.items()}


def _make_runs(study: Study, trials: dict[_Names, list[FitScores]], *, tested: bool) -> Runs:
    task = study.tasks[0]
    rows = [
        (*names, number, scored)
        for names, scores in trials.items()
        for number, scored in enumerate(scores)
    ]
    pipelines, tasks, numbers, scored = zip(*rows, strict=True)
    runs = make_runs(
        pipelines,
        tasks,
        numbers,
        [scores.get("test" if tested else "valid", np.nan) for scores in scored],
        metric=task.metric,
        goal=task.goal,
        source=f"the searches of {study.name}",
        validation=[scores.get("valid", np.nan) for scores in scored] if tested else None,
    )
    failed = np.isnan(runs.score)
    return replace(runs, incomplete=Labels(("", "failed"), failed.astype(int)), counted=True)


def _list_notes(study: Study, n_others: int, n_missing: int, tested: bool) -> Iterator[str]:
    if study.tuner not in ("random", "wide-random"):
        yield (
            f"trials of {study.tuner} search are not independent draws, so n of them are no n "
            "fresh candidates: only random search makes trials that are"
        )
    yield (
        "all trials share one split and one set of seeds: intervals are of other hyperparameters, "
        "not of other splits"
    )
    if n_others:
        yield (
            f"left out: {count(n_others, 'other search', 'other searches')} of the study, on other "
            "splits, whose validation scores cannot be compared"
        )
    if not tested:
        yield "searches recorded no test scores: validation scores choose, and are reported"
    if n_missing:
        yield f"left out: {count(n_missing, 'trial')}, not done yet"
