"""A plan of a budget: what each design buys, and which to write into the study file."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr, ndtri

from outperform.errors import TooFewRuns
from outperform.plain_values import Plain
from outperform.questions.plan.constants import Constants, RunVariation, SearchLength
from outperform.questions.result import Result, Table
from outperform.runs.scope import THIS_DATASET, Scope
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
from outperform.wording import count, format_duration

TUNED_ANEW = "pipelines tuned anew"
THESE_SEARCHES = "the hyperparameters that one search found"
REDRAWN = "one search, and others redrawn from it"
_MOST_BUDGET = 1e9  # fits of each
_N_BUDGETS = 40  # points of a curve
_AS_GOOD = 1.05  # times the least error: constants are not known any better
_REACH = 10  # times the budget that curves go to
_SURE = 0.999  # P(A>B) above which nobody needs a number


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
    shown: float | None  # smallest P(A>B) of pipelines tuned anew, by the means of searches
    cost_for_gamma: float | None  # at which `shown` is γ; None: no budget does it
    correlation: float  # ρ of two runs after the same search
    rates: ErrorRates

    @property
    def is_ideal(self) -> bool:
        """Whether every run has a search of its own."""
        return self.design == "ideal"

    @property
    def holds_ideal(self) -> bool:
        """Whether the first runs after its searches are those of the ideal design."""
        return self.is_ideal or (self.design == "fix-hopt" and self.split.n_searches > 1)

    @property
    def n_pairs(self) -> int:
        """Pairs that `outperform compare` takes: a run of each search, or those of the first."""
        return self.split.n_searches if self.holds_ideal else self.split.n_replicates

    @property
    def compare_shown(self) -> float | None:
        """Smallest P(A>B) that the wins in `outperform compare` show."""
        n, alpha, beta = self.n_pairs, self.rates.alpha, self.rates.beta
        with suppress(TooFewRuns):
            return smallest_detectable_probability(n, gamma=0.5, alpha=alpha, beta=beta)
        return None

    @property
    def compare_false_alarms(self) -> float | None:
        """Chance that the wins of equals, read as tuned anew, differ; None if no run varies."""
        rho = 0.0 if self.holds_ideal else self.correlation
        if rho == 1:
            return None
        scores = NormalScores(math.sqrt(1 - rho), math.sqrt(rho))
        rule = Criteria(gamma=0.5, alpha=self.rates.alpha)
        rate = detection_rate("verdict", self.n_pairs, 0.5, scores=scores, criteria=rule)
        return 2 * float(rate)

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
        choices = []
        for length in self.lengths:
            search = costs.search(self._count_trials(length))
            if search + costs.fit <= budget * (1 + 1e-9):
                rho, fit = self._vary(length).correlation, costs.fit
                split = best_split(budget, rho, search_cost=search, fit_cost=fit, **self.fixed)
                choices.append((length, split))
        return min(choices, key=lambda choice: self._find_error(*choice))

    def error_at(self, budget: float, costs: Costs) -> float:
        """Error of the best choice."""
        return self._find_error(*self.choose(budget, costs))

    def plan(self, budget: float, costs: Costs, rates: ErrorRates) -> DesignPlan:
        """What a budget buys."""
        length, split = self.choose(budget, costs)
        n_trials, rho = self._count_trials(length), self._vary(length).correlation
        fits = n_trials * costs.fits_per_trial + split.n_replicates * costs.fits_per_replicate
        n_effective = effective_scores(split.n_searches, split.n_replicates, rho)
        return DesignPlan(
            name=self.name,
            design=self.design,
            n_trials=n_trials,
            split=split,
            n_fits=split.n_searches * fits,
            error=self._find_error(length, split),
            error_low=self._find_error(length, split, self.constants.low),
            error_high=self._find_error(length, split, self.constants.high),
            effective_runs=n_effective / self._inflation,
            shown=self._find_shown(length, split, rates),
            cost_for_gamma=self._price_gamma(costs, rates),
            correlation=rho,
            rates=rates,
        )

    def _vary(self, length: SearchLength | None, rho: float | None = None) -> Variation:
        varied = self.constants.vary(rho, length)
        # What is off is off against ideal runs.
        return Variation(varied.correlation) if self.design == "ideal" else varied

    def _find_error(
        self, length: SearchLength | None, split: BudgetSplit, rho: float | None = None
    ) -> float:
        return self._vary(length, rho).mean_error(split.n_searches, split.n_replicates)

    @property
    def _inflation(self) -> float:
        """Variance of a run of this design, in variances of one of a pipeline tuned anew."""
        return 1.0 if self.design == "ideal" else self.constants.variance

    def _find_shown(
        self, length: SearchLength | None, split: BudgetSplit, rates: ErrorRates
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
            shown = self._find_shown(*self.choose(budget, costs), rates)
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


@dataclass(frozen=True, slots=True)
class BudgetCurve(Plain):
    """Error of one design against the budget."""

    name: str
    budgets: tuple[float, ...]
    errors: tuple[float, ...]  # in standard deviations of a run


@dataclass(frozen=True, slots=True)
class BudgetPlan(Result):
    """What each design buys with a budget, the simplest first."""

    JSON = (
        "budget unit=costs.unit n_trials rates recommended=recommended.name study_lines constants "
        "variations search_lengths designs=plans curves scope caveats"
    )

    budget: float
    costs: Costs
    n_trials: int  # of the study's searches
    rates: ErrorRates
    constants: tuple[Constants, ...]
    plans: tuple[DesignPlan, ...]
    options: tuple[DesignOption, ...] = field(repr=False)
    variations: tuple[RunVariation, ...] = ()  # empty: no run is there
    search_lengths: tuple[SearchLength, ...] = ()  # empty: not known
    caveats: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        """What the runs planned will vary."""
        return Scope(("searches and seeds",), THIS_DATASET, how="will vary")

    @property
    def recommended(self) -> DesignPlan:
        """The design with the least error; of those within 5% of it the simplest."""
        least = min(plan.error for plan in self.plans)
        return next(plan for plan in self.plans if plan.error <= _AS_GOOD * least)

    @property
    def study_lines(self) -> tuple[str, ...]:
        """What to write into the study file."""
        best, split = self.recommended, self.recommended.split
        lines = ["[tuning]", f"trials = {best.n_trials}"]
        if best.holds_ideal:  # without a fit more than fix-hopt has
            lines += ["[[design]]", 'kind = "ideal"', f"replicates = {split.n_searches}"]
        if not best.is_ideal:
            lines += ["[[design]]", f'kind = "{best.design}"', f"replicates = {split.n_replicates}"]
            lines += [f"repetitions = {split.n_searches}"] * (split.n_searches > 1)
        return tuple(lines)

    @property
    def curves(self) -> tuple[BudgetCurve, ...]:
        """Error of each design, from the cost of one search up to ten times the budget."""
        least = self.costs.search(self.n_trials) + self.costs.fit
        some = np.append(np.geomspace(least, _REACH * self.budget, _N_BUDGETS), self.budget)
        budgets = tuple(np.unique(some).tolist())
        errors = [tuple(o.error_at(b, self.costs) for b in budgets) for o in self.options]
        named = zip(self.options, errors, strict=True)
        return tuple(BudgetCurve(option.name, budgets, each) for option, each in named)

    def __str__(self) -> str:
        best, others = self.recommended, [p for p in self.plans if p is not self.recommended]
        least = min(plan.error for plan in self.plans)
        within = "" if best.error == least else f", within {_AS_GOOD - 1:.0%},"
        beside = "; ".join(f"{plan.name}: {plan.error:.2g}" for plan in others)
        more = "" if best.is_ideal else f" (ideal: {_describe_shown(self.plans[0])})"
        return (
            f"{self.describe(self.budget)} are best spent{within} on {describe_split(best)}: the "
            f"mean of a pipeline is then known to {best.error:.2g} standard deviations of a run "
            f"({beside}); in `outperform compare` it shows {_describe_shown(best)}{more}."
        )

    def describe(self, cost: float) -> str:
        """A cost in the unit of the budget."""
        if self.costs.unit == "fits":
            return f"{cost:,.0f} fits"
        return f"{format_duration(cost)} of fits"

    @property
    def tables(self) -> list[Table | str]:
        """What each design buys, what `compare` makes of it, what was measured, what to write."""
        rows = []
        for each in self.variations:
            if each.sd is not None:
                rho = "not known" if each.correlation is None else str(each.correlation)
                error = f"{self.recommended.error * each.sd:.2g}"
                names = f"{each.pipeline} on {each.task}"
                rows.append([names, f"{each.sd:.3g} {each.metric}", rho, error])
        header = ["", "standard deviation of a run", "ρ", "error of the mean then"]
        return [
            *self._tabulate_plans(),
            *([Table(header, rows, "As measured:")] if rows else []),
            Table(["Write into the study file:"], [[line] for line in self.study_lines]),
        ]

    def _tabulate_plans(self) -> Iterator[Table]:
        """What each design buys, and what the wins in `outperform compare` show of it."""
        bought, shown = [], []
        for plan in self.plans:
            sizes = plan.split.n_searches, plan.n_trials, plan.split.n_replicates, plan.n_fits
            errors = f"{plan.error:.3f}", f"{plan.error_low:.3f} to {plan.error_high:.3f}"
            cost, alarms = plan.cost_for_gamma, plan.compare_false_alarms
            price = "never" if cost is None else self.describe(cost)
            cells = [f"{n:,}" for n in sizes]
            bought.append([plan.name, *cells, *errors, _format_chance(plan.shown), price])
            chances = _format_chance(plan.compare_shown), "-" if alarms is None else f"{alarms:.1%}"
            shown.append([plan.name, f"{plan.n_pairs:,}", plan.compare_about, *chances])
        header = ["design", "searches", "trials", "replicates", "fits", "error", "if ρ is other"]
        header += ["P(A>B) shown", f"cost of P(A>B) = {self.rates.gamma:g}"]
        title = f"What {self.describe(self.budget)} buy (error: of a pipeline's mean, in standard "
        title += "deviations of a run; P(A>B): of pipelines tuned anew, power "
        yield Table(header, bought, f"{title}{1 - self.rates.beta:g}, α = {self.rates.alpha:g}):")
        header = ["design", "pairs", "about", "P(A>B) shown", "false alarms if read as tuned anew"]
        yield Table(header, shown, "What the wins in `outperform compare` show:")

    @property
    def advice(self) -> str:
        """What to do next."""
        means = ", which tests the means of searches" * (self.recommended.split.n_searches > 1)
        return (
            "write these lines into the study file, in place of its own trials and designs, call "
            f"`outperform run`, and then `outperform compare STORE A B`{means}."
        )


def describe_split(plan: DesignPlan) -> str:
    """Searches, trials and replicates in words."""
    n, k = plan.split.n_searches, plan.split.n_replicates
    searches = f"{count(n, 'search', 'searches')} of {count(plan.n_trials, 'trial')}"
    replicates = f"{count(k, 'replicate')}{' each' if n > 1 else ''}"
    return f"{searches} with {replicates} ({plan.design})"


def _describe_shown(plan: DesignPlan) -> str:
    """What `outperform compare` shows of pipelines tuned anew, or only of the search done."""
    wins = f"{_format_chance(plan.compare_shown)} by {plan.n_pairs:,} wins"
    if plan.split.n_searches == 1:
        return f"nothing of pipelines tuned anew, and of {plan.compare_about} a P(A>B) of {wins}"
    means = f"a P(A>B) of {_format_chance(plan.shown)} by the means of {plan.split.n_searches:,}"
    only = "" if plan.holds_ideal else f" of {plan.compare_about}"
    return f"{means} searches, {wins}{only}"


def _format_chance(chance: float | None) -> str:
    if chance is None:
        return "none"
    return f"{chance:.3f}" if chance <= _SURE else f"> {_SURE}"


def list_options(
    constants: tuple[Constants, ...], lengths: tuple[SearchLength, ...], n_trials: int
) -> Iterator[DesignOption]:
    """Designs that a budget may go to, the simplest first."""
    first = constants[0]
    yield DesignOption("ideal", first, (None,), n_trials, {"n_replicates": 1})
    for each in constants:
        yield DesignOption(f"{each.design}, one search", each, (None,), n_trials, {"n_searches": 1})
    for each in constants:
        yield DesignOption(f"{each.design}, several searches", each, (None,), n_trials, {})
    if lengths:
        yield DesignOption(f"{first.design}, shorter searches", first, lengths, n_trials, {})
