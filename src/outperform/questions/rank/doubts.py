"""Reasons to doubt a ranking, or what it cannot tell."""

import itertools
from collections.abc import Iterator

from outperform.questions.rank.grids import Grids
from outperform.questions.rank.pairs import PairCounts
from outperform.questions.rank.result import Aggregates, Ranking
from outperform.questions.result import doubt_metric
from outperform.runs import Runs
from outperform.wording import count, enumerate_names

_FEW_TASKS = 10  # below which Friedman's test errs
_FEW_FOR_RANKS = 10  # runs, below which Brunner and Munzel's t-approximation errs
_FEW_RUNS = 5  # below which a bootstrap within tasks is too narrow
_MANY_TIES = 0.1  # of the pairs of runs on a task


def find_doubts(ranking: Ranking, grids: Grids, counts: PairCounts, table: Runs) -> Iterator[str]:
    """Every doubt about a ranking, those that weigh most first."""
    yield from _doubt_units(ranking)
    yield from _doubt_runs(ranking)
    yield from _doubt_differences(ranking)
    yield from _doubt_ranks(ranking)
    yield from _doubt_scores(grids, counts, table)
    if ranking.aggregates is not None:
        yield from _doubt_aggregates(ranking.aggregates, grids)
    yield from _doubt_reach(ranking, table)
    yield from table.notes
    for metric, goal in dict.fromkeys(zip(grids.metrics, grids.goals, strict=True)):
        yield from doubt_metric(metric, goal)


def _doubt_units(ranking: Ranking) -> Iterator[str]:
    if ranking.tasks_are == "fixed":
        return
    kind = "families of tasks" if ranking.families else "tasks"
    needed = next(n for n in itertools.count(2) if 0.5 ** (n - 1) <= ranking.alpha)
    if ranking.n_units < needed:
        yield (
            f"{ranking.n_units} {kind} say nothing about tasks like these: even if one algorithm "
            f"won on all of them, chance would do as much with p = "
            f"{0.5 ** (ranking.n_units - 1):.2g}; at least {needed} are needed, so no p-value is "
            "given (--tasks fixed asks about these tasks)"
        )
        return
    needed = next(n for n in itertools.count(2) if 0.5 ** (n - 1) <= _strictest_level(ranking))
    if ranking.n_units < needed:
        yield (
            f"with {ranking.n_units} {kind} no pair of {len(ranking.algorithms)} algorithms can be "
            f"told apart, whoever wins; {needed} would do"
        )
    if ranking.n_units < _FEW_TASKS and ranking.friedman:
        yield (
            f"with {ranking.n_units} {kind}, the p-values of Friedman, Iman and Davenport and "
            "Nemenyi are rough: trust the pairs"
        )


def _strictest_level(ranking: Ranking) -> float:
    """Level that a pair has to reach for any to be told apart."""
    # All pairs at once are held to alpha itself by Benjamini and Hochberg.
    for_all = ranking.correction in ("none", "benjamini-hochberg")
    return ranking.alpha / (1 if for_all else len(ranking.pairs))


def _doubt_runs(ranking: Ranking) -> Iterator[str]:
    """Say where runs are too few to tell anybody apart, whatever the outcome."""
    single = [task.name for task in ranking.tasks if task.n_runs == 1]
    several = [task.n_runs for task in ranking.tasks if task.n_runs > 1]
    if single and len(ranking.tasks) > 1:
        where = enumerate_names(single, limit=3) if several else "a task"
        yield f"with one run on {where}, nobody can be ruled out as the best there: none is marked"
    if not several:
        return
    fewest, k = min(several), len(ranking.algorithms)
    for_pairs = next(n for n in itertools.count(1) if 0.5 ** (n - 1) <= _strictest_level(ranking))
    if fewest < for_pairs:
        yield (
            f"with {fewest} runs no pair of {k} algorithms can be told apart by wins on a single "
            f"task; {for_pairs} would do"
        )
    if ranking.task_test == "paired-t" and not ranking.test.startswith("paired-t"):
        yield (
            f"with {fewest} runs wins can hardly rule anybody out as the best of {k}, so the marks "
            "are by paired t-tests of means, which take differences as normal"
        )
    if ranking.task_test == "brunner-munzel" and fewest < _FEW_FOR_RANKS:
        yield (
            f"with {fewest} runs the t-approximation of brunner-munzel errs too often (11% instead "
            "of 5% of best algorithms were ruled out with 3 runs): take brunner-munzel-permutation"
        )


def _doubt_differences(ranking: Ranking) -> Iterator[str]:
    """Explain marks that rule somebody out where no pair differs, and pairs that scores tell."""
    k = len(ranking.algorithms)
    ruled_out = any(len(task.maybe_best) < k for task in ranking.tasks if task.n_runs > 1)
    n, alpha = len(ranking.tasks), ranking.alpha
    if ruled_out and n > 1 and ranking.tasks_are == "fixed":
        yield (
            f"who may be the best is told with {1 - alpha:.0%} confidence on each task by itself: "
            f"on one or more of {n} tasks, the truly best is ruled out in up to "
            f"{1 - (1 - alpha) ** n:.0%} of studies; pairs allow for that"
        )
    if ruled_out and k > 2 and not ranking.differing and ranking.tasks_are == "fixed":
        yield (
            "marks ask less than pairs: only whether one of "
            f"{k - 1} others is better, on a task by itself; so some are ruled out as the best "
            "though no pair differs"
        )
    pairs = [f"{pair.a} and {pair.b}" for pair in ranking.pairs if pair.only_scores_differ]
    if pairs:
        yield (
            f"{ranking.test} tells {enumerate_names(pairs, limit=3)} apart, but wins do not bear "
            "it out: one may win by much where it wins, and not more often than the other"
        )


