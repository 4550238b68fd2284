"""A whole audit, and its random seed sets, against a loop over scipy."""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from outperform import audit
from outperform.stats import brunner_munzel, count_rejections, welch_t_test
from timing import Contest, Measured, time_both, time_job

FloatArray = NDArray[np.float64]

N_RUNS = 100
N_DRAWS = 10_000
N_LOOPED = 200  # seed sets that the loop does, scaled up
SIZES = (5, 10, 25, 50)
SECONDS = 5.0  # that a whole audit may take


def draw_scores(*, tied: bool) -> tuple[FloatArray, FloatArray]:
    """Scores of two algorithms over a hundred seeds."""
    rng = np.random.default_rng(100)
    a, b = rng.normal(0.93, 0.01, N_RUNS), rng.normal(0.925, 0.01, N_RUNS)
    return (a.round(2), b.round(2)) if tied else (a, b)


def whole_audit(*, tied: bool, paired: bool) -> Measured:
    a, b = draw_scores(tied=tied)
    runs = {"a": a.tolist(), "b": b.tolist()}
    seconds = time_job(lambda: audit(runs, "a", "b", paired=paired), n_samples=3)
    return Measured(seconds, SECONDS, note=f"theirs is the limit of {SECONDS:g} s")


def random_sets(*, tied: bool) -> Measured:
    a, b = draw_scores(tied=tied)

    def ours() -> object:
        rng = np.random.default_rng(0)
        tests = (welch_t_test, brunner_munzel)
        return count_rejections(a, b, SIZES, tests=tests, n_resamples=N_DRAWS, rng=rng)

    def theirs() -> None:
        rng = np.random.default_rng(0)
        for n in SIZES:
            for _ in range(N_LOOPED):
                chosen = rng.choice(N_RUNS, n, replace=False)
                scipy_stats.ttest_ind(a[chosen], b[chosen], equal_var=False)
                with np.errstate(all="ignore"):
                    scipy_stats.brunnermunzel(b[chosen], a[chosen], distribution="normal")

    measured = time_both(ours, theirs, n_samples=3)
    return replace(
        measured,
        theirs=measured.theirs * N_DRAWS / N_LOOPED,
        note=f"theirs scaled up from {N_LOOPED} seed sets",
    )


def _name(tied: bool) -> str:
    return "ties" if tied else "no ties"


CONTESTS = [
    *(
        Contest(
            f"audit(), {N_RUNS} {'pairs' if paired else 'runs each'}, {_name(tied)}",
            f"{SECONDS:g} seconds",
            Fraction(1),
            partial(whole_audit, tied=tied, paired=paired),
        )
        for paired in (True, False)
        for tied in (False, True)
    ),
    *(
        Contest(
            f"{N_DRAWS:,} seed sets of {', '.join(map(str, SIZES))}, {_name(tied)}",
            "loop over scipy ttest_ind and brunnermunzel",
            Fraction(1, 100),
            partial(random_sets, tied=tied),
        )
        for tied in (False, True)
    ),
]
