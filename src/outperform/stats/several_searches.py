"""What several searches of each side show of both tuned anew: the search counts, not the replicate.

Scores after one search share its luck, so that k replicates of each of R searches are no R·k
independent ones. The means of searches are independent: R differences of means, and Student's t
with R − 1 degrees of freedom, whatever part of the variance is luck of searches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import nctdtr, stdtr, stdtrit

from outperform.errors import TooFewRuns
from outperform.stats.checks import (
    ROUNDING,
    FloatArray,
    as_pairs,
    check_count,
    check_open_unit,
    check_paired,
)
from outperform.stats.effect_sizes import MeanDifference, mean_and_deviation, student_interval
from outperform.stats.intervals import Interval
from outperform.stats.mean_tests import EquivalenceTest, rule_out
from outperform.wording import count

_MOST_SEARCHES = 1_000  # of each, that anybody would do


@dataclass(frozen=True, slots=True)
class SearchesDifference(MeanDifference):
    """The mean of a - b over searches, each counted once."""

    JSON = "value interval pvalue n_searches n_incomplete n_pairs"

    # Below 1 - confidence_level exactly where 0 lies outside the interval; NaN, with an unbounded
    # interval, where these searches tell nothing of others.
    pvalue: float
    n_searches: int  # complete ones of each side, R; Student's t has R - 1 degrees of freedom
    n_pairs: int  # of all complete searches together
    n_incomplete: int = 0  # further searches, of which runs failed or are missing

    @property
    def shown(self) -> bool:
        """Whether a difference, in the sign of `value`, is shown of sides tuned anew."""
        return self.pvalue < 1 - self.interval.confidence_level

    @property
    def is_open(self) -> bool:
        """Whether these searches tell nothing of others."""
        return math.isnan(self.pvalue)

    @property
    def n_planned(self) -> int:
        """Searches of each side, incomplete ones included."""
        return self.n_searches + self.n_incomplete

    @property
    def evidence(self) -> str:
        """The p-value, or why there is none."""
        if self.n_incomplete:
            return f"{self.n_incomplete} of {self.n_planned} searches incomplete"
        if self.is_open:
            return "means differ by the same after every search"
        return f"p = {self.pvalue:.2g}"


def difference_over_searches(
    a: Sequence[ArrayLike],
    b: Sequence[ArrayLike],
    *,
    confidence_level: float = 0.95,
    n_incomplete: int = 0,
) -> SearchesDifference:
    """Mean of `a` minus mean of `b` over searches of both, by the means of searches.

    Parameters
    ----------
    a, b : sequences of arrays, one for each complete search; higher is better
        Scores after search i of both, pair by pair. Searches may have different numbers of pairs.
    n_incomplete
        Further searches, of which runs failed or are missing. They may be those that went badly,
        so that the others show nothing.

    Returns
    -------
    Means that differ by the same after every search do not tell how they would after others. Then,
    and where searches are incomplete, the interval is unbounded and the p-value NaN.

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
    >>> difference_over_searches(a, b, n_incomplete=1).shown
    False
    """
    check_open_unit("confidence_level", confidence_level)
    check_count("n_incomplete", n_incomplete, at_least=0)
    check_paired(len(a), len(b))
    pairs = [as_pairs(x, y) for x, y in zip(a, b, strict=True)]
    if len(pairs) + n_incomplete < 2:
        raise TooFewRuns(
            f"each has {count(len(pairs), 'search', 'searches')}, and the luck of one is "
            "in all its runs",
            "Search twice or more",
        )
    means = np.array([(x.mean(), y.mean()) for x, y in pairs]).reshape(-1, 2)
    n_searches, n_pairs = len(pairs), sum(x.size for x, _ in pairs)
    value, error, df = _subtract(means)
    if n_incomplete or math.isinf(error):
        unbounded = Interval(-math.inf, math.inf, confidence_level, "t")
        known = unbounded, math.inf, df, math.nan
    else:
        interval = student_interval(value, error, df, confidence_level).interval
        known = interval, error, df, 2 * float(stdtr(df, -abs(value) / error))
    return SearchesDifference(value, *known, n_searches, n_pairs, n_incomplete)


def _subtract(means: FloatArray) -> tuple[float, float, float]:
    """Mean of the differences of means, its error (infinite if unknown), degrees of freedom."""
    n = len(means)
    if n < 2:
        return float(np.diff(-means).item()) if n else math.nan, math.inf, 0.0
    value, deviation = map(float, mean_and_deviation(means[:, 0] - means[:, 1]))
    # Equal differences of unequal means differ by the rounding of these.
    constant = deviation <= ROUNDING * np.abs(means).max()
    return value, math.inf if constant else deviation / math.sqrt(n), n - 1.0


def equivalence_over_searches(difference: SearchesDifference, *, margin: float) -> EquivalenceTest:
    """Test by two one-sided t-tests that means over searches lie within ± `margin` of each other.

    At the confidence level of the difference; the p-value is NaN where that has none.

    References
    ----------
    Schuirmann (1987), A comparison of the two one-sided tests procedure.

    Examples
    --------
    >>> alike = difference_over_searches([[0.8], [0.9], [0.7]], [[0.79], [0.9], [0.71]])
    >>> test = equivalence_over_searches(alike, margin=0.05)
    >>> print(test)
    a difference of ±0.05 or more is ruled out (p = 0.0065)
    """
    level = difference.interval.confidence_level
    return rule_out(difference, margin, level, name="equivalence over searches")


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
    level = difference.interval.confidence_level
    if math.isinf(difference.error):
        return None
    effect = abs(difference.value) / difference.error / math.sqrt(difference.n_searches)
    numbers = np.arange(2, _MOST_SEARCHES + 1)
    needed = stdtrit(numbers - 1, (1 + level) / 2)
    enough = nctdtr(numbers - 1, effect * np.sqrt(numbers), needed) <= beta
    return int(numbers[enough.argmax()]) if enough.any() else None
