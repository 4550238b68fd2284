"""Intervals, tests and whole comparisons, against plain numpy and scipy."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from outperform import compare
from outperform.stats import brunner_munzel, outperforming_interval
from timing import Contest, Measured, time_both

FloatArray = NDArray[np.float64]

N_PAIRS = 29  # what Noether's formula asks for at its usual settings
N_RESAMPLES = 10_000
_BOOTSTRAP = "numpy bootstrap, 10,000 resamples"
_AXIS = "scipy brunnermunzel(axis=)"
_LOOP = "scipy permutation_test, one call each"
_VECTORISED = "scipy permutation_test(vectorized=True)"


def draw_scores(*shape: int, tied: bool) -> tuple[FloatArray, FloatArray]:
    """Scores of two algorithms of which the first is slightly better."""
    rng = np.random.default_rng(29)
    a, b = rng.normal(0.93, 0.01, size=shape), rng.normal(0.925, 0.01, size=shape)
    return (a.round(2), b.round(2)) if tied else (a, b)


def bootstrap_interval(a: FloatArray, b: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Percentile interval of P(A>B) as one would write it with numpy."""
    wins = (a > b) + 0.5 * (a == b)
    resamples = rng.integers(wins.size, size=(N_RESAMPLES, wins.size))
    return np.asarray(np.quantile(wins[resamples].mean(axis=1), [0.025, 0.975]))


def against_bootstrap(ours: Callable[[FloatArray, FloatArray], object], *, tied: bool) -> Measured:
    a, b = draw_scores(N_PAIRS, tied=tied)
    rng = np.random.default_rng(0)
    return time_both(lambda: ours(a, b), lambda: bootstrap_interval(a, b, rng))


def many_tests(*, tied: bool) -> Measured:
    a, b = draw_scores(10_000, 25, tied=tied)
    return time_both(
        lambda: brunner_munzel(a, b).pvalue,
        lambda: scipy_stats.brunnermunzel(a, b, axis=-1).pvalue,
    )


def permutation_test(*, tied: bool, vectorized: bool) -> Measured:
    a, b = draw_scores(25, tied=tied)
    rng = np.random.default_rng(0)
    n_theirs = N_RESAMPLES if vectorized else N_RESAMPLES // 10  # one call each takes long

    def statistic(x: FloatArray, y: FloatArray, axis: int = -1) -> Any:
        return scipy_stats.brunnermunzel(x, y, axis=axis).statistic

    def theirs() -> object:
        return scipy_stats.permutation_test(
            (a, b), statistic, n_resamples=n_theirs, vectorized=vectorized, rng=rng
        )

    def ours() -> object:
        return brunner_munzel(a, b, method="permutation", n_resamples=N_RESAMPLES, rng=rng)

    measured = time_both(ours, theirs, n_samples=3)
    if vectorized:
        return measured
    seconds = measured.theirs * N_RESAMPLES / n_theirs
    return replace(measured, theirs=seconds, note=f"theirs scaled up from {n_theirs:,} resamples")


def contests_of_pairs(*, tied: bool) -> list[Contest]:
    interval = partial(against_bootstrap, outperforming_interval, tied=tied)
    whole = partial(against_bootstrap, compare, tied=tied)
    data = f"{N_PAIRS} pairs, {_name_ties(tied)}"
    return [
        Contest(f"percentile interval, {data}", _BOOTSTRAP, Fraction(1, 15), interval),
        Contest(f"compare(), {data}", _BOOTSTRAP, Fraction(1), whole),
    ]


def contests_of_tests(*, tied: bool) -> list[Contest]:
    data = f"25 against 25, {_name_ties(tied)}"
    permutation = f"Brunner-Munzel permutation, {data}"
    each = partial(permutation_test, tied=tied, vectorized=False)
    at_once = partial(permutation_test, tied=tied, vectorized=True)
    return [
        Contest(
            f"10,000 Brunner-Munzel, {data}",
            _AXIS,
            Fraction(1) if tied else Fraction(1, 2),
            partial(many_tests, tied=tied),
        ),
        Contest(permutation, _LOOP, Fraction(1, 50), each),
        Contest(permutation, _VECTORISED, Fraction(1, 2), at_once),
    ]


def _name_ties(tied: bool) -> str:
    return "ties" if tied else "no ties"


CONTESTS = [
    *contests_of_pairs(tied=False),
    *contests_of_pairs(tied=True),
    *contests_of_tests(tied=False),
    *contests_of_tests(tied=True),
]
