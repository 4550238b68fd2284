"""What each design of a study is worth against the ideal one, and how that is said."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from outperform.plain_values import Plain
from outperform.questions.quality.missing_fits import MissingFits
from outperform.questions.quality.table import format_ratio, tabulate_quality
from outperform.questions.result import Result, Table
from outperform.runs import Goal
from outperform.runs.scope import Scope
from outperform.stats import DesignQuality, DeviationEstimates, Estimate, Interval
from outperform.stats.checks import FloatArray


@dataclass(frozen=True, slots=True)
class IdealRuns(Plain):
    """The replicates against which designs are measured, and what one of them costs."""

    JSON = "n_replicates mean sd n_fits seconds"

    scores: FloatArray = field(repr=False, compare=False)
    sd: Estimate
    n_fits: int  # of a replicate
    seconds: float

    @property
    def n_replicates(self) -> int:
        """Number of replicates."""
        return self.scores.size

    @property
    def mean(self) -> float:
        """Mean score."""
        return float(self.scores.mean())


@dataclass(frozen=True, slots=True)
class MeasuredDesign(Plain):
    """A design's bias, variance and error for one pipeline on one task, and its price."""

    JSON = "name design redrawn n_fits seconds equivalent saving mse_times_fits means quality"

    name: str
    design: str
    redrawn: str
    n_fits: int  # of a repetition
    seconds: float
    n_fits_ideal: int  # of a replicate of the ideal design
    means: FloatArray = field(repr=False, compare=False)  # of repetitions
    quality: DesignQuality

    @property
    def equivalent(self) -> Estimate:
        """Replicates of the ideal design with the mean squared error of a whole repetition."""
        return self.quality.equivalent.at(self.quality.n_scores, self._level)

    @property
    def mse(self) -> Estimate:
        """Mean squared error of the mean of a whole repetition."""
        return self.quality.mse.at(self.quality.n_scores, self._level)

    @property
    def standard_error(self) -> Estimate:
        """Standard error of the mean of a whole repetition."""
        return self.quality.standard_error.at(self.quality.n_scores, self._level)

    @property
    def saving(self) -> Estimate:
        """How many times its fits the ideal design takes for the same mean squared error."""
        return _scale(self.equivalent, self.n_fits_ideal / self.n_fits)

    @property
    def mse_times_fits(self) -> Estimate:
        """Mean squared error times fits, the same for any number of ideal replicates."""
        return _scale(self.mse, self.n_fits)

    @property
    def _level(self) -> float:
        return self.quality.bias.interval.confidence_level


def _scale(estimate: Estimate, factor: float) -> Estimate:
    like = estimate.interval
    low, high = sorted((like.low * factor, like.high * factor))
    interval = Interval(low, high, like.confidence_level, like.method)
    return Estimate(estimate.value * factor, interval)


@dataclass(frozen=True, slots=True)
class MeasuredDeviations(Plain):
    """Estimates of the standard deviation by a design, or by two together."""

    JSON = "name n_fits estimates"

    name: str
    n_fits: int  # of a repetition
    estimates: DeviationEstimates


@dataclass(frozen=True, slots=True)
class PairQuality(Plain):
    """What designs are worth for one pipeline on one task."""

    pipeline: str
    task: str
    metric: str
    goal: Goal
    ideal: IdealRuns
    designs: tuple[MeasuredDesign, ...]  # that were repeated
    deviations: tuple[MeasuredDeviations, ...]  # of every design

    @property
    def name(self) -> str:
        """Both names."""
        return f"{self.pipeline} on {self.task}"

    def find(self, name: str) -> MeasuredDesign | None:
        """Design of this name, if it was repeated here."""
        return next((each for each in self.designs if each.name == name), None)

    def optimism(self, design: MeasuredDesign) -> Estimate:
        """Bias in ideal standard deviations, above 0 where the mean looks better than it is."""
        sign = 1 if self.goal == "maximize" else -1
        return _scale(design.quality.bias, sign / self.ideal.sd.value)


