"""What a report says of runs: which sources of variation make scores vary."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from outperform.questions.decompose.answer import decompose
from outperform.questions.decompose.result import Decompositions
from outperform.questions.reporting import Reported
from outperform.questions.result import Result
from outperform.store import is_store, open_store

QUESTION = "What makes scores vary?"
_REDRAWN_APART = ("variance", "crossed")  # designs
_NOTHING = Decompositions((), ())


def answer(reported: Reported) -> Iterator[Result]:
    """Decompose the variance, where a study or a file has runs that redraw sources apart."""
    result = _NOTHING
    if is_store(reported.source):
        result = _decompose_study(reported.source)
    elif reported.says_what_was_redrawn:
        names = ("algorithm", "task", "metric", "at", "accept")
        reading: dict[str, Any] = {n: reported.reading[n] for n in names if n in reported.reading}
        drop = bool(reported.options.get("drop_incomplete"))
        result = decompose(Path(reported.source), drop_incomplete=drop, **reading)
    for each in result:
        yield replace(each, caveats=(*each.caveats, *result.notes))


def _decompose_study(address: str | Path) -> Decompositions:
    with open_store(address) as store:
        study = store.get_meta("study")
        designs = study["designs"] if study else ()
        is_apart = any(design["design"] in _REDRAWN_APART for design in designs)
        return decompose(store) if is_apart else _NOTHING
