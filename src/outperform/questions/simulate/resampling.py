"""Error rates of rules of comparison, by drawing from runs at hand."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from outperform.errors import InvalidInput
from outperform.questions.simulate.drawn_rates import (
    EITHER_SIDE,
    PROBABILITIES,
    Draws,
    Report,
    Samples,
    check_rules,
    check_settings,
)
from outperform.questions.simulate.result import ErrorRates, make_curve
from outperform.runs import Runs, read_runs
from outperform.stats.checks import FloatArray, merge_ties
from outperform.stats.decision_rules import (
    PUBLISHED_IMPROVEMENT,
    RULES,
    RULES_OF_PAIRS,
    Criteria,
    Rule,
)
from outperform.stats.sequential import anytime_power
from outperform.stats.verdicts import verdict_power

_FEW_RUNS = 20
_EXACT: tuple[Rule, ...] = ("verdict", "anytime")
_UNKNOWING: tuple[Rule, ...] = ("oracle", "nadeau-bengio")  # need what runs alone do not tell


def resample_error_rates(
    runs: Any,
    a: str,
    b: str,
    *,
    task: str | None = None,
    paired: bool | None = None,
    drop_incomplete: bool = False,
    n_pairs: Sequence[int] = (50,),
    gamma: float = 0.75,
    alpha: float = 0.05,
    rules: Sequence[Rule] | None = None,
    n_draws: int = 10_000,
    rng: np.random.Generator,
    report: Report | None = None,
) -> ErrorRates:
    """Find out how often rules declare A better, if new runs are like those at hand.

    Runs are drawn with replacement, pairs as pairs, after all scores of A were moved by a constant
    so that A wins as often as wanted among the runs at hand. This assumes that an advantage moves
    scores and leaves their spread and shape as they are.

    Parameters
    ----------
    runs
        `Runs`, or anything that `read_runs` reads.
    paired
        Draw pairs with the same replicate. By default if the table has a replicate column.
    n_pairs
        Sample sizes to look at; they may exceed the number of runs at hand.
    rules
        All but the oracle and Nadeau–Bengio by default; of unpaired runs those that need no
        pairs.

    Examples
    --------
    >>> runs = {"new": [9, 8, 9, 7, 8, 9, 8], "old": [7, 6, 8, 8, 7, 7, 5]}
    >>> rates = resample_error_rates(
    ...     runs, "new", "old", rules=["paired-t"], n_pairs=[20], rng=np.random.default_rng(0)
    ... )
    >>> 0 < rates.curves[0].false_positives < 0.1
    True
    """
    table = runs if isinstance(runs, Runs) else read_runs(runs)
    paired = table.replicates is not None if paired is None else paired
    check_settings(n_pairs, [gamma], n_draws)
    known = [
        rule for rule in RULES if rule not in _UNKNOWING and (paired or rule not in RULES_OF_PAIRS)
    ]
    chosen = check_rules(known if rules is None else rules, known)
    take = table.pair if paired else table.separate
    scores = take(a, b, task, drop_incomplete=drop_incomplete)
    sign = 1 if table.goal_on(task) == "maximize" else -1
    pool = _Pool(sign * scores.a, sign * scores.b, paired)
    if pool.sd == 0:
        raise InvalidInput(
            f"all runs of {a} have the same score, and so have those of {b}",
            "Add runs with other seeds that reach the training",
        )
    shifts = pool.find_shifts([*PROBABILITIES, gamma])
    grid, sizes = np.array([*shifts]), sorted(set(n_pairs))
    criteria = Criteria(gamma, alpha, PUBLISHED_IMPROVEMENT, pool.sd)
    draws = Draws(tuple(rule for rule in chosen if rule not in _EXACT), criteria, n_draws, rng)
    draw = partial(pool.draw, shifts=[*shifts.values()], rng=rng)
    drawn = draws.find_rates(draw, sizes, grid.size, report)
    curves = tuple(
        make_curve(
            rule,
            (f"{a} against {b}", n, gamma),
            grid,
            *(_compute(rule, n, grid, criteria) if rule in _EXACT else drawn[n][rule]),
        )
        for n, rule in product(sizes, chosen)
    )
    doubts = (*scores.notes, *table.notes, *_find_doubts(pool, gamma, scores.n_dropped))
    return ErrorRates(curves, alpha, n_draws, f"runs of {a} and {b}, drawn again", doubts)


@dataclass(frozen=True, slots=True)
class _Pool:
    """Scores at hand, higher is better."""

    a: FloatArray
    b: FloatArray
    paired: bool

    @property
    def sd(self) -> float:
        """Standard deviation of a score within its algorithm."""
        return float(np.sqrt((self.a.var(ddof=1) + self.b.var(ddof=1)) / 2))

    def find_shifts(self, probabilities: Sequence[float]) -> dict[float, float]:
        """By share of the runs at hand that A then wins, what to add to its scores.

        Only some shares can be had from finitely many runs: the nearest to those wanted.
        """
        differences = self.a - self.b if self.paired else np.subtract.outer(self.a, self.b)
        (merged,) = merge_ties(differences.ravel())
        ordered, counts = np.unique(merged, return_counts=True)
        reach = max(float(np.ptp(ordered)), float(np.abs(ordered).max()), 1.0)
        # Halfway between neighbours, so that nothing is tied by the shift.
        between = np.concatenate(
            [[ordered[0] - reach], (ordered[1:] + ordered[:-1]) / 2, [ordered[-1] + reach]]
        )
        won = 1 - np.concatenate([[0], np.cumsum(counts)]) / differences.size
        nearest = [int(np.argmin(np.abs(won - wanted))) for wanted in probabilities]
        return {float(won[i]): float(-between[i]) for i in sorted(set(nearest), reverse=True)}

    def draw(
        self, n_draws: int, n: int, *, shifts: Sequence[float], rng: np.random.Generator
    ) -> Samples:
        """Draw runs once, which serve every shift of the scores of A."""
        chosen = rng.integers(self.a.size, size=(n_draws, n))
        others = chosen if self.paired else rng.integers(self.b.size, size=(n_draws, n))
        a, b = self.a[chosen], self.b[others]
        return lambda column: (a + shifts[column], b)


def _compute(rule: Rule, n: int, grid: FloatArray, criteria: Criteria) -> list[FloatArray]:
    """Wins among pairs that are drawn with replacement are binomial: rates, with errors of 0."""
    gamma, alpha = criteria.gamma, criteria.alpha
    if rule == "anytime":
        rates = anytime_power(n, grid, gamma=gamma, alpha=alpha)
    else:
        rates = np.array([verdict_power(n, p, gamma=gamma, alpha=alpha) for p in grid])
    return [rates, np.zeros(grid.size)]


def _find_doubts(pool: _Pool, gamma: float, n_dropped: int) -> Iterator[str]:
    n = min(pool.a.size, pool.b.size)
    (nearest,) = pool.find_shifts([gamma])
    if abs(nearest - gamma) > 0.001:
        yield (
            f"false negatives are at P(A>B) = {nearest:.3g}, not {gamma:g}: the runs at hand allow "
            "nothing nearer"
        )
    yield (
        "equals are made to win equally often, which leaves their means different where "
        "differences are skewed: tests of means then find what is there"
    )
    yield (
        f"the {n} runs at hand are taken for all there could be, and an advantage for a constant "
        "that is added to every score of A"
    )
    if n < _FEW_RUNS:
        yield f"{n} runs are few to stand for all: these rates are rough"
    if n_dropped:
        yield f"{n_dropped} incomplete run(s) were left out"
    yield EITHER_SIDE
