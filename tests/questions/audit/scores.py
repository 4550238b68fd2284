"""Scores with so many wins, and audits that draw little."""

import numpy as np

from outperform.questions.audit.answer import audit


def from_wins(wins, losses, ties=0):
    """Runs of which a wins some pairs by a little that varies."""
    n = wins + losses + ties
    step = 1 + np.arange(n) / n
    difference = np.concatenate([step[:wins], np.zeros(ties), -step[wins + ties :]])
    base = 10 + np.arange(n) / 8.5  # runs that are all alike are refused
    return {"a": (base + difference).tolist(), "b": base.tolist()}


def audit_quickly(runs, *names, **options):
    return audit(runs, *names, n_resamples=20, **options)


# Seeds


def table(seeds_a, seeds_b=None, prefix=""):
    rng = np.random.default_rng(0)
    rows = [("a", seed) for seed in seeds_a]
    rows += [("b", seed) for seed in (seeds_a if seeds_b is None else seeds_b)]
    return [
        {"algorithm": name, "seed": f"{prefix}{seed}", "score": rng.normal()} for name, seed in rows
    ]
