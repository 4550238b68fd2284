"""The command line: commands are imported when they are called, and end with a status of ours."""

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

import click

from outperform.errors import OutperformError
from outperform.questions import list_questions

REFUSED = 2
FAILURES = 4  # done, but some fits failed, or some searches cannot be simulated
INTERRUPTED = 130  # as shells have it: 128 and the number of SIGINT
CLOSED_OUTPUT = 141  # likewise of SIGPIPE; 1 would say that a gate is refuted

COMMANDS_OF_OUR_OWN = {  # which ask no question, and where they are, in the order of their use
    "demo": "demo.command",
    "init": "init.command",
    "run": "run.command",
    "status": "status.command",
    "report": "report.command",
    "backup": "stores.backup",
    "copy": "stores.copy",
    "verify": "stores.verify",
}
_WIDEST_HELP = 66  # letters of what a command does, in the list of all
_interruptions: list[bool] = []


def list_commands() -> list[str]:
    """Names of all commands: our own, and one of every question."""
    asked = [name.replace("_", "-") for name in list_questions("command")]
    return sorted([*COMMANDS_OF_OUR_OWN, *asked])


def note_interruption(*_: object) -> NoReturn:
    """Raise KeyboardInterrupt for Ctrl-C, and remember it."""
    _interruptions.append(True)
    raise KeyboardInterrupt


class _Refusal(click.ClickException):
    """What is wrong and what to do, without a traceback; nothing where nobody would read it."""

    def __init__(self, problem: str, remedy: str, status: int = REFUSED) -> None:
        super().__init__(problem)
        self.remedy = remedy
        self.exit_code = status  # type: ignore[misc]

    def show(self, file: Any = None) -> None:
        from outperform.render.terminal import say

        if self.message:
            say(f"Error: {self.message}.", fg="red", err=True, file=file)
            say(f"{self.remedy}.", err=True, file=file)


class _LazyCommands(click.Group):
    """Imports a command's file when it is called, and turns every exception into words."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list_commands()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List what asks something of runs first, then what makes, runs and keeps studies."""
        questions = [name for name in list_commands() if name not in COMMANDS_OF_OUR_OWN]
        sections = {"Ask": questions, "Run and keep studies": [*COMMANDS_OF_OUR_OWN]}
        for title, names in sections.items():
            commands = {name: self.get_command(ctx, name) for name in names}
            rows = [
                (name, each.get_short_help_str(_WIDEST_HELP))
                for name, each in commands.items()
                if each
            ]
            with formatter.section(title):
                formatter.write_dl(rows)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in COMMANDS_OF_OUR_OWN:
            home, _, attribute = f"outperform.cli.{COMMANDS_OF_OUR_OWN[name]}".rpartition(".")
        elif name in (commands := list_commands()):
            home, attribute = f"outperform.questions.{name.replace('-', '_')}.command", "command"
        elif name.startswith("-"):
            return None  # click says that there is no such option
        else:
            from outperform.wording import find_near

            near = find_near(name, commands)
            meant = f"Did you mean {near[0]!r}? " if near else ""
            raise _Refusal(f"no command {name!r}", f"{meant}It has: {', '.join(commands)}")
        command: click.Command = getattr(import_module(home), attribute)
        return command

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        with _explain_output():  # where `--help` is printed
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _explain_output():
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, KeyboardInterrupt):
            raise  # `main` knows what to do with these
        except BaseException as error:
            if _interruptions:  # compiled modules may make another error of Ctrl-C
                raise KeyboardInterrupt from error
            from outperform.wording import hide_values

            options = ctx.meta.get("engine options")  # any of which may be a password
            # Commands set this from their --debug, which may stand after the command's name.
            if ctx.meta.get("debug"):
                from outperform.render.terminal import say

                say(*hide_values(traceback.format_exc(), options).splitlines(), err=True)
                raise click.exceptions.Exit(REFUSED) from None
            refusal = _refuse(error)
            refusal.message = hide_values(refusal.message, options)  # type: ignore[misc]
            raise refusal from None

    def main(self, *args: Any, standalone_mode: bool = True, **options: Any) -> Any:
        """Run a command; where it is a program of its own, end with one of the exit statuses.

        Whatever it ended in is said, and nothing is said twice.
        """
        run: Callable[[], Any] = partial(super().main, *args, standalone_mode=False, **options)
        if not standalone_mode:
            return run()
        try:
            status = run()
            with _explain_output():
                sys.stdout.flush()
        except (KeyboardInterrupt, click.Abort):
            with suppress(OSError):
                sys.stderr.write("Interrupted.\n")
            status = INTERRUPTED
        except click.ClickException as error:
            from outperform.wording import make_printable

            error.message = make_printable([error.message])  # type: ignore[misc]  # it may quote anything
            with suppress(OSError):
                error.show()
            status = error.exit_code
        sys.exit(status if isinstance(status, int) else 0)


@contextmanager
def _explain_output() -> Iterator[None]:
    """Turn an output that is closed or full into words, and let nothing more be written there."""
    try:
        yield
    except OSError as error:
        is_closed = isinstance(error, BrokenPipeError)
        if not is_closed and (error.filename is not None or error.errno is None):
            raise
        # Python would write out what is left when it ends, fail once more, and end with a status
        # of its own.
        with suppress(OSError, ValueError):  # it may be closed, or no file at all
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
        if is_closed:
            raise _Refusal("", "", CLOSED_OUTPUT) from None
        raise _Refusal(
            f"cannot write the output: {error.strerror}", "Make room there, or send it elsewhere"
        ) from None


def _refuse(error: BaseException) -> _Refusal:
    if isinstance(error, OutperformError):
        return _Refusal(error.problem, error.remedy)
    if isinstance(error, OSError) and error.filename is not None:
        return _Refusal(
            f"cannot use '{error.filename}': {error.strerror}",
            "Check the path, who may use it, and that there is room",
        )
    return _Refusal(
        f"outperform failed unexpectedly ({type(error).__name__}: {error})",
        "This is a bug: run the command again with --debug and report what it prints",
    )


@click.group(
    cls=_LazyCommands,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
)
@click.version_option(package_name="outperform", prog_name="outperform")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Does A really outperform B? Honest verdicts for machine-learning benchmarks.

    \b
        You have              You type
        a table of runs       outperform compare runs.csv resnet vgg
        ... of many methods   outperform rank runs.csv
        numbers from a paper  outperform compare --summary a=93±0.3,5 b=92±0.4,5
        a leaderboard         outperform sota leaderboard.csv --test-size 3000
        training code         outperform init my-study
        nothing yet           outperform plan

    \b
        Exit status
        0    done, or a gate's claim is shown
        1    the claim is refuted
        2    bad input, or an output that cannot be written
        3    a gate, or run --until-decided, is undecided
        4    a run is done, but fits failed or searches cannot be simulated
        130  interrupted
        141  whoever read the output closed it before the end
    """
    if ctx.invoked_subcommand is None:
        from outperform.render.terminal import say

        say(*ctx.get_help().split("\n"), err=True)
        raise click.exceptions.Exit(REFUSED)
