"""The verdict on n pairs: when it holds, how often it errs, and how many pairs it needs; exactly.

`VerdictRule` has it as a function of how many pairs were won and tied. Without ties it depends on
the number of wins only: there is a smallest number that makes it *significant*, and one that makes
it *meaningful*. Its error rates are binomial tails beyond these numbers.
"""

import itertools
import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, betainccinv, ndtri

from outperform.errors import InvalidInput, TooFewRuns
from outperform.stats.checks import (
    BoolArray,
    IntArray,
    check_advantage,
    check_choice,
    check_count,
    check_gamma,
    check_open_unit,
)
from outperform.stats.intervals import REACHED, smallest_conclusive
from outperform.stats.outperforming import PairedMethod, paired_interval
from outperform.wording import count


@dataclass(frozen=True, slots=True)
class VerdictRule:
    """When n pairs show that one side outperforms the other; a tie counts as half a win.

    The interval of P(A>B) must begin above 1/2 and end above gamma, and there must be enough
    untied pairs for any outcome to be significant.

    A rule that holds goes on holding when a loss among n pairs becomes a tie or a tie a win:
    the p-value of the sign test falls, Wilson's and the anytime interval rise with the share won,
    and for the percentile interval each resampled pair becomes stochastically larger, so their sum
    does, and so do its quantiles. That is what makes counting arguments about the rule exact. (The
    upper end of the exact interval may fall by less than 1e-4, with many pairs and three losses,
    which matters only to a gamma as near.)
    """

    confidence_level: float = 0.95
    gamma: float = 0.5  # 1/2: significant is enough
    interval: PairedMethod = "exact"

    def __post_init__(self) -> None:
        check_open_unit("confidence_level", self.confidence_level)
        check_gamma(self.gamma)

    @property
    def n_conclusive(self) -> int:
        """Fewest untied pairs that can be significant at all."""
        return smallest_conclusive(1 - self.confidence_level)

    def holds(self, wins: int, ties: int, n: int) -> bool:
        """Whether the side with these wins outperforms the other.

        Examples
        --------
        >>> VerdictRule().holds(21, 0, 29), VerdictRule().holds(20, 0, 29)
        (True, False)
        """
        return n - ties >= self.n_conclusive and self._interval_lies_above(wins, ties, n)

    def size(self, n: int, ties: int) -> float:
        """Chance that either of two equals outperforms the other, given how many pairs are tied.

        Examples
        --------
        >>> round(VerdictRule().size(29, 0), 4), round(VerdictRule().size(29, 9), 4)
        (0.0241, 0.0414)
        """
        wins = next(self.fewest_wins(n, range(ties, ties + 1)))
        return 2 * float(bdtrc(wins - 1, n - ties, 0.5)) if wins <= n - ties else 0.0

    def fewest_wins(self, n: int, ties: range) -> Iterator[int]:
        """Fewest wins with which the rule holds, for each number of ties; n + 1 if none do.

        One more tie lowers them by one at most: (w - 2, t + 1) is (w - 1, t) with a win made a
        tie, and (w - 1, t) was too little.
        """
        check_count("n", n, at_least=1)
        needed = 0
        for number, tied in enumerate(ties):
            if number == 0:
                above = partial(self._interval_lies_above, ties=tied, n=n)
                needed = bisect_left(range(n - tied + 1), True, key=above)
            elif self._interval_lies_above(needed - 1, tied, n):
                needed -= 1
            enough = needed + tied <= n and n - tied >= self.n_conclusive
            yield needed if enough else n + 1

    def _interval_lies_above(self, wins: int, ties: int, n: int) -> bool:
        if not 0 <= wins <= n - ties:
            return wins > 0
        interval = paired_interval(wins, ties, n, method=self.interval, level=self.confidence_level)
        return interval.low > 0.5 and interval.high > self.gamma


PlannedInterval = Literal["exact", "percentile", "wilson"]
LARGEST_PLAN = 300_000  # pairs
_TIES_WITHIN = 7  # standard deviations of their number, beyond which none is thought of
_PRECISION = 1e-6  # of a chance to win
_NEARLY_1 = 0.999  # of untied pairs won, to begin with
_MORE = 1.2  # pairs to begin with than would do if their ties did not vary


