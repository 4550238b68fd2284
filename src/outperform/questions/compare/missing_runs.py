"""What holds whatever the runs that are missing were: each is taken for the worst of its side.

Runs often fail, or are pruned, because they go badly: of two identical algorithms, one with a
pruner, the pruned one would outperform the other. One that goes badly enough takes any lead in the
mean, so that no mean withstands it.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from outperform.runs import Goal
from outperform.stats import (
    EquivalenceTest,
    HypothesisTest,
    Interval,
    ResampledDifference,
    outperforming_interval,
)
from outperform.stats.checks import FloatArray
from outperform.stats.outperforming import IntervalMethod, Ties

_BEYOND = 1e6  # times the largest score, so that it rules any mean

TwoSides = tuple[FloatArray, FloatArray]  # higher is better


def take_worst(own: FloatArray, other: FloatArray, n_lacking: int, *, paired: bool) -> TwoSides:
    """Add the runs that one side lacks, worse than all others."""
    if not n_lacking:
        return own, other
    reach = float(np.abs(np.concatenate((own, other))).max()) or 1.0
    own = np.append(own, np.full(n_lacking, -_BEYOND * reach))
    return own, np.append(other, np.full(n_lacking if paired else 0, -2 * reach))


def bound_chances(
    intervals: tuple[Interval, Interval],
    scores: TwoSides,
    lacking: tuple[int, int],
    ties: Ties,
    paired: bool,
) -> tuple[Interval, Interval]:
    """Widen the intervals of P(A>B) and P(B>A)."""
    ends = [[each.low, each.high] for each in intervals]
    for side, n_lacking in enumerate(lacking):
        if n_lacking:
            own, other = take_worst(scores[side], scores[1 - side], n_lacking, paired=paired)
            method: IntervalMethod = intervals[side].method  # type: ignore[assignment]
            sure = outperforming_interval(
                own,
                other,
                paired=paired,
                ties=ties,
                method="exact" if method == "bootstrap" else method,
                confidence_level=intervals[side].confidence_level,
            )
            ends[side][0] = min(ends[side][0], sure.low)
            # What one side wins, the other does not.
            ends[1 - side][1] = max(ends[1 - side][1], round(1 - sure.low, 15))
    first, second = (
        replace(each, low=low, high=high) for each, (low, high) in zip(intervals, ends, strict=True)
    )
    return first, second


def withstand_worst(
    apply: Callable[..., HypothesisTest],
    scores: TwoSides,
    lacking: tuple[int, int],
    *,
    paired: bool,
) -> HypothesisTest:
    """Apply a two-sided test, and let no side pass that would not with what it lacks."""
    a, b = scores
    test = apply(a, b)
    if not any(lacking):
        return test
    sides = ((a, b, lacking[0]), (b, a, lacking[1]))
    pvalues = [
        apply(*take_worst(*side, paired=paired), alternative="greater").pvalue for side in sides
    ]
    return replace(test, pvalue=max(float(test.pvalue), min(1.0, 2 * min(pvalues))))


def forget_pvalue(
    difference: ResampledDifference, goal: Goal, lacking: tuple[int, int]
) -> ResampledDifference:
    """Leave no p-value of a mean difference, of a - b, in favour of who lacks runs."""
    a_leads = (difference.value > 0) == (goal == "maximize")
    return replace(difference, pvalue=math.nan) if lacking[0 if a_leads else 1] else difference


def forget_equivalence(test: EquivalenceTest, lacking: tuple[int, int]) -> EquivalenceTest:
    """Rule nothing out of the means of runs of which some are missing."""
    return replace(test, pvalue=math.nan) if any(lacking) else test
