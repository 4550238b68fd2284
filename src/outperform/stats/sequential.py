"""Looking more than once: after every pair by the anytime-valid interval, or once again."""

import math
from bisect import bisect_left
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, betaln, gammaln

from outperform.errors import InvalidInput
from outperform.stats.checks import (
    BoolArray,
    FloatArray,
    check_count,
    check_gamma,
    check_open_unit,
    merge_pairs,
)
from outperform.stats.verdicts import chance_of_wins, wins_needed


def decide_by_looking(a: FloatArray, b: FloatArray, *, gamma: float, alpha: float) -> BoolArray:
    """Whether a wins each sample by the anytime interval, looked at after every pair.

    Looking ends as soon as either side is significantly better. Both have shape (n_samples,
    n_pairs), in the order of looking; higher is better.
    """
    a, b = merge_pairs(a, b)
    half_wins = np.cumsum((a > b) + 0.5 * (a == b), axis=1)
    looks = np.arange(1, a.shape[1] + 1)
    for_a = _significant(half_wins, looks, alpha)
    over = for_a | _significant(looks - half_wins, looks, alpha)
    last = np.argmax(over, axis=1)  # 0, where nobody has won, if it is never over
    row = np.arange(len(a))
    meaningful = _meaningful(half_wins[row, last], last + 1, gamma, alpha)
    return np.asarray(for_a[row, last] & meaningful)


def anytime_power(
    n_pairs: int, probability: FloatArray, *, gamma: float = 0.75, alpha: float = 0.05
) -> FloatArray:
    """Chance that a wins by the anytime interval within n pairs, looked at after every pair.

    Exact: pair by pair, the chance of every number of wins at which looking goes on.

    Parameters
    ----------
    probability
        True P(A>B), without ties, in an array of any shape.

    Examples
    --------
    >>> anytime_power(50, np.array([0.5, 0.75, 1.0])).round(3)
    array([0.014, 0.769, 1.   ])
    """
    check_count("n_pairs", n_pairs, at_least=1)
    check_gamma(gamma)
    check_open_unit("alpha", alpha)
    chance = np.asarray(probability, dtype=np.float64).reshape(-1)
    if not ((chance >= 0) & (chance <= 1)).all():
        raise InvalidInput(f"probability is {probability}", "Pass values between 0 and 1")
    won, fewest = np.zeros(chance.size), 0
    going_on = np.ones((1, chance.size))  # chance of each number of wins, from the fewest on
    for n in range(1, n_pairs + 1):
        lost, gained = going_on * (1 - chance), going_on * chance
        going_on = np.vstack([lost, np.zeros(chance.size)])
        going_on[1:] += gained
        wins, looks = fewest + np.arange(len(going_on)), np.asarray(n)
        for_a, for_b = _significant(wins, looks, alpha), _significant(n - wins, looks, alpha)
        won += going_on[for_a & _meaningful(wins, looks, gamma, alpha)].sum(axis=0)
        still = ~(for_a | for_b)
        going_on, fewest = going_on[still], int(wins[still][0])
    return won.reshape(np.shape(probability))


def may_still_win(wins: float, n_pairs: int, n_left: int, *, alpha: float = 0.05) -> bool:
    """Whether winning every pair that is left would be significant by the anytime interval.

    Wins in a row are ever more evidence once they are more than half, so only the end matters.

    Parameters
    ----------
    wins
        Pairs won so far, a tie counting as half.
    n_left
        Pairs to come at most.

    Examples
    --------
    >>> may_still_win(8, 16, 4), may_still_win(8, 16, 40)
    (False, True)
    """
    check_count("n_left", n_left, at_least=0)
    n = n_pairs + n_left
    return bool(_significant(np.asarray(wins + n_left), np.asarray(n), alpha))


def second_look_level(n_first: int, n_all: int, *, alpha: float = 0.05) -> float | None:
    """Level of a second sign test, on more pairs, after a first one at alpha found nothing.

    Discreteness leaves the first test below its level; what it leaves is what the second may use.
    Exact: summed over the wins at which the first look decided nothing.

    Parameters
    ----------
    n_first, n_all
        Untied pairs at the first look, and at the second, the first ones included.

    Returns
    -------
    The level at which to look, so that both looks together err at most as often as alpha says;
    None where the first has left nothing.

    Examples
    --------
    >>> round(second_look_level(20, 60), 4)
    0.0099
    """
    check_count("n_first", n_first, at_least=1)
    check_count("n_all", n_all, at_least=n_first + 1)
    needed = int(wins_needed(np.array([n_first]), 0.5, alpha, "exact")[0])
    undecided = np.arange(n_first - needed + 1, needed)
    ways = gammaln(n_first + 1) - gammaln(undecided + 1) - gammaln(n_first - undecided + 1)
    chance = np.exp(ways - n_first * math.log(2))
    left = alpha - 2 * float(chance_of_wins(np.array(needed), np.array(n_first), 0.5))

    def exceeds(wins: int) -> bool:
        late = chance_of_wins(np.maximum(wins - undecided, 0), np.array(n_all - n_first), 0.5)
        return bool(2 * float(chance @ late) > left)

    wins = bisect_left(range(n_all + 1), True, key=lambda k: not exceeds(k))
    if wins > n_all:
        return None
    # Between the chance of so many wins, which must be significant, and that of one win fewer.
    enough, too_few = (2 * float(bdtrc(k - 1, n_all, 0.5)) for k in (wins, wins - 1))
    return min((enough + too_few) / 2, alpha)


def _significant(wins: NDArray[Any], n: NDArray[Any], alpha: float) -> BoolArray:
    """Whether the lower end of the anytime interval is above one half.

    It takes `smallest_conclusive` untied pairs: n wins in a row are C(2n, n) / 2ⁿ < 2ⁿ / 2 times
    as likely as among equals, and a tie only lowers that, by 2√(q(1 - q)) ≤ 1 for each share q.
    """
    return np.asarray((wins > n / 2) & _outside(wins, n, 0.5, alpha))


def _meaningful(wins: NDArray[Any], n: NDArray[Any], gamma: float, alpha: float) -> BoolArray:
    """Whether the upper end of the anytime interval is above gamma."""
    return np.asarray((wins >= gamma * n) | ~_outside(wins, n, gamma, alpha))


def _outside(wins: NDArray[Any], n: NDArray[Any], share: float, alpha: float) -> BoolArray:
    """Whether `anytime_interval` leaves out a share: its likelihood is at most alpha · mixture."""
    mixture = betaln(wins + 0.5, n - wins + 0.5) - betaln(0.5, 0.5)
    likelihood = wins * math.log(share) + (n - wins) * math.log1p(-share)
    return np.asarray(likelihood <= mixture + math.log(alpha))
