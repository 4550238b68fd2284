"""Intervals from published summaries, and of the best of many on one test set."""

from typing import Any

import numpy as np
from scipy.special import bdtrc

from calibration.cells import ALPHA, LEVEL, Cell, share
from calibration.data import KINDS, FloatArray, shift_for_chance
from outperform.stats.best_of_dependent import common_chance_interval
from outperform.stats.binormal import common_area_interval
from outperform.stats.mean_tests import Summary, probability_from_summary, welch_from_summary
from outperform.stats.winner_bootstrap import bootstrap_winner, prepare_accuracy

SIZES = (5, 10, 20, 50, 200)
KINDS_OF_RUNS = ("normal", "skewed", "heavy tails", "unequal variances")
CHANCES = (0.5, 0.97)
COMPETITORS = (1, 10, 100)
ACCURACY = 0.9
N_STUDIES = {"summary": 600, "accuracy": 0, "area": 1_000, "winner": 2_000}


def list_blocks() -> list[dict[str, Any]]:
    """What is computed in one go."""
    summaries = [{"part": "summary", "kind": kind, "n": n} for kind in KINDS_OF_RUNS for n in SIZES]
    others = [
        {"part": part, "kind": "normal", "n": n}
        for part in ("accuracy", "area", "winner")
        for n in (50, 200)
    ]
    return [*summaries, *others]


def measure(
    rng: np.random.Generator, *, part: str, kind: str, n: int, n_studies: int = 0
) -> list[Cell]:
    """Coverage of intervals from numbers that papers and leaderboards show."""
    n_studies = n_studies or N_STUDIES[part]
    match part:
        case "summary":
            return _measure_summaries(rng, kind, n, n_studies)
        case "accuracy":
            return [_measure_accuracy(m, n) for m in COMPETITORS]
        case "area":
            return [_measure_area(rng, m, n, n_studies) for m in COMPETITORS[:2]]
    return [_measure_winner(rng, m, n, n_studies) for m in (2, 10)]


def _summarise(scores: FloatArray) -> Summary:
    return Summary(float(scores.mean()), float(scores.std(ddof=1)), scores.size)


def _measure_summaries(rng: np.random.Generator, kind: str, n: int, n_studies: int) -> list[Cell]:
    drawn_a, b = KINDS[kind].draw(rng, n_studies, n)
    summaries_b, cells = [_summarise(x) for x in b], []
    for truth in CHANCES:
        summaries_a = [_summarise(x) for x in drawn_a + shift_for_chance(kind, truth)]
        pairs = list(zip(summaries_a, summaries_b, strict=True))
        hits = share(
            truth in probability_from_summary(*pair, confidence_level=LEVEL).interval
            for pair in pairs
        )
        row = ("probability_from_summary", "coverage", kind, str(n), f"P = {truth:g}")
        cells.append(Cell("published", *row, *hits, alpha=ALPHA))
        if truth == CHANCES[0]:
            different = share(welch_from_summary(*pair).pvalue <= ALPHA for pair in pairs)
            row = ("welch_from_summary", "size", kind, str(n), "")
            cells.append(Cell("published", *row, *different, alpha=ALPHA))
    return cells


def _measure_accuracy(m: int, n: int) -> Cell:
    """Best of m equals on n examples: every number of failures summed up."""
    failures = np.arange(n + 1)
    # The best has more than z failures where all do.
    more = bdtrc(failures, n, 1 - ACCURACY) ** m
    chances = -np.diff(more, prepend=1.0)
    hits = [
        ACCURACY in common_chance_interval(m, n, int(z), confidence_level=LEVEL) for z in failures
    ]
    covered = float(chances @ np.array(hits))
    row = ("common_chance_interval", "coverage", f"best of {m}", str(n), "")
    return Cell("published", *row, covered, alpha=ALPHA)


def _measure_area(rng: np.random.Generator, m: int, n: int, n_studies: int) -> Cell:
    """Best of m equals on n positives and n negatives, whose scores are normal."""
    shift = shift_for_chance("normal", ACCURACY)
    best = np.zeros(n_studies)
    for _ in range(m):
        scores = rng.normal(size=(n_studies, 2 * n))
        scores[:, :n] += shift
        ranks = scores.argsort(axis=1).argsort(axis=1)[:, :n] + 1
        best = np.maximum(best, (ranks.sum(axis=1) - n * (n + 1) / 2) / n**2)
    bounds = {
        area: common_area_interval(m, float(area), n, n, confidence_level=LEVEL)
        for area in np.unique(best)
    }
    hits = share(ACCURACY in bounds[area] for area in best)
    row = ("common_area_interval", "coverage", f"best of {m}", str(n), "")
    return Cell("published", *row, *hits, alpha=ALPHA)


def _measure_winner(rng: np.random.Generator, m: int, n: int, n_studies: int) -> Cell:
    """Winner among m equals on n examples, redrawn."""
    labels, hits = np.ones(n, dtype=np.int64), []
    for _ in range(n_studies):
        predictions = (rng.random((n, m)) < ACCURACY).astype(np.int64)
        found = bootstrap_winner(
            prepare_accuracy(predictions, labels),
            n,
            rng=rng,
            n_resamples=500,
            confidence_level=LEVEL,
        )
        hits.append(ACCURACY in found.interval)
    row = ("bootstrap_winner", "coverage", f"best of {m}", str(n), "")
    return Cell("published", *row, *share(hits), alpha=ALPHA)
