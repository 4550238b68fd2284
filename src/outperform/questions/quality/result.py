"""What each design of a study is worth against the ideal one, and how that is said."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from outperform.plain_values import Plain
from outperform.questions.result import Result, Table
from outperform.runs import Goal
from outperform.runs.scope import Scope
from outperform.stats import DesignQuality, DeviationEstimates, Estimate, Interval
from outperform.stats.checks import FloatArray
from outperform.wording import describe_goal, format_duration, format_fit_time, format_spread

_MISSING = "What would complete the picture, each beside what is there:"


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
    ratio_low: Middle  # lower ends of its intervals: a bias that chance makes counts as none
    ratio_high: Middle  # upper ends of its intervals: a bias that chance hides makes it larger
    n_alone: int  # pairs where one search is enough


@dataclass(frozen=True, slots=True)
class MissingFits(Plain):
    """A design that a study should have, as its file says it, and what that costs."""

    line: str  # or several
    n_fits: int  # more than there are
    seconds: float

    @property
    def priced_line(self) -> str:
        """The line with what it costs, which the study file takes for a comment."""
        cost = f"{self.n_fits:,} fits more, {format_duration(self.seconds)}"
        return self.line.replace("\n", f"  # {cost}\n", 1)


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
            Middle.of([reach.ratio.interval.low for reach in reaches]),
            Middle.of([reach.ratio.interval.high for reach in reaches]),
            sum(math.isfinite(reach.cost_alone) for reach in reaches),
        )

    @property
    def tables(self) -> Sequence[Table | str]:
        """All designs in short, estimates of the deviation, and what is missing; pairs if asked."""
        parts: list[Table | str] = []
        if self.names:
            parts.append(_tabulate_summary(self))
        if any(pair.deviations for pair in self.pairs):
            parts.append(_tabulate_deviations(self))
        if self.detailed:
            for pair in self.pairs:
                parts += _tabulate_pair(pair)
                parts += [_list_all_deviations(pair)] if len(self.pairs) > 1 else []
        if self.missing:
            rows = [[line] for each in self.missing for line in each.priced_line.split("\n")]
            parts.append(Table(["lines of the study file"], rows, _MISSING))
        return parts

    @property
    def advice(self) -> str:
        """Which fits would complete the picture."""
        if not self.missing:
            return ""
        n_fits = sum(each.n_fits for each in self.missing)
        return f"give the study the lines above ({n_fits:,} fits more) and run it again."

    def __str__(self) -> str:
        if not self.summary:
            if any(pair.deviations for pair in self.pairs):
                return (
                    "No design was repeated, so that its error is not known: only the standard "
                    "deviations below are."
                )
            return (
                "There are ideal runs and no whole repetition of a cheaper design to measure "
                "against them."
            )
        best = min(self.summary, key=lambda each: (each.ratio.median, each.ratio.high))
        whole = f"the precision of {self.n_ideal:,} ideal replicate{'s' * (self.n_ideal > 1)}"
        if math.isinf(best.ratio.median):
            return self._say_none_reaches(whole)
        # Of one pair, the middle of the upper ends is its own.
        is_shown = best.ratio_high.median < 1
        need = "needs" if is_shown else "is estimated to need"
        needs = f"{best.name} {need} {format_ratio(best.ratio.median)} of their fits"
        if best.ratio.median >= 1:
            needs += self._say_range(best)
            return f"No design is shown to be cheaper than the ideal one: for {whole}, {needs}."
        cheapest = "" if len(self.names) == 1 else f", the cheapest of {len(self.names)} designs"
        searches = f"{'' if is_shown else 'by this estimate, '}{self._say_searches(best)}"
        return f"For {whole}, {needs}{cheapest}{self._say_range(best)}; {searches}."

    def _say_none_reaches(self, whole: str) -> str:
        """Say that the bias of every design is too large, or that it is only estimated to be."""
        least = min(self.summary, key=lambda each: each.ratio_low.median)
        pairs = f"median of {least.n_pairs} pairs of pipeline and task"
        if least.n_pairs == 1:
            pairs = next(pair.name for pair in self.pairs if pair.find(least.name))
        if math.isinf(least.ratio_low.median):
            return f"No design reaches {whole}: each has too large a bias ({pairs})."
        low = format_ratio(least.ratio_low.median)
        return (
            f"No design is shown to reach {whole}, or to miss it: each is estimated to have too "
            f"large a bias, but {least.name} may do it with {low} of their fits ({pairs})."
        )

    def _say_range(self, best: DesignSummary) -> str:
        if best.n_pairs > 1:
            ends = f"{format_ratio(best.ratio.low)} to {format_ratio(best.ratio.high)}"
            surely = f"upper ends of their intervals: median {format_ratio(best.ratio_high.median)}"
            return f" (median of {best.n_pairs} pairs of pipeline and task; {ends}; {surely})"
        pair, design = next((p, d) for p in self.pairs if (d := p.find(best.name)))
        interval = design.quality.reach.ratio.interval
        ends = f"{format_ratio(interval.low)} to {format_ratio(interval.high)}"
        return f" ({pair.name}; {interval.level} interval {ends})"

    def _say_searches(self, best: DesignSummary) -> str:
        if best.n_alone == best.n_pairs:
            alone = format_ratio(best.ratio_alone.median)
            cheapest = alone == format_ratio(best.ratio.median)
            return "one search is enough" if cheapest else f"one search alone needs {alone}"
        if best.n_pairs == 1:
            design = next(design for pair in self.pairs if (design := pair.find(best.name)))
            return f"with {design.quality.reach.n_repetitions:g} searches, never with one"
        if best.n_alone:
            return f"one search is enough for {best.n_alone} of the pairs, never for the others"
        return "with several searches, never with one"


def _tabulate_summary(result: Quality) -> Table:
    n, first = result.n_ideal, result.pairs[0]
    header = ["design", "ρ", "bias / σ", "worth ideal replicates", "fits saved"]
    header += [f"fits for {n}: one search", "best split"]
    rows, what = [_list_estimates(first, design) for design in first.designs], first.name
    if len(result.pairs) > 1:
        rows = [_list_middles(each) for each in result.summary]
        what = f"median and range of {len(result.pairs)} pairs"
    note = (
        "bias: above 0 the mean looks better than it is. worth: ideal replicates with the same "
        "mean squared error as one whole repetition.\nfits saved: how many times its fits they "
        f"take. fits for {n}: for the precision of {n} ideal replicates, as a share of theirs."
    )
    return Table(header, rows, title=f"Designs against the ideal one ({what}):", note=note)


def _list_middles(summary: DesignSummary) -> list[str]:
    """A row of several pairs: medians and ranges."""
    cells = [summary.name]
    for middle in (summary.correlation, summary.optimism, summary.equivalent, summary.saving):
        cells.append(f"{middle.median:.2g} ({middle.low:.2g} to {middle.high:.2g})")
    for ratio in (summary.ratio_alone, summary.ratio):
        middle_ratio, low, high = map(format_ratio, (ratio.median, ratio.low, ratio.high))
        cells.append(middle_ratio if low == high else f"{middle_ratio} ({low} to {high})")
    return cells


def _list_estimates(pair: PairQuality, design: MeasuredDesign) -> list[str]:
    """A row of one pair: estimates and their intervals."""
    reach, bias = design.quality.reach, pair.optimism(design)
    split = f" ({reach.n_repetitions:g} × {reach.n_scores:g})"
    return [
        design.name,
        str(design.quality.correlation),
        f"{bias.value:.2g} [{bias.interval.low:.2g}, {bias.interval.high:.2g}]",
        str(design.equivalent),
        f"{design.saving} ×",
        format_ratio(reach.cost_alone / reach.cost_ideal),
        f"{format_ratio(reach.ratio.value)}{split if math.isfinite(reach.cost) else ''}",
    ]


def format_ratio(ratio: float) -> str:
    """Share of fits, or that no number of them is enough.

    >>> format_ratio(0.2), format_ratio(12.3), format_ratio(math.inf)
    ('20%', '1,230%', 'never')
    """
    if math.isinf(ratio):
        return "never"
    return f"{100 * ratio:.2g}%" if ratio < 0.995 else f"{100 * ratio:,.0f}%"


def _tabulate_deviations(result: Quality) -> Table:
    """Estimates of the standard deviation, as shares of the ideal one where there are several."""
    title = "Standard deviation of a fit, as each repetition estimates it:"
    if len(result.pairs) == 1:
        return _list_all_deviations(result.pairs[0], title)
    names = dict.fromkeys(each.name for pair in result.pairs for each in pair.deviations)
    rows = []
    for name in names:
        own = [each for pair in result.pairs for each in pair.deviations if each.name == name]
        ratios = [each.estimates.ratio.value for each in own]
        spread = f"{median(ratios):.2g} ({min(ratios):.2g} to {max(ratios):.2g})"
        holds = sum(1 in each.estimates.ratio.interval for each in own)
        rows.append([name, spread, f"{holds} of {len(own)}"])
    return Table(["design", "share of ideal's", "may be the same"], rows, title)


def _list_all_deviations(pair: PairQuality, title: str = "") -> Table:
    header = ["standard deviation", "repetitions", "mean", "spread", "share of ideal's", "fits"]
    n_fits = pair.ideal.n_fits * pair.ideal.n_replicates
    rows = [["ideal", "1", str(pair.ideal.sd), "", "1", f"{n_fits:,}"]]
    for each in pair.deviations:
        estimates = each.estimates
        spread = "" if math.isnan(estimates.spread) else f"{estimates.spread:.2g}"
        cells = [str(estimates.n_repetitions), str(estimates.mean), spread, str(estimates.ratio)]
        rows.append([each.name, *cells, f"{each.n_fits:,}"])
    return Table(header, rows, title)


def _tabulate_pair(pair: PairQuality) -> Iterator[Table | str]:
    """All numbers of a pair: designs, and standard errors by number of fits."""
    ideal = pair.ideal
    yield (
        f"{pair.name}: {pair.metric} ({describe_goal(pair.goal)}), ideal "
        f"{format_spread(ideal.mean, ideal.sd.value)} over {ideal.n_replicates} replicates of "
        f"{ideal.n_fits:,} fits, {format_fit_time(ideal.seconds)} each"
    )
    if pair.designs:
        header = ["design", "repetitions", "bias", "sd of a fit", "sd within", "standard error"]
        header += ["mean squared error", "times fits", "fits", "time"]
        rows = []
        for each in pair.designs:
            quality = each.quality
            deviations = quality.variance.value, quality.within_variance.value
            cells = [f"{quality.n_repetitions} × {quality.n_scores}", str(quality.bias)]
            cells += [f"{math.sqrt(variance):.3g}" for variance in deviations]
            cells += [str(each.standard_error), str(each.mse), f"{each.mse_times_fits.value:.2g}"]
            rows.append([each.name, *cells, f"{each.n_fits:,}", format_duration(each.seconds)])
        yield Table(header, rows)
        yield _tabulate_errors(pair)


def _tabulate_errors(pair: PairQuality) -> Table:
    """Standard errors of means of k fits, and in brackets the ideal replicates they are worth."""
    largest = max(each.quality.n_scores for each in pair.designs)
    sizes = list_sizes(largest)
    ideal = [f"{pair.ideal.sd.value / math.sqrt(k):.3g} ({k})" for k in sizes]
    rows = [["ideal", *ideal]]
    for each in pair.designs:
        errors, worth = each.quality.standard_error.values, each.quality.equivalent.values
        known = [k for k in sizes if k <= each.quality.n_scores]
        cells = [f"{errors[k - 1]:.3g} ({worth[k - 1]:.2g})" for k in known]
        rows.append([each.name, *cells, *[""] * (len(sizes) - len(cells))])
    header = ["standard error (worth)", *(f"k = {k}" for k in sizes)]
    return Table(header, rows)


def list_sizes(n_scores: int) -> list[int]:
    """Numbers of scores that a table shows, of all from 1 on.

    >>> list_sizes(30)
    [1, 2, 5, 10, 20, 30]
    """
    usual = (first * 10**power for power in range(7) for first in (1, 2, 5))
    return [*(n for n in usual if n < n_scores), n_scores]
