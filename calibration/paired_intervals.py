"""Intervals of P(A>B) of pairs, and the verdict that they make: every outcome summed up.

Wins and ties are all that these methods look at, so that whatever the distribution of scores is,
the chances of all outcomes are known: trinomial, or binomial where there are no ties.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, gammaln, ndtr, xlogy

from calibration.cells import ALPHA, GAMMA, LEVEL, SIZES, SLACK, BoolArray, Cell
from calibration.data import SHARED, TIES, FloatArray
from outperform.stats.intervals import anytime_interval
from outperform.stats.outperforming import PairedMethod, paired_interval
from outperform.stats.sequential import second_look_level
from outperform.stats.verdicts import VerdictRule

METHODS: tuple[PairedMethod, ...] = get_args(PairedMethod)
SHARES = (0.5, 0.75, 0.9, 0.97)  # of untied pairs that a wins
# These promise that they never err more often, so that no slack is due to them.
NEVER_EXCEED = ("exact", "anytime")
DATA = {"no ties": 0.0, "30% ties": TIES}
RESPLITS = "re-splits of one dataset"


@dataclass(frozen=True, slots=True)
class Outcomes:
    """All numbers of wins and ties of n pairs."""

    n: int
    wins: NDArray[np.int64]
    ties: NDArray[np.int64]

    @classmethod
    def list_all(cls, n: int, *, tied: bool) -> "Outcomes":
        """Every outcome, or those without ties."""
        ties = range(n + 1) if tied else range(1)
        pairs = [(wins, tie) for tie in ties for wins in range(n - tie + 1)]
        wins, tie = np.array(pairs).T
        return cls(n, wins, tie)

    def chances(self, probability: FloatArray, tie: float) -> FloatArray:
        """Chance of each outcome, by share of untied pairs that a wins: (outcomes, shares)."""
        wins, ties = self.wins[:, None], self.ties[:, None]
        losses = self.n - wins - ties
        log = gammaln(self.n + 1) - gammaln(wins + 1) - gammaln(ties + 1) - gammaln(losses + 1)
        log = log + xlogy(wins, (1 - tie) * probability) + xlogy(ties, tie)
        return np.asarray(np.exp(log + xlogy(losses, (1 - tie) * (1 - probability))))


def list_blocks() -> list[dict[str, Any]]:
    """What is computed in one go."""
    fixed = [{"part": part, "n": n} for part in DATA for n in SIZES]
    return [*fixed, {"part": "looking", "n": max(SIZES)}]


def measure(_: np.random.Generator, *, part: str, n: int) -> list[Cell]:
    """Size, power and coverage of all methods; nothing is drawn."""
    if part == "looking":
        return [*_measure_looking(n), *map(_measure_second_look, SIZES)]
    outcomes = Outcomes.list_all(n, tied=DATA[part] > 0)
    return [cell for method in METHODS for cell in _measure_method(method, part, outcomes)]


def _measure_method(method: PairedMethod, data: str, outcomes: Outcomes) -> Iterator[Cell]:
    n, tie = outcomes.n, DATA[data]
    chances = outcomes.chances(np.array(SHARES), tie)
    slack = 0.0 if method in NEVER_EXCEED else SLACK
    for_a, for_b = (_verdicts(method, outcomes, gamma=0.5, side=side) for side in "ab")
    size = float((for_a | for_b) @ chances[:, 0])
    place = ("paired", method)
    yield Cell(*place, "size", data, str(n), "", size, alpha=ALPHA, slack=slack)
    if not tie:
        yield _measure_resplits(method, outcomes, for_a | for_b)
    power = float(_verdicts(method, outcomes, gamma=GAMMA, side="a") @ chances[:, 1])
    yield Cell(*place, "power", data, str(n), "", power)
    low, high = _bounds(method, outcomes)
    for won, of_outcomes in zip(SHARES, chances.T, strict=True):
        truth = tie / 2 + (1 - tie) * won
        coverage = float(((low <= truth) & (truth <= high)) @ of_outcomes)
        yield Cell(*place, "coverage", data, str(n), f"P = {truth:.3g}", coverage, alpha=ALPHA)


def _measure_resplits(method: PairedMethod, outcomes: Outcomes, differs: Any) -> Cell:
    """Equals for data like these: the dataset at hand favours one of them by luck.

    Differences of scores are normal and correlate by what splits share, so that given the luck z
    of the dataset a wins a pair with the chance Φ(z·√(ρ/(1 - ρ))).
    """
    luck, weight = np.polynomial.hermite_e.hermegauss(120)
    chances = outcomes.chances(ndtr(luck * np.sqrt(SHARED / (1 - SHARED))), 0.0)
    size = float(differs @ chances @ weight / weight.sum())
    return Cell("paired", method, "size", RESPLITS, str(outcomes.n), "", size, alpha=ALPHA)


def _verdicts(
    method: PairedMethod, outcomes: Outcomes, *, gamma: float, side: str
) -> NDArray[np.bool_]:
    """Whether each outcome shows that this side outperforms the other."""
    rule = VerdictRule(LEVEL, gamma, method)
    needed = np.array(list(rule.fewest_wins(outcomes.n, range(int(outcomes.ties.max()) + 1))))
    losses = outcomes.n - outcomes.wins - outcomes.ties
    return np.asarray((outcomes.wins if side == "a" else losses) >= needed[outcomes.ties])


def _bounds(method: PairedMethod, outcomes: Outcomes) -> tuple[FloatArray, FloatArray]:
    intervals = [
        paired_interval(int(wins), int(ties), outcomes.n, method=method, level=LEVEL)
        for wins, ties in zip(outcomes.wins, outcomes.ties, strict=True)
    ]
    return np.array([i.low for i in intervals]), np.array([i.high for i in intervals])


def _measure_looking(n_looks: int) -> Iterator[Cell]:
    """Chance that the interval ever misses the truth, looked at after every pair."""
    for data, tie in DATA.items():
        bounds = _bounds_over_time(n_looks, step=1 if tie else 2)
        for won in SHARES:
            truth = tie / 2 + (1 - tie) * won
            missed = _ever_left(
                [(low <= truth) & (truth <= high) for low, high in bounds], won, tie
            )
            for n in SIZES:
                place = ("looking", "anytime", "size", data, str(n), f"P = {truth:.3g}")
                yield Cell(*place, missed[n - 1], alpha=ALPHA, slack=0.0)
    for method in METHODS:
        if method != "anytime":
            differed = _ever_left(list(_undecided_over_time(method, n_looks)), 0.5, 0.0)
            for n in SIZES:
                place = ("looking", method, "size", "no ties", str(n), "P = 0.5")
                yield Cell(*place, differed[n - 1])


def _measure_second_look(n: int) -> Cell:
    """Chance that equals differ at the first look at n pairs or at the second, at 2n."""
    level = second_look_level(n, 2 * n, alpha=ALPHA)
    first = next(VerdictRule(LEVEL).fewest_wins(n, range(1)))
    second = next(VerdictRule(1 - level).fewest_wins(2 * n, range(1))) if level else 2 * n + 1
    wins = np.arange(n + 1)
    differs = (wins >= first) | (n - wins >= first)
    # Given the wins of the first n pairs, either side may reach its number with the next n.
    missing = (second - wins, second - n + wins)
    late = sum(np.where(k > n, 0.0, bdtrc(np.minimum(k, n) - 1, n, 0.5)) for k in missing)
    chances = Outcomes.list_all(n, tied=False).chances(np.array([0.5]), 0.0)[:, 0]
    size = float(chances @ np.where(differs, 1.0, late))
    place = ("looking", "second_look_level", "size", "no ties", str(n), "P = 0.5")
    return Cell(*place, size, alpha=ALPHA, slack=0.0)


def _bounds_over_time(n_looks: int, *, step: int) -> list[tuple[FloatArray, FloatArray]]:
    """Ends of the anytime interval after 1, 2, … pairs, by half wins; NaN where none can be."""
    over_time = []
    for n in range(1, n_looks + 1):
        low, high = np.full((2, 2 * n + 1), np.nan)
        for half_wins in range(0, 2 * n + 1, step):
            ends = anytime_interval(half_wins / 2, n, confidence_level=LEVEL)
            low[half_wins], high[half_wins] = ends.low, ends.high
        over_time.append((low, high))
    return over_time


def _undecided_over_time(method: PairedMethod, n_looks: int) -> Iterator[BoolArray]:
    """Whether the verdict is not significant after 1, 2, … pairs, by half wins."""
    for n in range(1, n_looks + 1):
        needed = next(VerdictRule(LEVEL, 0.5, method).fewest_wins(n, range(1)))
        half_wins = np.arange(2 * n + 1)
        yield (half_wins < 2 * needed) & (2 * n - half_wins < 2 * needed)


def _ever_left(kept: Sequence[BoolArray], won: float, tie: float) -> list[float]:
    """Chance to have had an outcome once that is not kept, after 1, 2, … looks."""
    one_pair = np.array([(1 - tie) * (1 - won), tie, (1 - tie) * won])  # 0, 1, 2 half wins
    never_left, left = np.ones(1), []
    for keeps in kept:
        never_left = np.convolve(never_left, one_pair) * keeps
        left.append(1 - float(never_left.sum()))
    return left
