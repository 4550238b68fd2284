"""Scores that are shares, such as accuracies: as fractions or in per cent, never both."""

import math
import re

import numpy as np

from outperform.errors import InvalidScores
from outperform.stats.checks import FloatArray

_SHARES = frozenset(["acc", "accuracy", "accuracies", "auc", "auroc", "f1", "precision", "recall"])


def find_limits(metric: str, scores: FloatArray) -> tuple[float, float]:
    """Lowest and highest value that is possible: infinite unless the metric is a share by name.

    Refuses shares that are impossible, or of which some are in per cent and others are not.
    """
    if not _SHARES & set(re.split(r"[\W_]+", metric.casefold())):
        return -math.inf, math.inf
    low, high = float(scores.min()), float(scores.max())
    if low < 0 or high > 100:
        raise InvalidScores(
            f"values of {metric} go from {low:g} to {high:g}",
            "Pass shares between 0 and 1, or per cent; if it is another metric, rename it",
        )
    # No success at all is 0 in per cent too.
    n_fractions = int(np.count_nonzero((scores > 0) & (scores <= 1)))
    if high > 1 and n_fractions:
        raise InvalidScores(
            f"{n_fractions} of {scores.size} values of {metric} are fractions, and others go up to "
            f"{high:g}",
            "Give all of them as fractions, or all in per cent",
        )
    return 0.0, 100.0 if high > 1 else 1.0
