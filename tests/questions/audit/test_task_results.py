"""Audits of several tasks: of a comparison, and of one algorithm with itself."""

import json

import numpy as np
import pytest

from outperform.errors import InvalidScores, TooFewRuns, UnpairedScores
from outperform.questions.audit.answer import audit
from outperform.questions.audit.task_results import TaskAudits, TaskSelfAudits
from outperform.runs import read_runs
from tests.questions.audit.scores import audit_quickly, from_wins, table

# Several tasks


def on_tasks(**tasks):
    """Rows of runs on several tasks, from the scores of both algorithms on each."""
    return [
        {"algorithm": name, "task": task, "seed": seed, "accuracy": score}
        for task, runs in tasks.items()
        for name, scores in runs.items()
        for seed, score in enumerate(scores)
    ]


FOUR_TASKS = on_tasks(
    won=from_wins(25, 4), barely=from_wins(21, 8), open=from_wins(17, 12), lost=from_wins(4, 25)
)


def test_without_a_task_all_are_audited_and_the_weakest_is_named():
    result = audit_quickly(FOUR_TASKS, "a", "b")
    assert isinstance(result, TaskAudits)
    assert [each.verdict for each in result.audits] == ["robust", "fragile", "undecided", "robust"]
    assert (result.n_robust, result.n_fragile, result.n_undecided) == (2, 1, 1)
    assert str(result) == (
        "Of 4 tasks, the verdict on a and b is robust on 2 (1 for a, 1 for b), fragile on 1 (1 for "
        "a) and undecided on 1; it is weakest on barely, where hiding 2 of 29 pairs is enough to "
        "undo that a outperforms b."
    )
    assert result.verdict == "fragile"
    assert result.mood == "bad"
    assert "for instance --on barely;" in result.advice
    assert str(result.scope) == "Seeds varied, so this is about these tasks"
    (part,) = result.tables
    # 8 wins of 9 are significant and 8 of 10 are not, so that 20 of 21 losses must go; of 4 wins
    # no number of losses is few enough.
    assert [row[3:] for row in part.rows] == [
        ["robust, a", "13", "–", "no number"], ["fragile, a", "2", "–", "20"],
        ["undecided", "–", "6", "14"], ["robust, b", "13", "no number", "–"],
    ]  # fmt: skip


def test_each_task_is_audited_as_if_it_were_alone():
    together = audit_quickly(FOUR_TASKS, "a", "b", rng=np.random.default_rng(5))
    for each in together.audits:
        rng = np.random.default_rng(5)
        alone = audit_quickly(FOUR_TASKS, "a", "b", task=each.comparison.task, rng=rng)
        assert each.to_dict() == alone.to_dict()
    answer = json.loads(json.dumps(together.to_dict()))
    assert [task["verdict"] for task in answer["tasks"]] == [
        "robust", "fragile", "undecided", "robust",
    ]  # fmt: skip
    assert (answer["weakest"], answer["n_fragile"], answer["verdict"]) == ("barely", 1, "fragile")


def test_tasks_without_a_conclusion_or_beyond_doubt_are_said_so():
    undecided = audit_quickly(on_tasks(x=from_wins(17, 12), y=from_wins(16, 13)), "a", "b")
    assert str(undecided) == (
        "Of 2 tasks, the verdict on a and b is undecided on 2; on x, hiding 6 of 29 pairs would "
        "show that a outperforms b."
    )
    robust = audit_quickly(on_tasks(x=from_wins(25, 4), y=from_wins(27, 2)), "a", "b")
    assert (robust.verdict, robust.mood) == ("robust", "good")
    assert str(robust).endswith(
        "is robust on 2; it is weakest on x, where hiding 13 of 29 pairs is what it takes to undo "
        "that a outperforms b."
    )
    assert robust.advice.startswith("report every task with every seed")


