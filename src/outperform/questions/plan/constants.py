"""How much scores after one search have in common: as measured, or typical of published studies."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from outperform.plain_values import Plain
from outperform.stats import Estimate, Variation

ONE_SEARCH = ("fix-hopt", "simulated-hopt", "resampled-hopt")  # designs of k fits after a search

# Standard deviations of a run of the ideal design, and of the mean of k runs of fix-hopt with all
# of learning redrawn, over 20 searches: constants of the case studies of Bouthillier et al. (2021,
# section 3.3), at the largest k that they give. The variance of a run of fix-hopt is not among
# them: that of the ideal design stands for it.
CASE_STUDIES = {
    "CIFAR10 VGG11": (0.003859, 0.002982, 100),
    "PascalVOC FCN": (0.013640, 0.003005, 10),
    "Glue-SST2 BERT": (0.007231, 0.002356, 100),
    "Glue-RTE BERT": (0.031065, 0.009793, 100),
    "MHC MLP": (0.022229, 0.001452, 100),
}


@dataclass(frozen=True, slots=True)
class Constants(Plain):
    """What the runs of one kind of design have in common, over all pipelines and tasks."""

    JSON = "design correlation estimate low high squared_bias variance typical"

    design: str
    correlation: float  # ρ of two runs after the same search, as it is to be expected
    estimate: float  # as estimated, at least 0
    low: float  # ρ may be as small as this
    high: float
    squared_bias: float = 0.0  # of the mean, against ideal runs, in variances of a run
    variance: float = 1.0  # of a run of this design, in the same unit: that of fix-hopt or ideal
    typical: bool = False  # of published case studies: not measured here

    def vary(
        self, correlation: float | None = None, length: "SearchLength | None" = None
    ) -> Variation:
        """How runs vary, in variances of a run: with another ρ, or after shorter searches."""
        rho = self.correlation if correlation is None else correlation
        if length is None:
            return Variation(rho, self.variance, self.squared_bias)
        variance = self.variance + length.extra_luck
        bias = self.squared_bias + length.squared_bias
        return Variation((rho * self.variance + length.extra_luck) / variance, variance, bias)


@dataclass(frozen=True, slots=True)
class SearchLength(Plain):
    """What searches of fewer trials change, in variances of a run."""

    n_trials: int
    squared_bias: float  # of the mean score, against the study's searches
    extra_luck: float  # variance that is added


@dataclass(frozen=True, slots=True)
class RunVariation(Plain):
    """How the runs of a pipeline on a task vary, as far as a store tells."""

    pipeline: str
    task: str
    metric: str
    sd: float | None  # of a run
    correlation: Estimate | None  # of runs after the same search, of fix-hopt
    n_repetitions: int = 0


def estimate_typical() -> Mapping[str, float]:
    """ρ of the published case studies, by name: (k·Var(μ̃)/V − 1)/(k − 1), at least 0."""
    return {
        name: max(0.0, (k * (error / sigma) ** 2 - 1) / (k - 1))
        for name, (sigma, error, k) in CASE_STUDIES.items()
    }


def make_typical() -> Constants:
    """Constants of fix-hopt in published case studies: the mean ρ, and the range.

    Squared errors are linear in ρ: those of a study like one of these are expected at the mean.

    Examples
    --------
    >>> typical = make_typical()
    >>> round(typical.correlation, 2), typical.low, round(typical.high, 2)
    (0.16, 0.0, 0.59)
    """
    published = [*estimate_typical().values()]
    mean = fmean(published)
    return Constants(ONE_SEARCH[0], mean, mean, min(published), max(published), typical=True)
