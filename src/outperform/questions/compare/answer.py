"""Does A outperform B: from two arrays of scores, or from a table of runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from outperform.errors import InvalidInput, TooFewRuns, UnpairedScores
from outperform.questions.compare.doubts import doubt_goal, find_doubts
from outperform.questions.compare.missing_runs import withstands
from outperform.questions.compare.result import Comparison
from outperform.questions.compare.task_results import TaskComparisons
from outperform.runs import Goal, Runs
from outperform.runs.scope import RUNS, SPLITS, Resplit, divides_anew
from outperform.stats import (
    Interval,
    noether_sample_size,
    outperforming_interval,
    probability_of_outperforming,
    resampled_difference,
)
from outperform.stats.checks import (
    FloatArray,
    as_independent,
    as_pairs,
    as_scores,
    check_choice,
    check_gamma,
    check_paired,
    check_positive,
)
from outperform.stats.intervals import ROUNDING
from outperform.stats.outperforming import IntervalMethod, Ties
from outperform.stats.ties import merge_stored
from outperform.store.reading import read_runs
from outperform.wording import enumerate_names


def compare(
    scores_a: ArrayLike | Mapping[Any, float],
    scores_b: ArrayLike | Mapping[Any, float],
    *,
    paired: bool = True,
    goal: Goal = "maximize",
    gamma: float = 0.75,
    confidence_level: float = 0.95,
    ties: Ties = "half",
    interval: IntervalMethod = "exact",
    margin: float | None = None,
    train_size: int | None = None,
    test_size: int | None = None,
    rng: np.random.Generator | None = None,
) -> Comparison:
    """Compare two algorithms by their scores over seeds.

    Parameters
    ----------
    scores_a, scores_b : shape (n_runs,), or {seed: score}
        Paired: entry i of both must come from the same seeds.
    paired
        Whether run i of both shares its seeds. Unpaired runs are compared all with all.
    goal
        ``"minimize"`` for losses and errors.
    gamma
        Smallest P(A>B) that matters.
    ties
        A tie counts as half a win, or with ``"strict"`` as none.
    interval
        ``"exact"``, ``"percentile"`` (the paper's), ``"wilson"`` or ``"anytime"`` for pairs;
        ``"brunner-munzel"`` (which is also what ``"exact"`` stands for there) or ``"bootstrap"``
        for unpaired runs.
    margin
        Smallest mean difference that matters, in the metric's unit, beside gamma: an advantage
        may be small and yet win every time.
    train_size, test_size
        Different examples that each run trained on, and that it was tested on, where one dataset
        was divided anew for every pair: then it is also told what holds for other data like it.
    rng
        Draws for the bootstrap; by default seeded with 0, so that the same scores always give the
        same verdict.

    Returns
    -------
    A `Comparison`: verdict, P(A>B) with its interval, and every reason for doubt.

    References
    ----------
    Bouthillier et al. (2021), Accounting for Variance in ML Benchmarks, appendix C.

    Examples
    --------
    >>> result = compare([0.9, 0.8, 0.9, 0.8, 0.8, 0.9, 0.8], [0.7, 0.6, 0.8, 0.7, 0.7, 0.7, 0.5])
    >>> result.probability, result.verdict, result.size
    (1.0, 'significant and meaningful', 'not ruled out')
    """
    check_choice("goal", goal, ("maximize", "minimize"))
    check_gamma(gamma)
    if margin is not None:
        check_positive("margin", margin)
    _check_paired(paired)
    first, second = _align(scores_a, scores_b, paired)
    options = _IntervalOptions(
        paired=paired, ties=ties, method=interval, confidence_level=confidence_level, rng=rng
    )
    resplit = _require_pairs(make_resplit(train_size, test_size), paired)
    varied = (RUNS,) if resplit is None else (SPLITS,)
    comparison = _compare(first, second, goal, gamma, options, a="A", b="B")
    comparison = add_population(replace(comparison, margin=margin, varied=varied), resplit)
    return replace(comparison, caveats=find_doubts(comparison))


def make_resplit(train_size: int | None, test_size: int | None) -> Resplit | None:
    """Sizes of re-splits, if both are given."""
    if train_size is None and test_size is None:
        return None
    if train_size is None or test_size is None:
        missing = "train" if train_size is None else "test"
        raise InvalidInput(
            f"the {missing} size is missing, and one size says nothing without the other",
            "Pass --train-size and --test-size (train_size and test_size in Python)",
        )
    return Resplit(train_size, test_size)


def _require_pairs(sizes: Resplit | None, paired: bool) -> Resplit | None:
    """Refuse sizes that can tell nothing, lest the answer seem to hold for other data."""
    if sizes is not None and not paired:
        raise InvalidInput(
            "the sizes of the sets tell what holds for other data only where runs are paired",
            "Pair the runs that share a split (without --unpaired, with --replicate), or leave out "
            "--train-size and --test-size (train_size and test_size in Python)",
        )
    return sizes


def add_population(comparison: Comparison, resplit: Resplit | None) -> Comparison:
    """Add what holds for data like these, where pairs are re-splits of one dataset."""
    if resplit is None or not comparison.paired:
        return comparison
    difference = resampled_difference(
        comparison.scores_a,
        comparison.scores_b,
        n_train=resplit.n_train,
        n_test=resplit.n_test,
        confidence_level=comparison.interval.confidence_level,
    )
    return replace(comparison, population=difference)


class _IntervalOptions(TypedDict):
    paired: bool
    ties: Ties
    method: IntervalMethod
    confidence_level: float
    rng: np.random.Generator | None


def _compare(
    first: FloatArray,
    second: FloatArray,
    goal: Goal,
    gamma: float,
    options: _IntervalOptions,
    **names: Any,
) -> Comparison:
    paired, ties = options["paired"], options["ties"]
    first, second = (as_pairs if paired else as_independent)(first, second)
    a, b = (first, second) if goal == "maximize" else (-first, -second)
    forward = outperforming_interval(a, b, **options)
    return Comparison(
        **names,
        scores_a=first,
        scores_b=second,
        goal=goal,
        paired=paired,
        probability=probability_of_outperforming(a, b, paired=paired, ties=ties),
        reverse_probability=probability_of_outperforming(b, a, paired=paired, ties=ties),
        interval=forward,
        reverse=_reverse(forward, a, b, options),
        gamma=gamma,
    )


def _reverse(
    forward: Interval, a: FloatArray, b: FloatArray, options: _IntervalOptions
) -> Interval:
    """Interval of P(B>A); where B outperforms A, to the last bit as were B named first."""
    # With strict ties, what A has not won B has not won either; the bootstrap is drawn once.
    b_may_win = options["method"] != "bootstrap" and forward.high * ROUNDING <= 0.5
    if options["ties"] == "half" and not b_may_win:
        return forward.mirrored()
    return outperforming_interval(b, a, **options)


def _align(scores_a: Any, scores_b: Any, paired: bool) -> tuple[FloatArray, FloatArray]:
    """Scores as arrays; those that carry their seeds are paired by seed."""
    if isinstance(scores_a, Mapping) != isinstance(scores_b, Mapping):
        with_seeds, without = ("A", "B") if isinstance(scores_a, Mapping) else ("B", "A")
        raise UnpairedScores(
            f"the scores of {with_seeds} come with their seeds, those of {without} do not",
            "Pass two dicts of {seed: score}, or two plain sequences in the same order",
        )
    if isinstance(scores_a, Mapping) and isinstance(scores_b, Mapping):
        if paired:
            _check_same_seeds(list(scores_a), list(scores_b))
            scores_b = [scores_b[seed] for seed in scores_a]
        else:
            scores_b = list(scores_b.values())
        scores_a = list(scores_a.values())
    elif paired and _has_seeds(scores_a) and _has_seeds(scores_b):
        _check_same_seeds(list(scores_a.index), list(scores_b.index))
        scores_b = scores_b.reindex(scores_a.index)
    first, second = as_scores(scores_a, "scores_a"), as_scores(scores_b, "scores_b")
    if paired:
        check_paired(first.size, second.size)
    stored = (np.asarray(scores).dtype for scores in (scores_a, scores_b))
    first, second = merge_stored((first, second), stored)
    if min(first.size, second.size) < 2:
        raise TooFewRuns(
            f"there are {first.size} run(s) of A and {second.size} of B, and one run says nothing "
            "about the next",
            f"Run both with several seeds; {noether_sample_size()} are a good start",
        )
    return first, second


def _check_paired(paired: object) -> None:
    if not isinstance(paired, bool):
        raise InvalidInput(f"paired is {paired!r}", "Pass True or False")


def _has_seeds(scores: Any) -> bool:
    """Whether scores are a pandas Series."""
    return hasattr(scores, "reindex") and hasattr(scores, "index")


def _check_same_seeds(seeds_a: list[Any], seeds_b: list[Any]) -> None:
    if len(set(seeds_a)) < len(seeds_a) or len(set(seeds_b)) < len(seeds_b):
        raise UnpairedScores(
            "some seeds stand more than once, so runs cannot be paired by seed",
            "Pass one score per seed, or plain arrays in the same order",
        )
    unmatched = set(seeds_a) ^ set(seeds_b)
    if unmatched:
        first = ", ".join(map(str, sorted(unmatched, key=str)[:5]))
        raise UnpairedScores(
            f"{len(unmatched)} seed(s) have a score of A or of B only (first: {first})",
            "Pass the seeds that both were run with, or paired=False if the runs are independent",
        )


def compare_runs(
    runs: Any,
    a: str,
    b: str,
    *,
    task: str | None = None,
    paired: bool | None = None,
    drop_incomplete: bool = False,
    gamma: float = 0.75,
    confidence_level: float = 0.95,
    ties: Ties = "half",
    interval: IntervalMethod = "exact",
    margin: float | None = None,
    train_size: int | None = None,
    test_size: int | None = None,
    rng: np.random.Generator | None = None,
) -> Comparison | TaskComparisons:
    """Compare two algorithms of a table of runs, on one task or on each.

    Parameters
    ----------
    runs
        `Runs`, or anything that `read_runs` reads: a path, a data frame, a dict.
    a, b
        Names of the algorithms.
    task
        Look at this task only.
    paired
        Pair runs with the same replicate. By default they are paired if the table has a replicate
        column, and compared all with all if not.
    drop_incomplete
        Leave out failed runs, and replicates that only one of the two has; a caveat counts them.
    gamma, confidence_level, ties, interval, margin, train_size, test_size, rng
        As in `compare`; a store knows its sizes.

    Returns
    -------
    A `Comparison` if there is one task, `TaskComparisons` if there are several.

    Examples
    --------
    >>> runs = {"new": [9, 8, 9, 9, 8, 9, 8], "old": [7, 6, 8, 8, 7, 7, 5]}
    >>> compare_runs(runs, "new", "old").winner_name
    'new'
    """
    table = runs if isinstance(runs, Runs) else read_runs(runs)
    paired = table.replicates is not None if paired is None else paired
    check_gamma(gamma)
    if margin is not None:
        check_positive("margin", margin)
    _check_paired(paired)
    options = _IntervalOptions(
        paired=paired, ties=ties, method=interval, confidence_level=confidence_level, rng=rng
    )
    sizes = _require_pairs(make_resplit(train_size, test_size), paired)
    comparisons = []
    tasks = table.tasks_of(a, b) if task is None else (task,)
    for name in tasks:
        take = table.pair if paired else table.separate
        scores = take(a, b, name, drop_incomplete=drop_incomplete)
        names = {"a": a, "b": b, "metric": table.metric, "task": name}
        comparison = _compare(scores.a, scores.b, table.goal, gamma, options, **names)
        comparison = replace(
            comparison, margin=margin, withstands_gaps=withstands(comparison, scores.lacking)
        )
        comparison = _add_scope(comparison, table, sizes)
        doubts = (*find_doubts(comparison), *scores.notes, *_doubts_about_tasks(table, tasks, task))
        doubts = (*doubts, *_doubts_about_table(table, paired, scores.n_dropped))
        comparisons.append(replace(comparison, caveats=doubts))
    return comparisons[0] if len(comparisons) == 1 else TaskComparisons(tuple(comparisons))


def _add_scope(comparison: Comparison, table: Runs, sizes: Resplit | None) -> Comparison:
    """Say what varied on the comparison's task, and what that tells of data like these."""
    task = comparison.task
    if sizes and task in table.fixed_splits:
        raise InvalidInput(
            f"all runs{f' on {task!r}' if task else ''} share one split, so sizes cannot make them "
            "tell of other data like these",
            "Leave out --train-size and --test-size, or let the study redraw the split",
        )
    known = table.scope_on(task)
    varied = known.varied
    if sizes and not divides_anew(varied):
        varied = (SPLITS, *(word for word in varied if word != RUNS))
    comparison = replace(comparison, varied=varied, shared=known.about)
    return add_population(comparison, sizes or table.resplits.get(task))


def _doubts_about_tasks(table: Runs, tasks: Sequence[str], asked: str | None) -> Iterator[str]:
    """Name the tasks on which neither algorithm was scored."""
    without = [name for name in table.tasks if name not in tasks]
    if without and asked is None:
        yield f"nothing is said of {enumerate_names(without)}, where no {table.metric} was measured"


def _doubts_about_table(table: Runs, paired: bool, n_dropped: int) -> Iterator[str]:
    yield from table.notes
    if n_dropped:
        yield (
            f"{n_dropped} incomplete run(s) were left out: if they failed because they were going "
            "badly, the comparison flatters whoever failed more"
        )
    if table.replicates is None and paired:
        yield (
            "the table has no replicate column: runs were paired in the order of its rows, which "
            "is right only if row i of both shares its seeds"
        )
    if table.replicates is None and not paired:
        yield (
            "the table has no replicate column, so runs were compared all with all; pairs that "
            "share their seeds would show smaller differences"
        )
    yield from doubt_goal(table)
