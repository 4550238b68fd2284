"""The command `outperform backup`."""

import click

from outperform.cli.options import debug_option
from outperform.cli.output import print_json
from outperform.render.terminal import say
from outperform.store import open_store


@click.command()
@click.argument("address", metavar="STORE")
@click.argument("file", metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Print what the copy holds as JSON.")
@debug_option
def command(address: str, file: str, as_json: bool) -> None:
    """Copy a store, also while a run goes on.

    \b
        outperform backup study.db study-copy.db

    The copy holds all that was recorded at one moment, and is verified when it is written. No
    file is overwritten.
    """
    with open_store(address) as store:
        copy = store.backup(file)
    if as_json:
        print_json(copy.to_dict(), kind="Verification")
    else:
        say(str(copy))
