"""All pairs of algorithms over all tasks: chances of winning, p-values and their corrections."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, compress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from outperform.errors import InvalidInput, TooFewRuns
from outperform.questions.compare.conclusion import judge, judge_size
from outperform.questions.compare.missing_runs import take_worst
from outperform.questions.compare.named_tests import find_test
from outperform.questions.rank.grids import Grids
from outperform.questions.rank.result import LIKE_THESE, Correction, RankedPair
from outperform.runs.scope import Resplit
from outperform.stats import (
    AverageProbability,
    Interval,
    average_probability,
    benjamini_hochberg,
    bonferroni,
    count_all_pairs,
    holm,
    partial_conjunction,
    t_test_all_pairs,
    wilcoxon_pvalues,
)
from outperform.stats.checks import FloatArray, merge_pairs
from outperform.stats.dependent_replicates import cautious_alpha
from outperform.stats.intervals import sign_tail
from outperform.stats.task_aggregates import TasksAre
from outperform.wording import describe_goal

OVER_TASKS = ("wins", "wilcoxon", "paired-t", "sign-flip")  # tests that tasks can be the units of
_FEWEST_FOR_T = 3  # runs
_SEPARATE = ("brunner-munzel", "brunner-munzel-permutation", "welch-t")  # tests of unpaired runs
_MOST_TESTS = 100_000  # of single pairs on single tasks, a minute or so
_CORRECTIONS: dict[Correction, Callable[[FloatArray], FloatArray]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "benjamini-hochberg": benjamini_hochberg,
    "none": lambda pvalues: pvalues,
}


@dataclass(frozen=True, slots=True)
class Terms:
    """How pairs are compared."""

    tasks_are: TasksAre
    test: str | None  # asked for; None for the one that fits the question
    task_test: str  # of a pair on one task
    correction: Correction
    gamma: float
    alpha: float
    baseline: str | None
    seed: int
    resplits: Mapping[str, Resplit]

    @property
    def level(self) -> float:
        """Level that the test is held to, which is stricter about data like these."""
        return cautious_alpha(self.alpha) if self.test == LIKE_THESE else self.alpha


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Wins, ties and replicates of all pairs, each of shape (n_tasks, k, k)."""

    wins: NDArray[np.int64]
    ties: NDArray[np.int64]
    n: NDArray[np.int64]
    lacking: NDArray[np.intp]  # replicates of each, shape (n_tasks, k)

    def test_wins(self) -> FloatArray:
        """One-sided p-values of sign tests, small where the row's algorithm wins.

        As in `compare`, what it lacks it has lost: runs often fail because they go badly.
        """
        losses = np.swapaxes(self.wins, -1, -2) + self.lacking[:, :, None]
        return sign_tail(self.wins.astype(float), losses.astype(float))


@dataclass(frozen=True, slots=True)
class _Averages:
    """Wins, ties and pairs on each task, (n_pairs, n_tasks), and what the first and second lack."""

    wins: NDArray[np.int64]
    ties: NDArray[np.int64]
    n: NDArray[np.int64]
    lost: NDArray[np.intp]
    won: NDArray[np.intp]
    about: Mapping[str, Any]  # of tasks

    def estimate(self, confidence_level: Any) -> AverageProbability:
        """P(A>B) over tasks; at each end of its interval, and in p, what one lacks is lost."""
        options = {"confidence_level": confidence_level, **self.about}
        left = average_probability(self.wins, self.ties, self.n, **options)
        if not (self.lost.any() or self.won.any()):
            return left
        lost = average_probability(self.wins, self.ties, self.n + self.lost, **options)
        won = average_probability(self.wins + self.won, self.ties, self.n + self.won, **options)
        first = np.asarray(left.probability) > 0.5
        worst = np.where(first, lost.probability, won.probability)
        turned = (worst > 0.5) != first
        return replace(
            left,
            low=np.minimum(left.low, lost.low),
            high=np.maximum(left.high, won.high),
            pvalue=np.where(turned, 1.0, np.where(first, lost.pvalue, won.pvalue)),
        )


