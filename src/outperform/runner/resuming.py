"""What a coordinator finds in its store: the study of before, and fits that are done already."""

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from outperform.runner.description import describe_study, find_unchanged
from outperform.store import Store
from outperform.study.study import Study

_Role = tuple[str, str, int, str, str]  # design, source, replicate, pipeline, task


def enter_study(
    study: Study, store: Store, description: dict[str, Any] | None, *, retry_failed: bool
) -> dict[str, Any]:
    """Make a store that of this study: forget which fits were runs where that is not so any more.

    Measurements are kept, whatever study they were made for. Fits done again may change what
    a search finds, so all runs are looked up anew when failures are retried.
    """
    store.lock()
    before: Mapping[str, Any] | None = store.get_meta("study")
    now = description or describe_study(study, before)
    # Stores of before, which have no plan, do not say which trials failed: searches are followed
    # anew. Forgetting comes first: a run killed in between forgets again, and no harm is done.
    is_known = before is not None and "plan" in before and not retry_failed
    store.keep_labels(find_unchanged(before, now) if is_known else [])
    if before != now:
        store.set_meta("study", now)
    return now


@contextmanager
def _collect_garbage_later() -> Iterator[None]:
    """Make many objects that stay: Python would look through them again and again meanwhile."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_collect_garbage_later()  # a third of the time for 100,000 fits
def read_finished(
    store: Store, *, retry_failed: bool
) -> tuple[dict[str, dict[str, float]], dict[_Role, str]]:
    """Scores by key, and the keys of runs that an earlier run has finished, searches and all."""
    scores = store.scores()
    known = {key: each for key, each in scores.items() if each} if retry_failed else scores
    return known, {label[:5]: label.key for label in store.run_labels() if known.get(label.key)}
