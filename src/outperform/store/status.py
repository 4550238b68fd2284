"""What a store has of its study: done, failed and running, and what was decided early."""

from collections import Counter
from pathlib import Path
from typing import Any

from outperform.store.measurement import Measurement
from outperform.store.meta import ACTIVITY
from outperform.store.planned_runs import find_needed_failures, has_failures
from outperform.store.sequential_record import read_attempts
from outperform.store.store import Store, use_store
from outperform.store.stored_doubts import SURROGATES

_SHOWN = ("key", "pipeline", "task", "params", "error")  # of a fit that failed


def read_status(store: str | Path | Store) -> dict[str, Any]:
    """Say what is done, failed and running of a study, as `outperform status --json` does.

    Parameters
    ----------
    store
        The store, or its address; a run that is going on is not disturbed.

    Returns
    -------
    Plain values: the name of the ``study`` and the number of fits that it needs, ``n_fits``;
    ``counts`` of fits by pipeline and task; ``failures`` that it still needs, each with its
    hyperparameters and its error, and how many others are kept, ``n_failed_before``; who writes
    the store now, ``running``, and the ``activity`` of the last run; runs that cannot be done,
    ``blocked``, ``unsimulated`` and ``refusals``; and tests that looked early, ``sequential``.
    """
    with use_store(store) as opened:
        needed = find_needed_failures(opened)
        recorded = list(opened.measurements("failed")) if has_failures(opened) else []
        failures = [failure for failure in recorded if failure.key in needed]
        return {
            **_describe(opened, failures),
            "n_failed_before": len(recorded) - len(failures),
            "failures": [{word: getattr(each, word) for word in _SHOWN} for each in failures],
            "sequential": read_attempts(opened),
        }


def _describe(store: Store, failures: list[Measurement]) -> dict[str, Any]:
    """What is there; of what failed, that which the study still needs."""
    study = store.get_meta("study") or {}
    counts = store.counts()
    n_failed = Counter((failure.pipeline, failure.task) for failure in failures)
    pairs = sorted({(pipeline, task) for pipeline, task, _ in counts})
    return {
        "study": study.get("name", store.address),
        "n_fits": study.get("n_fits"),
        "running": store.find_writer(),
        "activity": store.get_meta(ACTIVITY),
        "counts": [
            {
                "pipeline": pipeline,
                "task": task,
                "done": counts.get((pipeline, task, "done"), 0),
                "failed": n_failed[pipeline, task],
            }
            for pipeline, task in pairs
        ],
        "blocked": store.get_meta("blocked") or {},
        "unsimulated": store.get_meta("unsimulated") or {},
        "refusals": {
            f"{record['pipeline']} on {record['task']}": record["refused"][0]
            for record in (store.get_meta(SURROGATES) or {}).values()
            if "refused" in record
        },
    }
