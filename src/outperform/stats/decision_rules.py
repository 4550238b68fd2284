"""Rules that decide whether a is better than b: on many samples at once, and how often, exactly.

The exact rates are for normal scores with the standard deviation 1 over all that may vary. A
design that holds something fixed gives all scores of one sample the same bias, and lets them vary
around it.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, stdtrit

from outperform.errors import InvalidInput
from outperform.stats.checks import (
    ROUNDING,
    BoolArray,
    FloatArray,
    check_choice,
    check_count,
    check_gamma,
    check_open_unit,
    merge_pairs,
)
from outperform.stats.effect_sizes import mean_and_deviation
from outperform.stats.mean_tests import HypothesisTest, paired_t_test, welch_t_test
from outperform.stats.numerics import (
    chi_square_nodes,
    divide_rows,
    normal_nodes,
    symmetric_beta_nodes,
)
from outperform.stats.rank_tests import brunner_munzel, signed_rank_tails
from outperform.stats.sequential import anytime_power, decide_by_looking
from outperform.stats.verdicts import VerdictRule, chance_of_wins, wins_needed

Rule = Literal[
    "single-point",
    "average",
    "verdict",
    "anytime",
    "paired-t",
    "welch-t",
    "wilcoxon",
    "brunner-munzel",
    "brunner-munzel-permutation",
    "nadeau-bengio",
    "oracle",
]
RULES: tuple[Rule, ...] = get_args(Rule)
RULES_OF_PAIRS: tuple[Rule, ...] = (
    *("verdict", "anytime", "paired-t", "wilcoxon", "nadeau-bengio"),
)
PUBLISHED_IMPROVEMENT = 1.9952  # standard deviations, fitted by Bouthillier et al. (2021)
_RANKED: tuple[Rule, ...] = ("brunner-munzel", "brunner-munzel-permutation")
EXACT_RULES: tuple[Rule, ...] = (
    *("single-point", "average", "verdict", "anytime"),
    *("paired-t", "welch-t", "nadeau-bengio", "oracle"),
)
_STUDENT_RULES: tuple[Rule, ...] = ("paired-t", "welch-t", "nadeau-bengio")


@dataclass(frozen=True, slots=True)
class Criteria:
    """What a decision is made by."""

    gamma: float = 0.75  # smallest P(A>B) that matters
    alpha: float = 0.05  # level of the tests and intervals, two-sided
    delta: float = PUBLISHED_IMPROVEMENT  # of averages or scores that counts, in units of sd
    sd: float = 1.0  # standard deviation of scores, which the oracle knows
    # Size of a test set over that of its training set where runs are re-splits of one dataset,
    # which Nadeau and Bengio's test corrects for; 0 where they share nothing.
    overlap: float = 0.0

    def __post_init__(self) -> None:
        if not (self.overlap >= 0 and math.isfinite(self.overlap)):
            raise InvalidInput(f"the overlap is {self.overlap}", "Pass 0 or a positive number")
        check_gamma(self.gamma)
        check_open_unit("alpha", self.alpha)
        if not (self.sd > 0 and math.isfinite(self.sd)):
            raise InvalidInput(f"the standard deviation is {self.sd}", "Pass a positive number")
        if not math.isfinite(self.delta):
            raise InvalidInput(f"delta is {self.delta}", "Pass a number of standard deviations")

    @property
    def threshold(self) -> float:
        """Difference that counts as better, in the unit of the scores."""
        return self.delta * self.sd

    @property
    def midpoint(self) -> float:
        """Half the difference that P(A>B) = gamma stands for, if scores are normal.

        With the standard deviation known, no rule errs less at both ends at once.
        """
        return float(ndtri(self.gamma)) * math.sqrt(2) * self.sd / 2


USUAL_CRITERIA = Criteria()


@dataclass(frozen=True, slots=True)
class CriticalValue:
    """Statistic from which on a permutation test rejects, with the error of its random null."""

    value: float
    low: float  # one standard error of the level away, on either side
    high: float


def permutation_critical_value(
    n: int, alpha: float = 0.05, *, rng: np.random.Generator, n_resamples: int | None = None
) -> CriticalValue:
    """Brunner and Munzel's statistic that is significant by permutation, two-sided, without ties.

    Without ties the null distribution depends on the sizes only, so that one set of random splits
    serves any number of samples of n against n.

    Parameters
    ----------
    n_resamples
        Random splits; by default 99,999, and fewer of more than 500, but no fewer than 9,999.

    Examples
    --------
    >>> critical = permutation_critical_value(10, rng=np.random.default_rng(0))
    >>> 2.0 < critical.low <= critical.value <= critical.high < 2.4
    True
    """
    check_count("n", n, at_least=2)
    check_open_unit("alpha", alpha)
    if n_resamples is None:
        n_resamples = min(99_999, max(9_999, 50_000_000 // n))
    parts = []
    for n_rows in divide_rows(n_resamples, n, limit=2_000_000):
        # The ranks of independent uniform numbers are as random as those of a random split.
        shape = (n_rows, n)
        parts.append(np.abs(brunner_munzel(rng.random(shape), rng.random(shape)).statistic))
    null = np.sort(np.concatenate(parts))
    error = math.sqrt(alpha * (1 - alpha) / n_resamples)
    low, value, high = (
        critical_value(null, level) for level in (alpha + error, alpha, alpha - error)
    )
    return CriticalValue(value, low, high)


def critical_value(null: FloatArray, alpha: float) -> float:
    """Smallest statistic of a sorted random null whose p-value is at most alpha, else infinity.

    The p-value counts the observed value itself in (Phipson and Smyth, 2010), and values that are
    equal but for rounding as equal.
    """
    n_beyond = math.floor(alpha * (null.size + 1) * (1 + 1e-12)) - 1
    if n_beyond < 0:
        return math.inf
    # The smallest value above those that too many others reach.
    last = null[null.size - n_beyond - 1]
    return float(last + 1e-9 * max(1.0, abs(last)))


@dataclass(frozen=True, slots=True)
class Decisions:
    """For each of many samples, which rules declare a better; arrays of shape (n_samples,)."""

    for_a: dict[Rule, BoolArray]
    borderline: BoolArray  # where the error of its random null may turn the permutation test


def decide(
    a: FloatArray,
    b: FloatArray,
    rules: Collection[Rule],
    criteria: Criteria,
    *,
    critical: CriticalValue | None = None,
) -> Decisions:
    """Apply rules to many samples: does each declare a better.

    Parameters
    ----------
    a, b : shape (n_samples, n), higher is better
        Entries [i, j] of both are a pair to the rules that need pairs.
    critical
        As `permutation_critical_value` gives it, for the permutation test.

    Returns
    -------
    Tests are two-sided at alpha, and decide for a where it is ahead.

    Examples
    --------
    >>> a, b = np.array([[3.0, 4, 5, 6, 7, 8]]), np.array([[2.0, 3, 4, 5, 6, 6]])
    >>> decide(a, b, ["verdict", "paired-t", "welch-t"], Criteria()).for_a
    {'verdict': array([ True]), 'paired-t': array([ True]), 'welch-t': array([False])}
    """
    a, b = merge_pairs(a, b)
    plain = [rule for rule in rules if rule not in _RANKED]
    for_a = {rule: _decide(rule, a, b, criteria) for rule in plain}
    borderline = np.zeros(len(a), dtype=bool)
    if set(rules) & set(_RANKED):
        ranked = brunner_munzel(a, b)
        for_a["brunner-munzel"] = _favours_a(ranked, criteria.alpha)
        if critical is not None:
            for_a["brunner-munzel-permutation"] = ranked.statistic >= critical.value
            borderline = (ranked.statistic >= critical.low) & (ranked.statistic < critical.high)
    if missing := [rule for rule in rules if rule not in for_a]:
        raise InvalidInput(
            f"the rule {missing[0]!r} has no critical value",
            "Pass critical=permutation_critical_value(n, alpha, rng=rng)",
        )
    return Decisions({rule: for_a[rule] for rule in rules}, borderline)


def _decide(rule: Rule, a: FloatArray, b: FloatArray, criteria: Criteria) -> BoolArray:
    match rule:
        case "single-point":
            return np.asarray(a[:, 0] - b[:, 0] > criteria.threshold)
        case "average":
            return np.asarray(a.mean(axis=1) - b.mean(axis=1) > criteria.threshold)
        case "oracle":
            return np.asarray(a.mean(axis=1) - b.mean(axis=1) > criteria.midpoint)
        case "verdict":
            return decide_by_verdict(a, b, criteria)
        case "anytime":
            return decide_by_looking(a, b, gamma=criteria.gamma, alpha=criteria.alpha)
        case "paired-t":
            return _favours_a(paired_t_test(a, b), criteria.alpha)
        case "welch-t":
            return _favours_a(welch_t_test(a, b), criteria.alpha)
        case "wilcoxon":
            return decide_by_signed_ranks(a - b, criteria.alpha)
        case "nadeau-bengio":
            return _decide_by_resplits(a, b, criteria)
    raise InvalidInput(f"rule is {rule!r}", f"Choose one of {', '.join(RULES)}")


def _favours_a(test: HypothesisTest, alpha: float) -> BoolArray:
    return np.asarray((test.pvalue <= alpha) & (test.statistic > 0))


def _decide_by_resplits(a: FloatArray, b: FloatArray, criteria: Criteria) -> BoolArray:
    """Whether `nadeau_bengio_test` of each sample finds a better."""
    n = a.shape[1]
    mean, deviation = mean_and_deviation(a - b)
    largest = np.maximum(np.abs(a).max(axis=1), np.abs(b).max(axis=1))
    needed = float(stdtrit(n - 1, 1 - criteria.alpha / 2)) * math.sqrt(1 / n + criteria.overlap)
    return np.asarray((deviation > ROUNDING * largest) & (mean >= needed * deviation))


def decide_by_verdict(a: FloatArray, b: FloatArray, criteria: Criteria) -> BoolArray:
    """Whether the verdict on each sample of pairs is "significant and meaningful" for a."""
    rule, n = VerdictRule(1 - criteria.alpha, criteria.gamma), a.shape[1]
    a, b = merge_pairs(a, b)
    outcomes = np.stack([(a > b).sum(axis=1), (a == b).sum(axis=1)], axis=1)
    kinds, kind = np.unique(outcomes, axis=0, return_inverse=True)
    holds = [rule.holds(int(wins), int(ties), n) for wins, ties in kinds]
    return np.array(holds)[kind.reshape(-1)]


def decide_by_signed_ranks(differences: FloatArray, alpha: float) -> BoolArray:
    """Whether Wilcoxon's test of each row of differences finds them positive.

    Pairs without a difference are left out. Tied ranks are broken by the order of pairs, which is
    as good as chance where pairs are drawn at random.
    """
    n = differences.shape[1]
    order = np.argsort(np.abs(differences), axis=1, kind="stable")
    positive = np.take_along_axis(differences, order, axis=1) > 0
    n_zero = (differences == 0).sum(axis=1)
    statistic = positive @ np.arange(1, n + 1) - n_zero * positive.sum(axis=1)
    needed = np.full(n + 1, np.inf)  # by number of pairs
    for size in np.unique(n - n_zero).tolist():
        sums = np.arange(size * (size + 1) // 2 + 1)
        _, tail = signed_rank_tails(sums, np.arange(1, size + 1))
        significant = sums[2 * tail <= alpha]
        needed[size] = significant[0] if significant.size else np.inf
    return np.asarray(statistic >= needed[n - n_zero])


@dataclass(frozen=True, slots=True)
class NormalScores:
    """Normal scores, in units of their standard deviation over all that may vary."""

    spread: float = 1.0  # standard deviation of the scores of one sample around their common mean
    bias: float = 0.0  # standard deviation of that mean around the true one; 0: ideal design

    def __post_init__(self) -> None:
        if not (self.spread > 0 and math.isfinite(self.spread)):
            raise InvalidInput(
                f"the standard deviation of scores is {self.spread:g}", "Pass a positive number"
            )
        if not (self.bias >= 0 and math.isfinite(self.bias)):
            raise InvalidInput(
                f"the standard deviation of the bias is {self.bias:g}",
                "Pass 0, for no bias, or a positive number",
            )


IDEAL_SCORES = NormalScores()


def difference_of_probability(probability: ArrayLike) -> FloatArray:
    """Difference of means, in standard deviations, at which P(A>B) is this: Φ⁻¹(P)·√2."""
    chance = np.asarray(probability, dtype=np.float64)
    if not ((chance >= 0) & (chance <= 1)).all():
        wrong = chance[~((chance >= 0) & (chance <= 1))].flat[0]
        raise InvalidInput(f"P(A>B) is {wrong:g}", "Pass values from 0 to 1")
    return np.asarray(ndtri(chance) * math.sqrt(2))


def detection_rate(
    rule: Rule,
    n_pairs: int,
    probability: ArrayLike,
    *,
    scores: NormalScores = IDEAL_SCORES,
    criteria: Criteria = USUAL_CRITERIA,
) -> FloatArray:
    """Chance that a rule declares a better, for independent pairs of normal scores.

    Parameters
    ----------
    rule
        One of `EXACT_RULES`; the others have to be simulated.
    probability
        True P(A>B), of any shape; defined over all that may vary, not within one sample.

    Returns
    -------
    Of the same shape as `probability`.

    References
    ----------
    Bouthillier et al. (2021), Accounting for Variance in ML Benchmarks, section 4.2.

    Examples
    --------
    >>> detection_rate("single-point", 50, [0.5, 0.75]).round(3)
    array([0.079, 0.231])
    """
    check_choice("rule", rule, EXACT_RULES)
    check_count("n_pairs", n_pairs, at_least=2 if rule in _STUDENT_RULES else 1)
    shift = difference_of_probability(probability) * criteria.sd
    scores = NormalScores(scores.spread * criteria.sd, scores.bias * criteria.sd)
    match rule:
        case "single-point":
            return _beyond(criteria.threshold, shift, 1, scores)
        case "average":
            return _beyond(criteria.threshold, shift, n_pairs, scores)
        case "oracle":
            return _beyond(criteria.midpoint, shift, n_pairs, scores)
        case "paired-t" | "welch-t" | "nadeau-bengio":
            return _student_rate(rule, n_pairs, shift, scores, criteria)
    return _rate_by_wins(rule, n_pairs, shift, scores, criteria)


def _beyond(threshold: float, shift: FloatArray, n: int, scores: NormalScores) -> FloatArray:
    """Chance that the difference of two means of n scores is above a threshold."""
    return np.asarray(ndtr((shift - threshold) / _error_of_difference(n, scores)))


def _error_of_difference(n: int, scores: NormalScores) -> float:
    return math.sqrt(2 * (scores.spread**2 / n + scores.bias**2))


def _student_rate(
    rule: Rule, n: int, shift: FloatArray, scores: NormalScores, criteria: Criteria
) -> FloatArray:
    """Power of a t-test: the difference must beat a multiple of the estimated error.

    That error is √(2V/(df·n)) spreads with V chi-square: df is n - 1 for differences of pairs,
    2(n - 1) for two samples. Welch's quantile depends on how the two share V, which is a
    Beta((n - 1)/2, (n - 1)/2) independent of V. Nadeau and Bengio's error is that of pairs, with
    1/n + overlap for 1/n.
    """
    if rule != "welch-t":
        df, share, weight = n - 1, np.array([0.5]), np.ones(1)
        welch_df = np.array([float(n - 1)])
    else:
        df = 2 * (n - 1)
        share, weight = symmetric_beta_nodes((n - 1) / 2)
        welch_df = (n - 1) / (share**2 + (1 - share) ** 2)
    chi_square, chance = chi_square_nodes(df)
    error = scores.spread * np.sqrt(2 * chi_square / (df * n))
    if rule == "nadeau-bengio":
        error = error * math.sqrt(1 + n * criteria.overlap)
    needed = stdtrit(welch_df, 1 - criteria.alpha / 2)[:, None] * error
    detected = ndtr((shift[..., None, None] - needed) / _error_of_difference(n, scores))
    # The weights add up to 1 but for rounding.
    return np.asarray(np.einsum("...ij,i,j->...", detected, weight, chance).clip(0, 1))


def _rate_by_wins(
    rule: Rule, n: int, shift: FloatArray, scores: NormalScores, criteria: Criteria
) -> FloatArray:
    """Chance of enough wins: binomial given the bias, and the mean of that over the bias."""
    if scores.bias:
        # A step per standard error of the share of wins is enough, as the power is smooth.
        n_nodes = max(101, math.ceil(12 * math.sqrt(n) * scores.bias / scores.spread))
        node, weight = normal_nodes(n_nodes)
    else:
        node, weight = np.zeros(1), np.ones(1)
    advantage = shift[..., None] + math.sqrt(2) * scores.bias * node
    chance = ndtr(advantage / (math.sqrt(2) * scores.spread))
    if rule == "anytime":
        power = anytime_power(n, chance, gamma=criteria.gamma, alpha=criteria.alpha)
    else:
        size = np.array([n])
        wins = wins_needed(size, criteria.gamma, criteria.alpha, "exact")
        power = chance_of_wins(wins, size, chance)
    return np.asarray((power @ weight).clip(0, 1))
