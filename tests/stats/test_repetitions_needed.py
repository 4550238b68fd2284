"""How many repetitions of how many scores are the cheapest."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform.errors import InvalidInput
from outperform.stats import cheapest_repetitions, scores_of_one_repetition

parts = st.floats(0, 4).map(lambda x: round(x, 2))


def search_all(shared, within, allowed, overhead):
    """The lowest cost of all numbers up to 300, by trying them."""
    m, k = np.arange(1, 301)[:, None], np.arange(1, 301)[None, :]
    good = (shared + within / k) / m <= allowed * (1 + 1e-9)
    return float(np.where(good, m * (overhead + k), math.inf).min())


@given(parts, parts, st.floats(0.05, 4), st.sampled_from([0, 1, 5, 20, 200]))
def test_nothing_is_cheaper(shared, within, allowed, overhead):
    n, k, cost = map(float, cheapest_repetitions(shared, within, allowed, overhead=overhead))
    assert (shared + within / k) / n <= allowed * (1 + 1e-9)
    assert cost == n * (overhead + k)
    # Whole numbers near the best real ones are tried, which is nearly always all that there is.
    assert cost <= 1.02 * search_all(shared, within, allowed, overhead)


def test_by_hand():
    # √(16·9/1) = 12 scores are best; (1 + 9/9)/4 = 0.5 costs 4·25, (1 + 9/18)/3 costs 3·34.
    assert [*map(float, cheapest_repetitions(1, 9, 0.5, overhead=16))] == [4, 9, 100]


def test_many_at_once():
    cost = cheapest_repetitions([[0.0], [1.0]], 9.0, [2.0, 0.5], overhead=16).cost
    assert cost.tolist() == [[21, 34], [25, 100]]


def test_what_cannot_be_reached_costs_infinitely_much():
    for allowed in (0.0, -1.0):
        assert {*map(float, cheapest_repetitions(1, 1, allowed, overhead=3))} == {math.inf}
    assert scores_of_one_repetition([1.0, 0.2], 1.0, 1.0).tolist() == [math.inf, 2]


def test_without_an_overhead_single_scores_are_best():
    assert [*map(float, cheapest_repetitions(1.0, 1.0, 0.5, overhead=0))] == [4, 1, 4]


def test_nothing_shared_needs_one_repetition_and_all_shared_single_scores():
    assert float(cheapest_repetitions(0.0, 1.0, 0.01, overhead=5).n_repetitions) == 1
    assert [*map(float, cheapest_repetitions(1.0, 0.0, 0.1, overhead=5))] == [10, 1, 60]


def test_refusals():
    with pytest.raises(InvalidInput) as caught:
        cheapest_repetitions(-1.0, 1.0, 1.0, overhead=5)
    assert str(caught.value) == (
        "a variance or the overhead is below 0. Pass variances and costs of 0 or more."
    )
