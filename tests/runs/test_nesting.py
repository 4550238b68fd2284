"""Pairs told apart by several columns: groups of them, and settings of a search."""

import numpy as np
import pytest
from scipy.stats import binomtest, f_oneway

from outperform import compare_runs, read_runs
from outperform.errors import InvalidScores
from outperform.runs.nesting import compare_groups, find_nesting


def records(rng, luck, n_seeds=4, n_folds=10, column="fold"):
    """Equals whose seeds are lucky in all their folds."""
    by_seed = rng.normal(0, luck, n_seeds)
    return [
        {
            "model": model,
            "seed": seed,
            column: fold,
            "accuracy": 0.9 + 0.01 * rng.normal() + 0.01 * by_seed[seed] * (model == "a"),
        }
        for model in "ab"
        for seed in range(n_seeds)
        for fold in range(n_folds)
    ]


def test_pairs_that_come_in_groups_are_refused():
    rows = records(np.random.default_rng(1), luck=5)
    with pytest.raises(InvalidScores) as caught:
        compare_runs(read_runs(rows, replicate="seed,fold"), "a", "b")
    assert str(caught.value) == (
        "the differences of pairs with the same seed resemble one another: these are 4 independent "
        "pairs, not 40. Average over fold first, one row for each seed; if they are independent "
        'all the same, pass --accept nested (from Python: read_runs(..., accept="nested")).'
    )
    accepted = read_runs(rows, replicate="seed,fold", accept="nested")
    assert any("was accepted as right" in c for c in compare_runs(accepted, "a", "b").caveats)


def test_settings_of_a_search_are_no_pairs():
    rows = records(np.random.default_rng(1), luck=0, column="lr")
    with pytest.raises(InvalidScores) as caught:
        compare_runs(read_runs(rows, replicate="seed,lr"), "a", "b")
    assert str(caught.value).startswith(
        "pairs differ in lr: they are settings of a search, not replicates of one. Keep the rows "
        "of one setting, or make it part of the name with --algorithm model,lr;"
    )


def test_the_p_value_is_that_of_scipy():
    rng = np.random.default_rng(4)
    group, values = rng.integers(0, 4, 30), rng.normal(size=30)
    expected = f_oneway(*(values[group == g] for g in range(4))).pvalue
    assert compare_groups(group, values) == pytest.approx(expected)


def test_equal_groups_by_hand():
    # Within groups nothing varies, between them all does: no chance; and the other way round.
    assert compare_groups(np.array([0, 0, 1, 1]), np.array([1.0, 1.0, 2.0, 2.0])) == 0
    assert compare_groups(np.array([0, 0, 1, 1]), np.array([1.0, 1.0, 1.0, 1.0])) == 1
    apart = np.array([1.0, 1.5, 2.0, 2.5])  # whatever the groups are numbered
    assert compare_groups(np.array([0, 0, 7, 7]), apart) == compare_groups(
        np.array([1, 1, 0, 0]), apart
    )
    assert compare_groups(np.array([0, 1, 2]), np.array([1.0, 2.0, 3.0])) == 1  # no groups


def test_one_column_and_commas_in_labels_ask_nothing():
    differences = np.repeat([0.0, 1.0], 5)
    assert not list(find_nesting(["seed"], [str(k) for k in range(10)], differences))
    assert not list(find_nesting(["a", "b"], ["x,y,z"] * 10, differences))


@pytest.mark.slow
def test_independent_pairs_are_rarely_questioned_and_groups_nearly_always():
    rng, labels = np.random.default_rng(7), [f"{s},{f}" for s in range(4) for f in range(10)]
    n_asked = sum(
        bool(list(find_nesting(["seed", "fold"], labels, rng.normal(size=40)))) for _ in range(2000)
    )
    # Two columns are looked at, each at 1 %.
    assert binomtest(n_asked, 2000, 0.02).pvalue > 0.001
    grouped = sum(
        bool(
            list(
                find_nesting(
                    ["seed", "fold"],
                    labels,
                    rng.normal(size=40) + np.repeat(rng.normal(0, 2, 4), 10),
                )
            )
        )
        for _ in range(200)
    )
    assert grouped > 170
