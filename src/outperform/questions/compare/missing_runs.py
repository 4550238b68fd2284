"""Whether a verdict withstands the runs that were left out because they are incomplete."""

import numpy as np

from outperform.questions.compare.result import Comparison
from outperform.stats import outperforming_interval


def withstands(comparison: Comparison, lacking: tuple[int, int]) -> bool:
    """Whether the winner still wins if every run that it lacks had been its worst.

    Runs often fail, or are pruned, because they go badly: of two identical algorithms, one with a
    pruner, the pruned one would outperform the other.

    Parameters
    ----------
    lacking
        Replicates that `a`, and that `b`, has no complete run of.
    """
    if comparison.winner is None:
        return True
    a, b = comparison.higher_a, comparison.higher_b
    winner, loser = (a, b) if comparison.winner == "a" else (b, a)
    n_lacking = lacking[0 if comparison.winner == "a" else 1]
    if not n_lacking:
        return True
    spread = max(float(np.ptp(np.concatenate((a, b)))), 1.0)
    worst = min(float(a.min()), float(b.min())) - spread
    winner = np.append(winner, np.full(n_lacking, worst - spread))
    if comparison.paired:
        loser = np.append(loser, np.full(n_lacking, worst))
    method = comparison.interval.method
    interval = outperforming_interval(
        winner,
        loser,
        paired=comparison.paired,
        method="exact" if method in ("bootstrap", "brunner-munzel") else method,  # type: ignore[arg-type]
        confidence_level=comparison.interval.confidence_level,
    )
    return interval.low > 0.5
