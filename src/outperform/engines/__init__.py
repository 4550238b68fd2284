"""Where fits run: in this process, or in workers that may crash without harm."""

from outperform.engines.engine import (
    NO_NEEDS,
    Activity,
    Engine,
    InlineEngine,
    Needs,
    Outcome,
    open_engine,
)
from outperform.engines.local import LocalEngine

__all__ = [
    "NO_NEEDS",
    "Activity",
    "Engine",
    "InlineEngine",
    "LocalEngine",
    "Needs",
    "Outcome",
    "open_engine",
]
