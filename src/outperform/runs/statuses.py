"""Which runs finished, by the words that trackers use."""

import numpy as np

from outperform.errors import UnreadableRuns
from outperform.runs.arrays import IntArray
from outperform.runs.labels import Labels
from outperform.wording import enumerate_names, enumerate_rows, split_words

_FINISHED = split_words("complete completed done finished ok succeeded success successful")
# Of Optuna, MLflow and Weights & Biases, and of those who write their own.
_UNFINISHED = split_words(
    """
    aborted active canceled cancelled crash crashed created diverged error errored fail failed
    failure incomplete interrupted killed nan not_finished oom paused pending preempted preempting
    pruned queued resumed running scheduled skipped started stopped submitted terminated timed_out
    timeout unfinished waiting
    """
)


def explain_unfinished(status: Labels, rows: IntArray, column: str, source: str) -> Labels | None:
    """Keep the status of the rows that did not finish; None if all did.

    Parameters
    ----------
    rows : shape (n_rows,)
        Where each stands in its source.
    """
    words = [_plain(name) for name in status.names]
    unknown = [
        code for code, word in enumerate(words) if word not in _FINISHED and word not in _UNFINISHED
    ]
    if unknown and (is_unknown := np.isin(status.codes, unknown)).any():
        listed = enumerate_names(repr(status.names[code]) for code in unknown)
        raise UnreadableRuns(
            f"column {column!r} of {source} holds {listed} ({enumerate_rows(rows[is_unknown])}), "
            "which does not say whether a run finished",
            "Write finished or failed; if the column says something else, give it another name",
        )
    if all(word in _FINISHED for word in words):
        return None
    names = [
        "" if word in _FINISHED else name for word, name in zip(words, status.names, strict=True)
    ]
    distinct = ["", *dict.fromkeys(filter(None, names))]
    places = np.array([distinct.index(name) for name in names], dtype=np.int64)
    return Labels(tuple(distinct), places[status.codes])


def _plain(status: str) -> str:
    """Write a status as all trackers would: `TrialState.COMPLETE` is `complete`."""
    return status.rpartition(".")[2].strip().casefold().replace(" ", "_").replace("-", "_")
