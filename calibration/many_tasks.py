"""Several competitors on many tasks: sets of their ranks, tests of all at once, replicability."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any, get_args

import numpy as np

from calibration.cells import ALPHA, LEVEL, BoolArray, Cell, share
from calibration.data import EXPONENTIAL, KINDS, NORMAL, STUDENT_3, FloatArray
from outperform.stats.mean_tests import paired_t_test
from outperform.stats.multiple_tests import Combination, holm, partial_conjunction
from outperform.stats.rank_sets import RankKind, rank_confidence_sets
from outperform.stats.rank_tests import wilcoxon_test
from outperform.stats.task_ranks import friedman, nemenyi

UNEQUAL_TASKS = "unequal variances of tasks"
ONE_BAD = "one bad among equals"
ONE_SKEWED = "one skewed, three times as much"
KINDS_OF_EQUALS = ("normal", "30% ties", "heavy tails", UNEQUAL_TASKS, ONE_BAD)
N_TASKS = (5, 10, 20, 50)
N_COMPETITORS = (3, 8, 20)
N_STRATA = 6  # tasks that are fixed
N_REPLICATES = (3, 5, 10, 20)
N_STUDIES = 2_000
N_LOOPED = 500  # where a function takes one pair at a time
N_RESAMPLES = 499
DISTANCE = 3.0  # of one that is bad, and of tasks on which a is better, in standard deviations


def list_blocks() -> list[dict[str, Any]]:
    """What is computed in one go."""
    kinds = (*KINDS_OF_EQUALS, ONE_SKEWED)
    sets = [{"part": "sets", "kind": kind, "n": n} for kind in kinds for n in N_TASKS]
    strata = [{"part": "strata", "kind": kind, "n": n} for kind in kinds for n in N_REPLICATES]
    tests = [{"part": "tests", "kind": kind, "n": n} for kind in KINDS_OF_EQUALS for n in N_TASKS]
    better = [
        {"part": "better", "kind": kind, "n": n}
        for kind in ("normal", "30% ties", "heavy tails", "one seed for all tasks")
        for n in N_TASKS
    ]
    return [*sets, *strata, *tests, *better]


def measure(
    rng: np.random.Generator, *, part: str, kind: str, n: int, n_studies: int = N_STUDIES
) -> list[Cell]:
    """Coverage of sets of ranks, false alarms of tests, and of claims on how many tasks."""
    if part == "better":
        return list(_measure_replicability(rng, kind, n, n_studies))
    if part == "tests":
        return [c for k in (3, 8) for c in _measure_tests(rng, kind, n, k, n_studies)]
    fewer = {3: n_studies, 8: n_studies // 2, 20: n_studies // 5}
    measure_sets = _measure_strata if part == "strata" else _measure_sets
    return [c for k in N_COMPETITORS for c in measure_sets(rng, kind, n, k, fewer[k])]


def draw_tables(
    rng: np.random.Generator, kind: str, n_studies: int, n: int, k: int, n_each: int = 1
) -> FloatArray:
    """Values of k competitors with equal means, but for the last where that is bad.

    Shape (n_studies, n * n_each, k): n tasks, each with `n_each` units after one another.
    """
    shape = (n_studies, n * n_each, k)
    scores = {"heavy tails": STUDENT_3, ONE_SKEWED: EXPONENTIAL}.get(kind, NORMAL)
    values = scores.draw(rng, shape) - scores.mean
    if kind == "30% ties":
        values = KINDS[kind].observe(values)
    if kind == ONE_SKEWED:
        values[..., 0] *= 3
    if kind == UNEQUAL_TASKS:
        values *= np.repeat(np.exp(rng.normal(size=(n_studies, n, 1))), n_each, axis=1)
    if kind == ONE_BAD:
        values[..., -1] -= DISTANCE
    return values


def _true_ranks(kind: str, k: int) -> tuple[FloatArray, FloatArray]:
    """Best and worst rank of each: equals share theirs."""
    is_bad = np.arange(k) == (k - 1 if kind == ONE_BAD else k)
    return np.where(is_bad, k, 1), np.where(is_bad, k, k - is_bad.sum())


def _hold_truth(
    tables: FloatArray, truth: tuple[FloatArray, FloatArray], rng: np.random.Generator, **how: Any
) -> BoolArray:
    """Whether the set of each competitor holds its true ranks, in each study."""
    low, high = truth
    sets = [
        rank_confidence_sets(table, rng=rng, confidence_level=LEVEL, n_resamples=N_RESAMPLES, **how)
        for table in tables
    ]
    return np.array([(found.low <= low) & (high <= found.high) for found in sets])


def _measure_sets(
    rng: np.random.Generator, kind: str, n: int, k: int, n_studies: int
) -> Iterator[Cell]:
    tables = draw_tables(rng, kind, n_studies, n, k)
    place, truth = ("coverage", kind, str(n), f"{k} competitors"), _true_ranks(kind, k)
    choices: tuple[RankKind, ...] = get_args(RankKind)
    for choice in choices[: 1 if k == max(N_COMPETITORS) else None]:  # marginal ones take long
        held = _hold_truth(tables, truth, rng, kind=choice)
        # The first is the one that is skewed.
        hits = share(map(all, held) if choice == "simultaneous" else held[:, 0])
        yield Cell("rank sets", f"rank_confidence_sets, {choice}", *place, *hits, alpha=ALPHA)
    if kind in ("normal", ONE_BAD):
        # Families of one, two or three tasks, the same luck for all of a family.
        families = np.repeat(np.arange(n), 1 + np.arange(n) % 3)
        alike = tables[:, families] + rng.normal(size=(n_studies, families.size, k)) / 4
        hits = share(map(all, _hold_truth(alike, truth, rng, clusters=families)))
        yield Cell("rank sets", "rank_confidence_sets, clusters", *place, *hits, alpha=ALPHA)


def _measure_strata(
    rng: np.random.Generator, kind: str, n: int, k: int, n_studies: int
) -> Iterator[Cell]:
    """Tasks on which others are good, while all are equal on average."""
    tasks = np.repeat(np.arange(N_STRATA), n)
    advantages = DISTANCE * rng.normal(size=(n_studies, N_STRATA, k))
    advantages -= advantages.mean(axis=1, keepdims=True)
    tables = draw_tables(rng, kind, n_studies, N_STRATA, k, n) + advantages[:, tasks]
    hits = share(map(all, _hold_truth(tables, _true_ranks(kind, k), rng, strata=tasks)))
    place = ("coverage", kind, str(n), f"{k} competitors")
    yield Cell("rank sets", "rank_confidence_sets, strata", *place, *hits, alpha=ALPHA)


def _measure_tests(
    rng: np.random.Generator, kind: str, n: int, k: int, n_studies: int
) -> Iterator[Cell]:
    """Any difference among equals."""
    tables = draw_tables(rng, kind, n_studies, n, k)
    place = ("size", kind, str(n), f"{k} competitors")
    n_equal = k - (kind == ONE_BAD)
    if n_equal == k:
        test = friedman(tables).corrected
        for name, pvalue in (("F", test.f_pvalue), ("χ²", test.chi2_pvalue)):
            hits = share(pvalue <= ALPHA)
            yield Cell("all at once", f"friedman, {name}", *place, *hits, alpha=ALPHA)
    smallest = nemenyi(tables).pvalues[:, :n_equal, :n_equal].min(axis=(1, 2))
    hits = share(smallest <= ALPHA)
    yield Cell("all at once", "nemenyi", *place, *hits, alpha=ALPHA)
    hits = share([_find_by_wilcoxon(table, n_equal) for table in tables[:N_LOOPED]])
    yield Cell("all at once", "wilcoxon_test, Holm", *place, *hits, alpha=ALPHA)


def _find_by_wilcoxon(table: FloatArray, n_equal: int) -> bool:
    """Whether two equals differ, by Holm's correction for all pairs."""
    pairs = list(combinations(range(table.shape[1]), 2))
    adjusted = holm([wilcoxon_test(table[:, i], table[:, j]).pvalue for i, j in pairs])
    return any(p <= ALPHA for p, (_, j) in zip(adjusted, pairs, strict=True) if j < n_equal)


