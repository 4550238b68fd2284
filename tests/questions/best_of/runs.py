"""Runs of which the best is sought, with validation scores that choose it."""

import numpy as np

from outperform.questions.best_of import answer


def best_of_runs(runs, *names, **options):
    """Call it with fewer resamples than usual, because one is as good a test as another."""
    return answer.best_of_runs(runs, *names, **{"n_resamples": 1000} | options)


def make_records(
    n_runs=100, *, correlation=0.9, mean=0.6, sd=0.02, name="net", seed=0, validation="validation"
):
    """Runs of one algorithm, as records."""
    rng = np.random.default_rng(seed)
    chosen = rng.normal(size=n_runs)
    test = correlation * chosen + np.sqrt(1 - correlation**2) * rng.normal(size=n_runs)
    return [
        {"algorithm": name, "seed": i, validation: 0.7 + sd * v, "accuracy": mean + sd * t}
        for i, (v, t) in enumerate(zip(chosen, test, strict=True))
    ]


def two_algorithms(**options):
    """One that is good but never better, one that a search makes better."""
    steady = make_records(name="steady", mean=0.62, sd=0.004, seed=1, **options)
    return [*steady, *make_records(name="wild", mean=0.58, sd=0.03, seed=2, **options)]
