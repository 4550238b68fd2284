"""What makes scores vary: each source redrawn alone, in every combination, and all of a study."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from outperform.plain_values import Plain
from outperform.questions.decompose.search_curves import SearchCurves
from outperform.questions.result import Result, Table
from outperform.runs.scope import THIS_DATASET, Scope, join_scopes
from outperform.stats import Estimate, VarianceComponent, VarianceComponents
from outperform.stats.checks import FloatArray
from outperform.stats.variances import deviation_ratio
from outperform.study.sources import ALL, NOISE
from outperform.wording import enumerate_names


@dataclass(frozen=True, slots=True)
class SourceVariation(Plain):
    """How much scores vary when only one source is redrawn."""

    JSON = "source n mean sd share normality_pvalue binomial_sd"

    source: str
    scores: FloatArray = field(repr=False, compare=False)
    sd: Estimate
    share: Estimate  # of the standard deviation of the reference
    normality_pvalue: float  # Shapiro–Wilk
    binomial_sd: float | None  # by the size of the test set alone; None: unknown or no accuracy

    @property
    def n(self) -> int:
        """Number of runs."""
        return self.scores.size

    @property
    def mean(self) -> float:
        """Mean score."""
        return float(self.scores.mean())


@dataclass(frozen=True, slots=True)
class Decomposition(Result):
    """Standard deviation per source of variation, each redrawn alone."""

    JSON = "algorithm task metric scope largest reference sources failed caveats"

    algorithm: str
    task: str
    metric: str
    reference: str  # source whose standard deviation is 1 in shares: split if it varies
    sources: tuple[SourceVariation, ...]
    failed: Mapping[str, int] = field(default_factory=dict, hash=False)  # runs left out, by source
    caveats: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        """What was redrawn, and what this is about for that reason."""
        names = tuple(v.source for v in self.sources if v.source not in (ALL, NOISE))
        everything = any(v.source == ALL for v in self.sources)
        return Scope(names or ("all sources" if everything else "only noise",), THIS_DATASET)

    @property
    def ranked(self) -> tuple[SourceVariation, ...]:
        """Single sources, largest first; all together only where there is nothing else."""
        single = [variation for variation in self.sources if variation.source != ALL]
        return tuple(sorted(single or self.sources, key=lambda v: -v.sd.value))

    @property
    def tables(self) -> list[Table | str]:
        """Single sources, largest first, then all together."""
        together = [each for each in self.sources if each.source == ALL and each not in self.ranked]
        header = ["source", "runs", "mean", f"sd of {self.metric}"]
        header += [f"share of {self.reference}'s", "normal? p"]
        modelled = any(each.binomial_sd is not None for each in self.sources)
        rows = []
        for each in (*self.ranked, *together):
            model = "" if each.binomial_sd is None else f"{each.binomial_sd:.3g}"
            row = [each.source, str(each.n), f"{each.mean:.4g}", str(each.sd), str(each.share)]
            rows.append([*row, f"{each.normality_pvalue:.2g}", *([model] if modelled else [])])
        return [Table(header + ["binomial sd"] * modelled, rows)]

    @property
    def advice(self) -> str:
        """What to do about the largest source."""
        largest = self.ranked[0]
        if largest.source in (ALL, NOISE) or largest.sd.value == 0:
            return ""
        return (
            f"redraw {largest.source} in every run that you compare: runs that share one draw of "
            "it say nothing of others."
        )

    def __str__(self) -> str:
        largest, *others = self.ranked
        what = f"the {self.metric}{_describe_runs(self.algorithm, self.task)}"
        if largest.sd.value == 0:
            return f"No source changes {what}."
        lead = ""
        if self.lead is not None:
            lead = f", {self.lead} times that of {others[0].source}"
            if 1 in self.lead.interval:
                lead += ", not significantly more"
        if self.rivals:
            lead += f"; runs of {enumerate_names(self.rivals)} failed"
        return (
            f"{largest.source} {'is' if self.is_surely_largest else 'seems'} the largest source of "
            f"variation of {what}: standard deviation {largest.sd} over {largest.n} runs{lead}."
        )

    @property
    def lead(self) -> Estimate | None:
        """How many times the largest standard deviation is the second; None where that is 0."""
        largest, *others = self.ranked
        if not others or others[0].sd.value == 0:
            return None
        level = largest.sd.interval.confidence_level
        return deviation_ratio(largest.scores, others[0].scores, confidence_level=level)

    @property
    def is_surely_largest(self) -> bool:
        """Whether the largest source is significantly larger than the second, and any other."""
        return not self.rivals and (self.lead is None or 1 not in self.lead.interval)

    @property
    def rivals(self) -> list[str]:
        """Other sources of which runs failed: had these gone badly, they might be the largest."""
        return [name for name in self.failed if name not in (ALL, self.largest)]

    @property
    def largest(self) -> str:
        """The source that makes scores vary most."""
        return self.ranked[0].source


@dataclass(frozen=True, slots=True)
class CrossedDecomposition(Result):
    """Variance of a score as a sum over sources and their interactions."""

    JSON = (
        "algorithm task metric scope names=parts.names levels=parts.levels total=parts.total "
        "components=parts.components caveats"
    )

    algorithm: str
    task: str
    metric: str
    parts: VarianceComponents
    caveats: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        """What was redrawn, and what this is about for that reason."""
        return Scope(tuple(self.parts.names), THIS_DATASET)

    @property
    def largest(self) -> VarianceComponent:
        """The source, or interaction, with the largest share."""
        return max(self.parts.components, key=lambda component: component.share)

    @property
    def tables(self) -> list[Table | str]:
        """Components of variance, and their sum."""
        rows = [
            [join_sources(c.names), str(c.df), *_format_variance(c.variance), f"{c.share:.1%}"]
            for c in self.parts.components
        ]
        rows.append(["all", "", *_format_variance(self.parts.total), ""])
        return [Table(["component", "df", "variance", "sd", "share"], rows)]

    def __str__(self) -> str:
        what = f"the {self.metric}{_describe_runs(self.algorithm, self.task)}"
        if self.largest.share == 0:
            return f"No source changes {what}."
        runs = " × ".join(map(str, self.parts.levels))
        return (
            f"{join_sources(self.largest.names)} causes {self.largest.share:.0%} of the variance "
            f"of {what} when every source is redrawn ({runs} runs)."
        )


@dataclass(frozen=True, slots=True)
class Decompositions(Result):
    """All that a study or a file tells of what makes its scores vary."""

    JSON = "sources crossed searches notes"

    sources: tuple[Decomposition, ...]  # where they were redrawn one at a time
    crossed: tuple[CrossedDecomposition, ...]  # where they were, in every combination
    searches: SearchCurves | None = None  # how far these got, where that was asked for
    notes: tuple[str, ...] = ()  # doubts about the whole; each result has its own

    def __iter__(self) -> Iterator[Decomposition | CrossedDecomposition | SearchCurves]:
        yield from self.sources
        yield from self.crossed
        yield from () if self.searches is None else (self.searches,)

    @property
    def scope(self) -> Scope:
        """What was redrawn, and what this is about for that reason."""
        tasks = [each.task for each in self.sources] + [each.task for each in self.crossed]
        return join_scopes([each.scope for each in self], tasks)

    @property
    def tables(self) -> Sequence[Table | str]:
        """The sentence and the numbers of each result."""
        return [part for each in self for part in (str(each), *each.tables)]

    @property
    def caveats(self) -> tuple[str, ...]:
        """Doubts about the whole, then those about single results, each once."""
        return (*self.notes, *dict.fromkeys(doubt for each in self for doubt in each.caveats))

    def __str__(self) -> str:
        return " ".join(map(str, self))


def _describe_runs(algorithm: str, task: str) -> str:
    """Say whose runs they are and on what."""
    return (f" of {algorithm}" if algorithm else "") + (f" on {task}" if task else "")


def _format_variance(variance: Estimate) -> list[str]:
    """A variance and its root, each with its interval."""
    interval = variance.interval
    roots = [max(0.0, x) ** 0.5 for x in (variance.value, interval.low, interval.high)]
    return [str(variance), "{:.3g} [{:.3g}, {:.3g}]".format(*roots)]


def join_sources(names: Sequence[str]) -> str:
    """Name of an interaction."""
    return " × ".join(names)
