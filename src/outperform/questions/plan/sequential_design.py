"""What it costs to decide after every pair, beside a fixed number of pairs."""

from contextlib import suppress
from dataclasses import dataclass

from outperform.errors import InvalidInput
from outperform.plain_values import Plain
from outperform.questions.result import Table
from outperform.stats import OperatingPoint, SequentialTest, plan_sequential_test
from outperform.wording import format_duration


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


def plan_sequential_design(
    gamma: float,
    alpha: float,
    beta: float,
    *,
    probability: float,
    seconds_per_fit: float | None = None,
) -> SequentialDesign | None:
    """Plan a sequential test; None where it would take thousands of pairs, or chance would do.

    Parameters
    ----------
    gamma
        Smallest P(A>B) that matters; where it is ½, what is planned for takes its place.
    probability
        The P(A>B) that is planned for.

    Examples
    --------
    >>> design = plan_sequential_design(0.75, 0.05, 0.05, probability=0.75)
    >>> round(design.better.expected_pairs, 1), design.test.n_max
    (27.6, 80)
    """
    with suppress(InvalidInput):
        test = plan_sequential_test(gamma if gamma > 0.5 else probability, alpha, beta)
        better, equals = test.operating(probability), test.operating(0.5)
        return SequentialDesign(test, better, equals, seconds_per_fit)
    return None
