"""What every hypothesis test returns, and the tails they share."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from outperform.plain_values import Plain
from outperform.stats.checks import FloatArray, check_choice

Alternative = Literal["two-sided", "greater", "less"]


@dataclass(frozen=True, slots=True)
class HypothesisTest(Plain):
    """Evidence against "no difference": floats, or arrays where leading axes were given."""

    name: str
    statistic: Any  # positive when a tends to be higher, but for the sum of ranks of Wilcoxon
    pvalue: Any
    alternative: Alternative

    def __str__(self) -> str:
        many = f"{np.size(self.pvalue)} tests, smallest " if np.ndim(self.pvalue) else ""
        smallest = np.min(self.pvalue, initial=1)
        return f"{self.name}: {many}p = {smallest:.2g} ({self.alternative})"


def student_test(
    name: str, statistic: NDArray[Any], df: NDArray[Any] | float, alternative: Alternative
) -> HypothesisTest:
    """Test whose statistic follows Student's t under no difference.

    NaN stands for 0 / 0, neither difference nor variation: no evidence, so the p-value is 1.
    """
    check_choice("alternative", alternative, get_args(Alternative))
    if alternative == "two-sided":
        pvalue = 2 * stdtr(df, -np.abs(statistic))
    else:
        pvalue = stdtr(df, -statistic if alternative == "greater" else statistic)
    nothing = np.isnan(statistic)
    return HypothesisTest(
        name,
        unwrap(np.where(nothing, 0.0, statistic)),
        unwrap(np.where(nothing, 1.0, pvalue)),
        alternative,
    )


def permutation_pvalue(
    observed: FloatArray,
    null: FloatArray,
    alternative: Alternative,
    *,
    exact: bool,
    rounding: float = 1e-12,
) -> FloatArray:
    """Share of a sorted null distribution at least as extreme as each observed value.

    A random null counts the observed value itself in, so that p is never 0 (Phipson and
    Smyth, 2010). Two-sided adds the tails beyond ± the observed value.
    """
    check_choice("alternative", alternative, get_args(Alternative))
    observed, null = np.nan_to_num(observed, posinf=np.inf, neginf=-np.inf), np.nan_to_num(null)
    # Equal statistics may differ in the last bits, depending on the order of their sums.
    slack = rounding * np.maximum(1.0, np.abs(observed))
    upper = np.abs(observed) if alternative == "two-sided" else observed
    lower = -np.abs(observed) if alternative == "two-sided" else observed
    above = null.size - np.searchsorted(null, upper - slack, side="left")
    below = np.searchsorted(null, lower + slack, side="right")
    extreme = {"greater": above, "less": below, "two-sided": above + below}[alternative]
    added = 0 if exact else 1
    return np.minimum(1.0, (extreme + added) / (null.size + added))


def unwrap(array: NDArray[Any]) -> Any:
    """Float where there is a single value, else the array."""
    return float(array) if array.ndim == 0 else array
