import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform.errors import (
    DuplicateRuns,
    InvalidInput,
    InvalidScores,
    OutperformError,
    TooFewRuns,
    UnknownName,
    UnpairedScores,
)
from outperform.runs import read_runs


def long(*rows, header="algorithm,task,seed,score"):
    return "\n".join([header, *rows]) + "\n"


TWO_TASKS = long(
    "resnet,cifar,1,0.9",
    "vgg,cifar,2,0.6",
    "resnet,mnist,1,0.99",
    "vgg,cifar,1,0.7",
    "resnet,cifar,2,0.8",
    "vgg,mnist,1,0.98",
    "vgg,mnist,10,0.97",
    "resnet,mnist,10,0.96",
)


def test_scores_are_paired_by_replicate_not_by_row(write):
    pairs = read_runs(write(TWO_TASKS)).pair("vgg", "resnet", "cifar")
    assert pairs.a.tolist() == [0.7, 0.6]
    assert pairs.b.tolist() == [0.9, 0.8]
    assert pairs.replicates == ("1", "2")
    assert pairs.n_dropped == 0


@pytest.mark.parametrize(
    ("columns", "used"),
    [
        ("init_seed,data_seed", ("init_seed", "data_seed")),
        ("random_seed,note", ("random_seed",)),
        ("config.seed_everything,n_seeds", ("config.seed_everything",)),
        ("seed,data_seed", ("seed",)),
        ("varied_seed,note", ()),  # says what was redrawn
        ("linseed,note", ()),
    ],
)
def test_seeds_of_any_name_tell_runs_apart_together(write, columns, used):
    runs = read_runs(write(f"algorithm,{columns},score\na,1,1,0.9\nb,1,1,0.8\n"))
    assert runs.replicate_columns == used


def test_pairs_of_crossed_seeds_are_no_independent_runs(write):
    luck = np.random.default_rng(0).normal(0.9, 0.01, (2, 5))
    noise = np.random.default_rng(1).normal(0, 1e-3, (2, 5, 5))
    rows = [
        f"{name},{data},{init},{luck[side, data] + noise[side, data, init]}"
        for side, name in enumerate("ab")
        for data in range(5)
        for init in range(5)
    ]
    path = write(long(*rows, header="algorithm,data_seed,init_seed,score"))
    with pytest.raises(InvalidScores) as caught:
        read_runs(path).pair("a", "b")
    assert str(caught.value) == (
        "the differences of pairs with the same data_seed resemble one another: these are 5 "
        "independent pairs, not 25. Average over init_seed first, one row for each data_seed; if "
        "they are independent all the same, pass --accept nested (from Python: read_runs(..., "
        'accept="nested")).'
    )


def test_seeds_that_only_some_share_are_named(write):
    rows = [
        f"{name},{data},{data + 10 * side}" for side, name in enumerate("ab") for data in (0, 1)
    ]
    text = long(
        *(f"{row},0.{n}" for n, row in enumerate(rows)), header="algorithm,data_seed,x_seed,score"
    )
    with pytest.raises(UnpairedScores) as caught:
        read_runs(write(text)).pair("a", "b")
    assert str(caught.value) == (
        "the seeds of 'a' and 'b' do not match: no data_seed,x_seed is shared in runs.csv (0,0, "
        "1,1 against 0,10, 1,11). Pass --replicate data_seed, which pairs all 2 of them, or pass "
        "--unpaired."
    )


def test_each_task_has_its_own_pairs(write):
    pairs = read_runs(write(TWO_TASKS)).pair("resnet", "vgg", "mnist")
    assert pairs.a.tolist() == [0.99, 0.96]
    assert pairs.replicates == ("1", "10")


def test_select_keeps_the_order_of_rows(write):
    runs = read_runs(write(TWO_TASKS))
    assert runs.select("vgg", "cifar").tolist() == [0.6, 0.7]
    assert runs.select("vgg", "mnist").tolist() == [0.98, 0.97]


