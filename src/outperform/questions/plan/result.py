"""A plan: how many pairs a verdict needs, what a number buys, and what re-splits can show."""

from contextlib import suppress
from dataclasses import dataclass

from outperform.errors import InvalidInput, TooFewRuns
from outperform.plain_values import Plain
from outperform.questions.result import Result, Table
from outperform.runs.scope import Scope
from outperform.stats import (
    OperatingPoint,
    SequentialTest,
    noether_sample_size,
    required_pairs,
    required_resplits,
    resplit_floor,
    smallest_detectable_probability,
    verdict_power,
    verdict_size,
)
from outperform.stats.checks import check_open_unit
from outperform.stats.verdicts import PlannedInterval
from outperform.wording import format_duration

GAMMAS = (0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
PAIRS = Scope(("seeds or splits of one dataset",), "that dataset", how="will vary")


@dataclass(frozen=True, slots=True)
class PlannedResplits(Plain):
    """How many re-splits would show a difference for data like these, and what none ever shows."""

    JSON = "alpha test_to_train=overlap unit difference deviation n_required floor"

    overlap: float  # size of a test set over that of its training set
    alpha: float  # that p must be below, as `compare` asks for data like these
    beta: float
    deviation: float = 1.0  # of the replicates' differences: that of a pilot, else 1
    unit: str = "standard deviations of the difference"  # of differences, or the pilot's metric
    difference: float | None = None  # that the pilot shows on average; None without a pilot

    @property
    def floor(self) -> float:
        """Smallest |difference| that any number of re-splits could show."""
        return resplit_floor(self.deviation, n_train=1, n_test=self.overlap, alpha=self.alpha)

    @property
    def n_required(self) -> int | None:
        """Re-splits that show the pilot's difference with the power asked for; None if none do."""
        if self.difference is None:
            return None
        distance, alpha, beta = abs(self.difference) / self.deviation, self.alpha, self.beta
        return required_resplits(distance, n_train=1, n_test=self.overlap, alpha=alpha, beta=beta)

    def tabulate(self) -> Table:
        """What any number of re-splits shows, and how many show the pilot's difference."""
        rows = [("smallest difference that any number shows", f"{self.floor:.3g}")]
        if self.difference is not None:
            n, power = self.n_required, f"{1 - self.beta:g}"
            rows += [
                ("difference of the pilot", f"{abs(self.difference):.3g}"),
                (f"re-splits that show it with power {power}", "none" if n is None else f"{n:,}"),
            ]
        title = (
            f"For other data like these, at p < {self.alpha:g}, from re-splits of one dataset "
            f"({self.unit}):"
        )
        return Table((), rows, title)

    def __str__(self) -> str:
        beyond = f"no number of re-splits shows a difference below {self.floor:.2g} {self.unit}"
        if self.difference is None:
            return beyond
        seen = f"the pilot's difference of {abs(self.difference):.2g}"
        if self.n_required is not None:
            return f"{self.n_required:,} re-splits show {seen} with power {1 - self.beta:g}"
        return (
            f"no number of re-splits shows {seen} with power {1 - self.beta:g}, nor any below "
            f"{self.floor:.2g} at all"
        )


@dataclass(frozen=True, slots=True)
class SequentialDesign(Plain):
    """Wald's test between ½ and the P(A>B) that matters, and the pairs that it takes."""

    JSON = (
        "gamma=test.gamma upper=test.upper lower=test.lower power=better.chance_a "
        "false_alarms=equals.chance_either expected_pairs=better.expected_pairs "
        "expected_pairs_equals=equals.expected_pairs worst_pairs=test.n_max expected_seconds "
        "expected_seconds_equals worst_seconds"
    )

    test: SequentialTest
    better: OperatingPoint  # at the P(A>B) that is planned for
    equals: OperatingPoint
    seconds_per_fit: float | None = None

    @property
    def expected_seconds(self) -> float | None:
        """Time on average, at the P(A>B) that is planned for."""
        return self.time(self.better.expected_pairs)

    @property
    def expected_seconds_equals(self) -> float | None:
        """Time on average, between equals."""
        return self.time(self.equals.expected_pairs)

    @property
    def worst_seconds(self) -> float | None:
        """Time at most."""
        return self.time(self.test.n_max)

    def time(self, n_pairs: float) -> float | None:
        """Seconds for so many pairs, one fit of each algorithm per pair, one after the other."""
        return None if self.seconds_per_fit is None else 2 * n_pairs * self.seconds_per_fit

    def tabulate(self, n_fixed: int, chance: str) -> Table:
        """Pairs, and time where it is known, beside those of a fixed number."""
        fixed = self._describe(n_fixed)
        costs = [
            (f"on average, if {chance} is {self.better.probability:.2g}", self.better),
            ("on average, between equals", self.equals),
        ]
        rows = [(when, fixed, self._describe(point.expected_pairs)) for when, point in costs]
        rows.append(("at most", fixed, self._describe(self.test.n_max)))
        rule = f"until Wald's test between ½ and {self.test.gamma:.2g} ends"
        return Table(("", "fixed", "sequential"), rows, f"Pairs, a fixed number or {rule}:")

    def _describe(self, n_pairs: float) -> str:
        pairs = f"{n_pairs:,}" if isinstance(n_pairs, int) else f"{n_pairs:,.1f}"
        seconds = self.time(n_pairs)
        return pairs if seconds is None else f"{pairs} ({format_duration(seconds)})"


@dataclass(frozen=True, slots=True)
class PlanRow(Plain):
    """Sample sizes for one smallest P(A>B) that matters."""

    gamma: float
    n_noether: int  # per algorithm, for a Mann-Whitney test of all with all
    power_noether: float  # of the paired verdict with that many pairs
    n_required: int  # pairs from which on the verdict keeps its power


@dataclass(frozen=True, slots=True)
class Plan(Result):
    """How many pairs a verdict needs, and what a number of pairs buys."""

    JSON = (
        "gamma alpha beta interval better worse probability tie_share n_noether n_required "
        "n_pairs power false_alarms smallest_detectable seconds sequential scope resplits table "
        "caveats"
    )

    gamma: float
    alpha: float
    beta: float
    interval: PlannedInterval
    better: str  # who is planned to win: A, or the better one of a pilot
    worse: str
    probability: float  # the true chance of the better one to win that is planned for
    n_noether: int
    n_required: int
    n_pairs: int  # the number looked at: as asked for, else n_required
    tie_share: float = 0.0  # chance that a pair is tied, of which a half counts as won
    seconds_per_fit: float | None = None
    scope: Scope = PAIRS  # of the pairs
    sequential: SequentialDesign | None = None  # None: it would take thousands of pairs
    resplits: PlannedResplits | None = None  # for data like these; None: sizes are not known
    caveats: tuple[str, ...] = ()

    @property
    def power(self) -> float:
        """Chance that n_pairs end in "significant and meaningful"."""
        rule = {"gamma": self.gamma, "alpha": self.alpha, "tie_share": self.tie_share}
        return verdict_power(self.n_pairs, self.probability, **rule, interval=self.interval)

    @property
    def false_alarms(self) -> float:
        """Chance that n_pairs of equals end in a significant difference, either way."""
        rule = {"alpha": self.alpha, "tie_share": self.tie_share}
        return verdict_size(self.n_pairs, interval=self.interval, **rule)

    @property
    def smallest_detectable(self) -> float | None:
        """Smallest P(A>B) that n_pairs detect with the power asked for; None if they never can."""
        with suppress(TooFewRuns):
            rates = {"gamma": self.gamma, "alpha": self.alpha, "beta": self.beta}
            rates["tie_share"] = self.tie_share
            return smallest_detectable_probability(self.n_pairs, **rates, interval=self.interval)
        return None

    @property
    def seconds(self) -> float | None:
        """Time for n_pairs, one fit of each algorithm per pair, one after the other."""
        return None if self.seconds_per_fit is None else 2 * self.n_pairs * self.seconds_per_fit

    def __str__(self) -> str:
        goal, gamma = "significant and meaningful", f"γ = {self.gamma:g}, "
        if self.gamma == 0.5:
            goal, gamma = "significant", ""
        here, beyond = f", {self.tie_share:.0%} of pairs tied," if self.tie_share else "", ""
        if self.resplits is not None:
            here, beyond = f"{here} on this dataset", f"; for other data like it, {self.resplits}"
        return (
            f"{self.n_required} pairs make a true {self.chance} of {self.probability:.2g}{here} "
            f"{goal} with power {1 - self.beta:g} ({gamma}α = {self.alpha:g}; Noether's formula "
            f"says {self.n_noether}){beyond}."
        )

    @property
    def chance(self) -> str:
        """What is planned for, in symbols: P(A>B), with the names of a pilot."""
        if (self.better, self.worse) == ("A", "B"):
            return "P(A>B)"
        return f"P({self.better} > {self.worse})"

    @property
    def table(self) -> tuple[PlanRow, ...]:
        """Pairs needed for the same power and level, by gamma."""
        return plan_gammas(self.alpha, self.beta, interval=self.interval)

    @property
    def tables(self) -> list[Table | str]:
        """What the pairs buy, or cost if one looks at each; what other γ would need."""
        smallest = self.smallest_detectable
        rows = [
            ("chance of the verdict (power)", f"{self.power:.1%}"),
            ("false alarms between equals", f"{self.false_alarms:.1%}"),
            ("smallest P(A>B) found reliably", "none" if smallest is None else f"{smallest:.3f}"),
        ]
        if self.seconds is not None:
            rows.append((f"time for {2 * self.n_pairs} fits", format_duration(self.seconds)))
        title = f"With {self.n_pairs} pairs, if {self.chance} is really {self.probability:.2g}:"
        tables: list[Table | str] = [Table((), rows, title)]
        if self.sequential is not None:
            tables.append(self.sequential.tabulate(self.n_required, self.chance))
        if self.resplits is not None:
            tables.append(self.resplits.tabulate())
        gammas = [
            [f"{row.gamma:g}", str(row.n_noether), f"{row.power_noether:.0%}", str(row.n_required)]
            for row in self.table
        ]
        header = ["γ", "Noether", "power of the verdict there", "pairs needed"]
        ties = ", without ties" if self.tie_share else ""
        title = f"Pairs needed for power {1 - self.beta:g} at α = {self.alpha:g}{ties}"
        return [*tables, Table(header, gammas, title)]

    @property
    def advice(self) -> str:
        """What to do next."""
        enough = self.power >= 1 - self.beta
        n = self.n_pairs if enough else self.n_required
        instead = "," if enough else f", not {self.n_pairs},"
        # The plan holds for the verdict that it was made for.
        defaults = {"gamma": 0.75, "alpha": 0.05, "interval": "exact"}
        chosen = {name: getattr(self, name) for name in defaults}
        options = [
            f" --{name} {value}"
            for name, value in chosen.items()
            if value not in (defaults[name], 0.5)  # a γ of 0.5 is the plan's own
        ]
        advice = (
            f"run both algorithms with the same {n} seeds{instead} decide nothing before all are "
            f"done, then call `outperform compare{''.join(options)}`."
        )
        if self.resplits is None or self.resplits.n_required is not None:
            return advice
        more = "collect more of them, or use several datasets."
        return f"{advice} To conclude for other data like these, {more}"


def plan_gammas(
    alpha: float = 0.05, beta: float = 0.05, *, interval: PlannedInterval = "exact"
) -> tuple[PlanRow, ...]:
    """Sample sizes over the smallest P(A>B) that matters, as far as beta can be reached there.

    >>> [(row.gamma, row.n_noether, row.n_required) for row in plan_gammas()][4]
    (0.75, 29, 54)
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
