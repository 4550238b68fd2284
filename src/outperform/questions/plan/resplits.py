"""What re-splits of one dataset can show about other data like it, before they are run."""

from dataclasses import dataclass

from outperform.plain_values import Plain
from outperform.questions.compare.result import Comparison
from outperform.questions.result import Table
from outperform.runs.scope import Resplit
from outperform.stats import required_resplits, resplit_floor
from outperform.stats.resplits import cautious_alpha


@dataclass(frozen=True, slots=True)
class PlannedResplits(Plain):
    """How many re-splits would show a difference for data like these, and what none ever shows."""

    JSON = "test_to_train=overlap unit difference deviation n_required floor"

    overlap: float  # size of a test set over that of its training set
    alpha: float
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
        return required_resplits(
            abs(self.difference) / self.deviation,
            n_train=1,
            n_test=self.overlap,
            alpha=self.alpha,
            beta=self.beta,
        )

    def tabulate(self) -> Table:
        """What any number of re-splits shows, and how many show the pilot's difference."""
        rows = [("smallest difference that any number shows", f"{self.floor:.3g}")]
        if self.difference is not None:
            n, power = self.n_required, f"{1 - self.beta:g}"
            rows += [
                ("difference of the pilot", f"{abs(self.difference):.3g}"),
                (f"re-splits that show it with power {power}", "none" if n is None else f"{n:,}"),
            ]
        title = f"For other data like these, from re-splits of one dataset ({self.unit}):"
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


def plan_resplits(
    resplit: Resplit | None, pilot: Comparison | None, *, alpha: float, beta: float
) -> PlannedResplits | None:
    """Plan for data like these, where sizes of splits, or a pilot made of such, are known.

    With a pilot, which was compared with them, the sizes are of no matter. None where nothing is
    known of how the data are divided, or a pilot's differences do not vary.

    Examples
    --------
    >>> print(plan_resplits(Resplit(800, 200), None, alpha=0.05, beta=0.05))
    no number of re-splits shows a difference below 1.3 standard deviations of the difference
    """
    alpha = cautious_alpha(alpha)
    if pilot is None:
        if resplit is None:
            return None
        return PlannedResplits(resplit.n_test / resplit.n_train, alpha, beta)
    seen = pilot.population
    if seen is None or seen.deviation == 0:
        return None
    return PlannedResplits(seen.overlap, alpha, beta, seen.deviation, pilot.metric, seen.value)