def test_separate_takes_all_runs_of_both(write):
    path = write(long("a,t,1,1", "a,t,2,2", "b,t,7,3", "b,t,8,4", "b,t,9,5"))
    scores = read_runs(path).separate("a", "b", "t")
    assert scores.a.tolist() == [1, 2]
    assert scores.b.tolist() == [3, 4, 5]
    assert scores.n_dropped == 0


def test_a_table_says_what_it_is(write):
    runs = read_runs(write(TWO_TASKS))
    assert str(runs) == "8 runs of 2 algorithms on 2 tasks (maximize score, from runs.csv)"
    assert len(runs) == 8


def test_without_replicates_rows_are_paired_in_order(write):
    path = write("algorithm,score\na,1\nb,2\na,3\nb,4\n")
    pairs = read_runs(path).pair("a", "b")
    assert (pairs.a.tolist(), pairs.b.tolist()) == ([1, 3], [2, 4])
    assert pairs.replicates == ("1", "2")


def test_incomplete_pairs_are_dropped_only_when_asked_and_counted(write):
    path = write(long("a,t,1,1", "a,t,2,nan", "a,t,3,3", "a,t,4,4", "b,t,1,5", "b,t,2,6")[:-1])
    path.write_text(path.read_text() + "\nb,t,3,inf\nb,t,4,8\nb,t,5,9\n")
    pairs = read_runs(path).pair("a", "b", drop_incomplete=True)
    assert (pairs.a.tolist(), pairs.b.tolist()) == ([1, 4], [5, 8])
    assert pairs.replicates == ("1", "4")
    assert pairs.n_dropped == 3
    scores = read_runs(path).separate("a", "b", drop_incomplete=True)
    assert (scores.a.tolist(), scores.b.tolist()) == ([1, 3, 4], [5, 6, 8, 9])
    assert scores.n_dropped == 2
    assert read_runs(path).select("a", drop_incomplete=True).tolist() == [1, 3, 4]


def test_rows_in_order_are_dropped_in_pairs(write):
    path = write("algorithm,score\na,1\na,\na,3\nb,4\nb,5\nb,6\n")
    pairs = read_runs(path).pair("a", "b", drop_incomplete=True)
    assert (pairs.a.tolist(), pairs.b.tolist()) == ([1, 3], [4, 6])
    assert pairs.replicates == ("1", "3")
    assert pairs.n_dropped == 1


