"""The commands about stores themselves: `outperform backup`, `copy` and `verify`."""

from typing import Any

import click

from outperform.cli import REFUSED
from outperform.cli.options import debug_option, print_json
from outperform.cli.progress import ProgressBar
from outperform.render.terminal import say
from outperform.store import open_store

_json_of_copy = click.option(
    "--json", "as_json", is_flag=True, help="Print what the copy holds as JSON."
)


@click.command()
@click.argument("address", metavar="STORE")
@click.argument("file", metavar="FILE")
@_json_of_copy
@debug_option
def backup(address: str, file: str, as_json: bool) -> None:
    """Copy a store, also while a run goes on.

    \b
        outperform backup study.db study-copy.db

    The copy holds all that was recorded at one moment, and is verified when it is written. No
    file is overwritten.
    """
    with open_store(address) as store:
        _show_copy(store.backup(file), as_json=as_json)


@click.command()
@click.argument("source", metavar="STORE")
@click.argument("target", metavar="STORE")
@_json_of_copy
@debug_option
def copy(source: str, target: str, as_json: bool) -> None:
    """Copy a study from one store into another, of whatever kind.

    \b
        outperform copy study.db 'postgresql://lab/benchmarks?schema=digits'
        outperform copy 'postgresql://lab/benchmarks?schema=digits' study.db

    The first is copied as it is at one moment, also while a run goes on; the second must not hold a
    study yet. At the end every row of both is compared. A copy that was interrupted is gone on
    with by the same command.
    """
    from outperform.store.copying import copy_store

    with ProgressBar("copying") as bar:
        copied = copy_store(source, target, report=bar)
    _show_copy(copied, as_json=as_json)


def _show_copy(copied: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(copied.to_dict(), kind="Verification")
    else:
        say(str(copied))


@click.command()
@click.argument("address", metavar="STORE")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@debug_option
@click.pass_context
def verify(ctx: click.Context, address: str, as_json: bool) -> None:
    """Tell whether a store is as it was written.

    \b
        outperform verify study.db

    Looks at the structure of the file and at the checksum of every fit. What is damaged is named,
    with what to do; nothing is changed, and a run that is going on is not disturbed.

    Exit status: 0 sound; 2 damaged, or no store.
    """
    with open_store(address) as store:
        verification = store.verify()
    if as_json:
        print_json(verification.to_dict(), kind="Verification")
    else:
        say(str(verification), fg="green" if verification.is_sound else "red")
        for line in verification.details:
            say(f"  {line}")
        if verification.advice:
            say("", f"Next: {verification.advice}.")
    if not verification.is_sound:
        ctx.exit(REFUSED)
