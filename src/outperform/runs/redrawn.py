"""Runs of a study of variance: a column says which source of variation was redrawn for each.

All other seeds of such a run are those of its neighbours, so the runs are replicates neither of one
another nor of what a fresh run would reach: they tell what each source adds, not who is better.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from outperform.runs.columns import GENERAL, read_name
from outperform.runs.labels import IntArray
from outperform.runs.source_table import SourceTable, parse_number
from outperform.runs.suspicions import Suspicion
from outperform.wording import enumerate_names, split_words

if TYPE_CHECKING:
    from outperform.runs.table import Runs

ALL, NOISE = "all", "noise"  # every source redrawn, and none
# What studies redraw, in the words of people; a data source is called otherwise.
SOURCES = split_words(
    """
    all augment augmentation bootstrap data_augmentation data_order data_split dropout hopt hpo
    init initialisation initialization noise order shuffle shuffling split weight_init weights_init
    """
)
_FLAGS = frozenset({"false", "no", "true", "yes"})


def find_redrawn_column(table: SourceTable) -> str | None:
    """Find the column that says what was redrawn for each run, None where there is none."""
    for name in table.names:
        if "redrawn" in read_name(name).hints and _names_sources(name, table.label(name).names):
            return name
    return None


def find_redrawn(runs: "Runs", rows: IntArray) -> tuple[str, list[str]] | None:
    """Find the column by which different sources were redrawn in these rows, and say which."""
    known_for = (*runs.algorithm_columns, *runs.task_columns)
    for name in runs.others.names:
        if name in known_for or "redrawn" not in read_name(name).hints:
            continue
        values = [value for value in runs.others.label(name, rows).distinct() if value]
        if len(values) > 1 and _names_sources(name, values):
            return name, values
    return None


def _names_sources(name: str, values: Sequence[str]) -> bool:
    """Whether a column says what was redrawn: `factor` may say anything else."""
    words = {re.sub(r"[\W_]+", "_", value.casefold()) for value in values} - {""}
    if read_name(name).bare_leaf not in GENERAL:  # people have sources of their own
        return not words <= _FLAGS and None in map(parse_number, values)
    known = SOURCES & words  # one alone may be a kind of data: "original" and "augmentation"
    return bool(known) and (known == words or (len(known) > 1 and not known <= {ALL, NOISE}))


def suspect_redrawn(name: str, values: Sequence[str], place: str) -> Suspicion:
    """Ask about runs of which such a column says what was redrawn."""
    whole = next((value for value in values if value.casefold() == ALL), None)
    keep = "Compare runs in which everything was redrawn"
    if whole is not None:
        keep = f"Keep the rows whose {name} is {whole}, in which everything was redrawn"
    return Suspicion(
        "redrawn",
        f"column {name!r} says what was redrawn for each run in {place} "
        f"({enumerate_names(values, limit=3)})",
        "such runs share their other seeds, so they are no replicates of one another",
        f"{keep}; `outperform decompose` says what each source adds; if everything was redrawn for "
        "every run",
    )