def noether_sample_size(gamma: float = 0.75, alpha: float = 0.05, beta: float = 0.05) -> int:
    """Noether's sample size to detect P(A>B) = gamma with a one-sided Mann-Whitney test.

    Runs *per group*, all of which are compared with all of the other. The paired verdict compares
    only pair by pair and needs more: see `required_pairs`.

    References
    ----------
    Noether (1987), Sample size determination for some common nonparametric tests.

    Examples
    --------
    >>> noether_sample_size(0.75, 0.05, 0.05)
    29
    """
    check_advantage(gamma)
    check_open_unit("alpha", alpha)
    check_open_unit("beta", beta)
    # Below 0, chance alone reaches the power: alpha + beta is above 1.
    quantiles = max(0.0, -float(ndtri(alpha) + ndtri(beta)))
    size = (quantiles / (math.sqrt(6) * (gamma - 0.5))) ** 2
    # 1e-9: a size that is whole but for rounding is not rounded up.
    return max(1, math.ceil(size - 1e-9))


def verdict_power(
    n_pairs: int,
    probability: float,
    *,
    gamma: float = 0.75,
    alpha: float = 0.05,
    interval: PlannedInterval = "exact",
    tie_share: float = 0.0,
) -> float:
    """Chance that the verdict on n pairs is "significant and meaningful" in favour of a.

    Parameters
    ----------
    probability
        The true P(A>B), a tie counting as half a win.
    gamma, alpha, interval
        As the verdict will be drawn; alpha is 1 - confidence_level.
    tie_share
        Chance that a pair is tied, which leaves P(A>B) from tie_share / 2 to 1 - tie_share / 2.

    Examples
    --------
    >>> round(verdict_power(29, 0.75), 4), round(verdict_power(29, 0.75, tie_share=0.4), 4)
    (0.7125, 0.9703)
    """
    check_count("n_pairs", n_pairs, at_least=1)
    if not 0 <= probability <= 1:
        raise InvalidInput(f"probability is {probability}", "Pass a value between 0 and 1")
    if tie_share:
        share = _share_of_untied(probability, tie_share)
        rule = VerdictRule(1 - alpha, gamma, interval)
        return _power_with_ties(rule, n_pairs, share, tie_share)
    wins = wins_needed(np.array([n_pairs]), gamma, alpha, interval)
    return float(chance_of_wins(wins, np.array([n_pairs]), probability)[0])


@lru_cache(maxsize=256)  # many tasks have equally many pairs
def verdict_size(
    n_pairs: int,
    *,
    alpha: float = 0.05,
    interval: PlannedInterval = "exact",
    tie_share: float = 0.0,
) -> float:
    """Chance that either of two equals is declared significantly better.

    Examples
    --------
    >>> round(verdict_size(29), 4)
    0.0241
    """
    rates = {"gamma": 0.5, "alpha": alpha, "tie_share": tie_share}
    return 2 * verdict_power(n_pairs, 0.5, interval=interval, **rates)


@lru_cache(maxsize=256)  # a table, its figure and its JSON ask for the same
def required_pairs(
    gamma: float = 0.75,
    alpha: float = 0.05,
    beta: float = 0.05,
    *,
    probability: float | None = None,
    interval: PlannedInterval = "exact",
    tie_share: float = 0.0,
) -> int:
    """Pairs from which on the verdict keeps the power 1 - beta for good.

    Power is a sawtooth in the number of pairs, so the first number that reaches it is not enough.

    Parameters
    ----------
    probability
        The true P(A>B), a tie counting as half a win; gamma if not given.
    tie_share
        Chance that a pair is tied. Ties say nothing, and at the same P(A>B) the others say more.

    Examples
    --------
    >>> required_pairs(0.75, 0.05, 0.05), required_pairs(0.75, 0.05, 0.05, tie_share=0.4)
    (54, 27)
    """
    check_gamma(gamma)
    probability = gamma if probability is None else probability
    if tie_share:
        return _required_with_ties(gamma, alpha, beta, probability, interval, tie_share)
    check_open_unit("probability", probability)
    check_open_unit("beta", beta)
    pairs = np.arange(1, _horizon(probability, gamma, alpha, beta) + 1)
    power = chance_of_wins(wins_needed(pairs, gamma, alpha, interval), pairs, probability)
    short = np.flatnonzero(power < 1 - beta)
    return int(pairs[short[-1]]) + 1 if short.size else 1