def count_tasks(grids: Grids) -> PairCounts:
    """Count the wins of all pairs on all tasks."""
    counts = [count_all_pairs(grid) for grid in grids.scores]
    wins, ties, n = (np.array(each) for each in zip(*counts, strict=True))
    return PairCounts(wins, ties, n, grids.lacking)


def choose_pairs(algorithms: tuple[str, ...], baseline: str | None) -> tuple[Any, Any]:
    """Places of the first and second algorithms of all pairs, or of those with the baseline."""
    if baseline is None:
        return np.triu_indices(len(algorithms), 1)
    second = algorithms.index(baseline)
    first = np.array([place for place in range(len(algorithms)) if place != second])
    return first, np.full(len(first), second)


def choose_task_test(counts: PairCounts, test: str | None, alpha: float) -> str:
    """Test that rules algorithms out on a task: by wins, if that allows for one loss, else t."""
    if test is not None:
        return test
    k, known = counts.n.shape[-1], counts.n[counts.n > 0]  # a gap tells nothing of the others
    fewest = int(known.min(initial=known.max(initial=0)))
    enough = (fewest + 1) * 0.5**fewest <= alpha / (k - 1)
    return "wins" if enough or fewest < _FEWEST_FOR_T else "paired-t"


def find_task_pvalues(grids: Grids, counts: PairCounts, terms: Terms) -> FloatArray:
    """One-sided p-values of all pairs on all tasks, (n_tasks, k, k): small where the row's wins."""
    if terms.task_test == "wins":
        return counts.test_wins()
    if terms.task_test == "paired-t":
        tested = np.array([t_test_all_pairs(grid) for grid in grids.scores])
        # No mean is better of who lacks a run, which may have gone as badly as can be.
        return np.where(counts.lacking[:, :, None] > 0, 1.0, tested)
    n_tests = len(grids.tasks) * len(grids.algorithms) * (len(grids.algorithms) - 1)
    if n_tests > _MOST_TESTS:
        raise InvalidInput(
            f"{n_tests:,} tests {terms.task_test!r} of single pairs on single tasks are more than "
            f"{_MOST_TESTS:,}",
            "Leave out --test to count wins, which is fast, or choose algorithms with --only",
        )
    pvalues = np.ones(counts.wins.shape)
    for place, (task, grid) in enumerate(zip(grids.tasks, grids.scores, strict=True)):
        test = _find_test(terms, task)
        for i, j in combinations(range(len(grid)), 2):
            known = ~np.isnan(grid[[i, j]])
            paired = terms.task_test not in _SEPARATE
            if paired:
                known[:] = known.all(axis=0)
            a, b = grid[i, known[0]], grid[j, known[1]]
            if min(a.size, b.size) >= 2:
                lost, won = counts.lacking[place, [i, j]].tolist()
                above, below = (
                    take_worst(a, b, lost, paired=paired),
                    take_worst(b, a, won, paired=paired),
                )
                pvalues[place, i, j] = test(*above, alternative="greater").pvalue
                pvalues[place, j, i] = test(*below[::-1], alternative="less").pvalue
    return pvalues


def _find_test(terms: Terms, task: str) -> Callable[..., Any]:
    if terms.task_test == LIKE_THESE and task not in terms.resplits:
        raise InvalidInput(
            f"the test {LIKE_THESE!r} corrects for overlapping splits, but the sizes of those "
            f"of {task or 'the task'} are not known",
            "Rank the store of a study, which knows them, or take another test",
        )
    rng = np.random.default_rng(terms.seed)
    return find_test(terms.task_test, rng, terms.resplits.get(task))


