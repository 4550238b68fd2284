"""Reasons to doubt a comparison, in words: every broken assumption becomes a caveat."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from outperform.questions.compare.result import Comparison
from outperform.runs import Goal, Runs, known_goal
from outperform.runs.columns import read_name
from outperform.runs.repeated_searches import Searches
from outperform.runs.scope import FOLDS
from outperform.runs.suspicions import mixes_scales
from outperform.stats import (
    EquivalenceTest,
    clopper_pearson_interval,
    smallest_conclusive,
)
from outperform.stats.checks import FloatArray, are_tied
from outperform.wording import enumerate_names

_OF_INDEPENDENT_RUNS = ("brunner-munzel", "brunner-munzel permutation", "welch t")
_SHARE_OF_TIES = 0.25  # from here on the metric is too coarse to tell the algorithms apart
_PERCENTILES = ("percentile", "bootstrap")
_FEW_LOSSES = 2  # expected, at which percentile intervals cover 87% instead of 95%, for any n
_FEW_UNPAIRED = 10  # runs, below which the bootstrap of unpaired runs is liberal
LUCK = 0.1  # of a search, in the variance of a pair, to say what it would do
_INFLATION = 1.02  # of alpha, from which on false alarms are more than rounding shows


def find_doubts(comparison: Comparison) -> Iterator[str]:
    """Every caveat that the scores themselves give rise to."""
    a, b, n_ties = comparison.scores_a, comparison.scores_b, comparison.n_ties
    if n_ties == comparison.n_pairs if comparison.paired else np.array_equal(a, b):
        yield (
            f"all {a.size} scores of {comparison.a} and {comparison.b} are the same: these are the "
            "same runs under two names, or the same algorithm"
        )
    if comparison.scope_here.divides_anew:
        yield from _doubt_splits(comparison)
    if not comparison.withstands_gaps:
        yield (
            f"{_lead(comparison)}, but not if the runs that it lacks had gone badly: complete "
            "them, or compare on replicates that were fixed before any run failed"
        )
    if not comparison.conclusive and comparison.n_decided:
        yield _describe_too_few(comparison)
    yield from _doubt_interval(comparison)
    if comparison.paired and _SHARE_OF_TIES * comparison.n_pairs <= n_ties < comparison.n_pairs:
        yield (
            f"{n_ties} of {comparison.n_pairs} pairs are tied: the metric is coarse; a larger test "
            "set would tell more"
        )
    yield from _doubt_means(comparison)
    if comparison.combined is not None:
        yield _describe_one_search(comparison)
    yield from doubt_scores(comparison.a, a)
    yield from doubt_scores(comparison.b, b)
    blind = [test.name for test in comparison.tests if test.name in _OF_INDEPENDENT_RUNS]
    if comparison.paired and blind:
        yield (
            f"of the tests, {' and '.join(blind)} took the runs as independent, although they are "
            "paired, and so saw less than the verdict did"
        )
    equivalences = [test for test in comparison.tests if isinstance(test, EquivalenceTest)]
    if any(math.isnan(test.pvalue) for test in equivalences):
        yield (
            "differences that do not vary, or of which some are missing, tell nothing of others: "
            "no equivalence is shown by them"
        )
    if comparison.rests_on_one_search:
        yield from _doubt_one_search(comparison)


def _doubt_splits(comparison: Comparison) -> Iterator[str]:
    """What is not known of data like these, or can never be, where runs divide them anew."""
    if FOLDS in comparison.scope_here.varied:
        yield (
            "folds share most of their training data, so that runs are not independent, not even "
            "for this dataset"
        )
    if comparison.population is None and comparison.paired:
        yield (
            "every run divides the same dataset anew: more runs make it surer which is better on "
            "this dataset, and say nothing about other data like it; for these, add --train-size "
            "and --test-size (train_size and test_size in Python)"
        )
    elif comparison.population is None:
        yield (
            "every run divides the same dataset anew: the verdict is about this dataset, and only "
            "paired runs can say anything about other data like it"
        )


def _describe_too_few(comparison: Comparison) -> str:
    n, fewest = comparison.n_decided, smallest_conclusive(comparison.alpha)
    at_level = f"at α = {comparison.alpha:.2g}, whoever wins: at least {fewest}"
    # Many tasks with so few may show something together.
    of_task = " of one task" if comparison.task else ""
    if comparison.paired:
        what = "pairs" if n == comparison.n_pairs else "untied pairs"
        return f"{n} {what}{of_task} cannot be significant {at_level} are needed"
    return (
        f"{n} runs{of_task} are too few for an interval {at_level} of each are needed; the test "
        "brunner-munzel-permutation is exact with any number"
    )


def _doubt_interval(comparison: Comparison) -> Iterator[str]:
    """Where an interval is shorter than what is known, or finds more differences than it says."""
    interval, alpha = comparison.interval, comparison.alpha
    method = interval.method
    best = max(comparison.probability, comparison.reverse_probability)
    n = min(comparison.scores_a.size, comparison.scores_b.size)
    everything = "every comparison was won by the same side"
    if best == 1 and interval.low == interval.high:
        # The bootstrap knows nothing of what it has never seen: a loss.
        low = clopper_pearson_interval(n, n, confidence_level=interval.confidence_level).low
        yield (
            f"{everything}, so the {method} interval collapses to a point: its true "
            f"chance to win may be as low as {low:.2f} (Clopper–Pearson)"
        )
    elif best == 1 and method == "brunner-munzel":
        yield (
            f"{everything}, so no variation was seen: the interval is that of {n} independent "
            "pairs (Clopper–Pearson)"
        )
    elif method in _PERCENTILES and round(n * (1 - best), 9) <= _FEW_LOSSES < n / 2:
        yield (
            f"percentile intervals are too short where so few are lost (P = {best:.2f} with {n} "
            f"runs): prefer interval {'exact' if comparison.paired else 'brunner-munzel'}"
        )
    if comparison.winner and method != "exact" and comparison.false_alarms > _INFLATION * alpha:
        tied = f", {comparison.n_ties} of them tied," if comparison.n_ties else ""
        yield (
            f"with {comparison.n_pairs} pairs{tied} the {method} interval finds a "
            f"difference between equals {comparison.false_alarms:.1%} of the time, not "
            f"{alpha:.1%}; the exact interval does not"
        )
    if comparison.winner and method == "bootstrap" and n < _FEW_UNPAIRED:
        yield (
            f"with {n} runs the bootstrap interval is too narrow: between equals it finds a "
            "difference more often than it says (10% instead of 5% at 6 runs against 50); "
            "interval brunner-munzel does not"
        )


def _doubt_means(comparison: Comparison) -> Iterator[str]:
    """Where means and wins speak for different sides, or only means speak."""
    difference, winner = comparison.difference, comparison.winner
    by_mean = "a" if (difference.value > 0) == (comparison.goal == "maximize") else "b"
    better = comparison.a if by_mean == "a" else comparison.b
    counts = "the verdict counts wins, whatever their size"
    if winner and difference.value and winner != by_mean:
        yield (
            f"{better} has the better mean, although {comparison.winner_name} wins more often, for "
            f"it loses by more than it wins by: {counts}"
        )
    if comparison.interval.method == "anytime":
        yield (
            "the interval of the mean difference, and any test, hold for one look only, unlike the "
            "interval of P(A>B)"
        )
    elif not winner and comparison.better_mean:
        # Means over searches may favour another than the runs compared do.
        better = comparison.a if comparison.better_mean == "a" else comparison.b
        # Either keeps alpha; where a few runs diverge and rule the means, it is nearly both.
        yield (
            f"the interval of the mean difference excludes 0, in favour of {better}: {counts}; "
            "wins and means are two chances to differ, and equals do by one of them in up to "
            f"{2 * comparison.alpha:.1%} of studies"
        )


def _describe_one_search(comparison: Comparison) -> str:
    """What an interval from runs after one search does not know of other searches."""
    from outperform.stats import coverage_after_one_search

    n, level = comparison.n_pairs, comparison.interval.confidence_level
    covers = coverage_after_one_search(n, LUCK, confidence_level=level)
    # Few pairs vary so much that the luck of one search is lost in it.
    rarely = "the more there are, the less often it holds the mean over other searches"
    if covers < level:
        rarely = (
            f"if that makes up {LUCK:.0%} of their variance, it holds the mean over other "
            f"searches in {covers:.0%} instead of {level:.0%}"
        )
    return (
        "the interval with simulated searches (mean of fix-hopt, standard deviation averaged with "
        "simulated-hopt) counts the luck of tuning in the spread of a pair, but all pairs share "
        f"one search: {rarely}; several searches tell"
    )


def _doubt_one_search(comparison: Comparison) -> Iterator[str]:
    """How often wins after one search of each side would tell equals apart, tuned anew."""
    from outperform.stats import Criteria, NormalScores, detection_rate  # only here, of studies

    n, alpha = comparison.n_pairs, comparison.alpha
    if not comparison.winner or not comparison.paired or comparison.interval.method != "exact":
        return
    scores = NormalScores(math.sqrt(1 - LUCK), math.sqrt(LUCK))
    criteria = Criteria(gamma=0.5, alpha=alpha)
    errs = 2 * float(detection_rate("verdict", n, 0.5, scores=scores, criteria=criteria))
    if errs > _INFLATION * alpha:
        yield describe_luck(comparison.winner_name, f"{n} pairs find a winner", errs, alpha)


def describe_luck(winner: str | None, what: str, errs: float, alpha: float) -> str:
    """Say how often something would find a winner between equals by the luck of one search."""
    return (
        f"{winner} wins with what one search found: if the luck of searches makes up {LUCK:.0%} of "
        f"the variance of a pair, {what} between equals, were both tuned anew, in {errs:.0%} of "
        f"studies instead of {alpha:.0%}; only more searches tell"
    )


def doubt_searches(comparison: Comparison, searches: Searches | None) -> Iterator[str]:
    """What is wrong with the searches that a comparison rests on, where there are several."""
    if searches is None or not (comparison.paired or comparison.scope_here.tuned_once):
        return
    tested = comparison.searches
    n_tested = len(searches.pair(comparison.a, comparison.b, comparison.task)[0])
    if n_tested < searches.n_searches:
        yield (
            f"of {searches.n_searches} searches of each, {searches.n_searches - n_tested} have "
            f"failed or missing runs of {comparison.a} or {comparison.b}: complete them, or "
            "nothing is shown over searches, since those that went badly may be the missing ones"
        )
    if tested is not None and tested.shown and n_tested < smallest_conclusive(comparison.alpha):
        yield (
            f"{n_tested} searches of each are few: the interval over them is right if the means "
            "of searches are normal, which so few cannot show"
        )


def doubt_scores(name: str, scores: FloatArray) -> Iterator[str]:
    """Whether all runs have the same score, or some a 0 that may mean that there is none."""
    if scores.size > 2 and are_tied(float(scores.min()), float(scores.max())):
        yield (
            f"all {scores.size} runs of {name} have the same score {scores[0]:g}: does the seed "
            "reach the training?"
        )
    n_zeros = scores.size - np.count_nonzero(scores)
    if not n_zeros:
        return
    others = np.abs(scores[scores != 0])
    if n_zeros < others.size > 2 and others.min() > np.ptp(others):
        yield (
            f"{n_zeros} of {scores.size} runs of {name} have the score 0, far from all others: if "
            "they have failed, leave their scores empty, so that they are not taken for measured"
        )


def doubt_units(comparison: Comparison) -> Iterator[str]:
    """Whether scores of which nothing else is known look like fractions beside per cent."""
    a, b = comparison.scores_a, comparison.scores_b
    if mixes_scales(np.concatenate((a, b))):
        yield (
            f"scores of {comparison.a} lie between {a.min():g} and {a.max():g}, those of "
            f"{comparison.b} between {b.min():g} and {b.max():g}: if these are fractions and per "
            "cent, give both in one unit, as otherwise only the units differ"
        )


def doubt_metric(metric: str, goal: Goal) -> Iterator[str]:
    """Whether a metric goes the other way than its name says, or was chosen by what it tells."""
    if metric != "score" and known_goal(metric) not in (None, goal):
        yield f"{metric!r} usually is to {known_goal(metric)}, but was told to {goal}"
    name = read_name(metric)
    if name.data:
        yield (
            f"{metric!r} is not of test data by its name: what was trained, tuned or stopped by it "
            "looks better than it is, most of all what was tried most"
        )
    elif name.is_best:
        yield (
            f"{metric!r} is the best of several by its name, such as of all epochs: if test data "
            "chose it, it is better than what will be met, most of all for what was tested most"
        )


def doubt_tasks(table: Runs, tasks: Sequence[str]) -> Iterator[str]:
    """Name the tasks on which neither algorithm was scored."""
    without = [name for name in table.tasks if name not in tasks]
    if without:
        metrics = {table.metric_on(name) for name in without}
        metric = metrics.pop() if len(metrics) == 1 else "score"
        yield f"nothing is said of {enumerate_names(without)}, where no {metric} was measured"


def _lead(comparison: Comparison) -> str:
    """Who would win, or have the better mean, if no run were incomplete."""
    whole = comparison.of_runs_left
    name = comparison.a if whole.favoured == "a" else comparison.b
    return f"{name} would {'win' if whole.winner else 'have the better mean'}"
