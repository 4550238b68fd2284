"""The command line: commands are imported when they are called, those of questions from there."""

from importlib import import_module
from typing import Any

import click

from outperform.errors import OutperformError
from outperform.questions.rooms import list_questions

COMMANDS_OF_OUR_OWN = ("demo", "init", "report", "run", "status")  # which ask no question


def list_commands() -> list[str]:
    """Names of all commands: our own, and one of every question."""
    asked = [name.replace("_", "-") for name in list_questions("command")]
    return sorted([*COMMANDS_OF_OUR_OWN, *asked])


class _Refusal(click.ClickException):
    """What is wrong and what to do, without a traceback."""

    exit_code = 2

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.remedy = remedy

    def show(self, file: Any = None) -> None:
        from outperform.render.terminal import say

        say(f"Error: {self.message}.", fg="red", err=True, file=file)
        say(f"{self.remedy}.", err=True, file=file)


class _LazyCommands(click.Group):
    """Imports a command's file when it is called, and turns every exception into words."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list_commands()

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in list_commands():
            return None
        home = f"outperform.questions.{name.replace('-', '_')}.command"
        if name in COMMANDS_OF_OUR_OWN:
            home = f"outperform.cli.{name}"
        command: click.Command = import_module(home).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        commands = list_commands()
        if args[0] not in commands and not args[0].startswith("-"):
            from outperform.wording import find_near

            near = find_near(args[0], commands)
            meant = f"Did you mean {near[0]!r}? " if near else ""
            raise _Refusal(f"no command {args[0]!r}", f"{meant}It has: {', '.join(commands)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            from outperform.wording import make_visible

            # It may quote what was typed; click calls it final, but shows what it is now.
            object.__setattr__(error, "message", make_visible(error.message))
            raise
        except (click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise  # click knows what to do with these
        except Exception as error:
            # Commands set this from their --debug, which may stand after the command's name.
            if ctx.meta.get("debug"):
                raise
            if isinstance(error, OutperformError):
                raise _Refusal(error.problem, error.remedy) from None
            raise _Refusal(
                f"outperform failed unexpectedly ({type(error).__name__}: {error})",
                "This is a bug: run the command again with --debug and report what it prints",
            ) from None


@click.group(cls=_LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="outperform", prog_name="outperform")
def main() -> None:
    """Does A really outperform B? Honest verdicts for machine-learning benchmarks.

    \b
        outperform compare runs.csv resnet vgg
        outperform plan --gamma 0.75

    Exit status: 0 done, or what a gate asks for is shown; 1 it is refuted; 3 it is neither; 2 bad
    input.
    """