def compare_all(
    grids: Grids, counts: PairCounts, task_pvalues: FloatArray, terms: Terms
) -> tuple[tuple[RankedPair, ...], str]:
    """Compare all pairs, or those with the baseline; and the test that gave their p-values."""
    first, second = choose_pairs(grids.algorithms, terms.baseline)
    wins, ties, n = (each[:, first, second].T for each in (counts.wins, counts.ties, counts.n))
    a, b = ([grids.algorithms[place] for place in places] for places in (first, second))
    _check_shared(a, b, n)
    lacking = counts.lacking.T
    about = {"tasks": terms.tasks_are, "families": grids.family}
    estimate = _Averages(wins, ties, n, lacking[first], lacking[second], about).estimate
    average = estimate(confidence_level=1 - terms.alpha)
    # Of a pair alone: marks may be by another test, which depends on how many there are.
    on_tasks = task_pvalues if terms.test else counts.test_wins()
    one_sided = on_tasks[:, first, second].T, on_tasks[:, second, first].T
    means = _average_scores(grids, first, second)
    test, pvalues = _test_pairs(grids, average, one_sided, means, terms)
    of_wins = average.pvalue
    if terms.test not in (None, "wins"):
        is_fixed = terms.tasks_are == "fixed"
        lead = _combine(*one_sided) if is_fixed else np.nanmean(means[0] - means[1], axis=-1)
        # Who wins more often, but has the worse scores, is no winner.
        of_wins = np.where(lead * (average.probability - 0.5) < 0, 1.0, of_wins)
    columns = {
        "a": a,
        "b": b,
        "probability": average.probability.tolist(),
        "low": average.low.tolist(),
        "high": average.high.tolist(),
        **_judge(pvalues, of_wins, estimate, terms),
        "wins": wins.sum(axis=-1).tolist(),
        "ties": ties.sum(axis=-1).tolist(),
        "losses": (n - wins - ties).sum(axis=-1).tolist(),
        "mean_difference": _list_differences(grids, *means),
        **_count_better(one_sided, grids.tasks, terms.level),
    }
    rows = zip(*columns.values(), strict=True)
    return tuple(RankedPair(**dict(zip(columns, row, strict=True))) for row in rows), test


def _check_shared(first: list[str], second: list[str], n: NDArray[np.int64]) -> None:
    apart = np.flatnonzero(n.sum(axis=-1) == 0)
    if apart.size:
        others = {1: "", 2: ", nor does 1 other pair"}.get(
            apart.size, f", nor do {apart.size - 1} other pairs"
        )
        raise TooFewRuns(
            f"{first[apart[0]]} and {second[apart[0]]} have no replicate of any task in common"
            f"{others}",
            "Leave out one of them with --only, or add runs",
        )


def _judge(
    pvalues: FloatArray | None, of_wins: FloatArray, estimate: Callable[..., Any], terms: Terms
) -> dict[str, list[Any]]:
    """Correct p-values and intervals for the number of pairs, and say who wins by both.

    Only pairs that have both make room for others, else a test of scores would (measured: 23%
    false winners of 15 comparisons instead of 5).
    """
    n_pairs, correct = len(of_wins), _CORRECTIONS[terms.correction]
    strictness = terms.alpha / terms.level
    both = None
    if pvalues is not None:
        both = np.maximum(np.minimum(1, strictness * pvalues), of_wins)
    corrected = estimate(confidence_level=1 - find_levels(both, n_pairs, terms))
    unknown: list[Any] = [None] * n_pairs
    of_both = unknown if both is None else correct(both).tolist()
    columns: dict[str, list[Any]] = {
        "pvalue": unknown if pvalues is None else pvalues.tolist(),
        "pvalue_adjusted": unknown if pvalues is None else correct(pvalues).tolist(),
        "adjusted_low": corrected.low.tolist(),
        "adjusted_high": corrected.high.tolist(),
    }
    judged: dict[str, list[Any]] = {"verdict": [], "winner": [], "only_scores_differ": []}
    _, adjusted, lows, highs = columns.values()
    for p, p_of_both, low, high in zip(adjusted, of_both, lows, highs, strict=True):
        differs = p is not None and p <= terms.level
        winner = None
        if differs and p_of_both <= terms.alpha:
            winner = "a" if low > 0.5 else "b" if high < 0.5 else None
        interval = Interval(low, high, 1 - terms.alpha, "exact")
        winning = interval if winner == "a" else interval.mirrored()
        judged["verdict"].append(judge(judge_size(winning, terms.gamma) if winner else None))
        judged["winner"].append(winner)
        judged["only_scores_differ"].append(differs and winner is None)
    return columns | judged


