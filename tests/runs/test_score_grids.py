"""Scores of all algorithms on a task, side by side."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform import read_runs
from outperform.errors import DuplicateRuns, UnknownName
from outperform.runs import make_runs

NAN = np.nan


def rows_of(text):
    return [dict(zip(("model", "task", "seed", "score"), r.split(), strict=True)) for r in text]


def test_algorithms_are_rows_and_the_replicates_of_the_task_columns():
    rows = rows_of(["b x 10 1", "a x 2 2", "b x 2 3", "a y 7 4", "a x 10 5", "c x 2 6"])
    runs = read_runs(rows)
    grid, labels = runs.score_grid("x")
    assert runs.algorithms == ("b", "a", "c")
    assert tuple(labels) == ("2", "10")
    np.testing.assert_array_equal(grid, [[3, 1], [2, 5], [6, NAN]])
    grid, labels = runs.score_grid("y")
    assert tuple(labels) == ("7",)
    np.testing.assert_array_equal(grid, [[NAN], [4], [NAN]])


def test_runs_without_a_finite_score_are_missing():
    rows = rows_of(["a x 0 inf", "a x 1 -inf", "a x 2 nan", "a x 3 1", "b x 3 2", "b x 0 3"])
    status = [row | {"status": "failed" if row["score"] == "2" else "ok"} for row in rows]
    grid, labels = read_runs(status).score_grid()
    assert tuple(labels) == ("0", "1", "2", "3")
    np.testing.assert_array_equal(grid, [[NAN, NAN, NAN, 1], [3, NAN, NAN, NAN]])


def test_without_replicates_runs_stand_in_the_order_of_rows():
    rows = [{"model": m, "score": s} for m, s in (("b", 1), ("a", 3), ("a", 2), ("a", NAN))]
    grid, labels = read_runs(rows).score_grid()
    assert tuple(labels) == ("1", "2", "3")
    np.testing.assert_array_equal(grid, [[1, NAN, NAN], [3, 2, NAN]])


def test_a_run_that_stands_twice_is_refused_as_in_a_pair():
    rows = rows_of(["a x 0 1", "b x 0 1", "b x 1 2", "b x 0 3", "a x 1 2", "a y 0 1", "a y 0 1"])
    runs = read_runs(rows)
    for take in (lambda: runs.score_grid("x"), lambda: runs.pair("a", "b", "x")):
        with pytest.raises(DuplicateRuns) as caught:
            take()
        assert str(caught.value) == (
            "'b' has 2 runs with seed '0' in task 'x' of the list of records (rows 2, 4). Remove "
            "the copies, or name all columns that tell runs apart: --replicate seed,COLUMN."
        )


def test_tasks_are_named_as_elsewhere():
    runs = read_runs(rows_of(["a x 0 1", "a y 0 1"]))
    with pytest.raises(UnknownName, match="has 2 tasks and none was named"):
        runs.score_grid()
    with pytest.raises(UnknownName, match="no task 'z'"):
        runs.score_grid("z")


CELL = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 10**6))


@given(st.lists(CELL, min_size=1, unique=True), st.randoms(use_true_random=False))
def test_every_run_stands_where_it_belongs_in_any_order(cells, random):
    """Far apart replicates are numbered in another way than near ones."""
    random.shuffle(cells)
    names = [[f"{kind}{cell[place]}" for cell in cells] for place, kind in enumerate("at")]
    about = {"metric": "accuracy", "goal": "maximize", "source": "here"}
    scores = np.arange(len(cells)) + 0.5
    runs = make_runs(*names, [cell[2] for cell in cells], scores, **about)
    found = {
        (algorithm, task, replicate): score
        for task in runs.tasks
        for grid, labels in [runs.score_grid(task)]
        for algorithm, line in zip(runs.algorithms, grid.tolist(), strict=True)
        for replicate, score in zip(labels, line, strict=True)
        if score == score
    }
    wanted = [(f"a{a}", f"t{t}", str(r)) for a, t, r in cells]
    assert found == dict(zip(wanted, scores.tolist(), strict=True))
