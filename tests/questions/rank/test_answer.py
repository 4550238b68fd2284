"""Which of many are best, over many tasks."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from outperform import compare_runs, rank_runs, read_runs
from outperform.errors import (
    InvalidInput,
    OutperformError,
    TooFewRuns,
    UnknownName,
)
from outperform.questions.rank.table import tabulate_ranking
from outperform.runs.scope import Resplit
from outperform.stats import holm
from tests.questions.rank.made_runs import NAMES, find, make_runs


def test_by_hand():
    scores = {"new": [9, 8, 7, 9, 8, 9], "old": [1, 2, 9, 3, 2, 1], "odd": [0, 9, 0, 9, 0, 9]}
    ranking = rank_runs(scores)
    pair = find(ranking, "new", "old")
    assert (pair.wins, pair.ties, pair.losses) == (5, 0, 1)
    assert pair.probability == pytest.approx(5 / 6)
    assert pair.pvalue == pytest.approx(2 * 7 / 64)  # P(Bin(6, 1/2) >= 5) = 7/64
    assert pair.mean_difference == pytest.approx(50 / 6 - 18 / 6)
    assert find(ranking, "new", "odd").ties == 2
    assert [a.mean_rank for a in ranking.algorithms] == [1, 2, 3]
    assert ranking.names == ("new", "odd", "old")
    assert ranking.tasks[0].means["odd"] == pytest.approx(4.5)


def test_pairs_are_the_pooled_sign_test_with_holm():
    ranking = rank_runs(make_runs(gap=0.5))
    assert ranking.question == "these tasks"
    for pair in ranking.pairs:
        expected = scipy_stats.binomtest(pair.wins, 36)
        exact = expected.proportion_ci(0.95, "exact")
        assert pair.pvalue == pytest.approx(expected.pvalue)
        assert (pair.low, pair.high) == (pytest.approx(exact.low), pytest.approx(exact.high))
    adjusted = holm([pair.pvalue for pair in ranking.pairs])
    assert [pair.pvalue_adjusted for pair in ranking.pairs] == pytest.approx(adjusted.tolist())


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "none"])
@pytest.mark.parametrize("gap", [0.4, 0.8])
def test_the_corrected_interval_leaves_out_one_half_where_the_corrected_test_rejects(
    correction, gap
):
    ranking = rank_runs(make_runs(gap=gap), correction=correction)
    n_told = 0
    for pair in ranking.pairs:
        outside = pair.adjusted_low > 0.5 or pair.adjusted_high < 0.5
        # Holm stops at the first pair that is not rejected, whatever the interval of a later one.
        assert not (pair.pvalue_adjusted <= 0.05 and not outside)
        assert (pair.winner is not None) == (pair.pvalue_adjusted <= 0.05)
        n_told += outside
    assert n_told


@pytest.mark.parametrize(
    ("options", "question"),
    [
        ({"tasks": ("one",)}, "these tasks"),
        ({"tasks": ("t1", "t2", "t3")}, "these tasks"),
        ({"tasks": [f"t{i}" for i in range(10)]}, "tasks like these"),
        ({"tasks": ("t1", "t2", "t3"), "n": 1}, "tasks like these"),
    ],
)
def test_the_shape_of_the_data_decides_what_is_asked(options, question):
    ranking = rank_runs(make_runs(**options))
    assert ranking.question == question
    assert ranking.scope.about in (question, "this dataset")
    assert ranking.why in str(ranking.scope_hint)


def test_three_tasks_never_conclude_about_tasks_like_these():
    ranking = rank_runs(make_runs(gap=9, n=50), tasks="sampled")
    assert ranking.friedman is None
    for pair in ranking.pairs:
        assert (pair.pvalue, pair.pvalue_adjusted, pair.winner) == (None, None, None)
        assert pair.low < 0.5 < pair.high
    assert all((a.rank_low, a.rank_high) == (1, 4) for a in ranking.algorithms)
    assert ranking.caveats[0].startswith("3 tasks say nothing about tasks like these")


def test_nine_tasks_in_two_families_are_two():
    rows = make_runs(tasks=[f"t{i}" for i in range(9)], gap=9)
    for row in rows:
        row["dataset_family"] = "digits" if row["task"] < "t4" else "faces"
    alone = rank_runs(rows, tasks="sampled")
    assert len(alone.differing) == 6
    together = rank_runs(rows, tasks="sampled", family="dataset_family")
    assert not together.differing
    assert together.n_units == 2
    assert together.families["t5"] == "faces"


def test_seven_tasks_tell_no_two_of_four_apart():
    ranking = rank_runs(make_runs(tasks=[f"t{i}" for i in range(7)], gap=9), tasks="sampled")
    assert not ranking.differing
    said = "with 7 tasks no pair of 4 algorithms can be told apart, whoever wins; 8 would do"
    assert said in ranking.caveats


def test_tasks_like_these_are_tested_by_wilcoxon():
    tasks = [f"t{i}" for i in range(12)]
    ranking = rank_runs(make_runs(tasks=tasks, gap=0.2, n=3, seed=3))
    pair = find(ranking, "vit", "vgg")
    means = {name: [task.means[name] for task in ranking.tasks] for name in ("vit", "vgg")}
    expected = scipy_stats.wilcoxon(means["vit"], means["vgg"], method="exact").pvalue
    assert pair.pvalue == pytest.approx(expected)
    table = np.array([list(task.means.values()) for task in ranking.tasks])
    chi2 = scipy_stats.friedmanchisquare(*table.T)
    assert ranking.to_dict()["friedman"]["statistic"] == pytest.approx(chi2.statistic)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["fixed", "sampled"]),
    st.sampled_from([None, "wins", "paired-t", "wilcoxon"]),
)
def test_the_entry_of_a_pair_does_not_move_when_another_joins(seed, tasks, test):
    rows = make_runs(tasks=[f"t{i}" for i in range(7)], n=6, gap=0.3, seed=seed)
    rng = np.random.default_rng(seed)
    for row in rows:
        row["reward"] = round(row["reward"] * rng.choice([1, 1, 5]), 1)
    rows = read_runs(rows, accept="outlier")  # a reward of 0 among -0.8 and less
    few = rank_runs(rows, tasks, only=("vgg", "resnet"), test=test)
    many = rank_runs(rows, tasks, only=("vgg", "vit", "resnet"), test=test)
    alone, among = find(few, "vgg", "resnet"), find(many, "vgg", "resnet")
    for name in ("probability", "low", "high", "wins", "ties", "losses", "mean_difference"):
        assert getattr(alone, name) == getattr(among, name), name
    assert alone.pvalue == among.pvalue
    assert (alone.n_tasks_better, alone.tasks_better) == (among.n_tasks_better, among.tasks_better)


def test_a_baseline_is_compared_with_all_others_only():
    ranking = rank_runs(make_runs(gap=4), baseline="resnet")
    assert [(pair.a, pair.b) for pair in ranking.pairs] == [
        ("vit", "resnet"),
        ("vgg", "resnet"),
        ("mlp", "resnet"),
    ]
    adjusted = holm([pair.pvalue for pair in ranking.pairs])
    assert [pair.pvalue_adjusted for pair in ranking.pairs] == pytest.approx(adjusted.tolist())
    assert str(ranking) == (
        "vit may be the best on all 3 tasks, each task by itself; vit beats resnet on all 3 tasks."
    )


@pytest.mark.parametrize(
    "test",
    [
        "paired-t",
        "wilcoxon",
        "welch-t",
        "brunner-munzel",
        "brunner-munzel-permutation",
        "sign-flip",
    ],
)
def test_any_test_of_compare_tells_pairs_apart(test):
    rows = make_runs(gap=3, n=8, tasks=("one", "two"))
    ranking = rank_runs(rows, test=test, correction="bonferroni")
    assert {pair.winner for pair in ranking.pairs} == {"a"}
    equal = rank_runs(make_runs(gap=0, n=8, tasks=("one", "two")), test=test)
    assert not equal.differing


def test_tasks_on_which_one_is_better_are_those_of_compare():
    rows = make_runs(tasks=("t1", "t2", "t3", "t4"), gap=1.5, n=9, seed=2)
    ranking = rank_runs(rows)
    for pair in ranking.pairs:
        better = compare_runs(rows, pair.a, pair.b).better
        assert pair.n_tasks_better == {side: better[side].n_tasks for side in ("a", "b")}
        assert pair.tasks_better == {side: better[side].tasks for side in ("a", "b")}


def test_one_task_has_the_pvalue_of_the_test_itself():
    rows = make_runs(gap=0.5, tasks=("one",))
    by_name = {name: [row["reward"] for row in rows if row["algorithm"] == name] for name in NAMES}
    pair = find(rank_runs(rows, test="paired-t"), "vit", "vgg")
    expected = scipy_stats.ttest_rel(by_name["vit"], by_name["vgg"]).pvalue
    assert pair.pvalue == pytest.approx(expected)


def test_too_few_seeds_are_said_plainly():
    names = [f"m{i}" for i in range(8)]
    ranking = rank_runs(make_runs(names=names, n=5, tasks=[f"t{i}" for i in range(6)]))
    said = "with 5 runs no pair of 8 algorithms can be told apart by wins on a single task; 11"
    assert any(caveat.startswith(said) for caveat in ranking.caveats)
    assert ranking.task_test == "paired-t"
    means = "so the marks are by paired t-tests of means, which take differences as normal"
    assert any(means in caveat for caveat in ranking.caveats)
    enough = rank_runs(make_runs(names=names, n=11, tasks=[f"t{i}" for i in range(6)]))
    assert not any("no pair of" in caveat for caveat in enough.caveats)
    assert enough.task_test == "wins"


def test_metrics_and_directions_may_differ_between_tasks():
    rows = [
        {"algorithm": name, "task": task, "seed": i, "metric": metric, "score": score + i / 100}
        for task, metric, scores in (
            ("digits", "accuracy", {"good": 0.9, "bad": 0.5, "worst": 0.2}),
            ("houses", "rmse", {"good": 1.0, "bad": 5.0, "worst": 9.0}),
        )
        for name, score in scores.items()
        for i in range(8)
    ]
    ranking = rank_runs(rows)
    assert ranking.names == ("good", "bad", "worst")
    assert [task.best for task in ranking.tasks] == ["good", "good"]
    pair = find(ranking, "good", "worst")
    assert (pair.probability, pair.mean_difference) == (1.0, None)
    assert ranking.tasks[1].means["worst"] == pytest.approx(9.035)


def test_the_command_that_is_suggested_can_be_pasted_whatever_the_names():
    ranking = rank_runs([row | {"algorithm": f"my {row['algorithm']}"} for row in make_runs(gap=0)])
    first, second = ranking.names[:2]
    assert f"`outperform compare RUNS '{first}' '{second}'`" in ranking.advice


def test_an_algorithm_that_is_chosen_twice_is_no_rival_of_itself():
    with pytest.raises(TooFewRuns, match="one algorithm only"):
        rank_runs(make_runs(), only=["vgg", "vgg"])


def test_one_metric_that_goes_two_ways_is_not_called_one_way():
    rows = [
        {"algorithm": row["algorithm"], "task": row["task"], "seed": row["seed"]}
        | {"score": row["reward"], "goal": "minimize" if row["task"] == "t2" else "maximize"}
        for row in make_runs(tasks=[f"t{i}" for i in range(12)])
    ]
    table = tabulate_ranking(rank_runs(rows))[0]
    assert table.title.startswith("score, higher (↑) or lower (↓) is better")
    assert table.header[1:4] == ("t0 ↑", "t1 ↑", "t2 ↓")
    assert rank_runs(rows).test == "sign test over tasks"
    with pytest.raises(InvalidInput, match=r"score \(higher is better\), score \(lower"):
        rank_runs(rows, test="wilcoxon")


def test_a_pipeline_of_which_every_fit_failed_is_named():
    runs = replace(read_runs(make_runs()), unfinished=("broken",))
    assert any("none of their runs has a score: broken" in each for each in rank_runs(runs).caveats)
    for options in ({"baseline": "broken"}, {"only": ["vit", "broken"]}):
        with pytest.raises(UnknownName, match=r"no run of 'broken' in .* has a score"):
            rank_runs(runs, **options)


def test_ranks_of_two_do_not_hang_on_others():
    rows = make_runs(names=("vit", "vgg"), tasks=("t1", "t2"), n=6, noise=0)
    for row in rows:  # six wins on one task, and on the other one of each, and ties
        wins = {0: 1, 1: -1}.get(row["seed"], 0) if row["task"] == "t2" else 1
        row["reward"] = (row["algorithm"] == "vit") * wins * 0.1 + row["seed"] ** 2 % 7 / 10
    ranking = rank_runs(rows)
    assert [each.rank_high for each in ranking.algorithms] == [1, 2]
    assert ranking.pairs[0].winner is None
    assert any("disagree on vit and vgg" in each for each in ranking.caveats)
    assert not any("against all others" in each for each in ranking.caveats)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"gaps": "drop"}, "gaps is 'drop'"),
        ({"normalize": "mean"}, "normalize is 'mean'"),
        ({"seed": -1}, "seed is -1"),
        ({"only": "vgg"}, "there is one algorithm only, vgg"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, problem):
    with pytest.raises(OutperformError) as refused:
        rank_runs(make_runs(), **options)
    assert refused.value.problem.startswith(problem)


def test_runs_that_all_failed_are_refused():
    rows = [
        {"algorithm": name, "seed": seed, "accuracy": 0.9, "status": "failed"}
        for name in ("vit", "vgg")
        for seed in range(3)
    ]
    with pytest.raises(TooFewRuns) as refused:
        rank_runs(rows)
    assert refused.value.problem == "no run of vit, vgg in the list of records has a score"
    assert refused.value.remedy == "Find out why all failed, and rank them once some are finished"


def test_marks_that_tell_more_than_pairs_are_explained():
    # Six wins of six: 2**-6 is below 0.05/2, but twice that times three is above 0.05.
    ranking = rank_runs(make_runs(tasks=("t1",), names=("vit", "vgg", "mlp"), n=6, gap=9))
    assert str(ranking) == "vit alone may be the best of 3 on t1; none of 3 pairs has a winner."
    assert any("ruled out as the best though no pair differs" in each for each in ranking.caveats)


def test_an_unbeaten_baseline_is_said_to_beat():
    ranking = rank_runs(make_runs(gap=4), baseline="vit")
    assert str(ranking).endswith("; nobody is shown to beat vit, which beats 3 of 3 others.")


@pytest.mark.parametrize(
    ("rows", "options", "kind", "problem"),
    [
        (make_runs(names=["alone"]), {}, TooFewRuns, "one algorithm only"),
        (make_runs(), {"baseline": "vggg"}, UnknownName, "no algorithm 'vggg'"),
        (make_runs(), {"only": ["vit", "nobody"]}, UnknownName, "no algorithm 'nobody'"),
        (make_runs(), {"tasks": "some"}, InvalidInput, "tasks is 'some'"),
        (make_runs(), {"correction": "flat"}, InvalidInput, "correction is 'flat'"),
        (make_runs(), {"test": "anova"}, InvalidInput, "test is 'anova'"),
        (make_runs(), {"tasks": "sampled", "test": "welch-t"}, InvalidInput, "cannot take tasks"),
        (make_runs(), {"normalize": "baseline"}, InvalidInput, "nothing says which scores are 0"),
        (make_runs(), {"references": {}}, InvalidInput, "for normalising by a baseline only"),
        (
            make_runs(),
            {"normalize": "baseline", "references": (0.1, 0.9)},
            InvalidInput,
            "references are of type tuple. Pass a dict",
        ),
        (make_runs(), {"family": "colour"}, OutperformError, "colour"),
        (make_runs(names=[f"m{i}" for i in range(301)], n=1), {}, InvalidInput, "301 algorithms"),
        (make_runs(n=3) + make_runs(n=1), {}, OutperformError, "'vit' has 2 runs with seed"),
    ],
)
def test_what_cannot_be_ranked_is_refused(rows, options, kind, problem):
    with pytest.raises(kind, match=problem):
        rank_runs(rows, **options)


def test_one_task_and_two_algorithms_are_answered_with_a_hint():
    ranking = rank_runs(make_runs(tasks=("one",), names=("a", "b"), gap=3))
    assert str(ranking) == "a is the best of 2 on one; a beats the other."
    assert any("`compare` says more about a and b" in caveat for caveat in ranking.caveats)


def test_scores_are_aggregated_once_they_are_comparable():
    rows = make_runs(gap=1, noise=0.1)
    references = dict.fromkeys(("t1", "t2", "t3"), (-3.0, 0.0))
    ranking = rank_runs(rows, normalize="baseline", references=references)
    numbers = {each["name"]: each for each in ranking.to_dict()["aggregates"]["algorithms"]}
    mean = np.mean([row["reward"] for row in rows if row["algorithm"] == "vit"])
    assert numbers["vit"]["mean"]["estimate"] == pytest.approx(1 + mean / 3)
    assert numbers["mlp"]["mean"]["high"] < numbers["vgg"]["mean"]["low"]
    some = [row for row in rows if (row["algorithm"], row["task"]) != ("vit", "t2")]
    complete = rank_runs(some, normalize="baseline", references=references, gaps="complete")
    assert [task.name for task in complete.tasks] == ["t1", "t3"]  # no other needs a reference
    by_rank = rank_runs(rows, normalize="rank").aggregates.algorithms
    assert [each["mean"]["estimate"] for each in by_rank] == pytest.approx([1, 2 / 3, 1 / 3, 0])


def test_ties_are_said_and_tell_nobody_apart():
    rows = make_runs(gap=0, noise=0)
    ranking = rank_runs(rows)
    assert not ranking.differing
    assert {a.mean_rank for a in ranking.algorithms} == {2.5}
    assert any("many pairs of runs are tied on t1 (100%)" in caveat for caveat in ranking.caveats)
    assert str(ranking).startswith("Any of the 4 algorithms may be the best on all 3 tasks")


def test_negative_control_an_average_over_tasks_hides_who_is_best_where():
    """One algorithm wins by much on one task and loses on four: the mean of scores is fooled."""
    rows = make_runs(tasks=("t1", "t2", "t3", "t4", "t5"), names=("steady", "lucky"), gap=0)
    for row in rows:
        if row["algorithm"] == "lucky":
            row["reward"] += 100 if row["task"] == "t1" else -5
    ranking = rank_runs(rows)
    pair = find(ranking, "steady", "lucky")
    assert pair.mean_difference < 0
    assert pair.winner == "a"
    assert pair.n_tasks_better == {"a": 4, "b": 1}
    assert pair.tasks_better == {"a": ("t2", "t3", "t4", "t5"), "b": ("t1",)}


def test_a_store_or_a_file_is_read(tmp_path):
    path = tmp_path / "runs.csv"
    rows = make_runs()
    path.write_text(
        "algorithm,task,seed,reward\n"
        + "".join(f"{r['algorithm']},{r['task']},{r['seed']},{r['reward']!r}\n" for r in rows)
    )
    assert rank_runs(path).to_dict() == rank_runs(read_runs(path)).to_dict()


def test_marks_and_their_counts_agree_where_wins_and_means_do_not():
    rare_failure = [1.0 + i for i in range(20)]
    steady = [score - 0.1 for score in rare_failure]
    scores = {"rare": [-99.0, *rare_failure[1:]], "steady": steady, "low": [0.0] * 20}
    ranking = rank_runs(read_runs(scores, accept=("constant", "outlier")))
    assert ranking.tasks[0].best == "steady"
    assert set(ranking.tasks[0].maybe_best) == {"rare", "steady"}
    counts = {algorithm.name: algorithm.n_tasks_maybe_best for algorithm in ranking.algorithms}
    assert counts == {"rare": 1, "steady": 1, "low": 0}
    assert str(ranking).startswith("steady and rare may be the best;")
    first = ranking.algorithms[0]
    assert (first.name, first.mean_rank, first.rank_low) == ("steady", 1, 2)
    assert any("do not put steady and rare in the order" in said for said in ranking.caveats)


def test_nobody_is_ruled_out_where_all_beat_one_another_in_turns():
    scores = {"rock": [3, 1, 2] * 30, "paper": [2, 3, 1] * 30, "scissors": [1, 2, 3] * 30}
    ranking = rank_runs(scores)
    assert all(pair.winner for pair in ranking.pairs)
    assert set(ranking.tasks[0].maybe_best) == {"rock", "paper", "scissors"}
    assert [algorithm.n_tasks_maybe_best for algorithm in ranking.algorithms] == [1, 1, 1]


@pytest.mark.parametrize("correction", ["none", "benjamini-hochberg"])
def test_no_caveat_denies_what_a_weaker_correction_tells_apart(correction):
    runs = rank_runs(make_runs(tasks=["t"], n=6, gap=9), correction=correction)
    tasks = [f"t{i}" for i in range(6)]
    sampled = rank_runs(make_runs(tasks=tasks, n=1, gap=9), correction=correction)
    for ranking in (runs, sampled):
        assert len(ranking.differing) == len(ranking.pairs)
        assert not any("no pair of" in caveat for caveat in ranking.caveats)


def test_ranks_that_differ_where_no_pair_does_are_laid_to_their_test():
    ranking = rank_runs(make_runs(tasks=[f"t{i}" for i in range(6)], n=1, gap=9))
    assert not ranking.differing
    assert ranking.algorithms[0].rank_high == 1
    assert any(
        said.startswith(
            "two tests disagree on vit and resnet, vit and vgg, vit and mlp and 3 more:"
        )
        for said in ranking.caveats
    )


def redraw_splits(n=10, overlap=0.25, **options):
    """Runs that divide one dataset anew; ranks of those that are equal for such data."""
    table = read_runs(make_runs(tasks=("t1",), n=n, **options))
    return replace(table, resplits={"t1": Resplit(1000, round(1000 * overlap))})


def test_for_data_like_these_a_fifth_of_alpha_is_asked_for():
    # Means 1.8 apart, s about √2, standard error s·√(1/10 + 0.25): t of about 2 or 3, 9 degrees.
    ranking = rank_runs(redraw_splits(names=NAMES[:2], gap=1.8), test="nadeau-bengio")
    [pair] = ranking.pairs
    assert 0.02 < pair.pvalue < 0.05
    assert (pair.winner, pair.only_scores_differ, pair.n_tasks_better) == (
        None,
        False,
        {"a": 0, "b": 0},
    )
    assert set(ranking.tasks[0].maybe_best) == {"vit", "resnet"}
    title = tabulate_ranking(ranking)[-1].title
    assert title.endswith("one pair; told apart for data like these where p ≤ 0.01")
    assert "about data like these" in str(ranking.scope)
    # Negative control: a test of these data alone has no such level.
    paired = rank_runs(redraw_splits(names=NAMES[:2], gap=1.8), test="paired-t")
    assert (paired.level, paired.pairs[0].winner) == (0.05, "a")
    wide = rank_runs(redraw_splits(names=NAMES[:2], gap=5), test="nadeau-bengio")
    assert (wide.level, wide.pairs[0].winner) == (0.01, "a")


def test_ranks_for_data_like_these_are_those_of_the_pairs_told_apart():
    runs = redraw_splits(gap=2.4)
    for options in ({}, {"correction": "none"}, {"baseline": "mlp"}):
        ranking = rank_runs(runs, test="nadeau-bengio", **options)
        bounds = {each.name: (each.rank_low, each.rank_high) for each in ranking.algorithms}
        assert bounds == {"vit": (1, 2), "resnet": (1, 3), "vgg": (2, 3), "mlp": (4, 4)}
        assert not any("disagree on" in said for said in ranking.caveats)
    # Negative control: ranks within replicates tell of these data alone.
    assert [each.rank_high for each in rank_runs(runs).algorithms] == [1, 2, 3, 4]


def test_who_wins_more_often_and_has_the_worse_scores_is_no_winner():
    rng = np.random.default_rng(0)
    other = rng.normal(size=60)
    often = other + np.where(rng.random(60) < 0.25, -8, 0.2) + rng.normal(size=60) / 20
    scores = {"often": often, "other": other}
    assert rank_runs(scores).pairs[0].winner_name == "often"
    ranking = rank_runs(scores, test="paired-t")
    [pair] = ranking.pairs
    assert pair.pvalue < 0.01
    assert pair.mean_difference < 0
    assert (pair.winner, pair.only_scores_differ) == (None, True)
    assert str(ranking).endswith("; their scores differ, but wins do not bear it out.")


def test_a_test_of_scores_earns_no_room_for_winners_by_wins():
    # Fifteen algorithms that win half of the time against a constant one, by much where they win.
    rng = np.random.default_rng(0)
    n_told = 0
    for _ in range(60):
        scores = {f"a{i}": np.where(rng.random(80) < 0.5, 50.0, -1) for i in range(15)}
        noise = {name: column + rng.random(80) / 2 for name, column in scores.items()}
        ranking = rank_runs(noise | {"zero": rng.random(80) / 9}, baseline="zero", test="paired-t")
        assert max(pair.pvalue_adjusted for pair in ranking.pairs) < 0.05
        n_told += bool(ranking.differing)
    assert n_told <= 8  # 5% of 60 are 3, and more than 8 have a chance of 0.3%; it was 23%


def test_more_evidence_never_says_less_of_a_pair():
    tasks = [f"t{i}" for i in range(6)]
    ranking = rank_runs(make_runs(tasks=tasks, names=NAMES[:3], n=1, gap=9), test="paired-t")
    # All win on all 6 tasks: none may be told apart because others were before it.
    assert [(pair.wins, pair.winner) for pair in ranking.pairs] == [(6, None)] * 3


def test_the_order_of_rows_moves_no_set_of_ranks():
    rng = np.random.default_rng(1)
    scores = 10 + rng.normal(size=(12, 2, 4)) + np.linspace(0, 1.2, 4)
    rows = [
        {"task": f"t{t}", "seed": i, "algorithm": f"a{a}", "score": scores[t, i, a]}
        for t, i, a in np.ndindex(scores.shape)
    ]
    found = []
    for seed in range(4):  # sets are by flips drawn for each task, and some p-value is near 0.05
        np.random.default_rng(seed).shuffle(rows)
        algorithms = rank_runs(rows).algorithms
        found.append({each.name: (each.rank_low, each.rank_high) for each in algorithms})
    assert found == found[:1] * 4


def test_who_is_better_on_each_task_is_so_on_all():
    ranking = rank_runs(make_runs(tasks=("t1", "t2"), names=NAMES[:2], n=6, gap=9))
    # p = 1/64 on each task is below 0.025; twice that, for one task of two, is not.
    assert ranking.pairs[0].n_tasks_better == {"a": 2, "b": 0}
    assert ranking.pairs[0].tasks_better == {"a": ("t1", "t2"), "b": ()}


def test_many_pairs_with_a_baseline_are_cut_with_both_notes():
    names = [f"a{place:02}" for place in range(22)]
    runs = make_runs(tasks=("t1", "t2"), names=names, n=3)
    *_, pairs = tabulate_ranking(rank_runs(runs, baseline="a00"))
    assert len(pairs.rows) == 20
    assert pairs.note.splitlines() == [
        "  better on 2:0: A on at least 2 tasks, B on at least 0, each pair by itself",
        "  and 1 more pairs: see --json",
    ]


def test_who_may_be_the_best_is_told_of_each_task_by_itself():
    """Among equals somebody is ruled out on one of many tasks: the sentence must not hide that."""
    rng = np.random.default_rng(1)
    scores = {name: rng.normal(size=(20, 10)) for name in "abc"}
    places = [(name, task, run) for name in "abc" for task in range(20) for run in range(10)]
    runs = {
        "algorithm": [name for name, _, _ in places],
        "task": [f"t{task}" for _, task, _ in places],
        "seed": [run for _, _, run in places],
        "reward": [scores[name][task, run] for name, task, run in places],
    }
    ranking = rank_runs(runs, tasks="fixed")
    assert any(len(task.maybe_best) < 3 for task in ranking.tasks)
    assert " tasks, each task by itself; " in str(ranking)
    assert (
        "who may be the best is told with 95% confidence on each task by itself: on one or more of "
        "20 tasks, the truly best is ruled out in up to 64% of studies; pairs allow for that"
    ) in ranking.caveats