def test_ties_only_are_moved_by_no_number():
    tied = audit_quickly(on_tasks(x=from_wins(0, 0, 8), y=from_wins(0, 0, 9)), "a", "b")
    assert str(tied) == (
        "Of 2 tasks, the verdict on a and b is undecided on 2; on no task is that moved, however "
        "many pairs are hidden."
    )


def test_doubts_of_all_tasks_come_once_and_those_of_one_with_its_name():
    rows = [row for row in FOUR_TASKS if (row["task"], row["seed"]) != ("won", 7)]
    result = audit_quickly(rows, "a", "b")
    assert result.caveats[0] == (
        "each of 4 tasks was tested at α = 0.05 by itself: which of them may be named together, "
        "`outperform compare` tells"
    )
    assert "won: seeds 0…28 without 7: were these runs left out?" in result.caveats
    unpaired = audit_quickly(FOUR_TASKS, "a", "b", paired=False)
    ends = [caveat for caveat in unpaired.caveats if "hidden from the ends only" in caveat]
    assert len(ends) == 1
    assert unpaired.tables[0].note.endswith("≤: fewer may do")


def test_a_task_with_too_few_runs_is_named_and_left_out():
    few = {"a": [1, 2, 3], "b": [1, 3, 2]}
    result = audit_quickly(on_tasks(x=few, y=from_wins(25, 4), z=from_wins(25, 4)), "a", "b")
    assert [each.comparison.task for each in result.audits] == ["y", "z"]
    assert "x is left out: 'a' and 'b' have 3 pairs" in result.caveats
    with pytest.raises(TooFewRuns) as caught:
        audit(on_tasks(x=few, y=few), "a", "b")
    assert str(caught.value) == (
        "none of 2 tasks has enough runs to pick from: on 'x', 'a' and 'b' have 3 pairs. Picking "
        "needs at least 4; `outperform plan` says how many a verdict needs."
    )


def test_one_algorithm_is_audited_on_all_tasks():
    result = audit_quickly(FOUR_TASKS, "b")
    assert isinstance(result, TaskSelfAudits)
    assert result.n_fooled == 4
    n = audit(FOUR_TASKS, "b", task="won").n_fooled
    assert str(result) == (
        "b: its best and its worst runs, picked by score, differ significantly on 4 of 4 tasks "
        f"(α = 0.05); on won, up to {n} of 29 runs each."
    )
    assert [row[0] for row in result.tables[0].rows] == ["won", "barely", "open", "lost"]
    assert result.to_dict()["tasks"][0]["n_fooled"] == n
    assert not audit_quickly(on_tasks(x=few_equal(), y=few_equal()), "a").n_fooled


def few_equal():
    return {"a": [1, 2, 3, 1], "b": [1, 3, 2, 2]}


def test_missing_pairs_and_scores_are_refused():
    with pytest.raises(UnpairedScores):
        audit(table(range(6), range(7)), "a", "b")
    rows = table(range(6))
    rows[2]["score"] = float("nan")
    with pytest.raises(InvalidScores):
        audit(rows, "a", "b")
    assert audit_quickly(rows, "a", "b", drop_incomplete=True).n_runs == 6


def test_of_several_tasks_it_is_counted_who_is_better_for_data_like_these():
    # The other side wins 24 of 72 by ten times as much: it has the better mean (p = 0.0025).
    turned = np.repeat([0.01, -0.1], [48, 24])
    runs = {"turned": turned, "shown": 0.01 + turned / 50, "open": np.tile([0.01, -0.01], 36)}
    rows = on_tasks(**{t: {"a": 0.5 + each, "b": 0.5 + 0 * each} for t, each in runs.items()})
    sizes = {"train_size": 790, "test_size": 10}
    accepted = read_runs(rows, accept=("constant", "sorted", "repeated"))
    result = audit(accepted, "a", "b", n_resamples=20, **sizes)
    assert str(result).endswith(
        "; for other data like these the winner is shown to be better on 1 of 2 tasks that have "
        "one, and the loser to have the better mean on 1."
    )
