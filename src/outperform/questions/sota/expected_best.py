"""What the best of many equally good classifiers shows, and whether a better one stands out."""

from dataclasses import dataclass

from outperform.errors import InvalidInput
from outperform.plain_values import Plain
from outperform.runs.scope import EXAMPLES, Scope
from outperform.stats import (
    BestOfDistribution,
    Interval,
    best_of_agreeing,
    best_of_correlated,
    chance_needed,
    chance_to_reach,
    clopper_pearson_interval,
)
from outperform.stats.checks import check_count, check_open_unit

_POWER = 0.8


@dataclass(frozen=True, slots=True)
class ExpectedBest(Plain):
    """The state of the art among m classifiers of one true accuracy."""

    JSON = (
        "n_classifiers=distribution.m test_size=distribution.n accuracy scope mean "
        "sd=distribution.sd interval alone better chance_to_reach_mean chance_to_reach_upper "
        "chance_to_exceed_upper needed power caveats"
    )

    accuracy: float  # the true one, of all
    distribution: BestOfDistribution  # of the best
    alone: Interval  # Clopper and Pearson's, of one classifier that shows the true accuracy
    interval: Interval  # that the best lies in
    better: float  # true accuracy of a classifier that is better
    power: float  # the chance to look better that `needed` gives
    caveats: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        """What varies from one test set to the next, and what this is about for that reason."""
        size = f"test sets of {self.distribution.n:,} examples"
        return Scope((EXAMPLES,), f"equally good classifiers on {size}", how="vary")

    @property
    def mean(self) -> float:
        """Expected accuracy of the best."""
        return self.distribution.mean

    @property
    def upper(self) -> float:
        """Accuracy that the best reaches with a chance of α/2, at least."""
        return self.interval.high

    @property
    def chance_to_reach_mean(self) -> float:
        """That the better one shows at least what the best of the others is expected to."""
        return chance_to_reach(self.mean, self.distribution.n, self.better)

    @property
    def chance_to_reach_upper(self) -> float:
        """That the better one shows at least the upper bound of the best."""
        return chance_to_reach(self.upper, self.distribution.n, self.better)

    @property
    def chance_to_exceed_upper(self) -> float:
        """That the better one shows more than the upper bound of the best."""
        return chance_to_reach(self.upper, self.distribution.n, self.better, strictly=True)

    @property
    def needed(self) -> float:
        """True accuracy that reaches the expected best with the power asked for."""
        return chance_needed(self.mean, self.distribution.n, self.power)

    def __str__(self) -> str:
        best, percent = self.distribution, f"{100 * self.interval.confidence_level:g}%"
        return (
            f"The best of {best.m:,} classifiers of accuracy {self.accuracy:g} shows "
            f"{self.mean:.4f} on {best.n:,} examples ({percent} between "
            f"{self.interval.low:.4f} and {self.upper:.4f}); one of true accuracy "
            f"{self.better:.4f} shows as much with a chance of {self.chance_to_reach_mean:.1%}."
        )


def expect_best(
    n_classifiers: int,
    *,
    test_size: int,
    accuracy: float,
    dependence: float = 0.0,
    agreement: float | None = None,
    better: float | None = None,
    confidence_level: float = 0.95,
) -> ExpectedBest:
    """Compute what the best of equally good classifiers shows on one test set.

    Parameters
    ----------
    accuracy
        True accuracy of every one of them.
    dependence
        Correlation of each one's successes with those of a reference as good as they are.
    agreement
        Instead of a correlation: chance of each to be right where a reference is right, which is
        right on exactly `accuracy` of the examples.
    better
        True accuracy of a better one; by default the upper end of the interval of one alone.

    Examples
    --------
    >>> print(expect_best(1000, test_size=3000, accuracy=0.9))
    The best of 1,000 classifiers of accuracy 0.9 shows 0.9173 on 3,000 examples (95% between \
0.9143 and 0.9213); one of true accuracy 0.9105 shows as much with a chance of 10.0%.
    """
    check_count("n_classifiers", n_classifiers, at_least=1)
    check_count("test_size", test_size, at_least=1)
    check_open_unit("accuracy", accuracy)
    check_open_unit("confidence_level", confidence_level)
    if better is not None:
        _check_better(better, accuracy)
    right = round(accuracy * test_size)
    alone = clopper_pearson_interval(right, test_size, confidence_level=confidence_level)
    best = _distribute(n_classifiers, test_size, accuracy, dependence, agreement)
    return ExpectedBest(
        accuracy=accuracy,
        distribution=best,
        alone=alone,
        interval=best.interval(confidence_level),
        better=alone.high if better is None else better,
        power=_POWER,
        caveats=_list_doubts(dependence, agreement, n_classifiers),
    )


def _check_better(better: float, accuracy: float) -> None:
    check_open_unit("better", better)
    if better <= accuracy:
        raise InvalidInput(
            f"better is {better:g}, which is not above the accuracy {accuracy:g}",
            "Pass the true accuracy of one that is better than the others",
        )


def _distribute(
    m: int, n: int, accuracy: float, dependence: float, agreement: float | None
) -> BestOfDistribution:
    if agreement is None:
        return best_of_correlated(m, n, accuracy, dependence)
    if dependence:
        raise InvalidInput(
            f"dependence is {dependence:g} and agreement {agreement:g}", "Pass one of the two"
        )
    n_right = round(accuracy * n)
    if abs(n_right - accuracy * n) > 1e-6:
        raise InvalidInput(
            f"no reference is right on exactly {accuracy:g} of {n} examples",
            f"Pass an accuracy such as {min(max(n_right, 1), n - 1) / n:.6g}, or a dependence "
            "instead of an agreement",
        )
    return best_of_agreeing(m, n, n_right, agreement)


def _list_doubts(dependence: float, agreement: float | None, m: int) -> tuple[str, ...]:
    doubts = ["all classifiers are taken to be equally good"]
    if dependence == 0 and agreement is None and m > 1:
        doubts.append(
            "they are taken as independent; the more alike they are, the less the best exceeds "
            "their accuracy"
        )
    return tuple(doubts)
