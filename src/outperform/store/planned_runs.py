"""Which of the recorded runs the study, as it is now, has."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from outperform.store.damage import name_fit, report_damage
from outperform.store.measurement import RunLabel
from outperform.store.store import Store
from outperform.store.stored_doubts import choose_planned_trials
from outperform.wording import count, enumerate_names

Description = Mapping[str, Any]  # of a study, as `describe_study` makes it
Design = Mapping[str, Any]  # kind, source and replicates, as the store describes them


def is_planned(label: RunLabel, designs: Sequence[Design], study: Description) -> bool:
    """Whether the study, as it is now, has this run."""
    return not _is_foreign(label, study) and any(
        is_of(label, design) and label.replicate < design["replicates"] for design in designs
    )


def is_of(label: RunLabel, design: Design) -> bool:
    """Whether a run is one of this design."""
    return (label.design, label.source) == (design["design"], design["source"])


def _is_foreign(label: RunLabel, study: Description) -> bool:
    return label.pipeline not in study["pipelines"] or label.task not in study["tasks"]


def describe_left_out(
    labels: Sequence[RunLabel], designs: Sequence[Design], study: Description
) -> Iterator[str]:
    """Count the runs that the study does not have any more."""
    foreign = [label for label in labels if _is_foreign(label, study)]
    if foreign:
        names = sorted({f"{label.pipeline} on {label.task}" for label in foreign})
        yield (
            f"left out: {count(len(foreign), 'run')} of {enumerate_names(names)}, which the study "
            "does not have any more"
        )
    n_others = sum(not is_planned(label, designs, study) for label in labels) - len(foreign)
    if n_others:
        yield (
            f"left out: {count(n_others, 'run')} of replicates or sources that the study does not "
            "have any more"
        )


def get_test_score(scores: Mapping[str, float], key: str, store: Store) -> float:
    """Score on test data of a fit that is a run, without which no run is recorded."""
    if "test" not in scores:
        raise report_damage(store.address, f"{name_fit(key)} is a run and has no test score")
    return scores["test"]


def has_failures(store: Store) -> bool:
    """Whether any fit failed, without a look at each."""
    return any(status == "failed" for *_, status in store.counts())


def find_needed_failures(store: Store) -> set[str]:
    """Keys of the failed fits that the study, as it is now, still needs.

    The others are of code, spaces or designs of before.
    """
    if not has_failures(store):
        return set()
    failed = {key for key, scores in store.scores().items() if not scores}
    study = store.get_meta("study")
    if not failed or study is None:
        return failed
    runs = [run for run in store.run_labels() if is_planned(run, study["designs"], study)]
    trials = choose_planned_trials(store.failed_trials(), study)
    return failed & {label.key for label in (*runs, *trials)}
