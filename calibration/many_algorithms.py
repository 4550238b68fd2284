"""Many algorithms over many tasks: who may be the best, all pairs at once, averages and counts."""

import math
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import stdtr

from calibration.cells import ALPHA, LEVEL, BoolArray, Cell, share
from calibration.data import KINDS, FloatArray, shift_for_chance, shift_for_equal_means
from outperform.stats.intervals import sign_tail
from outperform.stats.multiple_tests import (
    count_all_pairs,
    holm,
    maybe_best,
    partial_conjunction,
    t_test_all_pairs,
)
from outperform.stats.rank_tests import wilcoxon_pvalues
from outperform.stats.task_probabilities import average_probability

N_ALGORITHMS = (3, 8, 20)
N_RUNS = (3, 5, 10, 30)
N_TASKS = (6, 10, 30)
N_STUDIES = 5_000
K = 6  # algorithms of which all pairs are compared over tasks
RUNS_OF_TASK = 10
BAD = 3.0  # standard deviations below the others
MISSING = 0.1  # share of runs
SKEWED = "skewed, unequal variances"
UNEQUAL = "unequal variances"
ONE_BAD = "one bad among equals"
GAPS = "10% of runs missing"
COARSE = "75% ties"
OVER_TASKS = ("normal", "30% ties", COARSE, "heavy tails", UNEQUAL, ONE_BAD, GAPS)


def list_blocks() -> list[dict[str, Any]]:
    """What is computed in one go."""
    best = [
        {"part": "best", "kind": kind, "n": n} for kind in (*OVER_TASKS, SKEWED) for n in N_RUNS
    ]
    pairs = [{"part": "pairs", "kind": kind, "n": n} for kind in OVER_TASKS for n in N_TASKS]
    tasks = [{"part": "tasks", "kind": "chances", "n": n} for n in N_TASKS]
    return [*best, *pairs, *tasks]


def measure(
    rng: np.random.Generator, *, part: str, kind: str, n: int, n_studies: int = N_STUDIES
) -> list[Cell]:
    """Coverage of sets and averages, false alarms over all pairs, tasks claimed too many."""
    if part == "best":
        return [cell for k in N_ALGORITHMS for cell in _measure_best(rng, kind, k, n, n_studies)]
    if part == "pairs":
        return list(_measure_pairs(rng, kind, n, n_studies))
    return [*_measure_averages(rng, n, n_studies), *_measure_counts(rng, n, n_studies)]


# Who may be the best


def _measure_best(
    rng: np.random.Generator, kind: str, k: int, n: int, n_studies: int
) -> Iterator[Cell]:
    """Whether the set holds the best, which is so by a hair: no other is any worse."""
    scores = _draw_equals(rng, kind, (n_studies, k, n))
    shifted = scores
    if kind == SKEWED:  # as many wins for all, and then equal means
        shifted = scores.copy()
        shifted[:, 0] += shift_for_equal_means(KINDS[kind])
        scores[:, 0] += shift_for_chance(kind, 0.5)
    wins = np.array([count_all_pairs(study)[0] for study in scores], dtype=float)
    pvalues = {
        "wins": (scores, sign_tail(wins, np.swapaxes(wins, -1, -2))),
        "paired-t": (shifted, np.array([t_test_all_pairs(study) for study in shifted])),
    }
    for name, (seen, matrix) in pvalues.items():
        place = ("coverage", kind, str(n), f"{k} algorithms")
        held = _share_of_best(maybe_best(matrix, alpha=ALPHA), kind)
        yield Cell("maybe best", f"maybe_best, {name}", *place, *held, alpha=ALPHA)
        for rule, holds in (("Holm", _holm_with_leader), ("uncorrected", _keep_unbeaten)):
            held = _share_of_best(holds(seen, matrix), kind)
            yield Cell("maybe best", f"leader, {rule}, {name}", *place, *held)


