"""Where fits run: in this process, or in workers that may crash without harm."""

from outperform.engines.engine import Engine, Outcome, open_engine
from outperform.engines.inline import InlineEngine
from outperform.engines.local import LocalEngine

__all__ = ["Engine", "InlineEngine", "LocalEngine", "Outcome", "open_engine"]