def _count_better(
    one_sided: tuple[FloatArray, FloatArray], tasks: tuple[str, ...], alpha: float
) -> dict[str, list[Any]]:
    """On at least how many tasks either is better, for a pair alone and for all; and on which.

    As `compare` has it: each side gets half of alpha, and one that is better on every task by
    itself is so on all of them without a correction (Berger 1982).
    """
    levels = alpha / 2, alpha / 2 / len(one_sided[0])  # for a pair alone, and for all at once
    sides = []
    for pvalues in one_sided:
        conjunction = partial_conjunction(pvalues, alpha=alpha / 2)
        bounds = []
        for level in levels:
            n_better = np.logical_and.accumulate(conjunction.pvalues <= level, axis=-1).sum(axis=-1)
            everywhere = pvalues.max(axis=-1) <= level
            bounds.append(np.where(everywhere, len(tasks), n_better).tolist())
        named = [
            tasks if n == len(tasks) else tuple(compress(tasks, row))
            for n, row in zip(bounds[0], conjunction.better.tolist(), strict=True)
        ]
        sides.append([*bounds, named])
    names = ("n_tasks_better", "n_tasks_better_adjusted", "tasks_better")
    by_side = [
        [{"a": a, "b": b} for a, b in zip(*each, strict=True)] for each in zip(*sides, strict=True)
    ]
    return dict(zip(names, by_side, strict=True))


def _list_differences(grids: Grids, a: FloatArray, b: FloatArray) -> list[float | None]:
    """Mean differences over all tasks, in the sign of the metric; None where they have several."""
    if len(set(zip(grids.metrics, grids.goals, strict=True))) > 1:
        return [None] * len(a)
    sign = 1 if grids.goals[0] == "maximize" else -1
    differences: list[float | None] = (sign * np.nanmean(a - b, axis=-1)).tolist()
    return differences


def _average_scores(grids: Grids, first: Any, second: Any) -> tuple[FloatArray, FloatArray]:
    """Mean scores of both of each pair on each task, over the replicates that both have."""
    if not any(np.isnan(grid).any() for grid in grids.scores):
        means = grids.means.T
        return means[first], means[second]
    shape = len(first), len(grids.tasks)
    a, b = np.full(shape, np.nan), np.full(shape, np.nan)
    for place, grid in enumerate(grids.scores):
        known = (~np.isnan(grid)).astype(float)
        n = known @ known.T
        sums = np.nan_to_num(grid) @ known.T  # of the row's scores, over what the column has too
        with np.errstate(invalid="ignore"):
            a[:, place] = (sums / n)[first, second]
            b[:, place] = (sums / n)[second, first]
    return a, b


def _test_pairs(
    grids: Grids,
    average: Any,
    one_sided: tuple[FloatArray, FloatArray],
    means: tuple[FloatArray, FloatArray],
    terms: Terms,
) -> tuple[str, FloatArray | None]:
    """Two-sided p-values of pairs over all tasks, and the test that they are of."""
    if terms.tasks_are == "fixed":
        if terms.test in (None, "wins"):
            where = " on all tasks" if len(grids.tasks) > 1 else ""
            return f"sign test of wins{where}", average.pvalue
        if len(grids.tasks) == 1:
            return terms.task_test, np.minimum(1, 2 * np.minimum(*one_sided)[:, 0])
        combined = 2 * ndtr(-np.abs(_combine(*one_sided)))
        return f"{terms.task_test}, tasks combined by Stouffer's method", combined
    return _test_over_tasks(grids, *means, terms)


