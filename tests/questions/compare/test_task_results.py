"""On how many tasks either side is better: the bounds, the names, and how often they err."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform.questions.compare.task_results import BetterOn, describe_better, find_better
from outperform.stats import welch_t_test

NAMES = {"a": "new", "b": "old"}


def judge(pvalues, alpha=0.05):
    """What one-sided p-values of a show, with those of b their complements."""
    sides = {"a": list(pvalues), "b": [1 - p for p in pvalues]}
    wins = [side for side, own in sides.items() if max(own) <= alpha / 2]
    tasks = [f"task {i}" for i in range(len(pvalues))]
    return find_better(tasks, sides, alpha, wins[0] if wins else None)


def test_by_hand():
    # At 0.025: 4 × 0.001, 3 × 0.005 and 2 × 0.012 pass, and 0.3 does not.
    found = judge([0.3, 0.001, 0.012, 0.005])
    assert found["a"].n_tasks == 3
    assert found["a"].tasks == ("task 1", "task 2", "task 3")
    assert found["a"].pvalues == pytest.approx([0.6, 0.008, 0.048, 0.03])
    assert found["b"].n_tasks == 0
    assert describe_better(NAMES, found) == "new is better than old on at least 3 of 4 tasks"


def test_a_side_that_wins_on_every_task_is_better_on_all_of_them():
    # Six pairs won of six, on each of three tasks: none could be named beside tasks without a
    # verdict, but all together leave no doubt.
    assert judge([1 / 64] * 3)["a"].n_tasks == 3
    assert judge([1 / 64, 1 / 64, 0.3])["a"] == BetterOn(
        0, (), pytest.approx([6 / 64, 6 / 64, 0.6])
    )


def test_both_sides_may_be_better_on_some_tasks():
    found = judge([0.001, 0.002, 0.999, 0.9995, 0.9999])
    assert describe_better(NAMES, found, "datasets") == (
        "old is better than new on at least 3 of 5 datasets, new on at least 2"
    )
    assert describe_better(NAMES, judge([0.2, 0.9])) == (
        "no difference shown between new and old on any of 2 tasks"
    )
    assert describe_better(NAMES, judge([0.001, 0.01])) == "new is better than old on both tasks"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_as_many_are_named_as_are_counted_and_none_on_both_sides(pvalues):
    found = judge(pvalues)
    assert all(len(on.tasks) == on.n_tasks for on in found.values())
    assert not set(found["a"].tasks) & set(found["b"].tasks)


@pytest.mark.slow
@pytest.mark.parametrize("n_better", [0, 1, 3, 5])
def test_bounds_and_names_err_no_more_often_than_alpha(n_better):
    rng = np.random.default_rng(n_better)
    n_studies, n_tasks = 4000, 6
    a, b = rng.normal(size=(2, n_studies, n_tasks, 8)) * rng.uniform(0.5, 2, size=n_tasks)[:, None]
    a[:, :n_better] += 8
    pvalues = welch_t_test(a, b, alternative="greater").pvalue
    truth = {f"task {i}" for i in range(n_better)}
    too_many = wrong = 0
    for each in pvalues:
        found = judge(each)
        too_many += found["a"].n_tasks > n_better
        wrong += bool({*found["a"].tasks} - truth) or bool(found["b"].tasks)
    for errors, level in ((too_many, 0.025), (wrong, 0.05)):
        assert errors / n_studies < level + 3 * (level / n_studies) ** 0.5
    assert wrong  # the negative control: luck does happen


@pytest.mark.slow
def test_counting_verdicts_one_by_one_errs_more_often():
    # The negative control: without a correction, equals on six tasks differ on one in a fifth of
    # studies.
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 2000, 6, 8))
    pvalues = welch_t_test(a, b).pvalue
    assert (pvalues < 0.05).any(axis=1).mean() > 0.2
