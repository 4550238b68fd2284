"""The best of n, from a table of runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from outperform.errors import InvalidInput, TooFewRuns
from outperform.questions.best_of.doubts import doubt_best, join_doubts
from outperform.questions.best_of.result import (
    SHOWN,
    BestOf,
    BestOfComparison,
    BestOfCurve,
    BestOfEach,
    BestOfResult,
)
from outperform.runs import Goal, Runs, known_goal
from outperform.runs.metrics import find_limits
from outperform.runs.pairing import question_alone
from outperform.runs.suspicions import Sides, Suspicion, ask, find_stand_ins, largest_usual
from outperform.stats import (
    BestOfEstimates,
    BestOfSpreads,
    Estimate,
    Interval,
    best_of_probability,
    best_of_spreads,
    estimate_best_of,
    find_crossing,
    rank_correlation,
)
from outperform.stats.best_of_n import BestOfEstimator, as_budgets
from outperform.stats.best_of_resamples import BestOfInterval
from outperform.stats.checks import FloatArray, IntArray, as_generator, check_count
from outperform.store.store import read_runs
from outperform.wording import count

_EVERY = 100  # n up to which curves have a point at each
_N_MORE = 60  # points beyond
_N_EXPERIMENTS = 16  # sizes of experiments that are repeated
_LARGEST_EXPERIMENT = 100_000  # runs
_MOST_DRAWN = 200_000_000  # runs times resamples, a minute or two of work
_FEW_DRAWN = 10_000  # of either, below which they take no less memory


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
    check_count("n_resamples", n_resamples, at_least=1)
    table = runs if isinstance(runs, Runs) else read_runs(runs)
    asked = tuple(as_budgets(n, len(table), "v").tolist())
    if a is None and b is not None:
        raise InvalidInput(f"b is {b!r}, but a is not named", "Name one algorithm as a, or both")
    if a is not None and a == b:
        raise InvalidInput(f"cannot compare {a!r} with itself", "Name two algorithms, or one")
    names = [name for name in (a, b) if name is not None] or table.algorithms
    candidates = [_take(table, name, task, drop_incomplete=drop_incomplete) for name in names]
    chosen_by = [each.validation for each in candidates if not each.same_scores]
    if chosen_by:
        find_limits(table.validation_metric, np.concatenate(chosen_by))  # refuses impossible ones
    limits = find_limits(table.metric_on(task), np.concatenate([each.test for each in candidates]))
    if b is None and interval == "jackknife":
        n_resamples = 0
    else:
        _check_draws(max(each.test.size for each in candidates), n_resamples)
    settings = asked, estimator, interval, confidence_level, n_resamples
    estimation = _Estimation(table, task or table.tasks[0], limits, as_generator(rng), *settings)
    if b is not None:
        return estimation.compare(*candidates)
    results = [estimation.estimate(each)[0] for each in candidates]
    return results[0] if len(results) == 1 else BestOfEach(tuple(results), join_doubts(results))


def trace_spreads(result: BestOf, *, rng: np.random.Generator) -> BestOfSpreads:
    """Repeat the whole experiment with fewer runs: how the ways to report it vary."""
    largest = min(result.n_runs, _LARGEST_EXPERIMENT)
    sizes = np.unique(np.geomspace(1, largest, _N_EXPERIMENTS).round().astype(np.int64))
    goal, level = result.validation_goal, result.interval.confidence_level
    scores = result.validation, result.test
    return best_of_spreads(sizes, result.n, *scores, goal=goal, confidence_level=level, rng=rng)


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Runs of one algorithm to choose from."""

    algorithm: str
    validation: FloatArray  # scores that choose
    goal: Goal  # of these: a loss may choose what an accuracy reports
    test: FloatArray
    same_scores: bool  # those that choose are those reported
    n_dropped: int


def _take(table: Runs, name: str, task: str | None, *, drop_incomplete: bool) -> _Candidates:
    scores = table.select_validated(name, task, drop_incomplete=drop_incomplete)
    test, validation = scores.score, scores.validation
    if test.size < 2:
        raise TooFewRuns(
            f"{name!r} has {count(test.size, 'run')} in {table.source}: too few to say anything "
            "about the best of several",
            "Train it with several seeds, many more than the candidates you would choose from",
        )
    if validation is None:
        return _Candidates(name, test, table.goal_on(task), test, True, scores.n_dropped)
    goal = known_goal(table.validation_metric) or table.goal_on(task)
    return _Candidates(name, validation, goal, test, False, scores.n_dropped)


