"""The numbers behind the best of n, as text."""

from typing import TYPE_CHECKING

import numpy as np

from outperform.questions.result import Table
from outperform.stats import Interval
from outperform.wording import describe_goal

if TYPE_CHECKING:
    from outperform.questions.best_of.result import BestOf, BestOfComparison, BestOfEach

_N_BUDGETS = 4  # shown of all algorithms


def format_estimate(value: float, interval: Interval) -> str:
    """Value and interval with four digits, which scores near 1 need."""
    return f"{value:.4g} [{interval.low:.4g}, {interval.high:.4g}]"


def describe_correlation(result: "BestOf") -> str:
    """How far validation and test agree; nothing correlates with scores that are all equal."""
    if result.same_scores:
        return "the same scores"
    return "none" if np.isnan(result.correlation) else f"{result.correlation:.2f}"


def tabulate_one(result: "BestOf") -> list[Table | str]:
    """What to expect of one algorithm, by n."""
    sign = 1 if result.goal == "maximize" else -1
    rows = []
    for n in result.shown:
        estimate, gain = result.at(n), sign * (result.at(n).value - result.at(1).value) + 0.0
        rows.append((str(n), format_estimate(estimate.value, estimate.interval), f"{gain:+.3g}"))
    header = ("n", "expected best of n", "better than one run by")
    return [Table(header, rows, title=_entitle(result)), _contrast(result)]


def tabulate_two(result: "BestOfComparison") -> list[Table | str]:
    """What to expect of both, by n, and where their curves cross."""
    a, b, curve = result.a, result.b, result.curve
    rows = []
    for n in sorted({*a.shown} & {*b.shown}):
        (place,) = np.flatnonzero(curve.n == n)
        estimates = [format_estimate(each.value, each.interval) for each in (a.at(n), b.at(n))]
        interval = f"[{curve.low[place]:.3g}, {curve.high[place]:.3g}]"
        rows.append((str(n), *estimates, f"{curve.value[place]:+.3g} {interval}"))
    header = ("n", a.algorithm, b.algorithm, "difference")
    return [Table(header, rows, title=_entitle(a)), _contrast(a, b), _describe_crossing(result)]


def tabulate_each(result: "BestOfEach") -> list[Table | str]:
    """What to expect of all, the best first."""
    asked = result.results[0].asked[:_N_BUDGETS]
    rows = []
    for each in result.ranked:
        name, n_runs, *others = _describe_runs(each)
        estimates = [format_estimate(e.value, e.interval) for e in map(each.at, asked)]
        rows.append((name, n_runs, *estimates, *others))
    budgets = [f"best of {n}" for n in asked]
    header = ("algorithm", "runs", *budgets, "mean ± sd", "best single run")
    return [Table(header, rows, title=_entitle(result.results[0]))]


def _entitle(result: "BestOf") -> str:
    level = f"{100 * result.interval.confidence_level:g}%"
    return f"{result.metric}, {describe_goal(result.goal)}; {level} intervals"


def _contrast(*results: "BestOf") -> Table:
    """What is reported otherwise: means and best single runs."""
    header = ("algorithm", "runs", "mean ± sd", "best single run", "correlation")
    return Table(header, [(*_describe_runs(each), describe_correlation(each)) for each in results])


def _describe_runs(result: "BestOf") -> tuple[str, str, str, str]:
    spread = f"{result.mean:.4g} ± {result.sd:.2g}"
    return result.algorithm, str(result.n_runs), spread, f"{result.best_single:.4g}"


def _describe_crossing(result: "BestOfComparison") -> str:
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
