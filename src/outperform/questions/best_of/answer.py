"""The best of n, from a table of runs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from outperform.errors import InvalidInput, TooFewRuns
from outperform.questions.best_of.doubts import (
    doubt_chance,
    doubt_runs,
    find_best_of_doubts,
    list_doubts,
)
from outperform.questions.best_of.result import (
    SHOWN,
    BestOf,
    BestOfComparison,
    BestOfCurve,
    BestOfEach,
    BestOfResult,
)
from outperform.questions.decompose.shares import find_limits
from outperform.runs import Goal, Runs, known_goal
from outperform.runs.pairing import ValidatedScores
from outperform.stats import (
    BestOfEstimates,
    BestOfSpreads,
    best_of_probability,
    best_of_spreads,
    estimate_best_of,
    find_crossing,
)
from outperform.stats.best_of_n import BestOfEstimator, IntArray, as_budgets
from outperform.stats.best_of_resamples import BestOfInterval
from outperform.stats.checks import FloatArray, as_generator
from outperform.store.reading import read_runs

_EVERY = 100  # n up to which curves have a point at each
_N_MORE = 60  # points beyond
_N_EXPERIMENTS = 16  # sizes of experiments that are repeated


def best_of_runs(
    runs: Any,
    a: str | None = None,
    b: str | None = None,
    *,
    n: int | Sequence[int] = 5,
    task: str | None = None,
    estimator: BestOfEstimator = "v",
    interval: BestOfInterval = "jackknife",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    drop_incomplete: bool = False,
    rng: np.random.Generator | None = None,
) -> BestOfResult:
    """Say what to expect of the best of n candidates, chosen by validation scores (Boo_n).

    Parameters
    ----------
    runs
        `Runs`, or anything that `read_runs` reads: a path, a data frame, a dict.
    a, b
        Names of the algorithms; all of the table if none is named.
    n
        The budget: the number of candidates that a practitioner would train. Of several, the
        first is the one that sentences are about.
    task
        May be left out where there is only one.
    estimator
        ``"v"``, ``"u"`` or ``"gaussian"``, as in `expected_best_of`.
    interval
        ``"jackknife"``, or ``"percentile"``: the bootstrap's, which holds the truth less often.
    drop_incomplete
        Leave out failed runs; a caveat counts them.
    rng
        By default seeded with 0, so that the same runs give the same numbers.

    Returns
    -------
    A `BestOf` of one algorithm, a `BestOfComparison` of two that were named, or a `BestOfEach`.

    Examples
    --------
    >>> runs = {"new": [0.9, 0.8, 0.9, 0.7, 0.8, 0.9], "old": [0.7, 0.6, 0.8, 0.8, 0.7, 0.7]}
    >>> round(best_of_runs(runs, "new", n=3).value, 3)
    0.887
    """
    table = runs if isinstance(runs, Runs) else read_runs(runs)
    asked = tuple(int(size) for size in as_budgets(n, len(table), "v"))
    names = _choose_names(table, a, b)
    scores = [_take(table, name, task, drop_incomplete=drop_incomplete) for name in names]
    estimation = _Estimation(
        asked,
        estimator,
        interval,
        confidence_level,
        n_resamples,
        as_generator(rng),
        _find_limits(table, scores),
    )
    if b is not None:
        _check_alike(table, names, scores)
        return estimation.compare(table, names, task, scores)
    results = [
        estimation.estimate(table, name, task, taken)[0]
        for name, taken in zip(names, scores, strict=True)
    ]
    return results[0] if len(results) == 1 else BestOfEach(tuple(results), list_doubts(results))


def trace_spreads(found: BestOf, *, rng: np.random.Generator) -> BestOfSpreads:
    """Repeat the whole experiment with fewer runs: how the ways to report it vary."""
    sizes = np.unique(np.geomspace(1, found.n_runs, _N_EXPERIMENTS).round().astype(np.int64))
    return best_of_spreads(
        sizes,
        found.n,
        found.validation,
        found.test,
        goal=found.validation_goal,
        confidence_level=found.interval.confidence_level,
        rng=rng,
    )


def _choose_names(table: Runs, a: str | None, b: str | None) -> tuple[str, ...]:
    if a is None and b is not None:
        raise InvalidInput(f"b is {b!r}, but a is not named", "Name one algorithm as a, or both")
    if a is None:
        return table.algorithms
    if b is None:
        return (a,)
    if a == b:
        raise InvalidInput(f"cannot compare {a!r} with itself", "Name two algorithms, or one")
    return a, b


def _take(table: Runs, name: str, task: str | None, *, drop_incomplete: bool) -> ValidatedScores:
    taken = table.select_validated(name, task, drop_incomplete=drop_incomplete)
    if taken.score.size < 2:
        raise TooFewRuns(
            f"{name!r} has {taken.score.size} run(s) in {table.source}, which say nothing about "
            "the best of several",
            "Train it with several seeds, many more than the candidates you would choose from",
        )
    return taken


def _find_limits(table: Runs, scores: Sequence[ValidatedScores]) -> tuple[float, float]:
    """Limits of the scores that are reported; impossible scores of both kinds are refused."""
    chosen_by = [taken.validation for taken in scores if taken.validation is not None]
    if chosen_by:
        find_limits(table.validation_metric, np.concatenate(chosen_by))
    return find_limits(table.metric, np.concatenate([taken.score for taken in scores]))


def _check_alike(table: Runs, names: Sequence[str], scores: Sequence[ValidatedScores]) -> None:
    """Refuse to compare what was chosen by validation with what was chosen by test scores."""
    without = [name for name, taken in zip(names, scores, strict=True) if taken.validation is None]
    if len(without) == 1:
        (other,) = (name for name in names if name not in without)
        raise InvalidInput(
            f"{other!r} has validation scores in {table.source} and {without[0]!r} has none: one "
            "would be chosen by validation and the other by the score that is reported",
            "Add the validation scores, or leave them out of both",
        )


@dataclass(frozen=True, slots=True)
class _Estimation:
    """How the best of n is to be estimated."""

    asked: tuple[int, ...]
    estimator: BestOfEstimator
    interval: BestOfInterval
    confidence_level: float
    n_resamples: int
    rng: np.random.Generator
    limits: tuple[float, float]  # of scores

    def estimate(
        self,
        table: Runs,
        name: str,
        task: str | None,
        scores: ValidatedScores,
        budgets: IntArray | None = None,
    ) -> tuple[BestOf, BestOfEstimates]:
        """Estimate one algorithm's curve, and say what it shows."""
        budgets = self._lay_out(scores.score.size) if budgets is None else budgets
        validation, goal = _find_choice(table, scores)
        estimates = estimate_best_of(
            budgets,
            validation,
            scores.score,
            estimator=self.estimator,
            goal=goal,
            n_resamples=self.n_resamples,
            rng=self.rng,
        )
        task = table.tasks[0] if task is None else task
        found = replace(
            self._describe(table, scores, estimates),
            algorithm=name,
            task=task,
            scope=table.scope_on(task),
        )
        doubts = (*find_best_of_doubts(found), *doubt_runs(table, scores.n_dropped))
        return replace(found, caveats=doubts), estimates

    def _describe(self, table: Runs, scores: ValidatedScores, estimates: BestOfEstimates) -> BestOf:
        """Say what the estimates of nameless runs show, without doubt."""
        validation, goal = _find_choice(table, scores)
        same, n = scores.validation is None, self.asked[0]
        at = estimates.at(n, confidence_level=self.confidence_level, method=self.interval)
        low, high = np.clip([at.interval.low, at.interval.high], *self.limits)
        return BestOf(
            algorithm="",
            n=n,
            value=at.value,
            interval=replace(at.interval, low=float(low), high=float(high)),
            validation=validation,
            test=scores.score,
            curve=self._trace(estimates, *self.limits),
            asked=self.asked,
            estimator=self.estimator,
            goal=table.goal,
            validation_goal=goal,
            metric=table.metric,
            chosen_by=table.metric if same else table.validation_metric or "validation",
            same_scores=same,
        )

    def compare(
        self, table: Runs, names: Sequence[str], task: str | None, scores: Sequence[ValidatedScores]
    ) -> BestOfComparison:
        """Estimate both curves over the same n, and their difference."""
        budgets = self._lay_out(min(taken.score.size for taken in scores))
        (a, estimates_a), (b, estimates_b) = (
            self.estimate(table, name, task, taken, budgets)
            for name, taken in zip(names, scores, strict=True)
        )
        difference = estimates_a.minus(estimates_b)
        sign = 1 if table.goal == "maximize" else -1
        sides = [_turn_up(table, taken, sign) for taken in scores]
        probability = best_of_probability(
            a.n,
            sides[0],
            sides[1],
            # A chance needs runs that win, and so no model of them.
            estimator="u" if self.estimator == "u" else "v",
            confidence_level=self.confidence_level,
            n_resamples=self.n_resamples,
            rng=self.rng,
        )
        return BestOfComparison(
            a=a,
            b=b,
            difference=difference.at(
                a.n, confidence_level=self.confidence_level, method=self.interval
            ),
            curve=self._trace(difference),
            probability=probability,
            crossing=find_crossing(difference, confidence_level=self.confidence_level),
            caveats=(*list_doubts([a, b]), *doubt_chance(probability)),
        )

    def _lay_out(self, n_runs: int) -> IntArray:
        """Budgets of a curve: 1 to the number of runs, not all of them where they are many."""
        every = np.arange(1, min(n_runs, _EVERY) + 1)
        more = np.geomspace(every[-1], n_runs, _N_MORE).round()
        listed = [size for size in SHOWN if size <= n_runs]
        return np.unique(np.concatenate([every, more, listed, self.asked]).astype(np.int64))

    def _trace(
        self, estimates: BestOfEstimates, lowest: float = -np.inf, highest: float = np.inf
    ) -> BestOfCurve:
        bounds = estimates.bounds(confidence_level=self.confidence_level, method=self.interval)
        return BestOfCurve(estimates.n, estimates.value, *np.clip(bounds, lowest, highest))


def _find_choice(table: Runs, scores: ValidatedScores) -> tuple[FloatArray, Goal]:
    """Scores that choose, and their direction: a loss may choose what an accuracy reports."""
    if scores.validation is None:
        return scores.score, table.goal
    return scores.validation, known_goal(table.validation_metric) or table.goal


def _turn_up(table: Runs, scores: ValidatedScores, sign: int) -> tuple[FloatArray, FloatArray]:
    """Validation and test scores of which higher is better."""
    validation, goal = _find_choice(table, scores)
    return (validation if goal == "maximize" else -validation), sign * scores.score