def _measure_replicability(
    rng: np.random.Generator, kind: str, n: int, n_studies: int
) -> Iterator[Cell]:
    """More tasks claimed than there are, by paired t-tests of 10 seeds each."""
    is_shared = kind not in KINDS
    scores = KINDS["normal" if is_shared else kind]
    for n_better in sorted({0, n // 2, n - 1}):
        # One seed for all tasks: what differs by chance does on every task.
        n_drawn = 1 if is_shared else n
        a, b = scores.draw(rng, n_studies * n_drawn, 10)
        differences = (scores.observe(a) - scores.observe(b)).reshape(n_studies, n_drawn, 10)
        differences = np.repeat(differences, n // n_drawn, axis=1)
        differences[:, :n_better] += 2 * DISTANCE
        pvalues = paired_t_test(differences, np.zeros(10), alternative="greater").pvalue
        for method in get_args(Combination):
            claimed = partial_conjunction(pvalues, method=method, alpha=ALPHA).n_better
            hits = share(np.asarray(claimed) > n_better)
            # Fisher's method is for independent tasks.
            alpha = None if is_shared and method == "fisher" else ALPHA
            place = ("size", kind, str(n), f"better on {n_better}")
            name = f"partial_conjunction, {method}"
            yield Cell("how many tasks", name, *place, *hits, alpha=alpha)
