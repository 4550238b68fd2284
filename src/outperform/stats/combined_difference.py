"""The mean of one design with the standard deviation of two."""

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtrit

from outperform.errors import InvalidInput
from outperform.stats.checks import as_scores, check_count, check_open_unit
from outperform.stats.effect_sizes import mean_and_deviation, student_interval
from outperform.stats.intervals import Interval


@dataclass(frozen=True, slots=True)
class CombinedDifference:
    """Mean difference after one search, with a spread that counts other searches by half.

    Attributes
    ----------
    value, interval
        Mean of the differences with the search held fixed, and the paired t interval with `sd`.
    sd
        Mean of `sd_fixed`, too small without the luck of tuning, and `sd_redrawn`, too large where
        searches are simulated.
    """

    value: float
    interval: Interval
    sd_fixed: float
    sd_redrawn: float
    n_pairs: int

    @property
    def sd(self) -> float:
        """Standard deviation of a difference."""
        return (self.sd_fixed + self.sd_redrawn) / 2


def combine_designs(
    fixed: ArrayLike, redrawn: ArrayLike, *, confidence_level: float = 0.95
) -> CombinedDifference:
    """Combine paired differences after one search with those after searches redrawn from it.

    Parameters
    ----------
    fixed, redrawn : shape (n_pairs,); n ≥ 2
        Differences of two algorithms, pair by pair.

    References
    ----------
    Anonymous authors, Simulated hyperparameter optimization for statistical tests in machine
    learning benchmarks, section 4.2 and figure 3.

    Examples
    --------
    >>> combined = combine_designs([1, 2, 3], [0, 2, 4])
    >>> combined.value, combined.sd, combined.interval.method
    (2.0, 1.5, 't')
    """
    check_open_unit("confidence_level", confidence_level)
    first = as_scores(fixed, "the differences of one search", at_least=2)
    second = as_scores(redrawn, "the differences of redrawn searches", at_least=2)
    value, sd_fixed = map(float, mean_and_deviation(first))
    sd_redrawn = float(mean_and_deviation(second)[1])
    error = (sd_fixed + sd_redrawn) / 2 / math.sqrt(first.size)
    interval = student_interval(value, error, first.size - 1, confidence_level).interval
    return CombinedDifference(value, interval, sd_fixed, sd_redrawn, first.size)


def coverage_after_one_search(
    n_pairs: int, correlation: float, *, confidence_level: float = 0.95
) -> float:
    """How often the interval of `combine_designs` holds the mean difference over all searches.

    Pairs of one search share its luck, which makes up `correlation` of their variance, and the
    interval takes them for independent. For normal scores, and standard deviations that are known:
    √(1 - correlation) with the search held fixed, and 1 with redrawn ones that are as real ones.

    Examples
    --------
    >>> coverage_after_one_search(50, 0.0) > 0.95, round(coverage_after_one_search(50, 0.1), 2)
    (True, 0.58)
    """
    check_count("n_pairs", n_pairs, at_least=2)
    if not 0 <= correlation <= 1:
        raise InvalidInput(f"correlation is {correlation}", "Pass a number from 0 to 1")
    check_open_unit("confidence_level", confidence_level)
    sd = (math.sqrt(1 - correlation) + 1) / 2
    reach = -float(stdtrit(n_pairs - 1, (1 - confidence_level) / 2)) * sd
    return float(2 * ndtr(reach / math.sqrt(1 + (n_pairs - 1) * correlation)) - 1)
