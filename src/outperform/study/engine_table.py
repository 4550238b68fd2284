"""The table [engine] of a study file: where its fits run, which is no part of the study."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outperform.errors import InvalidInput
from outperform.study.study_file_entries import Kind, check_words, entry

_WORDS: dict[str, Kind] = {"address": str, "spool": str, "patience": float, "options": dict}


@dataclass(frozen=True, slots=True)
class EngineTable:
    """Where the fits of a study run, as its file says; nothing of it is ever recorded.

    Attributes
    ----------
    address
        Of the engine; None: the file does not say. It may hold credentials, and so may options.
    options
        What goes to the engine untouched.
    spool
        Folder that workers write their results to before they return them.
    patience
        Seconds that workers go on without their coordinator.
    """

    address: str | None = field(default=None, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    spool: Path | None = None
    patience: float | None = None


def make_engine_table(document: Mapping[str, Any], folder: Path) -> EngineTable:
    """Table [engine] of a study file, empty where it has none; folders are looked for from its own.

    Examples
    --------
    >>> make_engine_table({"engine": {"spool": "results", "patience": 60}}, Path("study"))
    EngineTable(spool=PosixPath('study/results'), patience=60)
    """
    with entry("engine"):
        table = document.get("engine", {})
        if not isinstance(table, dict):
            remedy = 'Write [engine], and address = "local:4" below'
            raise InvalidInput("engine is no table", remedy)
        if not isinstance(table.get("options", {}), dict):  # it may hold a password: do not show it
            with entry("options"):
                remedy = "Write [engine.options], and what goes to the engine below"
                raise InvalidInput("options is no table", remedy)
        check_words(table, _WORDS, of="the engine")
        patience = table.get("patience")
        if patience is not None and not 0 <= patience < math.inf:
            with entry("patience"):
                raise InvalidInput(f"patience is {patience}", "Give seconds, 0 or more")
        spool = folder / table["spool"] if "spool" in table else None
        return EngineTable(table.get("address"), table.get("options", {}), spool, patience)
