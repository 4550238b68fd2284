"""Tests of the difference of means, and of its absence."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from outperform.errors import InvalidInput
from outperform.plain_values import Plain
from outperform.stats.checks import (
    FloatArray,
    as_generator,
    as_pairs,
    as_two_samples,
    check_count,
    check_paired,
)
from outperform.stats.chunks import divide_rows
from outperform.stats.effect_sizes import mean_and_deviation, mean_difference, subtract_means
from outperform.stats.hypothesis_test import (
    Alternative,
    HypothesisTest,
    permutation_pvalue,
    student_test,
)
from outperform.stats.intervals import Interval
from outperform.stats.ties import merge_pairs, merge_ties

_BLOCK = 4_000_000  # signs drawn at a time, to bound the memory


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
    first, second = as_two_samples(a, b, at_least=2, axis=axis)
    check_paired(first.shape[-1], second.shape[-1])
    differences = np.subtract(*merge_pairs(first, second))
    n = differences.shape[-1]
    mean, deviation = mean_and_deviation(differences)
    return student_test("paired t", _ratio(mean, deviation / math.sqrt(n)), n - 1, alternative)


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
    return student_test("welch t", _ratio(value, error), df, alternative)


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
    blocks: Iterable[FloatArray]
    blocks = (
        [_all_signs(differences.size)]
        if exact
        else _random_signs(n_resamples, differences.size, as_generator(rng))
    )
    null = np.concatenate([signs @ (differences / scale) for signs in blocks]) / differences.size
    null.sort()
    pvalue = permutation_pvalue(
        np.asarray(differences.mean() / scale), null, alternative, exact=exact, rounding=rounding
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
        return f"a difference of ±{self.margin:g} or more is {conclusion} (p = {self.pvalue:.2g})"


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
    2 · confidence_level - 1, which lies within the margin exactly when both tests reject.

    References
    ----------
    Schuirmann (1987), A comparison of the two one-sided tests procedure.

    Examples
    --------
    >>> a, b = [0.80, 0.81, 0.79, 0.80], [0.80, 0.80, 0.80, 0.80]
    >>> equivalence_test(a, b, margin=0.02).equivalent
    True
    """
    if not 0.5 < confidence_level < 1:
        raise InvalidInput(
            f"confidence_level is {confidence_level}", "Pass a value between 0.5 and 1"
        )
    if not (margin > 0 and math.isfinite(margin)):
        raise InvalidInput(
            f"margin is {margin}", "Pass a positive number in the unit of the scores"
        )
    estimate = mean_difference(a, b, paired=paired, confidence_level=2 * confidence_level - 1)
    nearest = margin - abs(estimate.value)
    if estimate.error == 0:
        pvalue = 0.0 if nearest > 0 else 1.0
    else:
        pvalue = float(stdtr(estimate.df, -nearest / estimate.error))
    return EquivalenceTest("equivalence", pvalue, margin, estimate.interval, confidence_level)


def _ratio(value: Any, error: Any) -> FloatArray:
    """Difference in standard errors; infinite without error, NaN without a difference either."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.divide(value, error), dtype=np.float64)


def _random_signs(n_resamples: int, n: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Random signs, in blocks that bound the memory."""
    for n_rows in divide_rows(n_resamples, n, limit=_BLOCK):
        yield rng.integers(0, 2, (n_rows, n)).astype(np.float64) * 2 - 1


def _all_signs(n: int) -> FloatArray:
    bits = np.arange(2**n)[:, None] >> np.arange(n) & 1
    return np.asarray(2.0 * bits - 1, dtype=np.float64)
