"""What several searches of each side show of both tuned anew: the search counts, not the replicate.

Scores after one search share its luck, so that k replicates of each of R searches are no R·k
independent ones. The means of searches are independent: R differences of means, and Student's t
with R − 1 degrees of freedom, whatever part of the variance is luck of searches.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import nctdtr, stdtr, stdtrit

from outperform.errors import TooFewRuns
from outperform.stats.checks import ROUNDING, as_pairs, check_open_unit, check_paired
from outperform.stats.effect_sizes import Estimate, mean_and_deviation, student_interval
from outperform.stats.intervals import Interval
from outperform.wording import count

_MOST_SEARCHES = 1_000  # of each, that anybody would do


@dataclass(frozen=True, slots=True)
class SearchesDifference(Estimate):
    """The mean of a - b over searches, each counted once."""

    JSON = "value interval pvalue n_searches n_pairs"

    pvalue: float  # below 1 - confidence_level exactly where 0 lies outside the interval
    n_searches: int  # of each side, R; Student's t has R - 1 degrees of freedom
    n_pairs: int  # of all searches together

    @property
    def shown(self) -> bool:
        """Whether a difference, in the sign of `value`, is shown of sides tuned anew."""
        return self.pvalue < 1 - self.interval.confidence_level


def difference_over_searches(
    a: Sequence[ArrayLike], b: Sequence[ArrayLike], *, confidence_level: float = 0.95
) -> SearchesDifference:
    """Mean of `a` minus mean of `b` over searches of both, by the means of searches.

    Parameters
    ----------
    a, b : sequences of R ≥ 2 arrays, one for each search; higher is better
        Scores after search i of both, pair by pair. Searches may have different numbers of pairs.

    Returns
    -------
    Means that differ by the same after every search do not tell how they would after others: then
    the interval is unbounded and the p-value 1.

    References
    ----------
    Bouthillier et al. (2021), Accounting for Variance in ML Benchmarks, section 3.3, on what
    scores after one search share.

    Examples
    --------
    >>> a, b = [[0.8, 0.9], [0.7, 0.9], [0.8, 0.8]], [[0.7, 0.6], [0.7, 0.6], [0.6, 0.7]]
    >>> result = difference_over_searches(a, b)
    >>> print(result)
    0.167 [0.095, 0.238]
    >>> round(result.pvalue, 3), result.shown
    (0.01, True)
    """
    check_open_unit("confidence_level", confidence_level)
    check_paired(len(a), len(b))
    pairs = [as_pairs(x, y) for x, y in zip(a, b, strict=True)]
    if len(pairs) < 2:
        raise TooFewRuns(
            f"each has {count(len(pairs), 'search', 'searches')}, and the luck of one is "
            "in all its runs",
            "Search twice or more",
        )
    means = np.array([(x.mean(), y.mean()) for x, y in pairs])
    value, deviation = map(float, mean_and_deviation(means[:, 0] - means[:, 1]))
    n_searches, n_pairs = len(pairs), sum(x.size for x, _ in pairs)
    # Equal differences of unequal means differ by the rounding of these.
    if deviation <= ROUNDING * np.abs(means).max():
        unbounded = Interval(-math.inf, math.inf, confidence_level, "t")
        return SearchesDifference(value, unbounded, 1.0, n_searches, n_pairs)
    error, df = deviation / math.sqrt(n_searches), n_searches - 1
    interval = student_interval(value, error, df, confidence_level).interval
    pvalue = 2 * float(stdtr(df, -abs(value) / error))
    return SearchesDifference(value, interval, pvalue, n_searches, n_pairs)


def required_searches(difference: SearchesDifference, *, beta: float = 0.05) -> int | None:
    """Searches of each that would show a difference and a spread as these with power 1 - beta.

    None where more than 1,000 would not do, or the spread is not known. Exact where means of
    searches are normal: Student's t, noncentral.

    Examples
    --------
    >>> few = difference_over_searches([[0.8], [0.9], [0.7]], [[0.6], [0.9], [0.6]])
    >>> few.shown, required_searches(few)
    (False, 16)
    """
    check_open_unit("beta", beta)
    level, n = difference.interval.confidence_level, difference.n_searches
    half = (difference.interval.high - difference.interval.low) / 2
    if math.isinf(half):
        return None
    effect = abs(difference.value) / half * float(stdtrit(n - 1, (1 + level) / 2)) / math.sqrt(n)
    numbers = np.arange(2, _MOST_SEARCHES + 1)
    needed = stdtrit(numbers - 1, (1 + level) / 2)
    enough = nctdtr(numbers - 1, effect * np.sqrt(numbers), needed) <= beta
    return int(numbers[enough.argmax()]) if enough.any() else None
