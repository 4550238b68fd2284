"""The command line, called in this process."""

from click.testing import CliRunner, Result

from outperform.cli import main


def call(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def refused(result: Result) -> str:
    """The whole message of a refusal, on one line."""
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr
    return " ".join(result.stderr.split())