def _draw_equals(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> FloatArray:
    """Scores of algorithms by runs, the last two axes; the first is as good as any."""
    scores = KINDS[kind if kind in KINDS else "normal"].scores.draw(rng, shape)
    if kind == UNEQUAL:  # the first varies least, and is beaten most easily
        scores[..., 0, :] /= 10
    elif kind == SKEWED:  # the first has the long tail, which it often does not show
        scores[..., 0, :] *= KINDS[kind].spread
    elif kind == ONE_BAD:
        scores[..., -1, :] -= BAD
    elif kind == GAPS:
        scores[rng.uniform(size=shape) < MISSING] = np.nan
    elif kind == COARSE:
        scores = np.rint(scores / 3)
    return KINDS[kind].observe(scores) if kind in KINDS else scores


def _share_of_best(sets: BoolArray, kind: str) -> tuple[float, float]:
    """Share of sets with the best in it; where any of the equals may be it, on average."""
    if kind in (UNEQUAL, SKEWED):
        return share(sets[:, 0])
    held = sets[:, : -1 if kind == ONE_BAD else None].mean(axis=1)
    least = share(held == 1)[1] / math.sqrt(sets.shape[1])  # where none was missed by chance
    return float(held.mean()), max(least, float(held.std() / math.sqrt(len(held))))


def _holm_with_leader(scores: FloatArray, pvalues: FloatArray) -> BoolArray:
    """Keep the observed leader and those that Holm's correction does not tell from it."""
    studies, leader = np.arange(len(scores)), _find_leader(scores)
    row = pvalues[studies, leader]
    others = np.arange(row.shape[1]) != leader[:, None]
    kept = np.ones(row.shape, dtype=bool)
    kept[others] = (holm(row[others].reshape(len(row), -1)) > ALPHA).ravel()
    return kept


def _keep_unbeaten(scores: FloatArray, pvalues: FloatArray) -> BoolArray:
    """Keep the observed leader and those that an uncorrected test does not tell from it."""
    studies, leader = np.arange(len(scores)), _find_leader(scores)
    kept = pvalues[studies, leader] > ALPHA
    kept[studies, leader] = True
    return np.asarray(kept)


def _find_leader(scores: FloatArray) -> Any:
    known = ~np.isnan(scores)
    means = np.where(known, scores, 0).sum(axis=-1) / np.maximum(1, known.sum(axis=-1))
    return np.where(known.any(axis=-1), means, -np.inf).argmax(axis=-1)


# All pairs


def _measure_pairs(
    rng: np.random.Generator, kind: str, n_tasks: int, n_studies: int
) -> Iterator[Cell]:
    """Chance that any pair of equals is told apart."""
    shape = (n_studies, n_tasks, K, RUNS_OF_TASK)
    spread = np.geomspace(0.1, 10, n_tasks)[:, None, None] if kind == UNEQUAL else 1.0
    base = "normal" if kind == UNEQUAL else kind
    scores = spread * _draw_equals(rng, base, shape)
    pairs = list(combinations(range(K), 2))
    equal = np.array([kind != ONE_BAD or K - 1 not in pair for pair in pairs])
    wins, ties, n = _count_pairs(scores, pairs)
    tests = {"sign test of wins on all tasks": average_probability(wins, ties, n).pvalue}
    # Tasks suit some algorithms better than others, and no algorithm on the whole.
    means = np.nanmean(scores + spread * rng.standard_t(3, size=(*shape[:-1], 1)), axis=-1)
    a, b = (means[..., [pair[side] for pair in pairs]].swapaxes(-1, -2) for side in (0, 1))
    tests["wilcoxon over tasks"] = wilcoxon_pvalues(a, b)
    up, down = ((a > b).sum(axis=-1).astype(float), (a < b).sum(axis=-1).astype(float))
    both = np.minimum(sign_tail(up, down), sign_tail(down, up))
    tests["sign test over tasks"] = np.minimum(1, 2 * both)
    for name, pvalues in tests.items():
        place = ("size", kind, str(n_tasks), "")
        alarms = share(np.any(holm(pvalues)[:, equal] <= ALPHA, axis=1))
        yield Cell("over tasks", f"holm, {name}", *place, *alarms, alpha=ALPHA)
        alarms = share(np.any(pvalues[:, equal] <= ALPHA / (K - 1), axis=1))
        yield Cell("over tasks", f"flat α/(k − 1), {name}", *place, *alarms)


def _count_pairs(
    scores: FloatArray, pairs: list[tuple[int, int]]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Wins, ties and replicates, (n_studies, n_pairs, n_tasks)."""
    counts: list[list[Any]] = [[], [], []]
    for i, j in pairs:
        a, b = scores[:, :, i], scores[:, :, j]
        for kept, told in zip(counts, (a > b, a == b, ~np.isnan(a - b)), strict=True):
            kept.append(told.sum(axis=-1))
    wins, ties, n = (np.stack(each, axis=1).astype(float) for each in counts)
    return wins, ties, n


# Averages over tasks, and on how many there is a difference

Chances = Callable[[np.random.Generator, tuple[int, int]], FloatArray]
_SAMPLED: dict[str, tuple[float, Chances]] = {
    "equal chances": (0.65, lambda _, shape: np.full(shape, 0.65)),
    "chances from 0.3 to 1": (0.65, lambda rng, shape: rng.uniform(0.3, 1, size=shape)),
    "chances of 0.2 or 0.9": (0.55, lambda rng, shape: rng.choice([0.2, 0.9], size=shape)),
    "0.95, and 0.2 on a tenth of tasks": (
        0.875,
        lambda rng, shape: np.where(rng.uniform(size=shape) < 0.1, 0.2, 0.95),
    ),
}
_RUNS = {"5 runs": 5, "20 runs": 20, "3 to 50 runs": 0}


def _measure_averages(rng: np.random.Generator, n_tasks: int, n_studies: int) -> Iterator[Cell]:
    for runs, n_runs in _RUNS.items():
        n = np.full(n_tasks, n_runs) if n_runs else np.geomspace(3, 50, n_tasks).astype(int)
        for data, (truth, draw) in _SAMPLED.items():
            row = ("coverage", data, str(n_tasks), runs)
            chances = draw(rng, (n_studies, n_tasks))
            covered = _cover(rng, chances, n, np.array(truth), tasks="sampled")
            name = "average_probability, tasks like these"
            yield Cell("over tasks", name, *row, *covered, alpha=ALPHA)
            own = chances.mean(axis=-1)  # each study has its tasks, and asks about these
            covered = _cover(rng, chances, n, own, tasks="fixed")
            name = "average_probability, these tasks"
            yield Cell("over tasks", name, *row, *covered, alpha=ALPHA)


def _cover(
    rng: np.random.Generator, chances: FloatArray, n: Any, truth: FloatArray, *, tasks: Any
) -> tuple[float, float]:
    wins = rng.binomial(n, chances)
    total = np.broadcast_to(n, wins.shape)
    found = average_probability(wins, 0 * wins, total, confidence_level=LEVEL, tasks=tasks)
    return share(np.asarray((found.low <= truth) & (truth <= found.high)))


def _measure_counts(rng: np.random.Generator, n_tasks: int, n_studies: int) -> Iterator[Cell]:
    """How often more tasks are claimed than there are, where a third of them is won by far."""
    n_better = n_tasks // 3
    shift = np.where(np.arange(n_tasks) < n_better, 3.0, 0.0)[:, None]
    for n_runs in (5, 10, 30):
        differences = rng.normal(size=(n_studies, n_tasks, n_runs)) + shift
        wins = (differences > 0).sum(axis=-1).astype(float)
        t = differences.mean(axis=-1) / differences.std(axis=-1, ddof=1) * math.sqrt(n_runs)
        for name, pvalues in (
            ("wins", sign_tail(wins, n_runs - wins)),
            ("paired-t", stdtr(n_runs - 1, -t)),
        ):
            found = np.asarray(partial_conjunction(pvalues, alpha=ALPHA).n_better)
            row = ("size", "a third better by far", str(n_tasks), f"{n_runs} runs")
            alarms = share(np.asarray(found > n_better))
            yield Cell("over tasks", f"partial_conjunction, {name}", *row, *alarms, alpha=ALPHA)
