from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform.questions.rank.ranks_figure import find_cliques, order_by_cover


def make_alike(n, pairs):
    alike = np.eye(n, dtype=bool)
    for a, b in pairs:
        alike[a, b] = alike[b, a] = True
    return alike


@st.composite
def graphs(draw, most=9):
    n = draw(st.integers(1, most))
    edges = list(combinations(range(n), 2))
    chosen = draw(st.lists(st.booleans(), min_size=len(edges), max_size=len(edges)))
    return make_alike(n, [edge for edge, alike in zip(edges, chosen, strict=True) if alike])


@pytest.mark.parametrize(
    ("n", "pairs", "cliques"),
    [
        (1, [], [(0,)]),
        (3, [], [(0,), (1,), (2,)]),
        (3, [(0, 1), (0, 2), (1, 2)], [(0, 1, 2)]),
        # The first and the last are alike, and differ from the one between them.
        (3, [(0, 2)], [(0, 2), (1,)]),
        # A square without diagonals: its sides.
        (4, [(0, 1), (1, 2), (2, 3), (0, 3)], [(0, 1), (0, 3), (1, 2), (2, 3)]),
        (4, [(0, 1), (0, 2), (1, 2), (2, 3)], [(0, 1, 2), (2, 3)]),
    ],
)
def test_cliques_by_hand(n, pairs, cliques):
    assert sorted(find_cliques(make_alike(n, pairs))) == cliques


def test_moon_and_moser_graph_has_three_to_the_power_of_a_third():
    # Four groups of three that differ within and are alike between: one of each group, 3**4.
    pairs = [(a, b) for a, b in combinations(range(12), 2) if a // 3 != b // 3]
    cliques = list(find_cliques(make_alike(12, pairs)))
    assert len(cliques) == len(set(cliques)) == 81


@given(graphs())
def test_cliques_are_all_maximal_sets_without_a_differing_pair(alike):
    n = len(alike)
    agreeing = [
        {*places}
        for size in range(1, n + 1)
        for places in combinations(range(n), size)
        if all(alike[a, b] for a, b in combinations(places, 2))
    ]
    maximal = [each for each in agreeing if not any(each < other for other in agreeing)]
    assert sorted(find_cliques(alike)) == sorted(tuple(sorted(each)) for each in maximal)


@given(graphs())
def test_chosen_cliques_join_every_pair_that_is_alike(alike):
    cliques = list(find_cliques(alike))
    chosen = order_by_cover(cliques, len(cliques))
    joined = {pair for clique in chosen for pair in combinations(clique, 2)}
    assert joined == {(a, b) for a, b in combinations(range(len(alike)), 2) if alike[a, b]}
    assert set(chosen) <= set(cliques)
    assert order_by_cover(cliques, 2) == chosen[:2]


def test_the_next_clique_is_the_one_that_adds_most_pairs():
    # The first holds ten pairs, of which the second has six; the third has six of its own.
    cliques = [(0, 1, 2, 3, 4), (0, 1, 2, 3, 5), (6, 7, 8, 9)]
    assert order_by_cover(cliques, 3) == [cliques[0], cliques[2], cliques[1]]


def test_three_hundred_that_are_all_alike_are_one_set():
    assert list(find_cliques(np.ones((300, 300), dtype=bool))) == [tuple(range(300))]
