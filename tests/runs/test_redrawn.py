"""Runs of a study of variance, of which a column says what was redrawn for each."""

import numpy as np
import pytest

from outperform import audit, best_of_runs, compare_runs, rank_runs, read_runs, trace_run_seeds
from outperform.errors import DuplicateRuns, InvalidScores
from outperform.runs.redrawn import ALL, NOISE, SOURCES
from outperform.study import sources

N = 6  # runs of a source
ANSWERS = {
    "compare": lambda runs: compare_runs(runs, "a", "b"),
    "unpaired": lambda runs: compare_runs(runs, "a", "b", paired=False),
    "rank": rank_runs,
    "best of": lambda runs: best_of_runs(runs, "a", n=2),
    "audit of two": lambda runs: audit(runs, "a", "b", n_resamples=10),
    "audit": lambda runs: audit(runs, "a"),
    "simulate": lambda runs: trace_run_seeds(
        runs, "a", alphas=[0.05], n_draws=100, rng=np.random.default_rng(0)
    ),
}
ASKED = (
    "column {!r} says what was redrawn for each run in the dict ({}): such runs share their other "
    "seeds, so they are no replicates of one another. {}; `outperform decompose` says what each "
    "source adds; if everything was redrawn for every run, pass --accept redrawn (from Python: "
    'read_runs(..., accept="redrawn")).'
)


def vary(*values, column="source", **more):
    return {
        "algorithm": ["a"] * N * len(values) + ["b"] * N * len(values),
        column: [*np.repeat(values, N)] * 2,
        "accuracy": np.random.default_rng(1).normal(0.9, 0.01, 2 * N * len(values)).round(5),
        **more,
    }


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_runs_of_which_one_source_each_was_redrawn_are_no_replicates(answer):
    table = vary("split", "init")
    with pytest.raises(InvalidScores) as caught:
        answer(table)
    keep = "Compare runs in which everything was redrawn"
    assert str(caught.value) == ASKED.format("source", "init, split", keep)
    said = "column 'source' says what was redrawn for each run in the dict (init, split), which "
    said += "was accepted as right"
    assert [each for each in answer(read_runs(table, accept="redrawn")).caveats if said in each]


@pytest.mark.parametrize(
    "column", ["varied", "Redrawn", "vary", "seed_varied", "source_varied", "source of variation"]
)
def test_other_names_of_the_column_tell_of_any_source(column):
    with pytest.raises(InvalidScores) as caught:
        rank_runs(vary("All", "tokens", "masks", column=column))
    keep = f"Keep the rows whose {column} is All, in which everything was redrawn"
    assert str(caught.value) == ASKED.format(column, "All, masks, tokens", keep)


@pytest.mark.parametrize("column", ["factor", "Variation", "component"])
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_columns_of_general_names_tell_of_what_studies_redraw(column, answer):
    with pytest.raises(InvalidScores, match=f"^column '{column}' says what was redrawn"):
        answer(vary("split", "init", column=column))


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("factor", ["0.5", "2"]),
        ("component", ["dropout", "attention"]),
        ("source", ["openml", "kaggle"]),
        ("source", ["all", "web"]),  # of data
        ("source", ["original", "augmentation"]),
        ("source", ["all", "noise", "web"]),
        ("source", ["all"]),
        ("source", ["init"]),
        ("varied", ["yes", "no"]),
        ("varied", ["0.1", "0.2"]),
        ("variety", ["init", "split"]),
    ],
)
@pytest.mark.parametrize("answer", [ANSWERS["compare"], ANSWERS["rank"], ANSWERS["audit"]])
def test_other_columns_say_something_else(column, values, answer):
    assert answer(vary(*values, column=column))


def test_seeds_of_every_source_are_no_reason_to_call_sources_tasks():
    table = vary("split", "init", seed=[*range(N)] * 4)
    with pytest.raises(DuplicateRuns) as caught:
        compare_runs(table, "a", "b")
    assert str(caught.value) == (
        "'a' has 2 runs with seed '0' in the dict (rows 1, 7; 5 more repeat too), and column "
        "'source' says what was redrawn for each run in the dict (init, split): such runs share "
        "their other seeds, so they are no replicates of one another. Compare runs in which "
        "everything was redrawn; `outperform decompose` says what each source adds; if everything "
        "was redrawn for every run, pass --replicate seed,source --accept redrawn."
    )
    with pytest.raises(InvalidScores, match="says what was redrawn"):
        compare_runs(read_runs(table, replicate="seed,source"), "a", "b")


def test_what_is_proposed_can_be_pasted_into_a_shell():
    table = vary("split", "init", column="source of variance", seed=[*range(N)] * 4)
    with pytest.raises(DuplicateRuns, match="--replicate 'seed,source of variance' --accept"):
        compare_runs(table, "a", "b")
    table["Test corpus"] = table.pop("source of variance")
    with pytest.raises(DuplicateRuns, match=r"--task 'Test corpus' if .* 'algorithm,Test corpus'"):
        compare_runs(table, "a", "b")


def test_all_that_studies_redraw_is_known():
    named = {*sources.LEARNING_SOURCES, sources.TUNING_SOURCE, sources.NOISE, sources.ALL}
    assert named <= SOURCES
    assert (ALL, NOISE) == (sources.ALL, sources.NOISE)