def _doubt_ranks(ranking: Ranking) -> Iterator[str]:
    """Explain ranks that pairs do not show, or that mean ranks contradict."""
    low = {each.name: each.rank_low or 1 for each in ranking.algorithms}
    high = {each.name: each.rank_high or len(low) for each in ranking.algorithms}
    pairs = [
        f"{pair.a} and {pair.b}"
        for pair in ranking.pairs
        if not (pair.winner or pair.only_scores_differ)
        and (high[pair.a] < low[pair.b] or high[pair.b] < low[pair.a])
    ]
    if pairs:
        yield (
            f"two tests disagree on {enumerate_names(pairs, limit=3)}: the test of ranks tells "
            f"them apart, {ranking.test} does not; go by the one that you chose before seeing the "
            "runs"
        )
    turned = [
        f"{worse.name} and {better.name}"
        for worse, better in itertools.permutations(ranking.algorithms, 2)
        if worse.mean_rank <= better.mean_rank and high[better.name] < low[worse.name]
    ]
    if turned:
        yield (
            f"mean ranks do not put {enumerate_names(turned, limit=3)} in the order of their true "
            "ranks: the first are those of mean scores, the second those within replicates, and a "
            "few runs that go very badly move means only"
        )


def _doubt_scores(grids: Grids, counts: PairCounts, table: Runs) -> Iterator[str]:
    """What is missing, unfinished or tied."""
    if grids.gaps:
        yield (
            f"runs are missing ({enumerate_names(grids.gaps, limit=3)}): pairs, and who is ruled "
            "out as the best, take what an algorithm lacks for its worst, unless it has no run of "
            "the task; means and ranks take gaps to be unrelated to performance, and whoever "
            "failed where it went badly looks better there"
        )
    if table.unfinished:
        yield (
            f"left out, as none of their runs has a score: {enumerate_names(table.unfinished)} "
            "(`outperform status` says why)"
        )
    n = counts.n.sum(axis=(1, 2)) - counts.n.trace(axis1=1, axis2=2)
    ties = counts.ties.sum(axis=(1, 2)) - counts.ties.trace(axis1=1, axis2=2)
    many = [
        f"{task or 'the task'} ({t / m:.0%})"
        for task, t, m in zip(grids.tasks, ties.tolist(), n.tolist(), strict=True)
        if m and t / m >= _MANY_TIES
    ]
    if many:
        listed = enumerate_names(many, limit=4)
        yield f"many pairs of runs are tied on {listed}: ties tell nobody apart"


def _doubt_aggregates(aggregates: Aggregates, grids: Grids) -> Iterator[str]:
    """What a number over all tasks hides."""
    if by := {"range": "the range seen", "rank": "ranks"}.get(aggregates.normalize):
        yield (
            f"scores normalised by {by} depend on all algorithms that take part: leaving one out "
            "moves the others"
        )
    fewest = min(grid.shape[1] for grid in grids.complete)
    if fewest < _FEW_RUNS:
        yield (
            f"with {count(fewest, 'run')} on a task, the bootstrap intervals of aggregates are too "
            f"narrow; {_FEW_RUNS} at least would do better"
        )


def _doubt_reach(ranking: Ranking, table: Runs) -> Iterator[str]:
    """Whom and what it is about."""
    if len(ranking.algorithms) == 2:
        a, b = ranking.names
        yield f"there are two algorithms only: `compare` says more about {a} and {b}"
    if len(ranking.tasks) == 1:
        yield "there is one task only: nothing is said of others, and ranks are those of its runs"
    if len(ranking.algorithms) > 2:
        yield (
            "mean ranks, and who may be the best, depend on all algorithms that take part; what "
            "is said of a pair depends on these two alone"
        )
    if table.replicates is None and max(task.n_runs for task in ranking.tasks) > 1:
        yield (
            "the table has no replicate column: runs were paired at random, which is right but "
            "shows less than runs that share their seeds; if a column tells which do, name it with "
            "--replicate"
        )
    if ranking.beyond_data:
        yield (
            "P(A>B), its interval and wins are those on these data: a pair is told apart only if "
            f"it is so on these too, at α = {ranking.alpha:g}"
        )
    elif ranking.data:
        sizes = all(task.name in table.resplits for task in ranking.tasks)
        how = "--test nadeau-bengio" if sizes else "compare --train-size N --test-size N"
        yield (
            "all splits of a task share its data: what is told apart holds for these data, and may "
            f"not for others like them (`{how}` says what does)"
        )