@dataclass(frozen=True, slots=True)
class Middle(Plain):
    """Median over pipelines and tasks, and the range."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Middle":
        """Sum up values, of which some may be infinite."""
        return cls(median(values), min(values), max(values))


@dataclass(frozen=True, slots=True)
class DesignSummary(Plain):
    """A design over all pipelines and tasks."""

    name: str
    n_pairs: int
    correlation: Middle
    optimism: Middle
    equivalent: Middle
    saving: Middle
    ratio_alone: Middle  # fits for the precision of the ideal replicates, of one search
    ratio: Middle  # of as many searches as are best
    ratio_high: Middle  # upper ends of its intervals: a bias that chance hides makes it larger
    n_alone: int  # pairs where one search is enough


@dataclass(frozen=True, slots=True)
class Quality(Result):
    """What each design of a study is worth against the ideal one."""

    JSON = "n_ideal scope summary pairs missing caveats"

    n_ideal: int  # replicates of the ideal design whose precision is asked for
    pairs: tuple[PairQuality, ...]
    scope: Scope
    missing: tuple[MissingFits, ...] = ()
    caveats: tuple[str, ...] = ()
    detailed: bool = False  # whether every pair has tables of its own

    @property
    def names(self) -> tuple[str, ...]:
        """Designs that were repeated, in the order of the study."""
        return tuple(dict.fromkeys(each.name for pair in self.pairs for each in pair.designs))

    @property
    def summary(self) -> tuple[DesignSummary, ...]:
        """Every design over all pipelines and tasks."""
        return tuple(self._sum_up(name) for name in self.names)

    def _sum_up(self, name: str) -> DesignSummary:
        own = [(pair, design) for pair in self.pairs if (design := pair.find(name))]
        reaches = [design.quality.reach for _, design in own]
        return DesignSummary(
            name,
            len(own),
            Middle.of([design.quality.correlation.value for _, design in own]),
            Middle.of([pair.optimism(design).value for pair, design in own]),
            Middle.of([design.equivalent.value for _, design in own]),
            Middle.of([design.saving.value for _, design in own]),
            Middle.of([reach.cost_alone / reach.cost_ideal for reach in reaches]),
            Middle.of([reach.ratio.value for reach in reaches]),
            Middle.of([reach.ratio.interval.high for reach in reaches]),
            sum(math.isfinite(reach.cost_alone) for reach in reaches),
        )

    @property
    def tables(self) -> Sequence[Table | str]:
        """All designs in short, estimates of the deviation, and what is missing; pairs if asked."""
        return tabulate_quality(self)

    @property
    def advice(self) -> str:
        """Which fits would complete the picture."""
        if not self.missing:
            return ""
        n_fits = sum(each.n_fits for each in self.missing)
        what = "the lines above" if len(self.missing) > 1 else f"`{self.missing[0].line}`"
        return f"give the study {what} ({n_fits:,} fits more) and run it again."

    def __str__(self) -> str:
        if not self.summary:
            alone = all(not pair.deviations for pair in self.pairs)
            return (
                "There are ideal runs and no whole repetition of a cheaper design to measure "
                "against them."
                if alone
                else "No design was repeated, so that its error is not known: only the standard "
                "deviations below are."
            )
        best = min(self.summary, key=lambda each: (each.ratio.median, each.ratio.high))
        whole = f"the precision of {self.n_ideal:,} ideal replicate{'s' * (self.n_ideal > 1)}"
        if math.isinf(best.ratio.median):
            return f"No design reaches {whole}: each has too large a bias{self._say_range(best)}."
        needs = f"{best.name} needs {format_ratio(best.ratio.median)} of their fits"
        if best.ratio.median >= 1:
            return (
                f"No design is cheaper than the ideal one: for {whole}, "
                f"{needs}{self._say_range(best)}."
            )
        cheapest = "" if len(self.names) == 1 else f", the cheapest of {len(self.names)} designs"
        return f"For {whole}, {needs}{cheapest}{self._say_range(best)}; {self._say_searches(best)}."

    def _say_range(self, best: DesignSummary) -> str:
        if best.n_pairs > 1:
            ends = f"{format_ratio(best.ratio.low)} to {format_ratio(best.ratio.high)}"
            surely = f"upper ends of their intervals: median {format_ratio(best.ratio_high.median)}"
            return f" (median of {best.n_pairs} pairs of pipeline and task; {ends}; {surely})"
        design = next(design for pair in self.pairs if (design := pair.find(best.name)))
        interval = design.quality.reach.ratio.interval
        if math.isinf(interval.low):
            return f" ({self.pairs[0].name})"
        level = f"{100 * interval.confidence_level:g}%"
        ends = f"{format_ratio(interval.low)} to {format_ratio(interval.high)}"
        return f" ({self.pairs[0].name}; {level} interval {ends})"

    def _say_searches(self, best: DesignSummary) -> str:
        if best.n_alone == best.n_pairs:
            return "one search is enough"
        if best.n_pairs == 1:
            design = next(design for pair in self.pairs if (design := pair.find(best.name)))
            return f"with {design.quality.reach.n_repetitions:g} searches, never with one"
        if best.n_alone:
            return f"one search is enough for {best.n_alone} of the pairs, never for the others"
        return "with several searches, never with one"
