"""One number of the page, and the claim that it is held against."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALPHA = 0.05
LEVEL = 1 - ALPHA
GAMMA = 0.75
SIZES = (5, 6, 7, 8, 10, 15, 20, 29, 50, 100, 200)

SLACK = 0.1  # of alpha, Bradley's (1978) stringent criterion: 5.5% is as good as 5%

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Cell:
    """How often something happens to a method: on one kind of data, with so many runs.

    Attributes
    ----------
    group, method, measure, data, column
        Where it stands on the page: its table, its row and its column.
    detail
        What tells it from others at the same place, of which the page shows the worst.
    """

    group: str
    method: str
    measure: str  # "size", "coverage" or "power"
    data: str
    column: str
    detail: str
    value: float
    error: float = 0.0  # Monte-Carlo standard error; 0 where all outcomes were summed up
    alpha: float | None = None  # errors that the method claims to make at most, if it claims any
    slack: float = SLACK

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


def share(hits: Iterable[bool] | BoolArray) -> tuple[float, float]:
    """Share of studies, and its Monte-Carlo standard error.

    With one more hit and miss, so that a share of 0 or 1 is not taken as certain.

    Examples
    --------
    >>> share(np.arange(100) < 5)[0]
    0.05
    """
    array = np.asarray(hits if isinstance(hits, np.ndarray) else list(hits), dtype=bool)
    n, n_hits = array.size, int(array.sum())
    careful = (n_hits + 1) / (n + 2)
    return n_hits / n, float(np.sqrt(careful * (1 - careful) / n))
