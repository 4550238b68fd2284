"""What a report says of a study: what each of its designs is worth."""

from collections.abc import Iterator
from dataclasses import replace

from outperform.questions.quality.answer import measure_quality
from outperform.questions.quality.missing_fits import KINDS
from outperform.questions.reporting import Reported
from outperform.questions.result import Result
from outperform.store import is_store, open_store
from outperform.store.stored_runs import list_designs

QUESTION = "what is each design worth?"


def answer(reported: Reported) -> Iterator[Result]:
    """Measure designs where a store has an ideal one and others beside it."""
    if not is_store(reported.source):
        return
    with open_store(reported.source) as store:
        designs = list_designs(store.get_meta("study") or {}, store.run_labels())
        kinds = {design["design"] for design in designs}
        if "ideal" in kinds and kinds & {*KINDS}:
            yield replace(measure_quality(store), detailed=True)
