"""Results on the best of n, of one algorithm, of two, and of all; and their tables."""

import shlex
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from outperform.plain_values import Plain
from outperform.questions.compare.conclusion import Winner
from outperform.questions.result import Result, Table
from outperform.runs import Goal
from outperform.runs.scope import UNKNOWN, Scope, join_scopes
from outperform.stats import Crossing, Estimate, Interval
from outperform.stats.best_of_n import BestOfEstimator
from outperform.stats.checks import FloatArray, IntArray
from outperform.wording import describe_goal, shorten

SHOWN = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)  # budgets in tables
_N_BUDGETS = 4  # shown of all algorithms
_LONGEST_NAME = 24  # of the scores that choose, in a header


@dataclass(frozen=True, slots=True)
class BestOfCurve(Plain):
    """Estimates over the number of candidates, with the ends of their intervals."""

    n: IntArray = field(repr=False, compare=False)
    value: FloatArray = field(repr=False, compare=False)
    low: FloatArray = field(repr=False, compare=False)
    high: FloatArray = field(repr=False, compare=False)

    def at(self, n: int) -> tuple[float, float, float]:
        """Value, and ends of the interval, at one of the n."""
        (place,) = np.flatnonzero(self.n == n)
        return float(self.value[place]), float(self.low[place]), float(self.high[place])


