"""Error rates of rules of comparison: of normal scores, or by drawing from runs at hand."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from outperform.errors import InvalidInput
from outperform.questions.compare.answer import make_resplit
from outperform.questions.simulate.drawn_rates import (
    EITHER_SIDE,
    PROBABILITIES,
    Report,
    Samples,
    check_any,
    check_rules,
    check_settings,
    find_rates,
)
from outperform.questions.simulate.result import DetectionCurve, ErrorRates, make_curve
from outperform.questions.simulate.scenarios import (
    IDEAL,
    RESPLITS_NAME,
    Scenario,
    describe_resplits,
    measure_variation,
)
from outperform.runs import Runs, read_runs
from outperform.runs.scope import Resplit
from outperform.stats.checks import FloatArray, merge_ties
from outperform.stats.decision_rules import (
    EXACT_RULES,
    PUBLISHED_IMPROVEMENT,
    RULES,
    RULES_OF_PAIRS,
    Criteria,
    Rule,
    detection_rate,
    difference_of_probability,
)
from outperform.stats.sequential import anytime_power
from outperform.stats.verdicts import verdict_power
from outperform.wording import count

_FARTHEST = 1e6  # standard deviations: P(A>B) = 1 for all that ranks can tell
_CORRECTED: Rule = "nadeau-bengio"
_FEW_RUNS = 20
_EXACT: tuple[Rule, ...] = ("verdict", "anytime")
_UNKNOWING: tuple[Rule, ...] = ("oracle", "nadeau-bengio")  # need what runs alone do not tell


def simulate_error_rates(
    scenarios: Sequence[Scenario] | str | Path = (IDEAL,),
    *,
    n_pairs: Sequence[int] = (50,),
    gammas: Sequence[float] = (0.75,),
    alpha: float = 0.05,
    delta: float | None = PUBLISHED_IMPROVEMENT,
    rules: Sequence[Rule] | None = None,
    train_size: int | None = None,
    test_size: int | None = None,
    probabilities: Sequence[float] = PROBABILITIES,
    n_draws: int = 10_000,
    rng: np.random.Generator,
    report: Report | None = None,
) -> ErrorRates:
    """Find out how often rules declare A better, if scores are normal.

    Parameters
    ----------
    scenarios
        What scores are like: `IDEAL`, or as `describe_variation`, `read_scenarios` and
        `measure_variation` make them. The path of a store stands for what is measured there.
    n_pairs, gammas
        Sample sizes and smallest P(A>B) that matter; every combination is looked at.
    delta
        Difference of averages that counts as better, in standard deviations. None: the one at
        which P(A>B) = γ.
    rules
        All by default, Nadeau–Bengio where the sizes of splits are there.
    train_size, test_size
        Sizes of the sets that one dataset is divided into anew for every run: adds the scenario of
        such runs, and the test that is corrected for what they share.
    probabilities
        True P(A>B); 0.5 and each γ are added.
    n_draws
        Simulated comparisons behind each rate that is not known exactly.
    report
        Called with the number of steps done, and of all.

    References
    ----------
    Bouthillier et al. (2021), Accounting for Variance in ML Benchmarks, figures 6 and I.6.

    Examples
    --------
    >>> rates = simulate_error_rates(rules=["verdict"], rng=np.random.default_rng(0))
    >>> print(rates)
    With 50 pairs, the P(A>B) verdict declares A better in 1.6% of the comparisons of equals, and \
