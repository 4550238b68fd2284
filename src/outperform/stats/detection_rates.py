"""How often a rule declares a better than b where scores are normal, exactly.

Scores have the standard deviation 1 over all that may vary. An estimator that holds something
fixed gives all scores of one sample the same bias, and lets them vary around it.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, stdtrit

from outperform.errors import InvalidInput
from outperform.stats.checks import FloatArray, check_choice, check_count
from outperform.stats.decision_rules import USUAL_CRITERIA, Criteria, Rule
from outperform.stats.power import chance_of_wins, wins_needed
from outperform.stats.quadrature import chi_square_nodes, normal_nodes, symmetric_beta_nodes
from outperform.stats.sequential import anytime_power

EXACT_RULES: tuple[Rule, ...] = (
    *("single-point", "average", "verdict", "anytime"),
    *("paired-t", "welch-t", "nadeau-bengio", "oracle"),
)
_STUDENT_RULES: tuple[Rule, ...] = ("paired-t", "welch-t", "nadeau-bengio")


@dataclass(frozen=True, slots=True)
class NormalScores:
    """Normal scores, in units of their standard deviation over all that may vary."""

    spread: float = 1.0  # standard deviation of the scores of one sample around their common mean
    bias: float = 0.0  # standard deviation of that mean around the true one; 0: ideal estimator

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
