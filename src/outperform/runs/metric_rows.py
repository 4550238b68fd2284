"""Tables in which each row names its metric: `metric,value`."""

from collections.abc import Sequence

import numpy as np

from outperform.errors import UnknownName, UnreadableRuns
from outperform.runs.arrays import BoolArray
from outperform.runs.assembling import Keys
from outperform.runs.cells import CellTable
from outperform.runs.columns import METRIC, SCORE, normalise, recognise
from outperform.runs.labels import Labels
from outperform.wording import enumerate_names, suggest_names


def find_metric_column(head: CellTable, names: Sequence[str]) -> str | None:
    """Find the column that names the metric of each row; None where the score's name does.

    Parameters
    ----------
    names
        Columns that play no other part.
    """
    if not recognise(names, SCORE):
        return None  # in `metric,accuracy`, the metric may be a distance
    texts = [name for name in recognise(names, METRIC) if head.holds_text(name)]
    return texts[0] if texts else None


def choose_metric(metrics: Labels, wanted: str | None, source: str) -> tuple[str, BoolArray]:
    """Choose the metric that was named, or the only one, and its rows."""
    names = metrics.by_appearance().names
    if wanted is None and len(names) > 1:
        raise UnreadableRuns(
            f"{source} holds {len(names)} metrics ({enumerate_names(names)})",
            f"Name one with --metric {names[0]!r} (from Python: metric={names[0]!r})",
        )
    chosen = names[0] if wanted is None else _find(wanted, names, source)
    return chosen, metrics.codes == metrics.names.index(chosen)


def note_tasks_without(metric: str, keys: Keys, is_chosen: BoolArray) -> tuple[str, ...]:
    """Name the tasks that have other metrics only."""
    n_rows = np.bincount(keys.task.codes[is_chosen], minlength=len(keys.task.names))
    present = np.unique(keys.task.codes)
    without = [keys.task.names[code] for code in present.tolist() if not n_rows[code]]
    if not without:
        return ()
    return (f"nothing is said of {enumerate_names(without)}, where no {metric} was measured",)


def _find(wanted: str, names: Sequence[str], source: str) -> str:
    for name in names:
        if normalise(name) == normalise(wanted):
            return name
    raise UnknownName(
        f"no row of {source} is of the metric {wanted!r}", suggest_names(wanted, names)
    )
