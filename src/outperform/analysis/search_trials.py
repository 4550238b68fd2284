"""Trials of hyperparameter searches as runs: candidates with random hyperparameters."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from outperform.errors import InvalidInput
from outperform.runs import Runs, read_runs
from outperform.runs.naming import enumerate_names
from outperform.study.estimators import Search
from outperform.study.fits import gather_fingerprints, make_fit
from outperform.study.study import Study
from outperform.study.tuners import Trial, make_tuner

Scores = Mapping[str, Mapping[str, float]]  # of every fit that is done, by key


def collect_trials(study: Study, scores: Scores) -> Runs:
    """Take every recorded trial of a study's searches as a run of its pipeline.

    The score of a run is its test score, chosen by its validation score; where searches recorded
    no test scores, the validation score is both.

    Parameters
    ----------
    scores
        From `SqliteStore.scores`.
    """
    searches = {run.search: None for run in study.plan_runs() if run.search is not None}
    fingerprints = gather_fingerprints(study.pipelines, study.tasks)
    found = [
        (search, f"{number}.{trial}", trial_scores)
        for number, search in enumerate(searches)
        for trial, trial_scores in enumerate(_recall(study, search, scores, fingerprints))
    ]
    done = [(search, label, trial) for search, label, trial in found if "valid" in trial]
    if not done:
        raise InvalidInput(
            f"no trial of a search of study {study.name!r} is recorded",
            "Run it first, with pipelines that have a search space",
        )
    tested = all("test" in trial for _, _, trial in done)
    metric = study.tasks[0].metric
    records = [
        {
            "algorithm": search.pipeline,
            "task": search.task,
            "replicate": label,
            metric: trial["test" if tested else "valid"],
        }
        | ({"validation": trial["valid"]} if tested else {})
        for search, label, trial in done
    ]
    runs = read_runs(records, goal=study.tasks[0].goal, metric=metric)
    n_missing = len(found) - len(done)
    notes = _list_notes(study, [search for search, _, _ in done], n_missing, tested)
    return replace(runs, source=f"the searches of {study.name}", notes=tuple(notes))


def _recall(
    study: Study, search: Search, scores: Scores, fingerprints: Mapping[str, str]
) -> Iterator[Mapping[str, float]]:
    """Recorded scores of each trial, none where it failed, as far as its tuner can be followed."""
    pipeline, task = study.pipeline(search.pipeline), study.task(search.task)
    tuner, sign = make_tuner(search.tuner), 1 if task.goal == "maximize" else -1
    history: list[Trial] = []
    for _ in range(search.n_trials):
        params = tuner.suggest(pipeline.space, history, search.tuner_seed, search.n_trials)
        fit = make_fit(pipeline, task, params, dict(search.seeds), fold=search.fold)
        found: Mapping[str, Any] = scores.get(fit.key(fingerprints), {})
        yield found
        if "valid" not in found and tuner.uses_history:
            return  # what it suggested next depends on what is not known
        history.append(Trial(params, sign * found["valid"] if "valid" in found else None))


def _list_notes(
    study: Study, searches: list[Search], n_missing: int, tested: bool
) -> Iterator[str]:
    if study.tuner != "random":
        yield (
            f"trials of {study.tuner} search are not independent draws, so n of them are no n "
            "fresh candidates: only random search makes trials that are"
        )
    groups: dict[str, set[Search]] = {}
    for search in searches:
        groups.setdefault(f"{search.pipeline} on {search.task}", set()).add(search)
    if any(len(group) > 1 for group in groups.values()):
        counts = enumerate_names(f"{len(group)} of {name}" for name, group in groups.items())
        yield (
            f"trials of several searches are pooled ({counts}): those of one search share their "
            "split and seeds, so intervals are too narrow"
        )
    else:
        yield (
            "all trials of a search share one split and one set of seeds: intervals are of other "
            "hyperparameters, not of other splits"
        )
    if not tested:
        yield "searches recorded no test scores: validation scores choose, and are reported"
    if n_missing:
        yield f"{n_missing} trial(s) are left out: they failed, or are not done yet"
