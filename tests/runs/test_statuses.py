"""Runs that did not finish are incomplete, whatever wrote their status."""

import pytest

from outperform import compare_runs, read_runs
from outperform.errors import InvalidScores, UnreadableRuns

# Two equal objectives, one with a pruner: the pruned trials are the bad ones.
PRUNED = [
    {"model": model, "seed": seed, "accuracy": 0.9 + seed / 1000, "state": state}
    for model, states in (
        ("a", ["COMPLETE", "PRUNED", "COMPLETE", "FAIL", "COMPLETE", "PRUNED"]),
        ("b", ["COMPLETE"] * 6),
    )
    for seed, state in enumerate(states)
]
REFUSAL = (
    "3 of 6 runs of 'a' are incomplete in {}: 2 PRUNED (rows {}), 1 FAIL ({}). "
    "Complete them, or pass --drop-incomplete to leave them out."
)


KINDS = ("csv", "jsonl", "parquet", "pandas", "polars", "records", "dict")


@pytest.mark.parametrize("kind", KINDS)
def test_unfinished_runs_are_refused_with_their_rows_and_status(shape, kind):
    source, called, first = shape(PRUNED, kind)
    with pytest.raises(InvalidScores) as caught:
        compare_runs(source, "a", "b")
    rows = f"{first + 1}, {first + 5}", f"row {first + 3}"
    assert str(caught.value) == REFUSAL.format(called, *rows)
    result = compare_runs(source, "a", "b", drop_incomplete=True)
    assert result.n_pairs == 3
    assert any(caveat.startswith("3 incomplete runs were left out") for caveat in result.caveats)


@pytest.mark.parametrize(
    ("finished", "unfinished", "column"),
    [
        ("FINISHED", "KILLED", "attributes.status"),  # MLflow
        ("finished", "crashed", "State"),  # Weights & Biases
        ("TrialState.COMPLETE", "TrialState.PRUNED", "state"),  # Optuna
        ("Done", "timed out", "info/status"),
        ("ok", "RUNNING", "user_attrs_status"),
    ],
)
def test_every_tracker_says_it_in_its_own_words(finished, unfinished, column):
    records = [
        {"model": model, "seed": seed, "accuracy": 0.5, column: finished}
        for model in "ab"
        for seed in range(3)
    ]
    assert read_runs(records).incomplete is None
    assert len(read_runs(records).select("a")) == 3
    records[1][column] = unfinished
    with pytest.raises(InvalidScores) as caught:
        read_runs(records).select("a")
    assert caught.value.problem == (
        f"1 of 3 runs of 'a' are incomplete in the list of records: 1 {unfinished} (row 2)"
    )


def test_missing_scores_are_named_beside_the_status():
    records = [dict(record) for record in PRUNED]
    records[0]["accuracy"] = None
    with pytest.raises(InvalidScores) as caught:
        read_runs(records).select("a")
    assert caught.value.problem == (
        "4 of 6 runs of 'a' are incomplete in the list of records: 2 PRUNED (rows 2, 6), 1 without "
        "a score (row 1), 1 FAIL (row 4)"
    )


def test_a_word_that_is_no_status_is_named():
    records = [dict(record) for record in PRUNED]
    records[2]["state"] = "Ohio"
    records[4]["state"] = "0"
    with pytest.raises(UnreadableRuns) as caught:
        read_runs(records)
    assert str(caught.value) == (
        "column 'state' of the list of records holds '0', 'Ohio' (rows 3, 5), which does not say "
        "whether a run finished. Write finished or failed; if the column says something else, "
        "give it another name."
    )


def test_a_column_that_is_used_otherwise_is_no_status():
    records = [record | {"state": f"state {record['seed']}"} for record in PRUNED]
    assert read_runs(records, replicate="state").pair("a", "b").replicates[0] == "state 0"
    assert read_runs(records, task="state").tasks[0] == "state 0"