def _check_draws(n_runs: int, n_resamples: int) -> None:
    """Refuse what would take hours, or more memory than there is."""
    if max(n_runs, _FEW_DRAWN) * max(n_resamples, _FEW_DRAWN) > _MOST_DRAWN:
        most = _MOST_DRAWN // _FEW_DRAWN
        raise InvalidInput(
            f"{n_resamples:,} resamples of {n_runs:,} runs are too many to draw: at {_FEW_DRAWN:,} "
            f"of one, {most:,} of the other are the most",
            "Lower --draws (from Python: n_resamples), keep a part of the runs, or ask about one "
            "algorithm by the jackknife, which draws nothing",
        )


@dataclass(frozen=True, slots=True)
class _Estimation:
    """How the best of n is to be estimated."""

    table: Runs
    task: str
    limits: tuple[float, float]  # of scores
    rng: np.random.Generator
    asked: tuple[int, ...]
    estimator: BestOfEstimator
    interval: BestOfInterval
    confidence_level: float
    n_resamples: int

    def estimate(
        self, candidates: _Candidates, n_runs: int | None = None
    ) -> tuple[BestOf, BestOfEstimates]:
        """Estimate one algorithm's curve, up to so many runs, and say what it shows."""
        name = candidates.algorithm
        notes = question_alone(self.table, name, self.task, are_trials=True)
        estimates = self._find_curve(candidates, n_runs or candidates.test.size)
        curve = self._trace(estimates, *self.limits)
        at = self._find_point(curve)
        metric, same = self.table.metric_on(self.task), candidates.same_scores
        notes += ask(self._question_value(candidates, at.value), self.table.accepted)
        goal = self.table.goal_on(self.task)
        correlation = rank_correlation(candidates.validation, candidates.test)
        result = BestOf(
            algorithm=name,
            n=self.asked[0],
            value=at.value,
            interval=at.interval,
            validation=candidates.validation,
            test=candidates.test,
            correlation=correlation if goal == candidates.goal else -correlation,
            curve=curve,
            asked=self.asked,
            estimator=self.estimator,
            goal=goal,
            validation_goal=candidates.goal,
            metric=metric,
            chosen_by=metric if same else self.table.validation_metric or "validation",
            same_scores=same,
            task=self.task,
            scope=self.table.scope_on(self.task),
        )
        doubts = doubt_best(result, (*notes, *self.table.notes), candidates.n_dropped)
        return replace(result, caveats=tuple(doubts)), estimates

    def _find_curve(self, candidates: _Candidates, n_runs: int) -> BestOfEstimates:
        return estimate_best_of(
            _list_budgets(n_runs, self.asked),
            candidates.validation,
            candidates.test,
            estimator=self.estimator,
            goal=candidates.goal,
            n_resamples=self.n_resamples,
            rng=self.rng,
        )

    def _question_value(self, candidates: _Candidates, value: float) -> Iterator[Suspicion]:
        """Ask about an expectation beyond every score but those of runs that diverged.

        And about validation scores that stand for runs that failed, which would be chosen.
        """
        if not candidates.same_scores:
            names, scores = (candidates.algorithm,), (candidates.validation,)
            chosen_by, source = self.table.validation_metric or "validation", self.table.source
            place = f"column {chosen_by!r} of {source}"
            yield from find_stand_ins(Sides(names, scores, chosen_by, place, "", candidates.goal))
        usual = largest_usual(candidates.test, self.table.metric_on(self.task))
        if abs(value) > usual:
            yield Suspicion(
                "outlier",
                f"the best of {self.asked[0]} would be expected to reach {value:.4g}, and all "
                f"scores of {candidates.algorithm!r} but those that diverged lie within {usual:g}",
                "how large a number stands for diverged decides, not how often one diverges",
                "Give each that diverged the score of one that has learnt nothing, or ask for the "
                "best of more (--n); if these are scores like the others",
            )

    def compare(self, first: _Candidates, second: _Candidates) -> BestOfComparison:
        """Estimate both curves over the same n, and their difference."""
        _check_alike(self.table, first, second)
        n_runs = min(first.test.size, second.test.size)
        a, estimates_a = self.estimate(first, n_runs)
        b, estimates_b = self.estimate(second, n_runs)
        difference = estimates_a.minus(estimates_b)
        curve, probability = self._trace(difference), self._find_probability(first, second)
        names = first.algorithm, second.algorithm
        lacking, notes = self.table.find_gaps(*names, self.task)
        # A validation score may be missing where there is a test score.
        lacking = max(lacking[0], first.n_dropped), max(lacking[1], second.n_dropped)
        for sides in self._take_worst((first, second), lacking):
            of_each = [self._find_curve(each, n_runs) for each in sides]
            curve = _widen(curve, self._trace(of_each[0].minus(of_each[1])))
            own, other = probability.interval, self._find_probability(*sides).interval
            both = replace(own, low=min(own.low, other.low), high=max(own.high, other.high))
            probability = replace(probability, interval=both)
        return BestOfComparison(
            a=a,
            b=b,
            difference=self._find_point(curve),
            curve=curve,
            probability=probability,
            crossing=find_crossing(difference, confidence_level=self.confidence_level),
            caveats=(*notes, *join_doubts([a, b], probability, any(lacking))),
        )

    def _find_probability(self, first: _Candidates, second: _Candidates) -> Estimate:
        """Chance that the best of n of the first beats that of the second."""
        up, goal = {"maximize": 1, "minimize": -1}, self.table.goal_on(self.task)
        return best_of_probability(
            self.asked[0],
            *((up[x.goal] * x.validation, up[goal] * x.test) for x in (first, second)),
            # A chance needs runs that win, and so no model of them.
            estimator="u" if self.estimator == "u" else "v",
            confidence_level=self.confidence_level,
            n_resamples=self.n_resamples,
            rng=self.rng,
        )

    def _take_worst(
        self, both: tuple[_Candidates, _Candidates], lacking: tuple[int, int]
    ) -> Iterator[tuple[_Candidates, _Candidates]]:
        """Both with the runs that one of them lacks, as bad as the worst of both."""
        pick = {"maximize": np.min, "minimize": np.max}
        valid = pick[both[0].goal](np.concatenate([each.validation for each in both]))
        test = pick[self.table.goal_on(self.task)](np.concatenate([each.test for each in both]))
        whole = [
            replace(
                each,
                validation=np.append(each.validation, np.full(n, valid)),
                test=np.append(each.test, np.full(n, test)),
            )
            for each, n in zip(both, lacking, strict=True)
        ]
        if lacking[0]:
            yield whole[0], both[1]
        if lacking[1]:
            yield both[0], whole[1]

    def _trace(
        self, estimates: BestOfEstimates, lowest: float = -np.inf, highest: float = np.inf
    ) -> BestOfCurve:
        """The curve within limits."""
        level = self.confidence_level
        bounds = estimates.bounds(confidence_level=level, method=self.interval)
        return BestOfCurve(estimates.n, estimates.value, *np.clip(bounds, lowest, highest))

    def _find_point(self, curve: BestOfCurve) -> Estimate:
        """The point of a curve that sentences are about."""
        value, low, high = curve.at(self.asked[0])
        return Estimate(value, Interval(low, high, self.confidence_level, self.interval))


def _widen(curve: BestOfCurve, other: BestOfCurve) -> BestOfCurve:
    """Give a curve bounds that hold those of another too."""
    low, high = np.minimum(curve.low, other.low), np.maximum(curve.high, other.high)
    return replace(curve, low=low, high=high)


def _list_budgets(n_runs: int, asked: Sequence[int]) -> IntArray:
    """Budgets of a curve: 1 to the number of runs, not all of them where they are many."""
    every = np.arange(1, min(n_runs, _EVERY) + 1)
    more = np.geomspace(every[-1], n_runs, _N_MORE).round()
    shown = [size for size in SHOWN if size <= n_runs]
    return np.unique(np.concatenate([every, more, shown, asked]).astype(np.int64))


def _check_alike(table: Runs, first: _Candidates, second: _Candidates) -> None:
    """Refuse to compare what was chosen by validation with what was chosen by test scores."""
    if first.same_scores != second.same_scores:
        without, other = (first, second) if first.same_scores else (second, first)
        raise InvalidInput(
            f"{other.algorithm!r} has validation scores in {table.source} and "
            f"{without.algorithm!r} has none: one would be chosen by validation and the other by "
            "the score that is reported",
            "Add the validation scores, or leave them out of both",
        )
