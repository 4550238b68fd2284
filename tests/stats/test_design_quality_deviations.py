"""Standard deviations as repetitions estimate them."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest, sem, t

from outperform.errors import InvalidInput
from outperform.stats import assess_deviations
from outperform.stats.variances import deviation, deviation_ratio

IDEAL = [1.0, 2.0, 3.0, 4.0, 5.0, 9.0]


def assess(*tables, ideal=IDEAL, seed=0, **options):
    return assess_deviations(tables, ideal, rng=np.random.default_rng(seed), **options)


def test_by_hand():
    # Deviations 1 and 2 of the first, 2 and 4 of the second: averages 1.5 and 3.
    first, second = [[1, 2, 3], [1, 3, 5]], [[1, 3, 5], [0, 4, 8]]
    assert assess(first).values.tolist() == [1, 2]
    found = assess(first, second)
    assert found.values.tolist() == [1.5, 3]
    assert (found.n_repetitions, found.mean.value) == (2, 2.25)
    assert found.spread == pytest.approx(1.5 / math.sqrt(2))
    assert found.ratio.value == pytest.approx(2.25 / np.std(IDEAL, ddof=1))


def test_the_mean_has_students_interval():
    table = np.random.default_rng(0).normal(size=(8, 10))
    found, values = assess(table).mean, table.std(axis=1, ddof=1)
    ends = t.interval(0.95, 7, values.mean(), sem(values))
    assert (found.interval.low, found.interval.high) == pytest.approx(ends)


def test_of_one_repetition_its_scores_tell_how_sure_it_is():
    scores = np.random.default_rng(0).normal(size=10)
    found = assess([scores])
    assert found.mean == deviation(scores)
    assert found.ratio == deviation_ratio(scores, IDEAL)
    assert math.isnan(found.spread)
    assert found.to_dict()["spread"] is None


def test_two_of_one_repetition_are_averaged_with_their_bounds():
    first, second = np.random.default_rng(0).normal(size=(2, 1, 10))
    found, alone = assess(first, second), [deviation(each[0]) for each in (first, second)]
    assert found.mean.value == pytest.approx(np.mean([each.value for each in alone]))
    assert found.mean.interval.high == pytest.approx(
        np.mean([each.interval.high for each in alone])
    )


@pytest.mark.slow
def test_the_ratio_is_held_as_often_as_it_says():
    rng, n_studies, k = np.random.default_rng(6), 500, 30
    # The deviation of k normal scores is too small by 1/(4(k - 1)) of it, on average.
    truth = 0.7 * (1 - 1 / (4 * (k - 1)))
    hits = sum(
        truth in assess(0.7 * rng.normal(size=(12, k)), ideal=rng.normal(size=40)).ratio.interval
        for _ in range(n_studies)
    )
    assert binomtest(hits, n_studies, 0.95).pvalue > 0.001


def test_a_ratio_that_is_not_one_is_found_and_one_that_is_is_kept():
    rng = np.random.default_rng(1)
    ideal = rng.normal(size=200)
    assert 1 in assess(rng.normal(size=(20, 50)), ideal=ideal).ratio.interval
    assert assess(0.6 * rng.normal(size=(20, 50)), ideal=ideal).ratio.interval.high < 1


@pytest.mark.parametrize(
    ("table", "ideal", "message"),
    [
        ([[1.0]], IDEAL, "scores has 1 score. At least 2 are needed."),
        ([[1, 2]], [2, 2], "all 2 independent scores are 2. Compare with scores that vary."),
    ],
)
def test_refusals(table, ideal, message):
    with pytest.raises(InvalidInput) as caught:
        assess(table, ideal=ideal)
    assert str(caught.value) == message