def test_the_status_of_a_wide_row_is_that_of_every_algorithm(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("seed,status,a,b\n1,ok,1,2\n2,failed,3,1\n3,ok,4,3\n")
    runs = read_runs(path, wide=True, goal="maximize")
    assert runs.algorithms == ("a", "b")
    with pytest.raises(InvalidScores, match=r"1 of 3 runs of 'a' are incomplete .* 1 failed"):
        runs.pair("a", "b")
    assert runs.pair("a", "b", drop_incomplete=True).replicates == ("1", "3")


@pytest.mark.parametrize("column", ["run_status", "Trial State", "job_state"])
def test_a_status_by_another_name(column):
    records = [{k: v for k, v in r.items() if k != "state"} | {column: r["state"]} for r in PRUNED]
    with pytest.raises(InvalidScores, match="3 of 6 runs of 'a' are incomplete"):
        compare_runs(records, "a", "b")


FLAGGED = [
    ("failed", True, False, "failed"),
    ("is_failed", 1, 0, "is_failed"),
    ("Crashed", "yes", "", "Crashed"),
    ("metrics.diverged", "1.0", "0.0", "metrics.diverged"),
    ("run_completed", "no", "yes", "not run_completed"),
    ("finished", "False", "True", "not finished"),
    ("exit_code", 137, 0, "exit_code 137"),
    ("attributes.exit_status", -9, 0, "attributes.exit_status -9"),
    ("ExitCode", "0:9", "0:0", "ExitCode 0:9"),  # Slurm
]


def flag(column, of_failed, of_others, n_failed=1):
    records = [
        {"model": model, "seed": seed, "accuracy": 0.9 + seed / 1000, column: of_others}
        for model in "ab"
        for seed in range(4)
    ]
    for record in records[:n_failed]:
        record[column] = of_failed
    return records


@pytest.mark.parametrize("kind", ["csv", "pandas", "records"])
@pytest.mark.parametrize(("column", "of_failed", "of_others", "why"), FLAGGED)
def test_a_flag_or_an_exit_code_says_it_too(shape, kind, column, of_failed, of_others, why):
    source, called, first = shape(flag(column, of_failed, of_others), kind)
    with pytest.raises(InvalidScores) as caught:
        compare_runs(source, "a", "b")
    assert str(caught.value) == (
        f"1 of 4 runs of 'a' are incomplete in {called}: 1 {why} (row {first}). Complete them, or "
        "pass --drop-incomplete to leave them out."
    )


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("failed", [False] * 8),
        ("failed", [0, 3, 1, 2] * 2),  # trials of a search
        ("failed", [""] * 8),
        ("finished", ["2026-01-01", "2026-01-02"] * 4),
        ("completed", [True] * 8),
        ("exit_code", ["SIGKILL", "0"] * 4),
        ("exit_code", [0] * 8),
        ("failed_trials", [0, 1] * 4),
        ("code", [0, 1] * 4),
        ("stopped", [True, False] * 4),
    ],
)
def test_other_columns_say_nothing_of_how_runs_ended(column, values):
    records = flag(column, None, None)
    for record, value in zip(records, values, strict=True):
        record[column] = value
    assert read_runs(records).incomplete is None


def test_a_flag_counts_beside_a_status():
    records = [r | {"status": "finished"} for r in flag("failed", True, False, n_failed=2)]
    records[0]["status"] = "killed"
    with pytest.raises(InvalidScores, match=r"1 killed \(row 1\), 1 failed \(row 2\)"):
        read_runs(records).select("a")


def test_a_flag_of_a_wide_row_is_no_algorithm(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("seed,failed,a,b\n1,0,1,2\n2,1,3,1\n3,0,4,3\n")
    runs = read_runs(path, wide=True, goal="maximize")
    assert runs.algorithms == ("a", "b")
    assert runs.pair("a", "b", drop_incomplete=True).replicates == ("1", "3")


def test_a_flag_may_be_the_score():
    records = [
        {"model": model, "seed": seed, "crashed": seed % 2} for model in "ab" for seed in range(4)
    ]
    runs = read_runs(records, metric="crashed", goal="minimize")
    assert runs.incomplete is None
    assert runs.select("a").tolist() == [0, 1, 0, 1]
