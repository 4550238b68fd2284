"""The kinds of data that methods are tried on: each drawn once, with a truth that is known."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri, stdtr, stdtrit

FloatArray = NDArray[np.float64]

N_TRAIN, N_TEST = 800, 200  # examples of each re-split
SHARED = N_TEST / (N_TRAIN + N_TEST)  # correlation of scores from splits of one dataset
TIES = 0.3  # chance that two equals are tied
_LATTICE = np.arange(-40.0, 41.0)  # all values that rounded scores take
_MIDDLES = (np.arange(100_000) + 0.5) / 100_000


@dataclass(frozen=True, slots=True)
class Distribution:
    """Of one score, before it is shifted."""

    draw: Callable[[np.random.Generator, tuple[int, ...]], FloatArray]
    cdf: Callable[[FloatArray], FloatArray]
    quantile: Callable[[FloatArray], FloatArray]
    mean: float
    sd: float


NORMAL = Distribution(lambda rng, shape: rng.normal(size=shape), ndtr, ndtri, 0.0, 1.0)
EXPONENTIAL = Distribution(
    lambda rng, shape: rng.exponential(size=shape),
    lambda x: -np.expm1(-np.maximum(x, 0.0)),
    lambda u: -np.log1p(-u),
    1.0,
    1.0,
)
STUDENT_3 = Distribution(
    lambda rng, shape: rng.standard_t(3, size=shape),
    lambda x: stdtr(3, x),
    lambda u: stdtrit(3, u),
    0.0,
    math.sqrt(3),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """How scores of a and b come about.

    Attributes
    ----------
    spread
        Standard deviation of a, where that of b is 1.
    shared
        Share of the variance that all scores of an algorithm have in common: re-splits.
    unit
        Scores are rounded to multiples of it (and told in it); 0: not at all.
    n_b
        Number of scores of b, if it is not that of a.
    """

    name: str
    scores: Distribution
    spread: float = 1.0
    shared: float = 0.0
    unit: float = 0.0
    n_b: int | None = None

    def draw(
        self, rng: np.random.Generator, n_studies: int, n: int
    ) -> tuple[FloatArray, FloatArray]:
        """Scores of a and of b, shape (n_studies, n), neither shifted nor rounded."""
        a = self._draw_one(rng, n_studies, n)
        b = self._draw_one(rng, n_studies, self.n_b or n)
        return self.spread * a, b

    def _draw_one(self, rng: np.random.Generator, n_studies: int, n: int) -> FloatArray:
        own = self.scores.draw(rng, (n_studies, n))
        if not self.shared:
            return own
        common = self.scores.draw(rng, (n_studies, 1))
        return math.sqrt(1 - self.shared) * own + math.sqrt(self.shared) * common

    def observe(self, scores: FloatArray, shift: float = 0.0) -> FloatArray:
        """Scores as a study would show them."""
        return np.rint((scores + shift) / self.unit) if self.unit else scores + shift

    @property
    def difference_sd(self) -> float:
        """Standard deviation of a difference of scores, as observed."""
        return math.hypot(observed_sd(self, self.spread), observed_sd(self))


KINDS = {
    kind.name: kind
    for kind in (
        Kind("normal", NORMAL),
        Kind("30% ties", NORMAL, unit=1.11794),
        Kind("skewed", EXPONENTIAL),
        Kind("heavy tails", STUDENT_3),
        Kind("unequal variances", NORMAL, spread=3.0),
        Kind("skewed, unequal variances", EXPONENTIAL, spread=3.0),
        Kind("unequal variances, n against 50", NORMAL, spread=3.0, n_b=50),
        Kind("re-splits of one dataset", NORMAL, shared=SHARED),
    )
}


def _chances_of_values(kind: Kind, shift: float, spread: float) -> FloatArray:
    """Chance of each value of the lattice."""
    edges = (np.append(_LATTICE, _LATTICE[-1] + 1) - 0.5) * kind.unit
    return np.diff(kind.scores.cdf((edges - shift) / spread))


def chance_of_win(kind: Kind, shift: float) -> float:
    """P(A>B) where a is shifted, a tie counting half."""
    if kind.unit:
        of_a, of_b = (_chances_of_values(kind, *x) for x in ((shift, kind.spread), (0.0, 1.0)))
        return float(of_a @ (np.cumsum(of_b) - of_b / 2))
    a = kind.spread * kind.scores.quantile(_MIDDLES) + shift
    return float(kind.scores.cdf(a).mean())


def chance_of_tie(kind: Kind) -> float:
    """Chance that equals are tied."""
    return float(np.square(_chances_of_values(kind, 0.0, 1.0)).sum()) if kind.unit else 0.0


@lru_cache(maxsize=256)
def shift_for_chance(name: str, probability: float) -> float:
    """Shift of a with which P(A>B) is as wanted."""
    kind = KINDS[name]
    symmetric = kind.scores.mean == 0 or kind.spread == 1
    if probability == 0.5 and symmetric:
        return 0.0
    return float(brentq(lambda shift: chance_of_win(kind, shift) - probability, -30, 30))


def shift_for_equal_means(kind: Kind) -> float:
    """Shift of a with which both means are the same."""
    return kind.scores.mean * (1 - kind.spread)


def observed_sd(kind: Kind, spread: float = 1.0) -> float:
    """Standard deviation of a score as observed, unshifted."""
    if not kind.unit:
        return spread * kind.scores.sd
    return math.sqrt(float(_chances_of_values(kind, 0.0, spread) @ _LATTICE**2))