fails to in 5.5% of those with P(A>B) = γ = 0.75 (normal scores, α = 0.05).
    """
    resplit = make_resplit(train_size, test_size)
    rules = _choose_rules(rules, resplit)
    listed = _list_scenarios(scenarios, resplit)
    criteria = Criteria(alpha=alpha, delta=_choose_delta(delta, 0.75))  # refuses what is none
    check_settings(n_pairs, gammas, n_draws)
    n_pairs, gammas = sorted(set(n_pairs)), sorted(set(gammas))
    grid = np.unique([*probabilities, 0.5, *gammas])
    overlap = 0.0 if resplit is None else resplit.n_test / resplit.n_train
    by_gamma = [Criteria(g, alpha, _choose_delta(delta, g), overlap=overlap) for g in gammas]
    draw = partial(_draw_normal, scenarios=listed, grid=grid, rng=rng)
    drawn_rules = [rule for rule in rules if rule not in EXACT_RULES]
    drawing: dict[str, Any] = {"n_draws": n_draws, "rng": rng, "report": report}
    n_columns = len(listed) * grid.size
    simulated = find_rates(draw, n_columns, drawn_rules, criteria, n_pairs=n_pairs, **drawing)
    curves = []
    for (number, scenario), n, judged, rule in product(enumerate(listed), n_pairs, by_gamma, rules):
        if rule in EXACT_RULES:
            errors = np.zeros(grid.size)
            rates = detection_rate(rule, n, grid, scores=scenario.scores, criteria=judged)
        else:
            columns = slice(number * grid.size, (number + 1) * grid.size)
            rates, errors = (each[columns] for each in simulated[n][rule])
        curves.append(make_curve(rule, (scenario.name, n, judged.gamma), grid, rates, errors))
    deltas = [judged.delta for judged in by_gamma]
    threshold = _describe_threshold(rules, deltas, "; --delta 0 asks for any lead")
    doubts = (*_find_doubts(listed, rules), *threshold)
    return ErrorRates(tuple(curves), alpha, n_draws, "normal scores", doubts)


def _choose_rules(rules: Sequence[Rule] | None, resplit: Resplit | None) -> tuple[Rule, ...]:
    """Rules in order; the corrected test is for splits whose sizes are known."""
    if rules is None:
        return tuple(rule for rule in RULES if rule != _CORRECTED or resplit is not None)
    if _CORRECTED in rules and resplit is None:
        raise InvalidInput(
            f"the rule {_CORRECTED!r} corrects for splits, and nothing says how large they are",
            "Pass --train-size and --test-size (train_size and test_size in Python)",
        )
    return check_rules(rules)


def _list_scenarios(
    scenarios: Sequence[Scenario] | str | Path, resplit: Resplit | None
) -> tuple[Scenario, ...]:
    if isinstance(scenarios, str | Path):
        scenarios = measure_variation(scenarios)
    listed = (*scenarios, *([] if resplit is None else [describe_resplits(resplit)]))
    check_any("scenario", listed)
    names = [scenario.name for scenario in listed]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise InvalidInput(
            f"{names.count(repeated)} scenarios are called {repeated!r}", "Name them apart"
        )
    return listed


def _choose_delta(delta: float | None, gamma: float) -> float:
    return float(difference_of_probability(gamma)) if delta is None else delta


def _draw_normal(
    n_draws: int,
    n: int,
    *,
    scenarios: Sequence[Scenario],
    grid: FloatArray,
    rng: np.random.Generator,
) -> Samples:
    """Draw noise once, which serves every scenario at every true P(A>B): a column each."""
    shifts = np.clip(difference_of_probability(grid), -_FARTHEST, _FARTHEST)  # of the scores of A
    shared, noise = rng.standard_normal((2, n_draws, 1)), rng.standard_normal((2, n_draws, n))

    def make_scores(column: int) -> tuple[FloatArray, FloatArray]:
        number, place = divmod(column, grid.size)
        scores = scenarios[number].scores
        a, b = scores.spread * noise + scores.bias * shared
        return a + shifts[place], b

    return make_scores


def _find_doubts(scenarios: Sequence[Scenario], rules: Sequence[Rule]) -> Iterator[str]:
    yield (
        "scores are taken to be normal and equally spread, and pairs to share no noise: where they "
        "do, rules that ignore pairs find less than here at the same P(A>B)"
    )
    if any(scenario.scores.bias and scenario.name != RESPLITS_NAME for scenario in scenarios):
        yield (
            "a biased design is taken to give all runs of an algorithm one normal bias, and A and "
            "B biases of their own; unless it is said, its runs vary as much as ideal ones"
        )
    yield EITHER_SIDE
    if "oracle" in rules:
        yield (
            "the oracle knows the standard deviation: it asks for half the mean difference that "
            "P(A>B) = γ stands for"
        )
    if "nadeau-bengio" in rules:
        yield (
            "nadeau-bengio is held to α here; `compare` asks for less (p < 0.01 at α = 0.05), "
            "since learners may err more often than this model says"
        )
    for scenario in scenarios:
        yield from scenario.notes


def _describe_threshold(
    rules: Sequence[Rule], deltas: Sequence[float], other: str = ""
) -> Iterator[str]:
    """What the rules ask for whose names do not tell it, and how to ask for something else."""
    looked_at = {"single-point": "one score", "average": "the mean"}
    named = [rule for rule in looked_at if rule in rules]
    if named:
        least = " to ".join(dict.fromkeys(f"{delta:g}" for delta in (min(deltas), max(deltas))))
        by = "" if least == "0" else f" by more than {least} standard deviations"
        if least == f"{PUBLISHED_IMPROVEMENT:g}":
            by += f", the lead that published improvements have{other}"
        what = " or ".join(looked_at[rule] for rule in named)
        yield f"{' and '.join(named)}: A is declared better if {what} is higher{by}"


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
    draw = partial(pool.draw, shifts=[*shifts.values()], rng=rng)
    drawn_rules = [rule for rule in chosen if rule not in _EXACT]
    drawing: dict[str, Any] = {"n_draws": n_draws, "rng": rng, "report": report}
    drawn = find_rates(draw, grid.size, drawn_rules, criteria, n_pairs=sizes, **drawing)
    curves = []
    exactly = np.zeros(grid.size)
    for n, rule in product(sizes, chosen):
        # Wins among pairs that are drawn with replacement are binomial.
        if rule == "verdict":
            powers = [verdict_power(n, p, gamma=gamma, alpha=alpha) for p in grid]
            rates, errors = np.array(powers), exactly
        elif rule == "anytime":
            rates, errors = anytime_power(n, grid, gamma=gamma, alpha=alpha), exactly
        else:
            rates, errors = drawn[n][rule]
        curves.append(make_curve(rule, (f"{a} against {b}", n, gamma), grid, rates, errors))
    doubts = (
        *scores.notes,
        *table.notes,
        *_doubt_pool(pool, curves[0], gamma, scores.n_dropped),
        *_describe_threshold(chosen, [criteria.delta]),
    )
    return ErrorRates(tuple(curves), alpha, n_draws, f"runs of {a} and {b}, drawn again", doubts)


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


def _doubt_pool(pool: _Pool, curve: DetectionCurve, gamma: float, n_dropped: int) -> Iterator[str]:
    n = min(pool.a.size, pool.b.size)
    (nearest, _), (equals, _) = curve.at(gamma), curve.at(0.5)
    if abs(nearest - gamma) > 0.001:
        yield (
            f"false negatives are at P(A>B) = {nearest:.3g}, not {gamma:g}: the runs at hand allow "
            "nothing nearer"
        )
    often = "equally often"
    if abs(equals - 0.5) > 0.001:
        often = f"{equals:.3g} of the time, the nearest to half that the runs at hand allow"
    yield (
        f"equals are made to win {often}, which leaves their means different where differences "
        "are skewed: tests of means then find what is there"
    )
    yield (
        f"the {n} runs at hand are taken for all there could be, and an advantage for a constant "
        "that is added to every score of A"
    )
    if n < _FEW_RUNS:
        yield f"{n} runs are few to stand for all: these rates are rough"
    if n_dropped:
        yield (
            f"{count(n_dropped, 'incomplete run was', 'incomplete runs were')} left out: if these "
            "went badly, scores vary more than the runs at hand show"
        )
    yield EITHER_SIDE
