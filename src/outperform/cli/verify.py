"""The command `outperform verify`."""

import click

from outperform.cli.options import debug_option
from outperform.cli.output import print_json
from outperform.render.terminal import say
from outperform.store import open_store

_DAMAGED = 2  # exit status, as of every command that refuses a damaged store


@click.command()
@click.argument("address", metavar="STORE")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@debug_option
@click.pass_context
def command(ctx: click.Context, address: str, as_json: bool) -> None:
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
        ctx.exit(_DAMAGED)
