"""Runs that differ in a hyperparameter are no replicates of each other."""

import numpy as np
import pytest

from outperform import best_of_runs, compare_runs, read_runs
from outperform.errors import DuplicateRuns

SEED = np.random.default_rng(5)


def grid(*, rates=(0.1, 0.01, 0.001), column="lr", **more):
    return [
        {"model": model, "seed": seed, column: rate, "accuracy": round(SEED.normal(0.9, 0.01), 6)}
        | more
        for model in "ab"
        for seed in range(4)
        for rate in rates
    ]


KINDS = ("csv", "jsonl", "parquet", "pandas", "polars", "records", "dict")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("column", ["lr", "params.lr", "config/dropout", "variant"])
@pytest.mark.parametrize("paired", [True, False])
def test_settings_are_no_replicates(shape, kind, column, paired):
    source, called, first = shape(grid(column=column), kind)
    with pytest.raises(DuplicateRuns) as caught:
        compare_runs(source, "a", "b", paired=paired)
    assert str(caught.value) == (
        f"'a' has 3 runs with seed '0' in {called} (rows {first}, {first + 1}, {first + 2}; 3 more "
        f"repeat too) that differ in {column} (0.1, 0.01, 0.001): they are settings of a search, "
        "not replicates of one. Keep the rows of one setting, make it part of the name with "
        f"--algorithm model,{column}, or ask what the best setting reaches: `outperform best-of` "
        f"with --replicate seed,{column}."
    )


def test_what_the_refusal_proposes_works():
    records = grid()
    named = read_runs(records, algorithm="model,lr")
    assert compare_runs(named, "a,0.1", "b,0.01").n_pairs == 4
    assert compare_runs(named, "a,0.1", "b,0.01").caveats[-1].count("search") == 0
    one = [record for record in records if record["lr"] == 0.1]
    assert compare_runs(one, "a", "b").n_pairs == 4
    trials = read_runs(records, replicate="seed,lr")
    assert best_of_runs(trials, "a", n=3).n_runs == 12


def test_names_may_be_those_of_tasks():
    records = [
        {"model": m, "env": env, "seed": s, "return": SEED.normal()}
        for m in "ab"
        for env in ("cart", "walk")
        for s in range(3)
    ]
    with pytest.raises(DuplicateRuns) as caught:
        compare_runs(records, "a", "b")
    assert str(caught.value) == (
        "'a' has 2 runs with seed '0' in the list of records (rows 1, 4; 2 more repeat too) that "
        "differ in env (cart, walk). Pass --task env if it names tasks, make it part of the name "
        "with --algorithm model,env, or keep the rows of one."
    )


def test_integers_may_be_those_of_repetitions():
    records = [
        {"model": m, "repeat": r, "fold": f, "accuracy": SEED.random()}
        for m in "ab"
        for r in range(3)
        for f in range(5)
    ]
    with pytest.raises(DuplicateRuns) as caught:
        compare_runs(records, "a", "b")
    assert str(caught.value) == (
        "'a' has 3 runs with fold '0' in the list of records (rows 1, 6, 11; 4 more repeat too) "
        "that differ in repeat (0, 1, 2). Pass --replicate fold,repeat if it tells repetitions "
        "apart, make it part of the name with --algorithm model,repeat, or keep the rows of one."
    )


def test_several_settings_are_named():
    records = [
        record | {"batch_size": size, "note": f"{record['seed']}{record['lr']}{size}"}
        for record in grid(rates=(0.1, 0.01))
        for size in (32, 64)
    ]
    with pytest.raises(DuplicateRuns) as caught:
        compare_runs(records, "a", "b")
    assert "that differ in lr (0.1, 0.01) and batch_size: they are settings" in str(caught.value)
    assert "--algorithm model,lr,batch_size" in str(caught.value)


NOTE = (
    "runs of {} differ in lr (12 values): they are trials of a search, not replicates of one "
    "setting, unless each was tuned anew"
)


@pytest.mark.parametrize("paired", [True, False])
def test_a_search_exported_as_runs_is_noted(paired):
    records = [
        {"model": m, "seed": 0, "trial": t, "lr": 10 ** -(1 + t / 4), "reward": SEED.normal()}
        for m in "ab"
        for t in range(12)
    ]
    runs = read_runs(records, replicate="trial")
    result = compare_runs(runs, "a", "b", paired=paired)
    assert [NOTE.format("a"), NOTE.format("b")] == [c for c in result.caveats if "search" in c]


def test_a_search_in_files_that_are_joined_is_noted(write):
    for name, header in (("a", "seed,accuracy"), ("b", "seed,accuracy,lr")):
        rows = [f"{s},{SEED.normal(0.9, 0.01):.6f}" for s in range(5)]
        lines = [header, *(row + (f",{i}" if name == "b" else "") for i, row in enumerate(rows))]
        write("\n".join(lines), f"{name}.csv")
    from outperform import join_runs

    folder = write("", "nothing").parent
    runs = join_runs(read_runs(folder / "a.csv"), read_runs(folder / "b.csv"))
    noted = [caveat for caveat in compare_runs(runs, "a", "b").caveats if "search" in caveat]
    assert [note.split(":")[0] for note in noted] == ["runs of b differ in lr (5 values)"]


HARMLESS = {
    "a setting of each algorithm": {"lr": lambda m, s: {"a": 0.1, "b": 0.2}[m]},
    "names of runs": {"config.name": lambda m, s: f"{m}-{s}", "params.dir": lambda m, s: f"{m}{s}"},
    "texts that name each run": {"params.notes": lambda m, s: f"run {m}{s}"},
    "seeds of other sources": {"config.data_seed": lambda m, s: s, "params_fold": lambda m, s: s},
    "what was measured": {"train_acc": lambda m, s: s / 10, "seconds": lambda m, s: s + 1},
    "a setting that is always the same": {"lr": lambda m, s: 0.1, "params.C": lambda m, s: ""},
}


@pytest.mark.parametrize("columns", HARMLESS.values(), ids=HARMLESS.keys())
def test_harmless_columns_are_not_noted(columns):
    records = [
        {"model": m, "seed": s, "accuracy": SEED.normal(0.9, 0.01)}
        | {name: make(m, s) for name, make in columns.items()}
        for m in "ab"
        for s in range(6)
    ]
    result = compare_runs(records, "a", "b")
    assert not any("search" in caveat for caveat in result.caveats)


def test_settings_of_each_task_are_not_noted():
    records = [
        {"model": m, "task": t, "seed": s, "lr": t, "accuracy": SEED.normal(0.9, 0.01)}
        for m in "ab"
        for t in range(2)
        for s in range(6)
    ]
    assert not any("search" in caveat for caveat in compare_runs(records, "a", "b").caveats)


def test_copies_and_measurements_are_no_settings():
    records = [
        {"model": m, "seed": s, "reward": SEED.normal(), "memory": SEED.normal()}
        for m in "ab"
        for s in range(3)
        for _ in range(2)
    ]
    with pytest.raises(DuplicateRuns) as caught:
        compare_runs(records, "a", "b")
    assert caught.value.remedy == (
        "Remove the copies, or name all columns that tell runs apart: --replicate seed,COLUMN"
    )
