"""Arrays in, numbers and frozen dataclasses out; higher is always better.

numpy and scipy.special only. Nothing here knows of machine learning, files or figures. Names are
imported when first used, so that no command waits for statistics that it does not need: they are
listed in `__init__.pyi`.
"""

from outperform.lazy import export_stub

__all__, __getattr__, __dir__ = export_stub(__name__, __file__)
