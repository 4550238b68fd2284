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


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_with_results_prints_json_and_draws(command):
    options = CliRunner().invoke(main, [command, "--help"]).stdout
    assert all(option in options for option in ("--json", "--plot FILE", "--debug", "--alpha"))


def test_an_unknown_command_gets_the_nearest():
    message = refuse("comapre", "runs.csv")
    assert message.startswith("Error: no command 'comapre'. Did you mean 'compare'")
