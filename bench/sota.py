"""The best of many: exact distributions, leaderboards, and a bootstrap that redraws the winner."""

import tracemalloc
from fractions import Fraction
from functools import partial

import numpy as np

from outperform.questions.sota.answer import assess_leaderboard
from outperform.stats import (
    best_of_distribution,
    bootstrap_winner,
    prepare_accuracy,
    prepare_auc,
    prepare_balanced_accuracy,
    prepare_f1,
)
from outperform.stats.winner_bootstrap import Scorer
from timing import Contest, Job, Measured, time_both, time_job

N_EXAMPLES, N_MODELS, N_RESAMPLES = 2_000, 30, 10_000
N_ENTRIES, TEST_SIZE = 4_000, 13_840
_LIMIT = "what was promised"
_PASSES = "one pass over the predictions per resample"


def against_limit(job: Job, *, seconds: float) -> Measured:
    return Measured(time_job(job, n_samples=3), seconds)


def draw_accuracies(spread: float) -> list[float]:
    rng = np.random.default_rng(4_000)
    return [float(p) for p in rng.uniform(0.91 - spread, 0.91, N_ENTRIES)]


def prepare_scorers() -> dict[str, Scorer]:
    rng = np.random.default_rng(30)
    labels = rng.integers(0, 2, N_EXAMPLES)
    values = labels[:, None] + rng.normal(size=(N_EXAMPLES, N_MODELS))
    predictions = (values > 0.5).astype(np.int64)
    return {
        "accuracy": prepare_accuracy(predictions, labels),
        "balanced accuracy": prepare_balanced_accuracy(predictions, labels),
        "F1": prepare_f1(predictions, labels, np.array([1])),
        "AUC": prepare_auc(values, labels == 1),
    }


def redraw_winner(name: str) -> Measured:
    """Compare with reading the predictions once per resample, without doing anything with them."""
    scorer, n_once = prepare_scorers()[name], 100
    matrix = np.random.default_rng(0).normal(size=(N_EXAMPLES, N_MODELS))

    def ours() -> object:
        return bootstrap_winner(
            scorer, N_EXAMPLES, rng=np.random.default_rng(0), n_resamples=N_RESAMPLES
        )

    def theirs() -> object:
        return [matrix.sum(axis=0) for _ in range(n_once)]

    measured = time_both(ours, theirs, n_samples=3)
    passes = measured.theirs * N_RESAMPLES / n_once
    return Measured(measured.ours, passes, note=f"theirs scaled up from {n_once} passes")


def redraw_within(megabytes: float) -> Measured:
    scorer = prepare_scorers()["AUC"]
    tracemalloc.start()
    bootstrap_winner(scorer, N_EXAMPLES, rng=np.random.default_rng(0), n_resamples=N_RESAMPLES)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return Measured(peak, megabytes, unit="MB", note="a resample of all predictions is 0.5 MB")


def contests_of_distributions() -> list[Contest]:
    million = partial(best_of_distribution, 10**6, 10**6, 0.9)
    rows = [
        Contest(
            "best of 10⁶ on 10⁶ examples",
            f"{_LIMIT}: 0.1 s",
            Fraction(1),
            partial(against_limit, million, seconds=0.1),
        )
    ]
    for spread in (0.01, 0.3):
        accuracies = draw_accuracies(spread)
        exact = partial(best_of_distribution, N_ENTRIES, TEST_SIZE, accuracies)
        rows.append(
            Contest(
                f"best of {N_ENTRIES:,}, p's within {spread:g}",
                f"{_LIMIT}: 2 s",
                Fraction(1),
                partial(against_limit, exact, seconds=2.0),
            )
        )
    board = partial(assess_leaderboard, draw_accuracies(0.3), test_size=TEST_SIZE)
    whole = partial(against_limit, board, seconds=2.0)
    return [
        *rows,
        Contest(f"assess_leaderboard, {N_ENTRIES:,} entries", f"{_LIMIT}: 2 s", Fraction(1), whole),
    ]


def contests_of_winners() -> list[Contest]:
    size = f"{N_EXAMPLES:,} × {N_MODELS} × {N_RESAMPLES:,}"
    rows = [
        Contest(f"winner by {name}, {size}", _PASSES, Fraction(20), partial(redraw_winner, name))
        for name in ("accuracy", "balanced accuracy", "F1", "AUC")
    ]
    memory = partial(redraw_within, 50.0)
    return [*rows, Contest(f"winner by AUC, {size}, memory", "50 MB", Fraction(1), memory)]


CONTESTS = [*contests_of_distributions(), *contests_of_winners()]
