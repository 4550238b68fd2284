"""Does A outperform B: from two arrays of scores, or from a table of runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from outperform.errors import InvalidInput, TooFewRuns, UnpairedScores
from outperform.questions.compare.doubts import (
    doubt_searches,
    doubt_table,
    doubt_tasks,
    doubt_units,
    find_doubts,
)
from outperform.questions.compare.missing_runs import (
    bound_chances,
    forget_equivalence,
    forget_pvalue,
)
from outperform.questions.compare.named_tests import TestName, apply_test
from outperform.questions.compare.result import Comparison
from outperform.questions.compare.task_results import TaskComparisons
from outperform.questions.result import doubt_metric
from outperform.runs import Goal, Runs
from outperform.runs.pairing import PairedScores, SeparateScores
from outperform.runs.repeated_searches import Searches
from outperform.runs.row_kinds import refuse_metrics
from outperform.runs.scope import RUNS, SPLITS, UNKNOWN, Resplit, Scope
from outperform.runs.suspicions import Sides, ask, find_margin_suspicions
from outperform.stats import (
    EquivalenceTest,
    HypothesisTest,
    ResampledDifference,
    equivalence_test,
    noether_sample_size,
    resampled_difference,
)
from outperform.stats.alignment import align_series, check_same_labels, is_series
from outperform.stats.checks import (
    FloatArray,
    as_samples,
    as_scores,
    check_choice,
    check_confidence,
    check_gamma,
    check_list,
    check_paired,
    check_positive,
    merge_pairs,
    merge_stored,
    merge_ties,
)
from outperform.stats.dependent_replicates import cautious_alpha
from outperform.stats.effect_sizes import find_difference
from outperform.stats.outperforming import IntervalMethod, Ties, find_chances
from outperform.store.store import read_runs
from outperform.wording import count, enumerate_names

if TYPE_CHECKING:
    from outperform.stats import CombinedDifference


@dataclass(frozen=True, slots=True)
class Terms:
    """How scores are compared, whatever scores they are."""

    paired: bool
    gamma: float
    confidence_level: float
    ties: Ties = "half"
    interval: IntervalMethod = "exact"
    margin: float | None = None
    sizes: Resplit | None = None
    tests: Sequence[TestName] = ()
    equivalence: float | None = None
    rng: np.random.Generator | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.paired, bool):
            raise InvalidInput(f"paired is {self.paired!r}", "Pass True or False")
        check_gamma(self.gamma)
        check_confidence(self.confidence_level)
        if self.margin is not None:
            check_positive("margin", self.margin)
        check_list("tests", self.tests)
        if self.sizes is not None and not self.paired:
            # They can tell nothing, and the answer must not seem to hold for other data.
            raise InvalidInput(
                "the sizes of the sets tell what holds for other data only where runs are paired",
                "Pair the runs that share a split (without --unpaired, with --replicate), or leave "
                "out --train-size and --test-size (train_size and test_size in Python)",
            )


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
    tests: Sequence[TestName] = (),
    equivalence: float | None = None,
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
        ``"exact"``, ``"percentile"`` (of Bouthillier et al. 2021), ``"wilson"`` or ``"anytime"``
        for pairs; ``"brunner-munzel"`` (which is also what ``"exact"`` stands for there) or
        ``"bootstrap"`` for unpaired runs.
    margin
        Smallest mean difference that matters, in the metric's unit, beside gamma: an advantage
        may be small and yet win every time.
    train_size, test_size
        Different examples that each run trained on, and that it was tested on, where one dataset
        was divided anew for every pair: then it is also told what holds for other data like it.
    tests
        Hypothesis tests to add, such as ``"wilcoxon"``: see `outperform.stats` for each.
    equivalence
        Test that the means differ by less than this, in the metric's unit.
    rng
        Draws for the bootstrap and the permutation tests; by default seeded with 0, so that the
        same scores always give the same verdict.

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
    sizes = make_resplit(train_size, test_size)
    terms = Terms(
        paired, gamma, confidence_level, ties, interval, margin, sizes, tests, equivalence, rng
    )
    scores = align_scores(scores_a, scores_b, paired=paired)
    scope = UNKNOWN if sizes is None else replace(UNKNOWN, varied=(SPLITS,))
    comparison = _compare(*scores, goal, terms, sizes, a="A", b="B", scope_here=scope)
    doubts = (*find_doubts(comparison), *doubt_units(comparison))
    return replace(comparison, caveats=doubts)


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


def _compare(
    first: FloatArray,
    second: FloatArray,
    goal: Goal,
    terms: Terms,
    resplit: Resplit | None,
    lacking: tuple[int, int] = (0, 0),
    **about: Any,
) -> Comparison:
    """Compare scores, but for the doubts about them; `about` is what else is known of them."""
    first, second = as_samples(first, "a"), as_samples(second, "b")  # finite and not too large
    first, second = (merge_pairs if terms.paired else merge_ties)(first, second)
    a, b = (first, second) if goal == "maximize" else (-first, -second)
    how: dict[str, Any] = {"paired": terms.paired, "confidence_level": terms.confidence_level}
    probability, reverse_probability, interval, reverse = find_chances(
        a, b, ties=terms.ties, method=terms.interval, rng=terms.rng, **how
    )
    if any(lacking):
        intervals = interval, reverse
        interval, reverse = bound_chances(intervals, (a, b), lacking, terms.ties, terms.paired)
    population = None
    if resplit is not None and terms.paired:
        population = find_population(first, second, resplit, terms.confidence_level)
        population = forget_pvalue(population, goal, lacking)
    tests: list[HypothesisTest | EquivalenceTest] = []
    if terms.tests:
        tests += _apply_tests(a, b, terms, resplit, lacking)
    if terms.equivalence is not None:
        test = equivalence_test(first, second, margin=terms.equivalence, **how)
        tests.append(forget_equivalence(test, lacking))
    return Comparison(
        **about,
        scores_a=first,
        scores_b=second,
        goal=goal,
        paired=terms.paired,
        probability=probability,
        reverse_probability=reverse_probability,
        interval=interval,
        reverse=reverse,
        difference=find_difference(first, second, **how),
        gamma=terms.gamma,
        margin=terms.margin,
        population=population,
        lacking=lacking,
        tests=tuple(tests),
    )


def _apply_tests(
    a: FloatArray,
    b: FloatArray,
    terms: Terms,
    resplit: Resplit | None,
    lacking: tuple[int, int],
) -> Iterator[HypothesisTest]:
    # Every task draws the same, so that none depends on those before it.
    rng = np.random.default_rng(0) if terms.rng is None else deepcopy(terms.rng)
    for name in terms.tests:
        yield apply_test(a, b, name, paired=terms.paired, rng=rng, resplit=resplit, lacking=lacking)


def find_population(
    a: FloatArray, b: FloatArray, resplit: Resplit, confidence_level: float
) -> ResampledDifference:
    """What holds for data like these, where pairs are re-splits of one dataset."""
    level = 1 - cautious_alpha(1 - confidence_level)
    return resampled_difference(
        a,
        b,
        n_train=resplit.n_train,
        n_test=resplit.n_test,
        confidence_level=min(level, 1 - 2**-53),  # below 1, which rounding may make of it
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
    tests: Sequence[TestName] = (),
    equivalence: float | None = None,
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
    gamma, confidence_level, ties, interval, margin, train_size, test_size, tests, equivalence, rng
        As in `compare`; a store knows its sizes, and takes the anytime interval where a sequential
        test has looked at its runs.

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
    if table.stopped_early and paired and interval == "exact":
        # The exact one holds for a single look, and these were looked at often.
        interval = "anytime"
    sizes = make_resplit(train_size, test_size)
    terms = Terms(
        paired, gamma, confidence_level, ties, interval, margin, sizes, tests, equivalence, rng
    )
    tasks = table.tasks_of(a, b) if task is None else (task,)
    _check_pairs(table)
    if len(tasks) > 1:
        _check_unit(table, tasks, terms)
    about_tasks = () if task is not None else tuple(doubt_tasks(table, tasks))
    comparisons = []
    for name in tasks:
        take = table.pair if paired else table.separate
        scores = take(a, b, name, drop_incomplete=drop_incomplete)
        comparisons.append(compare_on_task(table, scores, (a, b), name, terms, about_tasks))
    return comparisons[0] if len(comparisons) == 1 else TaskComparisons(tuple(comparisons))


def _check_pairs(table: Runs) -> None:
    """Refuse one run after each of several searches, which are pairs of another design."""
    if table.searches is None or len(set(table.replicates or ())) != 1:
        return
    n = table.searches.n_searches
    raise TooFewRuns(
        f"there is one run of each algorithm after each of {n} searches, and pairs are those after "
        "the first",
        f'Write kind = "ideal" and replicates = {n} into the study and run it again: that is one '
        "run after each search, and no fit is done twice",
    )


def _check_unit(table: Runs, tasks: Sequence[str], terms: Terms) -> None:
    """Refuse one margin for scores of different metrics."""
    metrics = [*dict.fromkeys(map(table.metric_on, tasks))]
    given = {"margin": terms.margin, "equivalence": terms.equivalence}
    for name, value in given.items():
        if value is not None and len(metrics) > 1:
            raise InvalidInput(
                f"{name} is {value:g}, which cannot be in the unit of each of {len(metrics)} "
                f"metrics ({enumerate_names(metrics)})",
                f"Ask about the tasks one by one with --on TASK (task= in Python), or leave out "
                f"--{name}",
            )


def compare_on_task(
    table: Runs,
    scores: PairedScores | SeparateScores,
    names: tuple[str, str],
    task: str,
    terms: Terms,
    about_tasks: Sequence[str] = (),
) -> Comparison:
    """Compare two algorithms by their scores on one task of a table."""
    metric, goal = table.metric_on(task), table.goal_on(task)
    scope = table.scope_on(task) if terms.sizes is None else _find_resplit_scope(table, task)
    about: dict[str, Any] = {"a": names[0], "b": names[1], "metric": metric, "task": task}
    about |= {"scope_here": scope, "ruled_out": table.ruled_out.get((*names, task))}
    resplit = terms.sizes or table.resplits.get(task)
    comparison = _compare(scores.a, scores.b, goal, terms, resplit, scores.lacking, **about)
    if table.simulated is not None and terms.paired:
        comparison = replace(comparison, combined=_combine(table.simulated, table, comparison))
    if table.searches is not None:
        comparison = _add_searches(comparison, table.searches, terms)
    doubts = (
        *find_doubts(comparison),
        *scores.notes,
        *_ask_about_margins(table, comparison, terms),
        *doubt_searches(comparison, table.searches),
        *doubt_table(table, scores.n_dropped, paired=terms.paired),
        *about_tasks,
        *doubt_metric(metric, goal),
    )
    return replace(comparison, caveats=doubts)


def _ask_about_margins(table: Runs, comparison: Comparison, terms: Terms) -> tuple[str, ...]:
    """Refuse margins that seem to be in another unit than the scores; note what was accepted."""
    names, scores = (comparison.a, comparison.b), (comparison.scores_a, comparison.scores_b)
    sides = Sides(names, scores, comparison.metric, table.source, "")
    margins = {"margin": terms.margin, "equivalence": terms.equivalence}
    return ask(find_margin_suspicions(sides, margins), table.accepted)


def _combine(simulated: Runs, table: Runs, comparison: Comparison) -> CombinedDifference | None:
    """The estimate from these pairs and those with simulated searches, if there are enough."""
    a, b = comparison.a, comparison.b
    if comparison.n_pairs < 2 or not {a, b} <= {*simulated.algorithms}:
        return None
    simulated = replace(simulated, accepted=table.accepted)
    try:
        scores = simulated.pair(a, b, comparison.task, drop_incomplete=True)
    except (TooFewRuns, UnpairedScores):  # most of them failed, or are still to be done
        return None
    from outperform.stats import combine_designs  # only here, of studies

    return combine_designs(
        comparison.scores_a - comparison.scores_b,
        scores.a - scores.b,
        confidence_level=comparison.interval.confidence_level,
    )


def _add_searches(comparison: Comparison, searches: Searches, terms: Terms) -> Comparison:
    """Add what several searches of both show: search i of both is a pair, whatever runs are."""
    from outperform.stats import difference_over_searches, equivalence_over_searches  # of studies

    a, b = searches.pair(comparison.a, comparison.b, comparison.task)
    n_incomplete, once = searches.n_searches - len(a), comparison.scope_here.tuned_once
    if not once and (n_incomplete or not terms.paired):
        return comparison  # the runs are those of all searches that are there
    level, tests = comparison.interval.confidence_level, comparison.tests
    difference = difference_over_searches(a, b, confidence_level=level, n_incomplete=n_incomplete)
    if once and terms.equivalence is not None:
        tests = (*tests, equivalence_over_searches(difference, margin=terms.equivalence))
    return replace(comparison, searches=difference, tests=tests)


def _find_resplit_scope(table: Runs, task: str) -> Scope:
    """What varied on a task, and what is shared, where somebody says that splits varied."""
    if task in table.fixed_splits:
        raise InvalidInput(
            f"all runs{f' on {task!r}' if task else ''} share one split, so sizes cannot make them "
            "tell of other data like these",
            "Leave out --train-size and --test-size, or let the study redraw the split",
        )
    scope = table.scope_on(task)
    if scope.divides_anew:
        return scope
    return replace(scope, varied=(SPLITS, *(word for word in scope.varied if word != RUNS)))


def align_scores(scores_a: Any, scores_b: Any, *, paired: bool) -> tuple[FloatArray, FloatArray]:
    """Scores as arrays; those that carry their seeds are paired by seed."""
    if isinstance(scores_a, Mapping) != isinstance(scores_b, Mapping):
        with_seeds, without = ("A", "B") if isinstance(scores_a, Mapping) else ("B", "A")
        raise UnpairedScores(
            f"the scores of {with_seeds} come with their seeds, those of {without} do not",
            "Pass two dicts of {seed: score}, or two plain sequences in the same order",
        )
    if isinstance(scores_a, Mapping) and isinstance(scores_b, Mapping):
        if paired:
            refuse_metrics([*map(str, (*scores_a, *scores_b))], "A and B")
            check_same_labels([*scores_a], [*scores_b], "of A or of B")
            scores_b = [scores_b[seed] for seed in scores_a]
        else:
            scores_b = list(scores_b.values())
        scores_a = list(scores_a.values())
    elif paired:
        if is_series(scores_a):
            refuse_metrics([*map(str, scores_a.index)], "A and B")
        scores_a, scores_b = align_series(scores_a, scores_b, "of A or of B")
    first, second = as_scores(scores_a, "scores_a"), as_scores(scores_b, "scores_b")
    if paired:
        check_paired(first.size, second.size)
    stored = (np.asarray(scores).dtype for scores in (scores_a, scores_b))
    first, second = merge_stored((first, second), stored)
    if min(first.size, second.size) < 2:
        raise TooFewRuns(
            f"A has {count(first.size, 'run')} and B has {count(second.size, 'run')}, and one run "
            "says nothing about the next",
            f"Run both with several seeds; {noether_sample_size()} are a good start",
        )
    return first, second
