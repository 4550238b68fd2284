"""Error rates of rules of comparison, by drawing from runs at hand."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from outperform.errors import InvalidInput
from outperform.questions.simulate.answer import (
    PERMUTATION,
    PROBABILITIES,
    Report,
    check_settings,
    find_critical,
)
from outperform.questions.simulate.result import (
    DetectionCurve,
    ErrorRates,
    check_rules,
    make_curve,
    monte_carlo_error,
)
from outperform.runs import Runs, read_runs
from outperform.stats.checks import FloatArray, check_count
from outperform.stats.chunks import divide_rows
from outperform.stats.decision_rules import (
    PUBLISHED_IMPROVEMENT,
    RULES,
    RULES_OF_PAIRS,
    Criteria,
    Rule,
    decide,
)
from outperform.stats.power import verdict_power
from outperform.stats.sequential import anytime_power
from outperform.stats.ties import merge_ties

_BLOCK = 1_000_000  # scores drawn at a time, to bound the memory
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
    check_count("n_draws", n_draws, at_least=100)
    check_settings(n_pairs, [gamma])
    known = [
        rule for rule in RULES if rule not in _UNKNOWING and (paired or rule not in RULES_OF_PAIRS)
    ]
    chosen = check_rules(known if rules is None else rules, known)
    take = table.pair if paired else table.separate
    scores = take(a, b, task, drop_incomplete=drop_incomplete)
    sign = 1 if table.goal == "maximize" else -1
    pool = _Pool(sign * scores.a, sign * scores.b, paired)
    if pool.sd == 0:
        raise InvalidInput(
            f"all runs of {a} have the same score, and so have those of {b}",
            "Add runs with other seeds that reach the training",
        )
    criteria = Criteria(gamma, alpha, PUBLISHED_IMPROVEMENT, pool.sd)
    resampling = _Resampling(pool, criteria, chosen, n_draws, rng)
    curves = resampling.trace(f"{a} against {b}", sorted(set(n_pairs)), report)
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

    def draw(self, n_draws: int, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        chosen = rng.integers(self.a.size, size=(n_draws, n))
        others = chosen if self.paired else rng.integers(self.b.size, size=(n_draws, n))
        return self.a[chosen], self.b[others]


@dataclass(frozen=True, slots=True)
class _Resampling:
    """Rules applied to runs that are drawn again and again."""

    pool: _Pool
    criteria: Criteria
    rules: tuple[Rule, ...]
    n_draws: int
    rng: np.random.Generator

    def trace(
        self, name: str, n_pairs: Sequence[int], report: Report | None
    ) -> tuple[DetectionCurve, ...]:
        shifts = self.pool.find_shifts([*PROBABILITIES, self.criteria.gamma])
        grid = np.array([*shifts])
        curves = []
        steps, n_steps = count(1), grid.size * sum(len(self._split(n)) for n in n_pairs)
        for n in n_pairs:
            drawn = self._draw_rates(
                n,
                np.array([*shifts.values()]),
                lambda: report and report(next(steps), n_steps),
            )
            for rule in self.rules:
                rates, errors = drawn[rule] if rule in drawn else self._compute(rule, n, grid)
                setting = name, n, self.criteria.gamma
                curves.append(make_curve(rule, setting, grid, rates, errors))
        return tuple(curves)

    def _compute(self, rule: Rule, n: int, grid: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Wins among pairs that are drawn with replacement are binomial."""
        gamma, alpha = self.criteria.gamma, self.criteria.alpha
        if rule == "anytime":
            rates = anytime_power(n, grid, gamma=gamma, alpha=alpha)
        else:
            rates = np.array([verdict_power(n, p, gamma=gamma, alpha=alpha) for p in grid])
        return rates, np.zeros(grid.size)

    def _split(self, n: int) -> list[int]:
        """Draws of each block; none where every rate is known."""
        if set(self.rules) <= set(_EXACT):
            return []
        return divide_rows(self.n_draws, 2 * n, limit=_BLOCK)

    def _draw_rates(
        self, n: int, shifts: FloatArray, report: Callable[[], object]
    ) -> dict[Rule, tuple[FloatArray, FloatArray]]:
        rules = [rule for rule in self.rules if rule not in _EXACT]
        critical = find_critical(self.rules, n, self.criteria.alpha, self.rng)
        hits = {rule: np.zeros(shifts.size) for rule in rules}
        borderline = np.zeros(shifts.size)
        for size in self._split(n):
            a, b = self.pool.draw(size, n, self.rng)
            for column, shift in enumerate(shifts):
                found = decide(a + shift, b, rules, self.criteria, critical=critical)
                borderline[column] += np.count_nonzero(found.borderline)
                for rule in rules:
                    hits[rule][column] += np.count_nonzero(found.for_a[rule])
                report()
        rates = {rule: hits[rule] / self.n_draws for rule in rules}
        errors = {rule: monte_carlo_error(rates[rule], self.n_draws) for rule in rules}
        if critical is not None:
            of_null = borderline / self.n_draws / 2
            errors[PERMUTATION] = np.hypot(errors[PERMUTATION], of_null)
        return {rule: (rates[rule], errors[rule]) for rule in rules}


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
    yield (
        "false positives count A declared better between equals; that either is, comes about "
        "twice as often"
    )
