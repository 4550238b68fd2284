"""Error rates of rules of comparison, if scores are normal."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count

import numpy as np

from outperform.errors import InvalidInput
from outperform.questions.compare.answer import make_resplit
from outperform.questions.simulate.result import (
    ErrorRates,
    check_rules,
    make_curve,
    monte_carlo_error,
)
from outperform.questions.simulate.scenarios import (
    IDEAL,
    RESPLITS_NAME,
    Scenario,
    describe_resplits,
)
from outperform.runs.scope import Resplit
from outperform.stats.checks import FloatArray, check_count, check_gamma
from outperform.stats.chunks import divide_rows
from outperform.stats.decision_rules import (
    PUBLISHED_IMPROVEMENT,
    RULES,
    Criteria,
    CriticalValue,
    Rule,
    decide,
    permutation_critical_value,
)
from outperform.stats.detection_rates import EXACT_RULES, detection_rate, difference_of_probability

Report = Callable[[int, int], None]  # steps done, of how many

PROBABILITIES = tuple(round(0.4 + 0.025 * i, 3) for i in range(25))
_FARTHEST = 1e6  # standard deviations: P(A>B) = 1 for all that ranks can tell
_BLOCK = 1_000_000  # scores drawn at a time, to bound the memory
PERMUTATION: Rule = "brunner-munzel-permutation"
CORRECTED: Rule = "nadeau-bengio"


def simulate_error_rates(
    scenarios: Sequence[Scenario] = (IDEAL,),
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
        What scores are like: `IDEAL`, or as `describe_variation` and `list_scenarios` make them.
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
    if resplit is not None:
        scenarios = (*scenarios, describe_resplits(resplit))
    overlap = 0.0 if resplit is None else resplit.n_test / resplit.n_train
    Criteria(alpha=alpha, delta=_choose_delta(delta, 0.75))  # refuses what is none
    check_count("n_draws", n_draws, at_least=100)
    _check_scenarios(scenarios)
    check_settings(n_pairs, gammas)
    n_pairs, gammas = sorted(set(n_pairs)), sorted(set(gammas))
    grid = np.unique([*probabilities, 0.5, *gammas])
    difference_of_probability(grid)  # refuses what is no probability
    simulation = _Simulation(
        tuple(rule for rule in rules if rule not in EXACT_RULES), alpha, n_draws, rng, report
    )
    simulated = simulation.run(scenarios, n_pairs, grid) if simulation.rules else {}
    curves = []
    for scenario, n, gamma in ((s, n, g) for s in scenarios for n in n_pairs for g in gammas):
        criteria = Criteria(gamma, alpha, _choose_delta(delta, gamma), overlap=overlap)
        for rule in rules:
            if rule in EXACT_RULES:
                rates = detection_rate(rule, n, grid, scores=scenario.scores, criteria=criteria)
                errors = np.zeros(grid.size)
            else:
                rates, errors = simulated[scenario.name, n, rule]
            curves.append(make_curve(rule, (scenario.name, n, gamma), grid, rates, errors))
    return ErrorRates(
        tuple(curves), alpha, n_draws, "normal scores", tuple(_find_doubts(scenarios, rules))
    )


def find_critical(
    rules: Sequence[Rule], n: int, alpha: float, rng: np.random.Generator
) -> CriticalValue | None:
    """Critical value of the permutation test, if it is among the rules."""
    return permutation_critical_value(n, alpha, rng=rng) if PERMUTATION in rules else None


def check_settings(n_pairs: Sequence[int], gammas: Sequence[float]) -> None:
    """Refuse sample sizes and smallest P(A>B) that matter which nobody could look at."""
    _check_any("number of pairs", n_pairs)
    _check_any("gamma", gammas)
    for n in n_pairs:
        check_count("n_pairs", n, at_least=2)
    for gamma in gammas:
        check_gamma(gamma)


def _choose_rules(rules: Sequence[Rule] | None, resplit: Resplit | None) -> tuple[Rule, ...]:
    """Rules in order; the corrected test is for splits whose sizes are known."""
    if rules is None:
        return tuple(rule for rule in RULES if rule != CORRECTED or resplit is not None)
    if CORRECTED in rules and resplit is None:
        raise InvalidInput(
            f"the rule {CORRECTED!r} corrects for splits, and nothing says how large they are",
            "Pass --train-size and --test-size (train_size and test_size in Python)",
        )
    return check_rules(rules)


def _check_scenarios(scenarios: Sequence[Scenario]) -> None:
    _check_any("scenario", scenarios)
    names = [scenario.name for scenario in scenarios]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise InvalidInput(
            f"{names.count(repeated)} scenarios are called {repeated!r}", "Name them apart"
        )


def _check_any(what: str, given: Sequence[object]) -> None:
    if not given:
        raise InvalidInput(f"there is no {what} to look at", "Name one or more")


def _choose_delta(delta: float | None, gamma: float) -> float:
    return float(difference_of_probability(gamma)) if delta is None else delta


_Rates = dict[tuple[str, int, Rule], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, slots=True)
class _Simulation:
    """Rules of which nobody knows the rates, applied to scores that are drawn."""

    rules: tuple[Rule, ...]
    alpha: float
    n_draws: int
    rng: np.random.Generator
    report: Report | None

    def run(
        self, scenarios: Sequence[Scenario], n_pairs: Sequence[int], grid: FloatArray
    ) -> _Rates:
        """Rates and their errors by scenario, number of pairs and rule."""
        found: _Rates = {}
        n_steps = grid.size * len(scenarios) * sum(len(self._split(n)) for n in n_pairs)
        steps = count(1)
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            for n in n_pairs:
                hits = np.zeros((len(scenarios), grid.size, len(self.rules) + 1))
                for number, column, counts in self._tally(scenarios, n, grid, threads):
                    hits[number, column] += counts
                    if self.report:
                        self.report(next(steps), n_steps)
                for scenario, counted in zip(scenarios, hits, strict=True):
                    found |= self._rate(scenario.name, n, counted.T / self.n_draws)
        return found

    def _tally(
        self,
        scenarios: Sequence[Scenario],
        n: int,
        grid: FloatArray,
        threads: ThreadPoolExecutor,
    ) -> Iterator[tuple[int, int, list[int]]]:
        """Decisions for A by number of the scenario and of the P(A>B), block by block."""
        critical = find_critical(self.rules, n, self.alpha, self.rng)
        for size in self._split(n):
            noise = _Noise.draw(size, n, self.rng)
            for number, scenario in enumerate(scenarios):
                decided = partial(self._count, noise, scenario, critical)
                for column, counts in enumerate(threads.map(decided, grid)):
                    yield number, column, counts

    def _split(self, n: int) -> list[int]:
        """Draws of each block."""
        return divide_rows(self.n_draws, 2 * n, limit=_BLOCK)

    def _count(
        self,
        noise: "_Noise",
        scenario: Scenario,
        critical: CriticalValue | None,
        probability: float,
    ) -> list[int]:
        """Samples that each rule decides for A, and the borderline ones of the permutation test."""
        a, b = noise.make_scores(scenario, probability)
        found = decide(a, b, self.rules, Criteria(alpha=self.alpha), critical=critical)
        decisions = [*(found.for_a[rule] for rule in self.rules), found.borderline]
        return [int(np.count_nonzero(each)) for each in decisions]

    def _rate(self, name: str, n: int, shares: FloatArray) -> _Rates:
        borderline = shares[-1]
        rates: _Rates = {}
        for rule, rate in zip(self.rules, shares[:-1], strict=True):
            error = monte_carlo_error(rate, self.n_draws)
            if rule == PERMUTATION:
                error = np.hypot(error, borderline / 2)
            rates[name, n, rule] = rate, error
        return rates


@dataclass(frozen=True, slots=True)
class _Noise:
    """What is drawn once and serves every scenario and P(A>B)."""

    bias: FloatArray  # shape (2, n_draws, 1)
    scores: FloatArray  # shape (2, n_draws, n_pairs)

    @classmethod
    def draw(cls, n_draws: int, n_pairs: int, rng: np.random.Generator) -> "_Noise":
        return cls(rng.standard_normal((2, n_draws, 1)), rng.standard_normal((2, n_draws, n_pairs)))

    def make_scores(self, scenario: Scenario, probability: float) -> tuple[FloatArray, FloatArray]:
        """Scores of A and of B."""
        shift = np.clip(difference_of_probability(probability), -_FARTHEST, _FARTHEST)
        spread, bias = scenario.scores.spread, scenario.scores.bias
        a, b = spread * self.scores + bias * self.bias
        return a + shift, b


def _find_doubts(scenarios: Sequence[Scenario], rules: Sequence[Rule]) -> Iterator[str]:
    yield (
        "scores are taken to be normal and equally spread, and pairs to share no noise: where they "
        "do, rules that ignore pairs find less than here at the same P(A>B)"
    )
    if any(scenario.scores.bias and scenario.name != RESPLITS_NAME for scenario in scenarios):
        yield (
            "a biased estimator is taken to give all runs of an algorithm one normal bias, and A "
            "and B biases of their own; unless it is said, its runs vary as much as ideal ones"
        )
    yield (
        "false positives count A declared better between equals; that either is, comes about "
        "twice as often"
    )
    if "oracle" in rules:
        yield (
            "the oracle knows the standard deviation: it asks for half the mean difference that "
            "P(A>B) = γ stands for"
        )
    for scenario in scenarios:
        yield from scenario.notes