REFUSALS = {
    "unknown algorithm": (
        long("ResNet,t,1,1", "vgg,t,1,1"),
        ("resnt", "vgg"),
        UnknownName,
        "no algorithm 'resnt' in runs.csv. Did you mean 'ResNet'? It has: ResNet, vgg.",
    ),
    "unknown algorithm, nothing near": (
        long("a,t,1,1", "b,t,1,1"),
        ("a", "zebra"),
        UnknownName,
        "no algorithm 'zebra' in runs.csv. It has: a, b.",
    ),
    "unknown task": (
        long("a,cifar10,1,1", "b,cifar10,1,1"),
        ("a", "b", "cifar"),
        UnknownName,
        "no task 'cifar' in runs.csv. Did you mean 'cifar10'? It has: cifar10.",
    ),
    "several tasks, none named": (
        long("a,s,1,1", "b,t,1,1"),
        ("a", "b"),
        UnknownName,
        "runs.csv has 2 tasks and none was named. Name one with --on (task in Python): s, t.",
    ),
    "itself": (
        long("a,t,1,1", "b,t,1,1"),
        ("a", "a"),
        InvalidInput,
        "cannot compare 'a' with itself. Name two of: a, b.",
    ),
    "one algorithm": (
        long("a,t,1,1", "a,t,2,1"),
        ("a", "b"),
        TooFewRuns,
        "runs.csv holds one algorithm only: a. Join the file of the other with --with FILE (from "
        "Python: join_runs), or name the column that tells them apart with --algorithm.",
    ),
    "one run": (
        long("a,t,1,1", "b,t,1,1"),
        ("a", "b"),
        TooFewRuns,
        "'a' and 'b' have one pair only in task 't' of runs.csv. Run both with the same seeds, at "
        "least twice; `outperform plan` says how often.",
    ),
    "no run on the task": (
        long("a,s,1,1", "b,t,1,1"),
        ("a", "b", "t"),
        TooFewRuns,
        "'a' has no run in task 't' of runs.csv. Add its runs, or compare on a task that both "
        "have: --on TASK (task= in Python).",
    ),
    "a baseline that was run once": (
        long("a,t,1,1", "b,t,1,3", "b,t,2,4", "b,t,3,5"),
        ("a", "b"),
        UnpairedScores,
        "'a' has one run only in task 't' of runs.csv. Run it with each seed of the other; "
        "`outperform plan` says how many it takes.",
    ),
    "one pair on each of several tasks": (
        long("a,s,1,1", "b,s,1,3", "a,t,1,1", "b,t,1,3"),
        ("a", "b", "t"),
        TooFewRuns,
        "'a' and 'b' have one pair only in task 't' of runs.csv. Run both with the same seeds, at "
        "least twice; `outperform plan` says how often; over all tasks `outperform rank` tells.",
    ),
    "duplicate": (
        long("a,t,1,1", "a,t,1,2", "b,t,1,3", "b,t,2,3"),
        ("a", "b"),
        DuplicateRuns,
        "'a' has 2 runs with seed '1' in task 't' of runs.csv (rows 2, 3). Remove the copies, or "
        "name all columns that tell runs apart: --replicate seed,COLUMN.",
    ),
    "duplicates because there is another replicate column": (
        "algorithm,seed,fold,score\na,1,1,1\na,1,2,2\na,2,1,1\na,2,2,2\nb,1,1,3\nb,1,2,3\n",
        ("a", "b"),
        DuplicateRuns,
        "'a' has 2 runs with seed '1' in runs.csv (rows 2, 3; 1 more repeat too). If "
        "these columns tell the runs apart, pass --replicate seed,fold.",
    ),
    "missing pairs under another spelling": (
        long("a-1,t,1,1", "A1,t,2,2", "b,t,1,3", "b,t,2,4"),
        ("a-1", "b"),
        UnpairedScores,
        "not every seed has a run of both 'a-1' and 'b' in task 't' of runs.csv: 1 for both, 1 for "
        "'b' only (2). There are runs of 'A1' too: if that is the same algorithm, give both one "
        "name; if not, add the missing runs, or pass --drop-incomplete.",
    ),
    "missing pairs": (
        long("a,t,1,1", "a,t,2,1", "a,t,3,1", "b,t,2,1", "b,t,3,1", "b,t,4,1", "b,t,5,1"),
        ("a", "b"),
        UnpairedScores,
        "not every seed has a run of both 'a' and 'b' in task 't' of runs.csv: 2 for both, 1 for "
        "'a' only (1), 2 for 'b' only (4, 5). Add the missing runs, pass --drop-incomplete to "
        "leave them out, or pass --unpaired.",
    ),
    "no seed shared": (
        long("a,t,1,1", "a,t,2,1", "b,t,3,1", "b,t,4,1", "b,t,5,1", "b,t,6,1"),
        ("a", "b"),
        UnpairedScores,
        "the seeds of 'a' and 'b' do not match: no seed is shared in task 't' of runs.csv (1, 2 "
        "against 3, 4, 5 and 1 more). Run both with the same seeds, or pass --unpaired.",
    ),
    "unequal counts without replicates": (
        "algorithm,score\na,1\na,2\nb,3\n",
        ("a", "b"),
        UnpairedScores,
        "cannot pair 2 runs of 'a' with 1 of 'b' in runs.csv: no column says which belong "
        "together. Name such a column with --replicate, or pass --unpaired.",
    ),
    "missing scores": (
        long("a,t,1,1", "a,t,2,", "a,t,3,inf", "b,t,1,1", "b,t,2,1", "b,t,3,1"),
        ("a", "b"),
        InvalidScores,
        "'a' has 2 of 3 scores missing or infinite in task 't' of runs.csv (rows 3, 4). Complete "
        "them, or pass --drop-incomplete to leave them out.",
    ),
}


