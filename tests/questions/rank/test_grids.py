"""Which runs belong together, and what is made of those that are missing."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from outperform import rank_runs, read_runs
from outperform.errors import (
    InvalidInput,
    TooFewRuns,
    UnpairedScores,
)
from outperform.questions.rank.table import tabulate_ranking
from tests.questions.rank.made_runs import NAMES, find, make_runs


def drop(rows, algorithm, task, seeds=None):
    return [
        row
        for row in rows
        if not (
            (row["algorithm"], row["task"]) == (algorithm, task)
            and (seeds is None or row["seed"] in seeds)
        )
    ]


def test_gaps_are_named_and_refused():
    rows = drop(drop(make_runs(), "vgg", "t2"), "mlp", "t3", {4})
    with pytest.raises(UnpairedScores) as refused:
        rank_runs(rows)
    assert "no run of vgg on t2; no seed 4 of mlp on t3" in refused.value.problem
    assert "--complete" in refused.value.remedy


def test_a_run_without_a_score_is_named_by_its_row():
    rows = make_runs()
    rows[7]["reward"] = math.inf
    with pytest.raises(UnpairedScores, match=r"\(row 8 has no finite score, or did not finish\)"):
        rank_runs(rows)


def test_seeds_of_which_each_has_its_own_get_advice_that_helps():
    rows = [row | {"seed": f"{row['algorithm']} {row['seed']}"} for row in make_runs()]
    with pytest.raises(UnpairedScores) as refused:
        rank_runs(rows)
    assert "leave out the column seed: they are then paired at random" in refused.value.remedy
    rank_runs([{name: row[name] for name in row if name != "seed"} for row in rows])


def test_equal_numbers_are_one_replicate():
    rows = [
        row | {"seed": f"{row['seed']}.0" if row["algorithm"] == "vgg" else row["seed"]}
        for row in make_runs()
    ]
    ranking, plain = rank_runs(rows), rank_runs(make_runs())
    assert ranking.pairs == plain.pairs
    assert any("seed '0' and '0.0' were taken as the same" in each for each in ranking.caveats)
    both = [*make_runs(), rows[0] | {"seed": "0.0"}]
    with pytest.raises(UnpairedScores):
        rank_runs(both)


def test_an_algorithm_that_is_missing_on_a_task_hides_nobody_there():
    ranking = rank_runs(drop(make_runs(gap=3), "vgg", "t2"), gaps="keep")
    assert ranking.tasks[1].n_runs == 12
    means = str(tabulate_ranking(ranking)[0].rows)
    marked = {task.name: len(task.maybe_best) for task in ranking.tasks}
    assert means.count("*") == sum(marked.values())
    assert not any("with 0 runs" in caveat for caveat in ranking.caveats)


def test_two_that_never_met_are_named():
    rows = drop(drop(make_runs(names=("vit", "vgg", "mlp")), "vgg", "t1"), "mlp", "t2")
    rows = drop(drop(rows, "vgg", "t3"), "mlp", "t3")
    with pytest.raises(TooFewRuns) as refused:
        rank_runs(rows, gaps="keep")
    assert refused.value.problem == "mlp and vgg have no replicate of any task in common"


def test_complete_leaves_out_what_not_all_have():
    rows = drop(drop(make_runs(), "vgg", "t2"), "mlp", "t3", {4})
    ranking = rank_runs(rows, gaps="complete")
    assert [(task.name, task.n_runs) for task in ranking.tasks] == [("t1", 12), ("t3", 11)]
    assert any("no run of vgg on t2" in caveat for caveat in ranking.caveats)


def test_gaps_may_be_kept():
    tasks = [f"t{i}" for i in range(12)]
    rows = drop(make_runs(tasks=tasks, gap=3), "vgg", "t2")
    ranking = rank_runs(rows, gaps="keep")
    assert ranking.friedman is None
    assert ranking.skillings_mack is not None
    assert ranking.names == NAMES
    assert math.isnan(ranking.tasks[2].means["vgg"])
    assert "vgg" not in ranking.tasks[2].maybe_best
    # What a pair has in common is enough for its entry.
    assert find(ranking, "vit", "vgg").wins + find(ranking, "vit", "vgg").losses == 11 * 12


def test_a_gap_hides_neither_who_is_beaten_nor_who_is_first():
    tasks = [f"t{i}" for i in range(12)]
    whole = make_runs(tasks=tasks, names=NAMES[:3], n=5, gap=9)
    ranking, gappy = rank_runs(whole), rank_runs(drop(whole, NAMES[0], "t2"), gaps="keep")
    assert str(ranking).startswith(f"{NAMES[0]} ranks first of 3 on tasks like these; 3 of 3")
    assert str(gappy).startswith(f"{NAMES[0]} alone may rank first of 3 on tasks like these; 3 of")
    assert gappy.task_test == ranking.task_test == "paired-t"
    assert gappy.tasks[1].maybe_best == ranking.tasks[1].maybe_best == NAMES[:1]


def test_runs_without_replicates_are_paired_without_regard_to_their_scores():
    rng = np.random.default_rng(5)
    columns = {
        name: np.sort(rng.normal(size=30)) + shift for name, shift in (("a", 0), ("b", 0.05))
    }
    rows = [
        {"algorithm": name, "reward": score} for name, scores in columns.items() for score in scores
    ]
    ranking = rank_runs(rows)  # in the order of rows, b would win every time
    assert find(ranking, "a", "b").winner is None
    assert any("paired at random" in caveat for caveat in ranking.caveats)


def test_unrelated_runs_with_equal_numbers_are_not_paired():
    rng = np.random.default_rng(5)
    sorted_runs = {"a": np.sort(rng.normal(size=30)), "b": np.sort(rng.normal(size=30)) + 0.3}
    rows = [
        {"algorithm": name, "run": i, "reward": score}
        for name, scores in sorted_runs.items()
        for i, score in enumerate(scores)
    ]
    known = read_runs(rows, accept="sorted")
    assert find(rank_runs(known), "a", "b").winner == "b"
    assert find(rank_runs(known, paired=False), "a", "b").winner is None
    with pytest.raises(InvalidInput, match="says which runs belong together"):
        rank_runs([{"algorithm": name, "reward": 0.5} for name in "aabb"], paired=True)


def test_ranks_among_few_are_stretched_to_all():
    rows = make_runs(tasks=("t1", "t2"), names=NAMES[:3], n=2, gap=9)
    kept = [row for row in rows if (row["task"], row["algorithm"]) != ("t2", "resnet")]
    ranking = rank_runs(kept, gaps="keep")
    # On t2, the first and the second of two rank as the first and the last of three.
    assert [(a.name, a.mean_rank) for a in ranking.algorithms] == [
        ("vit", 1),
        ("resnet", 2),
        ("vgg", 3),
    ]


def test_a_test_of_pairs_takes_the_replicates_that_both_have():
    rows = make_runs(tasks=("t1",), names=NAMES[:3], n=10)
    missing = {("vit", 0), ("resnet", 1), ("resnet", 2)}
    kept = [row for row in rows if (row["algorithm"], row["seed"]) not in missing]
    ranking = rank_runs(kept, gaps="keep", test="wilcoxon")
    scores = {(row["algorithm"], row["seed"]): row["reward"] for row in rows}
    vit, resnet = (np.array([scores[name, i] for i in range(3, 10)]) for name in NAMES[:2])
    # What either lacks is taken for its worst: one lost by vit, or two by resnet.
    gaps = {"greater": [-9.0], "less": [9.0, 9.1]}
    expected = 2 * min(
        scipy_stats.wilcoxon([*(vit - resnet), *gap], alternative=side, method="exact").pvalue
        for side, gap in gaps.items()
    )
    assert find(ranking, "vit", "resnet").pvalue == pytest.approx(min(1, expected))


def test_gaps_of_runs_without_replicates_are_no_matter_of_seeds():
    rows = [{"algorithm": name, "task": name * 2, "reward": 0.5} for name in "ab"]
    with pytest.raises(UnpairedScores) as refused:
        rank_runs(rows)
    assert refused.value.remedy.startswith("Add the missing runs, pass --complete")


def prune(n_pruned, seed, n=20):
    """Four equals on four tasks, of which `a` has no run where it went worst."""
    rng = np.random.default_rng(seed)
    rows = []
    for task in range(4):
        for name in "abcd":
            scores = rng.normal(0.5, 0.1, n)
            gone = set(np.argsort(scores)[:n_pruned]) if name == "a" else set()
            rows += [
                {"model": name, "task": f"t{task}", "seed": i, "score": score}
                for i, score in enumerate(scores)
                if i not in gone
            ]
    return rows


@pytest.mark.parametrize("gaps", ["keep", "complete"])
def test_who_failed_where_it_went_badly_beats_nobody(gaps):
    """With 6 of 20 runs pruned, it beat somebody in 38 of 60 studies, and in 10 with 2 pruned."""
    seen = []
    for seed in range(6):
        ranking = rank_runs(read_runs(prune(6, seed), goal="maximize"), gaps=gaps)
        assert {pair.winner_name for pair in ranking.pairs} <= {None, "b", "c", "d"}
        seen += [pair for pair in ranking.pairs if pair.a == "a"]
        assert not any(any(each.tasks_better["a"]) for each in seen)
    assert all(pair.low < 0.5 for pair in seen)
    # It does win more than half of what is left.
    assert np.mean([pair.probability for pair in seen]) > 0.6
    assert "take what an algorithm lacks for its worst" in " ".join(ranking.caveats)


def test_what_a_rival_lacks_is_in_nobodys_way():
    rows = [
        row | {"score": row["score"] - 0.3 if row["model"] == "a" else row["score"]}
        for row in prune(2, 0)
    ]
    ranking = rank_runs(read_runs(rows, goal="maximize"), gaps="keep")
    assert {p.winner_name for p in ranking.pairs if p.a == "a"} == {"b", "c", "d"}
