"""How many runs, what power, what cost."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from outperform.analysis.comparison import Comparison
from outperform.errors import InvalidInput, TooFewRuns
from outperform.stats import (
    noether_sample_size,
    required_pairs,
    smallest_detectable_probability,
    verdict_power,
    verdict_size,
)
from outperform.stats.checks import check_count, check_open_unit
from outperform.stats.power import LARGEST_PLAN, PlannedInterval

_TOO_GOOD = 0.95  # P(A>B) beyond which a sample is not believed
GAMMAS = (0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)


@dataclass(frozen=True, slots=True)
class PlanRow:
    """Sample sizes for one smallest P(A>B) that matters."""

    gamma: float
    n_noether: int  # per algorithm, for a Mann-Whitney test of all with all
    power_noether: float  # of the paired verdict with that many pairs
    n_required: int  # pairs from which on the verdict keeps its power

    def to_dict(self) -> dict[str, float]:
        """Plain values, ready for JSON."""
        return {
            "gamma": self.gamma,
            "n_noether": self.n_noether,
            "power_noether": self.power_noether,
            "n_required": self.n_required,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """How many pairs a verdict needs, and what a number of pairs buys."""

    gamma: float
    alpha: float
    beta: float
    interval: PlannedInterval
    probability: float  # the true P(A>B) planned for
    n_noether: int
    n_required: int
    n_pairs: int  # the number looked at: as asked for, else n_required
    seconds_per_fit: float | None = None
    caveats: tuple[str, ...] = ()

    @property
    def power(self) -> float:
        """Chance that n_pairs end in "significant and meaningful"."""
        return verdict_power(
            self.n_pairs,
            self.probability,
            gamma=self.gamma,
            alpha=self.alpha,
            interval=self.interval,
        )

    @property
    def size(self) -> float:
        """Chance that n_pairs of equals end in a significant difference, either way."""
        return verdict_size(self.n_pairs, alpha=self.alpha, interval=self.interval)

    @property
    def smallest_detectable(self) -> float | None:
        """Smallest P(A>B) that n_pairs detect with the power asked for; None if they never can."""
        with suppress(TooFewRuns):
            return smallest_detectable_probability(
                self.n_pairs,
                gamma=self.gamma,
                alpha=self.alpha,
                beta=self.beta,
                interval=self.interval,
            )
        return None

    @property
    def seconds(self) -> float | None:
        """Time for n_pairs, one fit of each algorithm per pair, one after the other."""
        return None if self.seconds_per_fit is None else 2 * self.n_pairs * self.seconds_per_fit

    def __str__(self) -> str:
        goal = "significant" if self.gamma == 0.5 else "significant and meaningful"
        return (
            f"{self.n_required} pairs make a true P(A>B) of {self.probability:.2g} {goal} "
            f"with power {1 - self.beta:g} (γ = {self.gamma:g}, α = {self.alpha:g}; Noether's "
            f"formula says {self.n_noether})."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "gamma": self.gamma,
            "alpha": self.alpha,
            "beta": self.beta,
            "interval": self.interval,
            "probability": self.probability,
            "n_noether": self.n_noether,
            "n_required": self.n_required,
            "n_pairs": self.n_pairs,
            "power": self.power,
            "size": self.size,
            "smallest_detectable": self.smallest_detectable,
            "seconds": self.seconds,
            "caveats": list(self.caveats),
        }


def plan(
    *,
    gamma: float = 0.75,
    alpha: float = 0.05,
    beta: float = 0.05,
    n_pairs: int | None = None,
    pilot: Comparison | None = None,
    seconds_per_fit: float | None = None,
    interval: PlannedInterval = "percentile",
) -> Plan:
    """Plan how many paired runs a comparison needs.

    Parameters
    ----------
    gamma
        Smallest P(A>B) that matters.
    alpha, beta
        Accepted chances of a false alarm and of a miss.
    n_pairs
        A number of pairs to judge; by default the number that is needed.
    pilot
        Runs at hand: plan for the P(A>B) they show instead of gamma.
    seconds_per_fit
        Adds the cost.

    Examples
    --------
    >>> print(plan())
    51 pairs make a true P(A>B) of 0.75 significant and meaningful with power 0.95 (γ = 0.75, \
α = 0.05; Noether's formula says 29).
    """
    if seconds_per_fit is not None and not seconds_per_fit > 0:
        raise InvalidInput(f"seconds_per_fit is {seconds_per_fit}", "Pass a positive number")
    probability, caveats = gamma, tuple[str, ...]()
    if pilot is not None:
        probability, gamma, caveats = _learn_from(pilot, gamma)
    needed = required_pairs(gamma, alpha, beta, probability=probability, interval=interval)
    if n_pairs is not None:
        check_count("n_pairs", n_pairs, at_least=1)
    return Plan(
        gamma=gamma,
        alpha=alpha,
        beta=beta,
        interval=interval,
        probability=probability,
        n_noether=noether_sample_size(probability, alpha, beta),
        n_required=needed,
        n_pairs=needed if n_pairs is None else n_pairs,
        seconds_per_fit=seconds_per_fit,
        caveats=caveats,
    )


def tabulate_gammas(
    alpha: float = 0.05, beta: float = 0.05, *, interval: PlannedInterval = "percentile"
) -> tuple[PlanRow, ...]:
    """Sample sizes over the smallest P(A>B) that matters, as far as beta can be reached there.

    Examples
    --------
    >>> [(row.gamma, row.n_noether, row.n_required) for row in tabulate_gammas()][4]
    (0.75, 29, 51)
    """
    check_open_unit("alpha", alpha)
    rows = []
    for gamma in GAMMAS:
        n_noether = noether_sample_size(gamma, alpha, beta)
        power = verdict_power(n_noether, gamma, gamma=gamma, alpha=alpha, interval=interval)
        with suppress(InvalidInput):  # the power at P(A>B) = gamma has a limit
            needed = required_pairs(gamma, alpha, beta, interval=interval)
            rows.append(PlanRow(gamma, n_noether, power, needed))
    return tuple(rows)


def suggest_next(comparison: Comparison, *, beta: float = 0.05) -> str:
    """Say what to do after a comparison, in one sentence."""
    if comparison.verdict == "significant and meaningful":
        return (
            "Report P(A>B) with its interval, the number of runs and the seeds; --plot draws every "
            "run."
        )
    if comparison.verdict == "significant, not meaningful":
        return (
            "The difference is real but small: report its size; more runs will not make it matter."
        )
    if comparison.interval.method == "anytime":
        return "Add pairs and look again as often as you like: this interval allows it."
    # A sample that won every comparison says little about how often it would lose.
    best = min(max(comparison.probability, comparison.reverse_probability), _TOO_GOOD)
    n = min(comparison.scores_a.size, comparison.scores_b.size)
    needed = _needed(best, comparison, beta)
    if needed is None:
        return (
            f"A difference as small as here would take more than {LARGEST_PLAN:,} runs; "
            "to show that the two are equally good, use `compare --equivalence MARGIN`."
        )
    what = "pairs" if comparison.paired else "runs of each"
    more = max(1, needed - n)
    better = comparison.a if comparison.probability >= 0.5 else comparison.b
    as_here = "" if best == _TOO_GOOD else ", as here"
    return (
        f"If {better} really wins {best:.0%} of the time{as_here}, {more} more {what} "
        f"({n + more} in all) would show it with power {1 - beta:g}; look only then"
        + (", or use `compare --sequential`." if comparison.paired else ".")
    )


def _needed(best: float, comparison: Comparison, beta: float) -> int | None:
    """Find the runs that would show the better side's advantage, if a thinkable number does."""
    gamma = comparison.gamma if best > comparison.gamma else 0.5
    try:
        if not comparison.paired:
            # Two-sided, as the verdict is; nobody runs more than a plan allows for.
            needed = noether_sample_size(best, comparison.alpha / 2, beta)
            return needed if needed <= LARGEST_PLAN else None
        interval = cast(PlannedInterval, comparison.interval.method)
        return required_pairs(gamma, comparison.alpha, beta, probability=best, interval=interval)
    except InvalidInput:
        return None


def _learn_from(pilot: Comparison, gamma: float) -> tuple[float, float, tuple[str, ...]]:
    """P(A>B) to plan for, the gamma that can be reached with it, and what that rests on."""
    seen = max(pilot.probability, pilot.reverse_probability)
    better = pilot.a if pilot.probability >= 0.5 else pilot.b
    if seen <= 0.5:  # less than half where ties count for neither side
        raise InvalidInput(
            f"the pilot of {pilot.sample} shows no advantage: neither side wins more than half "
            f"({seen:.2g})",
            "Plan without a pilot, for the smallest P(A>B) that matters to you",
        )
    caveats = [
        f"planned for P({better} wins) = {seen:.2g}, seen in {pilot.sample}; its interval "
        f"is {pilot.interval if better == pilot.a else pilot.reverse}, so plan again when more "
        "are in"
    ]
    if seen > _TOO_GOOD:
        caveats.append(f"the pilot's {seen:.2g} is too good to plan with: {_TOO_GOOD} was used")
    if seen < gamma:
        caveats.append(
            f"{seen:.2g} is below γ = {gamma:g}: these pairs make the difference significant, not "
            "meaningful"
        )
    caveats += [f"the pilot: {doubt}" for doubt in pilot.caveats]
    return min(seen, _TOO_GOOD), gamma if seen >= gamma else 0.5, tuple(caveats)