@pytest.mark.parametrize(
    ("text", "names", "kind", "message"), REFUSALS.values(), ids=REFUSALS.keys()
)
def test_what_cannot_be_paired_is_refused(write, text, names, kind, message):
    with pytest.raises(OutperformError) as caught:
        read_runs(write(text)).pair(*names)
    assert type(caught.value) is kind
    assert str(caught.value) == message


def test_one_run_on_each_of_several_tasks_is_for_rank(write):
    rows = ["algorithm,task,score", *(f"{name},{task},1" for name in "ab" for task in "tuv")]
    with pytest.raises(TooFewRuns) as caught:
        read_runs(write("\n".join(rows))).separate("a", "b", "t")
    assert str(caught.value) == (
        "'a' has one run only in task 't' of runs.csv. Run it again with other seeds; `outperform "
        "plan` says how often; over all tasks `outperform rank` tells."
    )


def test_separate_refuses_one_run_and_duplicates_and_missing_scores(write):
    runs = read_runs(write(long("a,t,1,1", "b,t,1,1", "b,t,2,2")))
    with pytest.raises(TooFewRuns) as caught:
        runs.separate("a", "b")
    assert str(caught.value) == (
        "'a' has one run only in task 't' of runs.csv. Run it again with other seeds; "
        "`outperform plan` says how often."
    )
    runs = read_runs(write(long("a,t,1,1", "a,t,1,1", "b,t,1,1", "b,t,2,")))
    with pytest.raises(DuplicateRuns):
        runs.separate("a", "b")
    with pytest.raises(DuplicateRuns):
        runs.select("a")
    with pytest.raises(InvalidScores):
        runs.separate("b", "a")
    with pytest.raises(InvalidScores):
        runs.select("b")


def test_dropping_may_leave_too_little(write):
    path = write(long("a,t,1,1", "a,t,2,", "b,t,1,1", "b,t,2,2"))
    with pytest.raises(TooFewRuns) as caught:
        read_runs(path).pair("a", "b", drop_incomplete=True)
    assert caught.value.problem == "'a' and 'b' have one pair only in task 't' of runs.csv"


SEEDS = st.lists(st.integers(0, 10**6), min_size=2, unique=True)


