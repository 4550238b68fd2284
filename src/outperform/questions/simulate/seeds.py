"""Tracing how often an algorithm is found to differ from itself, by number of seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from outperform.errors import InvalidInput, TooFewRuns, UnknownName
from outperform.questions.simulate.drawn_rates import Report, check_any, count_steps
from outperform.questions.simulate.result import (
    INFLATION,
    SEEDS_TESTS,
    SeedsCurve,
    SeedsLine,
    SeedsTest,
)
from outperform.runs import Runs, read_runs
from outperform.runs.pairing import question_alone
from outperform.stats import welch_t_test
from outperform.stats.checks import (
    FloatArray,
    IntArray,
    as_scores,
    check_count,
    check_list,
    check_open_unit,
    merge_ties,
)
from outperform.stats.decision_rules import critical_value
from outperform.stats.numerics import divide_rows
from outperform.stats.rank_tests import grow_brunner_munzel
from outperform.wording import count, enumerate_names, suggest_names

ALPHAS = (0.05, 0.01, 0.001)
_LARGEST = 50  # runs of each sample, as far as the figures of Gundersen et al. (2023) go
_FEW_RUNS = 40
_FEWEST_RUNS = 4  # two samples of two
_N_NULL = 99_999
_BLOCK = 500_000  # runs shuffled at a time, to bound the memory
_FEWEST_DRAWS, _MOST_DRAWS = 10_000, 100_000  # if nobody says how many


def trace_seeds(
    scores: ArrayLike,
    *,
    sizes: Sequence[int] | None = None,
    alphas: Sequence[float] = ALPHAS,
    tests: Sequence[SeedsTest] = SEEDS_TESTS,
    n_draws: int | None = None,
    rng: np.random.Generator,
    report: Report | None = None,
) -> SeedsCurve:
    """Compare an algorithm with itself: how often do tests find a difference, by sample size.

    Two samples without a run in common are drawn from the scores, again and again, and tested
    two-sided. A test that keeps its level α finds a difference in a share α of them.

    Parameters
    ----------
    scores : shape (n_runs,)
        Runs of one algorithm that differ in their seeds only.
    sizes
        Runs of each sample; by default from 2 to 50, or to half the runs.
    tests
        Of ``"welch-t"``, ``"brunner-munzel"`` and ``"brunner-munzel-permutation"``.
    n_draws
        By default so many, up to 100,000, that the standard error of a share is a tenth of α.

    References
    ----------
    Gundersen et al. (2023), On Reporting Robust and Trustworthy Conclusions from Model Comparison
    Studies Involving Neural Networks and Randomness, figures 8, 13 and 14.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> result = trace_seeds(rng.normal(size=100), alphas=[0.05], tests=["welch-t"], rng=rng)
    >>> print(result)
    Among 100 runs of A, the test welch-t keeps its level from 2 runs on at α = 0.05.
    """
    (pool,) = merge_ties(as_scores(scores, "scores", at_least=_FEWEST_RUNS))
    if np.ptp(pool) == 0:
        raise InvalidInput(
            f"all {pool.size} runs have the same score {pool[0]:g}",
            "Add runs whose seed reaches the training",
        )
    wanted = _check_sizes(sizes, pool.size)
    check_list("tests", tests)
    check_list("alphas", alphas)
    check_any("test", tests)
    check_any("level alpha", alphas)
    for alpha in alphas:
        check_open_unit("alpha", alpha)
    for test in tests:
        if test not in SEEDS_TESTS:
            raise InvalidInput(f"there is no test {test!r} here", suggest_names(test, SEEDS_TESTS))
    if n_draws is None:
        # At which a test that keeps its level is hardly ever seen to exceed 1.5 of it.
        n_draws = min(_MOST_DRAWS, max(_FEWEST_DRAWS, math.ceil(100 / min(alphas))))
    check_count("n_draws", n_draws, at_least=100)
    blocks = divide_rows(n_draws, pool.size, limit=_BLOCK)  # draws to make at a time
    step = count_steps(report, len(tests) * len(blocks))
    tracing = _Tracing(pool, wanted, tuple(alphas), blocks, rng)
    lines = [line for test in tests for line in tracing.trace(test, step)]
    doubts = tuple(_find_doubts(pool, wanted, lines))
    return SeedsCurve("A", pool.size, n_draws, tuple(lines), caveats=doubts)


def trace_run_seeds(
    runs: Any,
    algorithm: str | None = None,
    *,
    task: str | None = None,
    drop_incomplete: bool = False,
    **options: Any,
) -> SeedsCurve:
    """Compare an algorithm of a table of runs with itself: see `trace_seeds`.

    Parameters
    ----------
    runs
        `Runs`, or anything that `read_runs` reads.
    algorithm
        May be left out where there is only one.
    **options
        As of `trace_seeds`.
    """
    table = runs if isinstance(runs, Runs) else read_runs(runs)
    if algorithm is None and len(table.algorithms) > 1:
        raise UnknownName(
            f"{table.source} has {len(table.algorithms)} algorithms and none was named",
            f"Name one, or two to compare: {enumerate_names(table.algorithms)}",
        )
    name = table.algorithms[0] if algorithm is None else algorithm
    scores = table.select(name, task, drop_incomplete=drop_incomplete)
    if scores.size < _FEWEST_RUNS:
        raise TooFewRuns(
            f"{name!r} has {count(scores.size, 'run')} in {table.source}",
            f"At least {_FEWEST_RUNS} are needed, to draw two samples of two; better {_FEW_RUNS}",
        )
    notes = question_alone(table, name, task)
    result = trace_seeds(scores, **options)
    metric, task = table.metric_on(task), task or table.tasks[0]
    doubts = (*notes, *table.notes, *result.caveats)
    return replace(result, algorithm=name, metric=metric, task=task, caveats=doubts)


@dataclass(frozen=True, slots=True)
class _Tracing:
    """Draws of two samples without a run in common, tested at every size."""

    pool: FloatArray
    sizes: tuple[int, ...]
    alphas: tuple[float, ...]
    blocks: Sequence[int]
    rng: np.random.Generator

    def trace(self, test: SeedsTest, step: Callable[[], None]) -> Iterator[SeedsLine]:
        """Lines of one test, a line per level; a step after each block."""
        pool, limits, n_draws = self.pool, np.empty(0), sum(self.blocks)
        if test == "brunner-munzel-permutation":
            # Ties are broken at random, so that one null distribution serves every sample.
            order = np.lexsort((self.rng.random(pool.size), pool))
            pool = np.argsort(order).astype(np.float64)
            limits = self._find_limits()
        hits, n = np.zeros((len(self.alphas), len(self.sizes))), self.sizes[-1]
        for size in self.blocks:
            # Samples of the largest size; smaller ones are their beginnings.
            shuffled = np.broadcast_to(np.arange(pool.size), (size, pool.size))
            chosen = self.rng.permuted(shuffled, axis=1)[:, : 2 * n]
            hits += self._count(test, pool[chosen[:, :n]], pool[chosen[:, n:]], limits)
            step()
        for alpha, counts in zip(self.alphas, hits, strict=True):
            n_seen = 1 / (1 / n_draws + (1 / _N_NULL if limits.size else 0))
            error = math.sqrt(alpha * (1 - alpha) / n_seen)
            yield SeedsLine(test, alpha, self.sizes, tuple((counts / n_draws).tolist()), error)

    def _count(self, test: SeedsTest, a: FloatArray, b: FloatArray, limits: FloatArray) -> IntArray:
        """Differences found, by level and size."""
        if test == "brunner-munzel-permutation":
            grown = grow_brunner_munzel(a, b, self.sizes)
            extremes = np.array([np.abs(each.test.statistic) for each in grown])
            counts: IntArray = np.count_nonzero(extremes >= limits[:, :, None], axis=2)
            return counts
        if test == "welch-t":
            by_size = [welch_t_test(a[:, :n], b[:, :n]).pvalue for n in self.sizes]
        else:
            by_size = [grown.test.pvalue for grown in grow_brunner_munzel(a, b, self.sizes)]
        pvalues = np.array(by_size)
        return np.array([np.count_nonzero(pvalues <= alpha, axis=1) for alpha in self.alphas])

    def _find_limits(self) -> FloatArray:
        """Statistics from which on the permutation test rejects, by level and size."""
        shape, parts = (_N_NULL // 9, self.sizes[-1]), []
        for _ in range(9):
            grown = grow_brunner_munzel(self.rng.random(shape), self.rng.random(shape), self.sizes)
            parts.append([np.abs(each.test.statistic) for each in grown])
        nulls = [np.sort(np.concatenate(part)) for part in zip(*parts, strict=True)]
        return np.array([[critical_value(null, alpha) for null in nulls] for alpha in self.alphas])


def _check_sizes(sizes: Sequence[int] | None, n_runs: int) -> tuple[int, ...]:
    if sizes is None:
        return tuple(range(2, min(_LARGEST, n_runs // 2) + 1))
    check_list("sizes", sizes)
    check_any("sample size", sizes)
    for n in sizes:
        check_count("the sample size", n, at_least=2)
    if 2 * max(sizes) > n_runs:
        raise TooFewRuns(
            f"two samples of {max(sizes)} runs without one in common need {2 * max(sizes)}, but "
            f"there are {n_runs}",
            f"Ask for at most {n_runs // 2}, or add runs",
        )
    return tuple(sorted(set(sizes)))


def _find_doubts(
    pool: FloatArray, sizes: tuple[int, ...], lines: Sequence[SeedsLine]
) -> Iterator[str]:
    yield (
        f"a level α counts as kept from the number of runs on where, up to {sizes[-1]} runs, no "
        f"more than {INFLATION} α of the comparisons find a difference (Bradley, 1978)"
    )
    if n_tied := pool.size - np.unique(pool).size:
        yield (
            f"{n_tied} of {pool.size} scores {'repeats' if n_tied == 1 else 'repeat'} another: the "
            "permutation test breaks such ties at random"
        )
    if pool.size < _FEW_RUNS:
        yield f"{pool.size} runs are few to stand for all: these shares are rough"
    rare = {line.alpha for line in lines if line.level_error > line.alpha / 6}
    if rare:
        listed = ", ".join(f"{alpha:g}" for alpha in sorted(rare))
        yield f"more draws would tell more at α = {listed}: the error of a share is more than α / 6"
