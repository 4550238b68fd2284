"""Honest answers to one question: does A really outperform B.

Names are imported when first used, so that ``import outperform`` and the command line are fast:
they are listed in `__init__.pyi`.
"""

from outperform import stats as stats
from outperform.lazy import export_stub

__version__ = "0.1.0"
_lazy, __getattr__, __dir__ = export_stub(__name__, __file__)
__all__ = sorted([*_lazy, "__version__"])
