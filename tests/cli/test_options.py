"""What the same option does in every command."""

import pytest
from click.testing import CliRunner

from outperform.cli import main

COMMANDS = ("audit", "best-of", "compare", "decompose", "plan", "simulate", "sota")


def refuse(*words: str) -> str:
    """The whole message of a refusal, on one line."""
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    return " ".join(result.stderr.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_figure_that_cannot_be_saved_is_refused_before_the_runs_are_read(command):
    assert refuse(command, "nowhere.csv", "a", "--plot", "figure.gif") == (
        "Error: cannot save a figure as 'figure.gif'. End the path in .pdf, .png, .svg."
    )


@pytest.mark.parametrize("command", sorted({*COMMANDS} - {"simulate"}))
def test_a_level_is_called_alpha_as_it_was_given(command):
    assert refuse(command, "nowhere.csv", "a", "--alpha", "5") == (
        "Error: alpha is 5.0. Pass a value between 0 and 1 (5% is 0.05)."
    )
    assert refuse(command, "nowhere.csv", "a", "--alpha", "0.95") == (
        "Error: alpha is 0.95, a false alarm more often than not. Pass 0.05 for intervals of 95%."
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_with_results_prints_json_and_draws(command):
    options = CliRunner().invoke(main, [command, "--help"]).stdout
    assert all(option in options for option in ("--json", "--plot FILE", "--debug", "--alpha"))


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize("name", ["runs.csv", "study.db"])
def test_who_passes_runs_in_place_of_a_study_is_told_where_they_belong(command, name):
    assert refuse(command, name) == (
        f"Error: {name} is no study file, but holds runs by its name. Pass the study file, such as "
        f"{name.partition('.')[0]}.toml; `outperform compare` takes runs."
    )


def test_what_says_how_to_draw_needs_a_figure():
    words = ("compare", "nowhere.csv", "a", "b", "--width", "3")
    assert refuse(*words).endswith("Error: --width says how to draw: add --plot FILE.")
    both = refuse(*words, "--view", "scores")
    assert both.endswith("Error: --view, --width say how to draw: add --plot FILE.")


def test_an_unknown_command_gets_the_nearest():
    message = refuse("comapre", "runs.csv")
    assert message == (
        "Error: no command 'comapre'. Did you mean 'compare'? It has: audit, backup, best-of, "
        "check, compare, copy, decompose, demo, init, plan, quality, rank, report, run, simulate, "
        "sota, status, verify."
    )


def test_no_command_at_all_is_answered_with_the_help():
    runner = CliRunner()
    result = runner.invoke(main, [])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == runner.invoke(main, ["--help"]).stdout


def test_what_each_command_does_is_said_in_one_whole_line():
    listed = CliRunner().invoke(main, ["--help"]).stdout.split("\nAsk:\n")[1].splitlines()
    between = listed.index("Run and keep studies:")
    listed[between - 1 : between + 1] = []
    assert sorted(line.split()[0] for line in listed) == main.list_commands(None)
    assert all(line.endswith(".") and not line.endswith("...") for line in listed)


def test_a_table_of_means_is_not_taken_for_runs(tmp_path):
    path = tmp_path / "paper.csv"
    path.write_text("Method,Mean,std,n\nOurs,93.1,0.3,5\nBaseline,92.5,0.4,5\n")
    assert refuse("compare", str(path), "Ours", "Baseline") == (
        "Error: paper.csv holds a mean of each algorithm (Ours, Baseline), not runs. "
        "Compare published means with --summary (from Python: compare_published)."
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("plan --alpha 1e-320", "alpha is 1e-320. Pass a value of 1e-300 or more."),
        (
            f"plan --pairs {10**30}",
            f"n_pairs is {10**30}. Pass a whole number up to 1,000,000,000.",
        ),
        (
            f"simulate --pairs {10**30}",
            f"n_pairs is {10**30}. Pass a whole number up to 1,000,000.",
        ),
        (
            f"simulate --draws {10**30}",
            f"n_draws is {10**30}. Pass a whole number up to 1,000,000,000.",
        ),
        (
            f"plan --train-size {10**400} --test-size 1",
            f"the train size is {10**400}. "
            "Pass the number of its examples, up to 1,000,000,000,000.",
        ),
        (
            f"compare {{runs}} a b --train-size 1 --test-size {10**400}",
            f"the test size is {10**400}. "
            "Pass the number of its examples, up to 1,000,000,000,000.",
        ),
    ],
    ids=["alpha", "plan-pairs", "simulate-pairs", "draws", "train-size", "test-size"],
)
def test_numbers_beyond_reckoning_are_refused_with_the_limit(tmp_path, words, message):
    runs = tmp_path / "runs.csv"
    rows = (f"{name},{seed},{0.5 + seed / 9}\n" for name in "ab" for seed in range(4))
    runs.write_text("algorithm,seed,accuracy\n" + "".join(rows))
    assert refuse(*words.format(runs=runs).split()) == f"Error: {message}"
