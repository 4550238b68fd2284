"""What a store keeps of the models on which searches were simulated."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from outperform.store.store import Store
from outperform.study.designs import SimulatedHopt
from outperform.study.fingerprints import hash_text, write_canonical
from outperform.study.fits import Search
from outperform.study.study import plan_study

SURROGATES = "surrogates"  # what they are kept as

Record = Mapping[str, Any]  # chain and doubts, or why it was refused


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
    records: Mapping[str, Record] = store.get_meta(SURROGATES) or {}
    if not records or description.get("plan") is None:
        return
    study = plan_study(description["plan"], description["fingerprints"], description["name"])
    for design in study.designs:
        if isinstance(design, SimulatedHopt):
            first = replace(design, n_replicates=1, n_repetitions=1)
            for run in study.plan_runs((first,)):
                if run.search is not None:
                    name = name_surrogate(run.search, design.best_share, description)
                    yield from _describe(records.get(name))


def _describe(record: Record | None) -> Iterator[str]:
    if record is None:
        return
    where = f"{record['pipeline']}'s search on {record['task']}"
    if "refused" in record:
        yield f"{where} cannot be simulated: {record['refused'][0]}"
    for doubt in record.get("doubts", ()):
        yield f"the model of {where}: {doubt}"
