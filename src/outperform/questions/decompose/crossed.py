"""Which sources of variation, and which of their interactions, make up the variance of scores."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from outperform.questions.decompose.result import describe_runs
from outperform.questions.decompose.table import tabulate_components
from outperform.questions.result import Result, Table
from outperform.runs.scope import THIS_DATASET, Scope
from outperform.stats import VarianceComponent, VarianceComponents, variance_components
from outperform.wording import enumerate_names

_FEW_LEVELS = 10


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
        """All numbers."""
        return [tabulate_components(self)]

    def __str__(self) -> str:
        what = f"the {self.metric}{describe_runs(self.algorithm, self.task)}"
        if self.largest.share == 0:
            return f"No source changes {what}."
        runs = " × ".join(map(str, self.parts.levels))
        return (
            f"{join_sources(self.largest.names)} causes {self.largest.share:.0%} of the variance "
            f"of {what} when every source is redrawn ({runs} runs)."
        )


def decompose_crossed(
    scores: ArrayLike,
    names: Sequence[str],
    *,
    algorithm: str = "",
    task: str = "",
    metric: str = "score",
    confidence_level: float = 0.95,
) -> CrossedDecomposition:
    """Split the variance of scores among sources and their interactions; shares add up to 1.

    Parameters
    ----------
    scores : shape (n_levels_1, ..., n_levels_k), each ≥ 2
        One run per combination of seeds.
    names
        Of the k sources, in the order of the axes.

    Examples
    --------
    >>> print(decompose_crossed([[1, 2], [5, 8]], ["split", "init"]))
    split causes 83% of the variance of the score when every source is redrawn (2 × 2 runs).
    """
    parts = variance_components(scores, names, confidence_level=confidence_level)
    return CrossedDecomposition(algorithm, task, metric, parts, tuple(_doubt_parts(parts)))


def join_sources(names: Sequence[str]) -> str:
    """Name of an interaction."""
    return " × ".join(names)


def _doubt_parts(parts: VarianceComponents) -> Iterator[str]:
    highest = parts.components[-1]
    yield (
        f"{join_sources(highest.names)} includes numerical noise, which one run per combination "
        "cannot tell from it"
    )
    yield "intervals are for normal effects: with heavier tails they are too short"
    negative = [join_sources(c.names) for c in parts.components if c.variance.value < 0]
    if negative:
        yield (
            f"negative estimates of {enumerate_names(negative)}: their variance is small beside "
            "the error of its estimate; they have no share"
        )
    levels = zip(parts.names, parts.levels, strict=True)
    few = [f"{name} ({n})" for name, n in levels if n < _FEW_LEVELS]
    if few:
        yield f"fewer than {_FEW_LEVELS} levels of {enumerate_names(few)}: components are rough"