@dataclass(frozen=True, slots=True)
class BestOf(Result):
    """What to expect of the best of n candidates of one algorithm (Boo_n).

    Candidates are chosen by their validation score and reported with their test score. All scores
    are in their metric's own sign.
    """

    JSON = (
        "algorithm task metric goal chosen_by validation_goal scope n estimator value interval "
        "n_runs correlation mean sd best_single curve caveats"
    )

    algorithm: str
    n: int  # the budget: candidates that a practitioner would train
    value: float
    interval: Interval
    validation: FloatArray = field(repr=False, compare=False)
    test: FloatArray = field(repr=False, compare=False)
    # Spearman's, of validation and test, positive where the good ones agree; NaN of equal scores.
    correlation: float = field(repr=False, compare=False)
    curve: BestOfCurve = field(repr=False)
    asked: tuple[int, ...]  # all budgets asked for
    estimator: BestOfEstimator
    goal: Goal
    validation_goal: Goal
    metric: str = "score"
    chosen_by: str = "validation"  # name of the scores that choose
    same_scores: bool = False  # the scores that choose are those reported
    task: str = ""
    scope: Scope = UNKNOWN
    caveats: tuple[str, ...] = ()

    @property
    def n_runs(self) -> int:
        """Number of runs that it is estimated from, m."""
        return self.test.size

    @property
    def mean(self) -> float:
        """Mean test score: what one candidate gives."""
        return float(self.test.mean())

    @property
    def sd(self) -> float:
        """Standard deviation of the test scores."""
        # From the first run, so that equal scores give exactly 0.
        return float((self.test - self.test[0]).std(ddof=1))

    @property
    def best_single(self) -> float:
        """Test score of the run with the best validation score, as papers report it."""
        best = (np.max if self.validation_goal == "maximize" else np.min)(self.validation)
        return float(self.test[self.validation == best].mean())

    @property
    def shown(self) -> tuple[int, ...]:
        """Budgets worth a line in a table: 1, some up to a quarter of the runs, all asked for."""
        few = (n for n in SHOWN if n <= max(1, self.n_runs // 4))
        return tuple(sorted({*few, *self.asked}))

    def at(self, n: int) -> Estimate:
        """Value and interval at a budget on the curve."""
        value, low, high = self.curve.at(n)
        return Estimate(value, replace(self.interval, low=low, high=high))

    def __str__(self) -> str:
        on = f" on {self.task}" if self.task else ""
        alone = self.n == 1
        chosen = "" if alone else f" chosen by {self.chosen_by}"
        what = "mean run" if alone else f"best of {self.n} runs"
        return (
            f"The {what} of {self.algorithm}{on}{chosen} is expected to reach "
            f"{self.metric} {format_estimate(self)}; one run, "
            f"{self.mean:.4g} ± {self.sd:.2g} ({self.n_runs} runs)."
        )

    @property
    def tables(self) -> list[Table | str]:
        """What to expect by n, and what is reported otherwise."""
        sign, one = 1 if self.goal == "maximize" else -1, self.at(1).value
        rows = []
        for n in self.shown:
            estimate = self.at(n)
            gain = sign * (estimate.value - one) + 0.0
            rows.append((str(n), format_estimate(estimate), f"{gain:+.3g}"))
        header = ("n", "expected best of n", "better than one run by")
        others = Table(_head_runs(self), [_describe_runs(self)])
        return [Table(header, rows, title=_entitle(self)), others]

    @property
    def advice(self) -> str:
        """What to report."""
        return (
            f"report the expected best of {self.n} (Boo_{self.n}) with its interval and the number "
            "of runs, not the score of the one best run; --plot draws the curve over n."
        )


@dataclass(frozen=True, slots=True)
class BestOfComparison(Result):
    """Which of two algorithms to expect more of when n candidates of it are trained."""

    JSON = (
        "n winner scope a b difference probability difference_curve=curve crossing=_crossing "
        "caveats"
    )

    a: BestOf
    b: BestOf
    difference: Estimate  # of a minus b at n, in the metric's own sign
    curve: BestOfCurve = field(repr=False)  # of the difference
    probability: Estimate  # that the best of n of a beats that of b
    crossing: Crossing | None  # sign: of the difference in the metric's own sign
    caveats: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """The budget."""
        return self.a.n

    @property
    def scope(self) -> Scope:
        """What varied, and what this is about for that reason."""
        return self.a.scope

    @property
    def winner(self) -> Winner | None:
        """Who is to be expected more of, if the interval of the difference leaves out 0."""
        if 0 in self.difference.interval:
            return None
        return "a" if self.is_better(self.difference.value) else "b"

    @property
    def leader_after(self) -> BestOf | None:
        """Who stays ahead from the crossing on."""
        if self.crossing is None:
            return None
        return self.a if self.is_better(self.crossing.sign) else self.b

    def is_better(self, difference: float) -> bool:
        """Whether a difference is in favour of a."""
        return (difference > 0) == (self.a.goal == "maximize")

    def __str__(self) -> str:
        on = f" on {self.a.task}" if self.a.task else ""
        a, b = self.a.algorithm, self.b.algorithm
        names = {"a": f"{a} is better", "b": f"{b} is better", None: "neither is shown better"}
        d = self.difference
        return (
            f"With a budget of {self.n}{on}, {names[self.winner]}: {a} is expected to reach "
            f"{self.a.value:.4g} and {b} {self.b.value:.4g}, a difference of {d.value:+.3g} "
            f"{d.interval}; the best of {self.n} of {a} beats that of {b} with chance "
            f"{self.probability.value:.2f} {self.probability.interval}."
        )

    @property
    def tables(self) -> list[Table | str]:
        """What to expect of both by n, what is reported otherwise, and where curves cross."""
        a, b = self.a, self.b
        rows = []
        for n in sorted({*a.shown} & {*b.shown}):
            value, low, high = self.curve.at(n)
            difference = f"{value:+.3g} [{low:.3g}, {high:.3g}]"
            rows.append((str(n), format_estimate(a.at(n)), format_estimate(b.at(n)), difference))
        header = ("n", a.algorithm, b.algorithm, "difference")
        others = Table(_head_runs(a), [_describe_runs(a), _describe_runs(b)])
        return [Table(header, rows, title=_entitle(a)), others, _describe_crossing(self)]

    @property
    def advice(self) -> str:
        """What to report."""
        return self.a.advice

    @property
    def _crossing(self) -> dict[str, Any] | None:
        if self.crossing is None or self.leader_after is None:
            return None
        return {**self.crossing.to_dict(), "leader_after": self.leader_after.algorithm}


@dataclass(frozen=True, slots=True)
class BestOfEach(Result):
    """The best of n of several algorithms, side by side in the order of the table."""

    JSON = "n scope algorithms=results caveats"

    results: tuple[BestOf, ...]
    caveats: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        """What varied, and what this is about for that reason."""
        return join_scopes([each.scope for each in self.results], [r.task for r in self.results])

    @property
    def ranked(self) -> tuple[BestOf, ...]:
        """The most to be expected first."""
        down = self.results[0].goal == "maximize"
        return tuple(sorted(self.results, key=lambda result: result.value, reverse=down))

    def __str__(self) -> str:
        first, second = self.ranked[:2]
        on = f" on {first.task}" if first.task else ""
        return (
            f"With a budget of {first.n}{on}, most is to be expected of {first.algorithm}: "
            f"{first.metric} {format_estimate(first)}, then of {second.algorithm}: "
            f"{format_estimate(second)} ({len(self.results)} algorithms)."
        )

    @property
    def tables(self) -> list[Table | str]:
        """What to expect of each, the best first."""
        asked = self.results[0].asked[:_N_BUDGETS]
        rows = []
        for each in self.ranked:
            name, n_runs, *others, _ = _describe_runs(each)
            rows.append((name, n_runs, *(format_estimate(each.at(n)) for n in asked), *others))
        budgets = [f"best of {n}" for n in asked]
        name, n_runs, *others, _ = _head_runs(self.results[0])
        header = (name, n_runs, *budgets, *others)
        return [Table(header, rows, title=_entitle(self.results[0]))]

    @property
    def advice(self) -> str:
        """What to ask next."""
        names = shlex.join(result.algorithm for result in self.ranked[:2])
        return f"`outperform best-of RUNS {names}` compares the two at the top."

    @property
    def n(self) -> int:
        """The budget: candidates that a practitioner would train."""
        return self.results[0].n


BestOfResult = BestOf | BestOfComparison | BestOfEach


def list_results(result: BestOfResult) -> tuple[BestOf, ...]:
    """Results of single algorithms that a result is made of."""
    if isinstance(result, BestOf):
        return (result,)
    return (result.a, result.b) if isinstance(result, BestOfComparison) else result.results


def format_estimate(estimate: BestOf | Estimate) -> str:
    """Value and interval with four digits, which scores near 1 need."""
    low, high = estimate.interval.low, estimate.interval.high
    return f"{estimate.value:.4g} [{low:.4g}, {high:.4g}]"


def describe_correlation(result: BestOf) -> str:
    """How far validation and test agree; nothing correlates with scores that are all equal."""
    if result.same_scores:
        return "the same scores"
    return "none" if np.isnan(result.correlation) else f"{result.correlation:.2f}"


def _entitle(result: BestOf) -> str:
    return f"{result.metric}, {describe_goal(result.goal)}; {result.interval.level} intervals"


def _head_runs(result: BestOf) -> tuple[str, str, str, str, str]:
    """Header above what is reported otherwise."""
    chosen_by = shorten(result.chosen_by, _LONGEST_NAME)
    return "algorithm", "runs", "mean ± sd", f"run with best {chosen_by}", "correlation"


def _describe_runs(result: BestOf) -> tuple[str, str, str, str, str]:
    """What is reported otherwise: the mean, and the best single run."""
    spread, best = f"{result.mean:.4g} ± {result.sd:.2g}", f"{result.best_single:.4g}"
    return result.algorithm, str(result.n_runs), spread, best, describe_correlation(result)


def _describe_crossing(result: BestOfComparison) -> str:
    crossing, leader = result.crossing, result.leader_after
    if crossing is None or leader is None:
        ahead = result.a if result.is_better(float(result.curve.value[-1])) else result.b
        last = int(result.curve.n[-1])
        return f"The curves do not cross: {ahead.algorithm} is ahead at every n up to {last}."
    start = f"The curves cross: from n = {crossing.n} on {leader.algorithm} is ahead."
    if crossing.share == 0:
        return f"{start} They do so in no resample."
    level = result.difference.interval.confidence_level
    return (
        f"{start} They do so in {100 * crossing.share:.0f}% of resamples, {100 * level:g}% of "
        f"these between n = {crossing.low:.0f} and {crossing.high:.0f}."
    )