def smallest_detectable_probability(
    n_pairs: int,
    *,
    gamma: float = 0.75,
    alpha: float = 0.05,
    beta: float = 0.05,
    interval: PlannedInterval = "exact",
    tie_share: float = 0.0,
) -> float:
    """Smallest P(A>B) that n pairs show as "significant and meaningful" with power 1 - beta.

    Ties, of which `tie_share` is the chance, count as half a win.

    Examples
    --------
    >>> round(smallest_detectable_probability(29), 3)
    0.828
    """
    check_count("n_pairs", n_pairs, at_least=1)
    check_open_unit("beta", beta)
    if tie_share:
        rule = VerdictRule(1 - alpha, gamma, interval)
        return _smallest_with_ties(rule, n_pairs, 1 - beta, tie_share)
    wins = int(wins_needed(np.array([n_pairs]), gamma, alpha, interval)[0])
    if wins > n_pairs:
        # Wilson's interval may ask for more than the sign test does.
        sizes = itertools.count(smallest_conclusive(alpha))
        fewest = next(n for n in sizes if wins_needed(np.array([n]), 0.5, alpha, interval)[0] <= n)
        raise TooFewRuns(
            f"{count(n_pairs, 'pair shows', 'pairs show')} no difference at alpha = {alpha:g}, not "
            "even if all are won",
            f"At least {fewest} pairs are needed",
        )
    return float(betainccinv(wins, n_pairs - wins + 1, beta))


def wins_needed(n: IntArray, gamma: float, alpha: float, interval: PlannedInterval) -> IntArray:
    """Fewest wins that make the verdict significant and meaningful; n + 1 where none do."""
    check_choice("interval", interval, get_args(PlannedInterval))
    check_open_unit("alpha", alpha)
    check_gamma(gamma)
    z = float(-ndtri(alpha / 2))
    # Wilson's bounds, solved for the wins: the other intervals want nearly as many.
    like = np.maximum(n / 2 + z * np.sqrt(n) / 2, n * gamma - z * np.sqrt(n * gamma * (1 - gamma)))
    near = np.ceil(like).astype(np.int64)
    too_few, enough = np.zeros_like(n), n + 1
    for turn in itertools.count():
        unsettled = np.flatnonzero(enough - too_few > 1)
        if not unsettled.size:
            break
        low, high = too_few[unsettled] + 1, enough[unsettled] - 1
        # One by one away from where they must be near, and by halves where they are not.
        tried = np.clip(near[unsettled], low, high) if turn < 4 else (low + high) // 2
        done = _concludes(tried, n[unsettled], gamma, alpha / 2, interval)
        enough[unsettled[done]] = tried[done]
        too_few[unsettled[~done]] = tried[~done]
    return np.where(n < smallest_conclusive(alpha), n + 1, enough)


