"""Runs of a study, from the store that its fits were recorded in."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from outperform.errors import InvalidInput, UnknownName
from outperform.runs import Runs, read_runs
from outperform.runs.scope import SEEDS, SPLITS, Resplit
from outperform.store import RunLabel, SqliteStore
from outperform.store.measurement import count_replicates
from outperform.study.designs import is_later_repetition
from outperform.study.sources import ALL
from outperform.wording import enumerate_names, suggest_names

# Designs whose runs are paired replicates, the best first.
_PAIRED = ("ideal", "fix-hopt")

Design = Mapping[str, Any]  # kind, source and replicates, as the store describes them


def load_store_runs(store: SqliteStore, kind: str | None = None) -> Runs:
    """Final fits of a study, as a table: of the ideal design if there is one.

    Only runs that the study has now are taken. What is left out, and what is missing, is counted
    in the notes.
    """
    study, labels = store.get_meta("study"), store.run_labels()
    scores = store.scores()
    if study is None or not any(label.key in scores for label in labels):
        raise InvalidInput(
            f"{store.path} holds no finished runs yet", "Let `outperform run` finish some first"
        )
    designs = [d for d in list_designs(study, labels) if _is_paired(d)]
    design = _choose(designs, study, kind, store)
    found = [
        (label, scores[label.key]["test"])
        for label in labels
        if label.key in scores and is_planned(label, [design], study)
    ]
    if not found:
        raise InvalidInput(
            f"{store.path} holds no finished runs of {design['design']} yet",
            "Let `outperform run` finish some first",
        )
    records = [
        {"algorithm": run.pipeline, "task": run.task, "replicate": run.replicate, "score": score}
        for run, score in found
    ]
    metric, goal = (next(iter(study["tasks"].values()))[word] for word in ("metric", "goal"))
    runs = read_runs(records, goal=goal, metric="score")
    notes = (
        *_describe_design(design, designs),
        *describe_left_out([label for label in labels if _is_of(label, design)], [design], study),
        *_describe_missing(len(records), design, study),
    )
    named = replace(runs, metric=metric, source=str(store.path), notes=notes)
    return _add_scope(named, design, study)


def _add_scope(runs: Runs, design: Design, study: Mapping[str, Any]) -> Runs:
    """Say what the design redraws; stores of old do not know how their data were divided."""
    source = design["source"]
    redrawn = source == ALL or "split" in source.split("+")
    divided = study.get("divided", dict.fromkeys(study["tasks"], SPLITS))
    anew = {task: divided[task] for task in runs.tasks if redrawn and divided[task]}
    others = () if source == "split" and anew else (SEEDS,)
    sizes = study.get("sizes", {})
    return replace(
        runs,
        varied=(*dict.fromkeys(anew.values()), *others),
        resplits={task: Resplit(*sizes[task]) for task in anew if task in sizes},
        fixed_splits=tuple(task for task in runs.tasks if task not in anew),
    )


def list_designs(study: Mapping[str, Any], labels: Sequence[RunLabel]) -> list[Design]:
    """What the study redraws, and how often; stores of old tell it by their runs only."""
    if "designs" in study:
        return list(study["designs"])
    return [*count_replicates((label.design, label.source, label.replicate) for label in labels)]


def is_planned(label: RunLabel, designs: Sequence[Design], study: Mapping[str, Any]) -> bool:
    """Whether the study, as it is now, has this run."""
    return not _is_foreign(label, study) and any(
        _is_of(label, design) and label.replicate < design["replicates"] for design in designs
    )


def describe_left_out(
    labels: Sequence[RunLabel], designs: Sequence[Design], study: Mapping[str, Any]
) -> Iterator[str]:
    """Count the runs that the study does not have any more."""
    foreign = [label for label in labels if _is_foreign(label, study)]
    if foreign:
        names = sorted({f"{label.pipeline} on {label.task}" for label in foreign})
        yield (
            f"{len(foreign)} run(s) of {enumerate_names(names)} were left out: the study does not "
            "have them any more"
        )
    own = [label for label in labels if not _is_foreign(label, study)]
    n_others = sum(not is_planned(label, designs, study) for label in own)
    if n_others:
        yield (
            f"{n_others} run(s) of replicates or sources that the study does not have any more "
            "were left out"
        )


def _choose(
    designs: Sequence[Design], study: Mapping[str, Any], kind: str | None, store: SqliteStore
) -> Design:
    """One design with one set of sources redrawn: all of them if there is such."""
    kinds = [each for each in _PAIRED if any(d["design"] == each for d in designs)]
    kind = kind or next(iter(kinds), None)
    if kind not in kinds:
        others = study["kinds"]
        problem = f"{store.path} holds no runs to compare; its designs are {', '.join(others)}"
        raise UnknownName(problem, suggest_names(str(kind), kinds) if kinds else _ADD)
    same = [design for design in designs if design["design"] == kind]
    return max(same, key=lambda design: (design["source"] == ALL, design["replicates"]))


_ADD = 'Add a [[design]] with kind = "ideal" or "fix-hopt" to the study and run it'


def _is_paired(design: Design) -> bool:
    return design["design"] in _PAIRED and not is_later_repetition(design["source"])


def _is_of(label: RunLabel, design: Design) -> bool:
    return (label.design, label.source) == (design["design"], design["source"])


def _is_foreign(label: RunLabel, study: Mapping[str, Any]) -> bool:
    return label.pipeline not in study["pipelines"] or label.task not in study["tasks"]


def _describe_design(design: Design, designs: Sequence[Design]) -> Iterator[str]:
    """Say whose runs they are, unless they are all that a study could have: those of ideal."""
    kind, source = design["design"], design["source"]
    only = "" if source == ALL else f" with only {source} redrawn"
    blind = ", which searches once: what tuning adds to the variance is not seen"
    others = [
        f"{other['design']} ({other['source']} redrawn)" for other in designs if other != design
    ]
    beside = f"; the study has {enumerate_names(others)} too" if others else ""
    if kind != "ideal" or others:
        yield f"the runs are those of {kind}{only}{blind if kind == 'fix-hopt' else ''}{beside}"


def _describe_missing(n_found: int, design: Design, study: Mapping[str, Any]) -> Iterator[str]:
    n_runs = design["replicates"] * len(study["pipelines"]) * len(study["tasks"])
    if n_found < n_runs:
        yield (
            f"{n_runs - n_found} of the study's {n_runs} runs have no score: they failed, or are "
            "still to be done"
        )
