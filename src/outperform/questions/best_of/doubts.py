"""Reasons to doubt what the best of n is said to be."""

from collections.abc import Iterator, Sequence

import numpy as np

from outperform.questions.best_of.result import BestOf
from outperform.questions.compare.doubts import doubt_goal
from outperform.runs import Runs
from outperform.stats import Estimate, normality_pvalue
from outperform.stats.ties import merge_ties
from outperform.stats.variances import count_far_above

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


def find_best_of_doubts(found: BestOf) -> tuple[str, ...]:
    """Every caveat that the runs themselves give rise to."""
    return (
        *_same_scores(found),
        *_budget(found),
        *_coverage(found),
        *_correlation(found),
        *_ties(found),
        *_shape(found),
        *_tail(found),
    )


def doubt_chance(probability: Estimate) -> Iterator[str]:
    """Doubt that one side always wins."""
    interval = probability.interval
    if interval.high - interval.low < _ROUNDING:
        yield (
            "the same side wins in every resample, so the interval of the chance collapses to a "
            "point: more runs may show exceptions"
        )


def doubt_runs(table: Runs, n_dropped: int) -> Iterator[str]:
    """Doubts about what the runs were taken from."""
    yield from table.notes
    if n_dropped:
        yield (
            f"{n_dropped} incomplete run(s) were left out: a candidate that fails is part of the "
            "budget too"
        )
    yield from doubt_goal(table)


def list_doubts(results: Sequence[BestOf]) -> tuple[str, ...]:
    """Doubts about all, then those about single algorithms."""
    every = [doubt for doubt in results[0].caveats if all(doubt in r.caveats for r in results)]
    single = [
        f"{r.algorithm}: {doubt}" for r in results for doubt in r.caveats if doubt not in every
    ]
    return (*every, *single)


def _same_scores(found: BestOf) -> Iterator[str]:
    if found.same_scores:
        yield (
            f"runs are chosen and reported by the same {found.metric}: the best of them looks "
            "better than it will be on other data; if there are validation scores, name their "
            "column (--validation, or validation= of read_runs)"
        )


def _budget(found: BestOf) -> Iterator[str]:
    most = max(found.asked)
    if most > found.n_runs and found.estimator == "v":
        yield (
            f"n = {most} is more than the {found.n_runs} runs at hand: none of them shows how "
            "good the best of so many can be, and the estimate is too low"
        )
    elif 2 * most > found.n_runs and found.estimator == "v":
        yield (
            f"n = {most} is more than half of the {found.n_runs} runs, where the estimator v is "
            "too low; u is without bias"
        )
    if found.n_runs < _FEW:
        yield f"{found.n_runs} runs say little: train more than {_FEW}"


def _coverage(found: BestOf) -> Iterator[str]:
    if found.estimator == "gaussian":
        return
    most, method = max(found.asked), found.interval.method
    for share, covered in _COVERAGE:
        if most >= share * found.n_runs:
            better = f"; interval jackknife: {covered['jackknife']}"
            yield (
                f"with n = {most} of {found.n_runs} runs the interval is too narrow: in "
                f"simulations of normal scores, 95% intervals held the truth {covered[method]} of "
                f"the time{better if method == 'percentile' else ''}; with heavy tails, less often"
            )
            return


def _correlation(found: BestOf) -> Iterator[str]:
    correlation = found.correlation
    if found.same_scores or np.isnan(correlation):
        return
    if correlation < -_WEAK:
        yield (
            f"validation and test scores correlate by {correlation:.2f}: runs that are better on "
            "validation tend to be worse on test"
        )
    elif correlation < _WEAK:
        yield (
            f"validation and test scores correlate by {correlation:.2f} only: choosing by "
            f"{found.chosen_by} is little better than choosing at random, so more candidates "
            "hardly help"
        )


def _ties(found: BestOf) -> Iterator[str]:
    (merged,) = merge_ties(found.validation)
    n_different = np.unique(merged).size
    if n_different == 1:
        yield f"all runs of {found.algorithm} have the same {found.chosen_by}: nothing is chosen"
    elif 2 * n_different < found.n_runs and not found.same_scores:
        yield (
            f"the {found.n_runs} runs have {n_different} different values of {found.chosen_by}: "
            "of tied runs, any is equally likely to be chosen"
        )


def _shape(found: BestOf) -> Iterator[str]:
    if found.estimator != "gaussian":
        return
    pvalue = min(normality_pvalue(scores) for scores in (found.validation, found.test))
    if pvalue < _NOT_NORMAL:
        yield (
            f"the scores are not normal (Shapiro–Wilk p = {pvalue:.2g}), as the estimator gaussian "
            "takes them to be: use v or u"
        )


def _tail(found: BestOf) -> Iterator[str]:
    n_far = count_far_above(found.test if found.goal == "maximize" else -found.test)
    if n_far and found.n_runs >= _FEW:
        yield (
            f"{n_far} of {found.n_runs} runs are far better than the others (more than 3 "
            "interquartile ranges beyond the quartile): the best of n hangs on such luck, and "
            "intervals hold the truth less often than they say"
        )