def _concludes(
    wins: IntArray, n: IntArray, gamma: float, tail: float, interval: PlannedInterval
) -> BoolArray:
    """Whether the interval begins above 1/2 and ends above gamma, without computing it."""
    if interval == "wilson":
        z = float(-ndtri(tail))
        significant = wins - n / 2 > z * np.sqrt(n) / 2
        meaningful = wins - n * gamma > -z * np.sqrt(n * gamma * (1 - gamma))
    elif interval == "percentile":
        above_gamma = np.floor(gamma * n).astype(np.int64) + 1
        # Rounding of gamma * n must not decide: the smallest k with k / n > gamma.
        above_gamma -= (above_gamma - 1) / n > gamma
        above_gamma += above_gamma / n <= gamma
        significant = bdtr(n // 2, n, wins / n) < tail * REACHED
        meaningful = bdtrc(above_gamma - 1, n, wins / n) >= tail * REACHED
    else:
        significant = bdtrc(wins - 1, n, 0.5) < tail * REACHED
        meaningful = bdtr(wins, n, gamma) > tail / REACHED
    return np.asarray(significant & meaningful)


def _share_of_untied(probability: float, tie_share: float) -> float:
    """Chance to win a pair that is not tied."""
    check_open_unit("tie_share", tie_share)
    if not tie_share / 2 <= probability <= 1 - tie_share / 2:
        raise InvalidInput(
            f"probability is {probability} with tie_share = {tie_share:g}",
            f"Pass a value from {tie_share / 2:g} to {1 - tie_share / 2:g}",
        )
    return min(1.0, max(0.0, 0.5 + (probability - 0.5) / (1 - tie_share)))


def _power_with_ties(rule: VerdictRule, n: int, share: float, tie_share: float) -> float:
    """Chance that a rule holds where a pair is tied with one chance, and else won with another."""
    spread = _TIES_WITHIN * math.sqrt(n * tie_share * (1 - tie_share)) + 1
    low, high = (round(n * tie_share + end) for end in (-spread, spread))
    ties = np.arange(max(0, low), min(n, high) + 1)
    wins = np.array([*rule.fewest_wins(n, range(int(ties[0]), int(ties[-1]) + 1))])
    chance = bdtr(ties, n, tie_share) - np.where(ties > 0, bdtr(ties - 1, n, tie_share), 0)
    return float(chance @ chance_of_wins(wins, n - ties, share))


def _smallest_with_ties(rule: VerdictRule, n: int, power: float, tie_share: float) -> float:
    """Smallest P(A>B) that n pairs show with a power, where some are tied."""
    low, high = 0.5, 1.0  # of the chance to win a pair that is not tied
    if _power_with_ties(rule, n, high, tie_share) < power:
        raise TooFewRuns(
            f"{count(n, 'pair shows', 'pairs show')} no difference with power {power:g} where "
            f"{tie_share:.0%} are tied, not even if all others are won",
            "Plan for more pairs",
        )
    while high - low > _PRECISION:
        middle = (low + high) / 2
        if _power_with_ties(rule, n, middle, tie_share) < power:
            low = middle
        else:
            high = middle
    return 0.5 + (1 - tie_share) * (high - 0.5)


def _required_with_ties(
    gamma: float,
    alpha: float,
    beta: float,
    probability: float,
    interval: PlannedInterval,
    tie_share: float,
) -> int:
    """Pairs from which on the power stays, where some are tied.

    Those that are not tied show the advantage among themselves: about as many must be left.
    """
    _check_reachable(probability, gamma, alpha, beta)
    share = _share_of_untied(probability, tie_share)
    of_untied = min(0.5 + (gamma - 0.5) / (1 - tie_share), share)
    capped = min(share, _NEARLY_1)
    near = required_pairs(
        min(of_untied, capped), alpha, beta, probability=capped, interval=interval
    )
    rule, power = VerdictRule(1 - alpha, gamma, interval), 1 - beta
    # Down from where there are enough: number by number, or by one in 200 where they are many.
    n = math.ceil(_MORE * near / (1 - tie_share)) + 6
    step = max(1, n // 200)
    while _power_with_ties(rule, n, share, tie_share) < power:
        n += max(step, n // 10)
    while n > step and _power_with_ties(rule, n - step, share, tie_share) >= power:
        n -= step
    return n


def chance_of_wins(wins: IntArray, n: IntArray, probability: float) -> NDArray[Any]:
    """P(W ≥ wins) of W ~ Bin(n, probability)."""
    return np.where(wins > n, 0.0, bdtrc(np.minimum(wins, n) - 1, n, probability))


def _horizon(probability: float, gamma: float, alpha: float, beta: float) -> int:
    """Pairs beyond which the power stays above 1 - beta, or a refusal.

    At P(A>B) = gamma the upper bound exceeds gamma with chance 1 - alpha / 2 only, up to the two
    steps of the binomial lattice, each at most 0.4 / sqrt(n p (1 - p)).
    """
    check_open_unit("alpha", alpha)
    variance = probability * (1 - probability)
    z_alpha, z_beta = -float(ndtri(alpha / 2)), -float(ndtri(beta))
    _check_reachable(probability, gamma, alpha, beta)
    significant = ((z_alpha / 2 + z_beta * math.sqrt(variance)) / (probability - 0.5)) ** 2
    slack = beta - alpha / 2
    lattice = (0.8 / slack) ** 2 / variance if slack > 0 else math.inf
    margin = probability - gamma
    meaningful = (max(z_beta - z_alpha, 0) + 2) ** 2 * variance / margin**2 if margin else math.inf
    horizon = 3 * significant + min(lattice, 3 * meaningful) + 50
    if horizon > LARGEST_PLAN:
        if 3 * significant < LARGEST_PLAN:
            raise InvalidInput(
                f"with gamma = {gamma:g}, alpha/2 = {alpha / 2:g} and P(A>B) = {probability:g} it "
                f"takes more than {LARGEST_PLAN:,} pairs until the power is sure to stay above "
                f"{1 - beta:g}",
                "Pass a larger beta, or plan for a P(A>B) further above gamma",
            )
        raise InvalidInput(
            f"detecting P(A>B) = {probability:g} takes more than {LARGEST_PLAN:,} pairs",
            "Plan for a larger P(A>B)",
        )
    return math.ceil(horizon)


def _check_reachable(probability: float, gamma: float, alpha: float, beta: float) -> None:
    if probability <= 0.5:
        raise InvalidInput(
            f"P(A>B) = {probability:g} is no advantage of A, so no number of pairs shows one",
            "Plan for a P(A>B) above 0.5, or swap A and B",
        )
    if probability < gamma:
        raise InvalidInput(
            f"P(A>B) = {probability:g} is below gamma = {gamma:g}, so more pairs only make it "
            "clearer that the difference is not meaningful",
            "Plan for a P(A>B) of at least gamma, or lower gamma",
        )
    if probability == gamma and beta <= alpha / 2:
        raise InvalidInput(
            f"at P(A>B) = gamma = {gamma:g} the verdict's power tends to 1 - alpha/2 = "
            f"{1 - alpha / 2:g} and never stays above {1 - beta:g}",
            "Pass a beta above alpha/2, or plan for a P(A>B) above gamma",
        )
