"""Trials of hyperparameter searches as runs: candidates with random hyperparameters."""

from collections.abc import Iterator
from dataclasses import replace

from outperform.analysis.retracing import Retracer, Scores
from outperform.errors import InvalidInput
from outperform.runs import Runs, read_runs
from outperform.runs.naming import enumerate_names
from outperform.study.estimators import Search
from outperform.study.study import Study


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
    retracer = Retracer(study, scores)
    found = [
        (search, f"{number}.{trial}", trial_scores)
        for number, search in enumerate(searches)
        for trial, (_, trial_scores) in enumerate(retracer.follow(search))
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
