"""Reasons to doubt what the best of n is said to be."""

from collections.abc import Iterator, Sequence

import numpy as np

from outperform.questions.best_of.result import BestOf
from outperform.questions.result import doubt_metric, join_caveats
from outperform.stats import Estimate, expected_best_of, normality_pvalue
from outperform.stats.checks import merge_ties
from outperform.stats.variances import count_far_above
from outperform.wording import count

_FEW = 10  # runs
_WEAK = 0.3  # correlation below which validation hardly chooses
_NOT_NORMAL = 0.05
_ROUNDING = 1e-9

# Shares of 95% intervals that hold the truth, by n as a share of the runs: of normal scores, with
# validation and test the same, and correlated by one half. Simulated: see docs/statistics.md.
_COVERAGE = (
    (0.75, {"percentile": "45–80%", "jackknife": "71–86%"}),
    (0.35, {"percentile": "63–87%", "jackknife": "79–89%"}),
    (0.15, {"percentile": "80–90%", "jackknife": "88–92%"}),
    (0.07, {"percentile": "89–91%", "jackknife": "92–94%"}),
)


def doubt_best(result: BestOf, notes: Sequence[str], n_dropped: int) -> Iterator[str]:
    """Every doubt that the runs of one algorithm, and what they were taken from, give rise to."""
    if result.same_scores:
        yield (
            f"runs are chosen and reported by the same {result.metric}: the best of them looks "
            "better than it will be on other data; if there are validation scores, name their "
            "column (--validation, or validation= of read_runs)"
        )
    elif np.array_equal(result.validation, result.test) and np.ptp(result.test) > 0:
        yield (
            f"{result.chosen_by} and {result.metric} are the same in every run: if one is a copy, "
            "runs are chosen by what is reported, and the best looks better than it will be on "
            "other data"
        )
    yield from _doubt_budget(result)
    yield from _doubt_scores(result)
    yield from notes
    if n_dropped:
        yield _describe_missing(result, n_dropped)
    yield from doubt_metric(result.metric, result.goal)


def _describe_missing(result: BestOf, n_dropped: int) -> str:
    """How much less is to be expected if the runs that are missing are as bad as the worst."""
    worst = {"maximize": np.min, "minimize": np.max}
    valid, test = worst[result.validation_goal](result.validation), worst[result.goal](result.test)
    value = expected_best_of(
        result.n,
        np.append(result.validation, np.full(n_dropped, valid)),
        np.append(result.test, np.full(n_dropped, test)),
        estimator=result.estimator,
        goal=result.validation_goal,
    )
    return (
        f"{count(n_dropped, 'incomplete run was', 'incomplete runs were')} left out: a candidate "
        "that fails is part of the budget too; with each as bad as the worst of the others, the "
        f"best of {result.n} is expected to reach {value:.4g}"
    )


def join_doubts(
    results: Sequence[BestOf], probability: Estimate | None = None, are_missing: bool = False
) -> tuple[str, ...]:
    """Doubts about all, those about single algorithms, and that one side always wins.

    Of two, runs may be missing.
    """
    doubts = join_caveats({result.algorithm: result.caveats for result in results})
    if are_missing:
        doubts += (
            "intervals of the difference, and of the chance, hold with missing runs left out and "
            "with each as bad as the worst of both; all else is of the runs that are left",
        )
    if probability is None or probability.interval.high - probability.interval.low >= _ROUNDING:
        return doubts
    return (
        *doubts,
        "the same side wins in every resample, so the interval of the chance collapses to a "
        "point: more runs may show exceptions",
    )


def _doubt_budget(result: BestOf) -> Iterator[str]:
    most, m = max(result.asked), result.n_runs
    if most > m and result.estimator == "v":
        yield (
            f"n = {most} is more than the {m} runs at hand: none of them shows how good the best "
            "of so many can be, and the estimate is too low"
        )
    elif 2 * most > m and result.estimator == "v":
        yield (
            f"n = {most} is more than half of the {m} runs, where the estimator v is too low; u is "
            "without bias"
        )
    if m < _FEW:
        yield f"{m} runs say little: train more than {_FEW}"
    covered = next((covered for share, covered in _COVERAGE if most >= share * m), None)
    if covered and result.estimator != "gaussian":
        method = result.interval.method
        better = f"; interval jackknife: {covered['jackknife']}"
        yield (
            f"with n = {most} of {m} runs the interval is too narrow: in simulations of normal "
            f"scores, 95% intervals held the truth {covered[method]} of the time"
            f"{better if method == 'percentile' else ''}; with heavy tails, less often"
        )


def _doubt_scores(result: BestOf) -> Iterator[str]:
    """How little validation scores tell of test scores and of one another; and odd shapes."""
    correlation = result.correlation  # 1 or NaN where they are the same scores
    start = f"validation and test scores correlate by {correlation:.2f}"
    if correlation < -_WEAK:
        yield f"{start}: runs that are better on validation tend to be worse on test"
    elif correlation < _WEAK:  # not where it is NaN
        yield (
            f"{start} only: choosing by {result.chosen_by} is little better than choosing at "
            "random, so more candidates hardly help"
        )
    (merged,) = merge_ties(result.validation)
    n_different = np.unique(merged).size
    if n_different == 1:
        yield f"all runs of {result.algorithm} have the same {result.chosen_by}: nothing is chosen"
    elif 2 * n_different < result.n_runs and not result.same_scores:
        yield (
            f"the {result.n_runs} runs have {n_different} different values of {result.chosen_by}: "
            "of tied runs, any is equally likely to be chosen"
        )
    if result.estimator == "gaussian":
        pvalue = min(normality_pvalue(scores) for scores in (result.validation, result.test))
        if pvalue < _NOT_NORMAL:
            yield (
                f"the scores are not normal (Shapiro–Wilk p = {pvalue:.2g}), as the estimator "
                "gaussian takes them to be: use v or u"
            )
    n_far = count_far_above(result.test if result.goal == "maximize" else -result.test)
    if n_far and result.n_runs >= _FEW:
        yield (
            f"{n_far} of {result.n_runs} runs are far better than the others (more than 3 "
            "interquartile ranges beyond the quartile): the best of n depends on such luck, and "
            "intervals hold the truth less often than they say"
        )
