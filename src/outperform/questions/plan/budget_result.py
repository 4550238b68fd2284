"""A plan of a budget: what each design buys with it, and which to write into the study file."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from outperform.plain_values import Plain
from outperform.questions.plan.constants import Constants, RunVariation, SearchLength
from outperform.questions.plan.design_options import (
    Costs,
    DesignOption,
    DesignPlan,
    ErrorRates,
)
from outperform.questions.result import Result, Table
from outperform.runs.scope import THIS_DATASET, Scope
from outperform.wording import format_duration

_N_BUDGETS = 40  # points of a curve
_AS_GOOD = 1.05  # times the least error: constants are not known any better
_REACH = 10  # times the budget that curves go to
_SURE = 0.999  # P(A>B) above which nobody needs a number


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
        budgets = self._list_budgets()
        return tuple(
            BudgetCurve(
                option.name, budgets, tuple(option.error_at(b, self.costs) for b in budgets)
            )
            for option in self.options
        )

    def _list_budgets(self) -> tuple[float, ...]:
        least = self.costs.search(self.n_trials) + self.costs.fit
        budgets = np.append(np.geomspace(least, _REACH * self.budget, _N_BUDGETS), self.budget)
        return tuple(np.unique(budgets).tolist())

    def __str__(self) -> str:
        best, others = self.recommended, [p for p in self.plans if p is not self.recommended]
        shown = ""
        if best.shown is not None:
            chance = _format_chance(best.shown)
            shown = f", and a P(A>B) of {chance} is shown for pipelines tuned anew"
        beside = "; ".join(f"{plan.name}: {plan.error:.2g}" for plan in others)
        return (
            f"{self.describe(self.budget)} are best spent on {describe_split(best)}: the mean of a "
            f"pipeline is then known to {best.error:.2g} standard deviations of a run{shown} "
            f"({beside})."
        )

    def describe(self, cost: float) -> str:
        """A cost in the unit of the budget."""
        if self.costs.unit == "fits":
            return f"{cost:,.0f} fits"
        return f"{format_duration(cost)} of fits"

    @property
    def tables(self) -> list[Table | str]:
        """What each design buys, what `compare` makes of it, what was measured, what to write."""
        known = [each for each in self.variations if each.sd is not None]
        return [
            self._tabulate_designs(),
            self._tabulate_comparisons(),
            *([self._tabulate_variations(known)] if known else []),
            Table(["Write into the study file:"], [[line] for line in self.study_lines]),
        ]

    def _tabulate_designs(self) -> Table:
        gamma = f"cost of P(A>B) = {self.rates.gamma:g}"
        header = ["design", "searches", "trials", "replicates", "fits", "error", "if ρ is other"]
        rows = [
            [
                plan.name,
                *(f"{n:,}" for n in (plan.split.n_searches, plan.n_trials)),
                *(f"{n:,}" for n in (plan.split.n_replicates, plan.n_fits)),
                f"{plan.error:.3f}",
                f"{plan.error_low:.3f} to {plan.error_high:.3f}",
                _format_chance(plan.shown),
                "never" if plan.cost_for_gamma is None else self.describe(plan.cost_for_gamma),
            ]
            for plan in self.plans
        ]
        title = f"What {self.describe(self.budget)} buy (error: of a pipeline's mean, in standard "
        return Table(
            [*header, "P(A>B) shown", gamma],
            rows,
            f"{title}deviations of a run; P(A>B): of pipelines tuned anew, power "
            f"{1 - self.rates.beta:g}, α = {self.rates.alpha:g}):",
        )

    def _tabulate_comparisons(self) -> Table:
        rows = [
            [
                plan.name,
                f"{plan.n_pairs:,}",
                plan.compare_about,
                _format_chance(plan.compare_shown),
                "-" if plan.compare_false_alarms is None else f"{plan.compare_false_alarms:.1%}",
            ]
            for plan in self.plans
        ]
        header = ["design", "pairs", "about", "P(A>B) shown", "false alarms if read as tuned anew"]
        return Table(header, rows, "What the wins in `outperform compare` show:")

    def _tabulate_variations(self, known: list[RunVariation]) -> Table:
        rows = [
            [
                f"{each.pipeline} on {each.task}",
                f"{each.sd or 0:.3g} {each.metric}",
                "not known" if each.correlation is None else str(each.correlation),
                f"{self.recommended.error * (each.sd or 0):.2g}",
            ]
            for each in known
        ]
        header = ["", "standard deviation of a run", "ρ", "error of the mean then"]
        return Table(header, rows, "As measured:")

    @property
    def advice(self) -> str:
        """What to do next."""
        return (
            "write these lines into the study file, in place of its own trials and designs, and "
            "call `outperform run`."
        )


def describe_split(plan: DesignPlan) -> str:
    """Searches, trials and replicates in words."""
    n, k = plan.split.n_searches, plan.split.n_replicates
    searches = f"{n:,} search{'es' if n > 1 else ''} of {plan.n_trials:,} trials"
    replicates = f"{k:,} replicate{'s' if k > 1 else ''}{' each' if n > 1 else ''}"
    return f"{searches} with {replicates} ({plan.design})"


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
