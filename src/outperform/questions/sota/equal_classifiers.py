"""What the best of many equally good classifiers shows, and whether a better one stands out."""

from collections.abc import Iterator

from outperform.errors import InvalidInput
from outperform.questions.sota.result import BestOfEquals
from outperform.stats import (
    BestOfDistribution,
    best_of_agreeing,
    best_of_correlated,
    clopper_pearson_interval,
)
from outperform.stats.checks import check_count, check_open_unit

_POWER = 0.8


def best_of_equals(
    n_classifiers: int,
    *,
    test_size: int,
    accuracy: float,
    dependence: float = 0.0,
    agreement: float | None = None,
    better: float | None = None,
    confidence_level: float = 0.95,
) -> BestOfEquals:
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
    >>> print(best_of_equals(1000, test_size=3000, accuracy=0.9))
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
    return BestOfEquals(
        accuracy=accuracy,
        distribution=best,
        alone=alone,
        interval=best.interval(confidence_level),
        better=alone.high if better is None else better,
        power=_POWER,
        caveats=tuple(_find_doubts(dependence, agreement, n_classifiers)),
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


def _find_doubts(dependence: float, agreement: float | None, m: int) -> Iterator[str]:
    yield "all classifiers are taken to be equally good"
    if dependence == 0 and agreement is None and m > 1:
        yield (
            "they are taken as independent; the more alike they are, the less the best exceeds "
            "their accuracy"
        )
