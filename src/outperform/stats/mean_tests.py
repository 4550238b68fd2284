"""Tests of the difference of means, and of its absence, from scores or published summaries.

`HypothesisTest` is what every test returns, those of ranks too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtr

from outperform.errors import InvalidInput
from outperform.plain_values import Plain
from outperform.stats.checks import (
    LARGEST,
    ROUNDING,
    FloatArray,
    as_generator,
    as_pairs,
    as_two_samples,
    check_choice,
    check_count,
    check_open_unit,
    merge_pairs,
    merge_ties,
)
from outperform.stats.effect_sizes import (
    Estimate,
    MeanDifference,
    join_errors,
    mean_and_deviation,
    mean_difference,
    student_interval,
    subtract_means,
)
from outperform.stats.intervals import Interval
from outperform.stats.numerics import chi_square_nodes, divide, divide_rows, halve, unwrap

_BLOCK = 4_000_000  # signs drawn at a time, to bound the memory


Alternative = Literal["two-sided", "greater", "less"]
_MOST = 1_000_000_000  # runs: nobody has more


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


def paired_t_test(
    a: ArrayLike, b: ArrayLike, *, alternative: Alternative = "two-sided", axis: int = -1
) -> HypothesisTest:
    """Student's t-test of paired scores.

    Parameters
    ----------
    a, b : shape (..., n_pairs), n ≥ 2; higher is better
        Leading axes broadcast: one test each.

    Returns
    -------
    A statistic that is positive when a is higher on average, and its p-value: 1 where a and b
    are identical.

    Examples
    --------
    >>> round(paired_t_test([0.8, 0.9, 0.7], [0.7, 0.7, 0.6]).pvalue, 4)
    0.0572
    """
    first, second = as_two_samples(a, b, at_least=2, axis=axis, paired=True)
    differences = np.subtract(*merge_pairs(first, second))
    n = differences.shape[-1]
    mean, deviation = mean_and_deviation(differences)
    return student_test("paired t", divide(mean, deviation / math.sqrt(n)), n - 1, alternative)


def welch_t_test(
    a: ArrayLike, b: ArrayLike, *, alternative: Alternative = "two-sided", axis: int = -1
) -> HypothesisTest:
    """Welch's t-test of independent scores with variances of their own.

    Parameters
    ----------
    a, b : shape (..., n_a) and (..., n_b), n ≥ 2; higher is better
        Leading axes broadcast: one test each.

    Examples
    --------
    >>> round(welch_t_test([0.8, 0.9, 0.7], [0.7, 0.7, 0.6]).pvalue, 4)
    0.1336
    """
    first, second = merge_ties(*as_two_samples(a, b, at_least=2, axis=axis))
    value, error, df = subtract_means(first, second)
    return student_test("welch t", divide(value, error), df, alternative)


def sign_flip_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    n_resamples: int = 9_999,
    rng: np.random.Generator | None = None,
) -> HypothesisTest:
    """Permutation test of paired scores: flip who is who at random, pair by pair.

    Parameters
    ----------
    a, b : shape (n_pairs,); higher is better
    n_resamples
        Random flips; all 2**n_pairs instead where they are at most `n_resamples` + 1.
    rng
        Draws the random flips; by default seeded with 0, so that the same scores always give the
        same p-value.

    Returns
    -------
    The mean difference and its p-value.

    Examples
    --------
    >>> sign_flip_test([3, 4, 5, 6], [1, 1, 1, 1]).pvalue
    0.125
    """
    check_count("n_resamples", n_resamples, at_least=1)
    first, second = as_pairs(a, b)
    differences = first - second
    exact = differences.size <= math.log2(n_resamples + 1)
    # In units of the largest difference, so that the comparison tolerates rounding at any scale:
    # of the scores and of the sum, and no more, lest one huge difference hide all others.
    scale = np.abs(differences).max() or 1.0
    magnitude = np.abs([first, second]).sum() / first.size + np.abs(differences).sum()
    rounding = float(np.finfo(np.float64).eps * magnitude / scale)
    n = differences.size
    bits: Iterable[NDArray[np.int64]]
    if exact:
        bits = [np.arange(2**n)[:, None] >> np.arange(n) & 1]
    else:
        blocks, generator = divide_rows(n_resamples, n, limit=_BLOCK), as_generator(rng)
        bits = (generator.integers(0, 2, (n_rows, n)) for n_rows in blocks)
    null = np.concatenate([(2.0 * each - 1) @ (differences / scale) for each in bits]) / n
    pvalue = permutation_pvalue(
        np.asarray(differences.mean() / scale),
        np.sort(null),
        alternative,
        exact=exact,
        rounding=rounding,
    )
    return HypothesisTest("sign flip", float(differences.mean()), float(pvalue), alternative)


@dataclass(frozen=True, slots=True)
class EquivalenceTest(Plain):
    """Evidence that two means differ by less than a margin."""

    JSON = "name pvalue margin interval equivalent"

    name: str
    pvalue: float
    margin: float
    interval: Interval  # of the mean difference; equivalent when it lies within the margin
    confidence_level: float

    @property
    def equivalent(self) -> bool:
        """Whether a difference as large as the margin is ruled out."""
        return self.pvalue <= 1 - self.confidence_level

    def __str__(self) -> str:
        conclusion = "ruled out" if self.equivalent else "not ruled out"
        evidence = "" if math.isnan(self.pvalue) else f" (p = {self.pvalue:.2g})"
        return f"a difference of ±{self.margin:g} or more is {conclusion}{evidence}"


def equivalence_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    margin: float,
    paired: bool = True,
    confidence_level: float = 0.95,
) -> EquivalenceTest:
    """Test by two one-sided t-tests that the mean difference lies within ± `margin`.

    Parameters
    ----------
    a, b : shape (n_pairs,), or (n_a,) and (n_b,) when unpaired; n ≥ 2
    margin
        Largest difference of means that does not matter, in the unit of the scores; positive.

    Returns
    -------
    The larger of the two p-values, and the interval of the difference at the level
    2 · confidence_level - 1, which lies within the margin exactly when both tests reject. Where
    differences do not vary there is no p-value (NaN), and the interval is unbounded.

    References
    ----------
    Schuirmann (1987), A comparison of the two one-sided tests procedure.

    Examples
    --------
    >>> a, b = [0.80, 0.81, 0.79, 0.80], [0.80, 0.80, 0.80, 0.80]
    >>> equivalence_test(a, b, margin=0.02).equivalent
    True
    """
    estimate = mean_difference(a, b, paired=paired)
    largest = max(float(np.abs(scores).max()) for scores in (a, b))
    if estimate.error <= ROUNDING * largest:
        # Runs that can only succeed or fail often all agree by chance, and tell nothing of others.
        estimate = replace(estimate, error=math.inf)
    return rule_out(estimate, margin, confidence_level)


def rule_out(
    estimate: MeanDifference, margin: float, confidence_level: float, *, name: str = "equivalence"
) -> EquivalenceTest:
    """Test by two one-sided t-tests that a difference lies within ± `margin`.

    An error that is infinite is not known, and rules out nothing.
    """
    if not 0.5 < confidence_level < 1:
        raise InvalidInput(
            f"confidence_level is {confidence_level}", "Pass a value between 0.5 and 1"
        )
    if not (margin > 0 and math.isfinite(margin)):
        raise InvalidInput(
            f"margin is {margin}", "Pass a positive number in the unit of the scores"
        )
    value, error, df = estimate.value, estimate.error, estimate.df
    nearest, level = margin - abs(value), round(2 * confidence_level - 1, 15)
    if math.isinf(error):
        unbounded = Interval(-math.inf, math.inf, level, "t")
        return EquivalenceTest(name, math.nan, margin, unbounded, confidence_level)
    pvalue = float(stdtr(df, -nearest / error))
    interval = student_interval(value, error, df, level).interval
    return EquivalenceTest(name, pvalue, margin, interval, confidence_level)


@dataclass(frozen=True, slots=True)
class Summary:
    """Mean, standard deviation (not standard error) and number of independent runs."""

    mean: float
    sd: float
    n: int

    def __post_init__(self) -> None:
        check_count("n", self.n, at_least=2, at_most=_MOST)
        numbers = all(isinstance(value, Real) for value in (self.mean, self.sd))
        if not (numbers and abs(self.mean) < LARGEST and 0 <= self.sd < LARGEST):
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
    return student_test("welch t", divide(a.mean - b.mean, error), df, alternative)


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
    return float(sum(halve(lambda d: weight @ ndtr(centre - d) <= chance, low, high, 80)) / 2)
