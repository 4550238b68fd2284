"""What to do after a comparison."""

import math
from typing import cast

from outperform.analysis.comparison import Comparison
from outperform.analysis.planning import TOO_GOOD
from outperform.errors import InvalidInput
from outperform.stats import EquivalenceTest, noether_sample_size, required_pairs
from outperform.stats.power import PlannedInterval

_TOO_MANY = 10_000  # runs that nobody is advised to add


def suggest_next(comparison: Comparison, *, beta: float = 0.05) -> str:
    """Say what to do after a comparison, in one sentence."""
    for test in comparison.tests:
        if isinstance(test, EquivalenceTest) and test.equivalent:
            found = "The difference is real but small" if comparison.winner else "The two are alike"
            return f"{found}: report that a difference of {test.margin:g} or more is ruled out."
    if comparison.verdict == "significant and meaningful":
        return (
            "Report P(A>B) with its interval, the number of runs and the seeds; --plot draws every "
            "run."
        )
    if comparison.verdict == "significant, not meaningful":
        return (
            "The difference is real but small: report its size; more runs will not make it matter."
        )
    if comparison.interval.method == "anytime":
        return "Add pairs and look again as often as you like: this interval allows it."
    return _suggest_runs(comparison, beta)


def _suggest_runs(comparison: Comparison, beta: float) -> str:
    """Say how many more runs would show the difference seen, or that none would."""
    # A sample that won every comparison says little about how often it would lose.
    best = min(max(comparison.probability, comparison.reverse_probability), TOO_GOOD)
    n = min(comparison.scores_a.size, comparison.scores_b.size)
    needed = _needed(best, comparison, beta) if best > 0.5 else None
    if needed is None or needed > _TOO_MANY:
        seen = "Neither wins more than half of the time"
        if best > 0.5:
            seen = f"A difference as small as here would take more than {_TOO_MANY:,} runs"
        return f"{seen}; to show that the two are equally good, use `compare --equivalence MARGIN`."
    more = max(1, needed - n)
    what = ("pair" if comparison.paired else "run") + ("" if more == 1 else "s")
    what += "" if comparison.paired else " of each"
    a_leads = comparison.probability >= comparison.reverse_probability
    better = comparison.a if a_leads else comparison.b
    as_here = "" if best == TOO_GOOD else ", as here"
    as_here += ", a tie being half a win" if comparison.n_ties else ""
    # Only pairs can be looked at one after the other.
    sequential = ", or use `compare --sequential`" if comparison.paired else ""
    return (
        f"If {better} really wins {best:.0%} of the time{as_here}, {more:,} more {what} "
        f"({n + more:,} in all) would show it with a chance of {1 - beta:.0%}; look only "
        f"then{sequential}."
    )


def _needed(best: float, comparison: Comparison, beta: float) -> int | None:
    """Find the runs that would show the better side's advantage, if a thinkable number does."""
    try:
        if not comparison.paired:
            # Two-sided, as the verdict is.
            return noether_sample_size(best, comparison.alpha / 2, beta)
        # Ties say nothing: the others must show the advantage, which is larger among them.
        untied = 1.0 if comparison.strict else comparison.n_decided / comparison.n_pairs
        chance = min(0.5 + (best - 0.5) / untied, TOO_GOOD)
        gamma = 0.5 + (comparison.gamma - 0.5) / untied
        interval = cast(PlannedInterval, comparison.interval.method)
        needed = required_pairs(
            gamma if chance > gamma else 0.5,
            comparison.alpha,
            beta,
            probability=chance,
            interval=interval,
        )
        return math.ceil(needed / untied)
    except InvalidInput:
        return None
