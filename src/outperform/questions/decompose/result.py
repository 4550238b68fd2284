"""Which sources of variation make scores vary, and how much."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from outperform.errors import InvalidInput
from outperform.plain_values import Plain
from outperform.questions.decompose.table import tabulate_sources
from outperform.questions.result import Result, Table
from outperform.runs.scope import THIS_DATASET, Scope
from outperform.stats import Estimate, Interval
from outperform.stats.checks import FloatArray, as_scores, check_count
from outperform.stats.variances import (
    binomial_deviation,
    deviation,
    deviation_ratio,
    normality_pvalue,
)
from outperform.study.sources import ALL, NOISE
from outperform.wording import enumerate_names

SPLIT = "split"  # whose standard deviation others are shares of, if it varies
_FEW_RUNS = 20


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

    JSON = "algorithm task metric scope largest reference sources caveats"

    algorithm: str
    task: str
    metric: str
    reference: str  # source whose standard deviation is 1 in shares: split if it varies
    sources: tuple[SourceVariation, ...]
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
        """All numbers."""
        return [tabulate_sources(self)]

    def __str__(self) -> str:
        largest, *others = self.ranked
        what = f"the {self.metric}{describe_runs(self.algorithm, self.task)}"
        if largest.sd.value == 0:
            return f"No source changes {what}."
        return (
            f"{largest.source} is the largest source of variation of {what}: standard deviation "
            f"{largest.sd} over {largest.n} runs{_lead(largest, others)}."
        )

    @property
    def largest(self) -> str:
        """The source that makes scores vary most."""
        return self.ranked[0].source


def decompose(
    scores: Mapping[str, ArrayLike],
    *,
    algorithm: str = "",
    task: str = "",
    metric: str = "score",
    n_test: int | None = None,
    confidence_level: float = 0.95,
) -> Decomposition:
    """Measure how much each source of variation makes scores vary.

    Parameters
    ----------
    scores
        By source, the scores of runs in which only that source was redrawn, n ≥ 2 each;
        ``"all"``: every source redrawn, ``"noise"``: none.
    n_test
        Examples in the test set, for the binomial model of accuracies and error rates.

    Examples
    --------
    >>> found = decompose({"split": [0.90, 0.86, 0.94, 0.91, 0.88], "noise": [0.9] * 5})
    >>> print(found)  # doctest: +ELLIPSIS
    split is the largest source of variation of the score: standard deviation 0.0303 [...] over ...
    >>> [variation.share.value for variation in found.sources]
    [1.0, 0.0]
    """
    arrays = {name: as_scores(x, f"source {name!r}", at_least=2) for name, x in scores.items()}
    if not arrays:
        raise InvalidInput("there are no sources of variation", "Pass the scores of at least one")
    spreads = {name: deviation(x, confidence_level=confidence_level) for name, x in arrays.items()}
    if n_test is not None:
        check_count("n_test", n_test, at_least=1)
    reference = _choose_reference(spreads)
    model = n_test if n_test is not None and _is_share(metric, arrays) else None
    sources = tuple(
        SourceVariation(
            source=name,
            scores=x,
            sd=spreads[name],
            share=_share(x, arrays[reference], spreads[name].interval, same=name == reference),
            normality_pvalue=normality_pvalue(x),
            binomial_sd=None if model is None else binomial_deviation(float(x.mean()), model),
        )
        for name, x in arrays.items()
    )
    found = Decomposition(algorithm, task, metric, reference, sources)
    return replace(found, caveats=(*_find_doubts(found), *_no_binomial(metric, n_test, model)))


def describe_runs(algorithm: str, task: str) -> str:
    """Say whose runs they are and on what."""
    return (f" of {algorithm}" if algorithm else "") + (f" on {task}" if task else "")


def _choose_reference(spreads: Mapping[str, Estimate]) -> str:
    if SPLIT in spreads and spreads[SPLIT].value > 0:
        return SPLIT
    single = [name for name in spreads if name != ALL] or list(spreads)
    return max(single, key=lambda name: spreads[name].value)


def _share(scores: FloatArray, whole: FloatArray, like: Interval, *, same: bool) -> Estimate:
    """Share of the reference's standard deviation: exactly 1 of its own, 0 of nothing."""
    if np.ptp(whole) == 0 or same:
        value = float(np.ptp(whole) > 0)
        return Estimate(value, replace(like, low=value, high=value))
    return deviation_ratio(scores, whole, confidence_level=like.confidence_level)


def _lead(largest: SourceVariation, others: Sequence[SourceVariation]) -> str:
    if not others or others[0].sd.value == 0:
        return ""
    level = largest.sd.interval.confidence_level
    ratio = deviation_ratio(largest.scores, others[0].scores, confidence_level=level)
    unsure = ", not significantly more" if 1 in ratio.interval else ""
    return f", {ratio} times that of {others[0].source}{unsure}"


def _is_share(metric: str, arrays: Mapping[str, FloatArray]) -> bool:
    """Whether scores are shares of right, or wrong, answers, as far as name and values tell."""
    words = set(re.findall("[a-z]+", metric.casefold()))
    if words & {"acc", "accuracy", "misclassification"}:
        named = "balanced" not in words
    else:
        allowed = {"classification", "error", "rate", "test", "val", "valid", "validation"}
        named = {"error", "rate"} <= words <= allowed
    return named and all(((x >= 0) & (x <= 1)).all() for x in arrays.values())


def _find_doubts(found: Decomposition) -> Iterator[str]:
    yield (
        "each source was redrawn alone, so shares do not add up to 1 and interactions are unseen; "
        "a crossed design tells both"
    )
    if found.reference != SPLIT:
        why = "does not vary" if SPLIT in {v.source for v in found.sources} else "is not there"
        yield f"split {why}: shares are of {found.reference}, the largest source"
    noise = next((v.sd.value for v in found.sources if v.source == NOISE), 0.0)
    if noise > 0:
        yield (
            f"noise is not 0: the same seeds give scores with a standard deviation of {noise:.3g}, "
            "which is part of every other source's"
        )
    idle = [v.source for v in found.sources if v.source != NOISE and v.sd.value == 0]
    if idle:
        yield f"redrawing {enumerate_names(idle)} changed no score: are these seeds used?"
    few = {v.source: v.n for v in found.sources if v.n < _FEW_RUNS}
    if few:
        listed = enumerate_names(f"{source} ({n})" for source, n in few.items())
        normal = ", and below 5 they hold for normal scores only" if min(few.values()) < 5 else ""
        yield f"fewer than {_FEW_RUNS} runs of {listed}: their intervals are rough{normal}"


def _no_binomial(metric: str, n_test: int | None, model: int | None) -> Iterator[str]:
    if n_test is not None and model is None:
        yield (
            f"no binomial model of {metric}: it is for accuracies and error rates between 0 and 1, "
            "so named"
        )
