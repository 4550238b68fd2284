"""Error rates of rules of comparison, if scores are normal."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from outperform.errors import InvalidInput
from outperform.questions.compare.answer import make_resplit
from outperform.questions.simulate.drawn_rates import (
    EITHER_SIDE,
    PROBABILITIES,
    Draws,
    Rates,
    Report,
    Samples,
    check_any,
    check_rules,
    check_settings,
)
from outperform.questions.simulate.result import DetectionCurve, ErrorRates, make_curve
from outperform.questions.simulate.scenarios import (
    IDEAL,
    RESPLITS_NAME,
    Scenario,
    describe_resplits,
    measure_variation,
)
from outperform.runs.scope import Resplit
from outperform.stats.checks import FloatArray
from outperform.stats.decision_rules import (
    EXACT_RULES,
    PUBLISHED_IMPROVEMENT,
    RULES,
    Criteria,
    Rule,
    detection_rate,
    difference_of_probability,
)

_FARTHEST = 1e6  # standard deviations: P(A>B) = 1 for all that ranks can tell
_CORRECTED: Rule = "nadeau-bengio"


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
    draws = Draws(tuple(rule for rule in rules if rule not in EXACT_RULES), criteria, n_draws, rng)
    shifts = np.clip(difference_of_probability(grid), -_FARTHEST, _FARTHEST)
    scores = _Scores(listed, grid, shifts, rng)
    simulated = draws.find_rates(scores.draw, n_pairs, len(listed) * grid.size, report)
    curves = scores.trace(rules, n_pairs, by_gamma, simulated)
    doubts = _find_doubts(listed, rules)
    return ErrorRates(tuple(curves), alpha, n_draws, "normal scores", tuple(doubts))


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


@dataclass(frozen=True, slots=True)
class _Scores:
    """Normal scores of every scenario at every true P(A>B): a column each, scenarios apart."""

    scenarios: tuple[Scenario, ...]
    grid: FloatArray
    shifts: FloatArray  # of the scores of A, by P(A>B)
    rng: np.random.Generator

    def draw(self, n_draws: int, n: int) -> Samples:
        """Draw noise once, which serves every scenario and P(A>B)."""
        shared = self.rng.standard_normal((2, n_draws, 1))
        noise = self.rng.standard_normal((2, n_draws, n))

        def make_scores(column: int) -> tuple[FloatArray, FloatArray]:
            number, place = divmod(column, self.grid.size)
            scores = self.scenarios[number].scores
            a, b = scores.spread * noise + scores.bias * shared
            return a + self.shifts[place], b

        return make_scores

    def trace(
        self,
        rules: Sequence[Rule],
        n_pairs: Sequence[int],
        criteria: Sequence[Criteria],
        simulated: Mapping[int, Rates],
    ) -> Iterator[DetectionCurve]:
        """Trace the curves of all settings, from exact rates where they are known."""
        settings = product(enumerate(self.scenarios), n_pairs, criteria, rules)
        for (number, scenario), n, judged, rule in settings:
            if rule in EXACT_RULES:
                scores, errors = scenario.scores, np.zeros(self.grid.size)
                rates = detection_rate(rule, n, self.grid, scores=scores, criteria=judged)
            else:
                columns = slice(number * self.grid.size, (number + 1) * self.grid.size)
                rates, errors = (each[columns] for each in simulated[n][rule])
            yield make_curve(rule, (scenario.name, n, judged.gamma), self.grid, rates, errors)


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
    for scenario in scenarios:
        yield from scenario.notes
