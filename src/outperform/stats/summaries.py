"""Comparisons from what papers publish: mean, standard deviation and number of runs."""

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy.special import ndtr

from outperform.errors import InvalidInput
from outperform.stats.checks import check_count, check_open_unit
from outperform.stats.effect_sizes import Estimate, join_errors
from outperform.stats.hypothesis_test import Alternative, HypothesisTest, student_test
from outperform.stats.intervals import Interval
from outperform.stats.quadrature import chi_square_nodes

_LARGEST = 1e150  # as for single scores
_MOST = 1_000_000_000  # runs: nobody has more


@dataclass(frozen=True, slots=True)
class Summary:
    """Mean, standard deviation (not standard error) and number of independent runs."""

    mean: float
    sd: float
    n: int

    def __post_init__(self) -> None:
        check_count("n", self.n, at_least=2, at_most=_MOST)
        numbers = all(isinstance(value, Real) for value in (self.mean, self.sd))
        if not (numbers and abs(self.mean) < _LARGEST and 0 <= self.sd < _LARGEST):
            raise InvalidInput(
                f"mean is {self.mean} and standard deviation {self.sd}",
                "Pass numbers below 1e150 and a standard deviation that is not negative",
            )


def welch_from_summary(
    a: Summary, b: Summary, *, alternative: Alternative = "two-sided"
) -> HypothesisTest:
    """Welch's t-test from two summaries of independent runs.

    Examples
    --------
    >>> round(welch_from_summary(Summary(0.8, 0.1, 3), Summary(0.7, 0.1, 3)).pvalue, 4)
    0.2879
    """
    error_a, error_b = np.array([a.sd, b.sd]) / np.sqrt([a.n, b.n])
    error, df = join_errors(error_a, error_b, (a.n, b.n))
    with np.errstate(divide="ignore", invalid="ignore"):
        return student_test("welch t", np.asarray((a.mean - b.mean) / error), df, alternative)


def probability_from_summary(a: Summary, b: Summary, *, confidence_level: float = 0.95) -> Estimate:
    """P(A>B) = Φ((mean_a - mean_b) / √(sd_a² + sd_b²)), if scores are normal and independent.

    The interval inverts the noncentral t distribution that the standardised difference follows
    approximately.

    References
    ----------
    Reiser and Guttman (1986), Statistical inference for Pr(Y < X): the normal case.

    Examples
    --------
    >>> print(probability_from_summary(Summary(0.8, 0.1, 10), Summary(0.7, 0.1, 10)))
    0.76 [0.515, 0.913]
    """
    check_open_unit("confidence_level", confidence_level)
    deviation = math.hypot(a.sd, b.sd)
    if deviation == 0:
        raise InvalidInput(
            "both standard deviations are 0", "Pass the standard deviations over runs"
        )
    effect = (a.mean - b.mean) / deviation
    # Reiser and Guttman's equation 3: effective number of runs and degrees of freedom, from the
    # share of each in the variance.
    share_a, share_b = (a.sd / deviation) ** 2, (b.sd / deviation) ** 2
    n = 1 / (share_a / a.n + share_b / b.n)
    df = 1 / (share_a**2 / (a.n - 1) + share_b**2 / (b.n - 1))
    tail = (1 - confidence_level) / 2
    low, high = (
        float(ndtr(_noncentrality(math.sqrt(n) * effect, df, chance) / math.sqrt(n)))
        for chance in (1 - tail, tail)
    )
    return Estimate(float(ndtr(effect)), Interval(low, high, confidence_level, "normal"))


def _noncentrality(statistic: float, df: float, chance: float) -> float:
    """Noncentrality at which a t statistic stays below the observed one with this chance.

    T ≤ t means Z + δ ≤ t·√(V/df), so the chance is the mean of Φ(t·√(V/df) - δ) over the
    chi-square V.
    """
    chi_square, weight = chi_square_nodes(df)
    centre = statistic * np.sqrt(chi_square / df)
    low, high = centre.min() - 10, centre.max() + 10
    for _ in range(80):
        middle = (low + high) / 2
        is_above = weight @ ndtr(centre - middle) > chance
        low, high = (middle, high) if is_above else (low, middle)
    return float((low + high) / 2)
