"""What a report says of a study: what each of its designs is worth."""

from collections.abc import Iterator
from dataclasses import replace

from outperform.questions.quality.answer import measure_quality
from outperform.questions.reporting import Reported
from outperform.questions.result import Result
from outperform.store import is_store, open_store
from outperform.study.designs import is_later_repetition

QUESTION = "What is each design worth?"


def answer(reported: Reported) -> Iterator[Result]:
    """Measure designs where a store has an ideal one and repetitions of others."""
    if not is_store(reported.source):
        return
    with open_store(reported.source) as store:
        study = store.get_meta("study")
        designs = study["designs"] if study else ()
        has_ideal = any(design["design"] == "ideal" for design in designs)
        repeated = [design for design in designs if is_later_repetition(design["source"])]
        if has_ideal and repeated:
            yield replace(measure_quality(store), detailed=True)