def _combine(greater: FloatArray, less: FloatArray) -> FloatArray:
    """Stouffer's z, which lets tasks against a difference weigh as much as those for it.

    A task that speaks for neither, such as one that is tied, counts as 0.
    """
    up, down = (np.maximum(0, -ndtri(np.maximum(p, 1e-300))) for p in (greater, less))
    return np.asarray((up - down).sum(axis=-1) / np.sqrt(greater.shape[-1]))


def _test_over_tasks(
    grids: Grids, a: FloatArray, b: FloatArray, terms: Terms
) -> tuple[str, FloatArray | None]:
    """Tests of which tasks, or families of them, are the units."""
    test = _choose_test_over_tasks(grids, terms)
    if grids.n_families < len(grids.tasks):
        members = [grids.family == each for each in np.unique(grids.family)]
        a, b = (
            np.stack([np.nanmean(x[:, own], axis=1) for own in members], axis=1) for x in (a, b)
        )
    if 0.5 ** (a.shape[-1] - 1) > terms.alpha:  # so few can be evidence of nothing
        return f"{test} over tasks", None
    if test == "wins":
        known = ~np.isnan(a)
        first, second = merge_pairs(*(np.where(known, each, 0) for each in (a, b)))
        up, down = (first > second).sum(axis=-1), (first < second).sum(axis=-1)
        pvalues = 2 * np.minimum(sign_tail(up, down), sign_tail(down, up))
        return "sign test over tasks", np.minimum(1, pvalues)
    if test == "wilcoxon" and not np.isnan(a).any():
        return "Wilcoxon's signed ranks over tasks", wilcoxon_pvalues(a, b)
    single = _find_test(replace(terms, task_test=test), "")
    known = ~np.isnan(a)
    rows = zip(a, b, known, strict=True)
    pvalues = np.array([single(x[has], y[has]).pvalue for x, y, has in rows])
    return f"{test} over tasks", pvalues


def _choose_test_over_tasks(grids: Grids, terms: Terms) -> str:
    measures = sorted(set(zip(grids.metrics, grids.goals, strict=True)))
    one_metric = len(measures) == 1
    test = terms.test or ("wilcoxon" if one_metric else "wins")
    if test not in OVER_TASKS:
        raise InvalidInput(
            f"the test {test!r} cannot take tasks as its sample",
            f"Take one of {', '.join(OVER_TASKS)}, or ask about these tasks: --tasks fixed",
        )
    if test != "wins" and not one_metric:
        listed = [f"{metric} ({describe_goal(goal)})" for metric, goal in measures]
        raise InvalidInput(
            f"the test {test!r} needs differences in one unit, but tasks have different metrics "
            f"or directions: {', '.join(listed)}",
            "Leave out --test: tasks are then counted as won or lost",
        )
    return test


def find_levels(pvalues: FloatArray | None, n_pairs: int, terms: Terms) -> FloatArray:
    """Level that a correction leaves for the interval of each pair.

    Holm's is alpha over the number of pairs that are left at a pair's turn; that of Benjamini and
    Hochberg is alpha times the share of pairs that are rejected (Benjamini and Yekutieli 2005).
    """
    if terms.correction == "none" or n_pairs == 1:
        return np.full(n_pairs, terms.alpha)
    if pvalues is None or terms.correction == "bonferroni":
        return np.full(n_pairs, terms.alpha / n_pairs)
    if terms.correction == "holm":
        n_before = np.searchsorted(np.sort(pvalues), pvalues)  # pairs with the same p share a turn
        return np.asarray(terms.alpha / (n_pairs - n_before))
    n_rejected = int((benjamini_hochberg(pvalues) <= terms.alpha).sum())
    return np.full(n_pairs, terms.alpha * max(1, n_rejected) / n_pairs)
