"""Reasons to doubt a ranking, or what it cannot tell."""

from collections.abc import Iterator
from itertools import count

from outperform.questions.compare.doubts import doubt_goal
from outperform.questions.rank.grids import Grids
from outperform.questions.rank.pairs import PairCounts
from outperform.questions.rank.result import Ranking
from outperform.runs import Runs
from outperform.runs.scope import divides_anew
from outperform.wording import enumerate_names

_FEW_TASKS = 10  # below which Friedman's test errs
_FEW_RUNS = 5  # below which a bootstrap within tasks is too narrow
_MANY_TIES = 0.1  # of the pairs of runs on a task


def find_doubts(ranking: Ranking, grids: Grids, counts: PairCounts, table: Runs) -> Iterator[str]:
    """Every doubt about a ranking, those that weigh most first."""
    yield from _doubt_units(ranking)
    yield from _doubt_runs(ranking)
    yield from _doubt_marks(ranking)
    yield from _doubt_scores(ranking)
    yield from _doubt_ranks(ranking)
    yield from _doubt_gaps(grids)
    yield from _doubt_absent(table)
    yield from _doubt_ties(grids, counts)
    yield from _doubt_aggregates(ranking, grids)
    yield from _doubt_size(ranking)
    yield from _doubt_pairing(table, ranking)
    yield from _doubt_splits(ranking)
    yield from table.notes
    for metric, goal in dict.fromkeys(zip(grids.metrics, grids.goals, strict=True)):
        yield from doubt_goal(metric, goal)


def _doubt_units(ranking: Ranking) -> Iterator[str]:
    if ranking.tasks_are == "fixed":
        return
    kind = "families of tasks" if ranking.families else "tasks"
    needed = next(n for n in count(2) if 0.5 ** (n - 1) <= ranking.alpha)
    if ranking.n_units < needed:
        yield (
            f"{ranking.n_units} {kind} say nothing about tasks like these: even if one algorithm "
            f"won on all of them, chance would do as much with p = "
            f"{0.5 ** (ranking.n_units - 1):.2g}; at least {needed} are needed, so no p-value is "
            "given (--tasks fixed asks about these tasks)"
        )
        return
    told = ranking.alpha / (1 if ranking.correction == "none" else len(ranking.pairs))
    needed = next(n for n in count(2) if 0.5 ** (n - 1) <= told)
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
    n_pairs = len(ranking.pairs)
    for_pairs = next(n for n in count(1) if 0.5 ** (n - 1) <= ranking.alpha / n_pairs)
    for_best = next(n for n in count(1) if 0.5**n <= ranking.alpha / (k - 1))
    if fewest < for_pairs:
        yield (
            f"with {fewest} runs no pair of {k} algorithms can be told apart by wins on a single "
            f"task; {for_pairs} would do"
        )
    if fewest < for_best and ranking.task_test == "paired-t":
        yield (
            f"with {fewest} runs nobody can be ruled out as the best by wins ({for_best} would "
            "do), so the marks are by paired t-tests of means, which take differences as normal"
        )


def _doubt_marks(ranking: Ranking) -> Iterator[str]:
    """Explain marks that rule somebody out where no pair differs."""
    k = len(ranking.algorithms)
    ruled_out = any(len(task.maybe_best) < k for task in ranking.tasks if task.n_runs > 1)
    if ruled_out and k > 2 and not ranking.differing and ranking.tasks_are == "fixed":
        yield (
            "marks ask less than pairs, and tell more: whether another is better, of each against "
            f"{k - 1} and one way, on a task by itself; so some are ruled out as the best though "
            "no pair differs"
        )


def _doubt_scores(ranking: Ranking) -> Iterator[str]:
    pairs = [f"{pair.a} and {pair.b}" for pair in ranking.pairs if pair.only_scores_differ]
    if pairs:
        yield (
            f"{ranking.test} tells {enumerate_names(pairs, limit=3)} apart, but not by wins: one "
            "may win by much where it wins, and not more often than the other"
        )


