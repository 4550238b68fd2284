"""The rule of a sequential test: what it is between, how often it errs and what it costs."""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri

from outperform.errors import InvalidInput
from outperform.plain_values import Plain
from outperform.stats import OperatingPoint, SequentialTest, plan_sequential_test

_N_LUCKS = 100  # of searches, equally likely


@dataclass(frozen=True, slots=True)
class SequentialRule(Plain):
    """Wald's test between ½ and gamma for either side, and where it must end."""

    JSON = (
        "gamma alpha beta upper=test.upper lower=test.lower n_max=test.n_max n_last "
        "false_alarms=equals.chance_either power=better.chance_a "
        "expected_pairs=better.expected_pairs expected_pairs_equals=equals.expected_pairs"
    )

    test: SequentialTest
    alpha: float
    beta: float
    n_last: int  # pairs at most: the test's own end, or fewer where fewer are allowed

    @property
    def gamma(self) -> float:
        """Smallest chance to win that matters."""
        return self.test.gamma

    @property
    def is_cut(self) -> bool:
        """Whether fewer pairs are allowed than the test may take."""
        return self.n_last < self.test.n_max

    @property
    def better(self) -> OperatingPoint:
        """What it does, and costs, where the chance to win is gamma."""
        return self._cut().operating(self.gamma)

    @property
    def equals(self) -> OperatingPoint:
        """What it does, and costs, between equals."""
        return self._cut().operating(0.5)

    def false_alarms_after_one_search(self, correlation: float) -> float:
        """How often it decides between equals all of whose pairs share the luck of one search.

        Parameters
        ----------
        correlation
            Share of that luck in the variance of a pair; scores are normal.

        Examples
        --------
        >>> rule = plan_rule(0.75, 0.05, 0.05)
        >>> [round(rule.false_alarms_after_one_search(rho), 3) for rho in (0.0, 0.1)]
        [0.043, 0.322]
        """
        luck = ndtri((np.arange(_N_LUCKS) + 0.5) / _N_LUCKS)
        chances = ndtr(luck * math.sqrt(correlation / (1 - correlation)))
        return self._cut().chance_either_on_average(chances)

    @property
    def words(self) -> str:
        """What it is, in a few words."""
        levels = f"α = {self.alpha:g}, β = {self.beta:g}"
        return f"Wald's test between ½ and γ = {self.gamma:g}, {levels}"

    def __str__(self) -> str:
        cost = (
            f"at most {self.n_last:,} pairs, on average {self.better.expected_pairs:.1f} where one "
            f"wins {self.gamma:.0%} of them and {self.equals.expected_pairs:.1f} between equals"
        )
        return f"{self.words}: {cost}{self.describe_power()}"

    def describe_power(self) -> str:
        """Say what power is left where fewer pairs are allowed than planned."""
        if not self.is_cut:
            return ""
        return (
            f"; the test may take {self.test.n_max:,}, and ended after {self.n_last:,} its power "
            f"is {self.better.chance_a:.2f} in place of {1 - self.beta:g}"
        )

    def _cut(self) -> SequentialTest:
        return replace(self.test, n_max=self.n_last)


def plan_rule(
    gamma: float, alpha: float, beta: float, *, n_allowed: int | None = None
) -> SequentialRule:
    """Plan a sequential test; one that so few pairs as are allowed could never end is refused.

    An earlier end only turns decisions into none, so that a test cut short errs no more often.

    Examples
    --------
    >>> rule = plan_rule(0.75, 0.05, 0.05, n_allowed=40)
    >>> rule.n_last, round(rule.better.chance_a, 2), rule.equals.chance_either < 0.05
    (40, 0.8, True)
    """
    # Levels come as 1 - 0.95, which is not quite 0.05.
    test = plan_sequential_test(gamma, alpha := round(alpha, 12), beta)
    n_last = test.n_max if n_allowed is None else min(n_allowed, test.n_max)
    fewest = math.ceil((test.upper - 1e-9) / math.log(2 * gamma))
    if n_last < fewest:
        raise InvalidInput(
            f"{n_last} pairs can decide nothing between ½ and γ = {gamma:g} (α = {alpha:g}, "
            f"β = {beta:g}): whoever is better must win {fewest} in a row at least",
            f"Let the study have {test.n_max} replicates, which is the most that are needed, or "
            f"{fewest} at the very least; or pass a larger gamma",
        )
    return SequentialRule(test, alpha, beta, n_last)
