"""Margins in another unit than the scores: a gate would pass, or a difference matter, whatever."""

from collections.abc import Iterator, Mapping

from outperform.runs.metrics import is_share
from outperform.runs.suspicions import Sides, Suspicion

_LARGE_FRACTION = 0.1  # of a share between 0 and 1: ten points
_SMALL_PERCENT = 0.01  # of a share in per cent: a hundredth of a point
_LARGEST_FRACTION = 2  # of word errors, of which there may be more than words


def find_margin_suspicions(
    sides: Sides, margins: Mapping[str, float | None]
) -> Iterator[Suspicion]:
    """Ask about margins of fractions that seem to be points, and of per cent that seem fractions.

    A margin of fractions is asked about where it is larger than the difference of any two runs: no
    run could have failed it.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([0.91, 0.93, 0.92]), np.array([0.90, 0.91, 0.93])
    >>> sides = Sides(("new", "old"), scores, "accuracy", "runs.csv", "seed")
    >>> [each.remedy for each in find_margin_suspicions(sides, {"margin": 0.5})]
    ['Pass 0.005 if 0.5 points are meant; if it is right as it is']
    """
    low = min(float(scores.min()) for scores in sides.scores)
    high = max(float(scores.max()) for scores in sides.scores)
    if not is_share(sides.metric) or low < 0:
        return
    for name, margin in margins.items():
        if margin is None:
            continue
        if high <= 1 and margin >= _LARGE_FRACTION and margin > high - low:
            kind, point, meant = "fractions", 0.01, margin
        elif _LARGEST_FRACTION < high <= 100 and margin < _SMALL_PERCENT:
            kind, point, meant = "per cent", 1, 100 * margin
        else:
            continue
        yield Suspicion(
            "margin",
            f"{name} is {margin:g}, and the scores lie between {low:g} and {high:g} in "
            f"{sides.place}",
            f"these are {kind}, in which a point is {point:g}",
            f"Pass {point * meant:g} if {meant:g} point{'s are' if meant != 1 else ' is'} meant; "
            "if it is right as it is",
        )
