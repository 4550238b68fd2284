"""The designs that a budget may go to, and what each buys."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from scipy.special import ndtr, ndtri

from outperform.errors import TooFewRuns
from outperform.plain_values import Plain
from outperform.questions.plan.constants import Constants, SearchLength
from outperform.stats import (
    BudgetSplit,
    Criteria,
    NormalScores,
    Variation,
    best_split,
    detection_rate,
    effective_scores,
    smallest_detectable_probability,
    smallest_shown_probability,
)

TUNED_ANEW = "pipelines tuned anew"
THESE_SEARCHES = "the hyperparameters that one search found"
REDRAWN = "one search, and others redrawn from it"
_MOST_BUDGET = 1e9  # fits of each


@dataclass(frozen=True, slots=True)
class Costs(Plain):
    """What a trial of every search and a replicate of every pipeline on every task cost."""

    trial: float
    fit: float
    unit: str = "fits"  # or seconds
    fits_per_trial: int = 1
    fits_per_replicate: int = 1

    def search(self, n_trials: int) -> float:
        """Cost of one search of each."""
        return n_trials * self.trial

    def count_fits(self, n_trials: int, split: BudgetSplit) -> int:
        """Fits of all pipelines on all tasks."""
        each = n_trials * self.fits_per_trial + split.n_replicates * self.fits_per_replicate
        return split.n_searches * each


@dataclass(frozen=True, slots=True)
class ErrorRates(Plain):
    """Accepted chances of a false alarm and of a miss, and the P(A>B) that matters."""

    gamma: float = 0.75
    alpha: float = 0.05
    beta: float = 0.05


@dataclass(frozen=True, slots=True)
class DesignPlan(Plain):
    """What a budget buys by one design."""

    JSON = (
        "name design n_trials n_searches=split.n_searches n_replicates=split.n_replicates n_fits "
        "cost=split.cost error error_low error_high effective_runs shown n_pairs compare_about "
        "compare_shown compare_false_alarms cost_for_gamma"
    )

    name: str
    design: str  # kind, as in study files
    n_trials: int
    split: BudgetSplit
    n_fits: int
    error: float  # root mean squared, of a pipeline's mean, in standard deviations of a run
    error_low: float  # if ρ is as small as it may be
    error_high: float
    effective_runs: float  # independent runs whose mean is as precise
    shown: float | None  # smallest P(A>B) of pipelines tuned anew, by the mean difference
    compare_shown: float | None  # smallest P(A>B) that the wins in `outperform compare` show
    compare_false_alarms: float | None  # where these are read as of pipelines tuned anew
    cost_for_gamma: float | None  # at which `shown` is γ; None: no budget does it

    @property
    def is_ideal(self) -> bool:
        """Whether every run has a search of its own."""
        return self.design == "ideal"

    @property
    def holds_ideal(self) -> bool:
        """Whether the first runs after its searches are those of the ideal design."""
        return _holds_ideal(self.design, self.split)

    @property
    def n_pairs(self) -> int:
        """Pairs that `outperform compare` takes: a run of each search, or those of the first."""
        return _count_pairs(self.design, self.split)

    @property
    def compare_about(self) -> str:
        """What the P(A>B) of `outperform compare` is about."""
        if self.holds_ideal:
            return TUNED_ANEW
        return THESE_SEARCHES if self.design == "fix-hopt" else REDRAWN


@dataclass(frozen=True, slots=True)
class DesignOption:
    """A design, with what may be chosen of it: searches, replicates of each, and their trials."""

    name: str
    constants: Constants
    lengths: Sequence[SearchLength | None]  # None: searches as long as the study's
    n_trials: int  # of the study's searches
    fixed: Mapping[str, int]  # n_searches or n_replicates, where that is not to be chosen

    @property
    def design(self) -> str:
        """Kind, as in study files."""
        return "ideal" if self.fixed.get("n_replicates") == 1 else self.constants.design

    def choose(self, budget: float, costs: Costs) -> tuple[SearchLength | None, BudgetSplit]:
        """Trials, searches and replicates with the least error."""
        affordable = [
            length
            for length in self.lengths
            if costs.search(self._count_trials(length)) + costs.fit <= budget * (1 + 1e-9)
        ]
        splits = {i: self._split(budget, costs, each) for i, each in enumerate(affordable)}
        best = min(splits, key=lambda i: self._find_error(splits[i], affordable[i]))
        return affordable[best], splits[best]

    def error_at(self, budget: float, costs: Costs) -> float:
        """Error of the best choice."""
        length, split = self.choose(budget, costs)
        return self._find_error(split, length)

    def plan(self, budget: float, costs: Costs, rates: ErrorRates) -> DesignPlan:
        """What a budget buys."""
        length, split = self.choose(budget, costs)
        n_trials, sizes = self._count_trials(length), (split.n_searches, split.n_replicates)
        rho = self._vary(length).correlation
        n_pairs = _count_pairs(self.design, split)
        shared = 0.0 if _holds_ideal(self.design, split) else rho
        return DesignPlan(
            name=self.name,
            design=self.design,
            n_trials=n_trials,
            split=split,
            n_fits=costs.count_fits(n_trials, split),
            error=self._find_error(split, length),
            error_low=self._find_error(split, length, self.constants.low),
            error_high=self._find_error(split, length, self.constants.high),
            effective_runs=effective_scores(*sizes, rho) / self._inflation,
            shown=self._find_shown(split, length, rates),
            compare_shown=_find_wins(n_pairs, rates),
            compare_false_alarms=_find_false_alarms(n_pairs, shared, rates),
            cost_for_gamma=self._price_gamma(costs, rates),
        )

    def _vary(self, length: SearchLength | None, rho: float | None = None) -> Variation:
        varied = self.constants.vary(rho, length)
        # What is off is off against ideal runs.
        return Variation(varied.correlation) if self.design == "ideal" else varied

    def _find_error(
        self, split: BudgetSplit, length: SearchLength | None, rho: float | None = None
    ) -> float:
        return self._vary(length, rho).mean_error(split.n_searches, split.n_replicates)

    def _split(self, budget: float, costs: Costs, length: SearchLength | None) -> BudgetSplit:
        return best_split(
            budget,
            self._vary(length).correlation,
            search_cost=costs.search(self._count_trials(length)),
            fit_cost=costs.fit,
            **self.fixed,
        )

    @property
    def _inflation(self) -> float:
        """Variance of a run of this design, in variances of one of a pipeline tuned anew."""
        return 1.0 if self.design == "ideal" else self.constants.variance

    def _find_shown(
        self, split: BudgetSplit, length: SearchLength | None, rates: ErrorRates
    ) -> float | None:
        sizes, rho = (split.n_searches, split.n_replicates), self._vary(length).correlation
        with suppress(TooFewRuns):
            shown = smallest_shown_probability(*sizes, rho, alpha=rates.alpha, beta=rates.beta)
            # The difference is of pipelines tuned anew, and the noise that of this design.
            return float(ndtr(ndtri(shown) * math.sqrt(self._inflation)))
        return None

    def _count_trials(self, length: SearchLength | None) -> int:
        return self.n_trials if length is None else length.n_trials

    def _price_gamma(self, costs: Costs, rates: ErrorRates) -> float | None:
        """Budget from which on γ is shown, but for whole numbers; None if none is enough."""

        def is_enough(budget: float) -> bool:
            length, split = self.choose(budget, costs)
            shown = self._find_shown(split, length, rates)
            return shown is not None and shown <= rates.gamma

        if rates.gamma == 0.5:
            return None
        searches = (costs.search(self._count_trials(each)) for each in self.lengths)
        low = high = min(searches) + costs.fit
        while not is_enough(high):
            low, high = high, 2 * high
            if high > _MOST_BUDGET * costs.fit:
                return None
        while high - low > costs.fit:
            middle = (low + high) / 2
            low, high = (low, middle) if is_enough(middle) else (middle, high)
        return self.choose(high, costs)[1].cost


def _holds_ideal(design: str, split: BudgetSplit) -> bool:
    return design == "ideal" or (design == "fix-hopt" and split.n_searches > 1)


def _count_pairs(design: str, split: BudgetSplit) -> int:
    return split.n_searches if _holds_ideal(design, split) else split.n_replicates


def _find_wins(n_pairs: int, rates: ErrorRates) -> float | None:
    with suppress(TooFewRuns):
        return smallest_detectable_probability(
            n_pairs, gamma=0.5, alpha=rates.alpha, beta=rates.beta
        )
    return None


def _find_false_alarms(n_pairs: int, rho: float, rates: ErrorRates) -> float | None:
    """Chance that the wins of equals differ significantly, either way; None if no run varies."""
    if rho == 1:
        return None
    scores = NormalScores(math.sqrt(1 - rho), math.sqrt(rho))
    criteria = Criteria(gamma=0.5, alpha=rates.alpha)
    return 2 * float(detection_rate("verdict", n_pairs, 0.5, scores=scores, criteria=criteria))
