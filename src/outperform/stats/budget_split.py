"""How a budget is best split between searches and the replicates after each.

Scores after one search share its luck: two of them correlate by ρ. The mean of R searches with k
replicates each then has the variance V·(ρ/R + (1 − ρ)/(R·k)), as if R·k/(1 + (k − 1)·ρ) scores
were independent: never more than R/ρ, however many replicates there are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtrit

from outperform.errors import InvalidInput, TooFewRuns
from outperform.plain_values import Plain
from outperform.stats.checks import FloatArray, check_count, check_open_unit, check_positive
from outperform.stats.numerics import chi_square_nodes, halve
from outperform.wording import count

_MOST = 1_000_000  # searches, or replicates of each: more than anybody fits
_NEAR = np.arange(-5.0, 6.0)  # whole numbers around the best real one that are tried


@dataclass(frozen=True, slots=True)
class Variation(Plain):
    """How scores of a design vary, and by how much their mean is off."""

    correlation: float  # ρ of two scores after the same search
    variance: float = 1.0  # V of one score
    squared_bias: float = 0.0  # of the mean, in the unit of V

    def __post_init__(self) -> None:
        if not 0 <= self.correlation <= 1:
            raise InvalidInput(f"the correlation is {self.correlation}", "Pass a value from 0 to 1")
        check_positive("variance", self.variance)
        if not (self.squared_bias >= 0 and math.isfinite(self.squared_bias)):
            raise InvalidInput(
                f"the squared bias is {self.squared_bias}", "Pass 0 or a positive number"
            )

    def mean_error(self, n_searches: int, n_replicates: int) -> float:
        """Root mean squared error of the mean over all replicates of all searches."""
        n_independent = effective_scores(n_searches, n_replicates, self.correlation)
        return math.sqrt(self.variance / n_independent + self.squared_bias)


@dataclass(frozen=True, slots=True)
class BudgetSplit(Plain):
    """Searches, replicates of each, and what they cost."""

    n_searches: int
    n_replicates: int
    cost: float


def effective_scores(n_searches: int, n_replicates: int, correlation: float) -> float:
    """Independent scores whose mean is as precise: R·k/(1 + (k − 1)·ρ).

    Examples
    --------
    >>> effective_scores(4, 3, 0.25)
    8.0
    """
    return n_searches * n_replicates / (1 + (n_replicates - 1) * correlation)


def best_split(
    budget: float,
    correlation: float,
    *,
    search_cost: float,
    fit_cost: float = 1.0,
    n_searches: int | None = None,
    n_replicates: int | None = None,
) -> BudgetSplit:
    """Searches and replicates that give the most precise mean for a budget, by enumeration.

    Of equally precise ones, those that cost least. Without a limit to whole numbers, replicates
    would be √(search_cost/fit_cost·(1 − ρ)/ρ).

    Parameters
    ----------
    budget, search_cost, fit_cost
        In fits, seconds or any other unit: R searches with k replicates each cost
        R·(search_cost + k·fit_cost).
    correlation
        ρ of two scores after the same search.
    n_searches, n_replicates
        Where one is given, only the other is chosen: one search, or one replicate of each.

    References
    ----------
    Cochran (1977), Sampling Techniques, chapter 10.

    Examples
    --------
    >>> best_split(2000, 0.1, search_cost=50)
    BudgetSplit(n_searches=27, n_replicates=24, cost=1998.0)
    """
    check_positive("budget", budget)
    check_positive("fit_cost", fit_cost)
    fewest = n_searches or 1, n_replicates or 1
    least = fewest[0] * (search_cost + fewest[1] * fit_cost)
    if least > budget * (1 + 1e-9):
        raise InvalidInput(
            f"the budget is {budget:g}, and {count(fewest[0], 'search', 'searches')} with "
            f"{count(fewest[1], 'replicate')} cost {least:g}",
            "Pass a larger budget",
        )
    # 1e-9: what is whole but for rounding is whole.
    most = min(math.floor(budget / least * (1 + 1e-9)), _MOST)
    searches = np.array([float(n_searches)]) if n_searches else np.arange(1.0, most + 1)
    affordable = np.floor((budget / searches - search_cost) / fit_cost * (1 + 1e-9))
    # Where nothing varies after a search, one replicate tells all.
    replicates = np.full_like(affordable, n_replicates or 0)
    if n_replicates is None:
        replicates = affordable.clip(1, 1 if correlation == 1 else _MOST)
    error = (1 + (replicates - 1) * correlation) / (searches * replicates)
    cost = searches * (search_cost + replicates * fit_cost)
    best = np.lexsort((cost, error.round(15)))[0]
    return BudgetSplit(int(searches[best]), int(replicates[best]), float(cost[best]))


def smallest_shown_probability(
    n_searches: int,
    n_replicates: int,
    correlation: float,
    *,
    alpha: float = 0.05,
    beta: float = 0.05,
) -> float:
    """Smallest P(A>B), searches redrawn too, that is found to be above ½ with power 1 - beta.

    By the two-sided t test of the means of searches (`difference_over_searches`), which needs not
    know ρ: R means, R − 1 degrees of freedom. The power is exact where scores are normal.

    Parameters
    ----------
    n_searches, n_replicates
        Of each of the two; R ≥ 2.
    correlation
        ρ of two differences after the same search.

    Examples
    --------
    >>> round(smallest_shown_probability(30, 1, 0.0), 3)
    0.752
    >>> round(smallest_shown_probability(5, 1000, 0.3), 3)
    0.887
    """
    check_open_unit("alpha", alpha)
    check_open_unit("beta", beta)
    check_count("n_searches", n_searches, at_least=1)
    check_count("n_replicates", n_replicates, at_least=1)
    if n_searches < 2:
        raise TooFewRuns("one search does not tell how searches vary", "Plan for two or more")
    df = n_searches - 1
    chi_square, weight = chi_square_nodes(df)
    # The mean, in its standard errors, must lie beyond this multiple of the estimated one.
    needed = stdtrit(df, 1 - alpha / 2) * np.sqrt(chi_square / df)

    def is_enough(shift: float) -> bool:
        return float(ndtr(shift - needed) @ weight) > 1 - beta

    low, high = -1.0, 1.0
    while is_enough(low):
        low *= 2
    while not is_enough(high):
        high *= 2
    _, shift = halve(is_enough, low, high, 100)  # as exact as floats are
    n_effective = effective_scores(n_searches, n_replicates, correlation)
    # Where a miss is likelier than not, equals would do: there is nothing below ½ to be shown.
    return float(ndtr(max(shift, 0.0) / math.sqrt(n_effective)))


class Efforts(NamedTuple):
    """Repetitions, scores of each and what all cost; infinite where none reach the target."""

    n_repetitions: FloatArray
    n_scores: FloatArray
    cost: FloatArray


def cheapest_repetitions(
    shared: ArrayLike, within: ArrayLike, allowed: ArrayLike, *, overhead: float
) -> Efforts:
    """Find the cheapest m repetitions of k scores with shared/m + within/(m·k) ≤ allowed.

    They cost m·(overhead + k). In real numbers k = √(overhead·within/shared) is best, whatever is
    allowed; whole numbers around it are tried for either, with the fewest of the other that do.

    Parameters
    ----------
    shared, within : any shapes that broadcast
        Variance of what a repetition shares, ρV, and of scores within one.
    allowed
        Variance that the mean may have.
    overhead
        What a repetition costs before its first score, in scores.

    References
    ----------
    Cochran (1977), Sampling Techniques, section 10.6: the best numbers in two-stage sampling.

    Examples
    --------
    >>> print(*cheapest_repetitions(1.0, 9.0, 2.0, overhead=16))
    1.0 9.0 25.0
    >>> print(*cheapest_repetitions(1.0, 9.0, 0.5, overhead=16))
    4.0 9.0 100.0
    """
    if not (overhead >= 0 and np.min(shared) >= 0 and np.min(within) >= 0):
        raise InvalidInput(
            "a variance or the overhead is below 0", "Pass variances and costs of 0 or more"
        )
    parts = np.broadcast_arrays(*(np.asarray(x, float) for x in (shared, within, allowed)))
    a, b, limit = (part[..., None] for part in parts)
    with np.errstate(all="ignore"):  # what comes of 0 and infinity is not reached
        best = np.sqrt(overhead * b / a)  # scores of each
        most = np.maximum(_round_up((a + b) / limit), 1)  # repetitions, of a single score
        scores = np.maximum(np.floor(np.nan_to_num(best, nan=1, posinf=1)) + _NEAR, 1)
        repetitions = np.maximum(_round_up((a + b / scores) / limit), 1)
        tried = np.clip(np.floor(np.nan_to_num((a + b / best) / limit, nan=1)) + _NEAR, 1, most)
        fewest = np.maximum(_round_up(b / (tried * limit - a)), 1)
        fewest = np.where(np.isnan(fewest), 1, fewest)  # 0/0: any number does
        ways = ((repetitions, tried), (scores, fewest))
        repetitions, scores = (np.concatenate(np.broadcast_arrays(*x), axis=-1) for x in ways)
        reached = (limit > 0) & ((a + b / scores) / repetitions <= limit * (1 + 1e-9))
        cost = np.where(reached, repetitions * (overhead + scores), np.inf)
    place = cost.argmin(axis=-1)[..., None]
    n, k, lowest = (np.take_along_axis(x, place, -1)[..., 0] for x in (repetitions, scores, cost))
    reached = np.isfinite(lowest)
    return Efforts(np.where(reached, n, np.inf), np.where(reached, k, np.inf), lowest)


def scores_of_one_repetition(
    shared: ArrayLike, within: ArrayLike, allowed: ArrayLike
) -> FloatArray:
    """Fewest scores k of one repetition with shared + within/k ≤ allowed; infinite where none do.

    Examples
    --------
    >>> scores_of_one_repetition(1.0, 9.0, [2.0, 1.0])
    array([ 9., inf])
    """
    a, b, limit = (np.asarray(x, float) for x in (shared, within, allowed))
    with np.errstate(divide="ignore", invalid="ignore"):
        fewest = np.maximum(_round_up(b / (limit - a)), 1)
    return np.where(limit > a, fewest, np.inf)


def _round_up(values: FloatArray) -> FloatArray:
    """Next whole number, unless rounding alone has missed one."""
    return np.ceil(values * (1 - 1e-12))
