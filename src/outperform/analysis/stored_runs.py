"""Runs of a study, from the store that its fits were recorded in."""

from outperform.errors import InvalidInput, UnknownName
from outperform.runs import Runs, read_runs
from outperform.runs.naming import suggest_names
from outperform.store import RunLabel, SqliteStore
from outperform.study.estimators import ALL

# Estimators whose runs are paired replicates, the best first.
_ESTIMATORS = ("ideal", "fix-hopt")


def load_store_runs(store: SqliteStore, estimator: str | None = None) -> Runs:
    """Final fits of a study, as a table: by the ideal estimator if there is one."""
    study = store.get_meta("study")
    scores = store.scores()
    planned = study["estimators"] if study is not None else ()
    labels = [
        label for label in store.run_labels() if label.key in scores and label.estimator in planned
    ]
    if study is None or not labels:
        raise InvalidInput(
            f"{store.path} holds no finished runs yet", "Let `outperform run` finish some first"
        )
    metric, goal = (next(iter(study["tasks"].values()))[word] for word in ("metric", "goal"))
    records = [
        {
            "algorithm": label.pipeline,
            "task": label.task,
            "replicate": label.replicate,
            metric: scores[label.key]["test"],
        }
        for label in _choose(labels, estimator, store)
    ]
    return read_runs(records, goal=goal, metric=metric)


def _choose(labels: list[RunLabel], estimator: str | None, store: SqliteStore) -> list[RunLabel]:
    """Runs of one estimator, with one set of sources redrawn: all of them if there is such."""
    kinds = sorted({label.estimator for label in labels})
    kind = estimator or next((kind for kind in _ESTIMATORS if kind in kinds), None)
    if kind not in kinds:
        raise UnknownName(
            f"{store.path} holds no runs to compare; its estimators are {', '.join(kinds)}",
            suggest_names(str(kind), kinds),
        )
    sources = sorted({label.source for label in labels if label.estimator == kind})
    source = ALL if ALL in sources else sources[0]
    return [label for label in labels if (label.estimator, label.source) == (kind, source)]
