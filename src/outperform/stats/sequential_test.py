"""Deciding between two sides with as few pairs as the data allow: Wald's sequential test.

After every pair, how much likelier are the wins so far if P(A>B) is gamma than if it is one half?
The logarithm of that ratio rises with every win of a, by ln 2γ, and falls with every loss, by
ln 2(1 - γ); the ratio for b is its mirror image. The one that first reaches `upper` names the
winner. Where both are down to `lower`, or `n_max` pairs are done, it is neither.

A tie is half a win, as everywhere, and moves both ratios by half of each step, which is downwards.
The two errors stay within their bounds whatever the share of ties, even if it changes on the way:
with x the win, 1, ½ or 0, the step u^x v^(1-x) is convex in x, so that its mean is at most
(u + v) / 2 = 1 where P(A>B) is one half, and that of its inverse at most γ/u + (1-γ)/v = 1 where
P(A>B) is γ. So P(A>B) keeps its meaning, and two sides that always tie end soon, with neither.
Only what the end at `n_max` costs is planned without ties: where that is as early as 10 pairs, they
may take some of the power (γ = .9, α = .1, β = .2: down to .758 from .806).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from outperform.errors import InvalidInput
from outperform.stats.checks import (
    FloatArray,
    IntArray,
    as_two_samples,
    check_advantage,
    check_count,
    check_open_unit,
    merge_pairs,
)

StrArray = NDArray[np.str_]

_ROUNDING = 1e-9  # a ratio that reaches a boundary but for rounding has reached it
_STEP = 0.05  # by which a boundary is moved where the safe one does not do
_FORGOTTEN = 1e-12  # chance of paths that are still open at which a plan looks no further
_LARGEST_FIXED = 2_000  # pairs of a fixed design up to which boundaries are searched for
# "unknown" is where some outcome of the incomplete pairs ends in one way and another in another.
Call = Literal["a", "b", "neither", "go on", "unknown"]


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """What a sequential test does where P(A>B) has one value, exactly."""

    probability: float  # true P(A>B), a tie counting as half a win
    tie_share: float  # of all pairs
    chance_a: float  # that it decides for a: its power, where P(A>B) is gamma
    chance_b: float
    expected_pairs: float
    worst_pairs: int  # most pairs that it can take

    @property
    def chance_either(self) -> float:
        """Chance that it decides for either: its size, where P(A>B) is one half."""
        return self.chance_a + self.chance_b

    @property
    def chance_neither(self) -> float:
        """Chance that it ends with neither."""
        return 1 - self.chance_either


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """Wald's test of P(A>B) = ½ against gamma for either side, with an end.

    Parameters
    ----------
    gamma
        Smallest P(A>B) that matters.
    upper
        Logarithm of the likelihood ratio of gamma against ½ at which a side wins.
    lower
        The same down to which both must be to end with neither.
    n_max
        Pairs, tied ones included, after which it is neither.

    Examples
    --------
    >>> test = plan_sequential_test()
    >>> test.decide([8, 9, 8, 20], [0, 0, 8, 20]).tolist()
    ['go on', 'a', 'go on', 'neither']
    >>> equals, better = test.operating(0.5), test.operating(0.75)
    >>> round(equals.chance_either, 4), round(better.chance_a, 3), round(better.expected_pairs, 1)
    (0.0425, 0.961, 27.6)
    """

    gamma: float
    upper: float
    lower: float
    n_max: int

    def __post_init__(self) -> None:
        """Refuse what would decide before the first pair."""
        check_advantage(self.gamma)
        check_count("n_max", self.n_max, at_least=1)
        if not (math.isfinite(self.upper) and self.upper > 0):
            raise InvalidInput(f"upper is {self.upper}", "Pass a finite number above 0")
        if not (math.isfinite(self.lower) and self.lower < 0):
            raise InvalidInput(f"lower is {self.lower}", "Pass a finite number below 0")

    def decide(self, wins: ArrayLike, losses: ArrayLike, ties: ArrayLike = 0) -> StrArray:
        """What to do after so many pairs: "go on", or end with "a", "b" or "neither".

        The counts broadcast, so that many paths are decided at once. It is for whoever has looked
        after every pair before; the pairs of a finished run are for `follow`.
        """
        counts = [np.asarray(each) for each in (wins, losses, ties)]
        for name, each in zip(("wins", "losses", "ties"), counts, strict=True):
            if each.dtype.kind not in "iu" or (each < 0).any():
                raise InvalidInput(f"{name} is {each.tolist()!r}", "Pass counts: 0 or more")
        won, lost, tied = np.broadcast_arrays(*counts)
        n_pairs = won + lost + tied
        if (n_pairs > self.n_max).any():
            raise InvalidInput(
                f"{n_pairs.max()} pairs are more than the {self.n_max} after which the test ends",
                f"Pass the counts of the first {self.n_max}, or fewer",
            )
        return self.judge(won - lost, n_pairs)

    def follow(self, a: ArrayLike, b: ArrayLike) -> tuple[StrArray, IntArray]:
        """How each path of pairs ends, and after how many of them.

        Pairs lie along the last axis, in the order in which they were run; higher is better. What
        comes after the end is not looked at. A path that is too short says "go on".
        """
        first, second = as_two_samples(a, b, at_least=1, paired=True)
        first, second = merge_pairs(first[..., : self.n_max], second[..., : self.n_max])
        lead = np.cumsum(np.sign(first - second), axis=-1)
        calls = self.judge(lead, np.arange(1, lead.shape[-1] + 1))
        over = calls != "go on"
        over[..., -1] = True
        last = np.argmax(over, axis=-1, keepdims=True)
        return np.take_along_axis(calls, last, axis=-1)[..., 0], last[..., 0] + 1

    def operating(self, probability: float, *, tie_share: float = 0.0) -> OperatingPoint:
        """Error rates and costs where P(A>B) has this value, a tie counting as half a win, exactly.

        Pair by pair, the chance of every number of wins at which the test goes on. The share of
        pairs that are tied leaves P(A>B) at most 1 - tie_share / 2.
        """
        if not 0 <= tie_share <= 1:
            raise InvalidInput(f"tie_share is {tie_share}", "Pass a value between 0 and 1")
        if not tie_share / 2 <= probability <= 1 - tie_share / 2:
            raise InvalidInput(
                f"probability is {probability} with tie_share = {tie_share:g}",
                f"Pass a value from {tie_share / 2:g} to {1 - tie_share / 2:g}",
            )
        steps = np.array(list(self._walk(np.array([float(probability)]), tie_share)))
        won, lost, going_on = steps[:, :, 0].sum(axis=0)
        return OperatingPoint(
            probability=float(probability),
            tie_share=float(tie_share),
            chance_a=float(won),
            chance_b=float(lost),
            expected_pairs=1 + float(going_on),  # E[N] = P(N > 0) + P(N > 1) + …
            worst_pairs=len(steps),
        )

    def chance_either_on_average(self, probabilities: ArrayLike) -> float:
        """Chance that it decides for either where P(A>B) is each of these equally often."""
        each = np.asarray(probabilities, dtype=np.float64)
        ends = sum(step[:2].sum(axis=0) for step in self._walk(each))
        return float(np.mean(ends))

    def log_ratio(self, lead: NDArray[Any], n_pairs: NDArray[Any]) -> FloatArray:
        """Log ratio of the side that has so many wins more than losses, s·lead - c·n_pairs."""
        slope, toll = self._find_steps()
        return np.asarray(slope * lead - toll * n_pairs)

    def _find_steps(self) -> tuple[float, float]:
        """What one more in the lead adds to a log ratio, and what every pair takes from it."""
        for_win, for_loss = math.log(2 * self.gamma), math.log(2 * (1 - self.gamma))
        return (for_win - for_loss) / 2, -(for_win + for_loss) / 2

    def _leads(self, n_pairs: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
        """Lead in wins that decides after so many pairs, and the one up to which it is neither."""
        slope, toll = self._find_steps()
        decisive = (self.upper - _ROUNDING + toll * n_pairs) / slope
        futile = (self.lower + _ROUNDING + toll * n_pairs) / slope
        return decisive, np.where(n_pairs >= self.n_max, n_pairs, futile)

    def judge(self, lead: NDArray[Any], n_pairs: NDArray[Any]) -> StrArray:
        """What to do with so many wins more than losses, as `decide` says it."""
        decisive, futile = self._leads(n_pairs)
        calls = np.where(np.abs(lead) <= futile, "neither", "go on")
        return np.where(lead >= decisive, "a", np.where(lead <= -decisive, "b", calls))

    def _walk(self, probability: FloatArray, tie_share: float = 0.0) -> Iterator[FloatArray]:
        """Chances to end after 1, 2, … pairs for a and for b, and to go on: (3, n_probabilities).

        It stops where no path goes on.
        """
        win, loss = probability - tie_share / 2, 1 - probability - tie_share / 2
        unit = 2 if tie_share else 1  # lattice steps in one win: half wins are for ties alone
        decisive, futile = self._leads(np.arange(self.n_max + 1))
        fewest, paths = 0, np.ones((1, probability.size))
        for n in range(1, self.n_max + 1):
            before, paths = paths, np.zeros((len(paths) + unit, probability.size))
            paths[:-unit] = before * loss
            paths[unit:] += before * win
            if tie_share:
                paths[1:-1] += before * tie_share
            lead = 2 * (fewest + np.arange(len(paths))) / unit - n
            for_a, for_b = lead >= decisive[n], lead <= -decisive[n]
            won, lost = paths[for_a].sum(axis=0), paths[for_b].sum(axis=0)
            paths[for_a | for_b | (np.abs(lead) <= futile[n])] = 0
            yield np.array([won, lost, paths.sum(axis=0)])
            still = np.flatnonzero(paths.any(axis=1))
            if not still.size:
                return
            fewest, paths = fewest + int(still[0]), paths[still[0] : still[-1] + 1]


def plan_sequential_test(
    gamma: float = 0.75, alpha: float = 0.05, beta: float = 0.05
) -> SequentialTest:
    """Boundaries and an end that keep both errors, exactly.

    They are Wald's, ln((1 - β) / (α/2)) and ln(β / (1 - α/2)), which bound the sum of both errors;
    where one of them would still exceed its share, those that bound it alone, ln(2/α) and ln β.
    `n_max` is the smallest multiple of ten with power 1 - beta at gamma.

    Parameters
    ----------
    gamma
        Smallest P(A>B) that matters.
    alpha
        Accepted chance to decide for either of two equals.
    beta
        Accepted chance not to decide for a where P(A>B) is gamma.

    References
    ----------
    Wald (1945), Sequential tests of statistical hypotheses.

    Examples
    --------
    >>> test = plan_sequential_test(0.75, 0.05, 0.05)
    >>> round(test.upper, 2), round(test.lower, 2), test.n_max
    (3.64, -2.97, 80)
    """
    horizon = _find_horizon(gamma, alpha, beta)
    upper, lower = math.log((1 - beta) / (alpha / 2)), math.log(beta / (1 - alpha / 2))
    safe_upper, safe_lower = math.log(2 / alpha), math.log(beta)
    while True:
        size, power = _trace_errors(SequentialTest(gamma, upper, lower, horizon))
        if size[-1] > alpha:
            upper = safe_upper if upper < safe_upper else upper + _STEP
        elif power[-1] < 1 - beta and lower > safe_lower:
            lower = safe_lower
        elif power[-1] < 1 - beta:
            # What is still missed is lost to b, or to the end.
            upper, lower = max(upper, -safe_lower), lower - _STEP
        else:
            n_enough = int(np.argmax(power >= 1 - beta)) + 1
            return SequentialTest(gamma, upper, lower, 10 * math.ceil(n_enough / 10))


def _trace_errors(test: SequentialTest) -> tuple[FloatArray, FloatArray]:
    """Size and power of a test that ends after 1, 2, … pairs instead.

    An earlier end only turns decisions into "neither", so that both grow with it.
    """
    steps = []
    for step in test._walk(np.array([0.5, test.gamma])):
        steps.append(step)
        if step[2].max() < _FORGOTTEN:
            break
    won, lost, _ = np.cumsum(steps, axis=0).transpose(1, 2, 0)
    return won[0] + lost[0], won[1]


def _find_horizon(gamma: float, alpha: float, beta: float) -> int:
    """Pairs by which nearly all paths have ended: thrice those of a fixed design, or a refusal."""
    check_advantage(gamma)
    check_open_unit("alpha", alpha)
    check_open_unit("beta", beta)
    if alpha / 2 + beta >= 1:
        raise InvalidInput(
            f"alpha/2 + beta is {alpha / 2 + beta:g}, which chance alone reaches",
            "Pass a smaller alpha or beta",
        )
    # Deciding for b is a miss, too: where beta is the smaller one, it rules the upper boundary.
    z_alpha, z_beta = float(ndtri(min(alpha / 2, beta))), float(ndtri(beta))
    fixed = ((z_alpha / 2 + z_beta * math.sqrt(gamma * (1 - gamma))) / (gamma - 0.5)) ** 2
    if fixed > _LARGEST_FIXED:
        raise InvalidInput(
            f"deciding between 0.5 and gamma = {gamma:g} takes more than {_LARGEST_FIXED:,} pairs",
            "Pass a larger gamma",
        )
    return 10 * math.ceil(3 * fixed / 10) + 100  # a multiple of ten, as the end will be


@dataclass(frozen=True, slots=True)
class SequentialPath:
    """Pairs up to the one at which a sequential test ended, or all where it goes on."""

    test: SequentialTest
    call: Call
    outcomes: FloatArray = field(compare=False, repr=False)  # 1, ½, 0; NaN of an incomplete pair
    n_beyond: int  # pairs that came after the end
    _leads: tuple[int, ...] = field(repr=False)  # at which the test may stand, where it goes on

    @property
    def n_pairs(self) -> int:
        """Pairs that were looked at, incomplete ones included."""
        return self.outcomes.size

    @property
    def counts(self) -> IntArray:
        """Wins, losses, ties and incomplete pairs after each pair: shape (4, n_pairs)."""
        kinds = [self.outcomes == 1, self.outcomes == 0, self.outcomes == 0.5]
        return np.cumsum([*kinds, np.isnan(self.outcomes)], axis=1)

    @property
    def log_ratios(self) -> FloatArray:
        """Log ratios for a and for b after each pair: shape (2 sides, 2, n_pairs).

        The first of both has all incomplete pairs lost by that side, the second has them won.
        """
        wins, losses, _, gaps = self.counts
        lead, pairs = wins - losses, np.arange(1, self.n_pairs + 1)
        sides = [(side * lead - gaps, side * lead + gaps) for side in (1, -1)]
        return np.array([[self.test.log_ratio(each, pairs) for each in side] for side in sides])

    def count_needed(self) -> int:
        """Pairs that must come before the test can end at all; 0 where it has ended."""
        n, most = self.n_pairs, self.test.n_max
        if self.call != "go on":
            return 0
        low, high = min(self._leads), max(self._leads)
        for more in range(1, most - n):
            reached = np.arange(low - more, high + more + 1)
            if (self.test.judge(reached, np.array(n + more)) != "go on").any():
                return more
        return most - n


def trace_path(
    test: SequentialTest, outcomes: ArrayLike, n_last: int | None = None
) -> SequentialPath:
    """Follow pairs one by one until a sequential test ends.

    An incomplete pair might have been won by either, or tied: what is decided would be decided the
    same, at that pair or before, whatever became of each of them. So the errors stay within their
    bounds, whatever made pairs fail.

    Parameters
    ----------
    outcomes : shape (n_pairs,)
        In the order in which the pairs were planned: 1 where a wins, 0 where b does, ½ for a tie,
        NaN for an incomplete pair.
    n_last
        Look at no more pairs than that, though the test might go on.

    Examples
    --------
    >>> from outperform.stats import plan_sequential_test
    >>> test = plan_sequential_test()
    >>> trace_path(test, [1] * 12).call, trace_path(test, [1] * 12).n_pairs
    ('a', 9)
    >>> trace_path(test, [1, 1, np.nan, *[1] * 9]).n_pairs  # which might have been a loss
    12
    """
    values = np.asarray(outcomes, dtype=np.float64)
    if values.ndim != 1 or not (np.isin(values, (0, 0.5, 1)) | np.isnan(values)).all():
        raise InvalidInput(
            f"the outcomes are {np.asarray(outcomes).tolist()!r}",
            "Pass a list of 1 (a wins), 0 (b wins), 0.5 (a tie) and NaN (incomplete)",
        )
    if n_last is not None:
        check_count("n_last", n_last, at_least=1)
    most = min(test.n_max, values.size if n_last is None else n_last)
    leads, ends, n = np.zeros(1, dtype=np.int64), set[str](), 0
    while n < min(most, values.size) and leads.size and len(ends) < 2:
        steps = (-1, 0, 1) if np.isnan(values[n]) else (round(2 * values[n] - 1),)
        n += 1
        leads = np.unique(np.add.outer(leads, steps))
        calls = test.judge(leads, np.array(n))
        ends |= set(calls[calls != "go on"].tolist())
        leads = leads[calls == "go on"]
    call: Any = "unknown" if len(ends) > 1 else "go on"
    if len(ends) == 1 and not leads.size:
        (call,) = ends
    return SequentialPath(test, call, values[:n], values.size - n, tuple(leads.tolist()))
