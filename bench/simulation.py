"""Error rates and seeds curves, against a loop over scipy."""

import time
import warnings
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from scipy import stats as scipy_stats

from outperform import simulate_error_rates, trace_seeds
from outperform.questions.simulate.scenarios import Scenario, describe_variation, list_scenarios
from outperform.runs.case_studies import read_case_studies
from timing import Contest, Measured, time_both, time_job

N_DRAWS = 10_000
SIZES = range(2, 51)
_CONSTANTS = Path(__file__).parents[2] / "shared" / "data" / "variance_constants" / "stats.json"
_LIMIT = 30.0  # seconds for a figure of all rules and five case studies


def seeds_curve() -> Measured:
    """Every sample size of a curve, by two tests; a few draws of the loop stand for all."""
    runs = np.random.default_rng(0).normal(0.9, 0.01, size=100)
    n_theirs = 2

    def ours() -> object:
        rng = np.random.default_rng(0)
        return trace_seeds(
            runs, sizes=SIZES, tests=("welch-t", "brunner-munzel"), n_draws=N_DRAWS, rng=rng
        )

    def theirs() -> None:
        rng = np.random.default_rng(0)
        for n in SIZES:
            for _ in range(n_theirs):
                chosen = rng.permutation(runs)
                a, b = chosen[:n], chosen[n : 2 * n]
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # it warns where samples do not overlap
                    scipy_stats.brunnermunzel(a, b)

    measured = time_both(ours, theirs, n_samples=3)
    seconds = measured.theirs * N_DRAWS / n_theirs
    note = f"theirs scaled up from {n_theirs} draws of each size"
    return replace(measured, theirs=seconds, note=note)


def figure_of_error_rates() -> Measured:
    """All rules at 25 true P(A>B), ideal and for five case studies, once."""
    scenarios = _find_scenarios()
    start = time.perf_counter()
    simulate_error_rates(scenarios, n_draws=N_DRAWS, rng=np.random.default_rng(0))
    return Measured(time.perf_counter() - start, _LIMIT)


def exact_rates() -> Measured:
    """The verdict's rates with a bias: computed, against simulated once."""
    study = describe_variation(1.0, bias_sd=0.5)

    def simulate() -> object:
        rng = np.random.default_rng(0)
        bias = 0.5 * rng.standard_normal((2, N_DRAWS, 1))
        a, b = rng.standard_normal((2, N_DRAWS, 50)) + bias
        return [(a + shift > b).sum(axis=1) for shift in np.linspace(-0.5, 3, 25)]

    seconds = time_job(
        lambda: simulate_error_rates([study], rules=["verdict"], rng=np.random.default_rng(0))
    )
    return Measured(seconds, time_job(simulate, n_samples=3))


def _find_scenarios() -> tuple[Scenario, ...]:
    """Published case studies, or five like them where the data are not at hand."""
    if _CONSTANTS.exists():
        return list_scenarios(read_case_studies(_CONSTANTS), ("ideal", "all"), 50)
    return tuple(
        describe_variation(1.0, bias_sd=sd, name=f"bias {sd}")
        for sd in (0, 0.1, 0.2, 0.3, 0.4, 0.8)
    )


CONTESTS = [
    Contest(
        "seeds curve by t and Brunner-Munzel, n = 2..50, 10,000 draws",
        "scipy brunnermunzel alone, one call each",
        Fraction(1, 100),
        seeds_curve,
    ),
    Contest(
        "error rates, ten rules, five case studies",
        "the 30 s that were promised",
        Fraction(1),
        figure_of_error_rates,
    ),
    Contest("rates of the verdict with a bias", "wins of 10,000 draws", Fraction(1), exact_rates),
]