@given(SEEDS, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_pairs(seeds, random):
    records = [
        {"algorithm": name, "seed": seed, "score": sign * (seed + 0.5)}
        for name, sign in (("a", 1), ("b", -1))
        for seed in seeds
    ]
    before = read_runs(records, accept=("outlier", "sorted")).pair("a", "b")
    random.shuffle(records)
    after = read_runs(records, accept=("outlier", "sorted")).pair("a", "b")
    assert after.replicates == before.replicates == tuple(map(str, sorted(seeds)))
    np.testing.assert_array_equal(after.a, before.a)
    np.testing.assert_array_equal(after.b, -after.a)


@given(SEEDS, SEEDS)
def test_what_both_have_and_what_is_dropped_add_up(seeds_a, seeds_b):
    scores = {"a": dict.fromkeys(seeds_a, 1.0), "b": dict.fromkeys(seeds_b, 2.0)}
    shared = set(seeds_a) & set(seeds_b)
    runs = read_runs(scores, accept="constant")
    if len(shared) < 2:
        with pytest.raises((UnpairedScores, TooFewRuns)):
            runs.pair("a", "b", drop_incomplete=True)
    else:
        pairs = runs.pair("a", "b", drop_incomplete=True)
        assert len(pairs.a) + pairs.n_dropped == len(set(seeds_a) | set(seeds_b))
        assert set(pairs.replicates) == {str(seed) for seed in shared}


def test_many_algorithms_and_tasks():
    records = [
        {"model": f"m{m}", "dataset": f"d{d}", "seed": s, "loss": m + d / 1000}
        for s in range(2)
        for m in range(300)
        for d in range(220)  # more cells than 16 bits can number
    ]
    runs = read_runs(records)
    assert runs.select("m299", "d219").tolist() == [299.219, 299.219]


@pytest.mark.parametrize(("n_algorithms", "n_tasks"), [(2, 3), (4, 5), (300, 300), (1, 9)])
def test_every_algorithm_on_every_task_has_its_own_rows(n_algorithms, n_tasks):
    rng = np.random.default_rng(0)
    algorithm, task = rng.integers(n_algorithms, size=900), rng.integers(n_tasks, size=900)
    score = rng.random(900)
    runs = read_runs({"algorithm": [f"a{i}" for i in algorithm], "task": task, "score": score})
    for i, k in zip(algorithm[:50], task[:50], strict=True):
        expected = score[(algorithm == i) & (task == k)]
        np.testing.assert_array_equal(runs.select(f"a{i}", str(k)), expected)


def test_algorithms_and_tasks_that_never_meet_cost_nothing(write):
    rows = "".join(f"a{i},t{i},{i}\n" for i in range(70_000))
    runs = read_runs(write(f"algorithm,task,score\n{rows}"))  # of five thousand million cells
    assert runs.select("a69999", "t69999").tolist() == [69_999]
    assert runs.select("a69999", "t0").tolist() == []


PRUNED = [
    {"model": m, "seed": s, "accuracy": 0.8 + (7 * s % 10) / 100 + (m == "b") / 300}
    for m in "ab"
    for s in range(10)
]


def test_missing_runs_are_laid_at_the_door_of_the_one_that_lacks_them():
    note = (
        "a lacks a complete run for 4 of 10 seeds, b for 0: if those went badly, leaving them out "
        "flatters a"
    )
    absent = read_runs([r for r in PRUNED if r["model"] == "b" or r["seed"] > 3])
    assert absent.separate("a", "b").notes == (note,)
    assert absent.pair("a", "b", drop_incomplete=True).notes == (note,)
    failed = [
        r | ({"accuracy": None} if r["model"] == "a" and r["seed"] < 4 else {}) for r in PRUNED
    ]
    assert read_runs(failed).separate("a", "b", drop_incomplete=True).notes == (note,)


def test_later_seeds_that_one_was_never_run_with_are_not_missing_where_none_is_paired():
    def keep(seeds):
        return read_runs([r for r in PRUNED if r["model"] == "b" or r["seed"] in seeds])

    fewer = keep(range(6)).separate("a", "b")
    assert (fewer.lacking, fewer.notes) == ((0, 0), ())
    assert keep([0, 1, 2, 5]).separate("a", "b").lacking == (2, 0)
    assert keep(range(6)).pair("a", "b", drop_incomplete=True).lacking == (4, 0)
    failed = [
        r | {"accuracy": None} if r == PRUNED[5] else r for r in PRUNED if r not in PRUNED[6:10]
    ]
    assert read_runs(failed).separate("a", "b", drop_incomplete=True).lacking == (1, 0)
    named = [r | {"seed": f"s{r['seed']}"} for r in PRUNED if r["model"] == "b" or r["seed"] < 6]
    assert read_runs(named).separate("a", "b").lacking == (4, 0)


def test_nothing_is_said_where_nobody_lacks_more_runs():
    assert read_runs(PRUNED).separate("a", "b").notes == ()
    others = [r | {"seed": r["seed"] + (20 if r["model"] == "b" else 0)} for r in PRUNED]
    assert read_runs(others).separate("a", "b").notes == ()


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (
            "seed,accuracy\n1,0.5\n2,0.6\n",
            "It has: runs, the name of the file, as no column names algorithms: if one does, pass "
            "it with --algorithm; if each column is an algorithm, add --wide",
        ),
        ("algorithm,seed,accuracy\nruns,1,0.5\nruns,2,0.6\n", "It has: runs"),
    ],
)
def test_a_name_that_is_that_of_the_file_is_said_to_be(write, text, remedy):
    with pytest.raises(UnknownName) as caught:
        read_runs(write(text)).select("zebra")
    assert caught.value.problem == "no algorithm 'zebra' in runs.csv"
    assert caught.value.remedy == remedy
