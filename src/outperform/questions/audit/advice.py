"""What to do after an audit."""

import shlex
from typing import TYPE_CHECKING, Any

from outperform.questions.compare.result import Comparison
from outperform.stats import VerdictRule
from outperform.stats.outperforming import count_wins

if TYPE_CHECKING:
    from outperform.questions.audit.result import Audit

_ONE_IN = 10  # runs: a conclusion that hiding so few undoes is fragile
_LARGEST_PROMISE = 10_000  # pairs that are suggested at most


def suggest_after(result: "Audit") -> str:
    """Say what to do after an audit, in one sentence or two."""
    if result.verdict == "undecided":
        return f"{result.comparison.advice} Take the seeds in sequence, and leave none out."
    if result.verdict == "robust":
        here = ", as one on this dataset only"
        only = here if result.comparison.holds_for_population is False else ""
        return (
            f"Report the verdict with every seed{only}, and put the figure of this audit in the "
            "appendix: --plot audit.pdf."
        )
    needed = _pairs_until_robust(result)
    promise = (
        f": about {needed:,} pairs would make a share of wins as here robust" if needed else ""
    )
    return f"Add seeds in sequence, and leave none out{promise}. Until then, call it fragile."


def suggest_after_tasks(weakest: "Audit", verdict: str) -> str:
    """Say what to do after an audit of several tasks."""
    task = shlex.quote(weakest.comparison.task)
    if verdict == "robust":
        return "Report every task with every seed, and put this table in the appendix."
    return (
        f"See all of one task with --on, for instance --on {task}; add seeds in sequence where a "
        "verdict is fragile or undecided, leave none out, and report every task."
    )


def _pairs_until_robust(result: "Audit") -> int | None:
    """Pairs that would be robust if the same share of them were won."""
    comparison = result.comparison
    if not comparison.paired:
        return None
    a, b = comparison.higher_a, comparison.higher_b
    wins, ties, n = count_wins(*((a, b) if comparison.winner == "a" else (b, a)))
    rule, pairs = claim_rule(comparison), n
    while pairs <= _LARGEST_PROMISE:
        pairs = max(pairs + 1, int(1.05 * pairs))
        hidden = count_tenth(pairs)
        won, tied = int(wins * pairs / n), int(ties * pairs / n)
        if won > hidden and rule.holds(won - hidden, tied, pairs - hidden):
            return pairs
    return None


def claim_rule(comparison: Comparison) -> VerdictRule:
    """The rule that the claim was made by, or would be: too little to matter is a claim too."""
    small = comparison.verdict == "significant, not meaningful"
    method: Any = comparison.interval.method if comparison.paired else "exact"
    return VerdictRule(
        comparison.interval.confidence_level, 0.5 if small else comparison.gamma, method
    )


def count_tenth(n: int) -> int:
    """A tenth of the runs, rounded up.

    Examples
    --------
    >>> count_tenth(8), count_tenth(30), count_tenth(31)
    (1, 3, 4)
    """
    return -(-n // _ONE_IN)
