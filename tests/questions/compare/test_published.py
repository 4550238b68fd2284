"""Comparing two methods by published means of one dataset."""

import numpy as np
import pytest

from outperform import (
    compare_published,
)
from outperform.errors import InvalidInput, InvalidScores
from outperform.stats import Summary


def test_verdict_from_means_and_standard_deviations():
    result = compare_published(Summary(76.3, 0.4, 10), Summary(75.1, 0.5, 10), names=("new", "old"))
    assert (result.winner, result.verdict) == ("a", "significant and meaningful")
    assert str(result).startswith("new outperforms old: P(new > old) = 0.97 [0.837, 0.997] if ")
    assert len(result.caveats) == 2


def test_lower_is_better():
    loss = compare_published(Summary(0.40, 0.02, 10), Summary(0.50, 0.02, 10), goal="minimize")
    assert loss.winner == "a"
    assert loss.test.statistic > 0
    assert loss.summary_a.mean == 0.40


@pytest.mark.slow
def test_equals_are_told_apart_no_more_often_than_alpha():
    rng = np.random.default_rng(3)
    found = 0
    for a, b in rng.normal(size=(2000, 2, 10)):
        first, second = (Summary(x.mean(), x.std(ddof=1), x.size) for x in (a, b))
        found += compare_published(first, second).winner is not None
    assert 0.035 < found / 2000 < 0.06
    shifted = compare_published(Summary(3, 1, 10), Summary(0, 1, 10))
    assert shifted.winner == "a"  # the negative control: a true difference is found


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((1, 1, 5), Summary(1, 1, 5)), "summary_a is (1, 1, 5). Pass outperform.stats.Summary("),
        ((Summary(1, 1, 5), None), "summary_b is None. Pass outperform.stats.Summary(mean, sd, n)"),
    ],
)
def test_what_is_no_summary_is_refused(arguments, message):
    with pytest.raises(InvalidInput) as caught:
        compare_published(*arguments)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("names", [None, ("a",), ("a", "a")])
def test_two_names_are_needed(names):
    with pytest.raises(InvalidInput) as caught:
        compare_published(Summary(1, 1, 5), Summary(2, 1, 5), names=names)
    assert str(caught.value) == f"names is {names!r}. Pass two different names."


def test_the_winner_is_the_one_whose_chance_is_said():
    result = compare_published(Summary(75.1, 0.5, 10), Summary(76.3, 0.4, 10))
    assert str(result).startswith("B outperforms A: P(B > A) = 0.97 [0.837, 0.997] if scores are ")


# Whole tables


@pytest.mark.parametrize(
    ("metric", "remedy"),
    [
        ("accuracy", "Give both in one unit."),
        (
            "score",
            "Give both in one unit; if they are right as they are, name the metric: --metric NAME "
            "(metric= in Python).",
        ),
    ],
)
def test_a_fraction_beside_per_cent_is_refused(metric, remedy):
    with pytest.raises(InvalidScores) as caught:
        compare_published(Summary(93.1, 0.3, 5), Summary(0.925, 0.004, 5), metric=metric)
    assert str(caught.value) == (
        f"the means are 93.1 for 'A' and 0.925 for 'B': these look like a fraction and per cent. "
        f"{remedy}"
    )
    assert (
        compare_published(
            Summary(93.1, 0.3, 5), Summary(0.925, 0.004, 5), metric="reward"
        ).winner_name
        == "A"
    )


@pytest.mark.parametrize(
    ("mean", "sd", "possible"),
    [
        (0.912, 0.4, False),
        (0.4, 91.2, False),
        (0.912, 0.3, True),
        (99.9, 0.4, True),
        (1, 0.1, True),
    ],
)
def test_a_deviation_that_shares_cannot_have_is_refused(mean, sd, possible):
    sides = Summary(mean, sd, 5), Summary(mean, 0.01, 5)
    if possible:
        compare_published(*sides, metric="accuracy")
    else:
        with pytest.raises(InvalidScores, match=f"cannot have a standard deviation of {sd}, as"):
            compare_published(*sides, metric="accuracy")
    compare_published(*sides, metric="reward")  # which has no bounds
