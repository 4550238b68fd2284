"""What a report says of a study: which sources of variation make scores vary."""

from collections.abc import Iterator

from outperform.questions.decompose.answer import decompose
from outperform.questions.reporting import Reported
from outperform.questions.result import Result
from outperform.store import is_store, open_store
from outperform.store.stored_runs import list_designs

QUESTION = "what makes scores vary?"
_REDRAWN_APART = ("variance", "crossed")  # designs


def answer(reported: Reported) -> Iterator[Result]:
    """Decompose the variance, where the store of a study has the runs for it."""
    if not is_store(reported.source):
        return
    with open_store(reported.source) as store:
        designs = list_designs(store.get_meta("study") or {}, store.run_labels())
        if any(design["design"] in _REDRAWN_APART for design in designs):
            yield from decompose(store)
