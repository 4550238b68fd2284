"""One number over all tasks, from scores that are made comparable first."""

from typing import Any, Literal

from outperform.questions.rank.grids import Grids
from outperform.questions.rank.pairs import Terms
from outperform.runs import Runs

Normalization = Literal["baseline", "range", "rank"]


def aggregate(
    grids: Grids, table: Runs, normalize: Normalization | None, references: Any, terms: Terms
) -> Any:
    """Aggregate scores over tasks; None where nothing says how to compare them."""
    return None