def _doubt_ranks(ranking: Ranking) -> Iterator[str]:
    """Explain ranks that differ for sure between two whose own runs do not tell them apart."""
    low = {each.name: each.rank_low or 1 for each in ranking.algorithms}
    high = {each.name: each.rank_high or len(low) for each in ranking.algorithms}
    pairs = [
        f"{pair.a} and {pair.b}"
        for pair in ranking.pairs
        if not pair.winner and (high[pair.a] < low[pair.b] or high[pair.b] < low[pair.a])
    ]
    if pairs and len(ranking.algorithms) == 2:
        yield (
            f"the ranks of {pairs[0]} are told apart by means of ranks within tasks, but wins over "
            "all tasks, the stricter test, do not show a difference"
        )
    elif pairs:
        yield (
            f"the ranks of {enumerate_names(pairs, limit=3)} surely differ, by how they fare "
            "against all others; their own runs against each other do not show it"
        )


def _doubt_gaps(grids: Grids) -> Iterator[str]:
    if grids.gaps:
        yield (
            f"runs are missing ({enumerate_names(grids.gaps, limit=3)}): gaps are taken to be "
            "unrelated to performance, and whoever failed where it went badly looks better"
        )


def _doubt_absent(table: Runs) -> Iterator[str]:
    if table.unfinished:
        yield (
            f"left out, as none of their runs has a score: {enumerate_names(table.unfinished)} "
            "(`outperform status` says why)"
        )


def _doubt_ties(grids: Grids, counts: PairCounts) -> Iterator[str]:
    n = counts.n.sum(axis=(1, 2)) - counts.n.trace(axis1=1, axis2=2)
    ties = counts.ties.sum(axis=(1, 2)) - counts.ties.trace(axis1=1, axis2=2)
    many = [
        f"{task or 'the task'} ({t / m:.0%})"
        for task, t, m in zip(grids.tasks, ties.tolist(), n.tolist(), strict=True)
        if m and t / m >= _MANY_TIES
    ]
    if many:
        yield (
            f"many pairs of runs are tied on {enumerate_names(many, limit=4)}: ties tell nobody "
            "apart"
        )


def _doubt_aggregates(ranking: Ranking, grids: Grids) -> Iterator[str]:
    """What a number over all tasks hides."""
    if ranking.aggregates is None:
        return
    by = {"range": "the range seen", "rank": "ranks"}.get(ranking.aggregates.normalize)
    if by:
        yield (
            f"scores normalised by {by} depend on all algorithms that take part: leaving one out "
            "moves the others"
        )
    fewest = min(grid.shape[1] for grid in grids.complete)
    if fewest < _FEW_RUNS:
        yield (
            f"with {fewest} run(s) on a task, the bootstrap intervals of aggregates are too "
            f"narrow; {_FEW_RUNS} at least would do better"
        )


def _doubt_size(ranking: Ranking) -> Iterator[str]:
    if len(ranking.algorithms) == 2:
        a, b = ranking.names
        yield f"there are two algorithms only: `compare` says more about {a} and {b}"
    if len(ranking.tasks) == 1:
        yield "there is one task only: nothing is said of others, and ranks are those of its runs"
    if len(ranking.algorithms) > 2:
        yield (
            "mean ranks, and who may be the best, depend on all algorithms that take part; the "
            "entry of a pair depends on these two alone"
        )


def _doubt_pairing(table: Runs, ranking: Ranking) -> Iterator[str]:
    if table.replicates is None and max(task.n_runs for task in ranking.tasks) > 1:
        yield (
            "the table has no replicate column: runs were paired at random, which is right but "
            "shows less than runs that share their seeds; if a column tells which do, name it with "
            "--replicate"
        )


def _doubt_splits(ranking: Ranking) -> Iterator[str]:
    if ranking.tasks_are == "fixed" and divides_anew(ranking.scope.varied):
        yield (
            "all splits of a task share its data: what is told apart holds for these data, and "
            "may not for others like them (`compare --train-size N --test-size N` says more)"
        )
